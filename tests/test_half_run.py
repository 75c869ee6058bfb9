"""A file that is imported may call what it defines while its own top level runs, by what it waits for in every call."""

from __future__ import annotations

from pathlib import Path

from orders import in_any_order

DATA = """from torch.utils.data import DataLoader


def loader(rows, workers=1):
    return DataLoader(rows, num_workers=workers)


if __name__ == "__main__":
    print(len(loader([1, 2], workers=0)))
"""
TRAIN = """import torch
from .data import loader


def run(model, rows):
    for x in loader(rows):
        model(x.to("cuda")).sum().backward()
"""


def test_a_file_that_calls_its_own_function_as_it_is_read(tmp_path: Path) -> None:
    found = in_any_order(tmp_path, {"__init__": "", "data": DATA, "train": TRAIN})
    assert [place for place in found if place[0] == "train.py"] == [("train.py", 7, "SG301")]
