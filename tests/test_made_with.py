"""What a method asks of the arguments that its object was made with, and all that makes one gives otherwise, is told of
what runs seldom: nothing leads there."""

import pytest
from packaged import found

PARTS = """
import torch


class Rope(torch.nn.Module):
    def __init__(self, dim, scale={default}, kind="plain"):
        super().__init__()
        self.scale = scale
        self.kind = kind
        {more}

    def forward(self, x: torch.Tensor):
        if {test}:
            return x.sum().item()
        return x
"""
NET = """
import torch

from .parts import Rope


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        return self.rope(x)
"""
MADE = "self.rope = Rope(8, scale=True)"


def heat(
    made: str = MADE, test: str = "not self.scale", default: str = "False", more: str = "pass", **others: str
) -> str:
    files = {
        "pkg/__init__.py": others.pop("init", ""),
        "pkg/parts.py": PARTS.format(default=default, test=test, more=more),
        "pkg/net.py": NET.format(made=made),
        **{f"pkg/{name}.py": text for name, text in others.items()},
    }
    finding = found(files)["pkg/parts.py"]
    assert (finding.heat == "hot") is not any("all that makes" in fact.text for fact in finding.hot_path)
    return finding.heat


@pytest.mark.parametrize(
    ("made", "test"),
    [
        (MADE, "not self.scale"),
        ("self.rope = Rope(8, True)", "not self.scale"),
        ("self.rope = Rope(8, True)\n        self.other = Rope(4, scale=True)", "not self.scale"),
        ("self.rope = Rope(8, 3)", "self.scale != 3"),
        ("self.rope = Rope(8, kind='fine')", "self.kind == 'plain'"),
        ("self.rope = torch.nn.ModuleList([Rope(8, scale=True) for _ in range(4)])", "not self.scale"),
    ],
)
def test_nothing_leads_where_no_object_is_made_so(made: str, test: str) -> None:
    assert heat(made, test) == "amortized"


@pytest.mark.parametrize(
    ("made", "test"),
    [
        (MADE, "self.scale"),
        ("self.rope = Rope(8, scale=config.scale)", "not self.scale"),
        ("self.rope = Rope(8, scale=True) if deep else Rope(8)", "not self.scale"),
        ("self.rope = Rope(8, **{'scale': True})", "not self.scale"),
        ("self.rope, self.kinds = Rope(8, scale=True), [Rope]", "not self.scale"),
    ],
)
def test_one_that_may_be_made_so_counts(made: str, test: str) -> None:
    assert heat(made, test) == "hot"


@pytest.mark.parametrize(
    "others",
    [
        {"more": "self.scale = bool(dim)"},
        {"more": "scale = False"},
        {"init": "from .parts import Rope\n"},
        {"other": "def off(rope):\n    rope.scale = False\n"},
        {"other": "from .parts import Rope\n\n\nclass Finer(Rope):\n    pass\n"},
        {"other": "from .parts import Rope\n\n\ndef make(dim):\n    return Rope(dim)\n"},
    ],
)
def test_whatever_may_make_or_set_it_otherwise_counts(others: dict[str, str]) -> None:
    assert heat(**others) == "hot"
