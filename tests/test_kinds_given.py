"""A wait that needs an argument of one of Python's own types names it, where nothing is given by default."""

from __future__ import annotations

import pytest

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
