"""Which lines of the project's own files a run executed: by `sys.monitoring` where Python has it, else by a trace."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from syncguard.observe.attribute import inner, library

TOOL = 4  # of sys.monitoring: 0 to 2 and 5 are debuggers', coverage's, profilers' and optimizers'
TAKEN = (
    "The program set a trace of its own (a debugger, a coverage tool), so lines that were executed under it are not"
    " known: their findings count as not tested."
)

LOST = (
    "The program set a trace of its own (a debugger, a coverage tool), or ours was ended by an exception within it (a"
    " recursion too deep, a signal), so lines that were executed from then on are not known: their findings count as"
    " not tested."
)


class Lines:
    """While it is entered, notes each executed line once. `notes` says so where that is not possible."""

    def __init__(self) -> None:
        self.seen: dict[str, set[int]] = {}
        self.notes: list[str] = []
        self._wanted: dict[str, bool] = {}
        self._left: dict[tuple[str, CodeType], set[int]] = {}
        self._undo: Callable[[], None] = lambda: None
        self._trace_of: Any = None
        self._set: Callable[[Any], None] = sys.settrace
        self._get: Callable[[], Any] = sys.gettrace

    def __enter__(self) -> Lines:
        if sys.version_info >= (3, 12):
            self._monitor()
        elif sys.gettrace() is None:
            self._trace()
        else:
            self.notes.append("Another tool traces this program, so which lines were executed is not known.")
        return self

    def __exit__(self, *_: object) -> None:
        self._undo()
        self._undo = lambda: None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """For code that is surely none of the project's and that a trace would slow down much."""
        ours = self._trace_of is not None and self._get() is self._trace_of
        if ours:
            self._set(None)
        try:
            yield
        finally:
            if ours:
                self._set(self._trace_of)

    def renew(self) -> None:
        """Python drops a trace in which an exception was raised, as a time limit's is that a signal raises."""
        if self._trace_of is not None and self._get() is None:
            self._set(self._trace_of)

    def executed(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """The stretches of executed lines by file name."""
        self._look()
        return {name: stretches(lines) for name, lines in list(self.seen.items()) if lines}

    def wanted(self, name: str) -> bool:
        """Is this one of the project's files?"""
        if name not in self._wanted:
            self._wanted[name] = not (name.startswith("<") or inner(name) or library(name))
        return self._wanted[name]

    def _look(self) -> None:
        """A trace that C has set, as coverage does, went past us; and so did the end of ours."""
        main = threading.current_thread() is threading.main_thread()
        if main and self._trace_of is not None and self._get() is not self._trace_of:
            self._taken(TAKEN if self._get() is not None else LOST)

    def _taken(self, note: str = TAKEN) -> None:
        if not {TAKEN, note} & {*self.notes}:
            self.notes.append(note)

    def _monitor(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        if monitoring.get_tool(TOOL) is not None:
            self.notes.append("Another tool monitors this program, so which lines were executed is not known.")
            return
        monitoring.use_tool_id(TOOL, "syncguard")
        events, off = monitoring.events, monitoring.DISABLE

        def start(code: CodeType, offset: int) -> Any:
            if self.wanted(code.co_filename):
                self.seen.setdefault(code.co_filename, set()).add(code.co_firstlineno)
                monitoring.set_local_events(TOOL, code, events.LINE)
            return off

        def line(code: CodeType, number: int) -> Any:
            self.seen.setdefault(code.co_filename, set()).add(number)
            return off

        monitoring.register_callback(TOOL, events.PY_START, start)
        monitoring.register_callback(TOOL, events.LINE, line)
        monitoring.set_events(TOOL, events.PY_START)

        def undo() -> None:
            monitoring.set_events(TOOL, 0)
            for event in (events.PY_START, events.LINE):
                monitoring.register_callback(TOOL, event, None)
            monitoring.free_tool_id(TOOL)

        self._undo = undo

    def _trace(self) -> None:
        """A function is traced until each of its lines has been seen; then a call of it costs a look-up."""
        left = self._left  # by file, too: code of two files is equal where both read the same

        def call(frame: FrameType, event: str, arg: object) -> Any:
            code = frame.f_code
            key = code.co_filename, code
            lines = left.get(key)
            if lines is None:
                wanted = self.wanted(code.co_filename)
                lines = left[key] = {line for *_, line in code.co_lines() if line} if wanted else set()
                if wanted:
                    self.seen.setdefault(code.co_filename, set())
            return traced if lines else None

        def traced(frame: FrameType, event: str, arg: object) -> Any:
            code = frame.f_code
            self.seen[code.co_filename].add(frame.f_lineno)
            lines = left[code.co_filename, code]
            lines.discard(frame.f_lineno)
            return traced if lines else None

        settrace, gettrace = sys.settrace, sys.gettrace

        def get_trace() -> Any:
            """Of ours nobody is told: some programs do something else where a debugger looks on."""
            found = gettrace()
            return None if found is call else found

        def set_trace(function: Any) -> None:
            if function is not call:
                self._taken()
            settrace(function)

        settrace(call)
        threading.settrace(call)
        sys.settrace, sys.gettrace = set_trace, get_trace
        self._trace_of, self._set = call, settrace

        def undo() -> None:
            self._look()
            self._trace_of = None
            if sys.settrace is set_trace:
                sys.settrace = settrace
            if sys.gettrace is get_trace:
                sys.gettrace = gettrace
            if gettrace() is call:
                settrace(None)
                threading.settrace(None)

        self._undo = undo


def stretches(lines: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Lines as stretches: first and last."""
    found: list[tuple[int, int]] = []
    for line in sorted(lines):
        if found and line == found[-1][1] + 1:
            found[-1] = (found[-1][0], line)
        else:
            found.append((line, line))
    return tuple(found)
