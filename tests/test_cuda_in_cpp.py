"""Waits that torch's own C++ tells and warns of, on a machine without a device: what reaches the program of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from syncguard.observe.switch import header, slots  # noqa: E402

HERE = Path(__file__).parent
SETUP = """
import sys, threading
sys.path[:0] = [{folder!r}, {root!r}]
import torch, waits

torch.version.cuda = "13.0"
modes = [0]
torch._C._cuda_set_sync_debug_mode = lambda mode: modes.append(mode)
torch._C._cuda_get_sync_debug_mode = lambda: modes[-1]

import syncguard
from syncguard import pack
from syncguard.observe import forbid, watch
from syncguard.observe.cuda import Device

watch.has_gpu = forbid.has_gpu = lambda: True
PACK, Memory = pack.load(), waits.Memory

def outcome(call):
    try:
        return call() or "passed"
    except Exception as fault:
        return f"{{type(fault).__name__}}: {{fault}}"
"""
pytestmark = pytest.mark.skipif(
    shutil.which("g++") is None or not slots(header()) or not Path(sysconfig.get_path("include"), "Python.h").exists(),
    reason="needs a compiler, the headers of Python and those of torch",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the module `waits` is, compiled."""
    made, home = tmp_path_factory.mktemp("waits"), Path(torch.__file__).parent
    command = ["g++", "-O0", "-std=c++20", "-shared", "-fPIC", "-w", f"-I{sysconfig.get_path('include')}"]
    command += [f"-I{home / 'include'}", f"-I{home / 'include/torch/csrc/api/include'}", str(HERE / "waits.cpp")]
    command += [f"-L{home / 'lib'}", "-lc10", "-ltorch_python", "-ltorch_cpu", "-ltorch", "-o", str(made / "waits.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"does not compile here: {done.stderr[-500:]}")
    return made


def run(folder: Path, text: str) -> list[str]:
    code = SETUP.format(folder=str(folder), root=str(HERE.parent)) + text
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "hook execution failed" not in done.stderr
    return done.stdout.split("\n")[:-1]


def test_what_is_forbidden_is_raised_by_what_waits_and_errors_of_the_program_are_its_own(folder):
    """Memory is freed while either is on its way."""
    text = """
def forbidden(seen):
    raise PermissionError(seen.kind)

calls = [
    lambda: Memory().item(), lambda: Memory().item(3), lambda: Memory().item(1, 0), lambda: Memory().item(3, 0),
    lambda: 1 if Memory() else 2, lambda: Memory()[Memory()], waits.event, lambda: len(Memory(), 2),
    lambda: Memory().item("x", Memory()),
]
with Device(PACK, forbidden, layers=["traces", "warnings"]) as device:
    for call in calls * 2:
        print(outcome(call))
print(device.notes)
print(outcome(lambda: Memory().item()))
"""
    raised = [
        *["PermissionError: cudaStreamSynchronize"] * 6,
        "PermissionError: cudaEventSynchronize",
        "TypeError: len() takes exactly one argument (2 given)",
        "TypeError: 'str' object cannot be interpreted as an integer",
    ]
    assert run(folder, text) == [*raised * 2, "[]", "passed"]


def test_each_wait_is_told_once_on_any_thread(folder):
    text = """
told = []
with Device(PACK, lambda seen: told.append(seen.kind) or 1, layers=["traces", "warnings"]) as device:
    Memory().item()
    Memory().item(3)
    Memory()[0]
    waits.event()
    thread = threading.Thread(target=waits.wait, args=(2,))
    thread.start()
    thread.join()
Memory().item()
print(len(told), len(device.waited))
"""
    assert run(folder, text) == ["8 7"]  # no warning tells the end of an event


def test_regions_are_left_however_they_end(folder):
    text = """
def strictly():
    with syncguard.forbid():
        Memory()[0]

def twice():
    with syncguard.budget(1):
        Memory().item()
        waits.event()

def allowed():
    with syncguard.forbid(), syncguard.allow("a test"):
        Memory().item()

for call in (strictly, twice, allowed, strictly):
    print(outcome(call).partition(":")[0], watch.REGIONS.get(), watch.Watch.current)
"""
    raised = "SyncError () None"
    assert run(folder, text) == [raised, raised, "passed () None", raised]
