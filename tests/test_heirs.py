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


MIXED = """
import torch

class Base{above}:
    def __init__(self, exact=False):
        super().__init__()
        self.exact = exact

    def run(self, x):
        if self.exact:
            return self._score(x)
        return x

class Below(Base):
    def _score(self, x: torch.Tensor):
        return x.max().item()
{other}
"""
OPTION = "only where `self.exact` holds; by default `self.exact` is `False`"
OTHER = "\nclass Other(Base):\n    def _score(self, x: torch.Tensor):\n        return x.min().item()\n"


@pytest.mark.parametrize("above", ["", "(torch.nn.Module)"])
@pytest.mark.parametrize("other", ["", OTHER])
def test_a_method_that_only_classes_below_have_is_called_where_the_base_asks_for_it(above: str, other: str) -> None:
    found = findings(MIXED.format(above=above, other=other))
    options = [[fact.text for fact in finding.options] for finding in found]
    assert options == [[OPTION]] * len(found)
    assert len(found) == (2 if other else 1)


EITHER = """
import torch
from torch import nn

class Base(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.embed = nn.Embedding(n, n)

    def forward(self, ids):
        return self.cell(self.embed(ids), 3)

class Kept(Base):
    def __init__(self, n):
        super().__init__(n)
        self.cell = {kept}

class Written(Base):
    def cell(self, one, other):
        return one if one > other else other
"""


@pytest.mark.parametrize("kept", ["nn.Linear(n, n)", "lambda one, other: one"])
def test_what_some_classes_below_keep_and_others_write_is_either(kept: str) -> None:
    (found,) = findings(EITHER.format(kept=kept))
    assert (found.function, found.heat) == ("Written.cell", "hot")


@pytest.mark.parametrize("above", ["(Unseen)", "(torch.optim.Optimizer)"])
def test_what_a_class_above_may_have_that_nobody_sees_is_its_own(above: str) -> None:
    (found,) = findings("from elsewhere import Unseen\n" + MIXED.format(above=above, other=""))
    assert found.options == ()
