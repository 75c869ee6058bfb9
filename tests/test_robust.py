"""On real packages: the same findings whatever is remembered, however many work, from wherever they are asked for;
and a cache that is killed, shared, refused or full never does harm.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from edits import edited
from msgspec.structs import replace

from syncguard import pipeline
from syncguard.cache import store, table
from syncguard.config import Config
from syncguard.examine import own_process, workers
from syncguard.pack import load

ROOT = Path(__file__).parent.parent
FOLDERS = ("optim", "distributions", "nn/utils")
linux = pytest.mark.skipif(sys.platform != "linux", reason="mounts")


@pytest.fixture(
    scope="module", params=[FOLDERS, pytest.param((*FOLDERS, "nn/modules"), marks=pytest.mark.slow)], ids=len
)
def package(request, tmp_path_factory):
    """A part of torch's own source, as a project."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    top = tmp_path_factory.mktemp("project")
    (top / "pyproject.toml").write_text("[project]\nname = 'part'\n")
    for folder in request.param:
        shutil.copytree(home / folder, top / "torch" / folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyi"))
    for folder in ("torch", "torch/nn"):
        (top / folder / "__init__.py").write_text((home.parent / folder / "__init__.py").read_text("utf-8"), "utf-8")
    return top


@pytest.fixture(scope="module")
def expected(package):
    """What a check tells of it without a cache, in each of its copies."""
    return said("--no-cache", cwd=package)[0]


@pytest.fixture(scope="module")
def plain(package):
    """The report of one process that remembers nothing, in each of its copies."""
    with contextlib.chdir(package):
        return pipeline.check(["."], config(cache=False))


@pytest.fixture
def project(package, tmp_path, monkeypatch):
    """A copy of it, to be changed."""
    shutil.copytree(package, tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


def config(**changes):
    return Config(**{"root": os.getcwd(), "heat": "all", "confidence": "possible", "jobs": 1} | changes)


def whole(report, path=""):
    """The findings with whole paths: all, or those of one file."""

    def at(item):
        return replace(item, path=os.path.abspath(item.path)) if item.path else item

    found = [
        replace(f, site=at(f.site), because=tuple(map(at, f.because)), hot_path=tuple(map(at, f.hot_path)))
        for f in report.findings
    ]
    return [f for f in found if not path or f.site.path == os.path.abspath(path)]


def test_remembered_or_not_by_one_or_several_the_report_is_the_same(project, plain, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "WORTH", 0)
    assert len(plain.findings) > 100
    assert plain.functions > 500
    for jobs in (1, 2, 3):
        settings = config(cache_dir=f"{tmp_path}/cache{jobs}", jobs=jobs)
        assert pipeline.check(["."], settings) == plain  # cold
        assert pipeline.check(["."], settings) == plain  # warm
    states = [table.load(store.file_of(config(cache_dir=f"{tmp_path}/cache{n}"), load().digest)) for n in (1, 2, 3)]
    known = [{path: state.examined(path) for path in state.table.examined} for state in states]
    assert known[0] == known[1] == known[2]
    assert len(known[0]) == sum(note.state == "read" for note in plain.files)


def test_what_is_to_be_fixed_is_remembered_without_its_fixes(project, plain, monkeypatch):
    folders = ["torch/optim"]
    fixed = pipeline.check(folders, config(), fixes=True)
    assert sum(finding.fix is not None for finding in fixed.findings) > 10
    told = [finding for finding in plain.findings if finding.site.path.startswith("torch/optim/")]
    assert [replace(finding, fix=None) for finding in fixed.findings] == told
    examined, kept = [], workers.Examiner.examine
    monkeypatch.setattr(
        workers.Examiner, "examine", lambda own, source: (examined.append(source), kept(own, source))[1]
    )
    assert [*pipeline.check(folders, config()).findings] == told
    assert not examined


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker imports what it examines with anew")
def test_what_a_killed_worker_had_is_examined_all_the_same(project, plain, monkeypatch):
    parent, kept = os.getpid(), workers.Examiner.examine

    def dying(examiner, source):
        if os.getpid() != parent and source.path.endswith("s.py"):
            os.kill(os.getpid(), signal.SIGKILL)
        return kept(examiner, source)

    monkeypatch.setattr(workers, "WORTH", 0)
    monkeypatch.setattr(workers, "CHUNK", 20_000)
    monkeypatch.setattr(workers.Examiner, "examine", dying)
    assert pipeline.check(["."], config(cache=False, jobs=3)) == plain


def crash_at(ending, monkeypatch):
    """Have every process but this one crash at a file."""
    parent, kept = os.getpid(), workers.Examiner.examine

    def crashing(examiner, source):
        if source.path.endswith(ending):
            assert os.getpid() != parent
            faulthandler.disable()  # it would tell of the crash that is wanted
            os.kill(os.getpid(), signal.SIGSEGV)
        return kept(examiner, source)

    monkeypatch.setattr(workers.Examiner, "examine", crashing)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker imports what it examines with anew")
def test_a_file_that_crashes_whoever_examines_it_is_told_and_the_others_are_examined(project, plain, monkeypatch):
    monkeypatch.setattr(workers, "WORTH", 0)
    monkeypatch.setattr(workers, "CHUNK", 20_000)
    crash_at("/sgd.py", monkeypatch)
    report = pipeline.check(["."], config(cache=False, jobs=3))
    (broken,) = [note for note in report.files if note.state == "broken"]
    assert broken.path.endswith("optim/sgd.py")
    told = [finding for finding in report.findings if finding.site.path == broken.path]
    assert [finding.message for finding in told] == [
        "not checked: internal error: the process that examined it ended with SIGSEGV"
    ]
    assert report.faults
    assert len({note.path for note in report.files}) == len({note.path for note in plain.files})
    others = [finding for finding in report.findings if finding.site.path.startswith("torch/distributions")]
    assert others == [finding for finding in plain.findings if finding.site.path.startswith("torch/distributions")]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is not safe to fork")
@pytest.mark.parametrize("folder", ["torch/optim", "torch/optim/sgd.py"], ids=["beside another process", "few"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_compiled_code_that_crashes_does_not_end_this_process(project, plain, monkeypatch, folder, jobs):
    monkeypatch.setattr(own_process, "COMPILED", True)
    crash_at("/sgd.py", monkeypatch)
    for cache in (True, False):
        report = pipeline.check([folder], config(cache=cache, jobs=jobs))
        told = [finding for finding in report.findings if finding.code == "SG000"]
        assert [(finding.site.path, finding.message) for finding in told] == [
            ("torch/optim/sgd.py", "not checked: internal error: the process that examined it ended with SIGSEGV")
        ]
        others = [one for one in report.findings if one.site.path != "torch/optim/sgd.py"]
        wanted = ("torch/optim/", "torch/optim/sgd.py") if folder == "torch/optim" else ("-", "-")
        beside = [one.site for one in plain.findings if one.site.path.startswith(wanted[0])]
        assert [one.site for one in others] == [site for site in beside if site.path != wanted[1]]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is not safe to fork")
def test_what_a_fork_finds_is_what_this_process_finds(project, monkeypatch):
    here = pipeline.check(["torch/optim"], config(cache=False))
    monkeypatch.setattr(own_process, "COMPILED", True)
    for jobs in (1, 2):
        assert pipeline.check(["torch/optim"], config(cache=False, jobs=jobs)) == here
    monkeypatch.setattr(own_process, "sheltered", lambda make: b"")  # somebody has ended it
    assert pipeline.check(["torch/optim"], config(cache=False, jobs=1)) == here


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker has no pipe but its own")
def test_workers_end_when_who_asked_them_is_killed(project):
    text = (
        "from syncguard import pipeline\nfrom syncguard.examine import workers\nfrom syncguard.config import Config\n"
        "workers.WORTH, workers.CHUNK = 0, 20_000\nkept = workers.Crew._hand\n"
        "workers.Crew._hand = lambda crew, ours: (kept(crew, ours), print(flush=True))\n"
        "pipeline.check(['.'], Config(root='.', jobs=3, cache=False))\n"
    )
    asking = subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRON
    )
    assert asking.stdout is not None
    for _ in range(4):  # each has a chunk, and one has been heard
        assert asking.stdout.readline() == b"\n"
    asking.kill()
    said, _ = asking.communicate(timeout=30)  # as long as one of them lives, the pipe stays open
    assert not said.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="a process forks only there")
def test_edited_files_are_shared_with_a_process_that_may_be_killed(project, monkeypatch):
    fork, shared = os.fork, []

    def forked(*, killed):
        child = fork()
        shared.append(child)
        if child and killed:
            os.kill(child, signal.SIGKILL)
        return child

    pipeline.check(["."], config())
    files = [f"torch/optim/{name}.py" for name in ("adam", "sgd", "lbfgs", "optimizer", "rprop")]
    for killed in (False, True):
        for path in files:
            with Path(path).open("a") as file:
                file.write("# edited\n")
        monkeypatch.setattr(os, "fork", lambda killed=killed: forked(killed=killed))
        found = pipeline.check(files, config(jobs=2)).findings
        assert len(found) > 20
        assert found == pipeline.check(files, config(cache=False)).findings
    assert len(shared) == 2
    monkeypatch.setattr(os, "fork", lambda: forked(killed=False))
    for changed in (files[3:4], []):
        for path in changed:
            with Path(path).open("a") as file:
                file.write("# edited again\n")
        found = pipeline.check(files, config(jobs=2)).findings
        assert found == pipeline.check(files, config(cache=False)).findings
    assert len(shared) == 4
    opened = len(os.listdir("/proc/self/fd"))
    pipeline.check(files, config(jobs=2))
    assert len(os.listdir("/proc/self/fd")) == opened
    for child in shared:  # none is left, not even of those that were not asked
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


def test_in_whatever_order_files_are_given_each_has_its_findings(project, plain):
    files = [note.path for note in plain.files if note.state == "read"]
    shuffled = random.Random(5).sample(files, len(files))
    for order in (files[::-1], shuffled):
        found = pipeline.check(order, config(cache=False)).findings
        assert sorted(found, key=lambda f: (f.site, f.code)) == sorted(plain.findings, key=lambda f: (f.site, f.code))


def test_from_any_folder_and_one_by_one_it_is_what_the_whole_tree_gives(project, monkeypatch):
    plain = pipeline.check(["."], config())
    files = sorted({note.path for note in plain.files if note.state == "read"})
    expected = {path: whole(plain, path) for path in files}
    for path in random.Random(7).sample(files, 25):  # a hook gives one, or some
        assert whole(pipeline.check([path], config()), path) == expected[path], path
    some = random.Random(8).sample(files, 10)
    assert whole(pipeline.check(some, config())) == [f for path in some for f in expected[path]]
    settings = config()
    monkeypatch.chdir("torch/optim")
    below = pipeline.check(["."], settings)
    assert whole(below) == [f for path in files if path.startswith("torch/optim/") for f in expected[path]]
    assert whole(pipeline.check(["../.."], settings)) == whole(pipeline.check([str(project)], settings))


def test_after_any_edit_the_remembered_is_what_a_new_check_finds(project):
    dice = random.Random(11)
    files = sorted(path for path in Path("torch/distributions").rglob("*.py") if path.stat().st_size > 400)
    names = sorted(
        {name for path in files for name in re.findall(r"^def (\w+)", path.read_text("utf-8"), re.MULTILINE)}
    )
    asked = [str(path) for path in files[::3]]  # what the others hold is looked up from there
    pipeline.check(asked, config())
    for _ in range(24):
        path = dice.choice(files)
        text = path.read_text("utf-8")
        lines = text.split("\n")
        where = dice.choice(
            [n for n, line in enumerate(lines) if line.startswith(("def ", "class ", "import "))] or [0]
        )
        change = dice.choice(("move", "gone", "rename", "inside", "inside", "inside", *ADDED))
        if change == "gone":
            path.unlink()
            files.remove(path)
            asked = [one for one in asked if one != str(path)]
        elif change == "rename":
            path.write_text(text.replace("def forward(", "def backward("), "utf-8")
        elif change == "inside":
            new, change = edited(text, dice)
            path.write_text(new, "utf-8")
        else:
            more = ADDED.get(change, "# moved\n").format(name=dice.choice(names), file=dice.choice(files).stem)
            path.write_text("\n".join([*lines[:where], more, *lines[where:]]), "utf-8")
        assert pipeline.check(asked, config()) == pipeline.check(asked, config(cache=False)), (change, path)


ADDED = {
    "a function": "def {name}(x=None, *rest, **more):\n    return x.item()\n",
    "a constant": "{name} = 3\n",
    "an import": "from .{file} import {name}\n",
    "every name": "from .{file} import *\n",
}


# -- the cache in bad company ---------------------------------------------------------------------------


def command(*args):
    return [sys.executable, "-m", "syncguard", "check", "torch/nn/utils", "--heat", "all", "-o", "concise", *args]


ENVIRON = {**os.environ, "PYTHONPATH": str(ROOT)}


def said(*args, **more):
    done = subprocess.run(command(*args), capture_output=True, text=True, env=ENVIRON, **more)
    assert done.returncode == 1, done.stderr
    return done.stdout, done.stderr


def test_killed_at_any_moment(project, expected):
    begun = time.monotonic()
    said()
    lasts = time.monotonic() - begun
    shutil.rmtree(".syncguard_cache")
    dice = random.Random(3)
    for n in range(12):
        process = subprocess.Popen(
            command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRON, start_new_session=True
        )
        # Most of them while it writes, at the end.
        time.sleep(lasts * (dice.uniform(0.85, 1.05) if n % 3 else dice.random()))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if n % 4 == 3:
            assert said() == (expected, "")
            shutil.rmtree(".syncguard_cache")
    assert said() == (expected, "")
    assert said() == (expected, "")


def test_killed_while_it_writes(project, monkeypatch):
    """Every prefix of what is written, under its own name and under the name that counts."""
    before = pipeline.check(["torch/nn/utils"], config())
    (file,) = Path(".syncguard_cache").glob("*.msgpack")
    data = file.read_bytes()
    for size in (0, 1, 15, 16, 17, 1000, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:size])
        file.with_name(f".{file.name}.{size + 10}").write_bytes(data[:size])
        assert pipeline.check(["torch/nn/utils"], config()) == before
        assert file.read_bytes()[:16] == data[:16]
    for left in Path(".syncguard_cache").glob(".*.msgpack.*"):
        os.utime(left, (1, 1))
    assert len([*Path(".syncguard_cache").glob(".*.msgpack.*")]) == 8
    Path("torch/nn/utils/new.py").write_text("x = 1\n")
    pipeline.check(["torch/nn/utils"], config())
    assert not [*Path(".syncguard_cache").glob(".*.msgpack.*")]


def test_many_at_once(project, expected):
    running = [
        subprocess.Popen(command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRON)
        for _ in range(4)
    ]
    assert {process.communicate(timeout=120) for process in running} == {(expected, "")}
    assert said() == (expected, "")


@contextlib.contextmanager
def mounted(folder, options):
    """A small file system of its own; skips where that is not permitted."""
    folder.mkdir()
    mount = shutil.which("mount")
    done = mount and subprocess.run([mount, "-t", "tmpfs", "-o", options, "none", str(folder)], capture_output=True)
    if not done or done.returncode:
        pytest.skip("no mounts here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@linux
def test_a_full_disk(project, expected):
    with mounted(project / ".syncguard_cache", "size=64k"):
        out, err = said()
        assert out == expected
        assert err == (f"syncguard: the cache in {project}/.syncguard_cache was not written: No space left on device\n")
        assert not [*Path(".syncguard_cache").glob(".*.msgpack.*")]
        assert said() == (out, err)


@linux
def test_a_disk_that_was_full_later(project, expected):
    with mounted(project / ".syncguard_cache", "size=8m"):
        assert said()[0] == expected
        (file,) = Path(".syncguard_cache").glob("*.msgpack")
        good = file.read_bytes()
        room = os.statvfs(".syncguard_cache")
        Path(".syncguard_cache/filler").write_bytes(b"x" * room.f_bavail * room.f_frsize)
        Path("torch/nn/utils/new.py").write_text("import torch\n\n\ndef forward(x):\n    return x.item()\n")
        out, err = said()
        assert out != expected
        assert "was not written: No space left on device" in err
        assert file.read_bytes() == good
        assert said()[0] == out == said("--no-cache")[0]


@linux
def test_a_folder_that_may_only_be_read(project, expected):
    with mounted(project / ".syncguard_cache", "ro"):
        out, err = said()
    assert out == expected
    assert err == f"syncguard: the cache in {project}/.syncguard_cache was not written: Read-only file system\n"


def test_a_file_where_the_folder_should_be(project, expected):
    Path(".syncguard_cache").write_text("mine")
    out, err = said()
    assert (out, Path(".syncguard_cache").read_text()) == (expected, "mine")
    assert err == f"syncguard: the cache in {project}/.syncguard_cache was not written: File exists\n"


# -- growth ----------------------------------------------------------------------------------------------


def state():
    return table.load(store.file_of(config(), load().digest))


def test_what_has_gone_is_forgotten_when_all_is_written_again(project, monkeypatch):
    pipeline.check(["."], config())
    monkeypatch.setattr(table, "SHARE", 10**9)
    full = state()
    assert any("/torch/optim/" in path for path in full.table.interfaces)
    shutil.rmtree("torch/optim")
    Path("torch/nn/utils/rnn.py").write_text("import torch\n")
    pipeline.check(["torch/nn"], config())
    left = state().table
    for known in (left.examined, left.interfaces):
        assert known
        assert all(os.path.exists(path) for path in known)


def test_editing_for_ever_does_not_grow_it(project):
    pipeline.check(["torch/distributions"], config())
    (file,) = Path(".syncguard_cache").glob("*.msgpack")
    size = file.stat().st_size
    source = Path("torch/distributions/normal.py")
    text = source.read_text("utf-8")
    for n in range(8):
        source.write_text(f"# {n}\nimport torch\nN{n} = {n}\n{text}", "utf-8")
        Path(f"torch/distributions/temporary{n}.py").write_text(text, "utf-8")
        pipeline.check(["torch/distributions"], config())
        Path(f"torch/distributions/temporary{n}.py").unlink()
    source.write_text(text, "utf-8")
    pipeline.check(["torch/distributions"], config())
    assert file.stat().st_size < size * 1.1


def test_settings_and_sizes_are_bounded(project, monkeypatch):
    for n in range(9):
        pipeline.check(["torch/optim/sparse_adam.py"], config(hot=(f"f{n}",)))
        files = [*Path(".syncguard_cache").glob("*.msgpack")]
        os.utime(max(files, key=lambda path: path.stat().st_mtime_ns), (n + 10**9, n + 10**9))
    assert len([*Path(".syncguard_cache").glob("*.msgpack")]) == table.KEPT
    size = max(path.stat().st_size for path in Path(".syncguard_cache").glob("*.msgpack"))
    monkeypatch.setattr(table, "LARGEST", int(size * 2.5))
    pipeline.check(["torch/optim/sparse_adam.py"], config(hot=("more",)))
    kept = [*Path(".syncguard_cache").glob("*.msgpack")]
    assert len(kept) == 2
    monkeypatch.setattr(table, "LARGEST", 1000)
    report = pipeline.check(["torch/optim/sparse_adam.py"], config(hot=("most",)))
    assert report.warnings == (
        f"the cache in {project}/.syncguard_cache was not written: it would take more than 1,000 bytes",
    )
