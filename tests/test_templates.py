"""What is generated from a template waits where it is generated, and is mended in the template."""

import pytest
from packaged import found

NET = """
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x[x > 0]
"""
SAYS = "# This file was automatically generated from src/pkg/{}.py.\n# Do NOT edit it.\n"
MADE = {"pkg/__init__.py": "", "pkg/whole.py": SAYS.format("part") + NET, "pkg/part.py": NET}


@pytest.mark.parametrize("asked", [[], ["pkg/part.py"], ["pkg/part.py", "pkg/whole.py"]])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"pkg/__init__.py": "from .whole import Net\n"},
        {"pkg/__init__.py": "# see part\n"},
        {"pkg/tests/__init__.py": "", "pkg/tests/test_part.py": "from pkg.part import Net\n"},
        {"pkg/other.py": SAYS.format("parts") + NET, "pkg/parts.py": "from .part import Net\n" + NET},
        {"pkg/whole.py": '"""Generated from part.py"""\n' + NET},
        {"pkg/whole.py": SAYS.format("part").replace("/", "\\") + NET},
    ],
)
def test_a_template_that_nothing_imports_runs_seldom(asked, more):
    part = found({**MADE, **more}, *asked)["pkg/part.py"]
    assert part.heat == "cold"
    assert part.hot_path[0].text == "in a template that nothing imports: `whole.py` is generated from it"


@pytest.mark.parametrize("asked", [[], ["pkg/part.py"]])
@pytest.mark.parametrize(
    "more",
    [
        {"pkg/__init__.py": "from .part import Net\n"},
        {"pkg/__init__.py": 'LAZY = {"part": ["Net"]}\n'},
        {"pkg/sub/__init__.py": "from .. import part\n"},
        {"pkg/whole.py": SAYS.format("parts") + NET},
        {"pkg/whole.py": NET},
        {"pkg/whole.py": NET + "\n" * 2_000 + SAYS.format("part")},
    ],
)
def test_what_runs_itself_is_as_warm_as_it_was(asked, more):
    assert found({**MADE, **more}, *asked)["pkg/part.py"].heat == "hot"


@pytest.mark.parametrize("asked", [[], ["pkg/whole.py"]])
def test_what_is_generated_names_the_place_to_change(asked):
    whole = found(MADE, *asked)["pkg/whole.py"]
    assert whole.heat == "hot"
    assert whole.hint.startswith("Change `part.py`, from which this file is generated. ")


def test_what_is_generated_is_not_mended_there():
    clamped = NET.replace("return x[x > 0]", "x[x > 0] = x[x > 0] * 2\n        return x")
    files = {name: text.replace(NET, clamped) for name, text in MADE.items()}
    fixes = {name: finding.fix for name, finding in found(files, fixes=True).items()}
    assert fixes["pkg/whole.py"] is None
    assert fixes["pkg/part.py"] is not None


def test_what_is_generated_from_nothing_that_is_there_says_nothing():
    files = {"pkg/__init__.py": "", "pkg/whole.py": MADE["pkg/whole.py"]}
    assert not found(files)["pkg/whole.py"].hint.startswith("Change")


OPS = """
import torch


def kept(x: torch.Tensor):
    return x[x > 0]
"""
USES = """
import torch
from .ops import kept


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return kept(x)
"""


@pytest.mark.parametrize(("whole", "heat"), [(NET, "unknown"), (USES, "hot")])
def test_a_template_makes_nothing_hot(whole, heat):
    files = {**MADE, "pkg/whole.py": SAYS.format("part") + whole, "pkg/part.py": USES, "pkg/ops.py": OPS}
    assert found(files)["pkg/ops.py"].heat == heat


CALLS = """
import torch
from .ops import asked


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return asked(x.amax())
"""
ASKED = "def asked(x):\n    for _ in range(3):\n        if x > 3:\n            return 1\n    return 0\n"
STEP = """
import torch
from .ops import asked


class Step(torch.nn.Module):
    def forward(self, n):
        return asked(3)
"""


@pytest.mark.parametrize(("whole", "waits"), [(NET, False), (CALLS, True)])
def test_what_a_template_passes_brings_nothing_about(whole, waits):
    files = {**MADE, "pkg/whole.py": SAYS.format("part") + whole, "pkg/part.py": CALLS}
    assert ("pkg/ops.py" in found({**files, "pkg/ops.py": ASKED, "pkg/step.py": STEP})) is waits
