"""Files that import one another: the same findings alone or together, by one process or several, new or remembered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from syncguard import pipeline
from syncguard.cache import folder, store, table
from syncguard.config import Config
from syncguard.examine import workers
from syncguard.examine.examine import Examiner
from syncguard.judge.callers.reach import reached
from syncguard.judge.heat.warmth import BY_NAME
from syncguard.pack import load
from syncguard.read import source
from syncguard.read.project import forget

ROOT = Path(__file__).parent.parent
MODEL = """\
import torch
from .ops import count, Base, keep


class Net(Base):
    def forward(self, x):
        if count(x) > 3:
            return x
        for i in range(self.limit):
            x = keep(x)
        return x
"""
OPS = """\
import torch
from torch import Tensor


def count(mask: Tensor):
    return mask.sum()


def keep(x):
    return helper(x)


def helper(x: Tensor):
    return x[x > 0]


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("limit", torch.tensor(3))
"""


@pytest.fixture
def project(package):
    Path("p/__init__.py").write_text("from .model import Net as Net\n")
    Path("p/model.py").write_text(MODEL)
    Path("p/ops.py").write_text(OPS)
    return package


def config(**changes):
    return Config(root=os.getcwd(), **changes)


def lines(report, path):
    return [(f.site.line, f.code) for f in report.findings if f.site.path == path]


def test_what_another_file_returns_and_holds_is_known(project):
    report = pipeline.check(["p/model.py"], config(cache=False))
    assert lines(report, "p/model.py") == [(7, "SG204"), (9, "SG205")]
    first = report.findings[0]
    assert any(fact.path == "p/ops.py" and fact.line == 6 for fact in first.because)


def test_alone_or_together_the_findings_are_the_same(project):
    together = pipeline.check(["."], config(cache=False))
    for name in ("p/model.py", "p/ops.py", "p/__init__.py"):
        alone = pipeline.check([name], config(cache=False))
        assert lines(alone, name) == lines(together, name)


def test_a_name_that_a_function_of_another_file_puts_in_place(project):
    start = "import torch\n\ndevice = None\nlimit = None\n\n\ndef start(name):\n    global device, other\n"
    Path("p/state.py").write_text(start + "    device = torch.device(name)\n")
    Path("p/env.py").write_text(
        "import torch\nfrom . import state\n\n\ndef forward(n):\n"
        "    x = torch.zeros(n, device=state.device)\n    y = torch.zeros(n, device=state.limit)\n"
        "    return x.nonzero(), y.nonzero()\n"
    )
    for cache in (False, True):
        assert lines(pipeline.check(["p/env.py"], config(cache=cache)), "p/env.py") == [(8, "SG101")]
    Path("p/state.py").write_text(start.replace("device, ", "") + "    device = torch.device(name)\n")
    for cache in (True, False):  # that it is no longer put in place is seen from outside
        assert lines(pipeline.check(["p/env.py"], config(cache=cache)), "p/env.py") == []


def test_a_number_that_a_call_leaves_as_it_is_was_not_given_as_a_tensor(project):
    Path("p/made.py").write_text(
        "import torch\nfrom torch import Tensor\n\n\n"
        "def scalar(value: float | Tensor = 0.0, device=None, *, scale: float = 1.0) -> Tensor:\n"
        "    if isinstance(value, Tensor):\n        return value\n    return torch.tensor(value, device=device)\n"
    )
    Path("p/asked.py").write_text(
        "import torch\nfrom .made import scalar\n\n\ndef forward(x: torch.Tensor, args, options):\n"
        "    scalar(device='cpu').item()\n    scalar(scale=2.0, device='cpu').item()\n"
        "    scalar(x, device='cpu').item()\n    scalar(value=x, device='cpu').item()\n"
        "    scalar(device=x.device).item()\n"
        "    scalar(*args, device='cpu').item()\n    scalar(device='cpu', **options).item()\n"
    )
    report = pipeline.check(["p/asked.py"], config(cache=False, heat="all"))
    assert lines(report, "p/asked.py") == [(n, "SG201") for n in (8, 9, 10, 11, 12)]


def test_what_a_file_assigns_to_the_class_of_another_is_seen_in_it_and_nowhere_else(project):
    box = "class Box:\n    def __init__(self):\n        self.held = None\n"
    Path("p/box.py").write_text(box)
    Path("p/fill.py").write_text(
        "import torch\nfrom .box import Box\n\n\ndef forward(box: Box, x: torch.Tensor):\n    box.held = x\n"
        "    return later(box)\n\n\ndef later(box: Box):\n    return box.held.item()\n"
    )
    Path("p/look.py").write_text("from .box import Box\n\n\ndef forward(box: Box):\n    return box.held.item()\n")
    for paths in (["p/fill.py", "p/look.py"], ["p/look.py", "p/fill.py"], ["p/fill.py"], ["p/look.py"]):
        report = pipeline.check(paths, config(cache=False, heat="all"))
        assert lines(report, "p/look.py") == []
        assert lines(report, "p/fill.py") == ([(11, "SG201")] if "p/fill.py" in paths else [])


def test_what_a_file_puts_into_a_tuple_of_another_is_seen_in_it_and_nowhere_else(project):
    Path("p/kinds.py").write_text(
        "from collections import namedtuple\n\nPair = namedtuple('Pair', 'value count')\n"
        "def made(x):\n    return Pair(x, 3)\n"
    )
    Path("p/fill.py").write_text(
        "import torch\nfrom .kinds import Pair\n\n\ndef forward(x: torch.Tensor):\n    pair = Pair(x, 3)\n"
        "    return pair.value.item() if pair.count > 3 else pair\n"
    )
    Path("p/look.py").write_text("from .kinds import Pair\n\n\ndef forward(pair: Pair):\n    return pair.value > 0\n")
    for paths in (["p/fill.py", "p/look.py"], ["p/look.py", "p/fill.py"], ["p/fill.py"], ["p/look.py"]):
        report = pipeline.check(paths, config(cache=False, heat="all"))
        assert lines(report, "p/look.py") == []
        assert lines(report, "p/fill.py") == ([(7, "SG201")] if "p/fill.py" in paths else [])


def test_what_imported_functions_assign_to_others_is_not_seen_by_who_is_checked_later(project):
    Path("p/box.py").write_text("class Box:\n    def __init__(self):\n        self.held = None\n")
    Path("p/fill.py").write_text("import torch\n\n\ndef fill(box):\n    box.held = torch.ones(2, device='cuda')\n")
    Path("p/first.py").write_text(
        "from .box import Box\nfrom .fill import fill\n\n\ndef forward():\n    box = Box()\n    return fill(box)\n"
    )
    Path("p/maker.py").write_text(
        "import torch\nfrom .box import Box\n\n\ndef made():\n    box = Box()\n"
        "    box.held = torch.ones(2, device='cuda')\n    return box\n"
    )
    Path("p/second.py").write_text("from .maker import made\n\n\ndef forward():\n    return made()\n")
    Path("p/look.py").write_text("from .box import Box\n\n\ndef forward(box: Box):\n    return box.held.item()\n")
    for first in ("p/first.py", "p/second.py"):
        report = pipeline.check([first, "p/look.py"], config(cache=False, heat="all"))
        assert lines(report, "p/look.py") == [], first


def test_what_a_library_hands_out_is_known_by_its_rows(project):
    Path("p/strategy.py").write_text(
        "import lightning.pytorch as pl\nfrom lightning.pytorch.strategies.ddp import DDPStrategy\n\n\n"
        "class Ours(DDPStrategy):\n    def setup(self, trainer: pl.Trainer):\n        self.trainer = trainer\n\n"
        "    def training_step(self, batch, index):\n"
        "        self.lightning_module.log('step', self.trainer.global_step)\n"
        "        self.lightning_module.log('loss', self.model(batch))\n"
    )
    report = pipeline.check(["p/strategy.py"], config(cache=False))
    assert lines(report, "p/strategy.py") == [(10, "SG302")]


def test_a_reason_leads_to_who_asked_whoever_asked_first(project):
    Path("p/shift.py").write_text("def shift(x):\n    return x + 1\n")
    built = "    return shift(torch.zeros(4)).to(x.device)\n"
    copied = "    return shift(torch.tensor([1.0, 2.0])).to(x.device)\n"
    fetched = "    return shift(x.cpu()).to(x.device)\n"
    told = {}
    for name, line in {"built": built, "copied": copied, "fetched": fetched}.items():
        head = "import torch\nfrom .shift import shift\n\n\ndef forward(x: torch.Tensor):\n"
        Path(f"p/{name}.py").write_text(head + line)
        told[f"p/{name}.py"] = pipeline.check([f"p/{name}.py"], config(cache=False, heat="all")).findings
    assert [[f.code for f in found] for found in told.values()] == [["SG304"], ["SG301"], ["SG305", "SG202"]]
    for order in (list(told), list(told)[::-1], list(told)[1:] + list(told)[:1]):
        found = pipeline.check(order, config(cache=False, heat="all")).findings
        assert found == tuple(f for name in order for f in told[name]), order


def test_a_function_that_another_file_makes_hot_says_by_which_way(project):
    (found,) = [f for f in pipeline.check(["."], config(cache=False)).findings if f.site.path == "p/ops.py"]
    assert found.heat == "hot"
    assert [(fact.path, fact.line) for fact in found.hot_path] == [
        ("p/model.py", 6), ("p/model.py", 10), ("p/ops.py", 10),
    ]  # fmt: skip
    (alone,) = pipeline.check(["p/ops.py"], config(cache=False)).findings
    assert (alone.site, alone.code, alone.heat) == (found.site, found.code, "unknown")
    assert reached({}, {}) == {}


@pytest.mark.parametrize(
    ("name", "call", "heat"),
    [
        ("convert_to_weights", "convert_to_weights(x)", "hot"),
        ("init_scale", "init_scale(x)", "hot"),
        ("print_all", "if self.step % 100 == 0:\n            print_all(x)", "cold"),
        ("_init_table", "if self.table is None:\n            _init_table(x)", "cold"),  # which another method empties
        ("_init_table", "if not (self.table is not None and x is not None):\n            _init_table(x)", "hot"),
        ("show_all", "raise ValueError(show_all(x))", "cold"),
    ],
)
def test_what_a_name_says_is_believed_until_another_file_calls_it_at_every_step(project, name, call, heat):
    Path("p/tools.py").write_text(
        f"import torch\n\n\ndef {name}(x: torch.Tensor):\n    for part in x:\n        x = x + part\n"
        "    found = x.nonzero()\n    return found\n"
    )
    Path("p/nets.py").write_text(
        f"from .tools import {name}\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    table = None\n\n"
        f"    def forward(self, x):\n        {call}\n        return x\n\n"
        "    def reset(self):\n        self.table = None\n"
    )
    (alone,) = pipeline.check(["p/tools.py"], config(cache=False, heat="all")).findings
    assert (alone.heat, alone.hot_path[0].text) == ("cold", BY_NAME)
    (found,) = [f for f in pipeline.check(["."], config(cache=False, heat="all")).findings if f.code == "SG101"]
    assert found.heat == heat
    sure = pipeline.check(["."], config(cache=False, heat="all", cold=(name,))).findings
    assert [f.heat for f in sure if f.code == "SG101"] == ["cold"]


@pytest.mark.parametrize("name", ["save_all", "load_rows", "write_checkpoint", "export_rows"])
def test_what_saves_or_loads_is_as_cold_as_its_name_says_whoever_calls_it(project, name):
    Path("p/tools.py").write_text(
        f"import torch\n\n\ndef {name}(x: torch.Tensor):\n    for part in x:\n        x = x + part\n"
        "    return x.nonzero()\n"
    )
    Path("p/nets.py").write_text(
        f"from .tools import {name}\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        f"    def forward(self, x):\n        return {name}(x)\n"
    )
    (found,) = [f for f in pipeline.check(["."], config(cache=False, heat="all")).findings if f.code == "SG101"]
    assert found.heat == "cold"


def test_a_constructor_and_what_a_test_calls_stay_as_cold_as_their_names_say(project):
    Path("p/tools.py").write_text(
        "import torch\n\n\nclass Table:\n    def __init__(self, x: torch.Tensor):\n"
        "        self.found = x.nonzero()\n\n\n"
        "def show_all(x: torch.Tensor):\n    for part in x:\n        x = x + part\n    return x.nonzero()\n"
    )
    Path("test_nets.py").write_text(
        "from p.tools import Table, show_all\n\n\ndef test_all(net, rows):\n    for row in rows:\n"
        "        net(row).backward()\n        show_all(Table(row).found)\n"
    )
    found = [f for f in pipeline.check(["."], config(cache=False, heat="all")).findings if f.site.path == "p/tools.py"]
    assert [f.heat for f in found] == ["cold", "cold"]


def test_a_function_that_is_called_before_the_steps_and_in_them_is_hot(project):
    Path("p/norms.py").write_text("import torch\n\n\ndef norm(x: torch.Tensor):\n    return x.norm().item()\n")
    Path("p/train.py").write_text(
        "from .norms import norm\n\n\ndef train(loss, rows):\n    print(norm(rows))\n"
        "    for row in rows:\n        loss(row).backward()\n        norm(row)\n"
    )
    (found,) = [f for f in pipeline.check(["."], config(cache=False)).findings if f.site.path == "p/norms.py"]
    assert found.heat == "hot"


@pytest.mark.parametrize(
    "beside", ["def setup(x):\n    print(norm(x))\n", "if __name__ == '__main__':\n    norm(args)\n"]
)
def test_what_its_own_file_seldom_calls_another_one_may_call_at_every_step(project, beside):
    name = "args" if "args" in beside else "x"
    inner = f"\n\ndef inner({name}):\n    return {name}.weight.cuda().max().item()\n"
    Path("p/norms.py").write_text(f"import torch\n{inner}\n\ndef norm({name}):\n    return inner({name})\n\n\n{beside}")
    Path("p/train.py").write_text(
        "from .norms import norm\n\n\ndef train(loss, rows):\n    for row in rows:\n        loss(row).backward()\n"
        "        norm(row)\n"
    )

    def heats(*paths):
        found = pipeline.check(paths, config(cache=False, heat="all")).findings
        return [(f.heat, f.hot_path[-1].text) for f in found if f.code == "SG201" and f.site.path == "p/norms.py"]

    assert heats("p/norms.py") == [("cold", "in its file called only by what runs seldom")]
    assert heats(".") == [("hot", "calls `inner`")]


@pytest.mark.parametrize(
    ("name", "caller", "heat"),
    [
        ("_fit", "load_weights", "cold"),
        ("_fit", "forward", "hot"),
        ("_fit", "other", "unknown"),
        ("_fit", "main", "unknown"),  # a script tells nothing of how often what it calls runs
        ("fit", "load_weights", "cold"),  # nobody else in the package names it
        ("fit", "test_weights", "unknown"),  # others may call what is tried there
    ],
)
def test_what_only_setup_of_other_files_calls_is_setup(project, name, caller, heat):
    Path("p/fits.py").write_text(f"import torch\n\n\ndef {name}(w: torch.Tensor):\n    return w.max().item()\n")
    Path("p/nets.py").write_text(
        f"from .fits import {name}\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        f"    def {caller}(self, w):\n        return {name}(w)\n"
    )
    if caller == "main":
        Path("p/nets.py").write_text(f"from .fits import {name}\n\n\ndef main(w):\n    return {name}(w)\n")
    found = pipeline.check(["."], config(cache=False, heat="all")).findings
    assert [f.heat for f in found if f.site.path == "p/fits.py"] == [heat]


def test_one_file_sees_the_others_through_the_cache(project):
    pipeline.check(["."], config())
    (found,) = pipeline.check(["p/ops.py"], config()).findings
    assert found.heat == "hot"


def test_what_is_remembered_is_what_would_be_found(project, monkeypatch):
    new = pipeline.check(["."], config())
    monkeypatch.setattr(workers, "Examiner", None)  # nothing is examined again
    monkeypatch.setattr(workers, "examine", examines_nothing)
    assert pipeline.check(["."], config()) == new


def examines_nothing(sources, *_):
    assert not sources
    return [], {}


@pytest.mark.parametrize(
    ("path", "old", "new", "again"),
    [
        ("p/ops.py", "return mask.sum()", "return len(mask)", {"p/ops.py", "p/model.py"}),
        ("p/ops.py", "return x[x > 0]", "return x * 2", {"p/ops.py", "p/model.py"}),
        ("p/model.py", "> 3", "> 4", {"p/model.py"}),
    ],
)
def test_who_looked_at_a_part_that_changed_looks_again(project, monkeypatch, path, old, new, again):
    pipeline.check(["."], config())
    Path(path).write_text(Path(path).read_text().replace(old, new))
    assert again <= examined(monkeypatch)
    assert pipeline.check(["."], config()).findings == pipeline.check(["."], config(cache=False)).findings


HELD = """import torch


class State:
    def __init__(self, exact=False):
        self.scale = 3.0
        self.exact = exact

    def reset(self):
        pass
"""
USED = """import torch

from p.state import State


def step(state: State, x: torch.Tensor):
    if state.exact:
        return x.sum().item()
    return 1 if state.scale > 0 else 2
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        pass", "        self.scale = torch.zeros((), device='cuda')"),
        ("        pass", "        self.exact = True"),
        ("exact=False", "exact=True"),
        ("self.exact = exact", "self.exact = True"),
        ("class State:", "class State:\n    scale: torch.Tensor\n"),
    ],
)
def test_who_reads_an_attribute_looks_again_when_other_things_are_assigned_to_it(project, old, new):
    Path("p/state.py").write_text(HELD)
    Path("p/used.py").write_text(USED)
    before = pipeline.check(["p/used.py"], config(heat="all")).findings
    assert [finding.options != () for finding in before] == [True]
    Path("p/state.py").write_text(HELD.replace(old, new))
    now = pipeline.check(["p/used.py"], config(heat="all")).findings
    assert now == pipeline.check(["p/used.py"], config(heat="all", cache=False)).findings
    assert now != before or "scale: " in new


def examined(monkeypatch):
    """Check the folder, and tell which files were examined anew."""
    seen = set()
    real = workers.examine

    def watched(sources, *rest):
        seen.update(os.path.relpath(source.path) for source in sources)
        return real(sources, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(workers, "examine", watched)
        pipeline.check(["."], config())
    return seen


def test_a_part_that_nobody_looked_at_may_change(project, monkeypatch):
    Path("p/ops.py").write_text(OPS + "\n\ndef other(x):\n    return 1\n")
    pipeline.check(["p/__init__.py"], config())
    before = Path("p/ops.py").read_text()
    Path("p/ops.py").write_text(before.replace("return 1", "return 2"))
    assert "p/__init__.py" not in examined(monkeypatch)


def test_a_file_that_appears_is_seen(project):
    Path("p/model.py").write_text(MODEL.replace("from .ops import", "from .gone import"))
    assert lines(pipeline.check(["p/model.py"], config()), "p/model.py") != [(7, "SG204"), (9, "SG205")]
    Path("p/gone.py").write_text(OPS)
    assert lines(pipeline.check(["p/model.py"], config()), "p/model.py") == [(7, "SG204"), (9, "SG205")]


@pytest.mark.parametrize("damage", [b"", b"x" * 50, None])
def test_a_damaged_cache_is_built_again(project, damage):
    new = pipeline.check(["."], config())
    (file,) = Path(".syncguard_cache").glob("*.msgpack")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2] if damage is None else damage)
    assert pipeline.check(["."], config()).findings == new.findings
    assert file.read_bytes()[:16] == data[:16]


def test_a_cache_that_cannot_be_written_is_said(project, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    report = pipeline.check(["."], config())
    assert report.warnings == (f"the cache in {project}/.syncguard_cache was not written: No space left on device",)
    assert len(report.findings) == 3
    assert not list(Path(".syncguard_cache").glob(".*.msgpack.*"))


def test_a_text_given_for_a_file_that_another_one_imports_is_what_is_checked(project):
    texts = {"p/ops.py": OPS.replace("import torch\n", "import torch\n\n\n", 1)}
    report = pipeline.check(["p/__init__.py", "p/model.py", "p/ops.py"], config(cache=False), texts=texts)
    assert lines(report, "p/ops.py") == [(16, "SG102")]


def test_another_setting_is_another_file(project):
    rules = load().digest
    assert store.file_of(config(), rules) != store.file_of(config(ignore=("SG1",)), rules)
    assert store.file_of(config(), rules) == store.file_of(config(heat="all"), rules)
    assert set(Config.__struct_fields__) >= store.APART  # what is not there is no setting apart


def test_the_folder_is_removed_only_if_it_is_ours(project):
    pipeline.check(["."], config())
    assert folder.clean(config())
    assert not Path(".syncguard_cache").exists()
    Path(".syncguard_cache").mkdir()
    Path(".syncguard_cache/mine").write_text("x")
    assert not folder.clean(config())
    assert Path(".syncguard_cache/mine").exists()


@pytest.mark.parametrize("place", ["", ".", "kept"])
def test_a_folder_of_others_is_left_alone(project, place):
    """Its files are neither hidden from git nor taken for what a killed run left, nor removed with ours."""
    Path("kept").mkdir()
    for name in (".env", "kept/.env", "kept/CACHEDIR.TAG"):
        Path(name).write_text("mine")
        os.utime(name, (0, 0))
    before = sorted(Path().rglob("*"))
    report = pipeline.check(["."], config(cache_dir=place))
    told = os.path.join(str(project), place).rstrip("/.")
    assert report.warnings == (f"the cache in {told} was not written: it holds other files",)
    assert sorted(Path().rglob("*")) == before
    assert not folder.clean(config(cache_dir=place))
    assert sorted(Path().rglob("*")) == before


def test_files_of_others_outlive_ours(project):
    pipeline.check(["."], config())
    Path(".syncguard_cache/notes.txt").write_text("mine")
    os.utime(".syncguard_cache/notes.txt", (0, 0))
    assert folder.clean(config())
    assert [path.name for path in Path(".syncguard_cache").iterdir()] == ["notes.txt"]


def test_the_number_of_processes_changes_nothing(monkeypatch):
    monkeypatch.setattr(workers, "WORTH", 0)
    monkeypatch.setattr(workers, "CHUNK", 20_000)
    settings = Config(root=str(ROOT), cache=False, heat="all", jobs=1)
    paths = [str(ROOT / folder) for folder in ("syncguard/observe", "examples")]
    one = pipeline.check(paths, settings)
    three = pipeline.check(paths, replace(settings, jobs=3))
    assert one == three
    assert one.functions > 500


def test_two_at_once_leave_a_sound_cache(project):
    command = [sys.executable, "-m", "syncguard", "check", ".", "--exit-zero", "-o", "concise"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {process.communicate(timeout=60)[0] for process in both}
    assert len(said) == 1
    assert len(table.load(store.file_of(pipeline_config(), load().digest)).table.examined) == 3


def pipeline_config():
    from syncguard import config as settings

    return settings.load(["."], {}, "", False)


def test_files_that_import_one_another_in_a_circle_are_the_same_from_either_end(project):
    Path("p/__init__.py").write_text("from .store import Store\nfrom .data import Data\nKINDS = [Data]\n")
    Path("p/store.py").write_text("class Store:\n    pass\n")
    Path("p/data.py").write_text(
        "import torch\nfrom p import Store\n\n\nclass Data(Store):\n"
        "    @property\n    def x(self) -> torch.Tensor:\n        return self['x']\n"
    )
    Path("p/first.py").write_text("from p.data import Data\nmade = Data()\n")
    Path("p/use.py").write_text("import p\n\n\ndef count(data: 'p.Data'):\n    return int(data.x.sum())\n")
    for order in (["p/use.py"], ["p/first.py", "p/use.py"], ["."]):
        report = pipeline.check(order, config(cache=False))
        assert lines(report, "p/use.py") == [(5, "SG203")], order


def test_an_override_is_given_what_the_base_class_of_another_file_gives_it(project):
    Path("p/base.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Loss(nn.Module):\n"
        "    def forward(self, x: torch.Tensor):\n        return self._compute(x, x > 0, self.named(x))\n\n"
        "    def named(self, x):\n        return {'x': x}\n\n"
        "    def _compute(self, x, chosen, more):\n        raise NotImplementedError\n"
    )
    Path("p/loss.py").write_text(
        "from .base import Loss\n\n\nclass Mean(Loss):\n    def _compute(self, x, chosen, more):\n"
        "        if chosen.bool().any():\n            return x[chosen].mean()\n        return more['x'].sum()\n\n\n"
        "class Other:\n    def _compute(self, x, chosen, more):\n        return chosen.bool().any() and x\n"
    )
    settings = config(cache=False)
    found = lines(pipeline.check(["p/loss.py"], settings), "p/loss.py")
    assert found == [(6, "SG204"), (7, "SG102")]
    assert lines(pipeline.check(["p"], settings), "p/loss.py") == found


def test_an_override_is_looked_at_again_when_the_base_class_begins_to_call_it(project):
    called = "    def forward(self, x: torch.Tensor):\n        return self._compute(x > 0)\n"
    base = (
        "import torch\nfrom torch import nn\n\n\nclass Loss(nn.Module):\n"
        "    def forward(self, x: torch.Tensor):\n        return x\n"
    )
    Path("p/base.py").write_text(base)
    Path("p/loss.py").write_text(
        "from .base import Loss\n\n\nclass Mean(Loss):\n    def _compute(self, chosen):\n"
        "        return 1 if chosen.all() else 2\n"
    )
    assert lines(pipeline.check(["p/loss.py"], config()), "p/loss.py") == []
    Path("p/base.py").write_text(base.replace("    def forward(self, x: torch.Tensor):\n        return x\n", called))
    assert lines(pipeline.check(["p/loss.py"], config()), "p/loss.py") == [(6, "SG204")]


def test_a_module_that_the_package_itself_imports_from_itself_is_found(project):
    Path("p/__init__.py").write_text("from .model import root as root\nfrom . import linear\n")
    Path("p/linear.py").write_text("import torch\n\ninverse = torch.linalg.inv\n")
    Path("p/model.py").write_text(
        "import torch\nfrom . import linear\nfrom p import linear as same\n\n\ndef root(x: torch.Tensor):\n"
        "    return linear.inverse(x)\n\n\ndef other(x: torch.Tensor):\n    return same.inverse(x)\n"
    )
    report = pipeline.check(["p/model.py"], config(cache=False))
    assert lines(report, "p/model.py") == [(7, "SG503"), (11, "SG503")]


@pytest.mark.parametrize(("name", "found"), [("p", [(4, "SG202")]), ("q", [])])
def test_a_folder_without_init_in_a_package_imports_from_that(project, name, found):
    Path("pyproject.toml").unlink()
    forget()
    Path("p/heads").mkdir()
    Path("p/heads/dense.py").write_text(f"from {name}.ops import count\n\ndef f(x):\n    return count(x).cpu()\n")
    assert lines(pipeline.check(["p/heads/dense.py"], config(cache=False)), "p/heads/dense.py") == found


@pytest.mark.parametrize("top", [Path("p/grid"), Path("grid")])
def test_a_folder_with_setup_that_takes_itself_for_a_library_of_its_name_comes_to_an_end(project, top):
    top.mkdir()
    for name in ("__init__.py", "setup.py"):
        (top / name).write_text("")
    (top / "shape.py").write_text(
        "from grid.shape import sized\nfrom .other import inverse\n\n\ndef f(x):\n    return sized(inverse(x))\n"
    )
    (top / "other.py").write_text("import torch\n\ninverse = torch.linalg.inv\n")
    path = (top / "shape.py").as_posix()
    assert lines(pipeline.check([path], config(cache=False, heat="all")), path) == [(6, "SG503")]


def test_setup_in_a_package_is_a_module_of_it(project):
    Path("p/grid").mkdir()
    for name in ("__init__.py", "setup.py"):
        Path("p/grid", name).write_text("")
    Path("p/ops.py").write_text("import torch\n\ninverse = torch.linalg.inv\n")
    Path("p/grid/shape.py").write_text("from p.ops import inverse\n\n\ndef f(x):\n    return inverse(x)\n")
    found = lines(pipeline.check(["p/grid/shape.py"], config(cache=False, heat="all")), "p/grid/shape.py")
    assert found == [(5, "SG503")]


def test_what_only_annotations_import_is_known(project):
    Path("p/batch.py").write_text(
        "import torch\nclass Batch:\n    def __init__(self):\n        self.mask = torch.ones(3)"
    )
    Path("p/heavy.py").write_text("")
    head = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .batch import Batch\n    from .heavy import *\n"
    )
    Path("p/use.py").write_text(f"{head}def use(batch: 'Batch'):\n    if batch.mask.cuda()[0]:\n        return 1\n")
    examiner = Examiner(config(cache=False))
    found = examiner.examine(source.read("p/use.py"))
    assert [finding.code for finding in found.findings] == ["SG204", "SG304"]
    assert "p/heavy.py" not in examiner.world.interfaces  # a star would have read it at once


def test_the_ranks_of_a_device_mesh_are_on_the_host_by_whatever_name_it_is_imported(project):
    for name in ("torch.distributed", "torch.distributed.device_mesh"):
        text = f"import torch\nfrom {name} import DeviceMesh\n\n\ndef f(x: torch.Tensor, mesh: DeviceMesh):\n"
        Path("p/ranks.py").write_text(f"{text}    return x + mesh.mesh.tolist()[0]\n")
        assert lines(pipeline.check(["p/ranks.py"], config(cache=False)), "p/ranks.py") == []


def test_a_clock_of_another_file_that_waits_is_there_to_time(project):
    Path("p/clock.py").write_text(
        "import time\n\nimport torch\n\n\ndef now():\n    torch.cuda.synchronize()\n    return time.time()\n"
    )
    Path("p/timed.py").write_text(
        "from .clock import now\n\n\ndef fit(model, loader):\n    for x in loader:\n        begun = now()\n"
        "        model(x).sum().backward()\n        print(now() - begun)\n\n\ndef probe(model, x):\n"
        "    begun = now()\n    model(x)\n    return now() - begun\n"
    )
    found = lines(pipeline.check(["p/timed.py"], config(cache=False)), "p/timed.py")
    assert found == [(6, "SG405"), (8, "SG405")]


def test_callers_that_pass_what_the_annotation_says_share_one_run(project):
    Path("p/ops.py").write_text(
        "import torch\nfrom torch import Tensor\n"
        "class Settings: ...\nclass Small(Settings): ...\nclass Large(Settings): ...\n"
        "def plain(x: Tensor, size: int, settings: Settings):\n    return x * size\n"
        "def told(x: Tensor, size, settings: Settings):\n    return x * size\n"
    )
    Path("p/model.py").write_text(
        "import torch\nfrom .ops import Large, Small, plain, told\n"
        "def forward(x: torch.Tensor, y: torch.Tensor, n: int):\n"
        "    a = plain(x, 2, Small()), plain(y + 1, n, Large()), plain(a[0], len(y), Small())\n"
        "    return told(x, 2, Small()), told(x, y, Large()), told(x, None, Large())\n"
    )
    examiner = Examiner(config(cache=False))
    examiner.examine(source.read("p/model.py"))
    ops = examiner.world.interfaces["p/ops.py"]
    runs = {routine.name: len(routine.contexts) for routine in ops.routines}
    assert runs == {"plain": 1, "told": 3}


def test_a_wait_for_a_clock_counts_where_another_file_calls_it_at_every_step(project):
    Path("p/clock.py").write_text(
        "import time\nimport torch\n\n\ndef timed(run):\n    start = time.time()\n    run()\n"
        "    torch.cuda.synchronize()\n    return time.time() - start\n"
    )
    found = pipeline.check(["p/clock.py"], config(cache=False, heat="all")).findings
    assert not found
    Path("p/train.py").write_text(
        "from .clock import timed\n\n\ndef train(loader, step):\n    for x in loader:\n        step(x).backward()\n"
        "        timed(step)\n"
    )
    found = pipeline.check(["."], config(cache=False)).findings
    assert [(f.code, f.heat) for f in found if f.site.path == "p/clock.py"] == [("SG405", "hot")]


@pytest.mark.parametrize(("where", "heat"), [("        ", "hot"), ("    ", "amortized")])
def test_what_stands_around_the_steps_of_another_file_makes_nothing_hot(project, where, heat):
    Path("p/track.py").write_text("import torch\n\n\ndef stop(x: torch.Tensor):\n    return x.max().item()\n")
    Path("p/train.py").write_text(
        "from .track import stop\n\n\ndef train_one_epoch(loader, step):\n    for x in loader:\n"
        f"        loss = step(x)\n        loss.backward()\n{where}stop(loss)\n"
    )
    found = pipeline.check(["."], config(cache=False, heat="all")).findings
    assert [f.heat for f in found if f.site.path == "p/track.py"] == [heat]


def test_a_relative_path_from_within_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "models"
    (package / "parts").mkdir(parents=True)
    for name in ("__init__.py", "parts/__init__.py"):
        (package / name).write_text("")
    (package / "ops.py").write_text("import numpy as np\n\n\ndef made():\n    return np.zeros(3)\n")
    (package / "parts" / "net.py").write_text("from ..ops import made\n\nx = made()\n")
    monkeypatch.chdir(package)
    monkeypatch.setattr("syncguard.read.project.MARKS", ("of no project",))
    forget()
    assert pipeline.beliefs(os.path.join("parts", "net.py"), 3, Config())
