"""What is declared to be a number, or to hold numbers, does not become a tensor."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from fixing import fixes

KEEPING = ("keep-tensor", "clamp-number", "maximum", "where-choose")
DECLARED = [
    "def f(x: torch.Tensor) -> float:\n    return x.mean().item()\n",
    "def f(x: torch.Tensor) -> dict[str, float]:\n    return {'a': x.mean().item()}\n",
    "def f(x: torch.Tensor) -> float:\n    value = x.mean().item()\n    return value\n",
    "def f(x: torch.Tensor, out: dict[str, float]):\n    out['a'] = x.mean().item()\n",
    "def f(x: torch.Tensor) -> list[float]:\n    out = []\n    out.append(x.mean().item())\n    return out\n",
    "def f(x: torch.Tensor) -> float:\n    return max(x.mean().item(), 0.5)\n",
    "def f(x: torch.Tensor) -> float:\n    return max(x.mean().item(), x.max().item())\n",
    "def f(x: torch.Tensor) -> tuple[int, float]:\n    return 1, x.mean().item()\n",
    "def f(x: torch.Tensor) -> float:\n    return 0.5 if x.mean() > 0 else 1.5\n",
]


@pytest.mark.parametrize("function", DECLARED)
def test_a_number_stays_a_number(function):
    assert not [fix for fix in fixes(f"import torch\n\n\n{function}") if fix.recipe in KEEPING]


@pytest.mark.parametrize("function", DECLARED)
def test_where_nothing_is_said_or_a_tensor_is_it_may_be_one(function):
    for note in ("torch.Tensor", "dict[str, Any]"):
        other = (
            function.replace("-> float", f"-> {note}").replace("dict[str, float]", note).replace("list[float]", note)
        )
        other = other.replace("tuple[int, float]", note)
        assert [fix for fix in fixes(f"import torch\nfrom typing import Any\n\n\n{other}") if fix.recipe in KEEPING]
