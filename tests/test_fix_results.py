"""What a function gives: tensors or numbers, but not one here and the other there; and what is left of no element."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402

HEAD = "import torch\n\n\n"
X = HEAD + "def f(x: torch.Tensor, y: torch.Tensor):\n"


def two():
    return torch.linspace(-1, 1, 6), torch.arange(1.0, 7.0)


@pytest.mark.parametrize(
    "body",
    [
        "    n = x.max().item()\n    if n > 3:\n        return None\n    return n, y.norm().item()\n",
        "    if len(x) > 9:\n        return 0.5\n    return y.norm().item()\n",
        "    s = float(len(x))\n    return {'a': s, 'b': y.norm().item()}\n",
    ],
)
def test_a_number_beside_others_stays_one(body):
    assert not fixes(X + body, "keep-tensor")


@pytest.mark.parametrize("body", ["    return x, y.norm().item()\n", "    return len(x), y.norm().item()\n"])
def test_a_number_beside_tensors_and_counts_may_be_kept(body):
    assert "y.norm().detach()" in rewritten(X + body, "keep-tensor", unsafe=True)


def test_what_a_function_is_given_to_make_numbers_of_becomes_numbers():
    loop = "    out = {}\n    for key, value in table.items():\n        out[key] = value.detach().item()\n"
    program = HEAD + "def f(table: dict[str, torch.Tensor]):\n" + loop
    assert not fixes(program + "    return out\n", "keep-tensor")


def test_a_sum_on_the_way_out_of_a_loop_is_a_number_too():
    loop = "    for i in range(len(x)):\n        total += (x[i] * y).mean().item()\n        if i == 3:\n"
    body = "    total = 0.0\n" + loop + "            return total\n    return total\n"
    after = rewritten(X + body, unsafe=True)
    assert "            return float(total)\n" in after
    same(X + body, after, two)


def test_what_is_added_needs_no_copy():
    body = "    self.total += self.loss(x).item()\n    d['a'] = d.get('a', 0.0) + self.loss(y).item()\n"
    program = HEAD + "def f(self, x: torch.Tensor, y: torch.Tensor, d):\n" + body
    program = program.replace("self.loss(", "other(").replace("def f", "def other(x):\n    return x.sum()\n\n\ndef f")
    after = rewritten(program, "keep-tensor", unsafe=True)
    assert ".clone()" not in after


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("a, b = x.sum().item(), (y > 0).sum().item()", "a, b = x_sum, int(sum_value)"),
        ("return x, x.sum().item(), (y > 0).any().item()", "return x, x_sum, bool(any_value)"),
    ],
)
def test_an_integer_among_fractions_is_one_afterwards(line, made):
    tail = "" if line.startswith("return") else "    return a, b\n"
    program = f"{X}    {line}\n{tail}"
    after = rewritten(program, "read-together", unsafe=True)
    assert f"    {made}\n" in after
    same(program, after, two)


@pytest.mark.parametrize(
    "line",
    [
        "z[m] = x[m].max()",
        "z[m] = x[m][0]",
        "v = x[m]\n        z[m] = v.amin()",
        "z[m] = torch.max(x[m])",
    ],
)
def test_what_no_element_has_is_asked_behind_its_guard(line):
    program = f"{X}    m = x > 9\n    z = y * 1\n    if m.any():\n        {line}\n    return z\n"
    assert not fixes(program, "unwrap-guard")
    same(program, rewritten(program, unsafe=True) or program, two)


def test_of_two_dtypes_the_common_one_is_told():
    told = [fix.message for fix in fixes(X + "    return max(x.mean(), y.long().sum())\n", "maximum")]
    assert told
    assert all("common dtype" in one for one in told)
    assert "common" not in fixes(X + "    return max(x.mean(), y.mean())\n", "maximum")[0].message


HOLDER = """\
import torch
from dataclasses import dataclass


class Holder:
    def __init__(self):
        self.total, self.rest, self.parts, self.history = 0.0, 5.0, {"a": 0.0}, []

    def step(self, x: torch.Tensor):
BODY
        self.history.append((self.total, self.rest, self.parts["a"]))


def f(x: torch.Tensor, y: torch.Tensor):
    held = Holder()
    held.step(x)
    held.step(y)
    held.step(y)
    return [[float(one) for one in row] for row in held.history]
"""


def test_a_sum_that_others_were_given_does_not_grow():
    """To a tensor is added in place, to a number it is not."""
    body = (
        "        self.total += x.sum().item()\n        self.rest -= x.sum().item() + 1.0\n"
        '        self.parts["a"] += x.mean().item() * 2'
    )
    program = HOLDER.replace("BODY", body)
    after = rewritten(program, "keep-tensor", unsafe=True)
    assert "self.total = self.total + x.sum().detach()\n" in after
    assert "self.rest = self.rest - (x.sum().detach() + 1.0)\n" in after
    assert 'self.parts["a"] = self.parts["a"] + x.mean().detach() * 2\n' in after
    same(program, after, two, exact=False)


def test_a_number_on_the_way_into_a_sum_makes_it_a_new_one():
    program = HOLDER.replace("BODY", "        n = x.sum().item()\n        self.total += n")
    after = rewritten(program, "keep-tensor", unsafe=True)
    assert "self.total = self.total + n\n" in after


@pytest.mark.parametrize(
    "head",
    [
        "@dataclass\nclass C:\n    mean: float = 0.0\n",
        "class C:\n    def __init__(self):\n        self.mean: float = 0.0\n",
        "class C:\n    other: int\n    mean: list[float]\n",
    ],
)
def test_a_member_that_is_said_to_be_a_number_stays_one(head):
    end = "    def step(self, x: torch.Tensor):\n        self.mean = x.mean().item()\n\n    last = 0\n"
    program = f"from dataclasses import dataclass\n{HEAD}{head}\n{end}"
    assert not fixes(program, "keep-tensor")
    assert fixes(program.replace("mean:", "median:"), "keep-tensor")


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("self.a = loss.float().item()", "loss.float().detach().clone()"),
        ("self.a = loss.contiguous().item()", "loss.contiguous().detach().clone()"),
        ("self.a = x.mean().float().item()", "x.mean().float().detach()"),
        ("self.a = self.gather(x).mean().item()", "self.gather(x).mean().detach()"),
        ("self.a = self.gather(x).item()", "self.gather(x).detach().clone()"),
    ],
)
def test_only_what_may_be_written_later_is_copied(line, made):
    program = f"{HEAD}def f(self, x: torch.Tensor):\n    loss = x.sum()\n    {line}\n    loss.add_(1)\n"
    assert f"self.a = {made}\n" in rewritten(program, "keep-tensor", unsafe=True)


def test_what_runs_once_asserts_in_python():
    program = HEAD + "def test_f():\n    x = torch.ones(3, device='cuda')\n    assert (x > 0).all()\n"
    assert not fixes(program, "assert-async")
    assert fixes(X + "    assert (x > 0).all()\n    return x\n", "assert-async")


@pytest.mark.parametrize(
    "row",
    ["{'a': y.norm().item(), 'b': float(table['low'])}", "[y.norm().item(), float(len(x))]"],
)
def test_a_number_in_a_row_of_numbers_stays_one(row):
    program = X.replace("x:", "self, table, x:") + f"    self.summary = {row}\n"
    assert not fixes(program, "keep-tensor")
    assert fixes(program.replace("float(len(x))", "x").replace("float(table['low'])", "x"), "keep-tensor")
