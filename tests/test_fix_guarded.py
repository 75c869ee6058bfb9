"""A sum over what a mask selects, behind the test whether there is any: the test goes with it, and leaves no NaN."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, function, rewritten, same  # noqa: E402

HEAD = "import torch\nimport torch.nn.functional as F\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n"
HEAD += "    y = y * torch.ones_like(x)\n    m = x > 0\n"
MASKS = ([1.0, -1.0, 2.0], [-1.0, -2.0, -3.0], [1.0, 1.0, 1.0], [])
VALUES = ("y[m].mean()", "y[m].sum()", "(y[m] - x[m]).abs().mean()", "F.mse_loss(y[m], x[m])")
SHAPES = (
    "    loss = 0.0\n    if m.any():\n        loss = {}\n    return loss\n",
    "    loss = torch.zeros((), device=x.device)\n    if m.sum() > 0:\n        loss = {}\n    return loss\n",
    "    loss = x.sum()\n    if m.any():\n        loss += {}\n    return loss\n",
    "    loss = x.sum()\n    if m.any().item():\n        loss = loss - {}\n    return loss\n",
)


def given(row):
    return torch.tensor(row), torch.arange(float(len(row)), requires_grad=True)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_test_goes_with_what_it_guards(shape, value):
    program = HEAD + shape.format(value)
    after = rewritten(program, unsafe=True)
    assert after is not None
    assert "if m" not in after
    for row in MASKS[:3]:
        if "0.0" in shape and row is MASKS[1]:  # a number became a tensor
            assert float(function(after)(*given(row)).detach()) == 0.0
        else:
            same(program, after, lambda row=row: given(row), exact=False)


@pytest.mark.parametrize("value", VALUES[:1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("row", MASKS)
def test_of_no_element_there_is_no_nan_in_the_gradient(shape, value, row):
    after = rewritten(HEAD + shape.format(value), unsafe=True)
    x, y = given(row)
    (x.sum() * 0 + function(after or "")(x, y) + y.sum()).backward()
    assert not y.grad.isnan().any()


@pytest.mark.parametrize(
    "body",
    [
        "    loss = 0.0\n    if m.any():\n        loss = y[m].sum() / m.sum()\n    return loss\n",
        "    loss = x.sum()\n    if m.any():\n        loss = torch.where(m, y, 0).sum() / m.sum()\n    return loss\n",
        "    loss = x.sum()\n    if m.any():\n        loss += y[m].max()\n    return loss\n",
        "    loss = x.sum()\n    if m.any():\n        loss += y[m].sum() * x.unique().numel()\n    return loss\n",
        "    loss = 1.0\n    if m.any():\n        loss = y[m].mean()\n    return loss\n",
        "    loss = 0.0\n    if m.any():\n        loss = y[m].mean()\n        x = y\n    return loss, x\n",
    ],
)
def test_a_guard_stays_where_something_else_needs_it(body):
    after = rewritten(HEAD + body, unsafe=True) or HEAD + body
    assert "    if m.any():\n" in after
    for row in MASKS:
        same(HEAD + body, after, lambda row=row: given(row), exact=False)


def test_what_it_began_as_goes_where_nobody_reads_it():
    after = rewritten(HEAD + SHAPES[0].format("x[m].sum()"), unsafe=True) or ""
    assert after.removeprefix(HEAD) == "    loss = torch.where(m, x, 0).sum()\n    return loss\n"
    kept = SHAPES[0].replace("    if m", "    print(loss)\n    if m").format("x[m].sum()")
    after = rewritten(HEAD + kept, unsafe=True) or ""
    assert "    loss = 0.0\n    print(loss)\n    loss = torch.where" in after


def test_an_assertion_says_that_it_is_made_under_optimization_too():
    (fix,) = fixes(HEAD + "    assert m.all()\n    return x\n", "assert-async")
    assert "python -O" in fix.message
    (fix,) = fixes(HEAD + "    if m.any():\n        raise ValueError('m')\n    return x\n", "assert-async")
    assert "python -O" not in fix.message


def test_a_clamp_says_which_dtype_it_has():
    (fix,) = fixes(HEAD + "    return y / max(m.sum(), 1.0)\n", "clamp-number")
    assert "of the dtype that the tensor and the bound have together" in fix.message


@pytest.mark.parametrize(
    ("value", "later", "goes"),
    [
        ("F.mse_loss(y[m], x[m])", "y[0] = 0", False),
        ("F.mse_loss(y[m], x[m])", "y.mul_(2)", False),
        ("F.mse_loss(y[m], x[m])", "m[0] = True", False),
        ("F.mse_loss(y[m], x[m])", "x = x * 2", True),
        ("y[m].sum()", "y[0] = 0", True),
        ("y[m].sum()", "m &= x > 1", False),
    ],
)
def test_what_backward_needs_may_not_be_written_later(value, later, goes):
    body = (
        f"    loss = 0.0\n    if m.any():\n        loss = {value}\n    {later}\n    return loss + y.sum() + x.sum()\n"
    )
    assert ("if m" not in (rewritten(HEAD + body, unsafe=True) or "if m")) is goes
