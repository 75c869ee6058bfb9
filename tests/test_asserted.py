"""What a function asserts of a device holds behind that, as behind a test that raises."""

from __future__ import annotations

import pytest
from checked import codes

READS = """
import torch


def f(x: torch.Tensor, y: torch.Tensor, deep):
    {asserted}
    return x.max().item()
"""


@pytest.mark.parametrize(
    "asserted",
    [
        'assert x.device == torch.device("cpu")',
        'assert x.device.type == "cpu", "on the host, please"',
        "assert not x.is_cuda",
        "assert deep and x.is_cpu",
    ],
)
def test_what_is_asserted_to_be_on_the_host_waits_for_nothing(asserted: str) -> None:
    assert codes(READS.format(asserted=asserted)) == []


@pytest.mark.parametrize(
    "asserted",
    [
        'assert x.device != torch.device("cpu")',
        "assert x.is_cuda",
        "assert deep or x.is_cpu",
        "assert x.device == y.device",
        "if deep:\n        assert x.is_cpu",
    ],
)
def test_what_asserts_no_host_waits(asserted: str) -> None:
    assert codes(READS.format(asserted=asserted)) == ["SG201"]
