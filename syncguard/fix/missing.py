"""A branch in, whether its body reads what is there only if its test held out: what other branches bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from syncguard.fix.names import loaded, stores
from syncguard.fix.nodes import inside
from syncguard.fix.region import Region


def missing(branch: cst.If, region: Region) -> bool:
    """Whether a variable or an attribute is read in the body that is bound under an `if` only, and not around it."""
    return _unbound(branch, region) or _unset(branch, region)


def _unbound(branch: cst.If, region: Region) -> bool:
    scope = region.scope(branch)
    for name in loaded(region, branch.body):
        bound = [node for node in stores(region, scope, name) if not region.within(node, branch)]
        if bound and all(_apart(node, branch, region) for node in bound):
            return True
    return False


def _apart(store: cst.CSTNode, branch: cst.If, region: Region) -> bool:
    """Whether an `if` without `else` that the branch is not in holds a place."""
    around = [*region.around(branch)]
    return any(isinstance(held, cst.If) and held.orelse is None and held not in around for held in region.around(store))


def _unset(branch: cst.If, region: Region) -> bool:
    names = {
        node.attr.value
        for node in inside(branch.body)
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name)
    }
    set_in = _set_in(region.lines) if names else ()
    return any({under for name, under in set_in if name == one} == {True} for one in names)


@lru_cache(maxsize=4)
def _set_in(lines: tuple[str, ...]) -> tuple[tuple[str, bool], ...]:
    """The attributes that a file sets, and whether an `if` decides about it."""
    return tuple(_set(ast.parse("\n".join(lines)), False))


def _set(node: ast.AST, under: bool) -> Iterator[tuple[str, bool]]:
    """The attributes that are set somewhere, and whether an `if` decides about it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            yield child.attr, under
        function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        yield from _set(child, not function and (under or isinstance(child, ast.If)))
