"""A node in, whether it or a function of this file that it calls takes the time, sets something for all, or may not
come back, out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.locate import Unanchored, parsed
from syncguard.fix.nodes import inside
from syncguard.fix.region import Region
from syncguard.fix.writes import quiet, sets
from syncguard.read import core

LEAVING = ("sys.exit", "os._exit", "os.abort", "builtins.exit", "builtins.quit")
DEPTH = 2


def timed(node: cst.CSTNode, region: Region, known: Known, depth: int = DEPTH) -> bool:
    """Whether a node asks how long something takes, or sets something for all of a library, itself or by what it
    calls."""
    if sets(node, region, known):
        return True
    return any(timed(part, other, theirs, depth - 1) for part, other, theirs in _bodies(node, region, known, depth))


def jumps(node: cst.CSTNode, known: Known) -> bool:
    """Whether what stands below a node may not be reached, and so be guarded by it."""
    if isinstance(node, cst.Call):
        return known.callee(node) in LEAVING
    return isinstance(node, cst.Return | cst.Raise | cst.Continue | cst.Break | cst.Assert)


def guards(node: cst.CSTNode, known: Known) -> bool:
    """Whether a node calls something that may raise: all of which nothing is known."""
    return isinstance(node, cst.Call) and not quiet(node, known)


def _bodies(node: cst.CSTNode, region: Region, known: Known, depth: int) -> Iterator[tuple[cst.CSTNode, Region, Known]]:
    """The nodes of the functions of this file that a call may be one of, by their name."""
    if not depth or not isinstance(node, cst.Call) or known.callee(node):
        return
    match node.func:
        case cst.Name(value=name) | cst.Attribute(value=cst.Name(value="self" | "cls"), attr=cst.Name(value=name)):
            pass
        case _:
            return
    for one in [*known.home.routines]:
        if type(one.node) is core.Function and one.node.name == name:
            try:
                other = known.others.get(one.node.at[0]) or _other(one.node, region, known)
            except Unanchored:
                continue
            yield from ((part, other.region, other) for part in inside(other.region.module))


def _other(node: core.Function, region: Region, known: Known) -> Known:
    """What is known of another function of the file, found out once."""
    made = Known(parsed(region.path, region.lines, node.at[0], node.at[2]), known.world, known.home)
    made.others = known.others
    known.others[node.at[0]] = made
    return made
