"""A loss over the elements that a mask selects -> the loss over all of them, the others marked by `ignore_index`."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.masks import inverse, selected, unused
from syncguard.fix.reads import postfix
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

LOSSES = ("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Scores and labels are selected by one mask; a mean over no element is NaN before and after."""
    for call in [call for call in region.calls if known.callee(call) in LOSSES]:
        scores, labels = known.argument(call, "input"), known.argument(call, "target")
        if scores is None or labels is None:
            continue
        taken, marked = selected(scores, region, known), selected(labels, region, known)
        if taken is None or marked is None or not taken.mask.deep_equals(marked.mask):
            continue
        made = (scores, labels, *taken.by, *marked.by)
        if not any(part is held for part in made for held in (node, *region.around(node))):
            continue
        held, label = known.tensor(taken.mask), known.tensor(marked.source)
        if label is not None and label.dtype not in ("", "int"):
            return None
        keyword = known.argument(call, "ignore_index")
        reduction = known.argument(call, "reduction")
        if reduction is not None and not (
            isinstance(reduction, cst.SimpleString) and reduction.evaluated_value in ("mean", "sum")
        ):
            return None
        ignored = region.code(keyword) if keyword is not None else "-100"
        source, target = (
            region.code(taken.source),
            f"{postfix(marked.source, region)}.masked_fill({inverse(taken.mask, region)}, {ignored})",
        )
        if held is None or held.rank != 1:
            source = f"{postfix(taken.source, region)}.flatten(0, -2)"
            target += ".flatten()"
        edits = [region.swap(scores, source), region.swap(labels, target)]
        edits += unused((*taken.by, *marked.by), [scores, labels], region)
        text = "sums the same losses in another order, and computes the scores' losses for the ignored elements, too"
        return Proposal("unsafe", text, tuple(edits))
    return None
