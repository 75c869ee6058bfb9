"""What a base class asks of methods and attributes that only the classes below it have."""

import pytest
from checked import codes, findings

BASE = """
import torch
from abc import ABC, abstractmethod

class Base(ABC):
    {declared}

    def run(self, x):
        for _ in range(3):
            score = self.score(x)
            score.backward()
        if score > 0:
            return 1
        return self.limit if self.limit > 0 else 2

class Below(Base):
    def __init__(self, n):
        self.limit = {limit}

    def score(self, x):
        if (x.exp() > 3).any():
            return torch.rand(3, device="cuda"){ends}
        return torch.zeros(3, device="cuda").sum()
"""


@pytest.mark.parametrize(
    "declared",
    [
        "@abstractmethod\n    def score(self, x):\n        pass",
        "def score(self, x):\n        '''How good.'''\n        raise NotImplementedError",
    ],
)
def test_a_method_without_a_body_is_that_of_the_classes_below(declared: str) -> None:
    found = findings(BASE.format(declared=declared, limit="n", ends=".sum()").replace("score.backward()", "pass"))
    assert sorted(finding.code for finding in found) == ["SG204", "SG204"]


def test_what_a_loop_of_the_base_calls_is_hot_below() -> None:
    found = findings(BASE.format(declared="def score(self, x): raise NotImplementedError", limit="n", ends=".sum()"))
    assert {finding.heat for finding in found if finding.function == "Below.score"} == {"hot"}


def test_a_method_that_has_a_body_speaks_for_itself() -> None:
    text = BASE.format(declared="def score(self, x):\n        return 3", limit="n", ends=".sum()")
    assert codes(text.replace("score.backward()", "pass")) == ["SG204"]


def test_what_a_method_without_a_body_declares_to_give_is_believed() -> None:
    text = BASE.format(declared="def score(self, x) -> int:\n        raise NotImplementedError", limit="n", ends="")
    assert codes(text.replace("score.backward()", "pass")) == ["SG204"]


@pytest.mark.parametrize(("limit", "more"), [("torch.ones((), device='cuda')", 1), ("n", 0), ("3.0", 0)])
def test_an_attribute_that_only_a_class_below_assigns(limit: str, more: int) -> None:
    text = BASE.format(declared="def score(self, x):\n        return 3", limit=limit, ends="")
    assert codes(text.replace("score.backward()", "pass")) == ["SG204"] * (1 + more)
