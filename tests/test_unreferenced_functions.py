"""Which private functions nothing in their package names: what is in them runs seldom, if at all."""

import pytest
from packaged import heats

CORE = """
import torch


class Score(torch.nn.Module):
    def total(self, x):
        return x

    def _classes(self, x: torch.Tensor) -> list:
        return x.unique().tolist()
"""
HERE = {"pkg/__init__.py": "", "pkg/core.py": CORE, "pkg/other.py": "import torch\n"}
BASED = CORE.replace("class Score", "class Base:\n    pass\n\n\nclass Score").replace("torch.nn.Module", "Base")
LOSS = "import torch\n\n\ndef _classes(x: torch.Tensor) -> list:\n    return x.unique().tolist()\n"


@pytest.mark.parametrize("asked", ["", "pkg/core.py"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"pkg/core.py": LOSS + "\n\ndef ask(x, name):\n    return getattr(x, name)\n"},
        {"pkg/core.py": BASED},
        {"pkg/tests/__init__.py": "", "pkg/tests/test_core.py": "from pkg.core import Score\nScore()._classes(None)\n"},
        {"pkg/other.py": "from pkg.core import _classes_of\n"},
        {"pkg/core.py": CORE.replace("    def _classes(self, ", "    @staticmethod\n    def _classes(")},
        {"pkg/core.py": LOSS.replace("def", "@torch.no_grad()\ndef")},
        {"pkg/core.py": '__all__ = ["Loss"]\n' + LOSS.replace("_classes", "classes")},
        {"pkg/core.py": '__all__ = ["Loss"]\n' + LOSS.replace("_classes", "classes"), "pkg/other.py": "classes_of = 3"},
    ],
)  # fmt: skip
def test_what_nothing_calls_runs_seldom(asked, more):
    assert heats({**HERE, **more}, asked)["pkg/core.py"] == "cold"


@pytest.mark.parametrize("asked", ["", "pkg/core.py"])
@pytest.mark.parametrize(
    "more",
    [
        {"pkg/other.py": "def all_of(score, x):\n    return score._classes(x)\n"},
        {"pkg/__init__.py": "from pkg.core import Score, _classes\n"},
        {"pkg/sub/__init__.py": 'NAMES = ["_classes"]\n'},
        {"pkg/core.py": CORE.replace("return x\n", "return self._classes(x)\n", 1)},
        {"pkg/core.py": CORE.replace("return x\n", 'return getattr(self, f"_{x}")(x)\n', 1)},
        {"pkg/core.py": CORE.replace("return x\n", "return getattr(self, x.name)(x)\n", 1)},
        {"pkg/core.py": "import library\n" + CORE.replace("torch.nn.Module", "library.Metric")},
        {"pkg/core.py": CORE.replace("_classes", "_call_impl")},  # which torch calls
        {"pkg/core.py": CORE.replace("_classes", "classes")},
        {"pkg/core.py": LOSS.replace("_classes", "classes")},
        {"pkg/core.py": '__all__ = ["classes"]\n' + LOSS.replace("_classes", "classes")},
        {"pkg/core.py": '__all__ = ["Loss"]\n__all__ += more()\n' + LOSS.replace("_classes", "classes")},
        {"pkg/core.py": '__all__ = ["Loss", *more()]\n' + LOSS.replace("_classes", "classes")},
        {
            "pkg/core.py": '__all__ = ["Loss"]\n' + LOSS.replace("_classes", "classes"),
            "pkg/other.py": "from .core import classes\n",
        },
        {"pkg/core.py": '__all__ = ["Score"]\n' + CORE.replace("_classes", "classes")},
        {"pkg/core.py": CORE.replace("_classes", "__classes__")},
        {"pkg/core.py": LOSS + "\n\ndef ask(x, name):\n    return globals()[name](x)\n"},
        {"pkg/core.py": LOSS.replace("def", "@torch.library.impl\ndef")},
    ],
)  # fmt: skip
def test_what_something_may_call_is_as_warm_as_it_was(asked, more):
    assert heats({**HERE, **more}, asked)["pkg/core.py"] == "unknown"


def test_what_is_in_no_package_has_unknown_callers():
    assert heats({"core.py": CORE})["core.py"] == "unknown"
    assert heats({**HERE, "run.py": "from pkg.core import Score\nScore()._classes(None)\n"})["pkg/core.py"] == "unknown"


@pytest.mark.parametrize(
    ("brings", "heat"),
    [
        ("importlib.import_module('pkg.core')", "unknown"),
        ("importlib.import_module(f'pkg.{name}')", "unknown"),
        ("importlib.import_module('pkg.' + name)", "unknown"),
        ("importlib.import_module('pkg.other')", "cold"),
        ("importlib.import_module('pkg.other.' + name)", "cold"),
        ("importlib.import_module('other')", "cold"),
    ],
)
@pytest.mark.parametrize("name", ["_classes", "classes"])
def test_what_is_brought_in_by_a_text_may_be_asked_for_by_any_name(name, brings, heat):
    asks = f"import importlib\n\n\ndef run(name, x):\n    part = {brings}\n    return getattr(part, name)(x)\n"
    core = LOSS.replace("_classes", name) + "".join(f"\n\ndef {one}(x):\n    return x\n" for one in ("one", "two"))
    files = {**HERE, "pkg/core.py": core, "pkg/use.py": "from .core import one, two\n", "pkg/main.py": asks}
    assert heats(files)["pkg/core.py"] == heat
    assert heats({**files, "pkg/main.py": asks.replace("(part, name)", "(part, 'shown')")})["pkg/core.py"] == "cold"


@pytest.mark.parametrize(
    ("asks", "heat"),
    [
        ("from . import core\n\n\ndef run(kind, x):\n    return getattr(core, f'_{kind}')(x)\n", "unknown"),
        ("from . import core as ops\n\n\ndef run(kind, x):\n    return getattr(ops, kind)(x)\n", "unknown"),
        ("import pkg.core as ops\n\n\ndef run(kind, x):\n    return vars(ops)[kind](x)\n", "unknown"),
        ("from . import core\n\n\ndef run(kind, x):\n    return core.__dict__[kind](x)\n", "unknown"),
        ("from . import core\n\n\ndef run(kind, x):\n    return getattr(kind, x.name)(x)\n", "cold"),
        ("from . import core\n\n\ndef run(kind, x):\n    return getattr(core, 'shown')(x)\n", "cold"),
    ],
)
def test_what_a_module_is_asked_for_by_a_made_up_name_may_be_called(asks, heat):
    assert heats({**HERE, "pkg/core.py": LOSS, "pkg/main.py": asks})["pkg/core.py"] == heat


def test_so_may_a_method_of_what_a_file_has_by_its_class():
    asks = "from .core import Score\n\n\ndef run(score: Score, kind, x):\n    return getattr(score, f'_{kind}')(x)\n"
    assert heats({**HERE, "pkg/main.py": asks})["pkg/core.py"] == "unknown"
    assert (
        heats({**HERE, "pkg/main.py": asks.replace("(x)\n", "\n").replace("return", "print")})["pkg/core.py"] == "cold"
    )
