"""A class of one file, and what classes of other files that descend from it have of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from orders import in_any_order
from packaged import heats

from syncguard import pipeline
from syncguard.config import Config

BASE = """from abc import ABC, abstractmethod
from torch import nn

class Base(nn.Module, ABC):
    {declared}

    def check(self, x):
        for _ in range(2):
            if {asked} > 1:
                return False
        return True

    def forward(self, x):
        return x if self.check(x) else -x
"""
BELOW = """import torch
from .base import Base

class Below(Base):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))

    {written}
"""
DECLARED = "@abstractmethod\n    def top(self{more}): ..."


def found(folder: Path, **files: str) -> list[tuple[str, int, str]]:
    """What is found, the same whatever the order of the files."""
    (folder / "__init__.py").touch()
    return in_any_order(folder, files)


@pytest.mark.parametrize(
    ("declared", "asked", "written"),
    [
        (DECLARED.format(more=""), "self.top()", "def top(self):\n        return self.scale.abs()"),
        (
            "def top(self, x):\n        raise NotImplementedError",
            "self.top(x)",
            "def top(self, x: torch.Tensor) -> torch.Tensor:\n        return x.max()",
        ),
        (
            f"@property\n    {DECLARED.format(more='')}",
            "self.top",
            "@property\n    def top(self):\n        return self.scale.abs()",
        ),
    ],
)
def test_what_an_override_gives_is_waited_for_above(tmp_path: Path, declared: str, asked: str, written: str) -> None:
    files = {"base": BASE.format(declared=declared, asked=asked), "below": BELOW.format(written=written)}
    line = files["base"][: files["base"].index("if self")].count("\n") + 1
    assert found(tmp_path, **files) == [("base.py", line, "SG204")]


@pytest.mark.parametrize(
    "written", ["def top(self):\n        return 3", "def top(self):\n        return self.scale.dim()"]
)
def test_what_stays_on_the_host_does_not(tmp_path: Path, written: str) -> None:
    files = {
        "base": BASE.format(declared=DECLARED.format(more=""), asked="self.top()"),
        "below": BELOW.format(written=written),
    }
    assert found(tmp_path, **files) == []


def test_it_names_what_gives_it_and_is_kept(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").touch()
    more = "@abstractmethod\n    def bits(self): ...\n\n    " + DECLARED.format(more="")
    (tmp_path / "base.py").write_text(BASE.format(declared=more, asked="self.bits() + self.top()"))
    settings = Config(heat="all", root=str(tmp_path), cache_dir=str(tmp_path / "kept"))

    def told(value: str) -> list[str]:
        written = f"def bits(self):\n        return 3\n\n    def top(self):\n        return {value}"
        (tmp_path / "below.py").write_text(BELOW.format(written=written))
        report = pipeline.check([str(tmp_path / name) for name in ("base.py", "below.py")], settings)
        return [fact.text for finding in report.findings for fact in finding.because if "called there" in fact.text]

    for value in ("3", "self.scale.abs()", "4", "self.scale.abs()"):
        for _ in range(2):
            expected = ["`Below.top` is what is called there, and passes it on"] if "scale" in value else []
            assert told(value) == expected


HOOKS = """class Hook:
    def on_step(self, trainer, loss):
        {body}

class Stop(Hook):
    def on_step(self, trainer, loss):
        for _ in range(2):
            if loss < 0.1:
                trainer.stop = True
"""
TRAINER = """from .hooks import Hook

def fit(model, loader, optimizer, hooks: list[Hook]):
    for x in loader:
        loss = model(x.cuda(non_blocking=True)).mean()
        loss.backward()
        optimizer.step()
        for hook in hooks:
            hook.on_step(model, {passed})
"""


@pytest.mark.parametrize(
    ("body", "passed", "there"),
    [
        ("pass", "loss", [("hooks.py", 8, "SG204")]),
        ("raise NotImplementedError", "loss", [("hooks.py", 8, "SG204")]),
        ("pass", "loss.dim()", []),
        ("return len(loss.shape)", "loss", []),
    ],
)
def test_what_a_hook_is_told_reaches_those_below(tmp_path: Path, body: str, passed: str, there: list) -> None:
    assert found(tmp_path, hooks=HOOKS.format(body=body), trainer=TRAINER.format(passed=passed)) == there


def test_what_nobody_asked_for_its_gradients_may_be_anything(tmp_path: Path) -> None:
    trainer = TRAINER.format(passed="loss").replace("loss.backward()", "pass")
    assert found(tmp_path, hooks=HOOKS.format(body="pass"), trainer=trainer) == []


LOOP = """def fit(model, loader, optimizer, hook):
    for step, x in enumerate(loader):
        loss = model(x.cuda(non_blocking=True)).mean()
        loss.backward()
        optimizer.step()
        hook(step, {passed})
"""
MAIN = """from .loop import fit

def report(step, loss):
    print(float(loss))

def main(model, loader, optimizer):
    fit(model, loader, optimizer, report)
"""


@pytest.mark.parametrize(("passed", "there"), [("loss", [("main.py", 4, "SG203")]), ("loss.dim()", [])])
def test_a_function_that_is_passed_is_told_by_who_calls_it(tmp_path: Path, passed: str, there: list) -> None:
    assert found(tmp_path, loop=LOOP.format(passed=passed), main=MAIN) == there


SEARCH = """def bisect(fn, low, high):
    for _ in range(20):
        middle = (low + high) / 2
        if fn(middle) > 0:
            high = middle
        else:
            low = middle
    return low
"""
ASKS = """import math
import torch
from .search import bisect

class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x - bisect(lambda t: {given}, 0.0, 1.0)
"""


@pytest.mark.parametrize(
    ("given", "there"), [("(x - t).sum()", [("search.py", 4, "SG204")]), ("math.exp(t) - x.dim()", [])]
)
def test_what_a_passed_function_gives_is_waited_for_there(tmp_path: Path, given: str, there: list) -> None:
    assert found(tmp_path, search=SEARCH, asks=ASKS.format(given=given)) == there


TAKEN = """from .base import Base

class Other:
    def top(self, x):
        return len(x)
"""


def test_a_method_that_is_taken_from_another_class_is_no_override_of_the_file(tmp_path: Path) -> None:
    base = BASE.format(declared="def top(self, x):\n        raise NotImplementedError", asked="self.top(x)")
    below = "from .base import Base\nfrom .other import Other\n\nclass Below(Base):\n    top = Other.top\n"
    assert found(tmp_path, base=base, other=TAKEN, below=below) == []


FITS = """
class Trainer:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt

    def loss(self, batch):
        raise NotImplementedError

    def show(self, batch):
        return None

    def fit(self, batches):
        for batch in batches:
            loss = self.loss(batch)
            loss.backward()
            self.opt.step()
"""
FITTED = """import torch
from .base import Trainer


class Mine(Trainer):
    def loss(self, batch):
        out = self.model(batch)
        if out.max() > 3:
            out = out / 2
        return self.scaled(out)

    def scaled(self, out: torch.Tensor):
        return out / out.sum().item()

    def show(self, batch):
        return torch.ones(3, device="cuda").tolist()


def run(net: torch.nn.Linear, batches):
    Mine(net.cuda(), None).fit(batches)
"""


def test_what_a_loop_of_the_class_above_calls_is_hot(tmp_path: Path) -> None:
    for name, text in (("__init__", ""), ("base", FITS), ("mine", FITTED)):
        (tmp_path / f"{name}.py").write_text(text)
    config = Config(heat="all", cache=False, root=str(tmp_path))
    report = pipeline.check([str(tmp_path / "base.py"), str(tmp_path / "mine.py")], config)
    told = {finding.function: (finding.heat, [fact.text for fact in finding.hot_path]) for finding in report.findings}
    assert told["Mine.loss"] == (
        "hot", ["the loop calls `backward`", "calls `Trainer.loss`", "`Mine.loss` overrides `Trainer.loss`"]
    )  # fmt: skip
    assert told["Mine.scaled"][0] == "hot"
    assert told["Mine.show"][0] == "unknown"


SCORE = """
import torch


class Score:
    def update(self, x: torch.Tensor):
        {asks}

    def inner(self, x):
        return self.score(x * 2)

    def score(self, x):
        raise NotImplementedError
"""
LARGEST = """
import torch
from .above import Score


class Largest(Score):
    def score(self, x: torch.Tensor):
        found = x.max()
        for other in range(3):
            found = found + other
        if found > 3:
            found = found - 1
        return found


class Own(Largest):
    pass
"""
ASKED = """
import torch
from .below import Largest, Own, Score


def train(net: torch.nn.Linear, loader, opt, given: Score):
    made = {made}
    for x in loader:
        net(x).sum().backward()
        opt.step()
        made.update(x.cuda())
"""


@pytest.mark.parametrize(
    ("made", "asks", "heat"),
    [
        ("Largest()", "return self.score(x)", "hot"),
        ("Own()", "return self.inner(x)", "hot"),
        ("given", "return self.score(x)", "unknown"),
        ("Largest()", "self.seen = x", "unknown"),
        ("Largest()", "self.seen += 1\n        if self.seen % 100 == 0: self.score(x)", "unknown"),
    ],
)
def test_what_a_method_above_asks_objects_of_a_known_class_for(made, asks, heat):
    files = {"pkg/__init__.py": "", "pkg/above.py": SCORE.format(asks=asks), "pkg/below.py": LARGEST}
    found = heats({**files, "pkg/run.py": ASKED.format(made=made)})
    assert found["pkg/below.py"] == heat
