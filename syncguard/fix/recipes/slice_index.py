"""`x[:, [-1]]` -> `x[:, -1:]`: places that follow one another are a slice, which copies nothing to the device."""

from __future__ import annotations

from itertools import pairwise

import libcst as cst

from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """One list of numbers, beside which nothing but slices, numbers and new dimensions stands."""
    if not isinstance(node, cst.Subscript) or known.tensor(node.value) is None:
        return None
    lists = [
        part.slice.value for part in node.slice if isinstance(part.slice, cst.Index) and not _plain(part.slice, known)
    ]
    places = _places(lists[0]) if len(lists) == 1 else None
    if places is None:
        return None
    first, last = places[0], places[-1] + 1
    edit = region.swap(lists[0], f"{first or ''}:{last or ''}")
    if isinstance(region.parent(node), cst.AssignTarget | cst.AugAssign) or _consumed(node, region, known):
        return Proposal("safe", "slices: the same places, in order", (edit,))
    return Proposal("unsafe", "slices: the result is a view, where it was a copy that may be written into", (edit,))


def _plain(index: cst.Index, known: Known) -> bool:
    """Whether a part of an index picks no elements by itself: a number, `None` or `...`."""
    value = index.value
    named = isinstance(value, cst.Name) and value.value == "None"
    return index.star is None and (named or isinstance(value, cst.Ellipsis) or known.number(value) in ("int", "size"))


def _places(node: cst.BaseExpression) -> list[int] | None:
    """The numbers of a list, where each is one more than the last and all count from the same end."""
    if not isinstance(node, cst.List) or not node.elements:
        return None
    found = [_number(element.value) for element in node.elements]
    places = [place for place in found if place is not None]
    if len(places) < len(found) or (places[0] < 0) is not (places[-1] < 0):
        return None
    return places if all(b == a + 1 for a, b in pairwise(places)) else None


def _number(node: cst.BaseExpression) -> int | None:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = _number(node.expression)
        return -inner if inner else None
    return int(node.value, 0) if isinstance(node, cst.Integer) else None


def _consumed(node: cst.Subscript, region: Region, known: Known) -> bool:
    """Whether the elements go nowhere but into an operation that makes something else of them."""
    held = region.parent(node)
    if isinstance(held, cst.ComparisonTarget):
        held = region.parent(held)
    return isinstance(held, cst.Comparison | cst.BinaryOperation) and known.tensor(held) is not None
