"""Nobody is seen to give a tensor where nothing but a question says that there is one."""

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config

ASKS = """
import torch


def as_list(x):
    if isinstance(x, torch.Tensor):
        x = x.abs().tolist()
    return x
"""


def heats(text: str) -> set[str]:
    config = Config(heat="all", stdin_filename="example.py")
    return {f.heat for f in pipeline.check(["-"], config, textwrap.dedent(text)).findings}


@pytest.mark.parametrize(
    ("more", "heat"),
    [
        ("", "amortized"),
        ("def told(n):\n    return as_list(torch.arange(n, device='cuda'))\n", "unknown"),
        ("class Net(torch.nn.Module):\n    def forward(self, x):\n        return as_list(self.sizes)\n", "hot"),
    ],
)
def test_who_asks_takes_other_things_as_well(more: str, heat: str) -> None:
    assert heats(ASKS + "\n\n" + more) == {heat}


def test_what_is_declared_is_given() -> None:
    assert heats(ASKS.replace("(x)", "(x: torch.Tensor | list)", 1)) == {"unknown"}
