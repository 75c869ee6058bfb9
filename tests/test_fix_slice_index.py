"""slice-index and index-there: the same elements, without a copy of the index to the device."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, i: torch.Tensor):\n    "


def argument():
    return torch.rand(4, 4, 4, requires_grad=True), torch.tensor([3, 0, 1, 1])


@pytest.mark.parametrize(
    "body",
    [
        "return x[[1, 0]] + 1",  # in another order
        "return x[[0, 2]] + 1",
        "return x[[-1, 0]] + 1",
        "return x[[0, 0]] + 1",
        "return x[[True, False, True, False]] + 1",
        "return x[[0], i] + 1",  # two indices are one
        "return x[[0], [1]] + 1",
        "n = [0]\n    return x[n] + 1",
        "return x[[]] + 1",
    ],
)
def test_other_places_are_no_slice(body):
    assert not fixes(HEAD + body + "\n", "slice-index")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[:, [-1]] + 1", "x[:, -1:] + 1"),
        ("x[:, [-1], :] < x", "x[:, -1:, :] < x"),
        ("x[[0]] * 2", "x[:1] * 2"),
        ("x[..., [1, 2]] - x[[-3, -2], 0, None]", "x[..., 1:3] - x[-3:-1, 0, None]"),
        ("x[:, :, [3]] / 2", "x[:, :, 3:4] / 2"),
    ],
)
def test_places_in_order_are_a_slice(old, new):
    before, after = f"{HEAD}return {old}\n", f"{HEAD}return {new}\n"
    assert rewritten(before, "slice-index") == after
    same(before, after, argument)


def test_what_is_written_to_is_the_same():
    before = HEAD + "y = x.detach().clone()\n    y[[0]] = 1.0\n    y[:, [2, 3]] += 2.0\n    return y\n"
    after = rewritten(before, "slice-index")
    assert after == HEAD + "y = x.detach().clone()\n    y[:1] = 1.0\n    y[:, 2:4] += 2.0\n    return y\n"
    same(before, after, argument)


def test_a_copy_that_may_be_written_into_is_unsafe():
    text = HEAD + "y = x[:, [-1]]\n    return y\n"
    assert rewritten(text, "slice-index") is None
    assert rewritten(text, "slice-index", unsafe=True) == HEAD + "y = x[:, -1:]\n    return y\n"


@pytest.mark.parametrize(
    "body",
    [
        "return x[torch.randperm(4), i]",  # the device draws other numbers
        "return x[torch.arange(4, device='cpu'), i]",
        "return x[torch.arange(4.0).long(), i]",
        "return x[list(range(4)), i]",
        "return x.exp()[torch.arange(4), i]",  # it would be computed again
        "range = reversed\n    return x[range((3, 0, 1)), i]",
    ],
)
def test_other_numbers_are_not_counted_there(body):
    assert not fixes(HEAD + body + "\n", "index-there")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[torch.arange(4), i]", "x[torch.arange(4, device=x.device), i]"),
        ("x[torch.arange(x.shape[0]), i, 0]", "x[torch.arange(x.shape[0], device=x.device), i, 0]"),
        ("x[range(4), i]", "x[torch.arange(4, device=x.device), i]"),
        ("x[range(1, len(x)), i[1:]]", "x[torch.arange(1, len(x), device=x.device), i[1:]]"),
    ],
)
def test_numbers_are_counted_there(old, new):
    before, after = f"{HEAD}return {old}\n", f"{HEAD}return {new}\n"
    assert rewritten(before, "index-there") == after
    same(before, after, argument)
