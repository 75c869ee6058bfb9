"""The named conditions of op rows over the real arguments of a call: they hold, or they do not."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number

import torch

from syncguard.observe.simulate.arguments import ABSENT, Arguments, device_tensors, is_array, is_data
from syncguard.observe.simulate.indices import (
    host_index,
    host_mask,
    integers,
    mask,
    mask_beside,
    parts,
    slice_bound,
    zero_dim,
    zero_dim_mask,
)
from syncguard.observe.simulate.marks import DEVICE, HOST, PINNED, names_device, place
from syncguard.pack.returns import Conditions

SORTED, BLOCK = 10.0, 2048  # of torch.isin and torch.mode: from where on another method is taken
LARGE = 4 << 20  # bytes of pageable memory that the driver does not take at once; 2 MiB it does


def missing(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return value is ABSENT or value is None


def none(args: Arguments, name: str) -> bool:
    return args.get(name) is None


def some(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return value is not ABSENT and bool(value)


def mean(args: Arguments, name: str) -> bool:
    return args.get(name) in (ABSENT, "mean")


def evaluating(args: Arguments, name: str) -> bool:
    return not getattr(args.get(name), "training", True)


def given(args: Arguments, name: str) -> bool:
    return not missing(args, name)


def alone(args: Arguments, name: str) -> bool:
    return args.count == 1 and args.get(name) is not ABSENT


def tensor(args: Arguments, name: str) -> bool:
    return next(device_tensors(args.get(name)), None) is not None


def single(args: Arguments, name: str) -> bool:
    return isinstance(args.get(name), torch.Tensor) and tensor(args, name)


def proven(args: Arguments, name: str) -> bool:
    return isinstance(args.get(name), torch.Tensor)


def number(args: Arguments, name: str) -> bool:
    return isinstance(args.get(name), Number)


def negative(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return isinstance(value, (int, float)) and value < 0


def data(args: Arguments, name: str) -> bool:
    """Python numbers, lists of them, arrays: what torch must copy from the host; of nothing, nothing is copied."""
    return is_data(args.get(name))


def host(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return built(args, name) or is_array(value) or (isinstance(value, list) and is_data(value))


def built(args: Arguments, name: str) -> bool:
    """A tensor of the host: here it is where it is, however it got there."""
    value = args.get(name)
    return isinstance(value, torch.Tensor) and place(value) != DEVICE


def of_host(args: Arguments, name: str) -> bool:
    """A table, a list or a module that holds a tensor of the host."""
    value = args.get(name)
    if isinstance(value, torch.nn.Module):
        value = [*value.parameters(), *value.buffers()]
    held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return any(isinstance(item, torch.Tensor) and place(item) != DEVICE for item in held)


def true(args: Arguments, name: str) -> bool:
    return args.get(name) is True


def false(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return value is ABSENT or (not isinstance(value, torch.Tensor) and not value)


def not_false(args: Arguments, name: str) -> bool:
    return args.get(name) is not False


def target(args: Arguments, names: str) -> str:
    """Where the arguments say that a tensor goes: 'cpu', 'cuda', another, or '' where none names a device."""
    for name in names.split("|"):
        value = args.get(name)
        if isinstance(value, torch.Tensor):
            return "cuda" if place(value) == DEVICE else "cpu"
        if isinstance(value, torch.device):
            return value.type
        if isinstance(value, type(torch.FloatTensor)):
            return "cuda" if "cuda" in value.__module__ else "cpu"
        if isinstance(value, str) and value.startswith("torch."):  # .type("torch.cuda.FloatTensor")
            return "cuda" if value.startswith("torch.cuda.") else "cpu"
        if isinstance(value, str):
            return value.split(":")[0]
        if names_device(value):
            return "cuda"
    return ""


def to_host(args: Arguments, names: str) -> bool:
    return target(args, names) == "cpu"


def to_device(args: Arguments, names: str) -> bool:
    return target(args, names) == "cuda"


def pinned(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return isinstance(value, torch.Tensor) and place(value) == PINNED


def pageable(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return isinstance(value, torch.Tensor) and place(value) == HOST and value.numel() > 0


def host_values(args: Arguments, name: str) -> bool:
    """A host tensor of dimensions for a part that no tensor picks: a 0-d one is read at once, as a number would be."""
    value = args.get(name)
    return isinstance(value, torch.Tensor) and value.ndim > 0 and place(value) != DEVICE and not picked(args)


def host_number(args: Arguments, name: str) -> bool:
    """A 0-d tensor on the host."""
    value = args.get(name)
    return isinstance(value, torch.Tensor) and value.ndim == 0 and place(value) != DEVICE


def device_values(args: Arguments, name: str) -> bool:
    """A tensor of the device for a part that no tensor picks."""
    return tensor(args, name) and not picked(args)


def picked(args: Arguments) -> bool:
    return any(isinstance(part, torch.Tensor) and part.ndim for part in parts(args.get("index")))


def zero_dim_target(args: Arguments, name: str) -> bool:
    """The part of `self` that the index selects is 0-d: as many whole numbers as it has dimensions."""
    of, index = args.get("self"), args.get(name)
    wanted = [part for part in (index if isinstance(index, tuple) else (index,)) if part is not Ellipsis]
    return (
        isinstance(of, torch.Tensor)
        and len(wanted) == of.ndim
        and all(isinstance(part, int) and not isinstance(part, bool) for part in wanted)
    )


def dense(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return isinstance(value, torch.Tensor) and value.layout is torch.strided


def listed(args: Arguments, name: str) -> bool:
    """A list of tensors on the device, where numbers are asked for."""
    value = args.get(name)
    return isinstance(value, (list, tuple)) and next(device_tensors(value), None) is not None


def many(args: Arguments, name: str) -> bool:
    """So many elements to look for that both sides are made unique and sorted."""
    among, of = args.get(name), next(iter(args.named.values()))
    sizes = [value.numel() if isinstance(value, torch.Tensor) else 1 for value in (among, of)]
    return sizes[1] > 0 and sizes[0] >= int(SORTED * sizes[1] ** 0.145)


def long(args: Arguments, name: str) -> bool:
    """Slices, along the dimension that is asked for, of more elements than one block of a kernel holds."""
    value, dim = args.get(name), args.get("dim")
    if not isinstance(value, torch.Tensor) or not value.ndim:
        return False
    return value.size(dim if isinstance(dim, int) else -1) > BLOCK


def compared(args: Arguments, name: str) -> bool:
    """Another memory of the same shape: what is itself, empty or of another shape is known on the host."""
    one, other = next(iter(args.named.values())), args.get(name)
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return False
    return one.shape == other.shape and one.numel() > 0 and not same_memory(one, other)


def same_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.layout is not torch.strided or other.layout is not torch.strided or one.dtype != other.dtype:
        return one is other
    return one.data_ptr() == other.data_ptr() and one.stride() == other.stride()


def sparse(args: Arguments, name: str) -> bool:
    return getattr(args.get(name), "layout", None) is torch.sparse_coo


def uncoalesced(args: Arguments, name: str) -> bool:
    return sparse(args, name) and not args.get(name).is_coalesced()


def by_columns(args: Arguments, name: str) -> bool:
    return getattr(args.get(name), "layout", None) in (torch.sparse_csc, torch.sparse_bsc)


def by_rows(args: Arguments, name: str) -> bool:
    return getattr(args.get(name), "layout", None) in (torch.sparse_csr, torch.sparse_bsr)


def oblong(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return isinstance(value, torch.Tensor) and value.ndim > 1 and value.shape[-1] != value.shape[-2]


def large(args: Arguments, name: str) -> bool:
    value = args.get(name)
    return isinstance(value, torch.Tensor) and value.numel() * value.element_size() >= LARGE


def no_range(args: Arguments, name: str) -> bool:
    """A range of no width, from `min` to here, of which one that is not given is 0."""
    low, high = (0 if value is ABSENT else value for value in (args.get("min"), args.get(name)))
    return isinstance(low, Number) and isinstance(high, Number) and low == high


def not_bfloat16(args: Arguments, name: str) -> bool:
    return getattr(args.get(name), "dtype", None) is not torch.bfloat16


def singular(args: Arguments, name: str) -> bool:
    """A norm of the singular values; `p=2` of all elements is none."""
    order, of, dim = args.get(name), next(iter(args.named.values()), None), args.get("dim")
    if isinstance(order, str):
        return order == "nuc"
    matrix = isinstance(of, torch.Tensor) and of.ndim > 1 and (dim in (ABSENT, None) or not isinstance(dim, int))
    return name == "ord" and order in (2, -2) and matrix


CONDITIONS: dict[str, Callable[[Arguments, str], bool]] = {
    "missing": missing, "none": none, "some": some, "mean": mean,
    "given": given, "alone": alone, "tensor": tensor, "number": number, "data": data, "host": host, "built": built,
    "of_host": of_host, "true": true, "false": false, "not_false": not_false, "mask": mask, "zero_dim": zero_dim,
    "mask_beside": mask_beside,
    "integers": integers, "slice_bound": slice_bound, "host_index": host_index, "to_host": to_host,
    "to_device": to_device, "pinned": pinned, "pageable": pageable, "zero_dim_target": zero_dim_target, "dense": dense,
    "surely_dense": dense, "data_or_unknown": data,  # here nothing is unknown
    "evaluating": evaluating, "listed": listed, "single": single, "host_values": host_values,
    "device_values": device_values, "host_number": host_number, "proven": proven,
    "zero_dim_mask": zero_dim_mask, "host_mask": host_mask, "many": many, "long": long, "compared": compared,
    "singular": singular, "negative": negative, "uncoalesced": uncoalesced,
    "sparse": sparse, "by_columns": by_columns, "by_rows": by_rows, "oblong": oblong, "large": large,
    "not_bfloat16": not_bfloat16, "no_range": no_range,
}  # fmt: skip
WHOLE = {"to_host", "to_device"}  # conditions that look at all the named arguments at once


def hold(conditions: Conditions, args: Arguments) -> bool:
    """A conjunction of conditions."""
    for condition, names in conditions:
        test = CONDITIONS[condition]
        if condition in WHOLE:
            if not test(args, names):
                return False
        elif not any(test(args, name) for name in names.split("|")):
            return False
    return True
