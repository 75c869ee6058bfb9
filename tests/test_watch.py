"""`check --watch`: checks again when something changes, survives what is wrong meanwhile, and ends quietly."""

from __future__ import annotations

import os
import pty
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from syncguard.cli import watching
from syncguard.cli.main import run

ROOT = Path(__file__).parent.parent
WAITS = "import torch\n\n\ndef forward(x: torch.Tensor):\n    return x.item()\n"
CLEAN = "import torch\n\n\ndef forward(x: torch.Tensor):\n    return x\n"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of Unix")


class Watch:
    """A process that watches, and what it has said so far."""

    def __init__(self, *args, stdout=subprocess.PIPE):
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "syncguard", "check", "--watch", "--heat", "all", "-o", "concise", *args]
        self.process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, env=environ)
        self.streams, self.said = selectors.DefaultSelector(), {"out": b"", "err": b""}
        for name, stream in (("out", self.process.stdout), ("err", self.process.stderr)):
            if stream is not None:
                self.streams.register(stream, selectors.EVENT_READ, name)

    @property
    def out(self):
        return self.said["out"].decode().splitlines(keepends=True)

    @property
    def err(self):
        return self.said["err"].decode().splitlines(keepends=True)

    def read(self, seconds):
        """Take what has been said; False where nothing came in this time, or comes any more."""
        ready = self.streams.select(seconds) if self.streams.get_map() else []
        for stream, _ in ready:
            data = os.read(stream.fd, 65536)
            self.said[stream.data] += data
            if not data:
                self.streams.unregister(stream.fileobj)
        return bool(ready)

    def rounds(self, number):
        """Wait until it has checked so often; what the last check said."""
        end = time.monotonic() + 120
        while sum("watching" in line for line in self.err) < number:
            assert time.monotonic() < end, (self.out, self.err)
            assert self.read(1) or self.process.poll() is None, (self.out, self.err)
        while self.read(0):  # the report was written before
            pass
        return self.out[-1] if self.out else ""

    def end(self):
        self.process.send_signal(signal.SIGINT)
        while self.read(60):
            pass
        return self.process.wait(60)


@pytest.fixture
def watched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[tool.syncguard]\ncache = false\n")
    Path("a.py").write_text(WAITS)
    made = []

    def start(*args, **more):
        made.append(Watch(*args, **more))
        return made[-1]

    yield start
    for one in made:
        one.streams.close()
        with one.process:
            one.process.kill()


def test_files_change_come_break_and_go(watched):
    watch = watched()
    assert watch.rounds(1).startswith("1 finding in 1 file (1 file read;")
    Path("a.py").write_text(CLEAN)
    assert watch.rounds(2).startswith("No findings (1 file read;")
    Path("b.py").write_text("def (:\n")
    assert watch.rounds(3).startswith("1 finding in 1 file (1 file read, 1 unreadable;")
    Path("b.py").write_text(WAITS)
    assert watch.rounds(4).startswith("1 finding in 1 file (2 files read;")
    os.unlink("b.py")
    assert watch.rounds(5).startswith("No findings (1 file read;")
    assert not watch.read(1)
    assert sum("watching" in line for line in watch.err) == 5  # nothing changes, nothing is checked
    assert watch.end() == 0
    assert set(watch.err) <= {f"syncguard: watching {n}; Ctrl-C ends it\n" for n in ("2 files", "3 files")}


def test_a_configuration_counts_at_once_even_a_broken_one(watched):
    watch = watched()
    watch.rounds(1)
    Path("pyproject.toml").write_text("[tool.syncguard]\nselct = []\n")
    watch.rounds(2)
    assert "syncguard: pyproject.toml: unknown key `selct`; did you mean `select`?\n" in watch.err
    Path("pyproject.toml").write_text("[tool.syncguard]\ncache = false\nignore = ['SG2']\n")
    assert watch.rounds(3).startswith("No findings (1 file read;")
    assert watch.end() == 0


def test_a_file_that_is_named_and_goes(watched):
    watch = watched("a.py")
    watch.rounds(1)
    os.unlink("a.py")
    watch.rounds(2)
    assert "syncguard: a.py: there is no such file or folder\n" in watch.err
    Path("a.py").write_text(CLEAN)
    assert watch.rounds(3).startswith("No findings (1 file read;")


def test_only_a_terminal_is_cleared(watched):
    watch = watched()
    watch.rounds(1)
    assert "\x1b" not in "".join(watch.out)
    ours, theirs = pty.openpty()
    watch = watched(stdout=theirs)
    watch.rounds(1)
    os.close(theirs)
    assert os.read(ours, 10_000).startswith(watching.CLEAR.encode())
    assert watch.end() == 0


def test_fixes_are_made_as_files_are_saved(watched):
    watch = watched("--fix")
    watch.rounds(1)
    Path("a.py").write_text(CLEAN.replace("return x", "return torch.zeros(3).to(x.device)"))
    watch.rounds(3)  # the fix is a change, too
    assert "torch.zeros(3, device=x.device)" in Path("a.py").read_text()
    assert watch.end() == 0


@pytest.mark.parametrize("args", [["-"], ["--interactive"], ["--diff"], ["--add-allow", "x"], ["--update-baseline"]])
def test_what_does_not_go_with_it(args, capsys):
    assert run(["check", "--watch", *args]) == 2
    assert "--watch only reports" in capsys.readouterr().err


def test_a_writer_is_left_to_finish(monkeypatch, tmp_path):
    """A change is told when it has been over for a moment: half a file is not checked."""
    states = iter([{"a": 1}, {"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}, {"a": 4}, {"a": 5}])
    monkeypatch.setattr(watching, "stamps", lambda _: next(states))
    monkeypatch.setattr(time, "sleep", lambda _: None)
    watching.wait({"a": 1}, list)
    assert next(states) == {"a": 5}
