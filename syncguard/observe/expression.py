"""A frame -> the expression that it is in the middle of, and what of it can be read off without running anything."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
from types import CodeType, FrameType, ModuleType
from typing import Any

import torch

Given = tuple[tuple[Any, ...], dict[str, Any]]  # a call's arguments

FORMAT = "torch.Tensor.__format__"
SAFE = ("device", "dtype", "shape", "ndim", "is_cuda")  # of a plain tensor: asking for these runs nothing
BEFORE = b"__before__."  # stands for the object of a method that is on the lines before


class Unread:
    """An argument that cannot be read off a frame."""


UNREAD = Unread()


def expression(code: CodeType, instruction: int) -> ast.expr | None:
    """The source of an instruction as a tree; None where there is no source or the place is not known."""
    place = next((p for n, p in enumerate(code.co_positions()) if n == instruction // 2), None)
    if place is None or None in place:
        return None
    line, end_line, column, end_column = (int(n or 0) for n in place)
    lines = [text.encode() for text in linecache.getlines(code.co_filename)[line - 1 : end_line]]
    if not lines:
        return None
    lines[-1] = lines[-1][:end_column]
    before, lines[0] = lines[0][:column], lines[0][column:]
    # A method whose object is on the lines before has the place of its name alone.
    text = (BEFORE if before.rstrip().endswith(b".") else b"") + b"".join(lines)
    try:
        return ast.parse(f"({text.decode()})", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def arguments(node: ast.Call, frame: FrameType, method: bool) -> Given | None:
    """The values of a call's arguments, UNREAD where one cannot be read off the frame without running anything."""
    parts: list[ast.expr] = [*node.args, *(k.value for k in node.keywords)]
    if any(isinstance(part, ast.Starred) for part in parts) or any(k.arg is None for k in node.keywords):
        return None
    if isinstance(node.func, ast.Attribute) and method:
        parts.insert(0, node.func.value)
    values = [_value(part, frame) for part in parts]
    first = len(values) - len(node.keywords)
    return tuple(values[:first]), {str(k.arg): v for k, v in zip(node.keywords, values[first:], strict=True)}


def operands(node: ast.expr | None, frame: FrameType) -> Given | None:
    """What a subscript works on, and what is written there by a statement of one line."""
    if not isinstance(node, ast.Subscript):
        return None
    written = _written(node, frame)
    found = [_value(part, frame) for part in (node.value, node.slice)]
    return (*found, *([_value(written, frame)] if written is not None else [])), {}


def _written(node: ast.Subscript, frame: FrameType) -> ast.expr | None:
    """The right side of the assignment to a subscript; None where its line is no such statement."""
    line = textwrap.dedent(linecache.getline(frame.f_code.co_filename, frame.f_lineno))
    try:
        body = ast.parse(line).body
    except (SyntaxError, ValueError):
        return None
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Subscript() as target], value=value) if ast.dump(target.slice) == ast.dump(
                node.slice
            ):
                return value
    return None


def _value(node: ast.expr, frame: FrameType) -> Any:
    found, value = lookup(node, frame)
    return value if found else UNREAD


def formats(node: ast.expr | None, frame: FrameType | None) -> bool:
    """Whether an expression is `text % values`, which formats them; of a frame that has gone, by a literal text."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return False
    text = node.left.value if isinstance(node.left, ast.Constant) else lookup(node.left, frame)[1] if frame else None
    return isinstance(text, str | bytes)


def lookup(node: ast.expr, frame: FrameType) -> tuple[bool, Any]:
    """The value of an expression, if it can be read off the frame without running any code of the program."""
    match node:
        case ast.Constant():
            return True, node.value
        case ast.Name():
            for space in (frame.f_locals, frame.f_globals, vars(builtins)):
                if node.id in space:
                    return True, space[node.id]
        case ast.Attribute():
            found, owner = lookup(node.value, frame)
            return _attribute(owner, node.attr) if found else (False, None)
        case ast.Tuple() | ast.List():
            looked = [lookup(item, frame) for item in node.elts]
            return all(found for found, _ in looked), tuple(value for _, value in looked)
        case ast.Slice():
            bounds = [(True, None) if b is None else lookup(b, frame) for b in (node.lower, node.upper, node.step)]
            return all(found for found, _ in bounds), slice(*(value for _, value in bounds))
        case ast.Subscript():
            (held, owner), (found, key) = lookup(node.value, frame), lookup(node.slice, frame)
            if held and found and type(owner) in (list, tuple, dict) and type(key) in (int, str):
                item = owner.get(key, UNREAD) if type(owner) is dict else [*owner, UNREAD][_within(key, len(owner))]
                return item is not UNREAD, item
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return True, -number
    return False, None


def _within(key: Any, size: int) -> int:
    """An index as it counts from the front; the one behind the last where there is no such item."""
    return key % size if isinstance(key, int) and -size <= key < size else size


def _attribute(owner: Any, name: str) -> tuple[bool, Any]:
    """An attribute that is simply there: of a module, a class, or in an object's own dictionary."""
    absent = object()
    if name in SAFE and type(owner) in (torch.Tensor, torch.nn.Parameter):
        return True, getattr(owner, name)
    value = (
        inspect.getattr_static(owner, name, absent)
        if not isinstance(owner, ModuleType)
        else vars(owner).get(name, absent)
    )
    if value is absent and isinstance(owner, torch.nn.Module):
        tables = (vars(owner).get(table, {}) for table in ("_parameters", "_buffers", "_modules"))
        value = next((table[name] for table in tables if name in table), absent)
    if value is absent or (hasattr(type(value), "__get__") and not inspect.isroutine(value)):
        return False, None
    if isinstance(value, (staticmethod, classmethod)):
        return True, value.__func__
    return True, value
