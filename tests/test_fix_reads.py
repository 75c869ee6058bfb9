"""accumulate-on-device, read-together, keep-tensor: fewer reads, the same numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import Later, fixes, rewritten, same  # noqa: E402
from tensors import tensors  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n"
SUM = (
    HEAD
    + """\
    total, rows = 0.0, 0
    for row in x:
        loss = (row * 2).mean()
        total += loss.item() * len(row)  # the sum
        rows += 1
    return total, rows, total / max(rows, 1)
"""
)
COUNT = (
    HEAD
    + """\
    count = 0
    for row in x:
        count = count + int((row > 0).sum())
    return count
"""
)
GATED = (
    HEAD
    + """\
    total, seen = 0.0, []
    for step, row in enumerate(x):
        total += row.mean().item()
        if step % 2 == 0:
            seen.append(total)
            total = 0.0
    return total, seen
"""
)
LIST = (
    HEAD
    + """\
    losses = []
    for row in x:
        losses.append(row.mean().item())
    return losses, len(losses)
"""
)
PASSED = (
    HEAD
    + """\
    total, last = 0.0, None
    for step, row in enumerate(x):
        value = row.mean().item()
        total += value
        if step % 3 == 0:
            last = value
    return total, last
"""
)
ELEMENT = (
    HEAD
    + """\
    found = []
    for i in range(x.size(0)):
        found.append(float(y[i].item()) + 1)
        found.append(len(x[: i + 1]))
    return found
"""
)
BOUND = (
    HEAD
    + """\
    starts = torch.arange(x.size(0), device=x.device)
    return [x[starts[i] : starts[i] + 2] for i in range(x.size(0))]
"""
)
EACH = (
    HEAD
    + """\
    found = []
    for v in y:
        found.append(v.item() * 2)
    return found, [float(w) for w in y]
"""
)
SAME = (
    HEAD
    + """\
    low = y.mean().item()
    high = y.norm().item()
    return {"low": low, "high": high, "most": float((y * 0.5).exp().sum().item()), "mean": y.mean().item()}
"""
)
STORED = (
    HEAD
    + """\
    seen = torch.zeros(x.size(0), device=x.device, dtype=x.dtype)
    for i, row in enumerate(x):
        seen[i] = row.sum().item()
    return seen
"""
)
SAFE = {
    "accumulate-on-device": (SUM, COUNT, GATED, LIST, PASSED),
    "read-together": (ELEMENT, BOUND, EACH, SAME),
    "keep-tensor": (STORED,),
}
PROGRAMS = [(recipe, program) for recipe, programs in SAFE.items() for program in programs]
RECIPES = {program: recipe for recipe, program in PROGRAMS}
AFTER = Later(lambda program: rewritten(program, RECIPES[program]))


@pytest.mark.parametrize(
    ("program", "lines"),
    [
        (SUM, ["total += loss.detach().double() * len(row)  # the sum", "    total = float(total)"]),
        (COUNT, ["count = count + (row > 0).sum()", "    count = int(count)"]),
        (
            GATED,
            [
                "total += row.mean().detach().double()",
                "seen.append(total.detach().clone())",
                "    total = float(total)",
            ],
        ),
        (LIST, ["losses.append(row.mean().detach())", "    losses = torch.stack(losses).tolist() if losses else []"]),
        (PASSED, ["value = row.mean().detach()", "total += value.double()", "last = float(value)"]),
        (ELEMENT, ["    y_list = y.flatten().tolist()\n    for i in", "found.append(float(y_list[i]) + 1)"]),
        (BOUND, ["starts_list = starts.tolist()", "x[starts_list[i] : starts_list[i] + 2]"]),
        (EACH, ["for v in y.flatten().tolist():", "found.append(v * 2)"]),
        (SAME, ["low, high = torch.stack((y.mean(), y.norm())).tolist()"]),
        (STORED, ["seen[i] = row.sum().detach()"]),
    ],
)
def test_rewrites(program, lines):
    assert [line for line in lines if line not in AFTER[program]] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows += 1", "rows += 1\n        print(total)"),
        ("rows += 1", "rows += 1\n        if total > 3:\n            break"),
        ("total += loss.item()", "total += int(loss.item())"),
        ("total += loss.item()", "total += round(loss.item(), 2)"),
        ("total += loss.item()", "total += 1 / loss.item()"),
        ("total += loss.item()", "total *= loss.item()"),
        ("total, rows = 0.0, 0", "total, rows = x.new_zeros(2)"),
        ("    return total", "    def g():\n        return total\n    return g(), total"),
    ],
)
def test_a_sum_that_the_loop_needs_stays(old, new):
    assert old in SUM
    assert not fixes(SUM.replace(old, new), "accumulate-on-device")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for i in", "y = y * 1\n    for i in"),
        ("    return found", "        y[i] = 0\n    return found"),
        ("    return found", "        y.add_(1)\n    return found"),
        ("    return found", "        y = y + 1\n    return found"),
        ("    return found", "        change(y)\n    return found"),
        ("y[i].item()", "y[0].item()"),
    ],
)
def test_elements_that_may_change_are_read_each_time(old, new):
    program = ELEMENT.replace(old, new)
    assert program != ELEMENT
    compile(program, "", "exec")
    found = [fix for fix in fixes(program, "read-together") if "before the loop" in fix.message]
    assert bool(found) == (new.startswith("y = y * 1"))


def test_a_tensor_that_is_written_later_is_copied():
    program = LIST.replace("row.mean().item()", "y[0].item()").replace("    return", "        y.add_(1)\n    return")
    assert "losses.append(y[0].detach().clone())" in rewritten(program, unsafe=True)


def test_numbers_of_different_kinds_are_read_together_only_when_asked():
    program = HEAD + "    return {'a': y.mean().item(), 'n': (y > 0).sum().item()}\n"
    assert rewritten(program, "read-together") is None
    assert "a, n = torch.stack((y.mean(), (y > 0).sum())).tolist()" in rewritten(program, "read-together", unsafe=True)
    maybe = HEAD + "    return y.mean().item() or y.sum().item()\n"
    assert rewritten(maybe, "read-together", unsafe=True) is None


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("self.last = y.sum().item()", "self.last = y.sum().detach()"),
        ("sums['a'] = sums.get('a', 0.0) + float(y.sum().item())", "sums.get('a', 0.0) + y.sum().detach()"),
        ("return {'a': y.sum().item()}", "return {'a': y.sum().detach()}"),
        ("self.total.add_(y.sum().item())", "self.total.add_(y.sum().detach())"),
        ("self.total += y.sum().item()", "self.total = self.total + y.sum().detach()\n"),
        ("self.total += (y.float() + 1).mean().item()", "self.total + (y.float() + 1).mean().detach().double()"),
        ("self.total += (y > 0).sum().item()", "self.total = self.total + (y > 0).sum()"),
    ],
)
def test_what_is_only_stored_may_stay_a_tensor(line, kept):
    program = f"import torch\n\n\ndef f(self, sums, y: torch.Tensor):\n    {line}\n"
    assert rewritten(program, "keep-tensor") is None
    assert kept in rewritten(program, "keep-tensor", unsafe=True)


@pytest.mark.parametrize(
    "line",
    [
        "return range(int(y.sum().item()))",
        "return f'{y.sum().item()}'",
        "return str(y.sum().item()) + 'a'",
        "self.text = 'a' + str(y.sum().item())",
        "self.n = int(y.mean().item())",
        "self.meter.update(y.mean().item())",
        "return y.item()",
        "return {name: one.item() for name, one in sums.items()}",
        "self.token = self.encode('a').int().item()",
    ],
)
def test_what_the_host_needs_stays_a_number(line):
    assert not fixes(f"import torch\n\n\ndef f(self, sums, y: torch.Tensor):\n    {line}\n", "keep-tensor")


def test_a_sum_in_a_precision_of_its_own_says_so():
    (fix,) = fixes("import torch\n\n\ndef f(self, y: torch.Tensor):\n    self.total += y.sum().item()\n", "keep-tensor")
    assert "added up in its own precision" in fix.message


@pytest.mark.parametrize(("recipe", "program"), PROGRAMS)
@settings(deadline=None, max_examples=40)
@given(n=st.integers(0, 4), data=st.data())
def test_gives_the_same(recipe, program, n, data):
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.float16]))
    grad = data.draw(st.booleans()) and program is not STORED
    x = data.draw(tensors([n, data.draw(st.integers(1, 3))], dtype, grad))
    y = data.draw(tensors([n], dtype))
    same(program, AFTER[program], lambda: (x(), y()))


def test_a_list_that_numpy_reads_keeps_its_numbers():
    program = (
        "import numpy as np\nimport torch\n\n\ndef f(losses: list[torch.Tensor]):\n    seen = []\n"
        "    for loss in losses:\n        seen.append(loss.item())\n    return {}\n"
    )
    assert not fixes(program.format("np.mean(seen)"), "keep-tensor")


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("    h, w = x[0].item(), x[1].item()\n    return h, w\n", "    h, w = x[:2].flatten().tolist()\n"),
        ("    a = int(x[1])\n    b = int(x[2])\n    return a, b\n", "    a, b = map(int, x[1:3].flatten().tolist())\n"),
        (
            "    z = torch.arange(9, device=x.device) * 2\n    return [z[2].item(), z[3].item()]\n",
            "    z_2, z_3 = z[2:4].tolist()\n",
        ),
    ],
)
def test_neighbours_of_a_tensor_are_a_piece_of_it(body, made):
    program = f"import torch\n\n\ndef f(x: torch.Tensor):\n{body}"
    after = rewritten(program)
    assert made in after
    for x in (torch.arange(5), torch.arange(5.0) / 2, torch.arange(5.0)[:, None]):
        same(program, after, lambda x=x: (x,))


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("    a, b = x[i, 0].item(), x[i, 1].item()\n    return a, b\n", "    a, b = x[i, :2].flatten().tolist()\n"),
        ("    a, b = x[2, 1].item(), x[2, 2].item()\n    return a, b\n", "    a, b = x[2, 1:3].flatten().tolist()\n"),
        ("    y = x[1:2]\n    return [y[:, 0].item(), y[:, 1].item()]\n", "y[:, :2].flatten().tolist()\n"),
        ("    a, b = x[1, None, 0].item(), x[1, None, 1].item()\n    return a, b\n", "x[1, None, :2].flatten()"),
    ],
)
def test_neighbours_in_a_row_are_a_piece_of_it(body, made):
    program = f"import torch\n\n\ndef f(x: torch.Tensor, i: torch.Tensor):\n{body}"
    after = rewritten(program, unsafe=True)
    assert made in after
    for i in (torch.tensor(2), torch.tensor([1])):
        same(program, after, lambda i=i: (torch.rand(3, 4), i))


def test_a_key_stays_what_it_is_among_other_numbers():
    program = "import torch\n\n\ndef f(labels{}, weights):\n    counts = [0.0, 0.0]\n"
    program += "    for i, x in zip(labels, weights):\n        counts[i.item()] += x.sum().item()\n    return counts\n"
    assert not fixes(program.format(""), "read-together")


@pytest.mark.parametrize("pair", ["x[i, 0].item(), x[1, 1].item()", "x[i, 0].item(), x[0, i, 1].item()"])
def test_other_rows_are_stacked(pair):
    program = f"import torch\n\n\ndef f(x: torch.Tensor, i: torch.Tensor):\n    a, b = {pair}\n    return a, b\n"
    assert "torch.stack(" in rewritten(program, unsafe=True)


@pytest.mark.parametrize("pair", ["x[0].item(), x[2].item()", "x[1].item(), x[0].item()", "x[-2].item(), x[-1].item()"])
def test_others_are_stacked(pair):
    program = f"import torch\n\n\ndef f(x: torch.Tensor):\n    a, b = {pair}\n    return a, b\n"
    after = rewritten(program, unsafe=True)
    assert "torch.stack(" in after
    same(program, after, lambda: (torch.arange(5.0),))


NAMED = {
    "a parameter": """\
def f(mask: torch.Tensor, rows):
    n = 0
    for row in rows:
        n += mask[row].sum().item()
    return n
""",
    "two reads": """\
def f(mask: torch.Tensor, rows):
    s = mask.sum(-1)
    a = int(s[-1].item())
    b = int(s[-2].item())
    return a, b
""",
    "a member": """\
class Box:
    def __init__(self, mask: torch.Tensor):
        self.mask = mask

    def count(self):
        a = int(self.mask[0].sum().item())
        b = int(self.mask.sum().item())
        return a, b


def f(x: torch.Tensor, rows):
    return Box(x).count()
""",
    "what a function gives": """\
def pick(x: torch.Tensor):
    mask = x * 1
    return mask


def f(x: torch.Tensor, rows):
    a, b = int(pick(x)[0].sum().item()), int(pick(x).sum().item())
    return a, b
""",
}


@pytest.mark.parametrize("how", NAMED)
@pytest.mark.parametrize("unsafe", [False, True])
def test_a_name_is_no_proof_of_a_dtype(how, unsafe):
    """A `mask` may hold fractions: what is made a whole number of its sum stays so, and nothing else becomes one."""
    program = f"import torch\n\n\n{NAMED[how]}"
    after = rewritten(program, unsafe=unsafe) or program
    for x in (torch.tensor([[0.25, 1.0], [0.5, 0.75]]), torch.tensor([[0.25, 1.75], [0.5, 0.75]]).double()):
        same(program, after, lambda x=x: (x, [0, 1]))


@pytest.mark.parametrize("view", ["loss.view(1)", "loss", "loss.detach()", "loss[None]"])
def test_what_a_view_writes_is_not_read_later(view):
    program = (
        HEAD
        + f"""\
    losses = []
    for row in x:
        loss = (row * 2).mean()
        losses.append(loss.item())
        same = {view}
        same.mul_(2)
    return losses
"""
    )
    after = rewritten(program)
    assert "losses.append(loss.detach().clone())" in after
    same(program, after, lambda: (torch.rand(3, 2), torch.rand(1)))
