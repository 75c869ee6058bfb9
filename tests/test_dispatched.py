"""A function that a decorator keeps for what is of a type is called with that."""

from __future__ import annotations

import pytest
from checked import codes

AREA = """
import torch
from functools import singledispatch

def keep(kind):
    return lambda function: function

@singledispatch
def area(shape):
    raise TypeError

@{decorator}
def _(shape):
    return 1 if shape > 0 else 2
"""


@pytest.mark.parametrize(
    ("decorator", "found"),
    [
        ("area.register(torch.Tensor)", ["SG204"]),
        ("area.register(int)", []),
        ("area.register", []),
        ("keep(torch.Tensor)", []),
    ],
)
def test_a_generic_function_is_told_by_its_first_argument(decorator: str, found: list[str]) -> None:
    assert codes(AREA.format(decorator=decorator)) == found
