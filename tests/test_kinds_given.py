"""A wait that needs an argument of one of Python's own types names it, where nothing is given by default."""

from __future__ import annotations

import pytest
from checked import codes

from syncguard import pipeline
from syncguard.config import Config

CODE = """
import torch
from torch import Tensor


def bars(x: Tensor, marks: int | list[float] | Tensor {given}, more=None):
    if {test}:
        return torch.tensor(marks, device=x.device)
    return marks
"""


def options(test: str, given: str = "| None = None") -> list[str]:
    findings = pipeline.check(["-"], Config(heat="all", cache=False), CODE.format(test=test, given=given)).findings
    assert [finding.code for finding in findings] == ["SG302"]
    return [fact.text for fact in findings[0].options]


@pytest.mark.parametrize(
    ("test", "kinds"),
    [
        ("isinstance(marks, list)", "a list"),
        ("isinstance(marks, (list, tuple))", "a list or a tuple"),
        ("isinstance(marks, (int, float))", "an int or a float"),
        ("not isinstance(marks, (list, Tensor)) or False", None),
        ("isinstance(more, dict)", None),
    ],
)
def test_the_type_is_named(test, kinds):
    subject = "more" if "more" in test else "marks"
    wanted = [f"only where `{subject}` is {kinds or 'a dict'}"] if kinds or subject == "more" else []
    assert options(test) == wanted


def test_what_every_call_gives_is_no_option():
    assert options("isinstance(marks, list)", "") == []


def test_what_was_bound_anew_is_no_argument():
    assert options("isinstance(marks := [1.0], list)") == []


COUNTED = """
import torch

class Walk:
    def left(self, done: {declared}, more: bool):
        if more:
            return False
        elif done:
            return False
        return True

    def go(self, model, ids, other):
        alive = torch.ones(4, device=ids.device)
        done = {first}
        while self.left(done, False):
            ids = model(ids)
            alive = alive & (ids > 3)
            done = {then}
        return ids
"""


@pytest.mark.parametrize(
    ("declared", "first", "then", "found"),
    [
        ("bool", "False", "alive.max() == 0", ["SG204"]),
        ("bool", "other(ids) if other is not None else False", "alive.max() == 0", ["SG204"]),
        ("bool", "False", "other(alive)", []),
        ("bool", "'no'", "alive.max() == 0", []),
        ("str", "False", "alive.max() == 0", []),
    ],
)
def test_a_tensor_that_is_surely_given_for_a_number_is_one(declared, first, then, found):
    assert codes(COUNTED.format(declared=declared, first=first, then=then)) == found
