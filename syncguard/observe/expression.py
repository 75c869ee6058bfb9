"""A frame -> the expression that it is in the middle of, and what of it can be read off without running anything."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
from types import CodeType, FrameType, ModuleType
from typing import Any

import torch

Given = tuple[tuple[Any, ...], dict[str, Any]]  # a call's arguments

FORMAT = "torch.Tensor.__format__"


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
    lines[0] = lines[0][column:]
    try:
        return ast.parse(f"({b''.join(lines).decode()})", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def arguments(node: ast.Call, frame: FrameType, method: bool) -> Given | None:
    """The values of a call's arguments, where every one can be read off the frame without running anything."""
    parts: list[ast.expr] = [*node.args, *(k.value for k in node.keywords)]
    if any(isinstance(part, ast.Starred) for part in parts) or any(k.arg is None for k in node.keywords):
        return None
    if isinstance(node.func, ast.Attribute) and method:
        parts.insert(0, node.func.value)
    looked = [lookup(part, frame) for part in parts]
    if not all(found for found, _ in looked):
        return None
    values = [value for _, value in looked]
    first = len(values) - len(node.keywords)
    return tuple(values[:first]), {str(k.arg): v for k, v in zip(node.keywords, values[first:], strict=True)}


def operands(node: ast.expr | None, frame: FrameType) -> Given | None:
    """What a subscript works on."""
    if not isinstance(node, ast.Subscript):
        return None
    looked = [lookup(node.value, frame), lookup(node.slice, frame)]
    return (tuple(value for _, value in looked), {}) if all(found for found, _ in looked) else None


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
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return True, -number
    return False, None


def _attribute(owner: Any, name: str) -> tuple[bool, Any]:
    """An attribute that is simply there: of a module, a class, or in an object's own dictionary."""
    absent = object()
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
