"""What a method of another file's base class keeps for a class of this file: objects that it only declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config

BASE = """import torch

class Rotate:
    def __call__(self, x: torch.Tensor, sizes: torch.Tensor):
        return x

class Mixin:
    def set_worker(self, worker: Rotate, name: str = ""):
        {kept}
        self.name = name
"""
LAYER = """import torch
from torch import nn
from .base import Mixin

class Split:
    def __call__(self, x: torch.Tensor, sizes: torch.Tensor):
        return x.split(sizes.tolist())

class Layer(nn.Module, Mixin):
    def __init__(self, worker=None):
        super().__init__()
        self.set_worker({given})

    def forward(self, x, **kwargs):
        return self.worker(x, **kwargs)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x):
        kwargs = {{"sizes": {sizes}}}
        return self.layer(x, **kwargs)
"""
HOST = "torch.tensor(x.shape[:2])"
DEVICE = "x.new_tensor([1, 2])"


def found(folder: Path, given: str, sizes: str, kept: str = "self.worker = worker") -> list[str]:
    (folder / "__init__.py").touch()
    (folder / "base.py").write_text(BASE.format(kept=kept))
    layer = folder / "layer.py"
    layer.write_text(LAYER.format(given=given, sizes=sizes))
    report = pipeline.check([str(layer)], Config(heat="all", cache=False, jobs=1))
    return [finding.code for finding in report.findings if finding.site.line == 7]


@pytest.mark.parametrize("given", ["Split()", "worker=Split()", "Split(), 'split'", "worker or Split()"])
def test_what_it_is_given_is_called(tmp_path: Path, given: str) -> None:
    assert found(tmp_path, given, HOST) == []
    assert found(tmp_path, given, DEVICE) == ["SG202"]


def test_what_nobody_knows_is_what_the_base_declares(tmp_path: Path) -> None:
    assert found(tmp_path, "worker", HOST) == ["SG202"]


@pytest.mark.parametrize("kept", ["worker = Rotate()\n        self.worker = worker", "self.other = worker"])
def test_what_is_not_kept_as_it_is_given_is_not_called(tmp_path: Path, kept: str) -> None:
    assert found(tmp_path, "Split()", HOST, kept) == ["SG202"]
