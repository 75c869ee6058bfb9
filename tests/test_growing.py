"""No list grows while a comprehension goes over it: what is compiled would write over the end of another one."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import growing
import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent
TORCH = Path(torch.__file__).parent
DEVICES = """\
from platforms import platform


def accelerator():
    return platform().device_module
"""
ASKED_AGAIN = """\
from devices import accelerator


def free():
    if not accelerator().is_available():
        return
    accelerator().empty_cache()
"""


def checked(*paths: Path) -> list[str]:
    command = [sys.executable, str(Path(growing.__file__)), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    findings, *grown = done.stdout.splitlines()
    assert findings.endswith(" findings")
    return [place for place in grown if place]


def test_a_list_that_grows_is_seen():
    code = "made = [items.append(0) for n in items if n]\ntold = sorted(str(n) for n in [1, 2])\n"
    tree = ast.fix_missing_locations(growing.Watching("m").visit(ast.parse(code)))
    space = {growing.WATCH: growing.watched, "items": [2, 0]}
    exec(compile(tree, "m", "exec"), space)
    assert space["told"] == ["1", "2"]
    assert growing.grown == {"m:1"}
    growing.grown.clear()


def test_what_is_asked_of_a_function_that_was_run_is_not_counted_once_more(tmp_path):
    (tmp_path / "devices.py").write_text(DEVICES)
    (tmp_path / "reports.py").write_text(ASKED_AGAIN)
    assert checked(tmp_path) == []


def test_no_list_grows_in_a_package():
    assert checked(ROOT / "examples", TORCH / "optim") == []


@pytest.mark.slow
def test_no_list_grows_in_torch():
    assert checked(TORCH) == []
