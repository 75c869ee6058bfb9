"""A stack of frames -> the user's place: the innermost one that is neither torch's, ours nor the standard library's."""

from __future__ import annotations

import dis
import linecache
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from types import CodeType, FrameType
from typing import NamedTuple, Protocol

from syncguard.record import Place

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STANDARD = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
TORCH = ("torch", "functorch", "torchgen")
TYPED = ("<stdin>", "<ipython")  # names without a file that are the user's all the same
# What torch was doing for the user when it waited.
ERRANDS = ((os.path.join("torch", "optim", ""), "optimizer"), (os.path.join("torch", "amp", ""), "optimizer"),
           (os.path.join("torch", "utils", "data", ""), "loader"))  # fmt: skip
PROGRAM = os.path.join(OURS, "observe", "program.py")  # from here on outwards, frames are those that started it
CALLERS = 6
ENGINE, NODE = "_engine_run_backward", "BackwardCFunction."  # torch's own functions that C++ calls, and that call it
TELLING = "fire_callbacks"  # by which torch calls us
NOWHERE = compile("", "", "exec")  # where no frame of Python is known
# Instructions that ask for the truth of what is on the stack, or for the next item of it.
TESTS = frozenset(bytes([number]) for name, number in dis.opmap.items()
                  if "JUMP_IF" in name or "JUMP_FORWARD_IF" in name or "JUMP_BACKWARD_IF" in name
                  or name in ("TO_BOOL", "UNARY_NOT", "FOR_ITER"))  # fmt: skip
SILENT = frozenset(bytes([dis.opmap[name]]) for name in ("EXTENDED_ARG", "COPY"))
Position = tuple[int | None, int | None, int | None, int | None]


class Gone(Protocol):
    """A frame that is kept without its values."""

    @property
    def code(self) -> CodeType: ...
    @property
    def instruction(self) -> int: ...


class Spot(NamedTuple):
    """An instruction of the user's, and what torch was doing for it: "", "optimizer" or "loader"."""

    code: CodeType
    instruction: int
    errand: str = ""


class Files(dict[str, tuple[bool, str]]):
    """A file name -> whether its frames are walked over, and torch's errand in it. Torch may be imported later."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        self.more = tuple(more)

    def __missing__(self, name: str) -> tuple[bool, str]:
        found = self[name] = (inner(name) or name.startswith(self.more), errand(name))
        return found


def inner(name: str) -> bool:
    """Is this file torch's, ours, or the standard library's?"""
    if name.startswith("<"):
        return not name.startswith(TYPED)
    if name.startswith(OURS + os.sep):
        return True
    for mark in LIBRARIES:
        if mark in name:
            return name.rpartition(mark)[2].split(os.sep, 1)[0] in TORCH
    return name.startswith(STANDARD) or name.startswith(_torch())


@cache
def library(name: str) -> bool:
    """Is this file an installed one, which is not the project's?"""
    return any(mark in name for mark in LIBRARIES)


def errand(name: str) -> str:
    """What torch does in this file for the user."""
    return next((word for part, word in ERRANDS if part in name), "") if inner(name) else ""


def spot(frame: FrameType | None, files: Files) -> tuple[Spot, FrameType | None]:
    """The user's innermost frame from this one outwards; where there is none, the innermost that is not ours."""
    doing, first = "", None
    while frame is not None:
        code = frame.f_code
        walked, errand = files[code.co_filename]
        if not walked:
            return Spot(code, frame.f_lasti, doing), frame
        doing = doing or errand
        if first is None and code.co_name != TELLING and not code.co_filename.startswith(OURS):
            first = frame
        frame = frame.f_back
    if first is None:
        return Spot(NOWHERE, 0, doing), None
    return Spot(first.f_code, first.f_lasti, doing), first


def calling_backward() -> FrameType | None:
    """The frame of the one thread that stands in a call of backward, which other threads do; None for several."""
    found = [frame for frame in sys._current_frames().values() if frame.f_code.co_name == ENGINE]
    return found[0] if len(found) == 1 else None


def calls_backward() -> bool:
    """Has this very thread called the backward that it is in? Those that the autograd engine keeps have not."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != ENGINE:
        frame = frame.f_back
    return frame is not None


def in_backward(frame: FrameType | None) -> bool:
    """Is this frame the program's own part of a backward: of a function of its own, or of a block computed again?"""
    while frame is not None and (frame := frame.f_back) is not None:
        if frame.f_code.co_name == ENGINE or frame.f_code.co_qualname.startswith(NODE):
            return True
    return False


def spot_of(frames: Iterable[Gone], files: Files) -> Spot | None:
    """The user's innermost frame among frames that have gone."""
    for frame in frames:
        if not files[frame.code.co_filename][0]:
            return Spot(frame.code, frame.instruction)
    return None


def callers(frame: FrameType | None, files: Files) -> Iterator[Spot]:
    """The user's frames outside this one, innermost first, a few."""
    outside = outwards(frame.f_back if frame is not None else None)
    found = (Spot(code, instruction) for code, instruction in outside if not files[code.co_filename][0])
    yield from islice(found, CALLERS)


def entrance(frame: FrameType | None, gone: Iterable[Gone] | None, files: Files) -> Spot | None:
    """The line of the project that led into an installed library: from a frame outwards, or among frames that have
    gone.
    """
    for code, instruction in ((one.code, one.instruction) for one in gone) if gone else outwards(frame):
        if not files[code.co_filename][0] and not library(code.co_filename):
            return Spot(code, instruction)
    return None


def outwards(frame: FrameType | None) -> Iterator[tuple[CodeType, int]]:
    """The code and instruction of the program's frames, innermost first."""
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        yield frame.f_code, frame.f_lasti
        frame = frame.f_back


class Places:
    """Spots as places: relative to a folder where they lie in it, columns in characters."""

    def __init__(self, folder: str) -> None:
        self.folder = folder.rstrip(os.sep) + os.sep
        self.texts: dict[str, list[str]] = {}  # by name: the lines of what is no file
        self._made: dict[tuple[CodeType, int], Place] = {}

    def place(self, spot: Spot) -> Place:
        key = (spot.code, spot.instruction)
        if key not in self._made:
            self._made[key] = self._place(*key)
        return self._made[key]

    def path(self, name: str) -> str:
        """A file name as the record writes it."""
        if name.startswith("<"):
            return name
        name = os.path.abspath(name)
        return name.removeprefix(self.folder)

    def _place(self, code: CodeType, instruction: int) -> Place:
        if code is NOWHERE:
            return Place("", 0)
        line, end_line, column, end_column = position(code, instruction)
        first, last = self._line(code.co_filename, line), self._line(code.co_filename, end_line)
        known = column is not None and end_column is not None
        return Place(
            self.path(code.co_filename),
            line,
            _characters(first, column or 0) + 1 if known else 0,
            end_line,
            _characters(last, end_column or 0) + 1 if known else 0,
            code.co_qualname if code.co_name != "<module>" else "",
            first.strip("\r\n"),
        )

    def _line(self, name: str, number: int) -> str:
        lines = self.texts.get(name)
        if lines is None:
            return linecache.getline(name, number)
        return lines[number - 1] if 0 < number <= len(lines) else ""


def position(code: CodeType, instruction: int) -> tuple[int, int, int | None, int | None]:
    """First line, last line, column, end column (0-based, in bytes) of an instruction."""
    places = list(code.co_positions())
    number = max(instruction, 0) // 2
    place = places[number] if number < len(places) else (None, None, None, None)
    steps = code.co_code[::2]
    if steps[number : number + 1] in TESTS:
        # A jump may have the place of its whole statement or of another test; what it tests was made just before.
        before = next((n for n in range(number - 1, -1, -1) if steps[n : n + 1] not in SILENT), number)
        place = place if None in places[before] or _within(place, places[before]) else places[before]
    line, end_line, column, end_column = place
    if line is not None:
        return line, end_line or line, column, end_column
    line = max((line for start, _, line in code.co_lines() if line and start <= max(instruction, 0)), default=0)
    return line or code.co_firstlineno, line or code.co_firstlineno, None, None


def _within(inner: Position, outer: Position) -> bool:
    if None in inner or None in outer:
        return False
    return (outer[0], outer[2]) <= (inner[0], inner[2]) and (inner[1], inner[3]) <= (outer[1], outer[3])


def _characters(line: str, column: int) -> int:
    """A column in bytes as one in characters."""
    return column if line.isascii() else len(line.encode()[:column].decode("utf-8", "ignore"))


def _torch() -> tuple[str, ...]:
    """Where torch is, if it is not an installed package: built in its own tree."""
    torch = sys.modules.get("torch")
    file = getattr(torch, "__file__", None)
    return (os.path.dirname(file) + os.sep,) if file else ()
