"""What one call passes to a function of another file decides what is tested there, for this call alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.read.project import forget

MAKE = """\
import numpy
import torch


def made(value, dtype=None):
    if value is None:
        return None
    if isinstance(value, (torch.nn.Parameter, torch.Tensor)):
        if dtype is None:
            return value
        return value.type(dtype)
    if isinstance(value, list) and all(isinstance(one, numpy.ndarray) for one in value):
        value = numpy.array(value)
    if isinstance(value, (float, int, list, tuple, numpy.ndarray)):
        return torch.tensor(value)


def positions(pos):
    if isinstance(pos, int):
        pos = torch.arange(pos)
    if isinstance(pos, numpy.ndarray):
        pos = torch.from_numpy(pos)
    return pos.float() * torch.ones(2, device=pos.device)[:, None]


def update(value, new, inertia=0.0):
    if inertia == 0.0:
        value[...] = new
"""


def waits(folder: Path, body: str) -> list[tuple[str, int, str]]:
    """Where a program that imports these waits: file, line and code."""
    forget()
    (folder / "make.py").write_text(MAKE)
    path = folder / "use.py"
    path.write_text("import torch\nfrom make import made, positions, update\n\n\n" + body)
    paths = [str(path), str(folder / "make.py")]
    found = pipeline.check(paths, Config(cache=False, heat="all")).findings
    return [(Path(one.site.path).name, one.site.line, one.code) for one in found]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        # The rank and the dtype of what is passed are those of what comes back.
        ("rows[made(torch.arange(len(rows), device=rows.device))[0]]", ["SG208"]),
        ("rows[made(rows > 0)]", ["SG102"]),
        # A number makes a tensor on the host, a list of two one of several.
        ("made(0.5).item()", []),
        ("rows[made([0, 1])]", ["SG307"]),
        # None gives None.
        ("print(made(None))", []),
    ],
)
def test_what_comes_back(tmp_path: Path, statement: str, found: list[str]) -> None:
    body = f"def f(rows: torch.Tensor):\n    for _ in range(3):\n        {statement}\n"
    assert [code for name, _, code in waits(tmp_path, body) if name == "use.py"] == found


def test_a_table_that_is_built_of_a_number_is_on_the_host(tmp_path: Path) -> None:
    body = """
class Rotary(torch.nn.Module):
    def __init__(self, length: int):
        super().__init__()
        self.table = positions(length)

    def forward(self, x: torch.Tensor):
        return x * self.table.to(x.device)
"""
    assert [code for _, _, code in waits(tmp_path, body)] == ["SG304"]


def test_a_buffer_of_a_base_class_is_passed(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text("""\
import torch
from make import made


class Base(torch.nn.Module):
    def __init__(self, inertia=0.0):
        super().__init__()
        self.register_buffer("inertia", made(inertia))
""")
    body = """
from base import Base


class Net(Base):
    def forward(self, x: torch.Tensor):
        for _ in range(3):
            update(x, x + 1, self.inertia)
        return x
"""
    assert ("make.py", 27, "SG204") in waits(tmp_path, body)


OWN = """
def pair(size):
    if isinstance(size, torch.Tensor):
        return (size / 2).ceil()
    return int(size) // 2


def deep(x: torch.Tensor, size: torch.Tensor):
    for _ in range(3):
        y = torch.nn.functional.pad(x, (pair(x.shape[0]), pair(x.shape[0])))
        y = torch.zeros(pair({size}), device=x.device)
    return y
"""


@pytest.mark.parametrize(("size", "found"), [("size", ["SG108"]), ("x.shape[1]", [])])
def test_a_function_of_the_same_file_gives_each_its_own(tmp_path: Path, size: str, found: list[str]) -> None:
    assert [code for _, _, code in waits(tmp_path, OWN.format(size=size))] == found
