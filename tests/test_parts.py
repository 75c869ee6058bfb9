"""What of a file others look at: they are examined again where that changes, and not for whatever comes or goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.examine import workers
from syncguard.infer.parts import WINDOW, parts_of
from syncguard.read.lower import lower

BASE = f"""
import torch

SCALE = 3


def given(x):
    return torch.zeros(3, device="cuda")

{"# the lines that follow on one that is quoted count, too" + chr(10) * WINDOW}
def number(x):
    return SCALE


def helper(x=None):
    return given(x)


Alias = number
"""
USERS = {
    "one.py": "from base import given\n\ndef forward(x):\n    return given(x).item()\n",
    "two.py": "import base\n\ndef forward(x):\n    return base.number(x).item()\n",
    "all.py": "from base import *\n\ndef forward(x):\n    return helper(x).item()\n",
    "late.py": "from base import missing\n\ndef forward(x):\n    return missing(x).item()\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {**USERS, "base.py": BASE}.items():
        Path(name).write_text(text)
    return tmp_path


def settings(**more):
    return Config(root=".", heat="all", confidence="possible", jobs=1, **more)


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [
        ("Alias", "def more(x):\n    return x.item()\n\n\nAlias", {"all.py"}),
        ("Alias", "MORE = 4\nAlias", {"all.py"}),
        ("Alias", "def missing(x):\n    return torch.ones(3, device='cuda')\n\n\nAlias", {"all.py", "late.py"}),
        ("def given(x):", "def given(x, y=0):", {"one.py", "all.py"}),
        ("SCALE = 3", "SCALE = torch", {*USERS}),
        ("SCALE = 3", "SCALE = 4", {"two.py", "all.py"}),
        ("def helper", "def other", {"all.py"}),
        ("def number(x):\n    return SCALE", "number = 7", {*USERS}),
        ("Alias = number", "Alias = number\nx = y = 1", {*USERS}),
        ("import torch", "import torch, os", {*USERS}),
        ("def given(x):", "def given(x):  # quickly", {"one.py", "all.py"}),
    ],
)  # fmt: skip
def test_those_who_look_at_what_is_new_are_examined_again(project, monkeypatch, old, new, again):
    pipeline.check(["."], settings())
    assert BASE.count(old) >= 1
    Path("base.py").write_text(BASE.replace(old, new, 1))
    examined, kept = [], workers.Examiner.examine
    monkeypatch.setattr(
        workers.Examiner, "examine", lambda own, source: (examined.append(Path(source.path).name), kept(own, source))[1]
    )
    report = pipeline.check(["."], settings())
    assert {*examined} == {"base.py", *again}
    assert report == pipeline.check(["."], settings(cache=False))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("A = 1\n", {"A"}),
        ("A = 1  # why\n", {"A"}),
        ("A = 1; import os\n", set()),
        ("A = 1\nB = A\n", set()),
        ("A = 1\nA = 2\n", set()),
        ("if x:\n    A = 1\n", set()),
        ("A = f()\n", set()),
        ("A = '#'\n", set()),
        ("__all__ = ['f']\ndef f():\n    pass\n", set()),
        ("def f(x):\n    return f(g)\n\n\ndef g(y=1):\n    return 1\n", {"f", "g"}),
        ("@wrap\ndef f(x):\n    return 1\n", set()),
        ("def f(x):\n    global A\n    A = 1\n\n\nA = 2\n", {"f"}),
        ("class C:\n    def g(self):\n        return f\n\n\ndef f():\n    pass\n", {"f"}),
        ("class C:\n    g = f\n\n\ndef f():\n    pass\n", set()),
    ],
)
def test_names_of_which_nothing_around_speaks(text, plain):
    assert {name[1:] for name in parts_of(lower(text), text.split("\n")) if name.startswith("=")} == plain
