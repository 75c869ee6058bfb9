"""where-return, where-choose, clamp-guard, clamp-number: the same values and gradients on both branches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import Later, fixes, function, rewritten, same  # noqa: E402
from tensors import tensors  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, n: torch.Tensor):\n"
RETURN = (
    HEAD
    + """\
    if not (x > 0).any():  # nothing
        return x.sum() * 0.0
    y = x.exp()
    return y.mean()
"""
)
BOTH = (
    HEAD
    + """\
    if n.sum() > 2:
        return x.sum()
    else:
        return x.mean()
"""
)
TERNARY = HEAD + "    return x.sum() * 2 if x.mean() > 0 else x.sum() * 3\n"
DIVIDED = HEAD + "    k = (n > 0).sum()\n    return x.sum() / k if k > 0 else x.new_tensor(0.0)\n"
ASSIGNED = (
    HEAD
    + """\
    y = x * 2
    if x.mean().item() > 0:
        y = y + 1
    return y
"""
)
EITHER = (
    HEAD
    + """\
    if not n.sum() > 2:
        y = x * 2
    else:
        y = x * 3
    return y
"""
)
GUARD = (
    HEAD
    + """\
    k = (n > 0).sum()
    y = x * 1
    if k > 0:
        # the mean
        y = x / k
    return y * k
"""
)
CLIP = (
    HEAD
    + """\
    coef = n.abs().float().sum() / 4
    y = x * 1
    if coef < 1:
        y.mul_(coef)
    return y
"""
)
MAX = HEAD + "    return x / max(1, (n > 0).sum())\n"
MIN = HEAD + "    return x * min((n > 0).sum().item(), 2)\n"
PROGRAMS = {
    RETURN: ("where-return", "return torch.where((x > 0).any(), y.mean(), x.sum() * 0.0)"),
    BOTH: ("where-return", "return torch.where(n.sum() > 2, x.sum(), x.mean())"),
    TERNARY: ("where-choose", "return torch.where(x.mean() > 0, x.sum() * 2, x.sum() * 3)"),
    DIVIDED: ("where-choose", "return torch.where(k > 0, x.sum() / k.clamp(min=1), 0.0)"),
    ASSIGNED: ("where-choose", "y = torch.where(x.mean() > 0, y + 1, y)"),
    EITHER: ("where-choose", "y = torch.where(n.sum() > 2, x * 3, x * 2)"),
    GUARD: ("clamp-guard", "    # the mean\n    y = x / k.clamp(min=1)"),
    CLIP: ("clamp-guard", "    y.mul_(coef.clamp(max=1.0))"),
    MAX: ("clamp-number", "return x / (n > 0).sum().clamp(min=1)"),
    MIN: ("clamp-number", "return x * (n > 0).sum().clamp(max=2)"),
}
AFTER = Later(lambda program: rewritten(program, PROGRAMS[program][0], unsafe=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewrites_only_when_asked(program):
    recipe, line = PROGRAMS[program]
    assert line in AFTER[program]
    assert {fix.tier for fix in fixes(program, recipe)} == {"unsafe"}
    assert fixes(AFTER[program], recipe) == []


@pytest.mark.parametrize(
    "body",
    [
        "    if x.any():\n        return None\n    return x.sum()\n",
        "    if x.any():\n        print(1)\n        return x.sum()\n    return x.mean()\n",
        "    if x.any():\n        return x\n    return x.mean()\n",
        "    if x.any():\n        raise ValueError\n    return x.sum()\n",
        "    if x.any():\n        return x.sum()\n    n.add_(1)\n    return x.mean()\n",
        "    return 'a' if x.any() else 'b'\n",
        "    return [] if x.any() else x\n",
        "    return torch.rand(()) if x.any() else x.sum()\n",
        "    return x.add_(1) if x.any() else x\n",
        "    y = None\n    if x.any():\n        y = x\n    return y\n",
        "    if x.any():\n        y = x * 2\n    return y\n",
        "    c = x.sum()\n    if c < 1:\n        n.mul_(c)\n        print(c)\n    return n\n",
        "    c = x.sum()\n    if c > 1:\n        n.mul_(c)\n    return n\n",
        "    c = x.sum()\n    if c < 2:\n        n.mul_(c)\n    return n\n",
        "    c = x.sum()\n    if c < 1:\n        n.mul_(c)\n    else:\n        n.mul_(2)\n    return n\n",
        "    c = x.sum()\n    if c < 1:\n        n.div_(c)\n    return n\n",
        "    k = x.mean()\n    if k > 0:\n        n = n / k\n        print(n)\n    return n\n",
        "    return max(x.sum(), n.sum(), 1)\n",
        "    return max([x.sum(), 1])\n",
        "    return max(x.sum().item(), 1, key=abs)\n",
    ],
)
def test_leaves_alone(body):
    assert not [fix for fix in fixes(HEAD + body) if fix.recipe in {name for name, _ in PROGRAMS.values()}]


@pytest.mark.parametrize(
    "body",
    [
        "    if not x.sum():\n        return x.sum()\n    k = torch.nonzero(x).view(-1)\n    return 1.0 / k[0]\n",
        "    if x.sum() > 2:\n        return x[x > 1].max()\n    return x.sum()\n",
        "    return x[n > 0].max() if (n > 0).any() else x.sum()\n",
    ],
)
def test_what_may_be_empty_stays_behind_its_test(body):
    assert not [fix for fix in fixes(HEAD + body) if fix.recipe in ("where-return", "where-choose")]


def test_a_branch_that_goes_takes_an_empty_line_with_it():
    body = "    y = x * 2\n\n    if x.sum():\n        return x.sum()\n\n    z = y.exp()\n    return z.mean()\n"
    after = rewritten(HEAD + body, "where-return", unsafe=True)
    assert "    y = x * 2\n\n    z = y.exp()\n    return torch.where(x.sum() != 0, x.sum(), z.mean())\n" in after


def test_what_the_host_reads_of_a_larger_one_is_read_together():
    """Of `int(max(a, b))` one wait is left, and with all elements read before the loop none."""
    body = "    a = []\n    for i in range(len(x)):\n        a.append(int(max(x[i].item(), n[i].item())) + 1)\n"
    body += "    return a\n"
    after = rewritten(HEAD + body, unsafe=True)
    assert "int(max(x_list[i], n_list[i])) + 1" in after


SET = (
    HEAD
    + """\
    a = torch.zeros(3, device=x.device)
    b = torch.ones(3, device=x.device)
    for i in range(3):
        m = x > i
        share = m.double().mean()
        if share.item() > 0:
            a[i] = x.sum() / 3
            b[i] = share
    return a, b
"""
)


def test_elements_are_set_whatever_the_test_says():
    after = AFTER_SET[SET]
    assert "        holds = share > 0\n        a[i] = torch.where(holds, x.sum() / 3, a[i])\n" in after
    assert "        b[i] = torch.where(holds, share, b[i])\n" in after
    assert {fix.tier for fix in fixes(SET, "where-choose")} == {"unsafe"}
    single = SET.replace("            b[i] = share\n", "").replace("share.item() > 0", "not share > 0")
    assert "        a[i] = torch.where(share > 0, a[i], x.sum() / 3)\n" in rewritten(single, unsafe=True)


AFTER_SET = Later(lambda program: rewritten(program, "where-choose", unsafe=True))


@settings(deadline=None, max_examples=40)
@given(shape=st.lists(st.integers(0, 3), max_size=2), data=st.data())
def test_elements_are_the_same(shape, data):
    x, n = (data.draw(tensors(shape, torch.float32, False)) for _ in range(2))
    same(SET, AFTER_SET[SET], lambda: (x(), n()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[i] = x.sum() / 3", "a[i] = x[m].max()"),  # which fails for no element
        ("a[i] = x.sum() / 3", "a[i] = x.add_(1).sum()"),
        ("a[i] = x.sum() / 3", "a[i] = x.sum()\n            print(i)"),
        ("b[i] = share", "share[...] = 0"),
        ("share.item() > 0", "b[i] > 0"),  # what it writes it asks
        ("a[i] =", "a[m] ="),
        ("device=x.device", "device='cpu'"),
        ("b[i] = share", "b[i] = share  # why"),
    ],
)
def test_elements_stay_behind_such_a_test(old, new):
    assert not fixes(SET.replace(old, new), "where-choose")


@pytest.mark.parametrize("coef", [0.25, 1.0, 4.0])
def test_gradients_are_clipped_and_never_scaled_up(coef):
    """A clip by `max` instead of `min` once scaled gradients up."""
    program = """\
import torch


def f(params, norm: torch.Tensor):
    coef = 1.0 / (norm + 1e-6)
    if coef < 1:
        for p in params:
            p.grad.detach().mul_(coef.to(p.grad.device))
    return [p.grad for p in params]
"""
    after = rewritten(program, "clamp-guard", unsafe=True)
    assert "p.grad.detach().mul_(coef.clamp(max=1.0).to(p.grad.device))" in after
    grads = []
    for source in (program, after):
        params = [torch.nn.Parameter(torch.ones(3)) for _ in range(2)]
        for p in params:
            p.grad = torch.full((3,), 2.0)
        grads.append(function(source)(params, torch.tensor(1 / coef)))
    for one, other in zip(*grads):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
        assert (other <= 2).all()


def test_two_reads_become_a_call_with_both():
    """`torch.maximum(a b)` without the comma once called a tensor."""
    after = rewritten(HEAD + "    return max(x.max().item(), 0.5)\n", unsafe=True)
    assert after == HEAD + "    return x.max().clamp(min=0.5)\n"


@pytest.mark.parametrize("program", PROGRAMS)
@settings(deadline=None, max_examples=40)
@given(shape=st.lists(st.integers(1, 3), max_size=2), data=st.data())
def test_gives_the_same(program, shape, data):
    finite = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 100.0, 1e-3)
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    x = data.draw(tensors(shape, dtype, data.draw(st.booleans()), numbers=finite))
    n = data.draw(tensors([3], torch.int64))
    same(program, AFTER[program], lambda: (x(), n()), exact=False)


STATED = "import torch\n\n\n"
SAVED = (
    STATED
    + """\
class Density(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z: torch.Tensor):
        ctx.small = z < -5
        if ctx.small.any():
            ctx.rest = z * 2
        return z

    @staticmethod
    def backward(ctx, grad: torch.Tensor):
        near = ctx.small
        out = grad.clone()
        small = grad < -5
        if small.any():
            out[small] = ctx.rest[small]
        return out
"""
)
LOCAL = (
    STATED
    + """\
def f(x: torch.Tensor):
    out, m = x * 1, x > 0
    if m.any():
        rest = x * 2
        print(1)
    if m.any():
        out[m] = rest[m]
    return out
"""
)


@pytest.mark.parametrize(
    ("program", "old", "new"),
    [
        (SAVED, "        if ctx.small.any():\n            ctx.rest", "        ctx.rest"),
        (LOCAL, "    if m.any():\n        rest = x * 2\n        print(1)\n", "    rest = x * 2\n"),
    ],
)
def test_what_another_branch_binds_keeps_its_test(program, old, new):
    assert not fixes(program, "unwrap-guard")
    assert old in program
    assert [fix.tier for fix in fixes(program.replace(old, new), "unwrap-guard")] == ["unsafe"]


@pytest.mark.parametrize(
    ("size", "made"),
    [
        ("n", True),
        ("x.size(1)", True),
        ("n or 0", False),
        ("0", False),
        ("x.numel()", False),
        ("len(x)", False),
        ("most", False),
        ("n if n else 0", False),
    ],
)
def test_a_least_number_of_places_is_not_their_number(size, made):
    program = (
        f"{STATED}def f(x: torch.Tensor, n=None):\n    most = n or 0\n    return torch.bincount(x, minlength={size})\n"
    )
    assert bool(fixes(program, "scatter-count")) is made


@pytest.mark.parametrize(
    "side",
    ["torch.tensor([x.sum(), 1.0], device=x.device)", "x.sum() * torch.tensor([1.0, 2.0], device=x.device)"],
)
def test_what_is_chosen_waits_no_more(side):
    program = f"{STATED}def f(x: torch.Tensor):\n    return {side} if x.mean() > 0 else {side} * 2\n"
    assert not fixes(program, "where-choose")


@pytest.mark.parametrize(
    ("returns", "body"),
    [
        (" -> bool", "return x.unique().numel() == 1"),
        (" -> int", "return x.unique().numel()"),
        ("", "return min(k, x.unique().numel())"),
        ("", "n = x.unique().numel()\n    return min(k, n)"),
        ("", "n = x.unique().numel()\n    return int(n) * 2"),
    ],
)
def test_a_count_that_the_host_needs_stays(returns, body):
    program = f"{STATED}def f(x: torch.Tensor, k: int){returns}:\n    {body}\n"
    assert not fixes(program, "sort-and-count")
    kept = f"{STATED}def f(x: torch.Tensor, k: int):\n    return x.unique().numel() * 2\n"
    assert [fix.tier for fix in fixes(kept, "sort-and-count")] == ["unsafe"]
