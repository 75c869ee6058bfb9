"""pre-commit itself, in a repository of git: it installs us from this repository, and gives us the changed files."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRE_COMMIT = shutil.which("pre-commit")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PRE_COMMIT is None or not (ROOT / ".git").exists(), reason="needs pre-commit and a clone"),
]
NET = """\
import torch
from toy.ops import count


class Net(torch.nn.Module):
    def forward(self, x):
        {}
"""
OPS = """\
import torch


def count(mask: torch.Tensor):
    return mask.sum()


def forward(x):
    return x.item()
"""


@pytest.fixture
def ran(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@b.c")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path.parent / "pre-commit"))

    def ran(*command):
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    ran("git", "init", "-q", ".")
    Path("src/toy").mkdir(parents=True)
    Path("pyproject.toml").write_text("[project]\nname = 'toy'\n")
    Path("src/toy/__init__.py").write_text("")
    Path("src/toy/ops.py").write_text(OPS)
    Path("src/toy/net.py").write_text(NET.format("return x"))
    Path("notes.md").write_text("one\n")
    return ran


def configured(hook, *args):
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    text = f"repos:\n- repo: {ROOT}\n  rev: {head}\n  hooks:\n  - id: {hook}\n    args: {[*args]}\n"
    Path(".pre-commit-config.yaml").write_text(text)


def test_a_commit_is_checked_by_its_changed_files_and_knows_the_rest(ran):
    configured("syncguard-check")
    ran("git", "add", ".")
    assert ran("git", "commit", "-qm", "one")[0] == 0
    assert ran(PRE_COMMIT, "install")[0] == 0
    Path("src/toy/net.py").write_text(NET.format("return x if count(x) > 3 else x + 1"))
    Path("notes.md").write_text("two\n")
    ran("git", "add", ".")
    code, out = ran("git", "commit", "-qm", "two")
    assert code == 1, out
    assert "src/toy/net.py:7:" in out
    assert "src/toy/ops.py:5  `mask.sum()`" in out  # it knows what the file that it was not given returns
    assert "ops.py:9" not in out  # and reports nothing in it
    assert "1 file read" in out
    Path("src/toy/net.py").write_text(NET.format("return x + 1"))
    ran("git", "add", ".")
    code, out = ran("git", "commit", "-qm", "two")
    assert code == 0, out
    ran("git", "rm", "-q", "src/toy/net.py")
    Path("notes.md").write_text("three\n")
    code, out = ran("git", "commit", "-qam", "nothing of Python is left to check")
    assert code == 0, out


def test_a_baseline_and_fixes_in_a_hook(ran):
    configured("syncguard-fix", "--baseline", "known.json", "--error-stale-baseline")
    Path("src/toy/net.py").write_text(NET.format("return x"))
    entry = '{"path":"src/toy/ops.py","function":"forward","code":"SG201","snippet":"x.item()","occurrence":1}'
    Path("known.json").write_text(f'{{"version": 1, "findings": [{entry}]}}')
    ran("git", "add", ".")
    code, out = ran(PRE_COMMIT, "run", "--all-files")
    assert code == 0, out
    Path("src/toy/net.py").write_text(NET.format("y = torch.zeros(3).to(x.device)\n        return x + y"))
    ran("git", "add", ".")
    code, out = ran(PRE_COMMIT, "run")
    assert code == 1, out
    assert "files were modified by this hook" in out
    assert "torch.zeros(3, device=x.device)" in Path("src/toy/net.py").read_text()
    ran("git", "add", ".")
    assert ran(PRE_COMMIT, "run")[0] == 0
