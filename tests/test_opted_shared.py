"""What the calls of several files stand behind: the same test counts, whoever sees what it is by default."""

from __future__ import annotations

import pytest

from syncguard.judge.options.common import shared_by_all
from syncguard.terms import Fact
from tests.packaged import found

OPS = """\
import torch


def scaled(x: torch.Tensor):
    return x * torch.tensor(2.0, device=x.device)
"""
SETTINGS = """\
from dataclasses import dataclass


@dataclass
class Settings:
    exact: bool = False
"""
NET = """\
import torch
from {package}.ops import scaled
from {package}.settings import Settings


class Net(torch.nn.Module):
    def __init__(self, config{declared}):
        super().__init__()
        self.config = config

    def forward(self, x):
        {body}
"""
ASKS = "return scaled(x) if self.config.exact else x"
INSIDE = """\
def scale(x):
            return scaled(x) if self.config.exact else x

        return scale(x * 2)
"""


def told(one: str, two: str, package: str = "p", declared: str = ": Settings", beside: str = "") -> list[str]:
    """What is told of a wait in a file whose function is called by two others."""
    folder = package.replace(".", "/")
    nets = {
        f"{folder}/one.py": NET.format(package=package, body=one, declared=": Settings"),
        f"{folder}/two.py": NET.format(package=package, body=two, declared=declared),
    }
    if beside:
        nets[beside] = "import torch\n"
    files = {f"{folder}/__init__.py": "", f"{folder}/ops.py": OPS, f"{folder}/settings.py": SETTINGS, **nets}
    return [fact.text for fact in found(files)[f"{folder}/ops.py"].options]


TEST = "as far as we see called only where `self.config.exact` holds"
DEFAULT = f"{TEST}; by default `self.config.exact` is `False`"


def test_a_function_in_a_method_asks_what_the_object_is_of() -> None:
    assert told(ASKS, INSIDE) == [DEFAULT]


def test_what_one_file_does_not_see_the_default_of_is_told_without() -> None:
    assert told(ASKS, ASKS, declared="") == [TEST]
    assert told(ASKS, "return scaled(x)", declared="") == []


@pytest.mark.parametrize(
    ("one", "two", "both"),
    [
        ("`x` is `1`", "`x` is `1`", "`x` is `1`"),
        ("`x` is `1`", "`y` is `2`", "`x` is `1` and `y` is `2`"),
        ("`x` is `1`", "", ""),
        ("", "`x` is `1`", ""),
    ],
)
def test_what_each_place_sees_by_default_is_told(one: str, two: str, both: str) -> None:
    told = [f"only where `a` holds; by default {one}" if one else "only where `a` holds" for one in (one, two, both)]
    (shared,) = shared_by_all([(Fact(told[0], 1),), (Fact(told[1], 2), Fact("only where `b` holds", 3))])
    assert shared.text == told[2]


def test_a_folder_that_holds_nothing_but_packages_may_be_one() -> None:
    assert told(ASKS, ASKS, package="spread.core") == [DEFAULT]
    assert told(ASKS, ASKS, package="spread.core", beside="spread/core/run.py") == [DEFAULT]
    assert told(ASKS, ASKS, package="spread.core", beside="spread/run.py") == []  # whose imports start there
