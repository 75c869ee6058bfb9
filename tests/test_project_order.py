"""What is believed of a class of another file does not depend on the files that were looked at before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from syncguard.config import Config
from syncguard.examine import Examiner
from syncguard.read.project import forget
from syncguard.read.source import read

FILES = {
    "p/__init__.py": "",
    "p/base.py": """\
class Config:
    def __init__(self, size: int = 3):
        self.size = size
""",
    "p/resize.py": """\
from p.base import Config


class Model:
    def __init__(self):
        self.config = Config()

    def grow(self, n):
        self.config.size = n
        self.grown = n
""",
    "p/first.py": """\
from p.resize import Model


def f(m: Model):
    return m.grown
""",
    "p/second.py": """\
import torch
from p.base import Config


class Net(torch.nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.size = config.size

    def forward(self, x: torch.Tensor):
        return x + torch.arange(self.size).to(x.device)
""",
}


def test_what_a_method_of_another_class_assigns_is_not_left_to_who_comes_after(tmp_path, monkeypatch):
    """`first` makes `grow` known, which assigns to the configuration that `second` counts on."""
    monkeypatch.chdir(tmp_path)
    forget()
    Path("p").mkdir()
    for path, text in FILES.items():
        Path(path).write_text(text)
    found = []
    for order in (["p/second.py"], ["p/first.py", "p/second.py"]):
        examiner = Examiner(replace(Config(), heat="all", cache=False), frozenset(order))
        last = [examiner.examine(read(path)) for path in order][-1]
        found.append([(f.code, f.fix.recipe, f.fix.tier) for f in last.findings if f.fix is not None])
    assert found == [[("SG304", "build-on-device", "safe")]] * 2
