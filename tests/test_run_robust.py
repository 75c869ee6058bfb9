"""Programs that do unusual things with their process, under `syncguard run`: they behave as without us."""

from __future__ import annotations

import json
import signal
from functools import partial
from pathlib import Path

import pytest
import running
import warm
from running import started

torch = pytest.importorskip("torch")

ran = partial(running.ran, patience=180)


def both(path: str, text: str, *words: str, run=ran, **options) -> tuple[str, dict]:
    """What we say of a program, and its record. Code and output are those of Python, where D is "cpu"."""
    Path(path).write_text(f"D = 'cpu'\n{text}")
    plain = ran(path, **options)
    Path(path).write_text(f"D = 'cuda'\n{text}")
    ours = run("-m", "syncguard", "run", "--device", "simulate", "--save", "run.json", *words, path, **options)
    assert ours[:2] == plain[:2], ours[2]
    return ours[2], json.loads(Path("run.json").read_text())


def counts(record: dict) -> dict[int, int]:
    found: dict[int, int] = {}
    for wait in record["waits"]:
        found[wait["place"]["line"]] = found.get(wait["place"]["line"], 0) + wait["count"]
    return dict(sorted(found.items()))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


AWAY = """\
import os, sys, asyncio, io, threading, warnings
from concurrent.futures import ThreadPoolExecutor
import torch
warnings.simplefilter("error")
x = torch.ones(2, device=D)
os.makedirs("away", exist_ok=True)
os.chdir("away")
async def ask(i):
    await asyncio.sleep(0)
    return x.sum().item() + i
async def main():
    print(await asyncio.gather(*[ask(i) for i in range(3)]))
asyncio.run(main())
def work(i=0):
    return (x * i).sum().item()
threads = [threading.Thread(target=work) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(work, range(4))))
try:
    print(float(torch.ones(1, device=D, requires_grad=True) * 2))
except UserWarning as fault:
    print(str(fault).split(".")[0])
print([line.strip() for line in sys.stdin])
sys.stdout.close()
sys.stderr.close()
os.close(2)
sys.stdout = io.StringIO()
print("unseen")
"""


def test_a_program_that_leaves_its_folder_and_closes_its_streams():
    Path("a folder").mkdir()
    err, record = both(
        "a folder/my prog.py", AWAY, "--html", "run.html", "--trace", "run.trace", given="a\nb\n",
        run=partial(warm.ran, Path.cwd()),
    )  # fmt: skip
    assert counts(record) == {11: 3, 16: 6, 23: 1}
    assert {wait.get("thread", "main") for wait in record["waits"]} == {"main", "Thread", "ThreadPoolExecutor-0"}
    assert "The host waits 10 times in all, at 3 lines." in err
    assert "a folder/my prog.py:11" in err
    assert Path("run.html").is_file()
    assert Path("run.trace").is_file()


CHILDREN = """\
import multiprocessing as mp, os, sys
import torch


def work(how):
    x = torch.ones(2, device=D)
    if how == "fork": x.sum().item()
    if how == "spawn": x.sum().item()
    if how == "forkserver": x.sum().item()
    if how == "spawn":
        os._exit(3)


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.ones(2, device=D).sum().item()


if __name__ == "__main__":
    if os.fork() == 0:
        torch.ones(2, device=D).tolist()
        sys.exit(5)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    for how in ("fork", "spawn", "forkserver"):
        process = mp.get_context(how).Process(target=work, args=(how,))
        process.start()
        process.join()
        print(process.exitcode)
    for how in ("fork", "spawn"):
        loader = torch.utils.data.DataLoader(Data(), 2, num_workers=1, multiprocessing_context=how)
        print([float(batch.sum()) for batch in loader])
    torch.ones(2, device=D).tolist()
"""


@pytest.mark.slow
def test_every_kind_of_child_is_watched():
    _, record = both("prog.py", CHILDREN)
    assert record.get("complete", True)
    assert counts(record) == {8: 1, 9: 1, 10: 1, 20: 4, 25: 1, 36: 1}


POOLED = """\
import multiprocessing as mp, os, sys
import torch


def total(n):
    return torch.ones(n, device="cuda").sum().item()


if __name__ == "__main__":
    with mp.get_context("spawn").Pool(1) as pool:
        print(pool.map(total, [1, 2]))
    if os.fork() == 0:
        total(3)
        sys.exit(4)
    if os.fork() == 0:
        total(3)
        raise ValueError("in a child")
    os.wait(), os.wait()
"""


def test_how_a_child_ends_is_not_how_the_program_ends():
    Path("prog.py").write_text(POOLED)
    code, out, err = ran("-m", "syncguard", "run", "--device", "simulate", "--save", "run.json", "prog.py")
    assert (code, out) == (0, "[1.0, 2.0]\n")
    assert "ValueError: in a child" in err
    record = json.loads(Path("run.json").read_text())
    assert (record.get("complete", True), record.get("ended", "exit 0")) == (True, "exit 0")
    assert counts(record) == {6: 2}
    (note,) = [note for note in record["notes"] if "started ended" in note]
    assert note == (
        "A process that the program started ended with exception ValueError: in a child: of it, what ran until then is"
        " shown."
    )


FORKED = """\
import multiprocessing as mp
import torch


def total(n):
    try:
        if n:
            return torch.ones(n, device="cuda").sum().item()
        return X.cpu()
    except RuntimeError as fault:
        return str(fault)


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return torch.cuda._is_in_bad_fork()


def pooled():
    with mp.get_context("fork").Pool(1) as pool:
        return pool.map(total, [1, 0])


if __name__ == "__main__":
    X = torch.ones(2)
    print(pooled())
    X = X.cuda()
    print(pooled())
    for batch in torch.utils.data.DataLoader(Data(), 2, num_workers=1, multiprocessing_context="fork"):
        print(batch.cuda().tolist())
"""


def test_a_device_that_was_begun_is_out_of_reach_of_forks():
    Path("prog.py").write_text(FORKED)
    code, out, err = ran("-m", "syncguard", "run", "--device", "simulate", "prog.py")
    assert code == 0, err
    before, after, loaded = out.splitlines()
    assert before == "[1.0, tensor([1., 1.])]"
    assert after.count("Cannot re-initialize CUDA in forked subprocess.") == 2
    assert loaded == "[True, True]"


ENDINGS = """\
import sys
import torch


class Late:
    def __init__(self):
        self.tensor = torch.ones(2, device=D)

    def __del__(self):
        print(self.tensor.sum().item())


def generated():
    try:
        yield
    finally:
        print(torch.ones(3, device=D).sum().item())


late, items = Late(), generated()
next(items)
sys.excepthook = lambda *fault: print("mine", fault[1])
torch.ones(2, device=D).tolist()
raise ValueError("v")
"""


def test_the_device_is_there_until_the_last_object_has_gone():
    err, record = both("prog.py", ENDINGS)
    assert record["ended"] == "exception ValueError: v"
    assert counts(record)[24] == 1
    assert "Exception ignored" not in err


@pytest.mark.parametrize("name", ["SIGHUP", "SIGALRM", "SIGUSR1"])
def test_a_signal_that_nobody_handles_leaves_a_record(name, request):
    Path("prog.py").write_text(
        "import signal, time\n"
        f"assert signal.getsignal(signal.{name}) is signal.SIG_DFL\nprint('up', flush=True)\ntime.sleep(60)\n"
    )
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_DFL)  # `nohup` has it ignored, and a child inherits that
    request.addfinalizer(lambda: signal.signal(number, before))
    with started("-m", "syncguard", "run", "-q", "--save", "run.json", "prog.py") as process:
        assert process.stdout.readline() == "up\n"
        process.send_signal(number)
        process.communicate(timeout=30)
    assert process.returncode == -number
    record = json.loads(Path("run.json").read_text())
    assert (record["ended"], record["complete"]) == (f"signal {name}", False)


TOOLS = {
    "cProfile": ("-m", "cProfile", "prog.py"),
    "pdb": ("-m", "pdb", "-c", "continue", "-c", "q", "prog.py"),
    "coverage": ("-m", "coverage", "run", "prog.py"),
}


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_tools_that_run_a_program_run_it_in_here(tool):
    pytest.importorskip(tool)
    Path("prog.py").write_text(
        "import torch\ndef f(x):\n    return x.sum().item()\nprint(f(torch.ones(2, device='cuda')))\n"
    )
    code, out, err = ran("-m", "syncguard", "run", "--device", "simulate", "--save", "run.json", *TOOLS[tool])
    assert code == 0, err
    assert out.startswith("2.0\n")
    assert counts(json.loads(Path("run.json").read_text())) == {3: 1}
    if tool == "coverage":
        code, out, err = ran("-m", "coverage", "json", "-o", "-")
        found = json.loads(out[out.index("{") :])
        assert found["files"]["prog.py"]["missing_lines"] == []


WORKERS = """\
import multiprocessing as mp
import torch


def total(n):
    import time

    time.sleep(1)
    return torch.ones(n, device="cuda").sum().item()


def ranked(rank):
    import torch.distributed as dist

    dist.init_process_group("nccl", init_method="file://" + FILE, rank=rank, world_size=2)
    total(rank + 1)
    dist.destroy_process_group()


if __name__ == "__main__":
    with mp.get_context("fork").Pool(2) as pool:
        print(sorted(pool.map(total, [1, 2], chunksize=1)))
"""


def test_workers_of_a_pool_are_no_ranks():
    Path("prog.py").write_text(WORKERS)
    code, out, err = ran("-m", "syncguard", "run", "--device", "simulate", "--save", "run.json", "prog.py")
    assert (code, out) == (0, "[1.0, 2.0]\n")
    record = json.loads(Path("run.json").read_text())
    assert (record.get("rank", 0), record.get("world", 1)) == (0, 1)
    assert "2 processes that the program started waited, too: each number is that of the one with most." in err
    assert "rank" not in err


LEFT_OPEN = {
    "a pool of threads": "pool = ThreadPoolExecutor(2)\nprint(pool.submit(total, 2).result())\n",
    "a pool of processes": "pool = ProcessPoolExecutor(1, mp.get_context('fork'))\n"
    "print(pool.submit(total, 2).result())\n",
    "a pool of multiprocessing": "pool = mp.get_context('fork').Pool(1)\nprint(pool.map(total, [2]))\n",
    "a daemon": "ours, theirs = mp.Pipe()\n"
    "process = mp.get_context('fork').Process(target=lambda: (theirs.send(total(2)), time.sleep(600)), daemon=True)\n"
    "process.start()\nprint(ours.recv())\n",
    "what is called at the exit": "atexit.register(lambda: print(total(2)))\nprint('ends')\n",
    "a pool that is asked at the exit": "pool = mp.get_context('fork').Pool(1)\n"
    "atexit.register(lambda: print(pool.map(total, [2])))\n",
}


@pytest.mark.parametrize("left", LEFT_OPEN)
def test_what_a_program_leaves_open_ends_as_under_python(left):
    head = (
        "import atexit, time, torch\nimport multiprocessing as mp\n"
        "from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor\n\n\n"
        "def total(n):\n    return torch.ones(n, device=D).sum().item()\n\n\n"
    )
    _, record = both("prog.py", head + LEFT_OPEN[left], run=partial(warm.ran, Path.cwd()))
    assert record["ended"] == "exit 0"
    assert counts(record) == {8: 1}


TOLD_TO_END = """\
import multiprocessing as mp
import multiprocessing.popen_fork as popen
import signal
import sys
import time
import torch


def work(here):
    if HANDLED:
        signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.7), sys.exit(5)))
    torch.ones(2, device="cuda").sum().item()
    here.send(signal.getsignal(signal.SIGURG) is signal.SIG_DFL)
    time.sleep(600)


if __name__ == "__main__":
    context = mp.get_context(HOW)
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,))
    process.start()
    print(ours.recv())
    os.kill(process.pid, signal.SIGURG)
    process.join(1)
    print(process.exitcode)
    process.terminate()
    process.join()
    print(process.exitcode)
"""
FORGETTING = """\
plain = popen.Popen._send_signal
popen.Popen._send_signal = lambda self, number: number == signal.SIGTERM or plain(self, number)
"""


@pytest.mark.parametrize(
    "how", ["fork", *[pytest.param(how, marks=pytest.mark.slow) for how in ("spawn", "forkserver")]]
)
@pytest.mark.parametrize(("forgotten", "handled", "code"), [(False, False, -15), (True, False, -15), (False, True, 5)])
def test_a_process_that_misses_that_it_is_told_to_end_is_reminded(how, forgotten, handled, code):
    """As one does that was forked a moment ago, or that is about to wait for a lock."""
    head = f"import os\nHOW, HANDLED = {how!r}, {handled}\n{TOLD_TO_END}"
    Path("prog.py").write_text(head.replace("import torch\n", "import torch\n" + FORGETTING * forgotten))
    words = ("run", "--device", "simulate", "--save", "run.json", "prog.py")
    assert warm.ran(Path.cwd(), "-m", "syncguard", *words)[:2] == (0, f"True\nNone\n{code}\n")
    (wait,) = json.loads(Path("run.json").read_text())["waits"]
    assert wait["place"]["source"].strip() == 'torch.ones(2, device="cuda").sum().item()'


DEAF = """\
import multiprocessing as mp
import signal
import time


def work(here):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGURG})
    here.send("up")
    time.sleep(600)


if __name__ == "__main__":
    context = mp.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,))
    process.start()
    print(ours.recv())
    process.terminate()
    process.join(0.3)
    print(process.exitcode)
    process.join()
    print(process.exitcode)
"""


def test_a_process_that_does_not_hear_that_it_is_told_to_end_ends():
    """As one does not that waits for another in C++."""
    Path("prog.py").write_text(DEAF)
    code, out, err = ran("-m", "syncguard", "run", "prog.py")
    assert (code, out) == (0, "up\nNone\n-15\n")
    assert " ".join(err.split()).count("while it waited for what no signal interrupts") == 1


LOST = """\
import os
import pickle
import signal
import time

ours, theirs = os.pipe()
if (pid := os.fork()) == 0:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    os.write(theirs, b"up")
    signal.sigtimedwait({signal.SIGTERM}, 60)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    os.write(theirs, b"on")
    time.sleep(600)
os.read(ours, 2)
os.kill(pid, signal.SIGTERM)
os.read(ours, 2)
print(os.waitpid(ASKED, os.WNOHANG))
found, status = os.waitpid(ASKED, 0)
print(found == pid, os.waitstatus_to_exitcode(status))
print(all(pickle.loads(pickle.dumps(function)) is function for function in (os.kill, os.waitpid)))
try:
    os.waitpid(ASKED, 0)
except ChildProcessError:
    print("none left")
"""


@pytest.mark.parametrize("asked", ["pid", "-1"])
def test_a_child_that_misses_that_it_is_told_to_end_is_reminded_by_who_waits_for_it(asked):
    """As one does that is about to sleep."""
    Path("prog.py").write_text(LOST.replace("ASKED", asked))
    code, out, err = ran("-m", "syncguard", "run", "-q", "prog.py")
    assert (code, out) == (0, "(0, 0)\nTrue -15\nTrue\nnone left\n"), err


def test_processes_that_form_a_group_are_ranks():
    head, _, _ = WORKERS.replace("FILE", repr(str(Path("group").absolute()))).partition("    with mp.")
    Path("prog.py").write_text(head + "    torch.multiprocessing.spawn(ranked, nprocs=2)\n")
    code, _, err = ran("-m", "syncguard", "run", "--device", "simulate", "--save", "run.json", "prog.py")
    assert code == 0, err
    assert json.loads(Path("run.json").read_text())["world"] == 2
    assert "2 ranks" in err


def test_a_text_has_lines_of_its_own():
    text = "import torch\nx = torch.ones(2, device='cuda')\n\nprint(x.sum().item())"
    code, out, err = ran("-m", "syncguard", "run", "--device", "simulate", "--save", "run.json", "-c", text, "-q")
    assert (code, out) == (0, "2.0\n")
    assert "<string>:4  x.sum().item()  SG201" in err
    assert "-c import torch x = torch.ones(2, device='… -q on a simulated device" in err
    record = json.loads(Path("run.json").read_text())
    assert record["command"] == ["-c", text, "-q"]
    assert [wait["place"]["source"] for wait in record["waits"]] == ["print(x.sum().item())"]
