"""torch's GPU-trace callbacks: on for waits alone, and off again.

torch itself switches them on for ever and for all, and calls Python at every allocation and every free besides. That
costs time, and it loses errors: memory that is freed while an exception is on its way makes torch import a module with
that exception set, which clears it, and then Python looks for an exception where none is. So torch's pointer is led to
a copy of its table of functions in which all but those of waits do nothing. Where its symbols or its header are not
as they are known here, torch calls all of them, as it would.
"""

from __future__ import annotations

import ctypes
import platform
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch

STATE = "_ZN3c104impl8GPUTrace"
WORD = ctypes.sizeof(ctypes.c_void_p)
AHEAD = 2  # words of a table before its first function
TRACE = "trace_gpu_"
WAITS = tuple(f"{TRACE}{kind}_synchronization" for kind in ("stream", "device", "event"))
FUNCTION = re.compile(r"\bvirtual\s[^(;]*?(~?\w+)\s*\(")
TABLE = re.compile(r"^struct C10_API PyInterpreterVTable \{(.*?)^\};", re.MULTILINE | re.DOTALL)


class Switch:
    """torch's state of the callbacks. Whoever else switches them on has them all, from then on."""

    def __init__(self, flag: Any, pointer: Any, activate: Callable[[], None]) -> None:
        self._flag, self._pointer, self._activate = flag, pointer, activate
        self._others = bool(flag.value)
        activate()
        self._all = pointer.value
        self._waits = narrowed(self._all, slots(header()))

    def on(self) -> None:
        if not self._others:
            self._pointer.value = self._waits or self._all
            self._flag.value = True

    def off(self) -> None:
        if not self._others:
            self._flag.value = False

    def on_for_all(self) -> None:
        """What anybody else calls as torch._C._activate_gpu_trace."""
        self._others = True
        self._pointer.value = self._all
        self._flag.value = True
        self._activate()


@cache
def switch() -> Switch | None:
    """The switch of this torch; None where it cannot be reached, and the callbacks stay on."""
    try:
        core = ctypes.CDLL(str(Path(torch.__file__).parent / "lib/libc10.so"))
        flag = ctypes.c_bool.in_dll(core, f"{STATE}9haveStateE")
        pointer = ctypes.c_void_p.in_dll(core, f"{STATE}13gpuTraceStateE")
    except (OSError, ValueError):
        return None
    found = Switch(flag, pointer, torch._C._activate_gpu_trace)
    torch._C._activate_gpu_trace = found.on_for_all
    return found


def header() -> str:
    """What torch says of its table; empty where it does not come with its headers, or another compiler laid it out."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return ""
    try:
        return (Path(torch.__file__).parent / "include/c10/core/impl/PyInterpreter.h").read_text("utf-8")
    except OSError:
        return ""


def slots(text: str) -> tuple[str, ...]:
    """The functions of the table in their order, the destructor twice; none where it is not a table as known here."""
    table = TABLE.search(text)
    names = FUNCTION.findall(table[1]) if table else []
    known = len(set(names)) == len(names) and set(WAITS) <= {*names} and names[0].startswith("~")
    return (names[0], *names) if known else ()


class Found(ctypes.Structure):
    """What the loader knows of an address: `Dl_info` of dlfcn.h."""

    _fields_ = (
        ("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("at", ctypes.c_void_p)
    )  # fmt: skip


def all_of_one_library(functions: Sequence[int | None]) -> bool:
    """Whether these are addresses in torch's own library for Python, each of them."""
    found, homes = Found(), set()
    look = ctypes.CDLL(None).dladdr
    look.argtypes, look.restype = (ctypes.c_void_p, ctypes.POINTER(Found)), ctypes.c_int
    for function in functions:
        if not function or not look(function, ctypes.byref(found)):
            return False
        homes.add(found.file or b"")
    return len(homes) == 1 and b"torch_python" in homes.pop()


def narrowed(interpreter: int | None, names: Sequence[str]) -> int | None:
    """A copy of torch's interpreter whose table has the waits alone; None where there is no saying how."""
    if not interpreter or not names:
        return None
    functions = ctypes.c_void_p.from_address(ctypes.c_void_p.from_address(interpreter).value or 0).value or 0
    if not all_of_one_library([*(ctypes.c_void_p * len(names)).from_address(functions)]):
        return None  # not laid out as its header says
    nothing = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value  # asks for no lock, changes nothing
    copy = (ctypes.c_void_p * (AHEAD + len(names))).from_buffer_copy(
        ctypes.string_at(functions - AHEAD * WORD, (AHEAD + len(names)) * WORD)
    )
    for n, name in enumerate(names, AHEAD):
        if name.startswith(TRACE) and name not in WAITS:
            copy[n] = nothing
    table = ctypes.c_void_p(ctypes.addressof(copy) + AHEAD * WORD)
    made = ctypes.c_void_p(ctypes.addressof(table))
    KEPT.append((copy, table, made))
    return ctypes.addressof(made)


KEPT: list[Any] = []  # torch keeps pointers into it
