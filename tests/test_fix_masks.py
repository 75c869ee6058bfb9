"""where-assign, masked-reduction, ignore-index, sort-and-count, class-count: no mask is counted, the same results."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import Later, codes, fixes, rewritten, same  # noqa: E402
from tensors import tensors  # noqa: E402

HEAD = "import torch\nimport torch.nn.functional as F\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n"
FINITE = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0)
CLAMPED = HEAD + "    z = x * 1\n    m = z > 0.25\n    z[m] = y[m] * 2 - 1\n    return z\n"
SCALED = HEAD + "    z = x * 1\n    z[z < 0] *= 0.5\n    return z\n"
FLAT = "    x, y = x.reshape(-1, 1), y.reshape(-1, 1)\n"
ROWS = HEAD + FLAT + "    z = x * 1\n    m = y.sum(dim=-1) > 0\n    z[m] = y[m] + 1\n    return z\n"
TOTAL = HEAD + "    return x[x > 0].sum(), x[x > 9].sum()\n"
MEAN = HEAD + FLAT + "    m = y.flatten() > 0\n    kept = x[m]\n    return kept.mean()\n"
PICKED = (
    HEAD
    + "    m = (x > 0).flatten()\n"
    + "    v = x.flatten()\n    index = torch.nonzero(m).squeeze(1)\n    return v[index].sum()\n"
)
APART = HEAD + "    m = x > 0.25\n    return (x[m] - y[m]).abs().mean()\n"
SQUARES = HEAD + "    m = x > 0.25\n    p = x[m]\n    t = y[m]\n    return ((p - t) ** 2).sum()\n"
ERRORS = (
    HEAD + "    m = x > 0.25\n    p = x[m]\n    return F.mse_loss(p, y[m] * 2), F.huber_loss(x[m], y[m], delta=2.0)\n"
)
LOSS = (
    HEAD
    + """\
    target = (y * 3).long().clamp(0, 2).flatten()
    scores = x.reshape(-1, 1).expand(-1, 3) * torch.arange(3.0, device=x.device)
    m = target != 0
    kept = target[m]
    return F.cross_entropy(scores[m], kept)
"""
)
LOSSES = (
    HEAD
    + """\
    target = (y * 3).long().clamp(0, 2)
    scores = x.unsqueeze(-1) * torch.arange(3.0, device=x.device)
    m = target != 1
    return F.cross_entropy(scores[m], target[m], ignore_index=7, reduction="sum")
"""
)
UNIQUE = HEAD + "    return x.unique().numel(), len(torch.unique(y))\n"
LABELS = HEAD + "    label = (y * 2).long()\n    m = x > 0\n    n = torch.unique(label[m]).size(0)\n    return n\n"
ONE_HOT = HEAD + "    best = x.argmax(dim=-1)\n    return F.one_hot(best) * x\n"
PROGRAMS = {
    CLAMPED: ("where-assign", "z.copy_(torch.where(m, y * 2 - 1, z))"),
    SCALED: ("where-assign", "z.copy_(torch.where(z < 0, z * 0.5, z))"),
    ROWS: ("where-assign", "z.copy_(torch.where(m.unsqueeze(-1), y + 1, z))"),
    TOTAL: ("masked-reduction", "return torch.where(x > 0, x, 0).sum(), torch.where(x > 9, x, 0).sum()"),
    MEAN: ("masked-reduction", "/ (m.sum() * x.size(-1))"),
    PICKED: ("masked-reduction", "v, 0).sum()"),
    APART: ("masked-reduction", "return torch.where(m, (x - y).abs(), 0).sum() / m.sum()"),
    SQUARES: ("masked-reduction", "    m = x > 0.25\n    return torch.where(m, (x - y) ** 2, 0).sum()\n"),
    ERRORS: ("masked-reduction", 'torch.where(m, F.huber_loss(x, y, delta=2.0, reduction="none"), 0).sum() / m.sum()'),
    LOSS: ("ignore-index", "target.masked_fill(~m, -100)"),
    LOSSES: ("ignore-index", "scores.flatten(0, -2), target.masked_fill(~m, 7).flatten(), ignore_index=7"),
    UNIQUE: ("sort-and-count", ".flatten().sort().values"),
    LABELS: ("sort-and-count", ".any()"),
    ONE_HOT: ("class-count", "F.one_hot(best, num_classes=x.size(-1))"),
}
AFTER = Later(lambda program: rewritten(program, PROGRAMS[program][0], unsafe=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewrites(program):
    _, line = PROGRAMS[program]
    assert line in AFTER[program]
    assert codes(AFTER[program]) == []


@pytest.mark.parametrize(
    "body",
    [
        "    z = x[y > 0]\n    return z.sum() + len(z)\n",
        "    return x[y > 0].sum(dim=0)\n",
        "    return x[y > 0].sort()\n",
        "    m = y > 0\n    z = x[m]\n    x = x + 1\n    return z.sum()\n",
        "    m = y > 0\n    z = x[m]\n    x.add_(1)\n    return z.sum()\n",
        "    m = y > 0\n    z = x[m]\n    m = y > 1\n    return z.sum()\n",
        "    return F.cross_entropy(x[y > 0], y[y > 1].long())\n",
        "    return F.cross_entropy(x[y > 0], y[y > 0], reduction='none')\n",
        "    return F.mse_loss(x[y > 0], y[y > 1])\n",
        "    return F.mse_loss(x[y > 0], y[y > 0], reduction='none')\n",
        "    return torch.unique(x, dim=0).numel()\n",
        "    return torch.unique(x, return_counts=True)\n",
        "    u = torch.unique(x)\n    return u.numel(), u\n",
        "    x[y > 0] = y[y > 0].cumsum(0)\n    return x\n",
        "    x[y > 0] = y[y > 1]\n    return x\n",
        "    x[y > 0, 0] = y[y > 0]\n    return x\n",
        "    x[y > 0] = torch.rand_like(y)[y > 0]\n    return x\n",
        "    return F.one_hot(y.long())\n",
        "    m = y > 0\n    return x[m] / x[m].sum()\n",  # the mask is counted all the same
    ],
)
def test_leaves_alone(body):
    assert not [fix for fix in fixes(HEAD + body) if fix.recipe in {name for name, _ in PROGRAMS.values()}]


def test_what_a_mask_keeps_out_of_a_divisor_stays_out():
    """Of what the mask was computed from the gradient would be NaN there."""
    for value in ("1 / x[m]", "(x[m] - 1).log()", "(2 / x[m].sqrt()) ** 2"):
        body = f"    z = x * 1\n    m = x > 0\n    z[m] = {value}\n    return z, ({value}).mean()\n"
        assert not fixes(HEAD + body, "where-assign") + fixes(HEAD + body, "masked-reduction")
        off = HEAD.replace("def f", "@torch.no_grad()\ndef f")
        assert fixes(off + body, "where-assign")


@pytest.mark.parametrize("program", PROGRAMS)
@settings(deadline=None, max_examples=50)
@given(shape=st.lists(st.integers(1, 3), min_size=1, max_size=2), data=st.data())
def test_gives_the_same(program, shape, data):
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    grad = data.draw(st.booleans())
    wide = (*FINITE, float("inf"), float("nan")) if program in (CLAMPED, SCALED, ROWS) and not grad else FINITE
    x = data.draw(tensors(shape, dtype, grad and program not in (UNIQUE, ONE_HOT), numbers=wide))
    y = data.draw(tensors(shape, dtype, numbers=FINITE))
    if program is ONE_HOT:
        x = data.draw(tensors([2, 3], dtype, numbers=(0.0, 1.0, 2.0, 3.0)))
        if x().argmax(dim=-1).max() != 2:
            return
    same(program, AFTER[program], lambda: (x(), y()), exact=False)


def test_of_nothing_the_sum_is_zero_and_the_mean_no_number():
    for shape in ((0,), (0, 3), (2, 0)):
        same(TOTAL, AFTER[TOTAL], lambda shape=shape: (torch.rand(shape), torch.rand(shape)), exact=False)
        same(MEAN, AFTER[MEAN], lambda shape=shape: (torch.rand(shape), torch.rand(shape)), exact=False)
        same(CLAMPED, AFTER[CLAMPED], lambda shape=shape: (torch.rand(shape), torch.rand(shape)))
        same(UNIQUE, AFTER[UNIQUE], lambda shape=shape: (torch.rand(shape), torch.rand(shape)), exact=False)


TWICE = (
    HEAD
    + """\
    z = x * 1
    m = (z > 0).flatten()
    w, v = z.flatten(), y.flatten()
    a = w[m]
    b = v[m].sum() + len(a)
    w[m] = v[m] * 2
    return a, b, z
"""
)
SELECTED = (
    HEAD
    + """\
    w, v = x.flatten(), y.flatten()
    m = w > 0
    a = torch.masked_select(w, m)
    if len(x.shape):
        v = v.masked_select(m) + 1
    return a, v, w[m]
"""
)
COUNTED = HEAD + "    n = (y * 2).long().abs().flatten()\n    return torch.bincount(n, minlength=9)\n"
WRITTEN_OUT = HEAD + "    return 0, torch.bincount((y * 2).long().abs().flatten(), minlength=9).reshape(3, 3), x + 1\n"
MAYBE = HEAD + "    return torch.bincount((y * 2).long().abs().flatten(), minlength=9) if y.numel() else y\n"
MORE = {
    TWICE: ("mask-once", "m_index = torch.where(m)"),
    SELECTED: ("mask-once", "        v = v[m_index] + 1\n"),
    COUNTED: ("scatter-count", ".scatter_add_(0, n, torch.ones_like(n))"),
    WRITTEN_OUT: ("scatter-count", "    counted = (y * 2).long().abs().flatten()\n    return (\n"),
    MAYBE: ("scatter-count", "torch.ones_like((y * 2).long().abs().flatten())"),
}
MORE_AFTER = Later(lambda program: rewritten(program, MORE[program][0], unsafe=True))


@pytest.mark.parametrize("program", MORE)
@settings(deadline=None, max_examples=50)
@given(shape=st.lists(st.integers(0, 3), max_size=2), data=st.data())
def test_gives_just_the_same(program, shape, data):
    assert MORE[program][1] in MORE_AFTER[program]
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    x = data.draw(tensors(shape, dtype, data.draw(st.booleans())))
    y = data.draw(tensors(shape, dtype, numbers=FINITE))
    same(program, MORE_AFTER[program], lambda: (x(), y()))


@pytest.mark.parametrize(
    "body",
    [
        "    m = y > 0\n    x[m] = 0.0\n    return x[m]\n",
        "    m = y > 0\n    a = x[m]\n    m = y > 1\n    return a, x[m]\n",
        "    m = y > 0\n    a = x[m]\n    m.logical_not_()\n    return a, x[m]\n",
        "    m = y > 0\n    a = x[m]\n    return a, lambda: x[m]\n",
        "    m = y > 0\n    if len(y):\n        return x[m]\n    return x[m] if len(x) else y\n",
        "    m = y.long()\n    return x[m], y[m]\n",
        "    m = y > 0\n    return x.masked_select(m), m.masked_select(x > 0)\n",
        "    return torch.bincount(y.long())\n",
        "    return torch.bincount(y.long(), x, minlength=3)\n",
    ],
)
def test_leaves_these_alone(body):
    assert not fixes(HEAD + body, "mask-once")
    assert not fixes(HEAD + body, "scatter-count")


@pytest.mark.parametrize("mask", ["y > 0", "x > 3", "y.reshape(1, 3) > 0"])
@pytest.mark.parametrize("how", ["sum", "mean"])
def test_masked_select_is_for_the_last_dimensions(mask, how):
    body = f"    m = {mask}\n    return x.masked_select(m).{how}()\n"
    program = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n" + body
    after = rewritten(program, unsafe=True)
    assert "torch.where(m, x, 0).sum()" in after
    same(program, after, lambda: (torch.arange(9.0).reshape(3, 3) ** 2, torch.tensor([1.0, 0.0, 0.0])), exact=False)


@pytest.mark.parametrize(
    "line",
    ["(x[m] == y[m]).sum()", "(x[m] == y[m]).float().mean()", "((x[m] > 1) * x[m]).sum()", "(x[m] != 2).sum()"],
)
def test_what_is_compared_is_added_up(line):
    program = f"import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n    m = x < 2\n    return {line}\n"
    after = rewritten(program, unsafe=True)
    assert "x[m]" not in after
    given = [(torch.arange(6) % 3, torch.tensor([0, 1, 2, 0, 0, 1])), (torch.zeros(0), torch.zeros(0))]
    given.append((torch.linspace(-1, 4, 6), torch.full((6,), 9.0)))
    for x, y in given:
        same(program, after, lambda x=x, y=y: (x, y), exact=False)


LOOKED = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n    m = torch.arange(6, device=x.device) > 2\n"


@pytest.mark.parametrize(
    "lookup", ["torch.where(m)[0]", "torch.where(m)", "m.nonzero(as_tuple=True)", "torch.nonzero(m, as_tuple=True)[0]"]
)
def test_places_that_were_looked_up_serve_again(lookup):
    program = f"{LOOKED}    i = {lookup}\n    a = x[m] * 2\n    y[m] = x[m]\n    return a, y, i\n"
    after = rewritten(program)
    assert "    a = x[i] * 2\n    y[i] = x[" in after
    same(program, after, lambda: (torch.arange(6.0, requires_grad=True), torch.arange(1.0, 7.0)))


@pytest.mark.parametrize(
    "body",
    [
        "    i = torch.where(m)[0]\n    m[0] = True\n    a = x[m]\n",
        "    i = torch.where(m)[0]\n    i -= 1\n    a = x[m]\n",
        "    i = torch.where(m)[0]\n    i = i + 0\n    m = ~m\n    a = x[m]\n",
        "    i = 0\n    if len(x) > 9:\n        i = torch.where(m)[0]\n    a = x[m]\n",
        "    i = torch.where(~m)[0]\n    a = x[m]\n",
        "    i = torch.where(m, 1, 0)\n    a = x[m]\n",
        "    x, m = x.reshape(2, 3), m.reshape(2, 3)\n    i = torch.where(m)[0]\n    a = x[m]\n",
    ],
)
def test_places_of_another_mask_or_that_changed_do_not_serve(body):
    program = f"{LOOKED}{body}    return a, i\n"
    after = rewritten(program, unsafe=True) or program
    assert "x[i]" not in after
    same(program, after, lambda: (torch.arange(6.0), torch.arange(1.0, 7.0)))
