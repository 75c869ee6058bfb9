"""The named conditions of op rows: arguments in, how surely one holds out (0 no, 1 possible, 2 likely, 3 certain)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from syncguard.infer.domain.sureness import (
    CERTAIN,
    LIKELY,
    NO,
    POSSIBLE,
    data_sureness,
    host_inside,
    number_sureness,
    tensor_sureness,
    unlike_tensor,
)
from syncguard.infer.domain.values import (
    LINKS,
    NONE,
    UNKNOWN,
    Const,
    Host,
    Instance,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    options,
)
from syncguard.infer.operations.arguments import Arguments
from syncguard.infer.operations.devices import kept_on_host
from syncguard.infer.operations.indices import (
    built,
    host_index,
    host_mask,
    index_parts,
    integers,
    mask,
    mask_beside,
    slice_bound,
    zero_dim,
    zero_dim_mask,
)
from syncguard.infer.operations.targets import place_of


def missing(args: Arguments, name: str) -> int:
    value = args.get(name)
    if value is None and args.open:
        return POSSIBLE
    if value is None or value is NONE:
        return CERTAIN
    return POSSIBLE if type(value) is Union and NONE in value.options else NO


def none(args: Arguments, name: str) -> int:
    """None was written, where leaving it out means something else."""
    value = args.get(name)
    return CERTAIN if value is NONE else NO


def some(args: Arguments, name: str) -> int:
    """Given, and neither None, False nor zero."""
    value = args.get(name)
    if value is None or value is NONE or type(value) is Const:
        return CERTAIN if type(value) is Const and value.value else NO
    return LIKELY


def mean(args: Arguments, name: str) -> int:
    """A reduction that is left out is the mean."""
    value = args.get(name)
    if value is None or (type(value) is Const and value.value == "mean"):
        return CERTAIN
    return NO if type(value) is Const else POSSIBLE


def evaluating(args: Arguments, name: str) -> int:
    """A module in eval mode: the source of its forward is the same in training, so it is a guess."""
    return POSSIBLE if args.get(name) is not None else NO


def given(args: Arguments, name: str) -> int:
    return NO if missing(args, name) == CERTAIN else CERTAIN


def alone(args: Arguments, name: str) -> int:
    return CERTAIN if args.count == 1 and args.get(name) is not None else NO


def tensor(args: Arguments, name: str) -> int:
    return tensor_sureness(args.get(name))


def single(args: Arguments, name: str) -> int:
    """One tensor, where a list of them is taken as it is."""
    value = args.get(name)
    return NO if any(type(option) is Seq for option in options(value or UNKNOWN)) else tensor_sureness(value)


def proven(args: Arguments, name: str) -> int:
    """A tensor, wherever, that what stands in the code proves to be one, where other things are made one."""
    value = args.get(name)
    return CERTAIN if type(value) is Tensor and value.sure else NO


def number(args: Arguments, name: str) -> int:
    """A number of Python's; a zero that may as well be a tensor is seldom left one: each turn of a loop adds to it."""
    kinds = options(args.get(name) or UNKNOWN)
    added = any(type(kind) is Tensor for kind in kinds)
    return max(
        (min(number_sureness(kind), POSSIBLE if added and _zero(kind) else CERTAIN) for kind in kinds), default=NO
    )


def negative(args: Arguments, name: str) -> int:
    """Less than zero, as it is written."""
    value = args.get(name)
    return CERTAIN if type(value) is Const and type(value.value) in (int, float) and _below(value.value) else NO


def _below(number: int | float) -> bool:
    return number < 0


def _zero(value: Value) -> bool:
    return type(value) is Const and type(value.value) in (int, float) and not value.value


def data(args: Arguments, name: str) -> int:
    """Python numbers, lists of them, arrays: what torch must copy from the host."""
    value = args.get(name)
    return NO if value is None else max((data_sureness(option) for option in options(value)), default=NO)


def data_or_unknown(args: Arguments, name: str) -> int:
    """What is not known to be a tensor is data, where tensors have no business."""
    value = args.get(name)
    sure = data(args, name)
    if sure or value is None:
        return sure
    given = [o for o in options(value) if not (type(o) is Const and o.value is None)]  # of None no tensor is made
    return LIKELY if given and all(map(unlike_tensor, given)) else NO


def listed(args: Arguments, name: str) -> int:
    """A list of tensors on the device, where numbers are asked for."""
    lists = [option for option in options(args.get(name) or UNKNOWN) if type(option) is Seq and not _texts(option)]
    return max(map(tensor_sureness, lists), default=NO)


def _texts(value: Seq) -> bool:
    """Whether something in a list is a text, of which no tensor is made."""
    return any(
        (type(item) is Host and item.kind == "str") or (type(item) is Const and type(item.value) is str)
        for item in value.first
    )


def of_host(args: Arguments, name: str) -> int:
    """A table, or a list, of tensors of the host; a module whose method is called may have any, wherever it was put."""
    value = args.get(name)
    return POSSIBLE if type(value) is Instance and value is args.holder else host_inside(value or UNKNOWN)


def host(args: Arguments, name: str) -> int:
    value = args.get(name)
    if value is None:
        return NO
    if any(type(option) is Tensor and option.device == "host" for option in options(value)):
        return LIKELY
    return max(
        (
            data_sureness(o)
            for o in options(value)
            if type(o) in (Seq, Host) and (type(o) is not Host or o.kind == "array")
        ),
        default=NO,
    )


def true(args: Arguments, name: str) -> int:
    value = args.get(name)
    return CERTAIN if type(value) is Const and value.value is True else NO


def false(args: Arguments, name: str) -> int:
    value = args.get(name)
    if value is None and args.open:
        return POSSIBLE
    if value is None or (type(value) is Const and not value.value):
        return CERTAIN
    return POSSIBLE if type(value) is not Const else NO


def not_false(args: Arguments, name: str) -> int:
    value = args.get(name)
    if value is None or type(value) is not Const:
        return LIKELY
    return NO if value.value is False else CERTAIN


def target_device(args: Arguments, names: str) -> str:
    """Where `.to(...)` sends its tensor: 'host', 'device', 'assumed' or 'mixed'; '' where none is named."""
    for name in names.split("|"):
        if place := place_of(args.get(name) or UNKNOWN):
            return place
    return ""


def to_host(args: Arguments, names: str) -> int:
    sure = {"host": CERTAIN, "mixed": POSSIBLE}.get(target_device(args, names), NO)
    return sure or (LIKELY if kept_on_host(args, names) and _total(args.get("self")) else NO)


def _total(value: Value | None) -> bool:
    """Whether a single number was computed of what was given, so that it goes to where such numbers are kept."""
    return type(value) is Tensor and value.rank == 0 and value.why is not None and value.why.parent is not None


def to_device(args: Arguments, name: str) -> int:
    return {"device": CERTAIN, "assumed": LIKELY, "mixed": POSSIBLE}.get(target_device(args, name), NO)


def pinned(args: Arguments, name: str) -> int:
    return CERTAIN if any(type(o) is Tensor and o.pinned for o in options(args.get(name) or UNKNOWN)) else NO


def pageable(args: Arguments, name: str) -> int:
    """On the host, in ordinary memory; what an object has made there, and another method puts elsewhere, may be."""
    kinds = [o for o in options(args.get(name) or UNKNOWN) if type(o) is Tensor and not (o.pinned or o.void)]
    if any(o.device == "host" for o in kinds):
        return LIKELY
    return (
        POSSIBLE if any(o.device == "assumed" and o.why is not None and o.why.there is not None for o in kinds) else NO
    )


def host_values(args: Arguments, name: str) -> int:
    """A tensor that is surely of the host, for a part that no tensor picks: a 0-d one is read at once, as a number."""
    value = args.get(name)
    return LIKELY if type(value) is Tensor and value.device == "host" and value.rank and not picked(args) else NO


def host_number(args: Arguments, name: str) -> int:
    """A 0-d tensor on the host."""
    found = [o for o in options(args.get(name) or UNKNOWN) if type(o) is Tensor and o.device == "host" and o.rank == 0]
    return LIKELY if found else NO


def device_values(args: Arguments, name: str) -> int:
    """A tensor of the device, for a part that no tensor picks."""
    return NO if picked(args) else tensor(args, name)


def picked(args: Arguments) -> bool:
    """Whether a tensor may pick the part that is written: with values of another device that would raise."""
    index = args.get("index") or UNKNOWN
    index = index.element if type(index) is Seq else index
    return any(
        type(option) in (Tensor, Unknown) or (type(option) is Const and isinstance(option.value, str))
        for option in options(index)
    )


def zero_dim_target(args: Arguments, name: str) -> int:
    """The part of `self` that the index selects is 0-d: as many whole numbers as it has dimensions."""
    of = args.get("self")
    parts = [part for part in index_parts(args.get(name)) if not (type(part) is Const and part.value is ...)]
    rank = of.rank if type(of) is Tensor else -1
    return (
        CERTAIN if rank >= 0 and len(parts) == rank and all(number_sureness(part) == CERTAIN for part in parts) else NO
    )


def dense(args: Arguments, name: str) -> int:
    """Not sparse, as far as what it was computed from tells."""
    best = NO
    for option in options(args.get(name) or UNKNOWN):
        if type(option) is Tensor:
            why, links = option.why, 0
            while why is not None and "sparse" not in why.text and links < LINKS:
                why, links = None if why.text.endswith("to_dense") else why.parent, links + 1
            best = max(best, NO if why is not None and "sparse" in why.text else LIKELY)
    return best


def surely_dense(args: Arguments, name: str) -> int:
    """Sparse or dense is all the same to the caller who asks for a layout, so we only guess that it was dense."""
    return min(dense(args, name), POSSIBLE)


def untold(args: Arguments, name: str) -> int:
    """What only sizes or layouts decide, which a run knows."""
    return NO


def not_bfloat16(args: Arguments, name: str) -> int:
    """A dtype that nobody sees: that models take the half of it is as likely."""
    return POSSIBLE


def compared(args: Arguments, name: str) -> int:
    """Other memory of the same shape: hardly anybody compares a tensor with itself, or coalesces it twice."""
    return CERTAIN


def singular(args: Arguments, name: str) -> int:
    """A norm of the singular values; `p=2` of all elements is none."""
    order, of, dim = args.get(name), args.get("A"), args.get("dim")
    if type(order) is not Const or order.value not in ("nuc", 2, -2):
        return NO
    if order.value == "nuc":
        return CERTAIN
    if name != "ord" or (type(dim) is Const and dim is not NONE):
        return NO
    return CERTAIN if type(of) is Tensor and of.rank > 1 else POSSIBLE


def no_range(args: Arguments, name: str) -> int:
    """A range of no width, from `min` to here, of which one that is not given is 0."""
    if args.open:
        return NO
    low, high = (Const(0) if value is None else value for value in (args.get("min"), args.get(name)))
    return CERTAIN if type(low) is Const and type(high) is Const and low.value == high.value else NO


CONDITIONS: Final[dict[str, Callable[[Arguments, str], int]]] = {
    "missing": missing, "none": none, "some": some, "mean": mean,
    "given": given, "alone": alone, "tensor": tensor, "number": number, "data": data, "host": host, "of_host": of_host,
    "built": built, "true": true, "false": false, "not_false": not_false, "mask": mask, "zero_dim": zero_dim,
    "mask_beside": mask_beside,
    "integers": integers, "slice_bound": slice_bound, "host_index": host_index, "to_host": to_host,
    "to_device": to_device, "pinned": pinned,
    "pageable": pageable, "zero_dim_target": zero_dim_target,
    "dense": dense, "surely_dense": surely_dense, "data_or_unknown": data_or_unknown, "listed": listed,
    "single": single, "host_values": host_values, "device_values": device_values, "evaluating": evaluating,
    "host_number": host_number, "proven": proven,
    "zero_dim_mask": zero_dim_mask, "host_mask": host_mask, "many": untold, "long": untold, "compared": compared,
    "singular": singular, "negative": negative, "uncoalesced": compared,
    "sparse": untold, "by_columns": untold, "by_rows": untold, "oblong": untold, "large": untold,
    "not_bfloat16": not_bfloat16, "no_range": no_range,
}  # fmt: skip
WHOLE: Final = {"to_host", "to_device"}  # conditions that look at all the named arguments at once


def sureness(conditions: tuple[tuple[str, str], ...], args: Arguments) -> int:
    """A conjunction of conditions: as sure as its weakest."""
    least = CERTAIN
    for condition, names in conditions:
        test = CONDITIONS[condition]
        least = min(
            least, test(args, names) if condition in WHOLE else max(test(args, name) for name in names.split("|"))
        )
        if least == NO:
            return NO
    return least
