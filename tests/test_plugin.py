"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import running
import warm

pytest.importorskip("torch")

INSTALLED = any(point.name == "syncguard" for point in entry_points(group="pytest11"))
TESTS = """\
import pytest
import torch

HERE = torch.cuda.is_available()


@pytest.fixture
def x():
    made = torch.ones(3, device="cuda" if HERE else "cpu")
    made.sum().item()
    return made


@pytest.mark.skipif(not HERE, reason="no device")
def test_waits(x):
    assert x.sum().item() == 3


@pytest.mark.sync_free
def test_free(x):
    assert (x + 1).shape == (3,)


@pytest.mark.sync_free
def test_not_free(x):
    assert (x > 0).all()


@pytest.mark.sync_budget(1)
def test_within(x):
    x.tolist()


@pytest.mark.sync_budget(n=1)
def test_beyond(x):
    x.tolist()
    x.tolist()
"""


def pytested(folder: Path, *words: str, text: str = TESTS, cold: bool = False) -> tuple[int, str]:
    """Exit code and output; where it is `cold`, of a Python that has to import torch from its files."""
    (folder / "test_it.py").write_text(text)
    plugin = () if INSTALLED else ("-p", "syncguard.observe.plugin")
    command = ("-m", "pytest", "-p", "no:cacheprovider", "--color=no", *plugin, *words)
    code, out, err = running.ran(*command, patience=300, cwd=folder) if cold else warm.ran(folder, *command)
    return code, out + err


def test_simulated(tmp_path):
    code, out = pytested(tmp_path, "--syncguard=simulate", "--syncguard-save", "run.json", "test_it.py", cold=True)
    assert code == 1
    assert "2 failed, 3 passed" in out
    assert "FAILED test_it.py::test_not_free - syncguard.observe.watch.SyncError: test_it.py" in out
    assert "FAILED test_it.py::test_beyond" in out
    assert "wait 2 where the budget is 1" in out
    assert "syncguard/observe" not in out  # none of our own frames
    assert "waits for the GPU" in out
    assert "test_it.py:16  SG201 torch.Tensor.item  assert x.sum().item() == 3" in out
    assert "4 tests wait; most of all:" in out
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["machine"]["mode"] == "simulate"
    assert sum(wait["count"] for wait in record["waits"]) == 10


def test_the_record_has_the_lines_that_were_executed(tmp_path):
    pytested(tmp_path, "--syncguard=simulate", "--syncguard-save", "run.json", "test_it.py")
    record = json.loads((tmp_path / "run.json").read_text())
    seen = {line for first, last in record["executed"]["test_it.py"] for line in range(first, last + 1)}
    bodies = {number for number, line in enumerate(TESTS.split("\n"), 1) if line.startswith("    ")}
    assert bodies <= seen


def test_a_device_that_one_test_lost_is_there_for_the_next(tmp_path):
    text = (
        "import torch\n\n"
        "def test_lost():\n    torch._C._pop_torch_function_stack()\n\n"
        "def test_there():\n    assert torch.ones(2, device='cuda').is_cuda\n"
    )
    code, out = pytested(tmp_path, "--syncguard=simulate", text=text)
    assert code == 0, out


def test_lines_are_seen_after_a_test_that_ran_out_of_time(tmp_path):
    text = (
        "import signal, sys\n\n"
        "class Late(Exception): pass\n\n"
        "def late(*_):\n    raise Late\n\n"
        "def step(): pass\n\n"
        "def spin():\n    while True: step()\n\n"
        "def test_slow():\n    signal.signal(signal.SIGALRM, late)\n    while sys.gettrace() is not None:\n"
        "        try:\n            signal.setitimer(signal.ITIMER_REAL, 0.05)\n            spin()\n"
        "        except Late: pass\n\n"
        "def test_next():\n    x = 1\n    assert x\n"
    )
    code, out = pytested(tmp_path, "--syncguard=simulate", "--syncguard-save", "run.json", "test_it.py", text=text)
    assert code == 0, out
    record = json.loads((tmp_path / "run.json").read_text())
    last = text.count("\n")
    assert any(first <= last - 1 and last <= end for first, end in record["executed"]["test_it.py"])
    assert not any("a trace of its own" in note for note in record.get("notes", ()))


def test_told_to_end_it_writes_the_record(tmp_path):
    ends = "\n\ndef test_end():\n    import os, signal\n    os.kill(os.getpid(), signal.SIGTERM)\n    assert False\n"
    words = ("--syncguard=simulate", "--syncguard-save", "run.json", "test_it.py")
    code, out = pytested(tmp_path, *words, text=TESTS + ends)
    assert code == 128 + 15
    assert "signal SIGTERM" in out
    record = json.loads((tmp_path / "run.json").read_text())
    assert (record["ended"], record["complete"]) == ("signal SIGTERM", False)
    assert sum(wait["count"] for wait in record["waits"]) == 10


def test_told_to_end_in_a_test_that_catches_everything_it_ends_with_that_test(tmp_path):
    ends = (
        "\n\ndef test_end():\n    import os, signal\n    try:\n        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    except BaseException:\n        pass\n\n\ndef test_never():\n    assert False\n"
    )
    words = ("--syncguard=simulate", "--syncguard-save", "run.json", "test_it.py")
    code, out = pytested(tmp_path, *words, text=TESTS + ends)
    assert code == 128 + 15
    assert "test_never" not in out
    record = json.loads((tmp_path / "run.json").read_text())
    assert (record["ended"], record["complete"]) == ("signal SIGTERM", False)


def test_without_the_option_the_markers_ask_for_nothing_where_there_is_no_device(tmp_path):
    code, out = pytested(tmp_path, "test_it.py", "--strict-markers")
    assert code == 0
    assert "4 passed, 1 skipped" in out
    assert "waits for the GPU" not in out
    said = (
        "syncguard: of 4 tests with a marker nothing was watched, for there is no GPU here; --syncguard simulates one"
    )
    assert said in out


@pytest.mark.slow
def test_workers_of_xdist_are_gathered(tmp_path):
    pytest.importorskip("xdist")
    code, out = pytested(tmp_path, "--syncguard=simulate", "-n", "2", "test_it.py", cold=True)
    assert code == 1
    assert "2 failed, 3 passed" in out
    assert "test_it.py:16  SG201 torch.Tensor.item" in out
    assert "nothing was watched" not in out
    assert "syncguard: of 4 tests with a marker nothing" in pytested(tmp_path, "-n", "2", "test_it.py", cold=True)[1]


def test_nothing_is_imported_where_it_is_not_used(tmp_path):
    text = (
        "import sys\n\ndef test_it():\n"
        "    names = [m for m in sys.modules if m.startswith(('torch', 'msgspec', 'syncguard'))]\n"
        "    assert sorted(names) == ['syncguard', 'syncguard.observe', 'syncguard.observe.plugin']\n"
    )
    code, out = pytested(tmp_path, text=text)
    assert code == 0, out


def test_a_session_without_torch_says_so(tmp_path):
    code, out = pytested(tmp_path, "--syncguard", text="def test_it(): pass\n")
    assert code == 0
    assert "No test imported torch." in out


def test_a_wrong_marker_is_told(tmp_path):
    code, out = pytested(tmp_path, text="import pytest, torch\n@pytest.mark.sync_budget('x')\ndef test_it(): pass\n")
    assert code == 1
    assert "sync_budget takes a number of waits: sync_budget(2)\n" in out
    assert "_pytest" not in out


def test_what_cannot_be_simulated_is_stepped_over(tmp_path):
    text = (
        "import torch\nfrom kernels_of_cuda import norm\n\n"
        "def test_it():\n    assert norm(torch.ones(2, device='cuda')).is_cuda\n"
    )
    code, out = pytested(tmp_path, "--syncguard=simulate", text=text)
    assert code == 2
    assert "No module named 'kernels_of_cuda'" in out
    code, out = pytested(tmp_path, "--syncguard=simulate", "--syncguard-step-over", "kernels_of_cuda", text=text)
    assert code == 0, out
    assert "its calls were stepped over" in out
