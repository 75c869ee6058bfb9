"""A class that descends from torch.Tensor: its instances wait as tensors do, unless the class answers itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config

PROGRAM = """\
import torch


class Marked(torch.Tensor):
    def __repr__(self):
        return "Marked"

    def __bool__(self):
        return True


class Plain(torch.nn.Parameter):
    pass


def ask(marked: Marked, plain: Plain, x: torch.Tensor):
    {statement}
"""


def codes(folder: Path, statement: str) -> set[str]:
    """The rules that a statement over instances of the two classes breaks."""
    path = folder / "ask.py"
    path.write_text(PROGRAM.replace("{statement}", statement))
    return {finding.code for finding in pipeline.check([str(path)], Config(cache=False)).findings}


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("return marked.item()", "SG201"),
        ("return plain.tolist()", "SG202"),
        ("return int(plain)", "SG203"),
        ("return 1 if plain else 2", "SG204"),
        ("return plain[plain > 0]", "SG102"),
        ("return x[-marked > 0]", "SG102"),
        ("plain[plain > 0] = x", "SG103"),
        ("return torch.Tensor.__repr__(marked)", "SG206"),
        ("print(plain)", "SG206"),
    ],
)
def test_instances_of_a_tensor_class_wait(tmp_path: Path, statement: str, code: str) -> None:
    assert codes(tmp_path, statement) == {code}


@pytest.mark.parametrize(
    "statement",
    [
        "return 1 if marked else 2",
        "print(marked)",
        "return plain + 1",
        "return marked.shape, plain[0]",
        "return not marked",
    ],
)
def test_what_the_class_answers_itself_does_not(tmp_path: Path, statement: str) -> None:
    assert codes(tmp_path, statement) == set()
