"""What a file passes to functions of other files brings about waits there: each is found in the line that waits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace
from running import ran

from syncguard import pipeline
from syncguard.config import Config
from syncguard.examine import workers
from syncguard.read.project import forget
from syncguard.terms import Finding

OPS = """\
def clip(value, limit):
    for _ in range(3):
        if value > limit:
            return limit
    return value


def deep(value):
    return clip(value, 1.0)


def rank(mode):
    if mode == "mean":
        return 1
    return 0
"""
NET = """\
import torch
from . import ops


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        limit = x.cuda().amax()
        ops.deep(limit)
        return ops.rank("sum") * x
"""
PLAIN = """\
from . import ops

print(ops.clip(3, 4), ops.rank("mean"))
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A package `p` whose `net` brings about a wait in `ops`, two calls away."""
    monkeypatch.chdir(tmp_path)
    forget()
    Path("pyproject.toml").touch()  # a project, which has its cache to itself
    Path("p").mkdir()
    write({"__init__": "", "ops": OPS, "net": NET, "plain": PLAIN})
    return tmp_path


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(f"p/{name}.py").write_text(text)


def checked(*paths: str, **settings) -> tuple[Finding, ...]:
    return pipeline.check(paths or ("p",), replace(Config(heat="all", cache=False), **settings)).findings


def places(findings: tuple[Finding, ...]) -> list[tuple[str, int, str, str]]:
    return [(finding.site.path, finding.site.line, finding.code, finding.heat) for finding in findings]


WAIT = ("p/ops.py", 3, "SG204", "hot")


def test_a_wait_is_found_where_it_is_with_the_call_that_brings_it_about(project):
    (finding,) = [f for f in checked() if f.site.path == "p/ops.py"]
    assert places((finding,)) == [WAIT]
    assert [(fact.path, fact.line) for fact in finding.because] == [
        *(("p/net.py", line) for line in (6, 7, 7, 8)),
        ("", 3),
    ]
    assert finding.because[3].text == "`ops.deep(limit)` passes it on"
    assert [fact.text for fact in finding.hot_path] == [
        "`Net.forward` runs at every step",
        "calls `deep`",
        "calls `clip`",
    ]


@pytest.mark.parametrize("alone", ["p/ops.py", "p/plain.py"])
def test_nobody_sees_it_who_does_not_see_the_caller(project, alone):
    assert checked(alone, "p/plain.py") == ()


def test_numbers_bring_nothing_about(project):
    write({"net": NET.replace("x.cuda().amax()", "x.dim()")})
    assert checked() == ()


EITHER = """\
import torch
from torch import Tensor


def clip(value: Tensor, size: int | Tensor):
    for _ in range(2):
        value = value + 1
    return torch.zeros(size, device=value.device) + value
"""


@pytest.mark.parametrize(
    ("passed", "confidences"),
    [
        ("x.cuda().amax()", ["likely"]),  # for all that its own file knows it is possible
        ("x.dim()", ["possible"]),
        ("library.measure(x)", ["possible"]),
    ],
)
def test_what_may_be_a_number_or_a_tensor_is_one_where_another_file_passes_one(project, passed, confidences):
    calls = (
        NET.replace("x.cuda().amax()", passed)
        .replace("deep(", "clip(x, ")
        .replace("import torch", "import torch, library")
    )
    write({"ops": EITHER, "net": calls})
    found = [f for f in checked(confidence="possible") if f.site.path == "p/ops.py"]
    assert [f.confidence for f in found] == confidences


COUNTED = """\
import torch
from torch import Tensor


def {name}(value: Tensor, total: {declared}):
    value = value + 1
    for _ in range(2):
        value = value * 2
    if total < 2:
        return value
    return value / total


def mean(value: Tensor):
    return {name}(value, value.shape[0])
"""


@pytest.mark.parametrize(
    ("declared", "passed", "lines"),
    [
        ("int | Tensor", "x.cuda().amax()", [9]),  # its own file passes the length
        ("int | Tensor", "x.amax()", [9]),
        ("int | Tensor", "x.dim()", []),
        ("int | Tensor", "x.cpu().amax()", []),
        ("int | None", "x.dim()", []),
    ],
)
def test_what_its_own_file_gives_a_number_waits_where_another_file_gives_a_tensor(project, declared, passed, lines):
    calls = NET.replace("x.cuda().amax()", passed).replace("deep(", "clip(x, ")
    write({"ops": COUNTED.format(name="clip", declared=declared), "net": calls})
    assert [f.site.line for f in checked() if f.site.path == "p/ops.py"] == lines


def test_what_tests_pass_says_nothing_of_the_program(project):
    Path("p/net.py").rename("p/test_net.py")
    assert [place for place in places(checked()) if place[0] == "p/ops.py"] == []


SCRIPT = """\
import torch
from . import ops

x = torch.ones(3, device="cuda").amax()
"""


def test_what_setup_passes_brings_about_what_runs_seldom(project):
    write({"net": NET.replace("forward", "reset_parameters")})
    assert places(checked()) == [(*WAIT[:3], "cold")]
    write({"net": f"{SCRIPT}ops.deep(x)\n"})
    assert places(checked()) == [(*WAIT[:3], "cold")]
    write({"net": NET, "other": NET.replace("forward", "reset_parameters")})
    assert places(checked()) == [WAIT]


TRAINS = """\
def train(model, batches, optimizer, limit):
    if limit > 4:
        return
    for x, y in batches:
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
        if limit > 3:
            break
"""


def test_what_setup_passes_into_a_loop_of_the_steps_is_asked_at_each(project):
    write({"ops": TRAINS, "net": f"{SCRIPT}ops.train(torch.nn.Linear(3, 3), [], None, x)\n", "plain": ""})
    found = [place for place in places(checked()) if place[0] == "p/ops.py"]
    assert found == [("p/ops.py", 2, "SG204", "cold"), ("p/ops.py", 7, "SG204", "hot")]
    work = SCRIPT.replace("\nx =", "\n\ndef main():\n    x =") + "    ops.train(torch.nn.Linear(3, 3), [], None, x)\n"
    write({"net": f"{work}\n\nif __name__ == '__main__':\n    main()\n"})
    assert [place for place in places(checked()) if place[0] == "p/ops.py"] == found


def test_what_the_loop_of_a_script_passes_does(project):
    write({"net": f"{SCRIPT}for _ in range(9):\n    ops.deep(x)\n"})
    assert [place[:3] for place in places(checked())] == [WAIT[:3]]


def test_what_was_computed_by_somebody_unknown_is_no_proof_for_another_file(project):
    write(
        {"net": NET.replace("x.cuda().amax()", "library.measure(x)").replace("import torch", "import torch, library")}
    )
    assert checked() == ()


def test_what_torch_computes_of_it_is_one_again(project):
    write({"net": NET.replace("x.cuda().amax()", "torch.maximum(unknown(x), x).abs()")})
    assert WAIT in places(checked())


def test_the_order_of_files_and_the_number_of_workers_change_nothing(project, monkeypatch):
    write({"other": NET.replace("Net", "Other").replace("amax", "amin")})
    once = checked("p/ops.py", "p/net.py", "p/other.py")
    assert "p/net.py" in {fact.path for finding in once for fact in finding.because}
    assert checked("p/other.py", "p/net.py", "p/ops.py") == once
    monkeypatch.setattr(workers, "WORTH", 0)
    monkeypatch.setattr(workers, "CHUNK", 1)
    assert checked("p/ops.py", "p/net.py", "p/other.py", jobs=3) == once


def test_a_comment_allows_it_and_is_not_called_unused(project):
    write({"ops": OPS.replace("limit:\n", "limit:  # syncguard: allow[SG204] the limit is set once\n")})
    report = pipeline.check(["p"], Config(heat="all", cache=False))
    assert [finding.code for finding in report.findings] == []
    assert places(report.allowed) == [WAIT]
    assert [finding.code for finding in checked("p/ops.py")] == ["SG001"]


def test_what_the_file_finds_itself_is_found_once(project):
    write(
        {
            "ops": OPS.replace("clip(value, limit)", "clip(value: 'torch.Tensor', limit)").replace(
                "def clip", "import torch\n\n\ndef clip"
            )
        }
    )
    found = [finding for finding in checked() if finding.site.path == "p/ops.py"]
    assert [(f.site.line, f.because[0].path) for f in found] == [(6, "")]


MEAN = """\
def mean(values, weights=None):
    if weights is None:
        return values.mean()
    return (values * weights).sum() / weights.sum()
"""
READER = """\
import torch
from .ops import mean


def report(history, x: torch.Tensor):
    return 1 if mean({given}) > 0 else 2
"""


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("torch.tensor(history)", []),
        ("torch.tensor(history), None", []),
        ("torch.tensor(history), weights=torch.ones(len(history))", []),
        ("torch.tensor(history), x", ["SG204"]),
        ("x", ["SG204"]),
    ],
)
def test_what_a_call_leaves_out_is_none_in_its_other_file(project, given, found):
    write({"ops": MEAN, "net": READER.format(given=given), "plain": ""})
    assert [finding.code for finding in checked()] == found


KEEPERS = """\
from dataclasses import dataclass


class Box:
    def __init__(self, low, high=None):
        self.low = low
        self.high = high


class History:
    def __init__(self):
        self.rows, self.last = [], None

    def add(self, row):
        self.rows.append(row)
        self._keep(row)

    def _keep(self, row):
        self.last = row


@dataclass
class Output:
    first: object = None
"""
KEPT = """\
import torch
from .ops import Box, History, Output


def run(x: torch.Tensor, count: int):
    history = History()
    {given}
    return 1 if {read} > 0 else 2
"""


@pytest.mark.parametrize(
    ("given", "read", "found"),
    [
        ("box = Box(x.min(), 3)", "box.low", ["SG204"]),
        ("box = Box(x.min(), 3)", "box.high", []),
        ("box = Box(1, high=x.max())", "box.high", ["SG204"]),
        ("box = Box(count)", "box.low", []),
        ("box = Box(torch.zeros(3).min())", "box.low", []),
        ("history.add(x.sum())", "history.last", ["SG204"]),
        ("history.add(x.sum())", "history.rows[-1]", ["SG204"]),
        ("history.add(count)", "history.last", []),
        ("out = Output(x.sum())", "out.first", ["SG204"]),
        ("out = Output(count)", "out.first", []),
    ],
)
def test_what_is_kept_by_an_instance_of_another_files_class(project, given, read, found):
    write({"ops": KEEPERS, "net": KEPT.format(given=given, read=read), "plain": "", "first": "import p.net"})
    assert [finding.code for finding in checked("p/net.py", "p/first.py")] == found


GATES = """\
class Gate:
    def __init__(self, top):
        self.top, self.low, self.rows = top, 0, 0

    def grow(self, by):
        self.low = by

    def full(self):
        return 1 if self.top > 3 else 2

    def half(self):
        for i in range(3):
            self.rows += i
        if self.rows > 9:
            self.rows = 0
        if self.low > 3:
            self.rows = 1
"""
GATED = """\
import torch
from .ops import Gate


def run(x: torch.Tensor, count: int):
    gate = Gate({top})
    gate.grow({low})
    gate.half()
    return gate.full()
"""


@pytest.mark.parametrize(
    ("top", "low", "found"),
    [
        ("x.max()", "count", [9]),
        ("count", "x.max()", [16]),
        ("x.max()", "x.min()", [9, 16]),
        ("count", "count", []),
        ("torch.zeros(3).max()", "count", []),
        ("count", "x.max().item()", []),
    ],
)
def test_what_a_method_asks_of_its_object_though_it_is_given_nothing(project, top, low, found):
    write({"ops": GATES, "net": GATED.format(top=top, low=low), "plain": ""})
    assert [f.site.line for f in checked() if f.code == "SG204"] == found


OBJECTS = """\
import torch
from .ops import Gate


class Mine(Gate):
    def told(self, x: torch.Tensor, count: int):
        self.grow({grown})
        self.half()


def run(x: torch.Tensor, count: int):
    return Mine(3).told(x, count)
"""


@pytest.mark.parametrize(("given", "found"), [("x.max()", [16]), ("count", [])])
def test_what_a_class_that_descends_from_another_files_lets_that_keep(project, given, found):
    write({"ops": GATES, "net": OBJECTS.format(grown=given), "plain": ""})
    assert [f.site.line for f in checked("p/ops.py", "p/net.py") if f.code == "SG204"] == found


SCHEDULES = """\
import torch


class Schedule:
    def __init__(self, count, device="cpu"):
        self.sigmas = torch.linspace(1, 0, count, device=device)
        self.count = count

    def at(self, i):
        return self.sigmas[i]

    def many(self, i):
        return self.count > i


class OnHost(Schedule):
    def __init__(self, count):
        self.sigmas, self.count = torch.linspace(1, 0, count), count

    def at(self, i):
        return self.sigmas[i]


class SetUp(Schedule):
    def __init__(self, count, there="cpu"):
        super().__init__(count, there)


class Steps:
    def at(self, i):
        return i / 3

    many = at
"""
SAMPLES = """\
def sample(net, schedule, x):
    for i in range(9):
        if schedule.at(i) > 3:
            x = net(x)
        if schedule.many(i):
            x = net(x)
    return x


class Sampler:
    def __init__(self, schedule):
        self.schedule = schedule

    def sample(self, x):
        for i in range(9):
            if self.schedule.at(i) > 3:
                break
        return x

    def told(self):
        return self.schedule.at(3)


class Later(Sampler):
    pass


def first(schedules):
    count = 0
    for schedule in schedules:
        if schedule.at(3) > 3:
            count += 1
    return count
"""
SAMPLED = """\
import torch
from .ops import Later, Sampler, first, sample
from .schedules import OnHost, Schedule, SetUp, Steps


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        made = {made}
        return {called}
"""
OF_DEVICE = "Schedule(9, 'cuda')"


@pytest.mark.parametrize(
    ("made", "called", "found"),
    [
        (OF_DEVICE, "sample(self, made, x)", [("p/ops.py", 3)]),
        ("OnHost(9)", "sample(self, made, x)", []),
        ("Schedule(9, 'cpu')", "sample(self, made, x)", []),
        ("Schedule(9)", "sample(self, made, x)", []),
        ("Schedule(9, device=x.device)", "sample(self, made, x)", [("p/ops.py", 3)]),
        ("Steps()", "sample(self, made, x)", []),
        ("SetUp(9, 'cpu')", "sample(self, made, x)", []),
        ("SetUp(9)", "sample(self, made, x)", []),
        ("SetUp(9, x.device)", "sample(self, made, x)", [("p/ops.py", 3)]),
        ("SetUp(9, 'cuda')", "sample(self, made, x)", [("p/ops.py", 3)]),
        (OF_DEVICE, "Sampler(made).sample(x)", [("p/ops.py", 16)]),
        ("OnHost(9)", "Sampler(made).sample(x)", []),
        ("Steps()", "Sampler(made).sample(x)", []),
        (OF_DEVICE, "x[Sampler(made).told() > 3]", [("p/net.py", 9)]),
        (f"[Steps(), {OF_DEVICE}]", "first(made)", [("p/ops.py", 31)]),
        ("[Steps(), Schedule(9)]", "first(made)", []),
        (OF_DEVICE, "Later(made).sample(x)", [("p/ops.py", 16)]),
        ("Schedule(9)", "Later(made).sample(x)", []),
        ("Sampler(Schedule(9, 'cuda')), Sampler(Steps())", "made[1].sample(x)", []),
        ("Sampler(Schedule(9, 'cuda')), Sampler(Steps())", "made[0].sample(x)", [("p/ops.py", 16)]),
        ("Sampler(Schedule(9)), Sampler(Schedule(9, 'cuda'))", "made[0].sample(x)", []),
        ("Sampler(Schedule(9)), Sampler(Schedule(9, 'cuda'))", "made[1].sample(x)", [("p/ops.py", 16)]),
        ("Sampler(Schedule(9, 'cuda')) if self.training else Sampler(Steps())", "made.sample(x)", [("p/ops.py", 16)]),
    ],
)
def test_what_a_method_of_an_object_gives_that_is_passed(project, made, called, found):
    write({"schedules": SCHEDULES, "ops": SAMPLES, "net": SAMPLED.format(made=made, called=called), "plain": ""})
    assert [(f.site.path, f.site.line) for f in checked() if f.code in ("SG204", "SG102")] == found


def test_what_an_object_brings_about_changes_with_its_class(project):
    net = SAMPLED.format(made=OF_DEVICE, called="sample(self, made, Sampler(made).sample(x))")
    write({"schedules": SCHEDULES, "ops": SAMPLES, "net": net, "plain": ""})
    kept = {"cache": True}
    assert [f.site.line for f in checked(**kept) if f.site.path == "p/ops.py"] == [3, 16]
    write({"schedules": SCHEDULES.replace("torch.linspace(1, 0, count, device=device)", "[1, 0]")})
    assert checked(**kept) == checked() == ()
    write({"schedules": SCHEDULES})
    assert [f.site.line for f in checked("p/ops.py", **kept)] == [3, 16]
    write({"net": net.replace(OF_DEVICE, "OnHost(9)")})
    assert checked("p/ops.py", **kept) == checked(**kept) == ()


def test_what_one_file_gives_is_kept_for_no_other(project):
    kept = KEPT.format(given="history.add(x.sum())", read="history.last")
    other = kept.replace("history.add(x.sum())", "pass")
    write({"ops": KEEPERS, "net": kept, "plain": other, "again": kept})
    for order in (("net", "plain", "again"), ("again", "net", "plain"), ("plain", "again", "net")):
        found = checked(*(f"p/{name}.py" for name in order))
        assert sorted(finding.site.path for finding in found) == ["p/again.py", "p/net.py"]


class TestRemembered:
    """A commit hook gives the files that changed; what the others pass to them is known from the cache."""

    def hook(self, *paths: str) -> list[tuple[str, int, str, str]]:
        """What a hook shows, which is what it shows a second time."""
        forget()
        found = places(checked(*paths, cache=True))
        forget()
        assert places(checked(*paths, cache=True)) == found
        return found

    def test_of_one_file(self, project):
        assert self.hook("p") == [WAIT]
        assert self.hook("p/ops.py") == [WAIT]

    def test_after_lines_have_moved(self, project):
        self.hook("p")
        write({"ops": f"# moved\n\n{OPS}"})
        assert self.hook("p/ops.py") == [("p/ops.py", 5, "SG204", "hot")]

    def test_after_the_function_was_edited(self, project):
        self.hook("p")
        write({"ops": OPS.replace("value > limit", "limit is None")})
        assert self.hook("p/ops.py") == []
        write({"ops": OPS.replace("        if value > limit", "        value = value + 1\n        if value > limit")})
        assert self.hook("p/ops.py") == [("p/ops.py", 4, "SG204", "hot")]

    def test_after_the_caller_was_edited_and_not_given(self, project):
        self.hook("p")
        write({"net": NET.replace("x.cuda().amax()", "x.dim()")})
        assert self.hook("p/ops.py") == []

    def test_after_the_caller_is_gone(self, project):
        self.hook("p")
        Path("p/net.py").unlink()
        assert self.hook("p/ops.py") == []


def test_explain_tells_what_callers_bring_about(project):
    def explained() -> str:
        return ran("-m", "syncguard", "explain", "p/ops.py:3", cwd=project, env={**os.environ, "COLUMNS": "200"})[1]

    assert "value > limit" in explained()
    assert "What callers pass" not in explained()
    ran("-m", "syncguard", "check", "p", cwd=project)
    assert "What callers pass: `value > limit` asks the device for a truth value and waits" in explained()
    assert "`ops.deep(limit)` passes it on" in explained()


def test_the_argument_is_told_that_the_function_waits_for(project):
    waits = "def pick(table, n, index):\n    return [n + int(index)]\n"
    net = "import torch\nfrom . import ops\n\n\ndef step(x: torch.Tensor, y: torch.Tensor):\n    {}\n"
    for call in ("ops.pick(x, 3, y)", "ops.pick(index=y, n=3, table=x)"):
        write({"ops": waits, "net": net.format(call), "plain": ""})
        (finding,) = checked()
        assert finding.message.endswith("waits for the device to compute `y`")


ONCE = """\
import torch
from . import ops


def infer(path):
    for name in path.split():
        ops.clip(torch.ones(3, device="cuda").sum(), 1.0)
"""
STEPS = """\
import torch
from . import ops


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()
        ops.clip(torch.ones(3, device="cuda").sum(), 1.0)
"""


@pytest.mark.parametrize("names", [("a_infer", "b_train"), ("b_infer", "a_train")])
def test_of_several_callers_the_one_at_every_step_counts(project, names):
    write({"net": "", "plain": "", names[0]: ONCE, names[1]: STEPS})
    (finding,) = [one for one in checked() if one.site.path == "p/ops.py"]
    assert finding.heat == "hot"
    assert [fact.path for fact in finding.because if fact.text.endswith("passes it on")] == [f"p/{names[1]}.py"]
