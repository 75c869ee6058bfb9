"""`x[mask].sum()` and `.mean()` -> sums over all elements, those outside as 0; the mean by the mask's count."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.guarded import ALONE, guarded
from syncguard.fix.masks import unused
from syncguard.fix.nodes import inside
from syncguard.fix.questions import asked
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.fix.shapes import subscript
from syncguard.fix.totals import Total, plain, shapeless, stays, text, total
from syncguard.terms import Finding


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Everything that is done with the selected elements is to sum or average all of them."""
    torch = known.torch()
    here = (node, *region.around(node))
    found = [one for call in region.calls if torch and (one := total(call, region, known)) is not None]
    found = [one for one in found if any(part in here for part in (one.call, *one.by))]
    found = [one for one in found if plain(one.picks, region, known) and stays(one, region, known)]
    for one in found:
        if (choice := guarded(one.call, region, known)) is not None:
            return Proposal("unsafe", ALONE, (region.swap(*choice),))
    if not found or selects_on(found, region, known):
        return None
    by = tuple(part for one in found for part in one.by)
    gone = unused(by, [one.call for one in found], region)
    if len(gone) < len(set(by)):
        return None  # the elements are needed for something else, too
    message = "adds up the same elements in another order, all of them in the dtype of the sum"
    if any(one.kind == "mean" for one in found):
        message += ": in float16 it can be infinite where a mean is not"
    if any(one.curved for one in found):
        message += "; infinity or NaN outside of the mask reaches the gradient as NaN"
    edits = [region.swap(one.call, text(one, torch, region, known, guards(one, region, known))) for one in found]
    loose = any(shapeless(one, region, known) for one in found)
    return Proposal("display" if loose else "unsafe", message, (*edits, *gone))


def guards(found: Total, region: Region, known: Known) -> bool:
    """Whether a total is in an `if` that asks whether its mask has a true element: once the test goes it may have
    none."""
    tests = [held.test for held in region.around(found.call) if isinstance(held, cst.If | cst.IfExp)]
    masks = [mask for test in tests if (mask := asked(test, known)) is not None]
    return any(mask.deep_equals(one.mask) for mask in masks for one in found.picks)


def selects_on(found: list[Total], region: Region, known: Known) -> bool:
    """Whether the mask selects something else, too, which would wait all the same."""
    totals = [one for call in region.calls if (one := total(call, region, known)) is not None]
    reduced_ones = [one.call for one in totals if plain(one.picks, region, known)]
    masks = [pick.mask for one in found for pick in one.picks]
    for node in region.places:
        key = subscript(node)
        if key is None or isinstance(region.parent(node), cst.AssignTarget) or not any(map(key.deep_equals, masks)):
            continue
        if any(held in reduced_ones for held in region.around(node)):
            continue
        if not any(node in (held, *inside(held)) for one in totals for held in one.by):
            return True
    return False
