"""Which private modules nothing in their package names: what is in them runs seldom, if at all."""

import pytest
from packaged import heats

SCORE = """
import torch


def score(x: torch.Tensor, y: torch.Tensor) -> float:
    return (x - y).abs().mean().item()
"""
FETCH = "import importlib\n\n\ndef part(name):\n    return importlib.import_module(f'pkg._{name}')\n"
HERE = {"pkg/__init__.py": "", "pkg/_legacy.py": SCORE, "pkg/core.py": "import torch\n"}


@pytest.mark.parametrize("asked", ["", "pkg/_legacy.py"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"pkg/tests/__init__.py": "", "pkg/tests/test_legacy.py": "from pkg._legacy import score\n"},
        {"pkg/other.py": "from pkg._legacy_too import fit\n"},
    ],
)
def test_what_nothing_names_runs_seldom(asked, more):
    assert heats({**HERE, **more}, asked)["pkg/_legacy.py"] == "cold"


@pytest.mark.parametrize("asked", ["", "pkg/_legacy.py"])
@pytest.mark.parametrize(
    "more",
    [
        {"pkg/__init__.py": "from pkg._legacy import score\n"},
        {"pkg/core.py": "from . import _legacy\n"},
        {"pkg/sub/__init__.py": "from .._legacy import score\n"},
        {"pkg/__init__.py": 'LAZY = {"_legacy": ["score"]}\n'},
        {"pkg/core.py": 'import importlib\nPART = importlib.import_module("pkg._" + "legacy")\n'},
        {"pkg/__init__.py": "import pkgutil\nPARTS = [*pkgutil.iter_modules(__path__)]\n"},
        {"pkg/sub/__init__.py": FETCH},
        {"pkg/__init__.py": "HERE = __file__\n"},
        {"setup.cfg": "[options.entry_points]\nconsole_scripts = score = pkg._legacy:score\n"},
        {"pkg/_legacy.py": SCORE + '\n\nif __name__ == "__main__":\n    print(score)\n'},
    ],
)
def test_what_something_may_bring_in_is_as_warm_as_it_was(asked, more):
    assert heats({**HERE, **more}, asked)["pkg/_legacy.py"] == "unknown"


def test_a_file_that_is_checked_beside_the_package_may_name_it():
    assert heats({**HERE, "run.py": "from pkg._legacy import score\n"})["pkg/_legacy.py"] == "unknown"


@pytest.mark.parametrize("name", ["pkg/legacy.py", "pkg/_old/legacy.py", "pkg/__legacy.py", "_legacy.py"])
def test_public_modules_and_those_of_no_package_have_unknown_callers(name):
    files = {**HERE, "pkg/_old/__init__.py": "", name: SCORE}
    assert heats(files)[name] == "unknown"


def test_hot_code_stays_hot():
    hot = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x[x > 0]\n"
    assert heats({**HERE, "pkg/_legacy.py": hot})["pkg/_legacy.py"] == "hot"


PARTS = {f"pkg/part{n}.py": "" for n in range(20)}
NAMES = "".join(f"from pkg import part{n}\n" for n in range(20))
LARGE = {"pkg/__init__.py": NAMES, **PARTS, "pkg/legacy.py": SCORE}


@pytest.mark.parametrize("asked", ["", "pkg/legacy.py"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"pkg/other.py": ""},  # one in ten may stand alone
        {"pkg/tests/__init__.py": "", "pkg/tests/test_legacy.py": "from pkg.legacy import score\n"},
    ],
)
def test_a_module_that_a_large_package_names_not_runs_seldom(asked, more):
    assert heats({**LARGE, **more}, asked)["pkg/legacy.py"] == "cold"


@pytest.mark.parametrize("asked", ["", "pkg/legacy.py"])
@pytest.mark.parametrize(
    "more",
    [
        {"pkg/__init__.py": "\n".join(NAMES.split("\n")[4:])},  # many are there for others
        {"pkg/part3.py": "from pkg.legacy import score\n"},
        {"pkg/net.yaml": "target: pkg.legacy.score\n"},
        {"setup.py": "", "train.py": "import pkg.legacy\n"},
        {"setup.cfg": "[options.entry_points]\nconsole_scripts = score = pkg.legacy:score\n"},
        {"pkg/part3.py": 'import importlib\nPART = importlib.import_module("pkg.leg" + "acy")\n'},
        {"pkg/legacy.py": SCORE + "\n\ndef main():\n    print(score)\n"},
    ],
)
def test_a_module_that_others_may_use_is_as_warm_as_it_was(asked, more):
    assert heats({**LARGE, **more}, asked)["pkg/legacy.py"] == "unknown"
