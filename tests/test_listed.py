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
        ({"kinds": "['boxes']", "then": "if len(kinds) > 1 or 'boxes' in kinds: print(kinds)"}, SELDOM),
        ({"kinds": "['boxes']", "then": "more(kinds)"}, HOT),
        ({"kinds": "['boxes']", "then": "also = kinds"}, HOT),
        ({"kinds": "['boxes']", "then": "kinds[:] = had"}, HOT),
        ({"kinds": "['boxes']", "then": "had = {'kinds': kinds}"}, HOT),
        ({"then": "more(kinds)"}, SELDOM),  # a tuple
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


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("self.rows = {kind: [] for kind in kinds}", SELDOM),
        ("self.many = len(self.kinds) > 1 and 'boxes' in self.kinds", SELDOM),
        ("if 'all' in kinds: self.kinds.extend(['points'])", HOT),
        ("kinds.append('points')", HOT),
        ("kinds += ['points']", HOT),
        ("self.kinds[:] = ['points']", HOT),
        ("more(self.kinds)", HOT),
        ("more(kinds)", HOT),
        ("rows = self.kinds", HOT),
    ],
)
def test_nor_where_the_object_puts_more_into_it(line: str, expected: str) -> None:
    scores = SCORES.replace("self.wide = wide", f"self.wide = wide\n        {line}").replace("{given}", "kind")
    assert heat(files={"pkg/scores.py": scores}) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return [kind for kind in scores.kinds]", SELDOM),
        ("scores.kinds.append('points')", HOT),
        ("scores.kinds[:] = ['points']", HOT),
        ("widen(scores.kinds)", HOT),
        ("getattr(scores, 'kinds').append('points')", HOT),
    ],
)
def test_nor_where_another_file_does(line: str, expected: str) -> None:
    assert heat(files={"pkg/more.py": f"from .scores import Scores\ndef more(scores: Scores): {line}\n"}) == expected


@pytest.mark.parametrize("given", ["'points'", "kind or 'points'", "*[kind]"])
def test_what_is_given_beside_the_items_may_be_any(given: str) -> None:
    assert heat(given=given) == HOT
