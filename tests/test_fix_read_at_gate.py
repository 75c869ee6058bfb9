"""read-at-gate: the same numbers, read only where they are wanted."""

from __future__ import annotations

import textwrap

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402

GATED = """\
import torch


def f(x: torch.Tensor, y: torch.Tensor, n: int = 2):
    seen = []
    for step, row in enumerate(x):
        loss = (row * y).sum()
        value = loss.item()  # of this step
        extra = loss * 2
        if step % n == 0:
            seen.append(value)
            seen.append(value + float(extra))
    return seen
"""


def test_what_is_read_behind_a_gate_is_read_there():
    after = rewritten(GATED, "read-at-gate")
    assert (
        "        # of this step\n        extra = loss * 2\n        if step % n == 0:\n            value = loss" in after
    )
    same(GATED, after, lambda: (torch.randn(4, 3, requires_grad=True), torch.randn(3)))
    later = GATED.replace("  # of this step", "").replace("extra = loss * 2", "loss.mul_(2)\n        extra = loss")
    assert rewritten(later, "read-at-gate") is None
    after = rewritten(later, "read-at-gate", unsafe=True)
    assert "        if step % n == 0:\n            value = loss.item()\n        loss" in after.replace(
        "  # of this step", ""
    )
    same(later, after, lambda: (torch.randn(4, 3), torch.randn(3)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return seen", "    return seen, value"),
        ("        extra = loss * 2", "        extra = loss * value"),
        ("        if step % n == 0:", "        if value > 0:"),
        ("        if step % n == 0:", "        if step == 0:\n            pass\n        elif step % n == 0:"),
        ("        if step % n == 0:", "        while step % n == 0:"),
        ("    seen = []", "    seen, value = [], 0.0\n    g = lambda: value"),
        ("        extra = loss * 2", "        extra = loss * 2\n        g = lambda: value"),
        ("    seen = []", "    global value\n    seen = []"),
        ("        value = loss.item()  # of this step", "        value = loss.item() + next(seen)"),
        ("        value = loss.item()  # of this step", "        value = seen.append(loss.item())"),
    ],
)
def test_what_is_read_elsewhere_too_stays(old, new):
    assert old in GATED
    assert not fixes(GATED.replace(old, new), "read-at-gate")


BOTH = """\
import torch


def f(x: torch.Tensor, y: torch.Tensor, n: int = 2, verbose: bool = True):
    seen = []
    for step, row in enumerate(x):
        loss = (row * y).sum()
        info = {
            "loss": loss.item(),
            "step": step,
        }
        if verbose:
            seen.append(info)
        if step % n == 0:
            seen.append(info)
    return seen
"""


def test_two_gates_are_asked_before():
    after = rewritten(BOTH, "read-at-gate", unsafe=True)
    assert (
        '        if verbose or (step % n == 0):\n            info = {\n                "loss": loss.item(),\n' in after
    )
    for verbose in (True, False):
        same(BOTH, after, lambda v=verbose: (torch.randn(4, 3), torch.randn(3), 2, v))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        if verbose:", "        step += 1\n        if verbose:"),
        ("        if verbose:", "        if seen.pop():"),
        ("        if verbose:", "        if loss > 0:"),
        ('            "step": step,', '            "step": next(seen),'),
    ],
)
def test_a_test_that_may_answer_otherwise_is_not_asked_twice(old, new):
    assert old in BOTH
    assert not fixes(BOTH.replace(old, new), "read-at-gate")


def test_a_name_of_the_file_may_be_read_by_others():
    program = (
        "import torch\n\nx = torch.rand(4, device='cuda')\nfor step in range(4):\n    value = x.sum().item()\n"
        "    if step % 2:\n        print(value)\n\n\ndef f():\n    return value\n"
    )
    assert not fixes(program, "read-at-gate")


def test_what_is_computed_above_its_gate_goes_into_it():
    text = """
        import torch


        def evaluate(losses, seen):
            named = {loss.argmax().item(): loss for loss in losses}
            if seen is not None:
                seen.update(named)
        """
    after = rewritten(textwrap.dedent(text), "read-at-gate", unsafe=True)
    assert after is not None
    assert after.count("if seen is not None:") == 1
    assert "    if seen is not None:\n        named = {loss.argmax().item(): loss for loss in losses}\n" in after
