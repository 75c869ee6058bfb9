"""What every call in the file gives a function that is off by default is an option where the function asks for it."""

from __future__ import annotations

import pytest

from tests.test_opted import told

FILE = """
    def prepare(model, gather=False, start=None, on=True):
        def forward(*args, **kwargs):
            return run(model.forward, {given}, *args, **kwargs)

        model.forward = forward
        return model


    def run(function, gather, *args, **kwargs):
        out = function(*args, **kwargs)
        if {test}:
            out = torch.tensor([1.0], device="cuda")
        return out
    """


def test_what_a_function_is_given_before_all_else_is_an_option() -> None:
    assert told(FILE.format(given="gather", test="gather")) == [["only where `gather` holds"]]


@pytest.mark.parametrize(
    ("given", "test"),
    [
        ("on", "gather"),
        ("gather", "not gather"),
        ("*gather", "gather"),
        ("model.gather", "gather"),
        ("start", "gather is not None"),  # which may be data
    ],
)
def test_what_is_on_or_not_known_is_none(given: str, test: str) -> None:
    assert told(FILE.format(given=given, test=test)) == [[]]


def test_one_call_that_gives_something_else_leaves_none() -> None:
    other = "\n\n    def all_of(f, x):\n        run(f, True, x)\n"
    assert told(FILE.format(given="gather", test="gather") + other) == [[]]


KINDS = """
    class Net(torch.nn.Module):
        def __init__(self, beta: float = 1.0):
            super().__init__()
            self.beta = beta

        def forward(self, x):
            x = torch.nn.functional.relu(x)
            return _loss(x, beta={one}) + _loss(x, {other})


    {name}


    def _loss(x, beta):
        if beta == 0:
            return x
        if beta == 1:
            return x * 2
        return x.sum().item()
    """
OPTION = ["only where `beta == 1` does not hold; by default `beta` is `1.0`"]


@pytest.mark.parametrize(("one", "other"), [("0.0", "self.beta"), ("1", "self.beta"), ("0", "beta=self.beta")])
def test_a_call_that_says_what_does_not_lead_there_does_not_count(one: str, other: str) -> None:
    assert told(KINDS.format(one=one, other=other, name="")) == [OPTION]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0.5", "self.beta"),
        ("0.0", "0.5"),
        ("x.shape[0]", "self.beta"),
        ("0.0", "x.shape[0]"),
    ],
)
def test_a_call_that_may_lead_there_does(one: str, other: str) -> None:
    assert told(KINDS.format(one=one, other=other, name="")) == [[]]


def test_of_what_is_handed_about_nobody_knows_the_calls() -> None:
    assert told(KINDS.format(one="0.0", other="self.beta", name="LOSSES = [_loss]")) == [[]]
