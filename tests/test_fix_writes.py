"""What writes into a tensor is seen, however it is said: no read goes past it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402

HEAD = """\
import time
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


def bump(t):
    t.add_(1)


def f(x: torch.Tensor, n: int = 2):
    x = x.float() * 2
"""
LOCAL = (
    "F.dropout(x, 0.5, True, True)",
    "F.threshold(x, 2.0, 9.0, True)",
    "F.hardtanh(x, inplace=True)",
    "F.relu(x - 1, inplace=True).add_(x.sub_(3))",
    "x.__iadd__(1)",
    "x.__setitem__(0, 7)",
    "list(map(bump, [x]))",
    "max([x], key=bump)",
    "bump(*[x])",
    "bump(t=x)",
    'torch.add(*[x, 1], **{"out": x})',
    "torch.add(x, 1, out=x)",
    "x.data, n = x * 3, 1",
    "for x[0] in (5, 6):\n        pass",
    "torch._foreach_mul_([x], 2)",
    "nn.init.constant_(x, 0)",
    "torch.fill_(x, 1)",
    "torch.Tensor.add_(x, 1)",
    "z = F.relu(x, True)\n    z.add_(1)",
    "z = x.add_(0)\n    z.add_(1)",
    "z = +x\n    z.add_(1)",
    "rows = []\n    rows.append(x)\n    rows[0].add_(1)",
    "rows = [x]\n    rows.sort(key=bump)",
    "[row.add_(1) for row in x]",
    "[bump(row) for row in x]",
    "F.batch_norm(torch.stack((x, x + 1)), x, x.abs(), training=True)",
    "F.batch_norm(torch.stack((x, x + 1)), running_mean=x, running_var=x.abs(), training=n > 1)",
    "F.instance_norm(torch.ones(2, 4, 3), x, x.abs())",
    "F.embedding(torch.tensor([1]), x.view(4, 1), max_norm=1.0)",
    "F.embedding(torch.tensor([1]), x.view(4, 1), None, 1.0)",
    "F.silu(x, True)",
    "F.relu6(x - 9, True).add_(x.sub_(1))",
    "z = torch.einsum('i->i', x)\n    z.add_(1)",
    "z = nn.Parameter(x)\n    z.data.add_(1)",
    "z = torch.Tensor(x)\n    z.add_(1)",
    "z = F.dropout1d(x.view(1, 4), training=False)\n    z.add_(1)",
)
ELSEWHERE = (
    "dist.all_reduce(x)",
    "dist.all_reduce(tensor=x)",
    "work = dist.all_reduce(x, async_op=True)\n    work.wait()",
    "dist.broadcast(x, 0)",
    "dist.broadcast(x.view(-1), 0)",
    "z = x.view(-1)\n    dist.all_reduce(z)",
    "dist.all_gather([x, x], x * 2)",
    "torch.nn.utils.clip_grad_norm([x], 1.0)",
    "w = torch.nn.utils.clip_grad_norm_(x, 1.0)",
    "torch.batch_norm_update_stats(x.view(1, -1), x, x, 0.1)",
)
AHEAD = HEAD + "    a = x.max().item()\n    {}\n    b = x.sum().item()\n    return a, b\n"
GATE = HEAD + "    value = x.sum().item()\n    {}\n    if n > 1:\n        return value\n    return 0.0\n"
LOOP = (
    HEAD
    + "    found = []\n    for i in range(2):\n        found.append(x[i].item())\n        {}\n    return found, x\n"
)
SIZE = HEAD + "    x = x.long()\n    y = x.repeat_interleave(x)\n    {}\n    return torch.arange(x.sum().item()), y\n"
SHAPES = {"read-ahead": AHEAD, "read-at-gate": GATE, "read-together": LOOP, "known-size": SIZE}


def program(recipe: str, line: str) -> str:
    return SHAPES[recipe].format(line.replace("\n    ", "\n        ") if recipe == "read-together" else line)


@pytest.mark.parametrize("line", [*LOCAL, *ELSEWHERE])
@pytest.mark.parametrize("recipe", SHAPES)
def test_no_read_goes_past_what_writes(recipe, line):
    before = program(recipe, line)
    assert [fix.tier for fix in fixes(before, recipe) if fix.tier == "safe"] == []
    after = rewritten(before) or before
    if line in LOCAL and recipe != "known-size":
        same(before, after, lambda: (torch.arange(4.0),))


@pytest.mark.parametrize("line", [*LOCAL[:17], *ELSEWHERE[:4]])
def test_what_is_written_by_its_own_name_is_not_read_ahead_at_all(line):
    assert fixes(program("read-ahead", line), "read-ahead") == []


@pytest.mark.parametrize(
    "line",
    [
        "print(x.shape, len(x))",
        "w = F.dropout(x, 0.5, True)",
        "w = F.relu(x, inplace=False)",
        "w = F.batch_norm(torch.stack((x, x + 1)), x, x.abs())",
        "w = F.batch_norm(torch.stack((x, x + 1)), x, x.abs(), training=False)",
        "w = F.embedding(torch.tensor([1]), x.view(4, 1))",
        "w = torch.add(x, 1, out=None)",
        "w = max([1, 2], key=int)",
        "w = list(map(int, [1.5]))",
        "w = x.detach() + 1\n    w.add_(1)",
        "w = torch.zeros(4)\n    torch.add(x, 1, out=w)",
        "w = torch.zeros(4)\n    dist.all_reduce(w)",
        "w, v = x + 1, x * 2\n    w.add_(v)",
        "w = [row.sum() for row in x]",
    ],
)
def test_what_only_computes_is_read_past(line):
    before = program("read-ahead", line)
    after = rewritten(before, "read-ahead")
    assert "torch.stack((x.max(), x.sum())).tolist()" in after
    if "dist" not in line:
        same(before, after, lambda: (torch.arange(4.0),))


@pytest.mark.parametrize(
    "line",
    ["n = time.time()", "torch.set_default_dtype(torch.float64)", "torch.backends.cuda.matmul.allow_tf32 = True"],
)
def test_a_loop_that_takes_the_time_is_left_as_it_is(line):
    assert fixes(program("read-together", "n = n + 1"), "read-together")
    assert not fixes(program("read-together", line), "read-together")
