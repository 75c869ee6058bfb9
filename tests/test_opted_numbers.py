"""A number that a library has a name for is what an option is compared with: `if norm_type == inf:`."""

from __future__ import annotations

import pytest

from tests.test_opted import told

CLIP = """
    import math
    import numpy as np
    from math import inf
    from torch import inf as most

    least = 0.0


    def lower():
        global least
        least = 1.0


    def clip(x: torch.Tensor, norm_type=2{given}):
        norm_type = float(norm_type)
        if norm_type {test}:
            return x.abs().max().item()
        return x.norm(norm_type)
    """


@pytest.mark.parametrize("number", ["inf", "most", "math.inf", "np.inf", "torch.inf", "-inf", 'float("inf")'])
def test_what_is_compared_with_a_number_that_has_a_name_is_an_option(number: str) -> None:
    option = f"only where `norm_type == {number}` holds; by default `norm_type` is `2`"
    assert told(CLIP.format(given="", test=f"== {number}")) == [[option]]


@pytest.mark.parametrize(
    ("given", "test"),
    [
        ("", "!= inf"),
        ("", "< math.inf"),
        (", inf=2.0", "== inf"),  # a name of its own
        ("", "== most.real"),
        ("", "== least"),  # that another function binds
        ("", "!= math.nan"),  # what is not even equal to itself
    ],
)
def test_what_holds_by_default_is_none(given: str, test: str) -> None:
    assert told(CLIP.format(given=given, test=test)) == [[]]


KEPT = """
    class Layer(torch.nn.Module):
        def __init__(self, size, turns=0):
            super().__init__()
            self.size = size{kept}
            self.turns = turns

        def forward(self, x: torch.Tensor, wide):
            if {test}:
                return x.abs().max().item()
            return x

        def turn(self):
            self.turns = self.turns + 1
    """


@pytest.mark.parametrize("test", ["self.size == 9", "self.size == 1.5", "9 == self.size"])
def test_one_number_that_a_constructor_is_given_is_a_choice(test: str) -> None:
    expected = [f"only where `{test}` holds"] if test[0] == "s" else []
    assert told(KEPT.format(kept="", test=test)) == [expected]


@pytest.mark.parametrize(
    ("kept", "test"),
    [
        ("", "self.size != 9"),  # most others
        ("", "self.size == 1"),
        ("", "wide == 9"),  # a number of the data
        ("", "self.turns == 9"),  # counts
        (" + turns", "self.size == 9"),
    ],
)
def test_other_numbers_are_none(kept: str, test: str) -> None:
    assert told(KEPT.format(kept=kept, test=test)) == [[]]
