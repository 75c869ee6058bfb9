"""A dict that is declared to hold tensors and makes those that are not there: these are where it makes them, unless
others are put there."""

import pytest
from checked import codes

TEXT = """
from collections import defaultdict
import torch

def summed(x: torch.Tensor, names: list[str]):
    found: dict[str, torch.Tensor] = defaultdict(lambda: torch.tensor(0.0))
    for name in names:
        {filled}
    return {read}
"""
READ = 'found["all"].item()'


@pytest.mark.parametrize(
    ("filled", "read", "expected"),
    [
        ("found[name] += 1", READ, []),
        ("found[name] += torch.tensor(1)", READ, []),
        ("found[name] += x.sum()", READ, []),  # where `x` is on the device, torch raises
        ("found[name] = found[name] + x.sum()", READ, ["SG201"]),
        ("found[name] = x.sum()", READ, ["SG201"]),
        ("found[name] = x", "[one.tolist() for one in found.values()]", ["SG202"]),
    ],
)
def test_what_is_put_there_tells(filled, read, expected):
    assert codes(TEXT.format(filled=filled, read=read)) == expected
