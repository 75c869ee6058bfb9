"""What a parameter is declared to be and what callers give it in, what it may hold out."""

from __future__ import annotations

from syncguard.infer.domain.contents import changed, holds_tensor, tensor_in, there
from syncguard.infer.domain.lattice import join, join_all, same
from syncguard.infer.domain.sureness import number_sureness
from syncguard.infer.domain.values import (
    FALSE,
    NONE,
    SHAPES,
    TRUE,
    UNKNOWN,
    Call,
    Const,
    Host,
    Instance,
    Seq,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    is_array,
    options,
)
from syncguard.infer.operations.targets import device_of


def fed(value: Value | None) -> bool:
    """Whether a value was computed on the device, as what a model gives is: what is only declared to be a tensor may be
    anywhere."""
    tensor = value if type(value) is Tensor else None
    if tensor is None or not tensor.on_device or tensor.device == "mixed" or tensor.either:
        return False
    return tensor.device == "device" or (tensor.why is not None and tensor.why.parent is not None)


def counts(seen: Value) -> bool:
    """Whether callers give numbers of Python's, or shapes: where all do, no declared tensor is there."""
    given = options(seen)
    return all(number_sureness(option) or (type(option) is Host and option.kind in SHAPES) for option in given)


def refined(declared: Value, seen: Value | None, by_one: bool = False) -> Value:
    """A declared tensor whose dtype or device callers settle, or one of them; what is given arrays holds arrays all the
    same."""
    if declared is UNKNOWN:
        return seen or UNKNOWN
    if seen is None or type(declared) is Const:
        return declared
    if by_one and type(declared) is Host and declared.kind == "bool" and (seen is TRUE or seen is FALSE):
        return seen
    if is_array(declared) and _arrays_or_tensors(seen):
        return seen
    if type(declared) is Host:
        return join(declared, _single(seen)) if number_sureness(declared) and _given_tensors(seen) else declared
    if type(declared) is Seq or _bare(declared, seen):
        return _refined_items(declared, seen)
    if any(type(option) is Call for option in options(seen)):
        return join(seen, NONE) if type(declared) is Union else seen
    if _listed(seen) and type(declared) in (Tensor, Union):
        return seen  # a list of sizes, where a tensor of them is asked for
    if type(declared) is Union:
        return _refined_options(declared, seen, by_one)
    if type(declared) is Instance and all(_made(option, declared) for option in options(seen)):
        return seen  # with what it was made with
    if type(declared) is Table and type(seen) is Table and there(seen):
        return _refined_table(declared, seen, by_one)
    if type(declared) is not Tensor:
        return seen if type(declared) is Table and _batch(seen) else declared
    if type(seen) is not Tensor:
        arrays = any(map(is_array, options(seen)))
        host = declared.device == "assumed" and there(seen)
        return seen if arrays else declared.but(device="host") if host else declared
    return declared.but(
        dtype=declared.dtype or seen.dtype, device=seen.device if declared.device == "assumed" else declared.device,
        rank=declared.rank if declared.rank >= 0 else seen.rank, pinned=seen.pinned,
    )  # fmt: skip


def _refined_options(declared: Union, seen: Value, by_one: bool) -> Value:
    """What is declared to be one of several, likewise: of a call that gives a tensor it is no array."""
    if device_of(seen) == "host" and any(map(device_of, declared.options)):
        return declared  # callers elsewhere pass other devices
    if all(type(option) in (Host, Const) for option in options(seen)):
        return seen  # `int | Tensor`, and numbers are what it is given
    passed = tensor_in(seen)
    if tensor_in(declared) is None and _besides(declared, seen):
        numbers = all(number_sureness(option) or option is NONE for option in declared.options)
        return join(declared, _single(seen) if numbers else seen)
    alone = type(seen) is Tensor
    if not alone and there(seen):
        return changed(declared, lambda tensor: tensor.but(device="host") if tensor.device == "assumed" else tensor)
    kept = [option for option in declared.options if not (alone and (_number(option) or (by_one and is_array(option))))]
    if passed is None or not (alone or all(type(option) is Tensor or option is NONE for option in kept)):
        return declared
    return join_all([refined(option, passed) if type(option) is Tensor else option for option in kept])


def _made(option: Value, declared: Instance) -> bool:
    """Whether this is of the class of another library that is declared."""
    return type(option) is Instance and option.info is None is declared.info and option.name == declared.name


def _number(option: Value) -> bool:
    """Whether this is a number, or a slice of such: `int | slice | Tensor`, and a tensor is what it is given."""
    return number_sureness(option) > 0 or (type(option) is Seq and option.kind == "slice")


def _bare(declared: Value, seen: Value) -> bool:
    """Whether a list or a dict is declared, and nothing of what is in it, which callers give."""
    of_table = type(declared) is Table and not declared.items and declared.element is UNKNOWN
    of_list = type(declared) is Seq and declared.items is None and declared.element is UNKNOWN
    return (of_table or of_list) and all(type(option) is type(declared) for option in options(seen))


def _listed(seen: Value) -> bool:
    """Whether callers give lists, of no tensors, and nothing else."""
    given = [option for option in options(seen) if option is not NONE]
    return bool(given) and all(type(option) is Seq and not holds_tensor(option) for option in given)


def _arrays_or_tensors(seen: Value) -> bool:
    """Whether callers give what may be an array or a tensor: both do, where an array is all that is declared."""
    given = [option for option in options(seen) if option is not NONE]
    tensors = [option for option in given if type(option) is Tensor]
    return 0 < len(tensors) < len(given) and all(type(one) is Tensor or is_array(one) for one in given)


def _batch(seen: Value) -> bool:
    """Whether this is what a loader gave: if it is a dict, one of tensors on the host."""
    return type(seen) is Unknown and seen.batch is not None


def _besides(declared: Union, seen: Value) -> bool:
    """Whether callers pass a tensor for sure where none is declared, and nothing else that is not."""
    more = [option for option in options(seen) if not any(same(option, known) for known in declared.options)]
    return bool(more) and all(type(option) is Tensor and option.sure for option in more)


def _single(seen: Value) -> Value:
    """The tensors among what is given for a number, each of which holds one."""
    return changed(seen, lambda tensor: tensor.but(rank=0) if tensor.rank < 0 else tensor)


def _given_tensors(seen: Value) -> bool:
    """Whether some callers pass a tensor for sure, or a number computed with one that only a tensor can be, and the
    others numbers, None or what nobody knows."""
    tensors = [option for option in options(seen) if type(option) is Tensor]
    others = [option for option in options(seen) if type(option) is not Tensor and option is not NONE]
    return (
        bool(tensors)
        and all(tensor.sure or _computed(tensor) for tensor in tensors)
        and all(_number(one) or type(one) is Unknown for one in others)
    )


def _computed(tensor: Tensor) -> bool:
    """Whether this is a single number that was computed on the device, with more than what torch alone is asked for."""
    return fed(tensor) and tensor.rank == 0 and tensor.why is not None and tensor.why.root.text != "torch only"


def _refined_table(declared: Table, seen: Table, by_one: bool) -> Table:
    """A declared dict of tensors, of which what callers give is on the host."""
    passed = join_all([*seen.items.values(), *([seen.element] if seen.element is not UNKNOWN else [])])
    items = {key: refined(item, seen.items.get(key, passed), by_one) for key, item in declared.items.items()}
    return Table(items, refined(declared.element, passed, by_one), declared.keys)


def _item(declared: Value, seen: Value) -> Value:
    """What a place of a tuple is declared to hold, likewise: of two who only declare it, one a number and one a tensor,
    the nearer is believed."""
    passed = tensor_in(seen)
    why = passed.why if passed is not None else None
    alone = why is not None and why.parent is None and why.text == "annotation"
    return declared if alone and number_sureness(declared) else refined(declared, seen)


def _refined_items(declared: Value, seen: Value) -> Value:
    """A declared list of tensors, likewise; `x: dict` says no more than that it is one."""
    if _bare(declared, seen):
        return seen
    if type(declared) is Seq and type(seen) is Seq and declared.items is not None and seen.items is not None:
        if len(declared.items) != len(seen.items):
            return declared
        return Seq(declared.kind, tuple([_item(one, given) for one, given in zip(declared.items, seen.items)]))
    if (
        type(declared) is not Seq
        or type(seen) is not Seq
        or declared.items is not None
        or type(declared.element) is not Tensor
    ):
        return declared
    passed = seen.element
    return Seq(declared.kind, None, refined(declared.element, passed)) if type(passed) is Tensor else declared
