"""Waits while gradients are computed: where gradients are, which nodes wait, and the forward line that made them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from syncguard.observe.simulate.arguments import Arguments
from syncguard.observe.simulate.conditions import hold
from syncguard.observe.simulate.marks import DEVICE, HOST, local, mark, on_device, tensors
from syncguard.observe.simulate.seen import frames
from syncguard.terms import Wait

if TYPE_CHECKING:
    from syncguard.observe.simulate.patches import Patches
    from syncguard.observe.simulate.verdict import Verdict

Told = tuple[str, ...]
Given = tuple[Any, ...]
FORWARD = "syncguard_forward"


def again(name: str, later: tuple[Wait, ...], args: tuple[str, ...]) -> Callable[[Told, Given], str] | None:
    """For a function whose node waits in backward: from the hazards of the call, and what it was given, to that of its
    node, empty if none. `later`: when the row says that the backward alone waits; `args`: the names of its arguments.

    Some that wait do so once more: a mask is counted again when the gradient of what it selected is scattered back,
    and an index on the host copied; what reads lengths or offsets reads them again.
    """
    repeated = TWICE.get(name.rpartition(".")[2], ())
    if not repeated and not later:
        return None

    def hazard(told: Told, given: Given) -> str:
        for one in repeated:
            if one in told:
                return one
        named = Arguments(args, given, {}) if later else None
        return next((wait.hazard for wait in later if named is not None and _holds(wait, named)), "")

    return hazard


TWICE = {
    "__getitem__": ("mask-read", "host-index"), "__setitem__": ("mask-write", "host-index"),
    "ctc_loss": ("hidden-read",), "_grouped_mm": ("hidden-read",),
}  # fmt: skip


def _holds(wait: Wait, given: Arguments) -> bool:
    """Whether the backward waits; where it is for the gradient of one argument, if that one is computed."""
    learns = not wait.of or getattr(given.get(wait.of), "requires_grad", False)
    return bool(learns) and hold(wait.when, given)


def remember(result: Any, name: str, hazard: str, verdict: Verdict) -> None:
    """When the node of this result runs, tell the wait with the line that made it."""
    node = getattr(result, "grad_fn", None)
    if not hazard or node is None:
        return
    line = frames(verdict.caller() or sys._getframe(1))

    def tell(_: Any) -> None:
        verdict.tell(name, hazard, 0, line)

    node.register_prehook(tell)


@contextmanager
def running(roots: Any) -> Iterator[int]:
    """Gradients that C++ makes in here are where the roots are."""
    where = DEVICE if any(on_device(tensor) for tensor in tensors([roots])) else HOST
    before = local.backwards, local.unmarked
    local.backwards, local.unmarked = before[0] + 1, where
    try:
        yield where
    finally:
        local.backwards, local.unmarked = before


def engine(original: Callable[..., Any], verdict: Verdict) -> Callable[..., Any]:
    """The autograd engine, with its results put where they belong."""

    def run(roots: Any, *args: Any, **kwargs: Any) -> Any:
        with running(roots) as where:
            return mark(original(roots, *args, **kwargs), where)

    verdict.engine = run.__code__
    return run


def applied(original: Any, verdict: Verdict) -> Callable[..., Any]:
    """Function.apply, which keeps the line that called it for waits in its backward.

    `original` is a classmethod, of Python or (since torch 2.15) of C.
    """

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        result = original.__get__(None, cls)(*args, **kwargs)
        for tensor in tensors([result]):
            node: Any = tensor.grad_fn
            if node is not None and FORWARD not in node.metadata:
                node.metadata[FORWARD] = frames(verdict.caller() or sys._getframe(1))
        return result

    return apply


def hooks(patches: Patches, device: Any) -> None:
    """saved_tensors_hooks are called by C++ in the middle of a call, and see the device all the same."""
    kind: Any = torch.autograd.graph.saved_tensors_hooks
    init = kind.__init__

    def begin(self: Any, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        def pack(tensor: Any) -> Any:
            where = local.packing
            mark(tensor, where)
            try:
                with device.elsewhere():
                    return pack_hook(tensor)
            finally:
                local.packing = where  # the call goes on, and may have more to pack

        init(self, pack, unpack_hook)

    patches.set(kind, "__init__", begin)
