"""What lists and dicts of modules hold is known where it is asked for, also when the modules stand in another file."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked import codes

from syncguard import pipeline
from syncguard.config import Config

HEAD = """import torch
from torch import nn

class Head(nn.Module):
    def forward(self, x):
        return x.mean(), x.shape[0]

"""
NET = """
class Net(nn.Module):
    def __init__(self, names, n: int):
        super().__init__()
        {made}

    def forward(self, x: torch.Tensor):
        y, n = {asked}(x)
        if n > 3:
            x = x + 1
        return x * 2 if y > 0 else x

Net(("a",), 1)(torch.rand(4, device="cuda"))
"""
MADE = [
    ("self.heads = nn.ModuleDict({name: Head() for name in names})", 'self.heads["a"]'),
    ('self.heads = nn.ModuleDict({"a": Head(), "b": nn.Linear(3, 3)})', 'self.heads["a"]'),
    (
        "self.heads = nn.ModuleDict()\n        for name in names:\n            self.heads[name] = Head()",
        'self.heads["a"]',
    ),
    ("self.heads = nn.ModuleDict({name: Head() for name in names})", "next(iter(self.heads.values()))"),
    ("self.heads = nn.ModuleList([Head() for _ in range(n)])", "self.heads[0]"),
    ("self.heads = nn.ModuleList(Head() for _ in range(n))", "self.heads[n - 1]"),
    ("self.heads = nn.ModuleList([Head(), Head()])", "list(self.heads)[0]"),
    (
        "self.heads = nn.ModuleList()\n        for _ in range(n):\n            self.heads.append(Head())",
        "self.heads[0]",
    ),
    ("heads = nn.ModuleList()\n        heads.append(Head())\n        self.heads = heads", "self.heads[0]"),
]


@pytest.mark.parametrize(("made", "asked"), MADE)
def test_a_module_that_a_container_holds(made: str, asked: str) -> None:
    assert codes(HEAD + NET.format(made=made, asked=asked)) == ["SG204"]


@pytest.mark.parametrize(("made", "asked"), MADE)
def test_the_modules_stand_in_another_file(tmp_path: Path, made: str, asked: str) -> None:
    (tmp_path / "__init__.py").touch()
    (tmp_path / "heads.py").write_text(HEAD)
    (tmp_path / "net.py").write_text(
        f"import torch\nfrom torch import nn\nfrom .heads import Head\n{NET.format(made=made, asked=asked)}"
    )
    paths = [str(tmp_path / "net.py"), str(tmp_path / "heads.py")]
    for order in (paths, paths[::-1]):
        report = pipeline.check(order, Config(heat="all", cache=False))
        assert [finding.code for finding in report.findings] == ["SG204"]


def test_each_of_several_modules_is_asked() -> None:
    text = HEAD + NET.format(made="self.heads = nn.ModuleList([Head(), nn.Linear(3, 3)])", asked="self.heads[0]")
    loop = "for i, head in enumerate(self.heads):\n            if i > 3:\n                break\n        y, n = head(x)"
    assert codes(text.replace("y, n = self.heads[0](x)", loop)) == ["SG204"]


def test_what_holds_itself_comes_to_an_end() -> None:
    made = (
        "self.heads = nn.ModuleList()\n        for _ in range(n):\n            self.heads = nn.ModuleList([self.heads])"
    )
    assert codes(HEAD + NET.format(made=made, asked="Head()")) == ["SG204"]
