"""What is assigned to an attribute of a class itself is read there by all, also from another file."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked import codes
from packaged import found

from syncguard import pipeline
from syncguard.config import Config

SHARED = "class Context:\n    positions = None\n    size = 0\n"
SET = """
def prepare(x: torch.Tensor):
    Context.positions = {held}
    Context.size = x.shape[1]
"""
NET = """
class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        prepare(x)
        if Context.size > 3:
            x = x * 2
        if Context.positions is not None and Context.positions.max() > 100:
            x = x[:, :100]
        return x
"""
HELD = [("torch.arange(x.shape[1], device=x.device)", ["SG204"]), ("torch.arange(9)", [])]


@pytest.mark.parametrize(("held", "expected"), HELD)
def test_an_attribute_of_a_class_is_known_in_its_own_file(held: str, expected: list[str]) -> None:
    assert codes(f"import torch\n{SHARED}{SET.format(held=held)}{NET}") == expected


def test_an_attribute_of_a_class_is_known_through_three_files(tmp_path: Path) -> None:
    held, expected = HELD[0]
    imports = "import torch\nfrom .shared import Context\n"
    files = {
        "__init__": "",
        "shared": SHARED,
        "prepare": imports + SET.format(held=held),
        "net": f"{imports}from .prepare import prepare\n{NET}",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    paths = [str(tmp_path / f"{name}.py") for name in files]
    for order in (paths, paths[::-1]):
        for _ in range(2):
            report = pipeline.check(order, Config(heat="all", root=str(tmp_path), cache_dir=str(tmp_path / "kept")))
            assert [finding.code for finding in report.findings] == expected


HEIR = """import torch


class Engine(torch.nn.Module):
    def build(self):
        self.scale = torch.ones(3, device="cuda")

    def forward(self, x):
        return x * 2


class Host(Engine):
    def build(self):
        {calls}self.scale = 3.0

    def forward(self, x):
        return x if self.scale > 2 else -x
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEIR.format(calls=""), []),
        (HEIR.format(calls="super().build(); "), ["SG204"]),
        (HEIR.format(calls="").replace("    def build(self):\n        self.scale = 3.0\n", ""), ["SG204"]),
        (HEIR.format(calls="").replace("self.scale = 3.0", "return 3.0"), ["SG204"]),
    ],
)
def test_a_class_holds_what_its_own_method_gives_and_not_the_one_that_this_replaces(
    text: str, expected: list[str]
) -> None:
    assert codes(text) == expected


BASE = """
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
"""
SHIFTS = """
import torch
from .base import Base


class Net(Base):
    def forward(self, x):
        return shifted(self.lin(x), self.shift)

    def {sets}(self):
        self.shift = made({given})


def made(x: torch.Tensor):
    return torch.quantile(x, 0.5)


def shifted(x: torch.Tensor, shift: torch.Tensor):
    return x + shift.to(x.device)
"""


@pytest.mark.parametrize("sets", ["on_train_end", "_fit"])
@pytest.mark.parametrize(
    ("given", "told"), [("torch.zeros(9)", ["SG301"]), ('torch.zeros(9, device="cuda")', []), ("self.lin.weight", [])]
)
def test_a_method_further_down_tells_what_is_given_before_it_runs(given: str, told: list[str], sets: str) -> None:
    text = SHIFTS.format(given=given, sets=sets)
    files = {"pkg/__init__.py": "", "pkg/base.py": BASE, "pkg/net.py": text}
    assert [one.code for path, one in found(files).items() if path == "pkg/net.py"] == told
