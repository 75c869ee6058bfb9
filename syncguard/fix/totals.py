"""A sum or mean over what a mask selects in, the same over all elements, those outside as 0, out."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from syncguard.fix.conditions import bare
from syncguard.fix.gradless import gradless
from syncguard.fix.known import Known
from syncguard.fix.masks import Selected, selected
from syncguard.fix.nodes import inside
from syncguard.fix.reads import postfix
from syncguard.fix.region import Region
from syncguard.fix.shapes import behind, fits, widened
from syncguard.fix.spread import Reach
from syncguard.fix.steady import root
from syncguard.fix.writes import writes

REDUCTIONS = {"torch.Tensor.sum": "sum", "torch.Tensor.mean": "mean", "torch.sum": "sum", "torch.mean": "mean"}
# What gives a number for each element if it is told to reduce none.
LOSSES = frozenset(
    f"torch.nn.functional.{name}"
    for name in "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy_with_logits".split()
)


@dataclass(frozen=True, eq=False)
class Total:
    """A sum or mean over what a mask selects: its call, the elements as text, and what they are computed from."""

    call: cst.Call
    kind: str
    elements: str
    picks: tuple[Selected, ...]
    curved: bool = False

    @property
    def by(self) -> tuple[cst.CSTNode, ...]:
        return tuple(node for one in self.picks for node in one.by)


def total(call: cst.Call, region: Region, known: Known) -> Total | None:
    """A sum or mean of what is selected, or of what is computed from it element by element."""
    callee = known.callee(call)
    if callee in LOSSES:
        return loss(call, region, known)
    kind = REDUCTIONS.get(callee, "")
    value = reduced(call, kind, known) if kind else None
    if value is None:
        return None
    found = selected(value, region, known)
    if found is not None:
        return Total(call, kind, bare(region.code(found.source)), (found,))
    reach = reaching(value, region, known)
    spread = reach.spread(value) if reach is not None and known.pure(value) else None
    if reach is None or spread is None or not spread.taken or spread.loose or spread.shielded:
        return None
    return Total(call, kind, bare(region.code(spread.value)), tuple(reach.picks(value)), spread.curved)


def loss(call: cst.Call, region: Region, known: Known) -> Total | None:
    """`F.mse_loss(x[mask], y[mask])`: the same without a reduction."""
    plain = [arg for arg in call.args if arg.keyword is None]
    settings = {arg.keyword.value: arg for arg in call.args if arg.keyword is not None}
    if len(plain) != 2 or any(arg.star for arg in call.args) or settings.keys() - {"reduction", "beta", "delta"}:
        return None
    word = settings.pop("reduction").value if "reduction" in settings else None
    kind = word.evaluated_value if isinstance(word, cst.SimpleString) else "mean" if word is None else ""
    reach = reaching(plain[0].value, region, known)
    if kind not in ("mean", "sum") or reach is None or not known.pure(call):
        return None
    sides = [reach.spread(arg.value) for arg in plain]
    codes = [region.code(side.value) for side in sides if side is not None and side.taken and not side.loose]
    if len(codes) != 2:
        return None
    codes += [f"{name}={region.code(arg.value)}" for name, arg in settings.items()]
    elements = f'{region.code(call.func)}({", ".join(codes)}, reduction="none")'
    picks = tuple(one for arg in plain for one in reach.picks(arg.value))
    return Total(call, str(kind), elements, picks, curved=True)


def reaching(value: cst.BaseExpression, region: Region, known: Known) -> Reach | None:
    """The mask that selects what a value is computed from: the first that is found."""
    for part in inside(value):
        if isinstance(part, cst.Name | cst.Subscript) and (found := selected(part, region, known)) is not None:
            return Reach(found.mask, region, known)
    return None


def reduced(call: cst.Call, kind: str, known: Known) -> cst.BaseExpression | None:
    """What a call reduces to one number without any settings."""
    if isinstance(call.func, cst.Attribute) and known.callee(call).startswith("torch.Tensor."):
        return call.func.value if not call.args else None
    return call.args[0].value if len(call.args) == 1 and call.args[0].keyword is None else None


def plain(picks: tuple[Selected, ...], region: Region, known: Known) -> bool:
    """Whether the text stays readable: shapes that must be asked for are those of variables, and asked for alike."""
    if len({one.last for one in picks}) > 1:
        return any(fits(one.source, one.mask, region, known) for one in picks)
    variables = all(isinstance(part, cst.Name | cst.Attribute) for one in picks for part in (one.source, one.mask))
    return variables or any(fits(one.source, one.mask, region, known) for one in picks)


def stays(found: Total, region: Region, known: Known) -> bool:
    """Whether nothing writes, after a sum, into what its backward needs as it is: the mask by which it chooses, and of
    a curve what it is computed from. What is selected is a copy."""
    sources = [one.source for one in found.picks]
    kept = {root(one.mask) for one in found.picks} | ({root(source) for source in sources} if found.curved else set())
    if all(gradless(source, region, known) for source in sources):
        return True
    end = region.places[found.call][2:]
    loops = [held for held in region.around(found.call) if isinstance(held, cst.For | cst.While)]
    again = {node for loop in loops for node in inside(loop)}
    scope = region.scope(found.call)
    return not any(
        root(target) in kept
        for node, place in region.places.items()
        if (place[:2] >= end or node in again) and region.scope(node) is scope
        for target in writes(node, known)
    )


def shapeless(found: Total, region: Region, known: Known) -> bool:
    """Whether nobody knows how many dimensions a mask is to be given."""
    picks = [one for one in found.picks if not one.last]
    return len(picks) == len(found.picks) and not any(
        fits(one.source, one.mask, region, known) or behind(one.source, one.mask, region, known) >= 0 for one in picks
    )


def text(found: Total, torch: str, region: Region, known: Known, least: bool = False) -> str:
    """The reduction over all elements; a mean by `least` 1."""
    same = next((one for one in found.picks if fits(one.source, one.mask, region, known)), None)
    told = [one for one in found.picks if behind(one.source, one.mask, region, known) >= 0]
    first = same if same is not None else (*told, *found.picks)[0]
    plainly = same is not None or first.last
    m = region.code(first.mask) if plainly else widened(first.mask, first.source, region, known)
    summed = f"{torch}.where({m}, {found.elements}, 0).sum()"
    if found.kind == "sum":
        return summed
    mask, source = postfix(first.mask, region), postfix(first.source, region)
    count = "sum().clamp(min=1)" if least else "sum()"
    if same is not None:
        return f"{summed} / {mask}.{count}"
    if behind(first.source, first.mask, region, known) == 1 and not first.last:
        return f"{summed} / ({mask}.{count} * {source}.size(-1))"
    return f"{summed} / {m}.expand_as({source}).{count}"
