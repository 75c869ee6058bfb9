"""The frames of a waiting thread -> the row in rules/ops of what the program called, and its hazard.

A wait is told by the device, which knows no names. The names are in the program: the instruction at which a frame
stands says which expression it is in the middle of, and the frame's variables say what that expression calls. This
costs nothing until something waits, and then once for each place; a TorchFunctionMode would know the name exactly,
and costs some microseconds at every operation.
"""

from __future__ import annotations

import ast
import dis
import os
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FrameType, ModuleType
from typing import Any

import torch
from torch.overrides import resolve_name

from syncguard.observe.expression import FORMAT, UNREAD, Given, arguments, expression, formats, lookup, operands
from syncguard.observe.simulate.arguments import Arguments
from syncguard.observe.simulate.conditions import hold
from syncguard.observe.simulate.marks import DEVICE, HOST, mark
from syncguard.pack import Pack
from syncguard.pack.returns import depends_on
from syncguard.terms import Op, Wait

UNKNOWN = "unpredicted"
TORCH = os.path.dirname(torch.__file__) + os.sep
OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep
TENSOR = "torch.Tensor."
# What an instruction does to the tensor on the stack is a protocol, which has a row like any call.
PROTOCOLS = {
    "BINARY_SUBSCR": "__getitem__", "BINARY_SLICE": "__getitem__", "STORE_SUBSCR": "__setitem__",
    "STORE_SLICE": "__setitem__", "DELETE_SUBSCR": "__delitem__", "CONTAINS_OP": "__contains__",
    "FORMAT_VALUE": "__format__", "FORMAT_SIMPLE": "__format__", "FORMAT_WITH_SPEC": "__format__",
    "GET_ITER": "__iter__", "FOR_ITER": "__iter__", "UNPACK_SEQUENCE": "__iter__", "UNPACK_EX": "__iter__",
    "UNARY_NOT": "__bool__", "TO_BOOL": "__bool__", "UNARY_NEGATIVE": "__neg__", "UNARY_INVERT": "__invert__",
    "LOAD_ATTR": "", "CALL": "", "CALL_KW": "", "CALL_FUNCTION_EX": "",
}  # fmt: skip
COMPARE = {"<": "__lt__", "<=": "__le__", "==": "__eq__", "!=": "__ne__", ">": "__gt__", ">=": "__ge__"}
ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "@": "matmul", "**": "pow",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
SUBSCRIPTS = ("__getitem__", "__setitem__")
JUMPS = ("POP_JUMP_", "JUMP_IF_")
# Between a value and the jump on it: more of the same condition.
HARMLESS = ("LOAD_", "COMPARE_OP", "BINARY_OP", "UNARY_NOT", "TO_BOOL", "CONTAINS_OP", "IS_OP", "CACHE", "COPY",
            "PUSH_NULL", "EXTENDED_ARG", "NOT_TAKEN", "NOP", "PRECALL", "KW_NAMES")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Callee:
    """What waits: the key of a row (or the best name there is), its hazard, and whether a branch hangs on the value."""

    op: str
    hazard: str
    decides: bool = False
    depends: str = ""  # on sizes, or on the layout, which only a run knows


def callee(frames: Sequence[FrameType], pack: Pack) -> Callee:
    """What these frames, innermost first, are in the middle of: what the program called, if it has a row that waits.

    Otherwise the innermost such call on the way there: what a library function does inside. The first frame outside
    torch is the program's; none further out is looked at.
    """
    fallback = ""
    best: Callee | None = None
    for frame in frames:
        inside = frame.f_code.co_filename.startswith(TORCH)
        called = _waiting(names(frame), frame, pack)
        # What torch's frame runs is what the next one called, whose source may not say so.
        entered = _waiting(_entered(frame), frame, pack) if inside or called is None else None
        if best is not None and called is not None and _guessed(called.op, best.op):
            called = replace(best, decides=called.decides)
        if found := entered or called:
            best = found
        else:
            known = [name for name, _ in (*names(frame), *(_entered(frame) if inside else ()))]
            fallback = next((name for name in known if _public_row(name, pack)), fallback)
            fallback = fallback or next((name for name in known if name.startswith("torch.")), "")
        if not inside:
            break
    return best or Callee(fallback, UNKNOWN, bool(frames) and decides(frames[-1].f_code, frames[-1].f_lasti))


def _waiting(named: Iterator[tuple[str, Given | None]], frame: FrameType, pack: Pack) -> Callee | None:
    """The first of some names that has a row that waits."""
    for name, args in named:
        row = pack.op(name)
        if row is not None and row.waits:
            wait = met(row, args)
            return Callee(name, wait.hazard, decides(frame.f_code, frame.f_lasti), depends_on(wait.when))
    return None


def _guessed(name: str, entered: str) -> bool:
    """A method is taken for a tensor's where its object is not known; what torch runs of that name knows better."""
    return name.startswith(TENSOR) and not entered.startswith(TENSOR) and name.split(".")[-1] == entered.split(".")[-1]


def _public_row(name: str, pack: Pack) -> bool:
    return name.startswith("torch.") and not name.startswith("torch._") and pack.op(name) is not None


def _entered(frame: FrameType) -> Iterator[tuple[str, Given | None]]:
    """The names of the function that a frame runs, or of what a `with` enters, with what its arguments hold now."""
    module, qualified = frame.f_globals.get("__name__"), frame.f_code.co_qualname.removesuffix(".__enter__")
    if isinstance(module, str) and "<" not in qualified:
        for name in titles(module, qualified):
            yield name, ((), dict(frame.f_locals))


def program_frames(start: FrameType | None) -> tuple[FrameType, ...]:
    """The frames from this one outwards, up to and with the first that is neither torch's nor ours."""
    found: list[FrameType] = []
    while start is not None:
        path = start.f_code.co_filename
        if not path.startswith(OURS):
            found.append(start)
            if not path.startswith((TORCH, "<frozen", "<string>")):
                break
        start = start.f_back
    return tuple(found)


def met(row: Op, args: Given | None) -> Wait:
    """The row's wait that these arguments meet; its first, where they are not known.

    What cannot be read of them is taken to be as a wait needs it, where no other wait fits what can.
    """
    if args is None or len(row.waits) < 2:
        return row.waits[0]
    _place(args)
    given = Arguments(row.args, *args)
    open_to_doubt: Wait | None = None
    for wait in row.waits:
        read = [(test, names) for test, names in wait.when if not _unread(given, names)]
        if not hold(tuple(read), given):
            continue
        if len(read) == len(wait.when):
            return wait
        open_to_doubt = open_to_doubt or (wait if read else None)
    return open_to_doubt or row.waits[0]


def _unread(given: Arguments, names: str) -> bool:
    return any(given.named.get(name) is UNREAD for name in names.split("|"))


def _place(value: Any) -> None:
    """Tell the conditions where the real tensors among some arguments are."""
    if isinstance(value, torch.Tensor):
        mark(value, DEVICE if value.is_cuda else HOST)
    elif isinstance(value, torch.nn.Module):
        _place([*value.parameters(), *value.buffers()])
    elif isinstance(value, (tuple, list)):
        for item in value:
            _place(item)
    elif isinstance(value, dict):
        _place(list(value.values()))
    elif isinstance(value, slice):
        _place([value.start, value.stop, value.step])


def decides(code: CodeType, instruction: int) -> bool:
    """Does the program jump on what this instruction gives before it does anything else with it?"""
    steps = [*dis.get_instructions(code)]
    now = bisect_right(steps, instruction, key=lambda step: step.offset) - 1
    for n, step in enumerate(steps[max(now, 0) :][:12]):
        if step.opname.startswith(JUMPS):
            return "NONE" not in step.opname
        if n and not step.opname.startswith(HARMLESS):
            return False
    return False


def step_at(code: CodeType, instruction: int) -> dis.Instruction:
    """The instruction at an offset; one that calls Python stands on its cache, which belongs to it."""
    steps = [*dis.get_instructions(code)]
    return steps[max(bisect_right(steps, instruction, key=lambda step: step.offset) - 1, 0)]


def names(frame: FrameType) -> Iterator[tuple[str, Given | None]]:
    """The qualified names that the call in progress may have, the surest first, with its arguments where known."""
    node = expression(frame.f_code, frame.f_lasti)
    if protocol := _protocol(step_at(frame.f_code, frame.f_lasti)):
        name = FORMAT if formats(node, frame) else f"{TENSOR}{protocol}"
        yield name, operands(node, frame) if protocol in SUBSCRIPTS else None
        return
    if isinstance(node, ast.Call):
        given = {bound: arguments(node, frame, bound) for bound in (False, True)}
        method = _is_bound(node.func, frame)
        for name in [*_called(node.func, frame)]:
            yield name, given[method or name.startswith(TENSOR)]
    elif isinstance(node, ast.Attribute):
        yield f"{TENSOR}{node.attr}", None


def _is_bound(func: ast.expr, frame: FrameType) -> bool:
    """Is this the method of an object, which is its first argument?"""
    if not isinstance(func, ast.Attribute):
        return False
    known, owner = lookup(func.value, frame)
    return known and not isinstance(owner, (ModuleType, type))


def spelled(code: CodeType, instruction: int) -> Iterator[str]:
    """The names that the call may have by its text alone, for a frame that has gone."""
    node = expression(code, instruction)
    if protocol := _protocol(step_at(code, instruction)):
        yield FORMAT if formats(node, None) else f"{TENSOR}{protocol}"
    if isinstance(node, ast.Call):
        yield ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute):
            yield f"torch.nn.functional.{node.func.attr}"
            yield f"{TENSOR}{node.func.attr}"


def _protocol(step: dis.Instruction) -> str:
    if step.opname.startswith(JUMPS):
        return "__bool__"
    if step.opname == "COMPARE_OP":
        return COMPARE.get(step.argrepr.removeprefix("bool(").removesuffix(")"), "")
    if step.opname == "BINARY_OP":
        sign = step.argrepr
        name = ARITHMETIC.get(sign.removesuffix("="), "")
        return "__getitem__" if sign == "[]" else f"__{'i' * sign.endswith('=')}{name}__" if name else ""
    return PROTOCOLS.get(step.opname, "")


def _called(func: ast.expr, frame: FrameType) -> Iterator[str]:
    """The names of a callee: by the object that it is, by the classes of the object that has it, by its spelling."""
    known, owner = lookup(func.value, frame) if isinstance(func, ast.Attribute) else (False, None)
    if isinstance(func, ast.Attribute) and isinstance(owner, ModuleType):
        yield f"{owner.__name__}.{func.attr}"
    found, value = lookup(func, frame)
    if found:
        yield from _of_object(value)
    if isinstance(func, ast.Attribute):
        if known and isinstance(owner, ModuleType):
            return
        elif known and isinstance(owner, torch.Tensor):
            yield f"{TENSOR}{func.attr}"
        elif known:
            yield from (f"{name}.{func.attr}" for name in _classes(type(owner)))
        else:  # something waits in it, so that it may well be a tensor's
            yield f"{TENSOR}{func.attr}"
    elif isinstance(func, ast.Name):
        yield f"builtins.{func.id}"


def _of_object(value: Any) -> Iterator[str]:
    if isinstance(value, torch.nn.Module):
        yield from (f"{name}.forward" for name in _classes(type(value)))
        return
    if isinstance(value, type):
        yield from _classes(value)
        return
    try:
        resolved = resolve_name(value)
    except Exception:  # it compares and hashes what it is given
        resolved = None
    if resolved:
        yield resolved
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(name, str) and isinstance(module, str):
        yield from titles(module, name.removeprefix(f"{module}."))


def _classes(kind: type) -> Iterator[str]:
    """A class and its bases by their public names: torch.optim.Adam for torch.optim.adam.Adam."""
    for base in kind.__mro__[:-1]:
        yield from titles(base.__module__, base.__qualname__)


def titles(module: str, qualified: str) -> Iterator[str]:
    """The names of a function or class, the public ones first: torch.nn.Module.to for torch.nn.modules.module's."""
    outermost, dot, rest = qualified.partition(".")
    found = getattr(sys.modules.get(module), "__dict__", {}).get(outermost)
    if found is not None:
        yield from (f"{name}{dot}{rest}" for name in _public(module, outermost, found))
    yield f"{module}.{qualified}"


def _public(module: str, name: str, value: Any) -> Iterator[str]:
    """The names under which outer packages offer the same object, the shortest first."""
    parts = module.split(".")
    for size in range(1, len(parts)):
        outer = sys.modules.get(".".join(parts[:size]))
        if outer is not None and vars(outer).get(name) is value:
            yield f"{outer.__name__}.{name}"
