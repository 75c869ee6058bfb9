"""What a class of another file asks its own object for, a class below it has: its own file does not tell who calls."""

import pytest
from packaged import found

BASE = """
import torch
from torch import nn


class Base(nn.Module):
    def {asking}(self, x):
        {asks}

    def _prune(self, x, exact):
        return x
"""
NET = """
import torch
from .base import Base


class Net(Base):
    def _prune(self, x: torch.Tensor, exact=False):
        {body}
        return x[x > 0]

    {own}
"""
LOADS = "def load(self, path):\n        self._prune(torch.load(path))"
GATES = "def show(self, x, step):\n        if step % 100 == 0:\n            self._prune(x)"
LEAVES = "def other(self, x):\n        return self._prune(x)"
CALLS = "return self._prune(x, True)"


def told(own: str, body: str = "", asking: str = "forward", asks: str = CALLS) -> tuple[str, list[str]]:
    base = BASE.format(asking=asking, asks=asks)
    net = NET.format(own=own, body=body or "x = x * 2")
    finding = found({"pkg/__init__.py": "", "pkg/base.py": base, "pkg/net.py": net})["pkg/net.py"]
    return finding.heat, [fact.text for fact in finding.hot_path]


@pytest.mark.parametrize("own", [LOADS, GATES.replace("show", "training_step")])
def test_what_its_own_file_calls_seldom_may_run_often(own: str) -> None:
    assert told(own) == ("unknown", [])
    heat, _ = told(own, asking="load_pruned")
    assert heat in ("cold", "amortized")
    heat, _ = told(own, asks="return x")
    assert heat in ("cold", "amortized")


def test_what_it_is_given_above_counts() -> None:
    assert told(LEAVES, "if not exact:\n            return x") == ("unknown", [])
    assert told(LEAVES, "if not exact:\n            return x", asks="return self._prune(x, False)")[0] == "amortized"
    assert told(LEAVES, "if not exact:\n            return x", asks="return x")[0] == "amortized"


def test_what_is_replaced_asks_for_nothing() -> None:
    own = f"{LOADS}\n\n    def forward(self, x):\n        return x"
    assert told(own)[0] == "cold"
    assert told(own.replace("return x", "return super().forward(x)"))[0] == "unknown"
