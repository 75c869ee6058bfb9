"""What a run has kept of the code that it ran lies in a folder of logs: what is told of it is told where it lives."""

from __future__ import annotations

import pytest
from packaged import found, heats

NET = """
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        y = x.relu()
        return y.unique().tolist()


def outer(x):
    return Net()(x)
"""
TRAIN = "import argparse\n\nfrom models.net import Net, outer\n\nnet = Net(argparse.ArgumentParser().parse_args())\n"
HERE = {"README.md": "A project.\n", "train.py": TRAIN, "load.py": "", "show.py": "", "models/net.py": NET}


def heat(copy: str = "log/first/net.py", text: str = NET, more: str = "log/show.py") -> str:
    return heats({**HERE, copy: text, more: ""})[copy]


@pytest.mark.parametrize(
    ("copy", "text", "expected"),
    [
        ("log/first/net.py", NET, "cold"),
        ("outputs/2024/net.py", NET, "cold"),
        ("log/first/net.py", NET.replace("relu", "gelu"), "cold"),
        ("log/first/other.py", f"{NET}\n\nprint(Net())\n", "hot"),  # nothing lives under its name
        (
            "log/first/net.py",
            NET.replace("y = x.relu()", "\n".join(["y = x"] + [f"        y = y + {i}" for i in range(9)])),
            "hot",
        ),
        ("parts/first/net.py", NET, "hot"),
    ],
)
def test_a_copy_that_a_run_has_left(copy: str, text: str, expected: str) -> None:
    assert heat(copy, text) == expected


def test_a_package_is_no_folder_of_logs() -> None:
    assert heat(more="log/__init__.py") == "hot"
    assert heat(more="log/first/__init__.py") == "cold"  # a copy of one


def test_what_lives_stays_as_it_is_and_the_copy_says_of_what_it_is_one() -> None:
    finding = found({**HERE, "log/first/net.py": NET})
    assert finding["models/net.py"].heat == "hot"
    assert [fact.text for fact in finding["log/first/net.py"].hot_path] == [
        "in a copy that a run has left among its logs, of `models/net.py`"
    ]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"log/first/fit.py": "from models.net import Net\nNet()(1)\n"}, "cold"),
        ({"lead.py": "from log.first.net import Net\nNet()(1)\n"}, "hot"),
        ({"other/fit.py": "import sys, log.first.net as net\nnet.Net()(1)\n"}, "hot"),
    ],
)
def test_what_code_brings_in_out_of_the_folder_is_run(more: dict[str, str], expected: str) -> None:
    assert heats({**HERE, "log/first/net.py": NET, **more})["log/first/net.py"] == expected


SYS = "import sys\nfrom pathlib import Path\n"
PROGRAM = "from net import Net\n\nif __name__ == '__main__':\n    Net()(1)\n"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"run.sh": "python log/first/net.py\n"}, "hot"),
        ({"run.sh": "cd log/first && python net.py\n"}, "hot"),
        ({"run.sh": "PYTHONPATH=log python train.py\n"}, "hot"),
        ({"run.sh": "python train.py --out log/first\n"}, "cold"),
        ({"run.sh": "cp models/net.py log/first/net.py\n"}, "cold"),
        ({"Makefile": "all:\n\tpython -m log.first.net\n"}, "hot"),
        ({"lead.py": "import os, runpy\nrunpy.run_path(os.path.join('log', 'net.py'))\n"}, "hot"),
        ({"lead.py": SYS + "sys.path.insert(0, 'log/first')\n"}, "hot"),
        ({"lead.py": SYS + "logs = Path('log')\nfirst = logs / 'first'\nsys.path.insert(0, str(first))\n"}, "hot"),
        ({"lead.py": SYS + "logs = Path('log')\nsys.path.insert(0, 'models')\n"}, "cold"),
        ({"log/first/run.py": PROGRAM}, "hot"),
        ({"log/first/run.py": PROGRAM, "run.py": PROGRAM}, "cold"),  # a copy as well
    ],
)
def test_what_is_started_there_or_loaded_is_run(more: dict[str, str], expected: str) -> None:
    assert heats({**HERE, "log/first/net.py": NET, **more})["log/first/net.py"] == expected
