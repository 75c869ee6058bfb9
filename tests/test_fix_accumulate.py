"""accumulate-on-device: what is collected is its own, integers have room, and names mean what they say."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402

HEAD = """\
import torch
import torch.distributed as dist
import torch.nn.functional as F


def shrink(t):
    t.mul_(0.5)


def f(x: torch.Tensor, log=len):
    losses, total = [], 0.0
"""
COLLECT = (
    HEAD.replace(", total = [], 0.0", " = []")
    + """\
    buf = x.new_zeros(()).float()
    for row in x:
        row = row.float()
        loss = F.mse_loss(row, row + 2) * 3
        {}
    return losses, buf
"""
)
APPEND = "losses.append(loss.item())"


@pytest.mark.parametrize(
    "lines",
    [
        f"{APPEND}; loss /= 4",
        f"report = loss; {APPEND}; report /= 4",
        f"{APPEND}; report = loss; report += 1",
        f"{APPEND}; loss.view(1).mul_(2)",
        f"one = loss.view(1); {APPEND}; one.mul_(2)",
        f"{APPEND}; loss.detach().mul_(2)",
        f"{APPEND}; loss.data *= 2",
        f"{APPEND}; loss[()] = 7.0",
        f"{APPEND}; loss[...].add_(1)",
        f"{APPEND}; shrink(loss)",
        f"{APPEND}; list(map(shrink, [loss]))",
        f"{APPEND}; torch.mul(loss, 2, out=loss)",
        f"{APPEND}; torch._foreach_mul_([loss], 2.0)",
        f"{APPEND}; F.relu(loss - 1, True); F.threshold(loss, 90.0, 1.0, True)",
        "torch.sum(row, (0,), out=buf); losses.append(buf.item())",
        "losses.append(torch.sum(row, (0,), out=buf).item())",
        "buf.add_(row.sum()); losses.append(buf.item())",
        "loss = buf.add_(1); losses.append(loss.item())",
        "same = loss = row.sum() * 1; losses.append(loss.item()); same.add_(1)",
        "loss = +buf; losses.append(loss.item()); buf.add_(1)",
    ],
)
def test_what_may_be_written_later_is_copied(lines):
    program = COLLECT.format(lines.replace("; ", "\n        "))
    after = rewritten(program, unsafe=True)
    assert after is not None
    assert ".detach().clone())" in after
    same(program, after, lambda: (torch.arange(6.0).reshape(3, 2),))


def test_a_collective_writes_what_was_collected():
    after = rewritten(COLLECT.format(f"{APPEND}\n        dist.all_reduce(loss)"))
    assert "losses.append(loss.detach().clone())" in after


@pytest.mark.parametrize(
    "lines",
    [
        APPEND,
        f"{APPEND}; print(loss, loss.shape)",
        f"{APPEND}; (loss * 2).mul_(3)",
        f"{APPEND}; loss = loss + 1",
        f"{APPEND}; rows = [loss.clone(), torch.exp(loss)]",
        f"{APPEND}; w = loss.sqrt()",
    ],
)
def test_what_nothing_writes_is_not_copied(lines):
    program = COLLECT.format(lines.replace("; ", "\n        "))
    after = rewritten(program, unsafe=True)
    assert "losses.append(loss.detach())" in after
    same(program, after, lambda: (torch.arange(6.0).reshape(3, 2),))


def test_a_loss_that_goes_back_is_not_copied():
    program = COLLECT.format(f"loss.backward()\n        {APPEND}")
    assert "losses.append(loss.detach())" in rewritten(program)


COUNT = """\
import torch


def f(x: torch.Tensor):
    n = {start}
    for row in x.to(torch.{dtype}):
        {line}
    return n
"""


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "bool"])
@pytest.mark.parametrize("start", ["0", "0.0"])
@pytest.mark.parametrize(
    "line",
    [
        "n += row.max().item()",
        "n -= row.max().item()",
        "n = n + row.max().item()",
        "n += row.max().item() * 2",
        "n += row.max().item() + row.max().item()",
        "n += row.sum().item()",
        "n += row.sum(dtype=torch.uint8).item()",
        "n += (row > 1).any().item()",
        "value = row.max().item()\n        n += value",
        "value = (row > 1).any().item()\n        n += value",
        "value = row.sum().item()\n        n += value",
    ],
)
def test_integers_do_not_overflow(dtype, start, line):
    program = COUNT.format(start=start, dtype=dtype, line=line)
    after = rewritten(program) or program
    for rows in ([[120, 3], [127, 2], [126, 1]], [[1, 0]]):
        same(program, after, lambda rows=rows: (torch.tensor(rows),))
    same(program, after, lambda: (torch.zeros(0, 2),))


def test_a_count_has_room_already():
    program = COUNT.format(start="0", dtype="uint8", line="n += (row > 1).sum().item()")
    assert "        n += (row > 1).sum()\n" in rewritten(program)
    program = COUNT.format(start="0", dtype="uint8", line="n += row.max().item()")
    assert "        n += row.max().long()\n" in rewritten(program)


SUM = """\
import torch


def f(x: torch.Tensor):
    total = 0.0
    for row in x.float():
        total += row.mean().item()
    return total
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def f(x: torch.Tensor)", "def f(x: torch.Tensor, float=str)"),
        ("    total = 0.0\n", "    float = str\n    total = 0.0\n"),
        ("    total = 0.0\n", "    total = 0.0\n    int = 3\n"),
        ("import torch\n", "import torch\n\nfloat = str\n"),
        ("import torch\n", "import torch\nfrom torch import *\n"),
        ("import torch\n", "import torch\nfrom torch import float\n"),
    ],
)
def test_a_name_of_python_that_means_something_else_is_not_written(old, new):
    assert old in SUM
    program = SUM.replace(old, new)
    assert not fixes(program, "accumulate-on-device")


MODES = """\
import torch


def f(x: torch.Tensor):
    total = 0.0
    for row in x.float():
        with torch.inference_mode():
            total += row.mean().item()
        total += row.sum().item()
    return total
"""


def test_a_sum_is_not_added_up_in_two_modes():
    assert not fixes(MODES, "accumulate-on-device")
    one = MODES.replace("        total += row.sum().item()\n", "")
    after = rewritten(one, "accumulate-on-device")
    assert "total = float(total)" in after
    same(one, after, lambda: (torch.rand(3, 2),))


def test_a_comment_at_the_end_of_a_loop_stays_in_it():
    program = SUM.replace("    return", "\n        # of all rows\n\n    # and then\n    return")
    after = rewritten(program)
    assert "\n        # of all rows\n    total = float(total)\n\n    # and then\n    return" in after


FOUND = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n    x = x.float()\n"


@pytest.mark.parametrize(
    ("body", "new"),
    [
        (
            (
                "    total = 0\n    for k in range(3):\n        total += (x * k).sum().item()\n"
                "    total /= 3\n    return total\n"
            ),
            "    total = float(total)\n    total /= 3\n    return total\n",
        ),
        (
            "    n = 0\n    for k in range(3):\n        n += (x > k).sum().item()\n    n /= 4\n    return n\n",
            "    n = int(n)\n    n /= 4\n    return n\n",
        ),
        (
            (
                "    a, b = [], []\n    for k in range(3):\n        a.append((x * k).sum().item())\n"
                "        b += [(x > k).float().sum().item()]\n    a = sum(a) / 3\n    return a, b\n"
            ),
            (
                "        a.append((x * k).sum().detach())\n        b += [(x > k).float().sum()]\n"
                "    a = torch.stack(a).tolist() if a else []\n"
                "    b = torch.stack(b).tolist() if b else []\n    a = sum(a) / 3\n"
            ),
        ),
        (
            (
                "    a = []\n    for k in range(3):\n        if k % 2:\n"
                "            a.append((x * k).sum().item())\n        else:\n"
                "            a.append(x.sum().item())\n    return a\n"
            ),
            "            a.append(x.sum().detach())\n    a = torch.stack(a).tolist() if a else []\n    return a\n",
        ),
    ],
)
def test_what_is_done_behind_the_loop_is_done_with_numbers(body, new):
    after = rewritten(FOUND + body, "accumulate-on-device", unsafe=True)
    assert after is not None
    assert new in after
    same(FOUND + body, after, lambda: (torch.linspace(0, 2, 5), torch.ones(2)))


@pytest.mark.parametrize(
    "body",
    [
        "    n = 1\n    n /= 2\n    for k in range(3):\n        n += (x > k).sum().item()\n    return n\n",
        "    n = 0\n    for k in range(3):\n        n += (x > k).sum().item()\n        n *= 2\n    return n\n",
        "    a = []\n    for k in range(3):\n        a.append(x.sum().item())\n        a += [k]\n    return a\n",
        "    a = [1.0]\n    for k in range(3):\n        a += [x.sum().item()]\n    return a\n",
        (
            "    a = []\n    for j in range(2):\n        for k in range(3):\n            a.append(x.sum().item())\n"
            "        a = [max(a)]\n    return a\n"
        ),
        (
            "    total, first = 0.0, len(y) > 1\n    for k in range(3):\n        v = (x * k).sum().item()\n"
            "        total += v\n        if first:\n            print(v, total)\n    return total\n"
        ),
    ],
)
def test_what_is_more_than_a_sum_stays(body):
    after = rewritten(FOUND + body, "accumulate-on-device", unsafe=True)
    if after is not None:
        same(FOUND + body, after, lambda: (torch.linspace(0, 2, 5), torch.ones(2)))
    assert after is None


def test_a_gradient_is_cut_where_there_is_one():
    body = (
        "    a = []\n    for k in range(3):\n        w = torch.zeros(2, device=x.device, requires_grad=True)\n"
        "        a.append((w * 1).sum().item())\n    return a\n"
    )
    assert ".detach()" in (rewritten(FOUND + body, unsafe=True) or "")
    off = FOUND.replace("def f", "@torch.no_grad()\ndef f") + body.replace(", requires_grad=True", "")
    assert "a.append((w * 1).sum())" in (rewritten(off, unsafe=True) or "")


@pytest.mark.parametrize("line", ["loss.add_(w * row)", "loss[...] = w * row", "torch.add(w, row, out=loss)"])
def test_a_gradient_that_is_written_into_a_tensor_is_cut(line):
    """What was cut off takes one from what is written into it: each would be kept."""
    program = (
        "import torch\n\n\ndef f(x: torch.Tensor, w: torch.Tensor):\n    losses = []\n    for row in x:\n"
        "        loss = (row * 2).sum().detach()\n"
        f"        {line}\n        losses.append(loss.item())\n    return losses\n"
    )
    after = rewritten(program, unsafe=True)
    assert after is None or "losses.append(loss.detach().clone())" in after
    plain = rewritten(program.replace(f"        {line}\n", ""), unsafe=True)
    assert "losses.append(loss)\n" in plain


@pytest.mark.parametrize(
    "lines",
    [
        "total += (row > 1).sum().item()\n        if i % 2:\n            print(total)\n            total = 0.0",
        "value = (row > 1).sum().item()\n        total += value\n        if i % 2:\n            total = 0.0",
        "total += (row > 1).sum().item()\n        if i > 1:\n            total += row.exp().sum().item()",
        "total += (row > 1).sum().item()\n        if i > 1:\n            total += 0.5",
    ],
)
def test_a_sum_that_is_an_integer_on_one_way_and_a_fraction_on_another_stays(lines):
    program = (
        "import torch\n\n\ndef f(x: torch.Tensor):\n    total = 0\n    for i, row in enumerate(x):\n"
        f"        {lines}\n    return total\n"
    )
    assert not fixes(program, "accumulate-on-device")
    assert fixes(program.replace("total = 0\n", "total = 0.0\n"), "accumulate-on-device")


@pytest.mark.parametrize(
    "lines",
    [
        "found.append(float((row > 1).sum()))",
        "value = float((row > 1).sum())\n        found.append(value)",
        "found.append((row > 1).sum().item())\n        found.append(float((row > 1).sum()))",
        "found.append((row > 1).sum().item())\n        found.append(row.exp().sum().item())",
    ],
)
def test_integers_among_fractions_are_not_collected(lines):
    """What is stacked is of one dtype: it would be `5` where it was `5.0`."""
    program = "import torch\n\n\ndef f(x: torch.Tensor):\n    found = []\n    for row in x:\n"
    assert not fixes(program + f"        {lines}\n    return found\n", "accumulate-on-device")
