"""Other people's tests, plain and simulated: what tools/suites.py counts, and what the page says of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
TESTS = """\
import os
import time
from pathlib import Path

import pytest
import torch

HERE = torch.cuda.is_available()


@pytest.mark.parametrize("n", range({drawn}))
def test_right(n):
    assert n >= 0


def test_wrong_on_both():
    assert not HERE and HERE


def test_wrong_on_the_device():
    assert not HERE, "there is a device"


def test_wrong_the_second_time():
    again = Path("again")
    if not HERE:
        assert not again.exists()
        again.touch()
    assert not HERE


@pytest.mark.skipif(not HERE, reason="no device")
@pytest.mark.parametrize("wrong", [0, 1])
def test_of_the_device(wrong):
    assert not torch.ones(1, device="cuda").item() == wrong


def test_made_where():
    assert torch.ones(1).is_cuda == HERE


def test_made_on_the_host():
    assert not torch.ones(1).is_cuda


def test_that_takes_too_long():
    time.sleep(30)


def test_that_ends_the_process():
    if not HERE:
        os._exit(0)


def test_after_the_end():
    pass
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text(TESTS.format(drawn=5))
    (folder / "tests" / "test_many.py").write_text(
        "import pytest\n\n\n@pytest.mark.parametrize('n', range(40))\ndef test_n(n):\n    pass\n"
    )
    (folder / "tests" / "test_unread.py").write_text("import nowhere\n")
    words = ["torch", folder, "tests", "--work", folder / "work", "--most", "20", "--patience", "3", "--default-device"]
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "suites.py", *words],
        capture_output=True, text=True, cwd=folder, env=os.environ | {"COLUMNS": "80"}, timeout=300,
    )  # fmt: skip
    return folder, done


@pytest.mark.slow
def test_counts(ran):
    import suites

    _, done = ran
    assert done.stderr == ""
    assert done.returncode == 1  # something fails on the device
    found = suites.tally(ran[0] / "work" / "torch", "tests")
    assert (found["collected"], found["drawn"]) == (55, 35)
    assert found["passing"] == 5 + 20 + 1 + 1 + 1 + 1  # right, drawn, on the device, made where, made there, at the end
    assert found["simulated"] == found["passing"] - 2
    names = ["test_it.py::test_wrong_on_the_device", "test_it.py::test_made_on_the_host"]
    assert [Path(row["test"]).name for row in found["failed"]] == names
    assert "there is a device" in found["failed"][0]["why"]
    assert [row["passes"] for row in found["failed"]] == ["", "without the default device"]
    assert [Path(name).name for name in found["unsteady"]] == ["test_it.py::test_wrong_the_second_time"]
    assert found["only simulated"] == [1, 2]
    assert found["failing plain"] == 3  # wrong on both, too long, the end of the process
    assert found["unread"] == ["tests/test_unread.py"]


@pytest.mark.slow
def test_what_is_done_is_not_run_again(ran):
    folder, _ = ran
    kept = (folder / "work" / "torch" / "plain.jsonl").read_bytes()
    words = ["torch", folder, "tests", "--work", folder / "work", "--most", "20"]
    done = subprocess.run([sys.executable, ROOT / "tools" / "suites.py", *words], capture_output=True, text=True)
    assert "there is a device" in done.stdout
    assert (folder / "work" / "torch" / "plain.jsonl").read_bytes() == kept


def test_a_test_in_which_time_was_up_was_not_run(tmp_path):
    import suites

    file = tmp_path / "plain.jsonl"
    rows = [{"begun": "a"}, {"test": "a", "state": "passed"}, {"begun": "b"}, {"begun": "c"}, {"cut": "c"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert {name: row["state"] for name, row in suites.outcomes(file).items()} == {"a": "passed", "b": "died"}


def test_what_is_kept_and_shown(tmp_path):
    import kept
    import suites_page

    part = {
        "collected": 30, "drawn": 20, "most": 20, "skipped": 2, "failing plain": 1, "unread": ["tests/test_unread.py"],
        "passing": 10, "simulated": 8, "not reached": 0, "unsteady": ["a"], "only simulated": [1, 2],
        "failed": [
            {"test": "tests/test_it.py::test[a]", "why": "assert\n  x_y < 2", "passes": ""},
            {"test": "tests/test_it.py::test[b]", "why": "no", "passes": "run alone"},
        ],
    }  # fmt: skip
    (tmp_path / "suites.md").write_text("before\n<!-- measured -->\nold\n<!-- /measured -->\nafter\n")
    versions = {"version": "1.0", "torch": "2.13.0", "python": "3.11.7"}
    kept.keep("ours", versions, "python tools/suites.py ours", {"tests/b": part}, tmp_path / "suites.json")
    kept.keep("ours", versions, "python tools/suites.py ours", {"tests/a": part}, tmp_path / "suites.json")
    assert list(json.loads((tmp_path / "suites.json").read_text())["ours"]["parts"]) == ["tests/a", "tests/b"]
    page = suites_page.pages(tmp_path)[tmp_path / "suites.md"]
    assert "old" not in page
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "## ours 1.0\n" in page
    assert "**16 of 20 tests that pass plain pass simulated: 80.00 %; 2 more pass run alone.**" in page
    assert "| `tests/a` | 20 | 20 of 30 | 10 | 8 | 1 | 0 | 1 | 2 | 1 of 2 |" in page
    assert "| in all |  | 40 of 60 | 20 | 16 | 2 | 0 | 2 | 4 | 2 of 4 |" in page
    assert "\nWhat fails simulated:\n\n- assert x\\_y \\< 2: `tests/test_it.py::test[a]`, `tests/test_it" in page
    assert "\nWhat fails simulated, and passes run alone:\n\n- no: `tests/test_it.py::test[b]`" in page


def test_what_was_run_last():
    """98 of 100 where no test asks for the CPU while another device is the default one; every model is the same."""
    kept = json.loads((ROOT / "docs" / "suites.json").read_text())
    assert kept["transformers"]["parts"]["other"] == {}
    assert kept["transformers"]["parts"]["equal"] >= 40
    for name in ("torchmetrics", "kornia", "x-transformers", "e3nn"):
        parts = kept[name]["parts"].values()
        assert sum(part["simulated"] for part in parts) >= 0.98 * sum(part["passing"] for part in parts) > 0


def test_a_failure_is_told_where_the_package_is(tmp_path):
    from types import SimpleNamespace

    import torch
    from outcomes import last_line

    def told(*paths):
        places = [SimpleNamespace(reprfileloc=SimpleNamespace(path=path, lineno=n)) for n, path in enumerate(paths)]
        crash = SimpleNamespace(message="no", path="/a/b/c/d.py", lineno=30)
        return last_line(SimpleNamespace(reprcrash=crash, reprtraceback=SimpleNamespace(reprentries=places)))

    package, mode = str(tmp_path / "x" / "y.py"), str(ROOT / "syncguard" / "observe" / "simulate" / "mode.py")
    assert told(package, package, mode, torch.__file__, pytest.__file__, json.__file__).endswith(
        "pytest/__init__.py:4)"
    )
    assert told(package, package, mode, torch.__file__, json.__file__).endswith("/x/y.py:1)")
    assert told(mode) == "no (b/c/d.py:30)"


def test_a_failure_does_not_name_the_folders_of_a_machine():
    from types import SimpleNamespace

    from outcomes import last_line

    crash = SimpleNamespace(message="<module 'x' from '/home/me/lib/x.py'> is not a/b/c", path="/a/b/c/d.py", lineno=3)
    assert last_line(SimpleNamespace(reprcrash=crash)) == "<module 'x' from 'x.py'> is not a/b/c (b/c/d.py:3)"
