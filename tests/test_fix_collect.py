"""Numbers that a loop collects, read at the gate or after the loop: the same lists and rows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import codes, fixes, rewritten, same  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, steps: int, log):\n"
GATED = """\
    recent: list[float] = []
    for step in range(steps):
        loss = (x * step).sum()
        value = loss.item()
        recent.append(value)
        if step % 3 == 2:
            log.append((max(recent), min(recent), len(recent)))
            recent.clear()
    return recent, log
"""
ROW = """\
    losses = torch.zeros(steps + 1)
    for k in range(steps):
        loss = (x * k).sum()
        if not loss.requires_grad and k == 3:
            break
        losses[k] = loss.item()
    return losses, losses.mean()
"""


def test_a_list_is_read_once_at_its_gate():
    after = rewritten(HEAD + GATED, unsafe=True)
    assert "        value = loss.detach()\n" in after
    assert "            recent_list = torch.stack(recent).tolist() if recent else []\n" in after
    assert "            log.append((max(recent_list), min(recent_list), len(recent)))\n" in after
    assert "    recent = torch.stack(recent).tolist() if recent else []\n    return recent, log\n" in after


def test_a_row_is_filled_after_the_loop():
    after = rewritten(HEAD + ROW, unsafe=True)
    assert "        losses_list.append(loss.detach())\n    if losses_list:\n" in after
    assert "        losses[: len(losses_list)] = torch.stack(losses_list)\n    return losses, losses.mean()\n" in after
    assert len(codes(after)) <= len(codes(HEAD + ROW))


@pytest.mark.parametrize("body", [GATED, ROW])
@settings(deadline=None, max_examples=40)
@given(steps=st.integers(0, 7), grad=st.booleans(), values=st.lists(st.floats(width=32), max_size=3))
def test_the_numbers_are_the_same(body, steps, grad, values):
    after = rewritten(HEAD + body, unsafe=True)
    same(HEAD + body, after, lambda: (torch.tensor(values).requires_grad_(grad), steps, []))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    for step", "    other = recent\n    for step"),
        ("recent: list[float] = []", "recent = [0.0]"),
        ("recent.append(value)", "recent.append(value) if step else log.append(value)"),
        ("recent.append(value)", "recent.append(value)\n        print(value)"),
        ("    return recent, log", "    return recent, log, lambda: recent"),
    ],
)
def test_a_list_that_others_read_stays(old, new):
    program = HEAD + GATED.replace(old, new)
    assert not [fix for fix in fixes(program, "accumulate-on-device") if fix.tier != "display"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    for k", "    other = losses\n    for k"),
        ("break", "continue"),
        ("losses[k] = loss", "k += 1\n        losses[k - 1] = loss"),
        ("        losses[k] =", "        if k:\n            losses[k] ="),
        ("losses[k] = loss.item()", "losses[k] = loss.item() + losses[k - 1]"),
        ("losses[k] = loss.item()", "losses[k] = int(loss.item())"),
        ("losses[k] =", "losses[-k] ="),
        ("range(steps)", "range(1, steps)"),
        ("torch.zeros(steps + 1)", "torch.zeros(steps + 1, 2)"),
        ("torch.zeros(steps + 1)", "[0.0] * (steps + 1)"),
        ("losses[k] = loss.item()", "losses[k] = loss.item()\n        log.append(losses[k])"),
    ],
)
def test_a_row_that_is_read_in_the_loop_or_not_filled_in_order_stays(old, new):
    assert not fixes(HEAD + ROW.replace(old, new), "accumulate-on-device")
