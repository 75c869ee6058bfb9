"""What nothing but setup in other files calls runs seldom, private or not."""

import pytest
from packaged import heats

OPS = """
import torch


def table(n: int, device) -> torch.Tensor:
    rows = torch.zeros(n, device=device)
    return float(first(rows))


def first(rows: torch.Tensor):
    return rows[0].item()
"""
MODEL = """
import torch

from .ops import table


class Model(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.kept = table(n, torch.device("cuda"))

    def forward(self, x):
        return x * self.kept
"""


def heat(**more):
    files = {"pkg/__init__.py": "", "pkg/ops.py": OPS, "pkg/model.py": MODEL}
    return heats(
        {
            **files,
            **{name.replace("__", "/").replace("//init/", "/__init__") + ".py": text for name, text in more.items()},
        }
    )["pkg/ops.py"]


CALL = "from pkg.ops import table\n\n\ndef {}(n):\n    return table(n, 'cuda')\n"


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"tests__test_ops": CALL.format("test_table")},
        {"pkg__other": CALL.format("load_rows")},
        {"pkg__part____init__": "from ..ops import table\n\n__all__ = ['table']\n"},
    ],
)
def test_what_setup_alone_calls(more):
    assert heat(**more) == "cold"


@pytest.mark.parametrize(
    "more",
    [
        {"pkg__other": CALL.format("rows")},
        {"pkg__other": "from pkg.ops import table\n"},  # whoever has it from there
        {"pkg____init__": "from .ops import table\n"},
        {"pkg__part____init__": "from ..ops import table\n\nROWS = [table(n, 'cuda') for n in range(9)]\n"},
        {"pkg__other": "from pkg.ops import first\n"},
        {"pkg__ops": OPS + "\n\ndef more(rows):\n    return first(rows)\n"},
        {"pkg__ops": OPS + "\n\nEVERY = [table]\n"},
        {"pkg__model": "from pkg.ops import table\n\n\ndef collate_fn(batch):\n    return table(len(batch), 'cuda')\n"},
        {"pkg__main": "from pkg.ops import table\n\n\ndef main():\n    table(3, 'cuda')\n", "pkg__model": ""},
    ],
)
def test_what_others_may_call(more):
    assert heat(**more) == "unknown"
