"""A module that its package has run once in a generation, beside the loop of its steps, does not run at every step."""

import pytest
from packaged import found

PIPELINES = """
class DiffusionPipeline:
    def register(self, **parts):
        for name, part in parts.items():
            setattr(self, name, part)
"""
CHECKER = """
import torch
from torch import nn


class Checker(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(8, 2)

    @torch.no_grad()
    def forward(self, x: torch.Tensor):
        return [row.argmax().item() for row in self.project(x)]
"""
PIPELINE = '''
import torch
from .checker import Checker
from .pipelines import DiffusionPipeline


class Draw(DiffusionPipeline):
    """Draws.

    checker ([`Checker`]):
        The checker (of what is drawn), or `None`.
    """

    def __init__(self, unet, checker: Checker | None = None):
        super().__init__()
        self.register(unet=unet, checker=checker)

    def check(self, x):
        if self.checker is not None:
            return self.checker(x)
        return None

    @torch.no_grad()
    def __call__(self, x: torch.Tensor, steps: int = 9):
        for t in range(steps):
            x = self.unet(x, t)
        return x, self.check(x)
'''
NET = """

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.checker = Checker()

    def forward(self, x):
        return self.checker(x)
"""
FILES = {
    "pkg/__init__.py": "from .checker import Checker\nfrom .draw import Draw\n",
    "pkg/pipelines.py": PIPELINES,
    "pkg/checker.py": CHECKER,
    "pkg/draw.py": PIPELINE,
}


def told(**more):
    return found({**FILES, **{name.replace("__", "/") + ".py": text for name, text in more.items()}})["pkg/checker.py"]


def test_what_checks_what_was_drawn():
    finding = told()
    assert finding.heat == "amortized"
    assert "`Draw.__call__` runs once in a generation" in [fact.text for fact in finding.hot_path]


def test_what_is_made_by_another_module():
    makes = PIPELINE.replace("checker: Checker | None = None", "")
    registers = "self.register(unet=unet, checker=checker)"
    makes = makes.replace(registers, "self.register(unet=unet)\n        self.checker = Checker()")
    assert told(pkg__draw=makes).heat == "amortized"


def test_what_may_be_trained():
    trained = CHECKER.replace("    @torch.no_grad()\n", "")
    finding = told(pkg__checker=trained)
    assert finding.heat == "unknown"
    assert "as far as we see `Checker` runs once for many steps, though who trains it runs it at every step" in [
        fact.text for fact in finding.hot_path
    ]


@pytest.mark.parametrize("made", ["AutoModel.from_pretrained('x')", "make_mlp(8, 2)", "blocks.of(8)"])
def test_what_is_made_by_a_call_may_be_trained(made):
    trained = CHECKER.replace("    @torch.no_grad()\n", "").replace("nn.Linear(8, 2)", made)
    assert told(pkg__checker=trained).heat == "unknown"


def test_what_a_decorator_keeps_may_be_run_by_others():
    kept = CHECKER.replace("class Checker", "@MODELS.register('guard')\nclass Checker")
    assert told(pkg__checker=kept).heat == "hot"


def test_what_has_nothing_to_train():
    bare = CHECKER.replace("    @torch.no_grad()\n", "").replace("self.project = nn.Linear(8, 2)", "self.size = 2")
    assert told(pkg__checker=bare.replace("self.project(x)", "x")).heat == "amortized"


@pytest.mark.parametrize(
    "draw",
    [
        PIPELINE.replace("x = self.unet(x, t)", "x = self.unet(x, t)\n            self.check(x)"),
        PIPELINE.replace("x = self.unet(x, t)", "x = self.unet(x, t)\n            self.checker(x)"),
        PIPELINE.replace("x = self.unet(x, t)", "x = self.unet(x, self.checker.forward(x))"),
        PIPELINE.replace("return x, self.check(x)", "while x.shape[0] > 4:\n            x = self.check(x)"),
        PIPELINE.replace("x = self.unet(x, t)", "x = self.unet(x, t, self.checker)"),
        PIPELINE.replace("return x, self.check(x)", "return x, self.check(x), torch.compile(self.checker)"),
        PIPELINE.replace("checker: Checker | None = None", "checker: list[Checker]"),
        PIPELINE.replace("return x, self.check(x)", "return x, self.check(x), map(self.checker.forward, x)"),
        PIPELINE + "\n\nclass Strict(Checker):\n    pass\n",
        PIPELINE + "\n\ndef make():\n    return Checker()\n",
    ],
)
def test_what_may_run_at_every_step(draw):
    assert told(pkg__draw=draw).heat == "hot"


@pytest.mark.parametrize(
    "text",
    [
        "def train(checker, batches):\n    for x in batches:\n        checker(x).backward()\n",
        "class Net(nn.Module):\n    def forward(self, x):\n        return self.checker(x)\n",
        "def asked(pipe):\n    return getattr(pipe, 'checker')\n",
        "MODELS = {'Checker': 1}\n",
        "def run(pipe, x):\n    return pipe.checker(x)\n",
        'def train(checker, x):\n    """checker: The module."""\n    return checker(x).backward()\n',
        "def train(checker: nn.Module, x):\n    return checker(x).sum().backward()\n",
        "class Given:\n    checker: bool = False\n\n\ndef run(pipe, x):\n    return pipe.checker(x)\n",
        "from .checker import Checker as Reward\n\nreward = Reward()\n",
        "def run(pipe, x):\n    reward = pipe.checker.to('cuda').eval()\n    return reward(x)\n",
        "def run(pipe, x, model=None):\n    model = model or pipe.checker\n    return model(x)\n",
        "def run(pipe, x):\n    model = pipe.checker = Checker()\n    return model(x)\n",
    ],
)
def test_what_others_may_run(text):
    assert told(pkg__other=f"from torch import nn\n\n\n{text}").heat == "hot"


def test_what_others_say_of_it():
    other = '''
def told(pipe):
    """Runs `pipe.checker(x)`, where there is a checker (a strict one)."""
    # pipe.checker(x)
    if pipe.checker is None or not pipe.checker:
        raise ValueError("no `checker` was given")
    return pipe.checker.project, isinstance(pipe.checker, int)


def other(checker: int = 3):
    return checker + 1
'''
    assert told(pkg__other=other).heat == "amortized"


def test_a_module_that_nobody_calls():
    assert told(pkg__draw=PIPELINE.replace("return self.checker(x)", "return 1")).heat == "hot"


def test_a_module_that_its_own_file_runs():
    assert told(pkg__checker=CHECKER + NET).heat == "hot"
    itself = CHECKER.replace("return [row", "return self(x[1:]) if len(x) > 1 else [row")
    assert told(pkg__checker=itself).heat == "hot"


def test_what_is_asked_around_a_training():
    train = """
from .checker import Checker


def train(net, optimizer, loader):
    checker = Checker()
    for x in loader:
        net(x).sum().backward()
        optimizer.step()
    return checker(x)
"""
    assert told(pkg__draw=train).heat == "amortized"
    each = train.replace("optimizer.step()", "optimizer.step()\n        checker(x)")
    assert told(pkg__draw=each).heat == "hot"


@pytest.mark.parametrize("ran", ["self(x)", "self.forward(x)"])
def test_a_module_that_a_class_above_it_runs(ran):
    base = f"import torch\n\n\nclass Guide(torch.nn.Module):\n    def guided(self, x):\n        return {ran} * 2\n"
    checker = CHECKER.replace("import nn", "import nn\nfrom .guide import Guide").replace("(nn.Module)", "(Guide)")
    assert told(pkg__guide=base, pkg__checker=checker).heat == "hot"
    assert told(pkg__guide=base.replace(ran, "x"), pkg__checker=checker).heat in ("amortized", "unknown")


def test_a_part_that_is_trained_by_a_name_that_is_made_up():
    train = """
def train(pipe, config, loader, optimizer):
    part = getattr(pipe, config.part)
    for x in loader:
        part(x).sum().backward()
        optimizer.step()
"""
    assert told(pkg__train=train).heat == "hot"
    assert told(pkg__train=train.replace("pipe, config.part", "pipe, 'unet'")).heat == "amortized"
    assert told(pkg__train=train.replace(".backward()", "")).heat == "amortized"
