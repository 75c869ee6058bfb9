"""One of several flags of an object that are asked in turn is asked for: the first may be the one that all have."""

from __future__ import annotations

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config

NET = """
    import torch


    class Net(torch.nn.Module):
        def __init__(self, path, rows=None):
            super().__init__()
            plain, exact, rough = kinds(path)
            self.rows = torch.zeros(4) if rows is None else rows
            self.__dict__.update(locals())

        def forward(self, x, way=None):
            {first}:
                x = x + 1
            {then}:
                return x.cpu()
            return x
    {more}
    """


def told(first: str, then: str, more: str = "") -> list[list[str]]:
    text = textwrap.dedent(NET.format(first=first, then=then, more=more))
    config = Config(heat="all", confidence="possible", stdin_filename="example.py")
    found = pipeline.check(["-"], config, text).findings
    return [[fact.text for fact in finding.options] for finding in found if finding.code == "SG202"]


SETS = "    def use(self):\n            self.exact = True\n"


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        ("if self.plain", "elif self.exact", ["only where `self.exact` holds"]),
        ("if self.plain", "elif self.rough:\n                x = x + 2\n            elif self.exact",
         ["only where `self.exact` holds"]),
        ("if self.plain", "elif not self.exact", []),
        ("if self.plain", "elif self.training", []),
        ("if self.plain", "elif self.rows", []),
        ("if self.plain", "elif x.is_leaf", []),
        ("if x.is_leaf", "elif self.exact", []),
        ("if self.plain", "else", []),
        ("if self.plain", "if self.exact", []),
    ],
)  # fmt: skip
def test_a_flag_that_is_asked_after_another_is_named(first: str, then: str, expected: list[str]) -> None:
    assert told(first, then) == [expected]


def test_what_a_method_turns_is_a_state() -> None:
    assert told("if self.plain", "elif self.exact", SETS) == [[]]
    assert told("if self.exact", "elif self.plain", SETS) == [[]]
