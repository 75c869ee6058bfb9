"""Processes that see no GPU, across files: what only they call waits for none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.read.project import forget

DRIVER = """\
import torch
from p.workers import RayWorkerGroup
from p import metrics


class Trainer:
    def __init__(self, workers: RayWorkerGroup, device_name="cuda:0".partition(":")[0]):
        self.workers = workers

    def fit(self, loader):
        for batch in loader:
            scores = self.workers.train_batch(batch)
            mask = torch.ones(3, device=scores.device)
            print(metrics.told(scores), helper(scores))


def helper(scores: torch.Tensor):
    return scores.max().item()
"""
METRICS = """\
import torch


def told(scores: torch.Tensor):
    if (scores > 0).any():
        return mean(scores)


def mean(scores: torch.Tensor):
    return scores.mean().item()


def least(scores: torch.Tensor):
    return scores.min().item()
"""
WORKERS = """\
import ray


class RayWorkerGroup:
    def __init__(self, worker):
        self.workers = [ray.remote(worker).remote()]
"""


@pytest.fixture
def project(package):
    Path("p/__init__.py").write_text("")
    Path("p/driver.py").write_text(DRIVER.replace('"cuda:0".partition(":")[0]', "None"))
    Path("p/metrics.py").write_text(METRICS)
    Path("p/workers.py").write_text(WORKERS)
    return package


def found(*paths, **changes):
    forget()
    settings = Config(root=os.getcwd(), cache=False, **changes)
    return {(f.site.path, f.site.line): f.heat for f in pipeline.check(paths or ["."], settings).findings}


LEAST = {("p/metrics.py", 14): "unknown"}
TOLD = {("p/metrics.py", 5), ("p/metrics.py", 10)}


def test_what_only_a_process_without_a_gpu_calls_waits_for_none(project):
    assert found() == LEAST  # nobody calls it, so anybody may
    everything = pipeline.check(["."], Config(root=os.getcwd(), cache=False, heat="all")).findings
    cold = [f for f in everything if f.heat == "cold"]
    assert {(f.site.path, f.site.line) for f in cold} == TOLD
    assert [f.hot_path[0].path for f in cold] == ["p/driver.py", "p/metrics.py"]
    assert "no GPU" in cold[0].hot_path[0].text


def test_alone_nobody_knows_who_calls(project):
    assert found("p/metrics.py").keys() == {*TOLD, *LEAST}


def test_a_process_that_is_remembered_is_known(project):
    settings = Config(root=os.getcwd())
    pipeline.check(["."], settings)
    assert [f.site.line for f in pipeline.check(["p/metrics.py"], settings).findings] == [14]


@pytest.mark.parametrize(
    ("name", "text", "waits"),
    [
        ("model", "class Net(torch.nn.Module):\n    def forward(self, x):\n        return told(x)\n", True),
        ("rare", "def report(x, step):\n    if step % 9 == 0:\n        told(x)\n", True),
        ("setup", "def load_all(x):\n    told(x)\n", True),
        ("script", "told(torch.rand(3).cuda())\n", True),
        ("test_it", "def test_told(x):\n    told(x)\n", False),
        ("other", "def report(x):\n    least(x)\n", False),
    ],
)
def test_who_else_calls_it_may_see_a_gpu(project, name, text, waits):
    Path(f"p/{name}.py").write_text(f"import torch\nfrom p.metrics import told, least\n\n\n{text}")
    assert ({where for where in found() if where in TOLD} == TOLD) is waits


def test_what_a_decorator_hands_on_may_be_called_by_anybody(project):
    Path("p/metrics.py").write_text(METRICS.replace("def told(", "@kept\ndef told("))
    assert {line for _, line in found()} == {6, 11, 15}


@pytest.mark.parametrize("decorator", ["torch.no_grad()", "torch.inference_mode()", "functools.lru_cache(maxsize=8)"])
def test_what_a_decorator_only_wraps_is_called_by_the_same(project, decorator):
    text = METRICS.replace("def told(", f"@{decorator}\ndef told(").replace("import torch", "import functools, torch")
    Path("p/metrics.py").write_text(text)
    assert {line for _, line in found()} == {15}


KEPT = """\
import torch

KNOWN = {}


def kept(name):
    def keep(fn):
        if name in KNOWN:
            raise ValueError(name)
        KNOWN[name] = fn
        return fn

    return keep


@kept("told")
def told(scores: torch.Tensor):
    return least(scores)


@kept("least")
def least(scores: torch.Tensor):
    return scores.min().item()


@other("most")
def most(scores: torch.Tensor):
    return scores.max().item()
"""


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("", "", {28}),
        ("return fn", "return None", {23, 28}),
        ("KNOWN[name] = fn", "KNOWN[name] = keep", {23, 28}),
        (
            "def most",
            "def most_(scores):\n    return told(scores)\n\n\ndef most",
            {23, 32},
        ),  # another calls one of them
    ],
)
def test_who_calls_one_of_those_that_a_table_keeps_calls_any(project, old, new, lines):
    Path("p/metrics.py").write_text(KEPT.replace(old, new) if old else KEPT)
    assert {line for _, line in found()} == lines


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("RayWorkerGroup", "Workers"),
        ("class Trainer:", "class Trainer(torch.nn.Module):"),
        ("device=scores.device", 'device="cuda"'),
        ("device=scores.device", "device=self.device"),
        ("mask = torch.ones", "torch.cuda.set_device(0); torch.ones"),
    ],
)
def test_one_that_may_see_a_gpu_waits_for_it(project, old, new):
    driver = Path("p/driver.py")
    driver.write_text(driver.read_text().replace(old, new))
    assert found().keys() >= TOLD
    assert any(path == "p/driver.py" for path, _ in found())


WORKER = "class Worker:\n    pass\n"


@pytest.mark.parametrize(("worker", "waits"), [(WORKER, True), ("from p.net import Worker\n", False)])
def test_one_that_makes_workers_of_others_has_them_compute(project, worker, waits):
    text = "def told(x: torch.Tensor):\n    return x.max().item()\n\n\nmade = ray.remote(Worker)\n"
    Path("p/other.py").write_text(f"import ray, torch\n\n\n{worker}\n\n{text}")
    assert any(path == "p/other.py" for path, _ in found()) is waits


KEEPS = """\
import torch
from abc import ABC, abstractmethod


class Kept(ABC):
    @abstractmethod
    def add(self, scores: torch.Tensor):
        raise NotImplementedError


class Most(Kept):
    def add(self, scores: torch.Tensor):
        return self._told(scores), least(scores)

    def _told(self, scores: torch.Tensor):
        return scores.max().item()

    def __call__(self, scores: torch.Tensor):
        return scores.mean().item()


def least(scores: torch.Tensor):
    return scores.min().item()
"""
KEEPER = DRIVER.replace('"cuda:0".partition(":")[0]', "None").replace("metrics", "keeps").replace(
    "keeps.told(scores)", "self.kept.add(scores)"
).replace("RayWorkerGroup,", "RayWorkerGroup, kept: keeps.Kept,").replace(
    "self.workers = workers", "self.workers, self.kept = workers, kept"
)  # fmt: skip


@pytest.fixture
def keeper(package):
    Path("p/__init__.py").write_text("")
    Path("p/driver.py").write_text(KEEPER)
    Path("p/keeps.py").write_text(KEEPS)
    Path("p/workers.py").write_text(WORKERS)
    return package


UNRESOLVED = KEEPER.replace("keeps.Kept,", "kind,").replace(
    "self.kept = workers, kept", "self.kept = workers, kind.made()"
)


@pytest.mark.parametrize(
    ("others", "line"),
    [
        ("", {19}),
        ("def told(kept, x):\n    return kept.add(x)\n", {16, 19, 23}),
    ],
)
def test_a_method_need_not_be_known_where_only_such_a_process_names_it(keeper, others, line):
    Path("p/driver.py").write_text(UNRESOLVED)
    Path("p/others.py").write_text(others)
    assert {line for _, line in found()} == line


CHOSEN = """\
import torch
from p.metrics import told


def register_loss(name):
    def kept(function):
        LOSSES[name] = function
        return function

    return kept


LOSSES = {}


@register_loss("fast")
def fast(scores: torch.Tensor):
    return scores.mean()


@register_loss("slow")
def slow(scores: torch.Tensor):
    return told(scores), scores.mean()
"""
KEY = 'only where `"slow"` is asked for, as `register_loss` keeps it'


def options():
    forget()
    report = pipeline.check(["."], Config(root=os.getcwd(), cache=False, heat="all"))
    return {f.site.line: [fact.text for fact in f.options] for f in report.findings if f.site.path == "p/metrics.py"}


def test_who_sees_no_gpu_asks_for_no_option(project):
    assert options() == {5: [], 10: [], 14: []}
    Path("p/losses.py").write_text(CHOSEN)
    but = "as far as we see called, but by processes that see no GPU, "
    assert options() == {5: [but + KEY], 10: [but + KEY], 14: []}  # they lead to what that calls as well


def test_nor_does_who_calls_it_and_is_called_by_nobody(project):
    Path("p/driver.py").write_text("")
    Path("p/losses.py").write_text(CHOSEN)
    Path("p/metrics.py").write_text(METRICS + "\n\ndef other(scores: torch.Tensor):\n    return mean(scores)\n")
    assert options()[10] == [f"as far as we see called {KEY}"]
    Path("p/more.py").write_text("from p.metrics import other\n\n\ndef more(scores):\n    return other(scores)\n")
    assert options()[10] == []


CALLED = {19}  # by Python, for whoever has such an object


def test_a_method_that_only_such_a_process_names_waits_for_none(keeper):
    assert {line for _, line in found()} == CALLED
    assert found(heat="all") == {("p/keeps.py", line): "unknown" if line in CALLED else "cold" for line in (16, 19, 23)}


def test_who_checks_the_file_alone_is_not_told_who_names_its_methods(keeper):
    assert {line for _, line in found("p/keeps.py")} == {16, 23, *CALLED}


MIXED = """\
from p.keeps import Most


class More:
    def told(self, x):
        self.add(x)


class Heir(More, Most):
    def told_twice(self, x):
        self.told(x)
"""


@pytest.mark.parametrize(
    ("name", "text", "waits"),
    [
        ("other", "def told(kept, x):\n    return kept.add(x)\n", True),
        ("chosen", "def told(kept, x):\n    return getattr(kept, 'add')(x)\n", True),
        ("shown", "def told(kept, x):\n    return f'{kept.add(x)}'\n", True),
        (
            "heir",
            "from p.keeps import Most\n\n\nclass Heir(Most):\n    def told(self, x):\n        self.add(x)\n",
            True,
        ),
        ("mixed", MIXED, True),
        ("alias", "from p.keeps import Most\n\n\nclass Heir(Most):\n    more = Most.add\n", True),
        ("given", "from p.keeps import Most\n\n\nclass Heir(Most):\n    add = None\n    more = add\n", True),
        ("namesake", "def add(x):\n    pass\n\n\nclass Sums:\n    def told(self, x):\n        found = add(x)\n", False),
        ("exported", "__all__ = [\n    'add',\n]\n", False),
        ("actor", "def told(actor, x):\n    return actor.add.remote(x)\n", True),
        ("set", "def told(x):\n    return set(x).add(3)\n", False),
        (
            "own",
            "class Sums:\n    def told(self, x):\n        self.add(x)\n\n    def add(self, x):\n        pass\n",
            False,
        ),
        ("said", '"""As `kept.add` does."""\n# or kept.add(x)\n\nname = "to add"\n', False),
        ("test_it", "def test_it(kept, x):\n    kept.add(x)\n", False),
    ],
)
def test_who_else_names_it_may_see_a_gpu(keeper, name, text, waits):
    Path(f"p/{name}.py").write_text(text)
    assert ({line for _, line in found()} != CALLED) is waits


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("class Most(Kept)", "class Most(Kept, torch.nn.Module)", {16, 19, 23}),
        ("class Most(Kept)", "class Most(Kept, torch.utils.data.Any)", {16, 19, 23}),
        ("class Most(Kept)", "class Most", {16, 19, 23}),  # nobody is known to call one of it
        ("class Most(Kept):", "class Most(Kept):\n    @kept", {17, 20, 24}),
        ("class Most(Kept):", "class Most(Kept):\n    @torch.no_grad()", {20}),
    ],
)
def test_what_others_may_call_is_open(keeper, old, new, lines):
    Path("p/keeps.py").write_text(KEEPS.replace(old, new))
    assert {line for _, line in found()} == lines
