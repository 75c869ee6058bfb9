"""Loops that try one thing until it goes well: their turns are no steps, and the loop around them keeps its own."""

from __future__ import annotations

import pytest
from checked import findings

HEAD = "import torch\n\n\n"
TRY = """
def probe(model, tokens, size):
    done = False
    while {test}:
        {before}
        try:
            tokens = model(tokens[:size].cuda())
            print(tokens.sum().item())
            {last}
        except RuntimeError:
            size //= 2
"""


def heat(text: str) -> str:
    return findings(text, HEAD)[-1].heat


@pytest.mark.parametrize(
    ("test", "last"),
    [
        ("not done", "done = True"),
        ("done is False", "done = True"),
        ("done == False", "done = True"),
        ("size > 0 and not done", "done = True"),
        ("True", "break"),
        ("True", "return tokens"),
    ],
)
def test_the_turns_of_a_loop_that_tries_once_more_are_no_steps(test: str, last: str) -> None:
    assert heat(TRY.format(test=test, last=last, before="pass").replace("        pass\n", "")) == "unknown"


@pytest.mark.parametrize(
    ("test", "last", "before"),
    [
        ("size > 0", "size -= 1", ""),
        ("not done", "done = size > 1", ""),
        ("not done", "done = False", ""),
        ("not done", "size = True", ""),
        ("True", "continue", ""),
    ],
)
def test_what_may_go_on_takes_steps(test: str, last: str, before: str) -> None:
    assert heat(TRY.format(test=test, last=last, before="pass").replace("        pass\n", "")) == "hot"


def test_a_step_that_is_tried_is_one() -> None:
    text = """
    def fit(model, loader, opt):
        for x in loader:
            while True:
                try:
                    loss = model(x).sum()
                    loss.backward()
                    print(loss.item())
                    break
                except RuntimeError:
                    x = x[1:]
    """
    assert heat(text) == "hot"
