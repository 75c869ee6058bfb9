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
