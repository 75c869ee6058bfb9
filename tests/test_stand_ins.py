"""Classes that stand in for others where a library is missing."""

from __future__ import annotations

from pathlib import Path

import checked
import pytest

from syncguard import pipeline
from syncguard.config import Config

INIT = """\
from .about import available, Missing

try:
    if not available():
        raise Missing()
except Missing:
    {fallback}
else:
    from .clock import Clock
"""
LOOP = """\
import torch

from . import Clock


def run(clock: Clock, x: torch.Tensor, bound: float):
    for t in clock.times:
        if t > bound:
            x = x + 1
    return x
"""
CLOCK = """\
import torch


class Clock:
    def __init__(self, n: int):
        self.times = torch.arange(n, device="cuda")
"""


@pytest.mark.parametrize(
    "fallback",
    ["from .dummies import *", "from .dummies import Clock", "Clock = None", "class Clock:\n        times = ()"],
)
def test_the_class_that_is_brought_where_all_is_well_is_meant(package: Path, fallback: str) -> None:
    Path("p/__init__.py").write_text(INIT.format(fallback=fallback))
    Path("p/about.py").write_text("class Missing(Exception):\n    pass\n\n\ndef available():\n    return True\n")
    Path("p/dummies.py").write_text("class Clock:\n    def __init__(self, *args):\n        raise ImportError\n")
    Path("p/clock.py").write_text(CLOCK)
    Path("p/loop.py").write_text(LOOP)
    found = pipeline.check(["p/loop.py"], Config(cache=False)).findings
    assert [(finding.site.line, finding.code) for finding in found] == [(8, "SG204")]


def test_of_two_classes_that_are_written_here_either_may_be_meant() -> None:
    text = """
    import torch

    def choose(kind, x: torch.Tensor):
        try:
            class Box:
                def get(self, x):
                    return 3
            if kind:
                raise ValueError
        except ValueError:
            class Box:
                def get(self, x):
                    return x.sum()
        return int(Box().get(x))
    """
    assert checked.codes(text) == ["SG203"]
