"""Programs with a recipe's shape in odd settings: what is proven is equal, what is not is not offered as safe."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import rewritten, same  # noqa: E402
from hostile_left import LEFT  # noqa: E402
from hostile_proven import PROVEN  # noqa: E402

HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"


def two():
    return torch.linspace(-1, 1, 6), torch.arange(1.0, 7.0)


def tables():
    return tuple(tensor.reshape(2, 3) for tensor in two())


# What some programs are called with; the others get two rows of six.
GIVEN = {
    "mask 2d": tables,
    "nan clamp": lambda: (torch.tensor([1.0, -1.0]), torch.tensor([1.0, float("nan")], requires_grad=True)),
    "flt max": lambda: (*two(), 1e39),
    "sum int start": lambda: (*two(), 0),
    "collect return in gate": lambda: (*two(), 0),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_proven_is_not_safe(name):
    assert rewritten(HEAD + LEFT[name]) is None


@pytest.mark.parametrize("name", PROVEN)
def test_what_is_proven_is_the_same(name):
    program = HEAD + PROVEN[name]
    after = rewritten(program)
    assert after is not None
    same(program, after, GIVEN.get(name, two))


@pytest.mark.parametrize("name", ["mask twice alias", "mask twice out", "mask twice fn", "counts loop"])
def test_what_would_be_wrong_is_not_offered_at_all(name):
    program = HEAD + LEFT[name]
    after = rewritten(program, unsafe=True)
    if after is not None:
        same(program, after, two, exact=False)
