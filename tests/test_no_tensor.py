"""What a test found to be no tensor is data, of which torch makes one; what nobody asked may be a tensor already."""

from __future__ import annotations

import pytest
from checked import codes, findings

HEAD = "import torch\n"


@pytest.mark.parametrize(
    "body",
    [
        "if not torch.is_tensor(v):\n        v = torch.as_tensor(v, device=x.device)",
        "if not isinstance(v, torch.Tensor):\n        v = torch.as_tensor(v, device=x.device)",
        "if torch.is_tensor(v):\n        return x * v\n    v = torch.as_tensor(v, device=x.device)",
        "v = v if torch.is_tensor(v) else torch.as_tensor(v, device=x.device)",
        "if isinstance(v, torch.Tensor):\n        pass\n    else:\n        v = torch.asarray(v, device=x.device)",
    ],
)
@pytest.mark.parametrize("kind", ["", ": torch.Tensor", ": float | torch.Tensor"])
def test_what_is_no_tensor_is_sent(body: str, kind: str) -> None:
    assert codes(f"{HEAD}def f(x: torch.Tensor, v{kind}):\n    {body}\n    return x * v\n") == ["SG302"]


@pytest.mark.parametrize(
    "body",
    [
        "v = torch.as_tensor(v, device=x.device)",
        "if torch.is_tensor(v):\n        v = torch.as_tensor(v, device=x.device)",
        "if not torch.is_tensor(w):\n        v = torch.as_tensor(v, device=x.device)",
        "if not torch.is_tensor(v):\n        v = w.held\n        v = torch.as_tensor(v, device=x.device)",
        "if not torch.is_tensor(v) or w:\n        v = torch.as_tensor(v, device=x.device)",
    ],
)
def test_what_may_be_one_is_not(body: str) -> None:
    assert codes(f"{HEAD}def f(x: torch.Tensor, v, w):\n    {body}\n    return x * v\n") == []


@pytest.mark.parametrize(
    ("asked", "confidence"),
    [
        ("step < 0", "likely"),
        ("step * 2 < limit", "possible"),
        ("step < x.max()", "likely"),
        ("x.max() < limit", "likely"),
    ],
)
def test_what_is_declared_a_number_or_a_tensor_may_be_either(asked: str, confidence: str) -> None:
    text = f"""
        def f(x: torch.Tensor, step: float | torch.Tensor, limit: float | torch.Tensor = 0.5):
            if {asked}:
                return x
            return x * 2
    """
    assert {one.confidence for one in findings(text, HEAD, confidence="possible")} == {confidence}
