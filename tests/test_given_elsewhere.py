"""What other files give a function is an option where all that they give is off by default."""

import pytest
from packaged import found

OPS = """
import torch


def refine(x: torch.Tensor, steps: int, kind: str = "fast"):
    if {test}:
        return x
    return {wait}


def inner(x):
    return {inner}
"""
NET = """
import torch
from .ops import refine


class Net(torch.nn.Module):
    def __init__(self, steps=0, kind="fast", *, rounds):
        super().__init__()
        self.steps, self.kind, self.rounds = steps, kind, rounds

    def forward(self, x):
        return {call}
"""


def told(call, test="steps == 0", wait="x.sum().item()", other=""):
    ops = OPS.format(test=test, wait=wait, inner="x" if "sum" in wait else "x.sum().item()")
    files = {"pkg/__init__.py": "", "pkg/ops.py": ops, "pkg/net.py": NET.format(call=call)}
    files |= {"pkg/other.py": f"from .ops import refine\n\n\ndef other(x):\n    return {other}\n"} if other else {}
    finding = found(files)["pkg/ops.py"]
    return [fact.text.removeprefix("as far as we see called ") for fact in finding.options]


STEPS = "only where `steps == 0` does not hold; by default `self.steps` is `0`"


@pytest.mark.parametrize("wait", ["x.sum().item()", "inner(x)"])
@pytest.mark.parametrize(
    ("call", "test", "options"),
    [
        ("refine(x, self.steps)", "steps == 0", [STEPS]),
        ("refine(x, steps=self.steps)", "steps == 0", [STEPS]),
        ("refine(x, self.steps)", "not steps", ["only where `steps` holds; by default `self.steps` is `0`"]),
        ("refine(x, self.steps)", "steps > 0", []),
        ("refine(x, self.rounds)", "steps == 0", []),
        ("refine(x, 3)", "steps == 0", []),
        ("refine(x, self.steps) + refine(x, self.rounds)", "steps == 0", []),
        ("refine(*x)", "steps == 0", []),
    ],
)
def test_what_is_given_by_default_is_told(call: str, test: str, options: list[str], wait: str) -> None:
    assert told(call, test, wait) == options


def test_a_call_that_gives_it_asks_for_nothing() -> None:
    assert told("refine(x, self.steps)", other="refine(x, 3)") == []
    assert told("refine(x, self.steps)", other="refine(x, x.steps)") == []


def test_what_is_told_by_the_function_is_told_once() -> None:
    kind = 'only where `kind == "fast"` does not hold; by default `kind` is `"fast"`'
    assert told("refine(x, 3, self.kind)", 'kind == "fast"') == [kind]


def test_what_calls_itself_may_give_it() -> None:
    assert told("refine(x, self.steps)", wait="refine(x, 2) if x.shape[0] > 1 else x.sum().item()") == []
