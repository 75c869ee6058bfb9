"""What is proven of shapes: a tensor made of another's size, a mask of rows, a sum that nobody reads any more."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402

HEAD = "import torch\n\n\n"
X = HEAD + "def f(x: torch.Tensor, y: torch.Tensor):\n"
SIZED = [
    "torch.zeros(x.shape, device=x.device)",
    "torch.full(x.size(), 2.0, device=x.device)",
    "x.new_zeros(x.shape)",
    "torch.rand_like(x)",
    "torch.ones(size, device=x.device)",
]


def tables():
    return torch.arange(12.0).reshape(4, 3), torch.full((4, 3), 3.0)


def deep():
    return torch.arange(24.0).reshape(2, 4, 3), torch.full((2, 4, 3), 3.0)


@pytest.mark.parametrize("made", SIZED)
def test_a_tensor_of_the_size_of_another_has_its_shape(made):
    program = f"{X}    size = x.shape\n    z = {made}\n    m = x > 5\n    z[m] = y[m]\n    return z\n"
    after = rewritten(program)
    assert "    z.copy_(torch.where(m, y, z))\n" in after
    same(program, after, tables)


@pytest.mark.parametrize("made", ["torch.zeros(y.shape, device=x.device)", "torch.zeros(x.shape[0], device=x.device)"])
def test_a_tensor_of_another_size_has_not(made):
    program = f"{X}    z = {made}\n    m = x > 5\n    z[m] = y[m]\n    return z\n"
    assert not any(fix.tier == "safe" for fix in fixes(program, "where-assign"))


@pytest.mark.parametrize(
    "mask", ["(x > 3).all(-1)", "x.norm(dim=-1) < 20", "(x.sum(dim=-1) > 3) & (x.amax(-1) > 8)", "x.argmin(-1) == 0"]
)
def test_a_mask_of_rows_is_widened_plainly(mask):
    program = f"{X}    z = x * 1\n    m = {mask}\n    z[m] = y[m] + 1\n    return z, x[m].mean()\n"
    after = rewritten(program, unsafe=True)
    assert "torch.where(m.unsqueeze(-1), y + 1, z)" in after
    assert "torch.where(m.unsqueeze(-1), x, 0).sum() / (m.sum() * x.size(-1))" in after
    for make in (tables, deep):
        same(program, after, make, exact=False)


def test_a_mask_of_known_rank_is_widened_by_as_many():
    made = "torch.ones(4, 3, 2, device=x.device)"
    body = f"    z, m = {made}, 0\n    z = {made}\n    m = torch.arange(4, device=x.device) > 2\n    w = {made} * 2\n"
    program = X + body + "    z[m] = w[m]\n    return z\n"
    after = rewritten(program, unsafe=True)
    assert "torch.where(m[..., None, None], w, z)" in after
    same(program, after, tables)


@pytest.mark.parametrize("mask", ["(x > 3).all(-1, keepdim=True)", "(x > 3).all(1)", "(x > 3).all()", "x[..., 0] > 3"])
def test_another_mask_is_not_taken_for_one_of_rows(mask):
    program = f"{X}    z = x * 1\n    m = {mask}\n    z[m] = y[m] + 1\n    return z\n"
    assert "m.unsqueeze(-1)" not in (rewritten(program, unsafe=True) or "")


def test_a_sum_that_nobody_reads_any_more_goes():
    body = (
        "    counts = y.long()\n    total = counts.sum()\n    ids = x.repeat_interleave(counts)\n"
        "    return ids + torch.arange(total, device=x.device)\n"
    )
    after = rewritten(X + body)
    assert "total" not in after
    assert "torch.arange(ids.shape[0], device=x.device)" in after
    same(X + body, after, lambda: (torch.arange(4.0), torch.tensor([1.0, 0.0, 2.0, 3.0])))
    assert "total = counts.sum()" in rewritten(X + body.replace("device)\n", "device), total\n"))


def test_of_a_table_one_row_is_copied():
    """Which must be there though the loop never runs: that is said."""
    body = "    out = []\n    for i in range(3):\n        out.append(x[row, i].item() + 1)\n    return out\n"
    program = X.replace("y:", "row: int, y:") + body
    assert {fix.tier for fix in fixes(program, "read-together")} == {"unsafe"}
    after = rewritten(program, unsafe=True)
    assert "    x_list = x[row].flatten().tolist()\n" in after
    same(program, after, lambda: (tables()[0], 2, tables()[1]))
    other = program.replace("        out", "        row = 3 - row\n        out")
    assert "x_list = x.reshape(x.shape[:2]).tolist()" in rewritten(other)


CHOICES = [
    "x[m].mean() if m.any() else torch.zeros((), device=x.device)",
    "x[m].sum() if m.sum() > 0 else 0.0",
    "torch.tensor(0.0, device=x.device) if not m.any() else (x[m] - y[m]).abs().mean()",
    "x[m].pow(2).sum() if m.any().item() else x.sum() * 0.0",
]


@pytest.mark.parametrize("mask", ["x > 3", "x > 300", "(x > 3).all(-1)", "(x > 300).all(-1)"])
@pytest.mark.parametrize("choice", CHOICES)
def test_of_no_element_a_sum_is_zero_anyway(choice, mask):
    program = f"{X}    m = {mask}\n    a = {choice}\n    return x + a\n"
    after = rewritten(program, unsafe=True)
    assert "any()" not in after
    assert after.count("torch.where(") == 1
    same(program, after, tables, exact=False)
    choice = choice.removeprefix("torch.tensor(0.0, device=x.device) if not m.any() else ")
    yes = choice.partition(" if ")[0]
    body = f"    m = {mask}\n    if m.any():\n        a = {yes}\n    else:\n        a = x.new_zeros(())\n"
    body += "    return x + a\n"
    after = rewritten(X + body, unsafe=True)
    assert "if" not in after
    same(X + body, after, tables, exact=False)


@pytest.mark.parametrize("mask", ["x > 3", "x > 300"])
@pytest.mark.parametrize("other", ["1.0", "y.sum()", "torch.ones((), device=x.device)"])
def test_another_choice_is_asked(other, mask):
    """By the host or by the device, and where there is none, there is no NaN in the gradient either."""
    program = f"{X}    m = {mask}\n    return x.sum() * 0 + (x[m].mean() if m.any() else {other})\n"
    after = rewritten(program, unsafe=True) or program
    assert "m.any()" in after
    same(program, after, lambda: tuple(one.requires_grad_() for one in tables()), exact=False)
