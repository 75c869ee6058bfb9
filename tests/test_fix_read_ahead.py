"""Reads that stand apart are made together, where the first stands; a list is made where the first of it is read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import codes, fixes, rewritten, same  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor, log=len):\n    n = x.long()\n"
APART = """\
    most = n.max().item()
    shape = list(y.shape)
    shape[0] = n.sum().item() * 2
    return most, shape
"""
AHEAD = """\
    n_max, n_sum = torch.stack((n.max(), n.sum())).tolist()
    most = n_max
    shape = list(y.shape)
    shape[0] = n_sum * 2
    return most, shape
"""


def test_reads_apart_are_made_at_once():
    after = rewritten(HEAD + APART, "read-ahead")
    assert after == HEAD + AHEAD
    assert len(codes(after)) == 1
    for x in (torch.arange(4.0), torch.tensor([[-3.0, 9.0]]), torch.tensor([])):
        same(HEAD + APART, after, lambda x=x: (x, torch.rand(2, 2)))


@pytest.mark.parametrize(
    "body",
    [
        "    a = n.max().item()\n    n = n + 1\n    b = n.sum().item()\n    return a, b\n",
        "    a = n.max().item()\n    n.add_(1)\n    b = n.sum().item()\n    return a, b\n",
        "    a = n.max().item()\n    n[0] = a\n    b = n.sum().item()\n    return a, b\n",
        "    a = n.max().item()\n    x.zero_()\n    b = x.long().sum().item()\n    return a, b\n",
        "    a = n.max().item()\n    m = n * a\n    b = m.sum().item()\n    return a, b\n",
        "    a = n.max().item()\n    if a:\n        n = x.int()\n    b = n.sum().item()\n    return a, b\n",
        "    a = n.max().item()\n    if a:\n        a = n.sum().item()\n    return a\n",
        "    a = n.max().item()\n    b = a and n.sum().item()\n    return a, b\n",
        (
            "    def up():\n        nonlocal n\n        n = n + 1\n"
            "    a = n.max().item()\n    up()\n    b = n.sum().item()\n    return a, b\n"
        ),
        "    a = n.max().item()\n    del n\n    n = y.long()\n    b = n.sum().item()\n    return a, b\n",
        "    a = n.max().item()\n    b = x.float().mean().item()\n    return a, log([b])\n",
        "    a = n.max().item()\n    b = (n := y.long()).sum().item()\n    return a, b\n",
        "    a = n.max().item()\n    c = log([a])\n    b = torch.randint(9, (3,)).sum().item()\n    return a, b, c\n",
        (
            "    try:\n        a = n.max().item()\n        b = n.sum().item()\n"
            "    except RuntimeError:\n        return 0\n    return a, b\n"
        ),
        "    r = [n, n + 1]\n    a = r[0].max().item()\n    r[1] = n\n    b = r[1].sum().item()\n    return a, b\n",
        (
            "    for n in (x.long(), y.long()):\n        a = n.max().item()\n        c = log([a])\n"
            "    b = n.sum().item()\n"
            "    return a, b, c\n"
        ),
    ],
)
def test_what_changes_or_may_not_be_read_stays(body):
    assert not fixes(HEAD + body, "read-ahead")


def test_what_a_call_may_have_changed_is_said():
    """Of a tensor that others have, a function of which nothing is known may change what is read."""
    body = "    a = x.long().max().item()\n    log(a)\n    b = x.long().sum().item()\n    return a, b\n"
    (fix, *_) = fixes(HEAD + body, "read-ahead")
    assert fix.tier == "unsafe"
    assert "nothing in between" in fix.message


BOX = """\
    top, end = n[:, 0], n[:, 1] + 1
    if len(top.unique()) == len(end.unique(sorted=False)) == 1:
        return x[int(top[0]) : int(end[0])]
    rows = []
    for i in range(len(n)):
        rows.append(log(x[int(top[i]) : int(end[i])]))
    return rows
"""
LISTED = """\
    top, end = n[:, 0], n[:, 1] + 1
    top_list, end_list = torch.stack((top, end)).tolist()
    if len(set(top_list)) == len(set(end_list)) == 1:
        return x[top_list[0] : end_list[0]]
    rows = []
    for i in range(len(n)):
        rows.append(log(x[top_list[i] : end_list[i]]))
    return rows
"""


@settings(deadline=None, max_examples=40)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4))
def test_rows_that_are_read_above_a_loop_too_are_read_once(rows):
    program = HEAD.replace("n = x.long()", "n = y.long()") + BOX
    after = rewritten(program, unsafe=True)
    assert after == program.replace(BOX, LISTED)
    same(program, after, lambda: (torch.arange(4.0), torch.tensor(rows, dtype=torch.float32)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    rows = []\n", "    rows = []\n    top.add_(1)\n"),
        ("    rows = []\n", "    rows = []\n    n[0] = 7\n"),
        ("    rows = []\n", "    rows, top = [], top + 1\n"),
    ],
)
def test_a_list_is_not_read_above_a_change(old, new):
    program = HEAD.replace("n = x.long()", "n = y.long()") + BOX.replace(old, new)
    after = rewritten(program, "read-together", unsafe=True) or program
    assert "set(top_list)" not in after
    same(program, after, lambda: (torch.arange(9.0), torch.tensor([[0.0, 2], [1, 3]])))


GATHERED = """\
    sizes = [torch.tensor(part.shape, device=x.device) for part in (x, y)]
    return [torch.zeros(torch.Size(sizes[i]), device=x.device) for i in range(2)]
"""


def test_the_sizes_of_a_list_are_read_at_once():
    after = rewritten(HEAD + GATHERED, "read-together", unsafe=True)
    assert "    sizes_list = torch.stack(sizes).tolist()\n" in after
    assert "torch.zeros(torch.Size(sizes_list[i]), device=x.device)" in after
    same(HEAD + GATHERED, after, lambda: (torch.rand(2, 3), torch.rand(1, 4)))


def test_what_is_read_twice_is_read_once():
    body = "    a = len(x) - int(n[-1])\n    y = y[a:]\n    b = len(y) - int(n[-1])\n    return a, b\n"
    after = rewritten(HEAD + body, "read-ahead", unsafe=True)
    assert "    n_last = n[-1].item()\n    a = len(x) - int(n_last)\n" in after
    assert "    b = len(y) - int(n_last)\n" in after
    same(HEAD + body, after, lambda: (torch.arange(4.0), torch.arange(9.0)))


GUARD = """\
import sys
import time
import torch
from time import perf_counter


def f(x: torch.Tensor, y: torch.Tensor, log=len):
    x = x.float() * 1
    a = x.{first}().item()
    {between}
    b = {second}.item()
    return a, b
"""


@pytest.mark.parametrize(
    ("first", "between", "second"),
    [
        ("max", "if a > 100:\n        return 0", "x[4:].max()"),
        ("sum", "if a == 0:\n        return None", "x[7]"),
        ("sum", "if a == 0:\n        return None", "x.max()"),
        ("min", "if a < 0:\n        return a", "torch.linalg.cholesky(torch.diag(x)).sum()"),
        ("max", "if len(x) < 5:\n        raise ValueError('short')", "x[4]"),
        ("max", "assert len(x) > 4", "x[4]"),
        ("max", "if a > 100:\n        sys.exit(0)", "x[4]"),
        ("max", "if a > 100:\n        exit()", "x[4]"),
        ("max", "torch.set_default_dtype(torch.float32)", "x.sum()"),
        ("max", "torch.backends.cuda.matmul.allow_tf32 = True", "x.sum()"),
        ("max", "torch.backends.cudnn.benchmark, w = True, 1", "x.sum()"),
        ("max", "torch.manual_seed(3)", "x.sum()"),
        ("max", "w = time.time()", "x.sum()"),
        ("max", "w = perf_counter() - 1", "x.sum()"),
        ("max", "w = torch.cuda.Event(enable_timing=True)\n    w.record()", "x.sum()"),
    ],
)
def test_what_is_guarded_or_timed_is_not_read_ahead(first, between, second):
    program = GUARD.format(first=first, between=between, second=second)
    assert not fixes(program, "read-ahead")
    if between.startswith("if ") and "exit" not in between:
        after = rewritten(program) or program
        for x in (torch.full((9,), 200.0), torch.zeros(0), torch.zeros(3), -torch.ones(2)):
            same(program, after, lambda x=x: (x, x))


@pytest.mark.parametrize("jump", ["return 0", "raise ValueError('small')"])
@pytest.mark.parametrize(("first", "second"), [("min", "max"), ("sum", "mean"), ("max", "sum")])
def test_what_cannot_fail_behind_a_guard_is_read_ahead(jump, first, second):
    program = GUARD.format(first=first, between=f"if a < 0:\n        {jump}", second=f"x.{second}()")
    after = rewritten(program, "read-ahead")
    assert f"torch.stack((x.{first}(), x.{second}())).tolist()" in after
    for x in (torch.arange(4.0), torch.zeros(0), -torch.ones(2)):
        same(program, after, lambda x=x: (x, x))


def test_in_a_loop_what_is_jumped_over_is_not_read_ahead():
    for jump in ("continue", "break"):
        program = HEAD + (
            "    found = []\n    for i in range(3):\n        a = n.max().item()\n"
            f"        if a > i:\n            {jump}\n"
            "        b = n[4:].max().item()\n        found.append((a, b))\n    return found\n"
        )
        assert not fixes(program, "read-ahead")
