"""What nothing makes but code whose tensors are on the host has its own there, whatever its methods are called."""

from __future__ import annotations

import pytest
from packaged import found

NORM = """
import torch


class Norm(torch.nn.Module):
    def forward(self, x):
        peak = x.abs().max()
        return x / peak if peak > 1 else x
"""
DATA = """
import torch
from torch.utils.data import Dataset
from .norm import Norm


class Sounds(Dataset):
    def __getitem__(self, n):
        return Norm()(self.sounds[n])
"""
FILES = {f"pkg/{name}.py": "" for name in ("__init__", "fit", "more")}
MODEL = "from .norm import Norm\n\n\nclass Net:\n    def __init__(self):\n        self.norm = Norm()\n"


@pytest.mark.parametrize(
    ("more", "heat"),
    [
        ({}, "cold"),
        ({"pkg/tests/__init__.py": "", "pkg/tests/test_norm.py": "from pkg.norm import Norm\n\nNorm()\n"}, "cold"),
        ({"pkg/fit.py": MODEL}, "hot"),
        ({"pkg/fit.py": "from .norm import Norm\n\n\nclass Less(Norm):\n    pass\n"}, "hot"),
        ({"pkg/__init__.py": "from .norm import Norm\n"}, "hot"),  # there for others, too
    ],
)
def test_what_only_a_dataset_makes(more, heat):
    finding = found({**FILES, "pkg/norm.py": NORM, "pkg/data.py": DATA, **more})["pkg/norm.py"]
    assert finding.heat == heat
    if heat == "cold":
        assert finding.hot_path[0].text == "made only in `Sounds.__getitem__`, whose tensors are on the host"


def test_what_goes_to_the_device_goes_there():
    sent = NORM.replace("peak = x.abs().max()", "peak = torch.tensor(1.0, device='cuda')")
    findings = found({**FILES, "pkg/norm.py": sent.replace("if peak > 1 else x", ""), "pkg/data.py": DATA})
    assert findings["pkg/norm.py"].heat == "hot"
