"""Methods that a class of another file leaves to be written, and asks for seldom, or often."""

import pytest
from packaged import heats

BASE = """
import torch


class Base(torch.nn.Module):
    def __init__(self, device=None):
        super().__init__()
        self.size = self.device = device
        {made}

    def place(self, device, size):
        {place}

    def forward(self, x):
        {forward}
        return x

    def build(self, device):
        raise NotImplementedError
"""
PART = """
import torch

from .base import Base


class Part(Base):
    def build(self, device):
        self.scale = torch.tensor(1.0, device=device)

    {more}
"""
BUILD = "self.build(device)"


def heat(made="pass", place="pass", forward="pass", more="", other=""):
    base = BASE.format(made=made, place=place, forward=forward)
    files = {"pkg/__init__.py": "", "pkg/base.py": base, "pkg/part.py": PART.format(more=more), "pkg/other.py": other}
    return heats(files)["pkg/part.py"]


CHANGED = [
    "if self.device != device: self.device = device; self.build(device)",
    "if self.device != device or self.size != size: self.build(device); self.device, self.size = device, size",
    "if device is not None and device != self.device: self.device = device; self.build(device)",
]


@pytest.mark.parametrize(
    "settings",
    [
        {"made": BUILD},
        {"made": BUILD, "more": "def to(self, device): return self"},
        *({"place": place} for place in CHANGED),
    ],
)
def test_what_is_built_as_an_object_is_made_or_changed(settings):
    assert heat(**settings) == "cold"


@pytest.mark.parametrize(
    "settings",
    [
        {"place": BUILD},
        {"place": "if size > 3: self.device = device; self.build(device)"},
        {"place": "if self.device != device: self.build(device)"},  # it stays changed
        {"place": "if self.device != device or size: self.device = device; self.build(device)"},
        {"made": BUILD, "place": BUILD},
        {"made": BUILD, "more": "def again(self, device): self.build(device)"},
        {"place": "return self.build"},
        {},
    ],
)
def test_what_may_be_asked_for_often(settings):
    assert heat(**settings) == "unknown"


def test_what_a_base_builds_at_every_step():
    assert heat(forward="self.build(x.device)") != "cold"


def test_another_file_may_ask_for_it_at_every_step():
    other = """
from .part import Part

def train(loader, part: Part):
    for x in loader:
        part.build(x.device)
        x.sum().backward()
"""
    assert heat(made=BUILD, other=other) == "hot"


LOGS = """
import torch
from trainer import Model


class Base(Model):
    def {asks}(self, batch):
        return self.{name}(batch)

    def {name}(self, batch):
        raise NotImplementedError
"""
WRITES = """
import torch

from .base import Base


class Part(Base):
    def {name}(self, batch):
        return torch.mean(batch).item()
"""


@pytest.mark.parametrize(
    ("asks", "name", "expected"),
    [
        ("train_log", "_pictures", "cold"),
        ("train_log", "pictures", "unknown"),  # the library may ask for it as well
        ("advance", "_pictures", "unknown"),
    ],
)
def test_a_library_has_no_name_for_what_is_private(asks, name, expected):
    base, part = (text.format(asks=asks, name=name) for text in (LOGS, WRITES))
    assert heats({"pkg/__init__.py": "", "pkg/base.py": base, "pkg/part.py": part})["pkg/part.py"] == expected
