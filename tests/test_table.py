"""Checks of some of the files, edits in between, and what is remembered: never anything but what is found anew."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from syncguard import pipeline
from syncguard.cache import store, table
from syncguard.config import Config
from syncguard.examine.examine import Examiner
from syncguard.fixing import SAFE, UNSAFE, fixed
from syncguard.pack import load
from syncguard.read.project import forget

WAITS = "    return torch.relu(x)\n"
NUMBER = "    return 3\n"
DEVICE = 'torch.ones(3, device="cuda")'
USER = """\
import torch
from {of} import f


class Net(torch.nn.Module):
    def forward(self, x):
        if f({device}) > 0:
            return x
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[project]\nname = 'p'\n")
    forget()
    yield tmp_path
    forget()


def write(name, text):
    Path(name).write_text(text)


def found(*paths, cache=True, texts=None):
    report = pipeline.check(paths, Config(root=os.getcwd(), cache=cache, heat="all"), texts=texts)
    return [(Path(f.site.path).name, f.site.line, f.code, f.because) for f in report.findings]


def users(*names, of="b"):
    for name in names:
        write(f"{name}.py", USER.format(of=of, device=DEVICE))


def ending(body):
    return f"import torch\n\n\ndef f(x):\n{body}"


def test_a_function_that_changed_while_only_another_file_was_checked(project):
    users("a", "c")
    write("b.py", ending(WAITS))
    assert len(found(".")) == 2
    write("b.py", ending(NUMBER))
    assert found("c.py") == []
    assert found(".") == []
    write("b.py", ending(WAITS))
    assert len(found("a.py")) == 1
    assert len(found(".")) == 2


def test_a_function_behind_a_file_that_stays(project):
    users("a", "c", of="m")
    write("m.py", "import b\n\n\ndef f(x):\n    return b.f(x)\n\n\ndef g(x):\n    return x\n")
    write("b.py", ending(WAITS))
    assert len(found(".")) == 2
    write("m.py", Path("m.py").read_text().replace("def g(x):\n    return x", "def g(x):\n    return [x]"))
    write("b.py", ending(NUMBER))
    write("d.py", "from m import g\n\n\ndef forward(x):\n    return g(x)\n")
    assert found("d.py") == []  # looks at no part of b
    assert found("c.py") == []
    assert found("a.py") == []


def test_lines_that_are_cited_move_while_only_another_file_is_checked(project):
    users("a", "c")
    write("b.py", ending(WAITS))
    before = found("a.py", "c.py")
    write("b.py", "# one more line\n" + ending(WAITS))
    found("c.py")
    assert found("a.py", "c.py") == found("a.py", "c.py", cache=False) != before


def test_a_file_that_went_and_came_back_as_another_one(project):
    users("a", "c")
    write("b.py", ending(WAITS))
    assert len(found("a.py", "c.py")) == 2
    os.remove("b.py")
    forget()
    found("c.py")
    write("b.py", ending(NUMBER))
    forget()
    assert found("c.py") == []
    assert found("a.py") == []


def test_an_import_that_leads_elsewhere_while_only_another_file_is_checked(project):
    Path("p").mkdir()
    write("p/__init__.py", "")
    write("p/a.py", USER.format(of="p.m", device=DEVICE))
    write("p/c.py", USER.format(of="p.m", device=DEVICE))
    write("p/m.py", "from helper import f as f\n")
    write("helper.py", ending(WAITS))
    assert len(found("p")) == 2
    Path("helper").mkdir()
    write("helper/__init__.py", ending(NUMBER))  # a package goes before a module of the same name
    forget()
    assert found("p/c.py") == []
    assert found("p/a.py") == []


def test_additions_are_small_and_belong_to_their_table(project, monkeypatch):
    users(*(f"user{n}" for n in range(60)))
    write("b.py", ending(WAITS))
    assert len(found(".")) == 60
    (whole,) = Path(".syncguard_cache").glob("*.msgpack")
    before = whole.read_bytes()
    write("user7.py", "x = 1\n")
    assert len(found("user7.py", "user8.py")) == 1
    added = whole.with_suffix(".added")
    assert whole.read_bytes() == before
    assert added.stat().st_size * table.SHARE <= len(before)
    tables = (path for path in Path(".syncguard_cache").iterdir() if path.name[0] != ".")
    suffixes = (table.WHOLE, table.ADDED)
    assert {path for path in tables if path.suffix in suffixes} == {added.with_suffix(suffix) for suffix in suffixes}
    assert len(found(".")) == 59
    kept = added.read_bytes()
    for damaged in (b"", kept[:-1], kept[:4] + b"\x00" + kept[5:], b"\x00" * len(kept)):
        added.write_bytes(damaged)
        assert len(found(".")) == 59
    monkeypatch.setattr(table, "SHARE", 10**9)
    write("user8.py", "x = 1\n")
    assert len(found("user8.py", "user9.py")) == 1
    assert not added.exists()
    added.write_bytes(kept)  # left over from another table
    assert len(found(".")) == 58
    state = table.load(store.file_of(Config(root=os.getcwd(), heat="all"), load().digest))
    assert state.added == table.Table()
    assert len(state.table.examined) == 61


F = ("def f(x):\n    return torch.relu(x)\n", "def f(x):\n    return 3\n", "def f(x):\n    return g(x)\n")
G = ("def g(x):\n    return x + 1\n", "def g(x):\n    return 'text'\n", "def g(x):\n    return x.item()\n")
NET = "class Net(torch.nn.Module):\n    def forward(self, x):\n        if {}(x.cuda()) > 0:\n            return x\n"
EXTRA = ("", "", "# a comment\n", "x = 1\n")


@pytest.mark.parametrize("seed", range(9))
def test_whatever_is_edited_and_whatever_is_checked_in_between(project, seed, monkeypatch):
    """Each file uses functions of its own and of the others, some of which are gone, or not saved, at times."""
    monkeypatch.setattr(table, "SHARE", (1, 8, 10**9)[seed % 3])
    chance = random.Random(seed)
    names = [f"m{n}" for n in range(4)]
    heads = {name: f"import torch\nfrom {names[n - 1]} import g\n" for n, name in enumerate(names)}

    def edit(name):
        if chance.random() < 0.2:
            heads[name] = f"import torch\nfrom {chance.choice(names)} import {chance.choice('fg')}\n"
        defined = G if "import f" in heads[name] else F
        own = [chance.choice(EXTRA), chance.choice(defined), NET.format(chance.choice("fg"))]
        write(f"{name}.py", heads[name] + "".join(own))

    for name in names:
        edit(name)
    reported = 0
    for _ in range(40):
        name = chance.choice(names)
        if chance.random() < 0.1 and name != names[0] and Path(f"{name}.py").exists():
            os.remove(f"{name}.py")
        else:
            edit(name)
        forget()
        there = [f"{name}.py" for name in names if Path(f"{name}.py").exists()]
        given = chance.sample(there, chance.randint(1, min(2, len(there))))
        texts = {os.path.abspath(chance.choice(there)): chance.choice((*F, ""))} if chance.random() < 0.2 else None
        here = found(*given, texts=texts)
        assert here == found(*given, cache=False, texts=texts)
        reported += len(here)
    assert reported > 1


@pytest.mark.parametrize("seed", range(4))
def test_texts_on_no_disk_are_told_apart_from_pass_to_pass(project, seed):
    """One process checks again and again what it has in hand, and remembers it."""
    chance = random.Random(seed)
    names = [f"m{n}" for n in range(4)]
    heads = {name: f"import torch\nfrom {names[n - 1]} import g\n" for n, name in enumerate(names)}
    for name in names:
        write(f"{name}.py", heads[name] + chance.choice(F) + chance.choice(G) + NET.format(chance.choice("fg")))
    config = Config(root=os.getcwd(), heat="all")
    report, state = pipeline.checked(["."], config)
    texts, reported = {}, len(report.findings)
    for _ in range(20):
        name = chance.choice(names)
        body = chance.choice(EXTRA) + chance.choice(F) + chance.choice(G) + NET.format(chance.choice("fg"))
        texts[os.path.abspath(f"{name}.py")] = heads[name] + body
        report, state = pipeline.checked(["."], config, texts=texts, state=state)
        assert report.findings == pipeline.check(["."], replace(config, cache=False), texts=texts).findings
        reported += len(report.findings)
    assert reported > 20


def test_only_what_a_text_changes_is_examined_again(project, monkeypatch):
    users(*(f"user{n}" for n in range(9)))
    write("b.py", ending(WAITS))
    config = Config(root=os.getcwd(), heat="all", jobs=1)
    _, state = pipeline.checked(["."], config)
    seen = []
    examine = Examiner.examine
    monkeypatch.setattr(Examiner, "examine", lambda self, source: seen.append(source.path) or examine(self, source))
    texts = {os.path.abspath("user3.py"): "x = 1\n"}
    report, state = pipeline.checked(["."], config, texts=texts, state=state)
    assert [Path(path).name for path in seen] == ["user3.py"]
    assert len(report.findings) == 8
    seen.clear()
    texts[os.path.abspath("user4.py")] = "x = 1\n"
    report, state = pipeline.checked(["."], config, texts=texts, state=state)
    assert [Path(path).name for path in seen] == ["user4.py"]
    assert len(report.findings) == 7
    seen.clear()
    pipeline.checked(["."], config, fixes=True, texts=texts, state=state)
    assert {Path(path).name for path in seen} == {f"user{n}.py" for n in range(9) if n not in (3, 4)}


def test_fixing_without_a_cache_leaves_none(project, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(project / "none"))  # nor does it need a folder to write to
    write(
        "a.py", "import torch\n\n\ndef f(x):\n    return torch.ones(3).to(x.device) * x\n\n\nf(torch.ones(3).cuda())\n"
    )
    write("b.py", ending(WAITS))
    done = fixed(["."], Config(root=os.getcwd(), heat="all", cache=False), None, SAFE)
    assert [Path(path).name for path in done.changed] == ["a.py"]
    assert not done.report.warnings
    assert sorted(path.name for path in project.iterdir()) == ["a.py", "b.py", "pyproject.toml"]


PEAK = "import torch\n\n\ndef peak(x: torch.Tensor):\n    return x.max().item()\n"
CLIP = """\
import torch
from a import peak


def clip(x: torch.Tensor):
    x = x.cuda()
    return x / max(1.0, peak(x))
"""
KNOWN = """\
import torch
from a import peak


def clip(x: torch.Tensor):
    y = peak(x)  # syncguard: allow[SG201] known
    return y
"""


@pytest.mark.parametrize("user", [CLIP, KNOWN])
@pytest.mark.parametrize("cache", [True, False])
def test_what_a_fix_changes_in_another_file_is_fixed_in_the_same_run(project, user, cache):
    write("a.py", PEAK)
    write("c.py", user)
    config = Config(root=os.getcwd(), heat="all", cache=cache)
    first = fixed(["."], config, None, UNSAFE)
    for path, (_, after) in first.changed.items():
        Path(path).write_text(after)
    forget()
    assert {Path(path).name for path in first.changed} >= {"a.py"}
    assert fixed(["."], config, None, UNSAFE).changed == {}


def test_what_stdin_holds_is_not_kept_as_the_file_of_its_name(project):
    write("b.py", "import torch\n\n\ndef read(x: torch.Tensor):\n    return x.cuda().sum().item()\n")
    steps = (
        "from b import read\n\n\ndef train(model, loader, opt):\n    for x in loader:\n"
        "        opt.zero_grad()\n        model(x).backward()\n        opt.step()\n"
    )
    write("a.py", steps)
    config = Config(root=os.getcwd(), heat="hot", stdin_filename="a.py")
    pipeline.check(["a.py", "b.py"], config)
    pipeline.check(["-"], config, f"{steps}        read(x)\n")
    assert not pipeline.check(["b.py"], config).findings


def test_a_cache_that_cannot_be_written_is_told_of_where_a_fix_is_made(project):
    write(
        "a.py", "import torch\n\n\ndef f(x):\n    return torch.ones(3).to(x.device) * x\n\n\nf(torch.ones(3).cuda())\n"
    )
    write("b.py", ending(WAITS))
    write(".syncguard_cache", "a file")
    done = fixed(["."], Config(root=os.getcwd(), heat="all"), None, SAFE)
    assert [Path(path).name for path in done.changed] == ["a.py"]
    assert ["was not written" in warning for warning in done.report.warnings] == [True]
