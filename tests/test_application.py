"""What nothing names in an application, whose code nobody installs, is dead: it runs seldom, whatever its name."""

from __future__ import annotations

import pytest
from packaged import found, heats

SCORE = "import torch\n\n\ndef score(x: torch.Tensor) -> list:\n    return x.unique().tolist()\n"
NET = """
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> list:
        return x.unique().tolist()
"""
TRAIN = "import argparse\n\n\nif __name__ == '__main__':\n    print(argparse.ArgumentParser().parse_args())\n"
HERE = {"requirements.txt": "torch\n", "train.py": TRAIN, "load.py": "", "models/fit.py": "", "utils/show.py": ""}
LIBRARY = "[build-system]\nrequires = ['hatchling']\n"
USE = "\n\n\ndef use(x):\n    return {}\n\n\nALL = map(use, [1])\n"
ASKED = pytest.mark.parametrize("asked", ["", "models/core.py"])


def heat(core: str, more: dict[str, str] | None = None, asked: str = "") -> str:
    """The heat of what is found in a module of an application."""
    return heats({**HERE, "models/core.py": core, **(more or {})}, asked)["models/core.py"]


@ASKED
@pytest.mark.parametrize("core", [SCORE, NET])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"models/__init__.py": ""},
        {"models/fit.py": "# Net and score are gone\n"},
        {"models/fit.py": "from models.core import Net, score\n"},  # it does nothing with them
        {"models/fit.py": "class Net:\n    def score(self): ...\n\n\ndef score(): ...\n"},
        {"config.yaml": "lr: 1  # of Net, by its score\n"},
        {"pyproject.toml": "[tool.ruff]\nline-length = 120\n"},
        {"setup.cfg": "[flake8]\nmax-line-length = 120\n"},
        {"setup.py": "from setuptools import setup\nsetup(name='ops', ext_modules=[])\n"},
        {"models/ops/setup.py": "from setuptools import setup\nsetup(name='ops', packages=['ops'])\n"},
        {"ops/setup.py": "from setuptools import setup\nsetup(name='ops', packages=['ops'])\n"},
        {"train.py": TRAIN + "\nprint(getattr(torch.optim, 'SGD'), getattr(settings, name))\n"},
        {"fit.py": "import argparse, old.parts as parts\nprint(getattr(parts, argparse.name))\n", "old/parts.py": ""},
    ],
)
def test_what_nothing_names_is_dead(asked, core, more):
    assert heat(core, more, asked) == "cold"


@ASKED
def test_what_nothing_names_says_so_in_its_path(asked):
    finding = found({**HERE, "models/core.py": NET}, asked)["models/core.py"]
    assert [fact.text for fact in finding.hot_path] == ["nothing in its project names `Net`"]


@ASKED
@pytest.mark.parametrize(
    "more",
    [
        {"train.py": TRAIN + "from models.core import Net, score" + USE.format("score(x), Net()(x)")},
        {"load.py": "from models import core" + USE.format("core.score(x), core.Net()(x)")},
        {"load.py": "from models.core import *" + USE.format("score(x), Net()(x)")},
        {"load.py": "from models.core import Net as Part, score as rate\nprint(rate(1), Part()(2))\n"},
        {
            "models/__init__.py": "from .core import Net, score\n",
            "load.py": "import models\nmodels.Net(models.score)\n",
        },
        {"conf/a.yaml": "_target_: models.core.Net\nloss: models.core.score\n"},
        {"run.sh": "python train.py --model Net --loss score\n"},
        {"a/b/c/d/fit.py": "print('Net', 'score')\n"},
        {"conf/a.json": '{"model": "Net", "loss": "score"}'},
        {"play.ipynb": '{"cells": [{"cell_type": "code", "source": ["Net()(score(1))"]}]}'},
        {"load.py": "from models import core\nprint(getattr(core, input()))\n"},
        {"load.py": "import models.core as parts\nprint(parts.__dict__[input()])\n"},
        {"models/__init__.py": "from .core import *\n", "load.py": "import models\nprint(vars(models)[input()])\n"},
        {"load.py": "from models.core import *\nprint(globals()[input()])\n"},
    ],
)
@pytest.mark.parametrize(("core", "was"), [(SCORE, "unknown"), (NET, "hot")])
def test_what_something_may_name_is_as_warm_as_it_was(asked, more, core, was):
    assert heat(core, more, asked) == was


@ASKED
@pytest.mark.parametrize(
    "more",
    [
        {"pyproject.toml": LIBRARY},
        {"setup.cfg": "[metadata]\nname = models\n"},
        {"setup.py": "from setuptools import setup\nsetup(name='models', packages=['models'])\n"},
        {"models/setup.py": "from setuptools import setup\nsetup(name='models')\n"},
        {"python/setup.py": "from setuptools import setup\nsetup(packages=['models'], package_dir={'': '..'})\n"},
        {"__init__.py": ""},  # a part of somebody else's
        {"train.py": "", "load.py": ""},  # nothing is started
        {"requirements.txt": "", "PKG-INFO": "Name: models\n"},
    ],
)
def test_what_others_may_import_is_as_warm_as_it_was(asked, more):
    assert heat(SCORE, more, asked) == "unknown"


BESIDE = {
    "setup.py": "from setuptools import find_packages, setup\nsetup(name='ops', packages=find_packages())\n",
    "ops/__init__.py": "",
}


@ASKED
@pytest.mark.parametrize(
    ("more", "warmth"),
    [
        ({}, "cold"),
        ({"models/__init__.py": ""}, "unknown"),
        ({"setup.py": "from setuptools import setup\nsetup(packages=['ops', 'models'])\n"}, "unknown"),
        ({"setup.py": "from setuptools import setup\nsetup(packages=find_namespace_packages())\n"}, "unknown"),
        ({"setup.py": "from setuptools import setup\nsetup(py_modules=['load'], packages=['ops'])\n"}, "unknown"),
        ({"pyproject.toml": LIBRARY + "[tool.hatch.build.targets.wheel]\npackages = ['models']\n"}, "unknown"),
        ({"models/setup.py": "from setuptools import setup\nsetup(name='models')\n"}, "unknown"),
        ({"setup.py": BESIDE["setup.py"].replace("name='ops'", "name='models-ops'")}, "unknown"),
    ],
)
def test_what_stands_beside_the_package_that_is_installed_is_an_application(asked, more, warmth):
    assert heat(SCORE, {**BESIDE, **more}, asked) == warmth


@ASKED
def test_tests_are_no_package_that_is_installed(asked):
    assert heat(SCORE, {"setup.py": BESIDE["setup.py"], "tests/__init__.py": ""}, asked) == "unknown"


PARTS = """
import torch


class Norm(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> list:
        return x.unique().tolist()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()

    def forward(self, x: torch.Tensor) -> list:
        return self.norm(x)


__all__ = ["Net", "Norm"]
"""
USES = TRAIN + "from models.other import Net\nfor x in []:\n    Net()(x)\n"
BOTH = {"models/other.py": PARTS, "train.py": USES}


@ASKED
@pytest.mark.parametrize(
    ("more", "warmth"),
    [
        ({}, "cold"),
        ({"load.py": "print('the core of it', {'core': 1}['core'])\n"}, "cold"),
        ({"load.py": "def show(core):\n    print(f'{core.norm} of {core.core}')\n"}, "cold"),
        ({"config.yaml": "core: 1  # models.core.Net\n"}, "cold"),
        ({"tests/test_core.py": "from models.core import Net\n"}, "cold"),
        ({"load.py": "from models.core import Net\n"}, "hot"),
        ({"load.py": "from models import (\n    other,\n    core,\n)\n"}, "hot"),
        ({"models/__init__.py": "from . import core, other\n"}, "hot"),
        ({"config.yaml": "_target_: models.core.Net\n"}, "hot"),
        ({"run.sh": "python -m models.core\n"}, "hot"),
        ({"run.sh": "python models/core.py\n"}, "hot"),
        ({"load.py": "PARTS = ['models.core']\n"}, "hot"),
        ({"play.ipynb": '{"cells": [{"cell_type": "code", "source": ["from models import core"]}]}'}, "hot"),
        ({"load.py": "from hyperpyyaml import load_hyperpyyaml\n\nprint(load_hyperpyyaml(open('a')))\n"}, "hot"),
        ({"load.py": "import importlib\n\nprint(importlib.import_module(input()))\n"}, "hot"),
        ({"load.py": "from models import other, \\\n    core\n"}, "hot"),
        ({"models/core.py": PARTS + "\nprint(Net())\n"}, "hot"),
        ({"models/core.py": PARTS + "\nfor n in range(3):\n    Net()(n)\n"}, "hot"),  # a script
        ({"models/core.py": PARTS + "\nnet = Net()\n"}, "cold"),
        ({"models/core.py": PARTS + "\nnet = load(Net)\n"}, "hot"),
        ({"models/core.py": PARTS + "\nwith torch.no_grad():\n    Net()(3)\n"}, "hot"),
        ({"models/core.py": PARTS + "\nif __name__ == '__main__':\n    Net()(3)\n"}, "hot"),
        ({"models/core.py": PARTS + "\nif torch.cuda.is_available():\n    Net()(3)\n"}, "hot"),
        ({"models/core.py": PARTS.replace("class Net", "@register\nclass Net")}, "cold"),  # who lists it has it not
        (
            {
                "models/core.py": PARTS.replace("class Net", "@register\nclass Net"),
                "load.py": "import importlib, os\n\nfor one in os.listdir('zoo'):\n    importlib.reload(one)\n",
            },
            "hot",
        ),
        ({"models/core.py": PARTS.replace("class Net", "@torch.jit.script\nclass Net")}, "cold"),
        ({"models/core.py": PARTS + "\n\nclass Run:\n    def __init__(self):\n        self.fit()\n\nRun()\n"}, "hot"),
        (
            {"models/core.py": PARTS + "\n\nclass Run:\n    def __init__(self):\n        self.fit()\n\nrun = Run()\n"},
            "hot",
        ),
        ({"conf/a.yaml": "_target_: ${root}.${name}.Net\n"}, "hot"),
        ({"load.py": "if True: import models.core\n"}, "hot"),
        ({"models/core.py": "try:\n    import apex\nexcept ImportError:\n    apex = None\n" + PARTS}, "cold"),
        ({"models/core.py": PARTS + "\nlogger = logging.getLogger(__name__)\nlogger.setLevel(1)\n"}, "cold"),
        ({"models/core.py": PARTS + "\n\n@app.route('/')\ndef serve(x):\n    return Net()(x)\n"}, "hot"),
        ({"models/core.py": PARTS + "\nNAMES, SIZE = ['Net'], 3\n"}, "cold"),
    ],
)
def test_a_module_that_nothing_imports_is_dead(asked, more, warmth):
    assert heat(PARTS, {**BOTH, **more}, asked) == warmth


TAKEN = TRAIN + "from models.{} import Net" + USE.format("Net()(x)")


@ASKED
@pytest.mark.parametrize(
    ("more", "warmth"),
    [
        ({"models/other.py": NET, "train.py": TAKEN.format("other")}, "cold"),  # another one of that name
        ({"models/api.py": "from models.core import Net\n", "train.py": TAKEN.format("api")}, "hot"),
        ({"models/other.py": NET, "train.py": TAKEN.format("other"), "run.sh": "python train.py --model Net\n"}, "hot"),
        ({"models/other.py": NET, "train.py": TAKEN.format("other"), "load.py": TAKEN.format("core")}, "hot"),
        ({"models/other.py": NET, "train.py": TAKEN.format("elsewhere")}, "hot"),
        (
            {
                "models/__init__.py": "from .core import Net\n",
                "old/models.py": NET,
                "train.py": TAKEN.replace("models.{}", "models"),
            },
            "hot",
        ),
        (
            {
                "lib.py": "import models.core as mods\n",
                "train.py": TRAIN
                + "from lib import mods\n\n\nclass Net:\n    def __init__(self):\n        self.n = mods.Net()\n",
            },
            "hot",
        ),
        ({"other/core.py": NET, "other/run.py": TAKEN.replace("models.{}", "core"), "models/run.py": ""}, "hot"),
        (
            {
                "models/other.py": NET,
                "train.py": "import models.core\n" + TAKEN.format("other") + "print(models.core.Net)\n",
            },
            "hot",
        ),
    ],
)
def test_a_name_that_is_taken_out_of_another_module_is_that_of_what_stands_there(asked, more, warmth):
    assert heat(NET, more, asked) == warmth


def test_who_lists_a_name_for_others_has_no_use_for_it():
    listed = "__all__ = ['score', 'rate']\n" + SCORE
    assert heat(listed, {"load.py": "from models.core import rate\nrate()\n"}) == "cold"


def test_what_a_hub_takes_is_there_for_others():
    assert heats({**HERE, "hubconf.py": SCORE})["hubconf.py"] == "unknown"


def test_a_folder_that_says_nothing_is_no_application():
    files = {name: text for name, text in HERE.items() if name != "requirements.txt"}
    assert heats({**files, "models/core.py": SCORE})["models/core.py"] == "unknown"


@ASKED
def test_what_dead_code_alone_calls_is_dead(asked):
    user = "from models.core import score\n\n\ndef rank(x):\n    return score(x)\n"
    more = {".git/HEAD": "", "models/rank.py": user}
    assert heat(SCORE, more) == "cold"
    more = {**more, "train.py": TRAIN + "from models.rank import rank\nfor n in range(99):\n    rank(n)\n"}
    assert heat(SCORE, more, asked) == "unknown"


RANK = "from models.core import score\n\n\ndef rank(x):\n    return score(x)\n"


@pytest.mark.parametrize(
    ("load", "told"),
    [
        ("from models.core import score\n\nprint(score(1))\n", "cold"),
        ("from models.core import score\n\nif __name__ == '__main__':\n    with None:\n        score(1)\n", "cold"),
        ("from models import core\n\nTABLE = core.score(1)\n", "cold"),
        ("from models.core import score\n\nfor n in range(9):\n    if n:\n        print(score(n))\n", "unknown"),
        ("from models.core import score\n\nprint([score(n) for n in range(9)])\n", "unknown"),
        ("from models.core import score\n\nprint([\n    score(n)\n    for n in range(9)\n])\n", "unknown"),
        ("from models.core import score\n\nALL = lambda: score(1)\n", "unknown"),
        ("from models.core import score\n\n\nclass Part:\n    kept = score(1)\n", "unknown"),
    ],
)
@pytest.mark.parametrize("loop", [False, True])
def test_what_the_top_of_a_file_calls_runs_once(load, told, loop):
    rows = "import torch\n\n\ndef score(x: torch.Tensor):\n    for row in x:\n        print(row.item())\n"
    more = {".git/HEAD": "", "load.py": load, "utils/score.py": "from models.core import score\n"}
    assert heat(rows if loop else SCORE, more) == ("unknown" if loop else told)


def test_who_brings_it_in_and_lets_it_be_calls_nothing():
    load = "from models.core import score\n\n\nclass Data:\n    def setup(self, x):\n        self.x = score(x)\n"
    files = {".git/HEAD": "", "load.py": load}
    other = "from models.core import score\n\n\ndef show(x):\n    return x  # not its score\n"
    assert heat(SCORE, files) == "cold"
    assert heat(SCORE, {**files, "utils/show.py": other}) == "cold"
    assert heat(SCORE, {**files, "utils/show.py": RANK.replace("rank", "show")}) == "cold"  # nothing calls that
    often = "from models.core import score\n\n\nclass Often:\n    def often(self, x):\n        return score(x)\n"
    for text in (often, often.replace("score\n", "score as total\n", 1).replace("score(", "total(")):
        used = {"utils/show.py": text, "train.py": f"{TRAIN}often = Often().often\n"}
        assert heat(SCORE, {**files, **used}) == "unknown"


BASE = """
class Base:
    def __init__(self):
        self.create()

    def create(self):
        pass

    def often(self):
        pass
"""
TASK = """
import torch
from core.envs.base import Base


class Task(Base):
    def {name}(self):
        self._limits(torch.zeros(3, device="cuda"))

    def _limits(self, x):
        self.limits = x.tolist()
"""


@pytest.mark.parametrize("project", [{}, {"setup.py": "from setuptools import setup\nsetup(packages=['core'])\n"}])
@pytest.mark.parametrize(("name", "told"), [("create", "cold"), ("often", "unknown")])
def test_what_a_constructor_of_a_base_calls_is_setup_in_folders_without_packages_as_well(project, name, told):
    run = "from core.envs.task import Task\n\nenv = Task()\nfor n in range(9):\n    env.often()\n"
    files = {".git/HEAD": "", "core/__init__.py": "", "core/envs/base.py": BASE, "run.py": run}
    task = {"core/envs/task.py": TASK.format(name=name)}
    assert heats({**HERE, **files, **project, **task})["core/envs/task.py"] == told


STREAM = """
import torch


def stream(net, x: torch.Tensor):
    def made(n):
        return net(x + n).sum().item()

    {gives}
"""


@pytest.mark.parametrize("gives", ["return [made(n) for n in range(x.shape[0])]", "return map(made, range(9))"])
def test_a_function_inside_another_one_may_be_called_in_each_turn(gives):
    run = "from models.core import stream\n\nprint(stream(print, 1))\n"
    assert heat(STREAM.format(gives=gives), {".git/HEAD": "", "load.py": run}) == "unknown"


@ASKED
@pytest.mark.parametrize(
    ("name", "expected"), [("TritonPythonModel", "unknown"), ("Predictor", "unknown"), ("Tool", "cold")]
)
def test_what_serves_models_loads_classes_that_nobody_names(asked, name, expected):
    core = NET.replace("Net(torch.nn.Module)", name).replace("forward", "execute")
    assert heat(core, {}, asked) == expected


@ASKED
@pytest.mark.parametrize(
    ("brings", "base", "expected"),
    [
        ("import mlflow", "mlflow.pyfunc.PythonModel", "unknown"),
        ("from mlflow.pyfunc import PythonModel as Base", "Base", "unknown"),
        ("from cog import BasePredictor", "BasePredictor", "unknown"),
        ("from abc import ABC as Base", "Base", "cold"),
    ],
)
def test_what_serves_models_has_classes_that_descend_from_its_own(asked, brings, base, expected):
    core = NET.replace("Net(torch.nn.Module)", f"Tool({base})").replace("forward", "predict")
    assert heat(f"{brings}\n{core}", {}, asked) == expected


def test_what_serves_models_loads_functions_that_nobody_names():
    assert heat(SCORE.replace("score", "predict_fn")) == "unknown"


BROUGHT = """import argparse
{}

if __name__ == '__main__':
    kind = argparse.ArgumentParser().parse_args().kind
    {}
"""


@ASKED
@pytest.mark.parametrize(
    ("brings", "uses"),
    [
        ("from models.core import *", "net = eval(kind)()"),
        (
            "from models import core",
            "net = build(core, kind)\n\ndef build(mod, kind):\n    return getattr(mod, kind)()",
        ),
        ("from importlib import import_module", "net = getattr(import_module('models.core'), kind)()"),
        ("from importlib import import_module as load", "net = getattr(load('models.core'), kind)()"),
        ("import inspect\nfrom models import core", "nets = dict(inspect.getmembers(core))[kind]"),
        ("from operator import attrgetter\nfrom models import core", "net = attrgetter(kind)(core)"),
        ("from pydoc import locate", "net = locate(f'models.core.{kind}')()"),
        ("", "exec('from models.core import ' + kind)"),
        ("import fire\nfrom models import core", "fire.Fire(core)"),
        ("from jsonargparse import CLI", "CLI()"),
        ("import torch", "nets = torch.nn.Module.__subclasses__()"),
        ("from omegaconf import OmegaConf", 'OmegaConf.create("""\n_target_: models.core.Net\n""")'),
        ("from models.core import *", "names = locals()\n    net = names[kind]()"),
        ("import models.core as core", "class Net(core.Net): ...\n    net = Net()"),
        ("from models.core import Net; net = Net()", "print(net)"),
    ],
)
def test_code_that_may_come_to_whatever_there_is_leaves_nothing_dead(asked, brings, uses):
    assert heat(NET, {"train.py": BROUGHT.format(brings, uses)}, asked) == "hot"


@ASKED
@pytest.mark.parametrize(
    ("brings", "uses", "more"),
    [
        ("from importlib import import_module", "net = import_module('torch.nn').Linear(2, 2)", ""),
        ("from importlib import import_module", "net = import_module(f'data.{kind}').net", ""),
        ("from importlib import import_module", "net = import_module('data.%s' % kind).net", ""),
        ("from importlib import import_module", "net = import_module(f'.{kind}', __name__).net", ""),
        ("from models.core import build", "net = eval(kind)()", "\ndef build():\n    return 1\n"),
        ("", "exec(kind, {})", ""),
        ("", "net = 1", "\ndef read(net, keys):\n    return [getattr(net, key) for key in keys]\n"),
    ],
)
def test_code_that_may_come_to_other_things_comes_to_no_other(asked, brings, uses, more):
    assert heat(NET + more, {"tools/run.py": BROUGHT.format(brings, uses)}, asked) == "cold"


@ASKED
@pytest.mark.parametrize(
    ("path", "brings"),
    [
        ("models/__init__.py", "import_module(f'.{kind}', __name__)"),
        ("tools/run.py", "import_module(f'models.{kind}')"),
        ("tools/run.py", "import_module('.' + kind, 'models')"),
        ("tools/run.py", "import_module(kind)"),
        ("tools/run.py", "__import__('mod%s' % kind)"),
    ],
)
def test_a_module_that_may_be_brought_in_is_not_dead(asked, path, brings):
    text = f"from importlib import import_module\n\n\ndef net(kind):\n    return {brings}.net\n"
    assert heat(NET, {path: text}, asked) == "hot"


@ASKED
@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("net = getattr(import_module('models'), kind)", {"models/__init__.py": "from .core import *\n"}),
        ("net = getattr(import_module('models').core, kind)", {"models/__init__.py": "from . import core\n"}),
        ("net = import_module(f'zoo.{kind}').net", {"zoo/one.py": "from models.core import *\n"}),
        ("exec(f'from models.core import {kind} as net')", {}),
        ('exec(f"""\nfrom models.core import {kind} as net\n""")', {}),
        ("code = 'from models.core import %s as net' % kind\nexec(code)", {}),
        ("exec(open('models/core.py').read())", {}),
    ],
)
def test_who_brings_in_a_package_comes_to_what_that_takes(asked, text, more):
    assert heat(NET, {"tools/run.py": f"from importlib import import_module\n\n{text}\n", **more}, asked) == "hot"


@ASKED
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Makefile", "run:\n\tpython -c 'from models.core import Net; Net()'\n"),
        ("Dockerfile", "CMD python -c 'from models.core import Net; Net()'\n"),
        ("job.slurm", "python -c 'from models.core import Net; Net()'\n"),
        (".github/run.yml", "run: python -c 'from models.core import Net; Net()'\n"),
        ("hubconf.py", "from models.core import Net\n"),
        ("hubconf.py", "from models.core import *\n"),
    ],
)
def test_what_starts_code_names_it(asked, path, text):
    assert heat(NET, {path: text}, asked) == "hot"


@ASKED
@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ("getattr(self, f'take_{kind}')(x)", "unknown"),
        ("getattr(self, 'take_' + kind)(x)", "unknown"),
        ("getattr(self, f'{kind}_a')(x)", "unknown"),
        ("name = 'take' + '_' + kind\n        getattr(self, name)(x)", "unknown"),
        ("getattr(self, 'take_%s' % kind)(x)", "unknown"),
        ("[getattr(self, one) for one in dir(self)]", "unknown"),
        ("self.other(x)", "cold"),
        ("getattr(self, f'{kind}_{kind}')(x)", "unknown"),
        ("getattr(self, '%s_%s' % (kind, kind))(x)", "unknown"),
        ("getattr(self, kind.lower())(x)", "unknown"),
        ("getattr(self, kind)(x)", "cold"),  # a name that stands nowhere
        ("getattr(self, f'give_{kind}')(x)", "cold"),
    ],
)
def test_methods_by_names_that_are_made_up(asked, uses, expected):
    core = "class Tool:\n    def take_a(self, x: torch.Tensor) -> list:\n        return x.unique().tolist()\n\n"
    core = f"import torch\n\n\n{core}    def run(self, kind, x):\n        {uses}\n"
    assert heat(core, {"train.py": TRAIN + "from models.core import Tool\nTool().run(kind, x)\n"}, asked) == expected


def test_a_pipe_is_no_file_of_a_project(tmp_path):
    import os

    from syncguard.read.application import files_of

    (tmp_path / "train.py").write_text(TRAIN)
    os.mkfifo(tmp_path / "told.txt")
    os.mkfifo(tmp_path / "told.py")
    assert files_of(str(tmp_path)) == (str(tmp_path / "train.py"),)
