"""A tensor of numbers that a loop makes anew in each turn is made once, before it: where nobody keeps or changes it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402

HEAD = "import torch\n\nWIDTH = 3\n\n\ndef f(x: torch.Tensor, n: int, rows):\n"
LOOP = """\
    for step in range(len(rows)):
        for _ in range(2):
            x = x * torch.tensor([0.5, n, 2], device=x.device)
        x = torch.maximum(x, torch.tensor([n, n + 1, 0], device=rows.device))
    return x
"""
PROGRAM = HEAD.replace("rows)", "rows: torch.Tensor)") + LOOP
HOISTED, EVERY = rewritten(PROGRAM, "hoist-read"), rewritten(PROGRAM)


@settings(deadline=None, max_examples=30)
@given(steps=st.integers(0, 3), n=st.integers(-3, 9), grad=st.booleans())
def test_what_is_the_same_in_each_turn_is_made_once(steps, n, grad):
    program, after = PROGRAM, HOISTED
    assert "    constant = torch.tensor([n, n + 1, 0], device=rows.device)\n    for step in range(len(rows)):" in after
    assert "torch.maximum(x, constant)" in after
    assert "x = x * torch.tensor([0.5, n, 2], device=x.device)" in after
    make = lambda: (torch.tensor([1.0, -2, 3]).requires_grad_(grad), n, torch.zeros(steps))  # noqa: E731
    same(program, after, make)
    same(program, EVERY, make)


@pytest.mark.parametrize(
    "body",
    [
        "y = torch.tensor([1, n], device='cuda')\n        y.add_(1)",
        "rows.append(torch.tensor([1, n], device='cuda'))",
        "x = x + torch.tensor([1, step], device='cuda')",
        "n += 1\n        x = x + torch.tensor([1, n], device='cuda')",
        "x = x + torch.tensor(rows, device='cuda')\n        rows.append(1)",
        "x = x + torch.tensor([1, rows[0]], device='cuda')\n        rows[0] = 2",
        "x = x + torch.tensor(rows.pop(), device='cuda')",
        "if n is None:\n            continue\n        x = x + torch.tensor([1, n], device='cuda')",
        "if step:\n            x = x + torch.tensor([1, n], device='cuda')",
        "x = x + (torch.tensor([1, n], device='cuda') if step else 1)",
        "x = x + torch.tensor([1, n], device='cuda').add_(x)",
        "x = torch.tensor([1, n], device='cuda').view(2)",
        "x = torch.tensor([1, n], device='cuda').to(x)",
        "x = x + torch.tensor([1, torch.rand(1)], device='cuda')",
        "x += rows(torch.tensor([1, n], device='cuda'))",
        "x = (lambda: x + torch.tensor([1, n], device='cuda'))()",
        "torch.add(x, 1, out=torch.tensor([1, n], device='cuda'))",
        (
            "def up():\n            nonlocal n\n            n += 1\n"
            "        x = x + torch.tensor([1, n], device='cuda')\n        up()"
        ),
        "x = x + torch.tensor([1, WIDTH], device='cuda')",
        "rows.append(torch.nn.Parameter(torch.tensor([1.0, n], device='cuda')))",
        "try:\n            x = x + torch.tensor([1, n], device='cuda')\n        except RuntimeError:\n            pass",
    ],
)
def test_what_is_kept_or_changed_is_made_anew(body):
    assert not fixes(HEAD + f"    for step in range(3):\n        {body}\n    return x\n", "hoist-read")
