"""What nothing in a package names yet: its heat stays unknown, and the finding says so."""

import pytest
from packaged import found

SCORE = "import torch\n\n\ndef score(x: torch.Tensor) -> list:\n    return x.unique().tolist()\n"
CLASS = """
import torch


class Score:
    def total(self, x: torch.Tensor) -> list:
        return x.unique().tolist()
"""
ABSTRACT = """
import abc
import torch


class Base(abc.ABC):
    @abc.abstractmethod
    def read(self): ...

    def total(self, x: torch.Tensor) -> list:
        return x.unique().tolist()
"""
HERE = {f"pkg/{name}.py": "" for name in ("__init__", "fit", "load")}


def said(core: str, more: dict[str, str] | None = None, asked: str = "") -> str:
    """What is said of the heat of what is found in a module of a package, which is unknown."""
    finding = found({**HERE, "pkg/core.py": core, **(more or {})}, *([asked] if asked else []))["pkg/core.py"]
    assert finding.heat == "unknown"
    return " ".join([fact.text for fact in finding.hot_path])


@pytest.mark.parametrize("asked", ["", "pkg/core.py"])
@pytest.mark.parametrize(
    ("core", "name"),
    [
        (SCORE, "score"),
        (SCORE.replace("def", "@torch.no_grad()\ndef"), "score"),
        (SCORE.replace("    return", "    assert x.dim(), 'score: no scalars'\n    return"), "score"),
        (CLASS, "total"),
        (CLASS.replace("total", "__call__"), "Score"),
        (CLASS.replace("class Score", "class Above:\n    pass\n\n\nclass Score(Above)"), "total"),
        (CLASS.replace("class Score", "class Score(torch.nn.Module)"), "total"),
        (CLASS + "\n\ndef fit(score, x):\n    score.total(x)\n", "Score"),
        (ABSTRACT.replace("Base", "Other"), "total"),
    ],
)
def test_it_is_said_what_nothing_names(asked, core, name):
    assert said(core, {"pkg/fit.py": "from pkg.core import score_of, Scores"}, asked) == (
        f"nothing in its package names `{name}` yet"
    )


@pytest.mark.parametrize("asked", ["", "pkg/core.py"])
@pytest.mark.parametrize(
    "more",
    [
        {"pkg/fit.py": "from pkg.core import score\n"},
        {"pkg/__init__.py": "from .core import score\n"},
        {"pkg/__init__.py": 'LAZY = {"core": ["score"]}\n'},
        {"pkg/tests/__init__.py": "", "pkg/tests/test_core.py": "from pkg.core import score\n"},
        {"pkg/fast.pyx": "from pkg.core import score\n"},
        {"pkg/core.py": '__all__ = ["score"]\n' + SCORE},
        {"pkg/core.py": SCORE + "\n\nRULES = {'score': 1}\n"},
        {"pkg/core.py": SCORE.replace("def score", "@torch.library.impl\ndef score")},
        {"pkg/core.py": SCORE.replace("def score", "@property\ndef score")},
        {"pkg/core.py": "import library\n" + CLASS.replace("Score:", "Score(library.Metric):"), "pkg/fit.py": "Score"},
        {"pkg/core.py": "import torch\n\n\ndef outer():\n    def score(x: torch.Tensor):\n        return x.item()\n"},
    ],
)  # fmt: skip
def test_nothing_is_said_of_what_something_may_name(asked, more):
    assert said(SCORE, more, asked) == ""


def test_a_file_that_is_checked_beside_the_package_may_name_it():
    assert said(SCORE, {"run.py": "from pkg.core import score\n"}) == ""


@pytest.mark.parametrize("asked", ["", "pkg/core.py"])
def test_a_method_of_a_class_that_is_named_needs_its_own_name(asked):
    assert said(CLASS, {"pkg/fit.py": "from .core import Score\nScore().total(3)"}, asked) == ""
    assert said(CLASS, {"pkg/fit.py": "from .core import Score"}, asked) == "nothing in its package names `total` yet"
    assert said(CLASS, {"pkg/fit.py": "def f(x):\n    return x.total(3)\n"}, asked) == (
        "nothing in its package names `Score` yet"
    )


@pytest.mark.parametrize("asked", ["", "pkg/core.py"])
def test_nothing_calls_a_method_of_an_abstract_class_without_heirs(asked):
    use = "from .core import Base\n\n\ndef run(it: Base, x):\n    return it.total(x)\n\n\n__all__ = ['run']\n"
    bare = "`Base` is abstract, and nothing in its package descends from it yet"
    assert said(ABSTRACT, {"pkg/fit.py": use}, asked) == bare
    assert said(ABSTRACT, {"pkg/fit.py": use + "\n\nclass Kind(Basement):\n    pass\n"}, asked) == bare
    assert said(ABSTRACT, {"pkg/fit.py": use + "\n\nclass Kind(Base):\n    pass\n"}, asked) == ""
    assert (
        said(ABSTRACT, {"pkg/fit.py": use + "\n\nclass Kind(\n    Other,\n    core.Base[int],\n): ...\n"}, asked) == ""
    )
    assert said(ABSTRACT, {"pkg/fit.py": use.replace("Base\n", "Base as Above\n", 1)}, asked) == ""
    heir = "\n\nclass Kind(Base):\n    def read(self):\n        return 1\n"
    assert said(ABSTRACT + heir, {"pkg/fit.py": use}, asked) == ""
    written = ABSTRACT.replace("    @abc.abstractmethod\n", "").replace(": ...", ":\n        return 1")
    assert said(written, {"pkg/fit.py": use}, asked) == ""


HEIR = """
import torch
from pkg.base import Base


class Plain(Base):
    def total(self, x: torch.Tensor) -> list:
        return self.kept(x)

    def kept(self, x: torch.Tensor) -> list:
        return x.unique().tolist()
"""


READY = "from .base import Base\n\n\nclass Ready(Base):\n    def read(self):\n        return 1\n"


def made(
    core: str, more: str = "from .core import Plain\n\n__all__ = ['Plain']\n", ready: str = READY
) -> tuple[str, str]:
    files = {"pkg/base.py": ABSTRACT.partition("    def total")[0], "pkg/ready.py": ready, "pkg/__init__.py": more}
    finding = found({**HERE, **files, "pkg/core.py": core})["pkg/core.py"]
    return finding.heat, " ".join([fact.text for fact in finding.hot_path])


def test_what_nothing_can_be_made_of_runs_never():
    told = "nothing can be made of `Plain`, which lacks `read`, and nothing in its package descends from it"
    assert made(HEIR) == ("cold", told)


@pytest.mark.parametrize(
    ("core", "more"),
    [
        (HEIR + "\n    def read(self):\n        return 1\n", ""),
        (HEIR + "\n    @abc.abstractmethod\n    def more(self): ...\n", ""),  # it is there for those below it
        (HEIR + "\n\nclass Kind(Plain):\n    def read(self):\n        return 1\n", ""),
        (HEIR, "from .core import Plain\n\n\ndef load(kind):\n    return Plain()\n"),  # who makes it knows better
        (HEIR, "from .core import Plain\n\nKINDS = {'plain': Plain}\n"),
        (HEIR, "from .core import Plain\n\n\nclass Kind(Plain):\n    def read(self):\n        return 1\n"),
    ],
)
def test_what_may_be_made_may_run(core, more):
    assert made(core.replace("import torch", "import abc\nimport torch"), more)[0] == "unknown"


@pytest.mark.parametrize(
    ("core", "ready"),
    [
        (HEIR, "from .base import Base\n"),  # nobody writes it but those who use the package
        (
            HEIR.replace("(Base)", "(Base, Reading)").replace(
                "import torch", "import torch\nfrom tools import Reading"
            ),
            READY,
        ),
    ],
)
def test_what_others_may_write_may_run(core, ready):
    assert made(core, ready=ready)[0] == "unknown"


@pytest.mark.parametrize("core", [SCORE, CLASS])
def test_scripts_and_small_packages_are_there_for_others(core):
    for files in (
        {"core.py": core, "fit.py": "", "load.py": "", "more.py": ""},
        {"a/core.py": core, "a/__init__.py": ""},
    ):
        for path, finding in found(files).items():
            assert (path.endswith("core.py"), finding.heat, finding.hot_path) == (True, "unknown", ())


def test_what_is_hot_stays_hot():
    hot = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x[x > 0]\n"
    finding = found({**HERE, "pkg/core.py": hot})["pkg/core.py"]
    assert finding.heat == "hot"
    told = ["`Net.forward` runs at every step", "but nothing in its package names `Net` yet"]
    assert [fact.text for fact in finding.hot_path] == told
    named = found({**HERE, "pkg/core.py": hot, "pkg/fit.py": "from pkg.core import Net"})["pkg/core.py"]
    assert [fact.text for fact in named.hot_path] == told[:1]


NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super(Net, self).__init__()\n\n"
NET += "    def forward(self, x):\n        return self.masked(x)\n\n    def masked(self, x):\n        return x[x > 0]\n"


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"pkg/fit.py": "from pkg.core import *"},
        {"pkg/fit.py": "from pkg.core import Net"},
        {"pkg/fit.py": "NET = 'Net'"},
        {"pkg/net.yaml": "target: pkg.core.Net"},
        {"tests/test_core.py": "from pkg.core import Net"},
        {"pkg/core.py": NET + "\n\nMADE = Net()\n"},
        {"pkg/core.py": NET + "\n\nclass Deep(Net):\n    pass\n"},
        {"pkg/core.py": "__all__ = ['Net']\n" + NET},
    ],
)
def test_a_module_that_something_names_is_hot_without_more(more):
    finding = found({**HERE, "pkg/core.py": NET, **more})["pkg/core.py"]
    unnamed = not more or "*" in more.get("pkg/fit.py", "")
    assert finding.heat == "hot"
    assert finding.hot_path[-1].text.startswith("but nothing in its package names `Net`") is unnamed


OPS = "".join(f"def op{n}(x: torch.Tensor) -> list:\n    return x.unique().tolist()\n\n\n" for n in range(5))
TAKEN = "from pkg.core import op0, op1\nimport pkg.core\n\npkg.core.op2\n"


@pytest.mark.parametrize(
    ("uses", "heat"),
    [
        (TAKEN, "cold"),
        (TAKEN.replace(", op1", ""), "cold"),
        ("from pkg.core import op0\n", "unknown"),  # too few to tell
        ("from pkg.core import op0, Kept\n", "unknown"),  # beside a class a loss may be there for who trains it
        (TAKEN + "from .core import *\n", "unknown"),
        (TAKEN + "op4\n", "unknown"),
    ],
)
def test_what_is_left_over_beside_what_the_package_takes(uses, heat):
    kept = "class Kept:\n    def act(self, other):\n        return other.act()\n"
    findings = found({**HERE, "pkg/core.py": f"import torch\n\n\n{kept}\n\n{OPS}", "pkg/fit.py": uses})
    finding = findings["pkg/core.py"]
    assert finding.function == "op4"
    assert finding.heat == heat
    if heat == "cold":
        assert finding.hot_path[0].text == "nothing in its package names `op4` yet, but others of its file"


MADE = """
import torch


class Codes(torch.nn.Module):
    def forward(self, x):
        return x

    def entry(self, x: torch.Tensor) -> list:
        return x.unique().tolist()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.codes = Codes()
"""


@pytest.mark.parametrize(
    ("core", "fit", "heat"),
    [
        (MADE, "from .core import Net", "cold"),
        (MADE, "from .core import Net, Codes", "unknown"),
        (MADE.replace("= Codes()", "= None"), "from .core import Net", "unknown"),  # made by others, then
        (MADE.replace("= Codes()", "= None  # Codes()"), "from .core import Net", "unknown"),
        (MADE.replace("Codes(torch.nn.Module)", "Codes"), "from .core import Net", "unknown"),  # a result, perhaps
        (MADE + "\n\nclass More(Codes):\n    pass\n", "from .core import Net, More", "unknown"),
        (MADE, "from .core import Net\n\n\ndef show(net):\n    return net.codes.entry(3)\n", "unknown"),
        (MADE, "from .core import *", "unknown"),
    ],
)
def test_a_method_that_nothing_names_of_a_class_that_its_file_alone_makes(core, fit, heat):
    finding = found({**HERE, "pkg/core.py": core, "pkg/fit.py": fit})["pkg/core.py"]
    assert (finding.function, finding.heat) == ("Codes.entry", heat)


@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("train.py", True),
        ("scripts/train.py", True),
        ("scripts/eval/train.py", True),
        ("other/__init__.py", False),  # another package
        ("venv/lib/train.py", False),
    ],
)
def test_scripts_beside_the_package_count(script, named):
    files = {**HERE, "pkg/core.py": SCORE, "pyproject.toml": "", "other/__init__.py": "", "venv/pyvenv.cfg": ""}
    told = said("", files | {script: "from pkg.core import score\n", "pkg/core.py": SCORE}, "pkg/core.py")
    assert told == ("" if named else "nothing in its package names `score` yet")


CLASSES = "\n\n\nclass Near:\n    pass\n\n\nclass Far:\n    pass\n"


@pytest.mark.parametrize("core", [SCORE + CLASSES, CLASS + CLASSES])
@pytest.mark.parametrize(
    ("init", "heat"),
    [
        ("from .core import Near, Far", "cold"),
        ("from .core import (\n    Near,  # the one\n    Far as Other,\n)", "cold"),
        ("from pkg.core import Near\nfrom pkg.core import Far", "cold"),
        ("from .core import Near", "unknown"),  # too few to tell
        ("from .core import *", "unknown"),
        ("from .core import Near, Far\nfrom .core import *", "unknown"),
        ("from .core import Near, Far\nfrom .sub.core import *", "cold"),  # another module
        ("from .core import Near, Far, Score, score", "unknown"),
        ("from .other import Near, Far", "unknown"),
    ],
)
def test_what_a_package_leaves_where_it_says_what_is_there_for_others(core, init, heat):
    assert found({**HERE, "pkg/core.py": core, "pkg/__init__.py": f"{init}\n"})["pkg/core.py"].heat == heat


def test_a_method_of_what_is_there_for_others_is_theirs():
    files = {**HERE, "pkg/core.py": CLASS + CLASSES, "pkg/__init__.py": "from .core import Near, Far, Score\n"}
    assert found(files)["pkg/core.py"].heat == "unknown"


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({"pkg/fit.py": 'def fit():\n    """As `score`, but for more."""\n'}, False),
        ({"pkg/fit.py": "def fit():\n    return 1  # no score here\n"}, False),
        ({"pkg/fit.py": "def score(x):\n    return x\n\n\nprint(score(1))\n"}, False),
        ({"pkg/core.py": SCORE + '\n\ndef scores(x):\n    """Each `score`."""\n    return x\n'}, False),
        ({"pkg/fit.py": 'TEXT = """\nno\n"""\nscore(1)\n\n\ndef fit():\n    """It."""\n'}, True),
        ({"pkg/fit.py": 'TEXT = """\nscore\n"""\n'}, True),
        ({"pkg/fit.py": "from pkg.core import score as total\n\n\ndef score(x):\n    return total(x)\n"}, True),
    ],
)
def test_what_tells_of_a_function_or_has_its_own_calls_none(more, names):
    told = "" if names else "nothing in its package names `score` yet"
    assert said(SCORE, more) == told
