"""Rows that a loop fills up to a length each, filled at once: the same numbers, in place, with the same gradients."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import Later, codes, findings, rewritten, same  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, n: torch.Tensor):\n    mask = x * 1\n"
POSITIONS = "    positions = torch.arange(mask.size(1), device=n.device)\n"

LOOPS = [
    (
        "    for i in range(x.size(0)):\n        mask[i, : max(0, n[i].item() - 1)] = 0.0\n",
        "    mask[: x.size(0)][positions < n[: x.size(0), None] - 1] = 0.0\n",
    ),
    ("    for i in range(len(n)):\n        mask[i, n[i] :] = 7\n", "    mask[: len(n)][positions >= n[:, None]] = 7\n"),
    (
        "    for i in range(mask.shape[0]):\n        mask[i][: n[i]] = True\n",
        "    mask[positions < n[: mask.shape[0], None]] = True\n",
    ),
    (
        "    for i, k in enumerate(n):\n        mask[i, : int(k)] = -1\n",
        "    mask[: len(n)][positions < n[:, None]] = -1\n",
    ),
    (
        "    for i in range(len(n)):\n        k = int(n[i])\n        mask[i, k : k + 2] = 5\n",
        "    mask[: len(n)][(positions >= n[:, None]) & (positions < n[:, None] + 2)] = 5\n",
    ),
    (
        "    for i in range(len(n)):\n        mask[i, : (n[i].item() + 1) * 2 - (3 - 1)] = 0\n",
        "    mask[: len(n)][positions < (n[:, None] + 1) * 2 - (3 - 1)] = 0\n",
    ),
]


def told(loop):
    """The fixes of this recipe, those that stand behind a safe one too."""
    both = [fix for f in findings(HEAD + loop + "    return mask\n") if f.fix for fix in (f.fix, f.fix.bolder)]
    return [fix for fix in both if fix is not None and fix.recipe == "fill-rows"]


AFTER = Later(lambda loop: rewritten(HEAD + loop + "    return mask\n", "fill-rows", unsafe=True))


@pytest.mark.parametrize(("loop", "line"), LOOPS)
def test_rows_are_filled_at_once(loop, line):
    assert AFTER[loop] == HEAD + POSITIONS + line + "    return mask\n"
    assert codes(HEAD + loop + "    return mask\n")
    assert not codes(AFTER[loop])


@pytest.mark.parametrize("loop", [loop for loop, _ in LOOPS])
@settings(deadline=None, max_examples=60)
@given(rows=st.integers(0, 4), width=st.integers(0, 5), deep=st.booleans(), data=st.data())
def test_the_same_places_are_filled(loop, rows, width, deep, data):
    dtype = data.draw(st.sampled_from((torch.float32, torch.int64, torch.float16)))
    shape = (rows, width, 2) if deep else (rows, width)
    x = torch.arange(rows * width * (2 if deep else 1), dtype=torch.float32).reshape(shape).to(dtype)
    if data.draw(st.booleans()):
        x = x.transpose(0, 1).contiguous().transpose(0, 1)
    if dtype is torch.float32:
        x = torch.where(x == 1, torch.nan, x).requires_grad_(data.draw(st.booleans()))
    kind = data.draw(st.sampled_from((torch.int64, torch.int32)))
    n = torch.tensor(data.draw(st.lists(st.integers(0, width + 2), min_size=rows, max_size=rows)), dtype=kind)
    make = lambda: (x.detach().clone().requires_grad_(x.requires_grad), n.clone())  # noqa: E731
    same(HEAD + loop + "    return mask\n", AFTER[loop], make)


def test_what_it_assumes_is_said():
    (fix, *_) = told(LOOPS[0][0])
    assert fix.tier == "unsafe"
    assert "below 0" not in fix.message
    (fix, *_) = told(LOOPS[1][0])
    assert "no bound may be below 0" in fix.message


@pytest.mark.parametrize(
    "loop",
    [
        "    for i in range(len(n)):\n        mask[i, : n[i]] = x[i, 0]\n",
        "    for i in range(len(n)):\n        mask[i, : n[i]] = i\n",
        "    for i in range(len(n)):\n        mask[i, : n[i]] = 1\n        mask[i, n[i] :] = 2\n",
        "    for i in range(len(n)):\n        if i:\n            mask[i, : n[i]] = 1\n",
        "    for i in range(len(n)):\n        mask[i, : n[i]] += 1\n",
        "    for i in range(len(n)):\n        mask[0, : n[i]] = 1\n",
        "    for i in range(len(n)):\n        mask[i, : n[i] : 2] = 1\n",
        "    for i in range(len(n)):\n        mask[i, : n[i], 0] = 1\n",
        "    for i in range(len(n)):\n        mask[: n[i], i] = 1\n",
        "    for i in range(1, len(n)):\n        mask[i, : n[i]] = 1\n",
        "    for i in range(len(n)):\n        mask[i, : n[i - 1]] = 1\n",
        "    for i in range(len(n)):\n        mask[i, : n[0]] = 1\n",
        "    for i in range(len(n)):\n        mask[i, : n[i] + i] = 1\n",
        "    for i in range(len(n)):\n        mask[i, : n[i]] = 1\n    mask = mask[i]\n",
        "    for i in range(len(n)):\n        mask[i, : n[i]] = 1\n    else:\n        mask = mask + 1\n",
        "    for i in range(len(n)):\n        n[i, : n[i]] = 1\n",
        "    k = 0\n    for i in range(len(n)):\n        mask[i, : k] = 1\n        k = int(n[i])\n",
        "    n = n.float()\n    for i in range(len(n)):\n        mask[i, : int(n[i])] = 1\n",
        "    rows = [[0] * 3, [0] * 3]\n    for i in range(2):\n        rows[i][: n[i]] = 1\n",
        "    h = mask.view(-1).long()\n    for i in range(len(n)):\n        mask[i, : h[i]] = 1\n",
        "    i = 0\n    while i < len(n):\n        mask[i, : n[i]] = 1\n        i += 1\n",
    ],
)
def test_leaves_alone(loop):
    assert not told(loop)


def test_a_comment_in_the_loop_is_not_lost():
    loop = "    for i in range(len(n)):\n        # all of it\n        mask[i, : n[i]] = 1\n"
    assert {fix.tier for fix in told(loop)} <= {"display"}
