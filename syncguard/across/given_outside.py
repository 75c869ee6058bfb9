"""An option of an object in, or of one of its methods, whether another file of its package gives it otherwise out: it
makes such an object, sets what it keeps, descends from its class, or is a class above it that asks it so."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Final

from syncguard.across.hierarchy import Hierarchy
from syncguard.across.texts import Files
from syncguard.across.turned_outside import is_set
from syncguard.judge.around.called import Where
from syncguard.judge.options.opted import BY_DEFAULT
from syncguard.terms import Fact

DEFAULT: Final = re.compile(r"`([\w.]+)` is `([^`]*)`")
OWN: Final = re.compile(r"\bself\.(\w+)")
MADE: Final = "__init__"
LONGEST: Final = 2000  # characters of a call


def given_outside(option: Fact, owner: Where, method: str, files: Files, hierarchy: Hierarchy) -> bool:
    """Whether another file is seen to give what an option hangs on something else than that is by default."""
    _, _, default = option.text.partition(BY_DEFAULT)
    defaults = dict(DEFAULT.findall(default))
    kept = {name.lstrip("_") for name in OWN.findall(option.text)}
    if not defaults or not owner[1] or not hierarchy.text(owner):
        return False
    if not kept:
        return _asked_so(defaults, owner, method, hierarchy)
    plain = {name.removeprefix("self.").lstrip("_"): value for name, value in defaults.items()}
    names = {name: value for name, value in plain.items() if name.isidentifier()}
    return (
        any(_is_set(name, owner, files, hierarchy) for name in kept)
        or _made_so(names, owner, files, hierarchy)
        or any(_answers(kept, names, heir, owner, hierarchy) for heir in hierarchy.below(owner))
    )


def must_be_given(option: Fact, owner: Where, files: Files, hierarchy: Hierarchy) -> bool:
    """Whether an option hangs on what the constructor of its object must be given, and another file gives otherwise: it
    has no default."""
    _, _, default = option.text.partition(BY_DEFAULT)
    kept = {name.removeprefix("self.").lstrip("_"): told for name, told in DEFAULT.findall(default) if "self." in name}
    if not kept or not owner[1]:
        return False
    text = hierarchy.text(owner)
    asked = [name for name in kept if re.search(rf"\bdef __init__\([^)]*\b{name}\b(?![ \t]*=|:[^,)]*=)", text)]
    tree = hierarchy.parsed(owner) if asked else None
    maker = _method(tree, MADE) if tree is not None else None
    told = _required(maker) if maker is not None else set()
    return any(name in told for name in asked) and _made_so(kept, owner, files, hierarchy)


def _asked_so(defaults: dict[str, str], owner: Where, method: str, hierarchy: Hierarchy) -> bool:
    """Whether a class above, in another file, asks its own object for a method with such an argument."""
    asked = f"self.{method}("
    above = [one for one in hierarchy.above(owner) if one[0] != owner[0] and asked in hierarchy.text(one)]
    own = hierarchy.parsed(owner) if above else None
    places = _places(own, method)
    return any(
        _differs(call, defaults, places)
        for one in above
        for call in hierarchy.asks(one, method)
        if isinstance(call.func, ast.Attribute) and _is_self(call.func.value)
    )


def _is_set(name: str, owner: Where, files: Files, hierarchy: Hierarchy) -> bool:
    """Whether another file that names the class sets such an attribute of something; or one does that does not, where
    nothing else there has one, or the class leaves it at None: that is there to be set."""
    path, package = owner[0], files.home(owner[0])
    having = {one for had in (name, f"_{name}") for one in hierarchy.naming(had, package)} - {path}
    setting = [one for one in sorted(having) if is_set(name, [one], files)]
    naming = hierarchy.naming(owner[1], package) if setting else []
    if any(one in naming for one in setting):
        return True
    none = re.compile(rf"\bself\._?{name}[ \t]*(?::[^=\n]+)?=[ \t]*None\b")
    if setting and any(none.search(hierarchy.text(one)) for one in (owner, *hierarchy.above(owner))):
        return True
    keeps = re.compile(rf"\bself\._?{name}\b[ \t]*[:=]|^[ \t]+_?{name}\b[ \t]*[:=]", re.MULTILINE)
    return bool(setting) and not any(files.has(one, keeps) for one in having)


def _made_so(names: dict[str, str], owner: Where, files: Files, hierarchy: Hierarchy) -> bool:
    """Whether another file makes an object of a class with such an argument."""
    others = [one for one in hierarchy.naming(owner[1], files.home(owner[0])) if one != owner[0]]
    made = re.compile(rf"(?<!class )\b{owner[1]}\(")
    making = [one for one in others if files.has(one, made)]
    places = _places(hierarchy.parsed(owner), MADE) if making else []
    return any(
        _differs(call, names, places)
        for one in making
        for met in made.finditer(files.code(one))
        if (call := _call_at(files.code(one), met.start())) is not None
    )


def _answers(kept: Collection[str], names: dict[str, str], heir: Where, owner: Where, hierarchy: Hierarchy) -> bool:
    """Whether a class that descends from another one has its own answer to what that asks its object for, or gives the
    constructor above it such an argument."""
    tree = hierarchy.parsed(heir)
    if tree is None:
        return False
    named = any(name in hierarchy.text(heir) for name in kept)
    for part in ast.walk(tree) if named else ():
        match part:
            case ast.FunctionDef(name=name, body=body) if name.lstrip("_") in kept:
                return not _unwritten(body)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if name.lstrip("_") in kept:
                return True
    if any(name.lstrip("_") in kept for name in _constants(tree)):
        return True
    places = _places(hierarchy.parsed(owner), MADE)
    return any(
        _differs(call, names, places)
        for call in hierarchy.asks(heir, MADE)
        if isinstance(call.func, ast.Attribute) and not _is_self(call.func.value)
    )


def _constants(tree: ast.ClassDef) -> Iterator[str]:
    for part in tree.body:
        if isinstance(part, ast.Assign | ast.AnnAssign):
            aims = part.targets if isinstance(part, ast.Assign) else [part.target]
            yield from [aim.id for aim in aims if isinstance(aim, ast.Name)]


def _unwritten(body: list[ast.stmt]) -> bool:
    return all(isinstance(part, ast.Raise | ast.Pass) or _is_text(part) for part in body)


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def _differs(call: ast.Call, names: dict[str, str], places: list[str]) -> bool:
    """Whether a call writes something else for one of some arguments than these are by default."""
    stars = [index for index, arg in enumerate(call.args) if isinstance(arg, ast.Starred)]
    sure = call.args[: stars[0]] if stars else call.args
    given = {**dict(zip(places, sure)), **{one.arg: one.value for one in call.keywords if one.arg}}
    return any(
        isinstance(value, ast.Constant) and _is_other(value, names[name.lstrip("_")])
        for name, value in given.items()
        if name.lstrip("_") in names
    )


def _is_other(value: ast.Constant, default: str) -> bool:
    try:
        known = ast.literal_eval(default)
    except (SyntaxError, ValueError):
        return True
    return type(known) is not type(value.value) or known != value.value


def _call_at(text: str, begin: int) -> ast.Call | None:
    """The call that a text has at a place."""
    deep = 0
    for at in range(text.index("(", begin), min(len(text), begin + LONGEST)):
        deep += (text[at] in "([{") - (text[at] in ")]}")
        if not deep:
            try:
                made = ast.parse(text[begin : at + 1], mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
            return made if isinstance(made, ast.Call) else None
    return None


def _method(tree: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((part for part in tree.body if isinstance(part, ast.FunctionDef) and part.name == name), None)


def _places(tree: ast.ClassDef | None, name: str) -> list[str]:
    """The arguments of a method by their places."""
    method = _method(tree, name) if tree is not None else None
    args = [*method.args.posonlyargs, *method.args.args] if method is not None else []
    static = method is not None and any(
        isinstance(one, ast.Name) and one.id == "staticmethod" for one in method.decorator_list
    )
    return [arg.arg for arg in (args if static else args[1:])]


def _required(maker: ast.FunctionDef) -> set[str]:
    """The arguments that a constructor must be given."""
    args = [*maker.args.posonlyargs, *maker.args.args]
    named = [arg for arg, default in zip(maker.args.kwonlyargs, maker.args.kw_defaults) if default is None]
    return {arg.arg for arg in (*args[: len(args) - len(maker.args.defaults)], *named)}


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
