"""Which functions take tensors of both places, and what a device says of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncguard.observe.simulate import host_only
from syncguard.observe.simulate.marks import CUDA, DEVICE, HOST, mark, move, place, tensors

Check = Callable[[tuple[Any, ...]], None]
INDEXED = "__getitem__ __setitem__ index_put index_put_ _unsafe_index _unsafe_index_put _index_put_impl_".split()
RECURRENT = "lstm gru rnn_tanh rnn_relu".split()
CONVOLVED = "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution".split()
MIXING = (
    "copy_ data set_ _foreach_copy_ new_tensor tensor as_tensor asarray"
    " tensor_split ctc_loss _ctc_loss"
    " fill_ _nested_view_from_jagged masked_scatter_ module_load swap_tensors"
    " _has_compatible_shallow_copy_type is_same_size _make_subclass _make_wrapper_subclass typename is_set_to"
    " _fused_adam_ _fused_adamw_ _fused_sgd_ _fused_adagrad_ __dlpack__ broadcast_tensors"
    " atleast_1d atleast_2d atleast_3d result_type can_cast promote_types is_tensor _is_alias_of"
).split()


def check_of(name: str) -> Check | None:
    """What looks at the arguments of this function where they are of both places; None where all of them may be."""
    bare = name.rpartition(".")[2]
    if bare in INDEXED:
        return indexed
    if bare in RECURRENT:
        return recurrent
    if bare in CONVOLVED:
        return convolved
    if bare in MIXING or "_foreach_" in name:
        return None

    def refuse(args: tuple[Any, ...]) -> None:
        raise different(name)

    return refuse


def different(name: str) -> RuntimeError:
    """What a device says to tensors of two places."""
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {CUDA} and cpu! "
        f"(when checking the arguments of {name}, on the device that SyncGuard simulates)"
    )


def indexed(args: tuple[Any, ...]) -> None:
    """Indices of the host are copied to the device; those of the device, and values of the host, must fit."""
    chosen = [tensor for tensor in tensors(args[1:2]) if tensor.ndim]
    if place(args[0]) != DEVICE:
        if any(place(tensor) == DEVICE for tensor in chosen):
            raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    elif chosen and any(tensor.ndim and place(tensor) != DEVICE for tensor in tensors(args[2:3])):
        raise different("torch.Tensor.__setitem__")


def settled(check: Check | None, sizes: bool, args: tuple[Any, ...]) -> int:
    """Where a call with tensors of both places runs; one that stands for a size is read, wherever it is."""
    numbers = sizes and all(not tensor.ndim and not tensor.is_floating_point() for tensor in tensors(args[1:]))
    if numbers and isinstance(args[0], torch.Tensor):
        return place(args[0])
    if check is not None:
        check(args)
    return DEVICE


def recurrent(args: tuple[Any, ...]) -> None:
    """Only the lengths of a packed sequence are of the host."""
    if isinstance(args[0], torch.Tensor) and place(args[0]) != DEVICE:
        raise RuntimeError(
            "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter tensor at"
            f" {CUDA}"
        )
    if any(place(tensor) != DEVICE for tensor in tensors(args[1:]) if tensor.is_floating_point()):
        raise RuntimeError(
            f"Input and hidden tensors are not at the same device, found input tensor at {CUDA} and hidden tensor at"
            " cpu"
        )


def convolved(args: tuple[Any, ...]) -> None:
    """The name of the class of each is all that it says."""
    first, second = (f"torch{'.cuda' * (place(t) == DEVICE)}.{t.type().rpartition('.')[2]}" for t in args[:2])
    raise RuntimeError(f"Input type ({first}) and weight type ({second}) should be the same")


def generator_of(generator: Any, where: int) -> None:
    """Numbers of the device are drawn by a generator of the device. The default one may be either's."""
    there, asked = getattr(generator, "claims", False), where == DEVICE
    if there != asked and generator is not torch.default_generator:
        wanted, found = ("cuda", "cpu") if asked else ("cpu", "cuda")
        raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{found}'")


def shaped(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What only takes the shape of another tensor stays where it was, wherever that one is."""
    where = place(args[0])
    return mark(func(*args, **kwargs), where)


def packed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Packing and padding: the data stay where they were, how many there are of each length is for the host."""
    if getattr(func, "__name__", "") == "_pack_padded_sequence":
        host_only.lengths(args[1])
    data, counts = func(*args, **kwargs)
    return mark(data, place(args[0])), move(counts, HOST)


def assigned(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`t.grad = g` wants both in one place."""
    if isinstance(args[1], torch.Tensor) and (place(args[0]) == DEVICE) != (place(args[1]) == DEVICE):
        raise RuntimeError("assigned grad has data located on a different device")
    return func(*args, **kwargs)
