"""Runs a script, a module or a text as `python` itself would; says how it ended."""

from __future__ import annotations

import atexit
import builtins
import importlib.machinery
import io
import os
import sys
import threading
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from syncguard.observe.attribute import OURS

LOOKING_ON = 4  # frames that a trace or a wait that is counted may take above the program's
TEXT = "<string>"  # what Python calls the file of a program that is given as a text


class Program(NamedTuple):
    """What to run: a path, or as `flag` says the dotted name of a module or a program's text; and its arguments."""

    name: str
    arguments: tuple[str, ...] = ()
    flag: str = ""  # -m, -c

    @property
    def command(self) -> tuple[str, ...]:
        return (*filter(None, [self.flag]), self.name, *self.arguments)

    @property
    def file(self) -> str:
        """The script; '' where there is none."""
        return "" if self.flag else self.name


class CannotRun(Exception):
    """There is no such program; the message is one line."""


class Ended(NamedTuple):
    """How a program ended: what the record says, the exit code, and the signal that Python would die of (0: none)."""

    said: str
    code: int
    complete: bool = True
    signal: int = 0


def check(program: Program) -> None:
    """CannotRun where the program is not there, before anything is started."""
    if program.flag:
        return
    path = Path(program.name)
    if not path.exists():
        raise CannotRun(f"{program.name}: there is no such file")
    if program.name.endswith(".ipynb"):
        raise CannotRun(f"{program.name} is a notebook; run what `jupyter nbconvert --to script` makes of it")
    if not os.access(path, os.R_OK):
        raise CannotRun(f"{program.name}: cannot be read")


def run(program: Program) -> Ended:
    """Run it to its end in this process, as `__main__`."""
    with as_deep():
        return _ended(program)


def _ended(program: Program) -> Ended:
    try:
        main = types.ModuleType("__main__")
        main.__dict__.update(__builtins__=builtins, __spec__=None, __package__=None, __loader__=None)
        sys.modules["__main__"] = main
        RUNS[program.flag](program, main)
    except SystemExit as fault:
        return _left(fault)
    except BaseException as fault:
        show(fault)
        name = type(fault).__name__
        if isinstance(fault, KeyboardInterrupt):
            import signal

            return Ended("signal SIGINT", 130, False, signal.SIGINT)
        text = str(fault).strip().split("\n", 1)[0]
        return Ended(f"exception {name}: {text}" if text else f"exception {name}", 1, False)
    return Ended("exit 0", 0)


def finish() -> None:
    """What Python itself does after a program's last line: pools of threads end, threads are waited for, and what was
    registered for the exit is called, where multiprocessing ends its pools and waits for its processes.
    """
    try:
        threading._shutdown()  # type: ignore[attr-defined]
    except BaseException as fault:
        sys.stderr.write(f"Exception ignored in: {threading!r}\n")
        traceback.print_exception(type(fault), fault, without_ours(fault))
    atexit._run_exitfuncs()


def show(fault: BaseException) -> None:
    """Show an exception as Python does, without our own frames."""
    fault.__traceback__ = without_ours(fault)
    sys.excepthook(type(fault), fault, fault.__traceback__)


def without_ours(fault: BaseException) -> types.TracebackType | None:
    """The traceback of an exception, and those of what it came from, less the frames of this package and of runpy."""
    known: set[int] = set()

    def every(one: BaseException | None) -> Iterator[BaseException]:
        while one is not None and id(one) not in known:
            known.add(id(one))
            yield one
            yield from every(one.__context__)
            one = one.__cause__

    for one in every(fault):
        links: list[types.TracebackType] = []
        link = one.__traceback__
        while link is not None:
            name = link.tb_frame.f_code.co_filename
            if not (name.startswith(OURS + os.sep) or (not links and name == "<frozen runpy>")):
                links.append(link)
            link = link.tb_next
        for this, after in zip(links, [*links[1:], None]):
            this.tb_next = after
        one.__traceback__ = links[0] if links else None
    return fault.__traceback__


def _left(fault: SystemExit) -> Ended:
    """What `sys.exit(x)` means for each x."""
    code = fault.code
    if code is None:
        return Ended("exit 0", 0)
    if isinstance(code, int):
        return Ended(f"exit {code & 0xFF}", code & 0xFF)
    try:
        sys.stderr.write(f"{code}\n")
    except Exception:  # noqa: S110 - Python does not mind either
        pass
    return Ended("exit 1", 1)


def _script(program: Program, main: types.ModuleType) -> None:
    sys.argv[:] = [program.name, *program.arguments]
    path = os.path.abspath(program.name)
    if os.path.isdir(path) or _archive(path):
        import runpy

        _first_on_path(path)
        runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]
        return
    _first_on_path(os.path.dirname(os.path.realpath(path)))
    kind = importlib.machinery.SourcelessFileLoader if path.endswith(".pyc") else importlib.machinery.SourceFileLoader
    loader = kind("__main__", path)
    main.__dict__.update(__file__=path, __loader__=loader, __cached__=None)
    if kind is importlib.machinery.SourcelessFileLoader:
        code = loader.get_code("__main__")
    else:
        with io.open_code(path) as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
    assert code is not None
    exec(code, main.__dict__)  # noqa: S102 - what we are here for


def _module(program: Program, main: types.ModuleType) -> None:
    import runpy

    sys.argv[:] = ["-m", *program.arguments]
    _first_on_path(os.getcwd())
    runpy._run_module_as_main(program.name)  # type: ignore[attr-defined]


def _text(program: Program, main: types.ModuleType) -> None:
    sys.argv[:] = ["-c", *program.arguments]
    _first_on_path("")
    main.__dict__.update(__loader__=importlib.machinery.BuiltinImporter)
    exec(compile(program.name, TEXT, "exec", dont_inherit=True), main.__dict__)  # noqa: S102 - as above


RUNS = {"": _script, "-m": _module, "-c": _text}


@contextmanager
def as_deep() -> Iterator[None]:
    """A program may recurse as deep as if nothing stood below it; how deep that is it sees and sets as ever."""
    plain, asked, limit = sys.setrecursionlimit, sys.getrecursionlimit, sys.getrecursionlimit()
    frame: types.FrameType | None = sys._getframe()
    below = LOOKING_ON
    while frame is not None:
        frame, below = frame.f_back, below + 1
    plain(limit + below)
    sys.setrecursionlimit, sys.getrecursionlimit = lambda limit, /: plain(limit + below), lambda: asked() - below
    try:
        yield
    finally:
        sys.setrecursionlimit, sys.getrecursionlimit = plain, asked
        plain(max(limit, asked()))


def _archive(path: str) -> bool:
    import zipfile

    return not path.endswith((".py", ".pyc")) and zipfile.is_zipfile(path)


def _first_on_path(folder: str) -> None:
    """`sys.path[0]` is the program's, unless Python was told to add none."""
    if not sys.flags.safe_path:
        sys.path[0] = folder
