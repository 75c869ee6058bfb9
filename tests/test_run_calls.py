"""A frame -> a call that can be run."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch")

from syncguard.observe.calls import call_of, written  # noqa: E402


def device_of(tensor) -> str:
    return tensor.device.type


def here(x, /, y=2, *, names=("a",)):
    return call_of(sys._getframe(), device_of)


def variadic(*x):
    return call_of(sys._getframe(), device_of)


class Thing:
    def method(self):
        return call_of(sys._getframe(), device_of)


def test_calls_of_functions():
    assert here(1.5) == "here(1.5, 2, names=('a',))"
    assert here(torch.ones(2, 3), names=[torch.zeros(4, dtype=torch.bool)]) == (
        "here(torch.rand([2, 3]), 2, names=[torch.rand([4]) > 0.5])"
    )
    assert here(object()) == ""
    assert here("x" * 100) == ""
    assert variadic(1) == ""
    assert Thing().method() == ""
    assert (lambda x: call_of(sys._getframe(), device_of))(1) == ""
    assert call_of(None, device_of) == ""


@pytest.mark.parametrize(
    "value",
    [
        torch.rand(3, requires_grad=True), torch.rand(2, 2, dtype=torch.float16), torch.arange(4),
        torch.arange(4, dtype=torch.uint8), torch.ones(2, dtype=torch.complex64), torch.tensor(3.0),
        [torch.ones(1), (2, None)], {"a": torch.zeros(2, dtype=torch.int64), 3: [True]}, torch.float32,
    ],
    ids=range(9),
)  # fmt: skip
def test_what_is_written_makes_the_same_kind(value):
    def kind(one):
        if isinstance(one, torch.Tensor):
            return one.shape, one.dtype, one.device, one.requires_grad
        if isinstance(one, dict):
            return {key: kind(item) for key, item in one.items()}
        return type(one)(map(kind, one)) if isinstance(one, (list, tuple)) else one

    assert kind(eval(written(value, device_of))) == kind(value)


def test_the_device_is_the_one_that_the_program_sees():
    assert written(torch.ones(2), lambda tensor: "cuda") == 'torch.rand([2], device="cuda")'


def test_what_cannot_be_written():
    for value in (torch.eye(2).to_sparse(), [object()], {"a": object()}, [[[1]]], list(range(99))):
        assert written(value, device_of) == ""
