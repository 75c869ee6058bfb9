"""The code of a module in, whether it does anything out, as it is imported or started, but define and set things."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from syncguard.pack.places import Places

MAIN: Final = "main"  # what a command may start by this name


def does(code: str, places: Places) -> bool:
    """Whether it does: of what cannot be parsed nobody knows."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    own = frozenset([part.name for part in body if type(part) is ast.ClassDef and not _runs(part)])
    return any(_does(part, own, places) for part in body)


def _does(part: ast.stmt, own: frozenset[str], places: Places) -> bool:
    match part:
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Expr(value=ast.Constant()):
            return False
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name == MAIN or any(not _is_quiet(one, places) for one in part.decorator_list)
        case ast.Assign(targets=targets, value=value):
            return not all(map(_is_plain, targets)) or _calls(value, own, places)
        case ast.AnnAssign(target=target, value=value):
            return not _is_plain(target) or (value is not None and _calls(value, own, places))
        case ast.Expr(value=ast.Call(func=func, args=args)):
            sets = places.is_("cold", "settings_of_scripts", _name(func))
            return not sets or any(_calls(arg, own, places) for arg in args)
        case ast.If(test=test, body=yes, orelse=no):
            return _asks_main(test) or _calls(test, own, places) or _any((*yes, *no), own, places)
        case ast.Try(body=body, handlers=handlers, orelse=no, finalbody=last):
            return _any((*body, *no, *last, *[one for handler in handlers for one in handler.body]), own, places)
    return True


def _runs(part: ast.ClassDef) -> bool:
    """Whether to make an object of a class may do more than to set what it keeps: a loop, or a method of its own."""
    made = [one for one in part.body if type(one) is ast.FunctionDef and one.name == "__init__"]
    inside = [one for init in made for one in ast.walk(init)]
    asked = [_name(one.func) for one in inside if type(one) is ast.Call]
    return any(type(one) is ast.For or type(one) is ast.While for one in inside) or any(
        name.startswith("self.") for name in asked
    )


def _any(parts: Iterable[ast.stmt], own: frozenset[str], places: Places) -> bool:
    return any(_does(part, own, places) for part in parts)


def _is_plain(target: ast.expr) -> bool:
    """Whether names of the module alone are bound here."""
    return type(target) is ast.Name or (type(target) is ast.Tuple and all(map(_is_plain, target.elts)))


def _asks_main(test: ast.expr) -> bool:
    return any(type(part) is ast.Name and part.id == "__name__" for part in ast.walk(test))


def _calls(value: ast.expr, own: frozenset[str], places: Places) -> bool:
    """Whether a value is made by more than what makes constants, or objects of the module's own classes."""
    called = [_name(part.func) for part in ast.walk(value) if type(part) is ast.Call]
    return any(name not in own and not places.is_("cold", "makes_constants", name) for name in called)


def _is_quiet(decorator: ast.expr, places: Places) -> bool:
    """Whether a decorator only changes or lists what it is given: whoever starts it must import the module first."""
    func = decorator.func if type(decorator) is ast.Call else decorator
    return places.is_("cold", "quiet_decorators", _name(func))


def _name(func: ast.expr) -> str:
    """The dotted name of what is called; "?" of anything else."""
    return ast.unparse(func) if type(func) is ast.Name or type(func) is ast.Attribute else "?"
