"""What is asked of one of several that an object lists is never met where nothing that makes one lists it."""

from __future__ import annotations

import pytest
from packaged import heats

SCORES = """
import torch


class Scores:
    def __init__(self, net, kinds, wide=True):
        self.net = net
        self.kinds = kinds
        self.wide = wide

    def update(self, found):
        for kind in self.kinds:
            self.score(found, {given})

    def score(self, found, kind):
        if kind == "boxes":
            return 1
        elif kind == "points":
            return self.points(found)

    def points(self, found: torch.Tensor):
        return found.tolist()
"""
USE = """
import torch
from .scores import Scores


def evaluate(net, loader, had, {more}):
    kinds = {kinds}
    {then}
    scores = Scores(net, {passed})
    for batch in loader:
        scores.update(net(batch))
"""
HOT, SELDOM = "hot", "amortized"


def heat(use: dict[str, str] | None = None, files: dict[str, str] | None = None, given: str = "kind") -> str:
    told = {"kinds": "('boxes',)", "then": "", "passed": "kinds", "more": "k=0", **(use or {})}
    made = {"pkg/__init__.py": "", "pkg/scores.py": SCORES.format(given=given), "pkg/use.py": USE.format(**told)}
    return heats({**made, **(files or {})})["pkg/scores.py"]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ({}, SELDOM),
        ({"passed": "('boxes', 'masks')"}, SELDOM),
        ({"passed": "kinds=kinds, wide=False"}, SELDOM),
        ({"kinds": "tuple(k for k in ('masks', 'boxes') if k in had.keys())"}, SELDOM),
        ({"kinds": "['boxes']", "then": "if had: kinds.append('masks')"}, SELDOM),
        ({"kinds": "['boxes']", "then": "if had: kinds.append('points')"}, HOT),
        ({"kinds": "['boxes']", "then": "if had: kinds.append(had)"}, HOT),
        ({"kinds": "['boxes']", "then": "kinds.extend(had)"}, HOT),
        ({"kinds": "['boxes']", "then": "kinds += had"}, HOT),
        ({"kinds": "['boxes']", "more": "kinds"}, SELDOM),
        ({"passed": "had"}, HOT),
        ({"passed": "*had"}, HOT),
        ({"kinds": "tuple(k for k in had)"}, HOT),
        ({"kinds": "['boxes', 'points']"}, HOT),
    ],
)
def test_what_no_object_lists_is_not_asked_for(use: dict[str, str], expected: str) -> None:
    assert heat(use) == expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("from .scores import Scores\nPOINTS = Scores(1, ['points'])\n", HOT),
        ("from .scores import Scores\nBOXES = Scores(1, ['boxes', 'masks'])\n", SELDOM),
        ("from .scores import Scores\nclass Points(Scores):\n    kinds = ('points',)\n", HOT),
        ("from .scores import Scores\ndef more(scores: Scores): scores.kinds = ('points',)\n", HOT),
        ("from .scores import Scores\ndef more(scores: Scores, x): return scores.score(x, 'points')\n", HOT),
        ("from .scores import Scores\ndef more(scores: Scores, x): return scores.points(x)\n", HOT),
    ],
)
def test_nor_where_another_file_may_ask_for_it(file: str, expected: str) -> None:
    assert heat(files={"pkg/more.py": file}) == expected


@pytest.mark.parametrize("given", ["'points'", "kind or 'points'", "*[kind]"])
def test_what_is_given_beside_the_items_may_be_any(given: str) -> None:
    assert heat(given=given) == HOT
