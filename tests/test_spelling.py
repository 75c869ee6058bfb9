"""Attributes whose names are made up: `getattr(self, kind + "_seen")`."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.infer.spelling import fits, spelled
from syncguard.read.expressions import expression
from syncguard.read.scope import Scope

HEAD = "import torch\nfrom torch import nn\n\n\n"


def codes(text: str) -> list[tuple[int, str]]:
    config = Config(heat="all", stdin_filename="example.py")
    found = pipeline.check(["-"], config, HEAD + textwrap.dedent(text)).findings
    return [(finding.site.line, finding.code) for finding in found]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"seen"', "seen"),
        ('f"seen"', "seen"),
        ('f"{kind}"', ""),
        ('kind + "_seen"', "*_seen"),
        ('"seen_" + kind', "seen_*"),
        ('"a_" + kind + "_b"', "a_*_b"),
        ('f"{kind}_seen"', "*_seen"),
        ('f"a_{kind}_b"', "a_*_b"),
        ('f"all_{kind}_b_{i}"', "all_*"),
        ('"%s_seen" % kind', "*_seen"),
        ('"a_%d_%s_b" % (i, kind)', "a_*_b"),
        ('"{}_seen".format(kind)', "*_seen"),
        ('"{kind}_seen".format(kind=kind)', "*_seen"),
        ('"seen".format(kind)', ""),
        ('f"_{kind}"', ""),  # which may be any
        ("kind", ""),
        ("names[0]", ""),
        ("3", ""),
    ],
)
def test_a_name_is_known_by_what_it_begins_and_ends_with(written: str, name: str) -> None:
    assert spelled(expression(ast.parse(written, mode="eval").body, Scope("", None))) == name


@pytest.mark.parametrize(
    ("made", "name", "may"),
    [
        ("*_seen", "mean_seen", True),
        ("*_seen", "mean_seen_", False),
        ("a_*_a", "a_a", False),
        ("a_*_a", "a__a", True),
        ("*_seen", "mean_*", True),
        ("a_*_seen", "b_*", False),
        ("*_seen", "a_*_been", False),
        ("*_seen", "*_seen", True),
    ],
)
def test_what_a_made_up_name_may_come_to(made: str, name: str, may: bool) -> None:
    assert fits(made, name) is may


BODY = """
class Net(nn.Module):
    def __init__(self, names):
        super().__init__()
        for name in names:
            {}

    def forward(self, x, kind):
        if {}:
            x = x + 1
        return x
"""


@pytest.mark.parametrize(
    ("kept", "asked", "waits"),
    [
        ('self.register_buffer(name + "_seen", torch.ones(()))', 'getattr(self, f"{kind}_seen")', True),
        ('self.register_buffer("mean_seen", torch.ones(()))', 'getattr(self, f"{kind}_seen")', True),
        ('self.register_buffer("mean_seen", None)', 'getattr(self, f"{kind}_seen")', False),
        ('setattr(self, f"{name}_seen", nn.Parameter(torch.ones(())))', 'getattr(self, kind + "_seen") > 0', True),
        ('self.register_buffer(name + "_seen", torch.ones(()))', 'getattr(self, f"{kind}_been")', False),
        ('self.register_buffer(name + "_seen", torch.ones(()))', "getattr(self, kind)", False),
        ('self.register_buffer(name + "_seen", torch.ones(()))', 'getattr(self, f"{kind}_seen") is None', False),
        ('setattr(self, f"{name}_seen", len(names))', 'getattr(self, f"{kind}_seen")', False),
    ],
)
def test_an_attribute_is_a_tensor_if_all_that_its_name_may_be_are(kept: str, asked: str, waits: bool) -> None:
    assert codes(BODY.format(kept, asked)) == ([(13, "SG204")] if waits else [])


def test_a_flag_or_a_method_by_such_a_name_leaves_it_open() -> None:
    text = BODY.format('self.register_buffer(f"{name}_seen", torch.ones(()))', 'getattr(self, f"{kind}_seen")')
    assert codes(text + "\n    def scale_seen(self):\n        return True\n") == []
    assert codes(text.replace("def forward", "scale_seen = True\n\n    def forward")) == []
    assert codes(text + "\n    def learn(self):\n        self.scale_seen = len(self.names)\n") == []


CALLED = """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        for i in range(n):
            {kept}

    def forward(self, x: torch.Tensor, kind):
        return getattr(self, f"head_{{kind}}")(x, x.sum())

    def other(self, x, one):
        return 1 if one > 3 else 2
"""


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("pass", [20]),
        ('setattr(self, f"head_{i}", Head())', [7, 20]),
        ('setattr(self, f"head_{i}", n)', []),
    ],
)
def test_a_method_or_a_module_of_such_a_name_is_given_what_a_call_gives(kept: str, found: list[int]) -> None:
    head = "class Head(nn.Module):\n    def forward(self, x, flag=0):\n        return 1 if flag > 3 else 2\n\n"
    text = head + CALLED.format(kept=kept).replace("other", "head_one")
    assert [line for line, code in codes(text) if code == "SG204"] == found


def test_what_makes_up_a_name_is_no_tensor() -> None:
    text = """
    class Net(nn.Module):
        def forward(self, x, task, other):
            head = getattr(self, f"head_{task}")
            return head(x, f"{other}")
    """
    assert codes(text) == [(9, "SG206")]


def test_a_name_that_is_bound_before() -> None:
    text = """
    class Net(nn.Module):
        def __init__(self, names):
            super().__init__()
            for i in range(len(names)):
                key = f"seen_{i}"
                self.register_buffer(key, torch.ones(()))

        def forward(self, x, i: int):
            key = f"seen_{i}"
            if getattr(self, key):
                x = x + 1
            return x
    """
    assert codes(text) == [(15, "SG204")]


def test_what_a_class_of_another_file_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = 'self.register_buffer(name + "_seen", torch.ones(()))'
    Path("base.py").write_text(HEAD + textwrap.dedent(BODY.format(kept, "x is None")))
    Path("net.py").write_text(
        "from base import Net\n\n\nclass Top(Net):\n    def forward(self, x, kind):\n"
        '        return x if getattr(self, f"{kind}_seen") else x + 1\n'
    )
    found = pipeline.check(["net.py"], Config(cache=False, heat="all")).findings
    assert [(finding.site.line, finding.code) for finding in found] == [(6, "SG204")]


@pytest.mark.parametrize(
    ("filled", "waits"),
    [
        ("self.__dict__.update(names)", False),
        ("vars(self).update(names)", False),
        ("self.__dict__ |= names", False),
        ("self.__dict__[names.kind] = len(names)", False),
        ("for key, value in names.items():\n            setattr(self, key, value)", False),
        ("self.kept.update(names)", True),
        ("names.owner.__dict__.update(names)", True),
    ],
)
def test_what_is_taken_over_under_any_name_may_be_meant(filled: str, waits: bool) -> None:
    text = BODY.format('self.register_buffer(name + "_seen", torch.ones(()))', 'getattr(self, f"{kind}_seen")')
    assert bool(codes(f"{text}\n    def load(self, names):\n        {filled}\n")) is waits
    base = f"class Base(nn.Module):\n    def load(self, names):\n        {filled}\n"
    assert bool(codes(base + text.replace("nn.Module", "Base"))) is waits
