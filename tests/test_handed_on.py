"""What a call gives `*args` is told in its place, also where the function hands all of it on."""

from __future__ import annotations

import pytest
from checked import codes

HEAD = "import torch\n"
MARK = """
def mark(kind, rows, index, limit=None):
    rows[index] = 1
    if limit is not None and limit > 0:
        return rows * 2
    return rows

def marked(*args, **kwargs):
    return mark("max", *args, **kwargs)

def both(x: torch.Tensor, spare):
    rows = torch.ones(3, device="cuda")
    return marked(rows, torch.topk(x, 2)[1], {limit}){more}
"""


@pytest.mark.parametrize(
    ("limit", "more", "found"),
    [
        ("x.sum()", "", ["SG302", "SG204"]),
        ("3", "", ["SG302"]),
        ("limit=x.sum()", "", ["SG302", "SG204"]),
        ("*spare", "", []),
        ("x.sum()", ", marked(*spare)", ["SG302", "SG204"]),
        ("x.sum()", ", marked(spare.rows, spare.index, spare.limit)", ["SG302", "SG204"]),
        ("x.sum()", ", marked(rows, 2)", ["SG302", "SG204"]),
    ],
)
def test_star_arguments_are_told_each_in_its_place(limit: str, more: str, found: list[str]) -> None:
    assert codes(HEAD + MARK.format(limit=limit, more=more)) == found


def test_a_function_that_hands_more_on_to_itself() -> None:
    text = """
    def add(*terms):
        return add(1, *terms) if len(terms) < 5 else sum(terms).item()

    def total(x: torch.Tensor):
        return add(x)
    """
    assert codes(text, HEAD, confidence="possible") in ([], ["SG201"])
