"""The index of a tensor in, how surely it holds what makes indexing wait out: a mask, bounds, what is on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from syncguard.infer.domain.sureness import (
    CERTAIN,
    LIKELY,
    MASKS,
    NO,
    POSSIBLE,
    built_on_host,
    data_sureness,
    number_sureness,
    tensor_sureness,
)
from syncguard.infer.domain.values import (
    UNKNOWN,
    Host,
    Seq,
    Tensor,
    Unknown,
    Value,
    is_array,
    options,
)
from syncguard.infer.operations.arguments import Arguments

WHOLE: Final = ("int", "number")  # of an index, what is no bool


def index_parts(value: Value | None) -> tuple[Value, ...]:
    if type(value) is Seq and value.kind == "tuple" and value.items is not None:
        return value.items
    return () if value is None else (value,)


def one_element(index: Value) -> bool:
    """Whether an index picks one element as far as it tells: it is of whole numbers alone."""
    parts = index_parts(index)
    return bool(parts) and all(number_sureness(part) for part in parts)


def built(args: Arguments, name: str) -> int:
    """A tensor that was made on the host."""
    value = args.get(name)
    return LIKELY if type(value) is Tensor and built_on_host(value) else NO


def any_part(test: Callable[[Tensor], bool], anywhere: bool = False) -> Callable[[Arguments, str], int]:
    """Whether a part of an index is a tensor of that kind, on the device. What was built on the host takes none from
    there, but for a number."""

    def holds(args: Arguments, name: str) -> int:
        best = NO
        if not anywhere and built(args, "self"):
            return NO
        index = args.get(name)
        many = type(index) is Seq and index.kind == "tuple" and index.items is None  # `x[tuple(row)]`
        for part in (index.element,) if type(index) is Seq and many else index_parts(index):
            for option in options(part):
                if type(option) is Tensor and option.device != "host" and test(option):
                    best = max(best, min(tensor_sureness(part), LIKELY if option.dtype == "named mask" else CERTAIN))
        return best

    return holds


mask = any_part(lambda part: part.dtype in MASKS)


_number = any_part(lambda part: part.rank == 0 and part.dtype not in MASKS, anywhere=True)
_number_of_host = any_part(
    lambda part: part.rank < 0 and part.dtype not in MASKS and (part.device == "device" or part.either), anywhere=True
)


def zero_dim(args: Arguments, name: str) -> int:
    """One number on the device; what is on the host takes nothing else from there, so where the table was built there,
    so is what is there for sure, or may as well be a number of Python's."""
    return max(_number(args, name), min(LIKELY, _number_of_host(args, name)) if built(args, "self") else NO)


zero_dim_mask = any_part(lambda part: part.rank == 0 and part.dtype in MASKS)


integers = any_part(lambda part: part.rank != 0 and part.dtype in WHOLE)


def mask_beside(args: Arguments, name: str) -> int:
    """A mask on the device, and beside it another part that picks elements."""
    parts = index_parts(args.get(name))
    picks = [part for part in parts if picks_from_host(part, True) or _picks(part)]
    return mask(args, name) if len(picks) > 1 else NO


def _picks(part: Value) -> bool:
    return any(type(option) is Tensor and option.rank != 0 for option in options(part))


def slice_bound(args: Arguments, name: str) -> int:
    bounds = [
        bound
        for index in options(args.get(name) or UNKNOWN)
        for part in index_parts(index)
        for cut in (part, part.element if type(part) is Seq else part)  # `x[tuple(cuts)]`
        if type(cut) is Seq and cut.kind == "slice"
        for bound in cut.items or ()
    ]
    return max((tensor_sureness(bound) for bound in bounds), default=NO)


def host_index(args: Arguments, name: str) -> int:
    return _on_host(args, name, masks=False)


def host_mask(args: Arguments, name: str) -> int:
    """A tensor of bools that is on the host."""
    return _on_host(args, name, masks=True)


def _on_host(args: Arguments, name: str, masks: bool) -> int:
    parts = tuple([part for part in index_parts(args.get(name)) if _host_mask(part) == masks])
    of = args.get("self")
    if type(of) is Tensor and of.device == "assumed" and any(map(_fetched, parts)):
        return NO  # who fetches an index has on the host what it is for
    # Of what is made on the host, and moved by who may not have been called yet, we are not sure.
    open_ = type(of) is Tensor and of.why is not None and of.why.there is not None
    nested = len(index_parts(args.get(name))) > 1
    sure = max((picks_from_host(part, nested) for part in parts), default=NO)
    return min(sure, POSSIBLE) if open_ else sure


def _host_mask(part: Value) -> bool:
    return type(part) is Tensor and part.device == "host" and part.dtype in MASKS


def _fetched(part: Value) -> bool:
    """Whether a part of an index is a tensor that was just copied to the host."""
    return type(part) is Tensor and part.device == "host" and part.why is not None and part.why.left


def picks_from_host(part: Value, nested: bool) -> int:
    """How sure it is that an index, or a part of one, is on the host, and no number."""
    best = NO
    for option in options(part):
        if type(option) is Tensor and option.device == "host":
            best = max(best, LIKELY if option.rank != 0 else NO)
        elif type(option) is Host and not number_sureness(option) and any(type(one) is Tensor for one in options(part)):
            best = max(best, min(POSSIBLE, data_sureness(option)))  # an array, or a tensor that was none
        elif (type(option) is Seq and lists_places(option, nested)) or is_array(option):
            # What may be a tensor as well may list some; what may be a number as well is likely to be one.
            untold = type(option) is Seq and option.items is None and type(option.element) is Unknown
            some = untold and any(type(one) is Tensor for one in options(part))
            some = some or any(type(one) is not Tensor and number_sureness(one) for one in options(part))
            best = max(best, min(POSSIBLE, data_sureness(option)) if some else data_sureness(option))
    return best


def lists_places(part: Seq, nested: bool) -> bool:
    """Whether a part of an index lists places: a tuple does where it is not the whole index."""
    return part.kind == "list" or (part.kind == "tuple" and nested)
