"""`syncguard run` on programs that wait: the examples, exceptions, steps, ranks."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import running
import warm

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
TRAIN = """\
import sys
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6.0))
model = torch.nn.Linear(2, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
print(next(model.parameters()).device.type)
start = float(model.weight.sum())
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=2):
        loss = (model(x.cuda(non_blocking=True)).squeeze(1) - y.cuda(non_blocking=True))[y.cuda() > 0].square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss.item()
        if epoch and x[0, 0] == 0:
            continue
    with torch.no_grad():
        for x, y in DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4)), batch_size=2):
            model(x.cuda(non_blocking=True)).sum().item()
if sys.argv[1:] == ["fail"]:
    torch.ones(2, device="cuda") @ torch.ones(3, device="cuda")
"""


def run(folder: Path, *words: str, **env: str) -> tuple[int, str, str]:
    return warm.ran(folder, "-m", "syncguard", *words, **env)


def cold(folder: Path, *words: str, module: str = "syncguard", **env: str) -> tuple[int, str, str]:
    """As `run`, by a Python that has to import torch from its files."""
    return running.ran("-m", module, *words, patience=300, cwd=folder, env=env)


def marks(path: Path) -> set[tuple[int, str]]:
    lines = enumerate(path.read_text().split("\n"), 1)
    return {(n, code) for n, line in lines for code in re.findall(r"# sync:.*?(SG\d{3})", line)}


def test_every_finding_of_the_loss_is_confirmed_and_its_twin_never_waits(tmp_path):
    words = ("run", "--device", "simulate", "--check", "--save")
    code, out, err = cold(
        ROOT, *words, str(tmp_path / "a.json"), "--fail-on", "missed", "--fail-on", "false-alarm",
        "examples/segmentation_loss.py", "--steps", "4",
    )  # fmt: skip
    assert (code, out) == (0, "4 steps, four questions each\n"), err
    record = json.loads((tmp_path / "a.json").read_text())
    found = {(f["place"]["line"], f["code"]) for f in record["findings"] if f["verdict"] == "confirmed"}
    assert found == marks(EXAMPLES / "segmentation_loss.py")
    assert record["steps"]["counted"] == 3
    (moved,) = (wait for wait in record["waits"] if wait["hazard"] == "setup")
    assert (moved["op"], moved.get("static", ""), moved["count"]) == ("torch.nn.Module.to", "", 1)
    for wait in (wait for wait in record["waits"] if wait is not moved):
        assert wait["count"] == 4
        assert wait["steps"] == [[1, 1], [2, 1], [3, 1], [4, 1]]
    assert "examples/segmentation_loss.py:34" in err

    code, _, err = run(
        ROOT, *words, str(tmp_path / "b.json"), "--budget", "0", "--fail-on", "any",
        "examples/segmentation_loss_fixed.py", "--steps", "4",
    )  # fmt: skip
    assert code == 0, err
    assert {wait["hazard"] for wait in json.loads((tmp_path / "b.json").read_text())["waits"]} == {"setup"}

    assert run(ROOT, "diff", str(tmp_path / "a.json"), str(tmp_path / "b.json"))[0] == 0
    code, out, _ = run(ROOT, "diff", str(tmp_path / "b.json"), str(tmp_path / "a.json"))
    assert code == 1
    assert "0 -> 4 waits a step (4 new)" in out

    code, out, _ = run(ROOT, "check", "examples/segmentation_loss.py", "--evidence", str(tmp_path / "a.json"))
    assert code == 1
    assert out.count("confirmed by a run") == 4
    code, out, _ = run(
        ROOT, "check", "examples/segmentation_loss.py", "--evidence", str(tmp_path / "a.json"), "--only", "untested"
    )
    assert code == 0


def test_a_training_loop_with_loaders_and_a_failure(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    code, out, err = run(tmp_path, "run", "--device", "simulate", "--save", "run.json", "train.py", "fail")
    assert (code, out) == (1, "cuda\n")
    assert "Traceback (most recent call last):\n  File " in err
    assert 'train.py", line 23' in err
    assert "syncguard/observe" not in err.partition("Traceback")[2]
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["ended"].startswith("exception RuntimeError")
    assert record["complete"] is False
    assert record["steps"]["how"] == "optimizer"
    assert record["steps"]["counted"] == 5
    waits = {
        (w["place"]["line"], w.get("code", "")): w for w in record["waits"] if w.get("phase", "forward") == "forward"
    }
    assert waits[16, "SG201"]["steps"] == [[n, 1] for n in range(1, 7)]
    assert waits[9, "SG203"].get("steps", []) == []
    assert waits[21, "SG201"].get("steps", []) == []  # a validation is in no step
    assert waits[21, "SG201"]["count"] == 4
    backward = [w for w in record["waits"] if w.get("phase") == "backward"]
    assert [w["forward"]["line"] for w in backward] == [12]
    assert backward[0]["place"]["line"] == 14
    assert record["executed"]["train.py"][0][0] == 1

    code, out, _ = run(tmp_path, "report", "run.json", "--budget", "1", "--static", "train.py", "-o", "concise")
    assert code == 1
    for words in (["--html", "run.json"], ["--save", "train.py"], ["--against", "run.json", "--save", "run.json"]):
        assert run(tmp_path, "report", "run.json", *words)[0] == 2, "nothing is written over what is read"
    assert run(tmp_path, "run", "--against", "run.json", "--save", "run.json", "train.py")[0] == 2
    for words in (["--missed"], ["--fail-on", "missed"], ["--fail-on", "false-alarm"]):
        code, out, err = run(tmp_path, "report", "run.json", *words)
        assert (code, out) == (2, ""), "nothing was predicted, so nothing was missed either"
        assert f"{' '.join(words)} needs --check or --static" in err
        assert run(tmp_path, "report", "run.json", *words, "--static", "train.py")[0] == 0
    code, out, _ = run(tmp_path, "report", "run.json", "run.json", "-o", "json")
    again = json.loads(out)["waits"]
    assert [w.pop("ranks") for w in again] == [[0]] * len(again)
    assert again == record["waits"]


def test_what_comes_after_a_loop_that_breaks_is_in_no_step(tmp_path):
    (tmp_path / "train.py").write_text(
        "import torch\nw = torch.ones(2, device='cuda', requires_grad=True)\no = torch.optim.SGD([w])\n"
        "for n, x in enumerate(torch.utils.data.DataLoader(torch.ones(8, 2), pin_memory=True)):\n"
        "    loss = (x.cuda(non_blocking=True) * w).sum()\n    loss.backward()\n    o.step()\n    loss.item()\n"
        "    if n == 3:\n        break\nw.sum().item()\n"
    )
    code, _, err = run(tmp_path, "run", "--device", "simulate", "--save", "run.json", "train.py")
    assert code == 0, err
    record = json.loads((tmp_path / "run.json").read_text())
    waits = {w["place"]["line"]: w for w in record["waits"]}
    assert waits[8]["steps"] == [[1, 1], [2, 1], [3, 1], [4, 1]]
    assert "steps" not in waits[11]
    assert "Outside the steps" in err


def test_a_limit_of_steps_and_a_step_of_the_users(tmp_path):
    (tmp_path / "train.py").write_text(
        "import syncguard, torch\nx = torch.ones(3, device='cuda')\nfor _ in range(9):\n"
        "    x.sum().item()\n    with syncguard.allow('why not'):\n        x.tolist()\n    syncguard.step()\n"
    )
    code, _, err = run(
        tmp_path, "run", "--device", "simulate", "--warmup", "2", "--steps", "3", "--save", "run.json", "--budget", "1",
        "train.py",
    )  # fmt: skip
    assert code == 0, err
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["steps"] | {"host_ms": []} == {"how": "user", "warmup": 2, "counted": 3, "host_ms": []}
    assert [(w["count"], w.get("allowed")) for w in record["waits"]] == [(5, None), (5, "why not")]


def test_the_device_is_there_until_the_process_ends(tmp_path):
    (tmp_path / "train.py").write_text(
        "import atexit, torch\nx = torch.ones(2, device='cuda')\n"
        "atexit.register(lambda: print((x + torch.ones(2, device='cuda')).tolist(), torch.cuda.is_available()))\n"
    )
    code, out, err = run(tmp_path, "run", "--device", "simulate", "--fail-on", "any", "train.py")
    assert (code, out) == (1, "[2.0, 2.0] True\n"), err
    assert "train.py:3: waits where none may be" in err  # no step was told apart, so all count


def test_asking_whether_torch_is_there_does_not_import_it(tmp_path):
    (tmp_path / "train.py").write_text(
        "import importlib.util, sys\n"
        "assert importlib.util.find_spec('torch').origin\nassert 'torch' not in sys.modules\n"
        "import torch\nassert 'syncguard' not in type(torch.__spec__.loader).__module__\n"
        "assert torch.__loader__ is torch.__spec__.loader\ntorch.ones(2, device='cuda').tolist()\n"
    )
    code, _, err = cold(tmp_path, "run", "--device", "simulate", "--fail-on", "any", "train.py")
    assert code == 1, err
    assert "train.py:7: waits where none may be" in err


def test_a_device_that_is_not_here_is_refused(tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    (tmp_path / "train.py").write_text("import torch\nprint('ran')\n")
    code, out, err = run(tmp_path, "run", "--device", "cuda", "train.py")
    assert (code, out) == (2, "")
    assert err == "syncguard: there is no GPU that torch can use here; `--device simulate` needs none\n"


def test_a_record_is_left_by_a_program_that_is_killed_in_a_step(tmp_path):
    (tmp_path / "train.py").write_text(
        "import time, torch\nx = torch.ones(3, device='cuda')\nx.tolist()\nprint('up', flush=True)\ntime.sleep(60)\n"
    )
    command = [sys.executable, "-m", "syncguard", "run", "-q", "--device", "simulate", "--save", "run.json", "train.py"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=env) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert process.returncode == -signal.SIGTERM
    record = json.loads((tmp_path / "run.json").read_text())
    assert [w["code"] for w in record["waits"]] == ["SG202"]
    assert record["machine"]["mode"] == "simulate"


SPAWNED = """\
import torch
import torch.multiprocessing as mp


def work(rank):
    x = torch.ones(3, device="cuda")
    if rank:
        x.sum().item()


if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
    print(torch.ones(2, device="cuda").tolist())
"""


@pytest.mark.slow
def test_processes_that_are_spawned_are_watched_too(tmp_path):
    (tmp_path / "train.py").write_text(SPAWNED)
    code, out, err = run(tmp_path, "run", "--device", "simulate", "--save", "run.json", "train.py")
    assert (code, out) == (0, "[1.0, 1.0]\n"), err
    record = json.loads((tmp_path / "run.json").read_text())
    assert [(w["place"]["line"], w["count"]) for w in record["waits"]] == [(13, 1), (8, 1)]


DISTRIBUTED = """\
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
x = torch.ones(3, device="cuda")
model = torch.nn.Linear(3, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(x).sum().backward()
    optimizer.step()
    dist.all_reduce(x)
    if dist.get_rank() == 1:
        x.sum().item()
    dist.barrier()
dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.parametrize("python", [(), ("--no-python",)])
def test_two_ranks_make_one_record(tmp_path, python):
    (tmp_path / "train.py").write_text(DISTRIBUTED)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ours = (*python, sys.executable, "-m", "syncguard") if python else ("-m", "syncguard")
    code, _, err = cold(
        tmp_path, "--nproc-per-node=2", f"--master-port={port}", *ours, "run", "--device", "simulate",
        "--save", "run.json", "train.py", module="torch.distributed.run", TMPDIR=str(tmp_path),
    )  # fmt: skip
    assert code == 0, err
    assert err.count("2 ranks") == 1
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["world"] == 2
    ranks = {w["place"]["line"]: w["ranks"] for w in record["waits"] if w.get("steps")}
    assert ranks[13] == [1]
    assert ranks[14] == [0, 1]
    code, out, _ = run(tmp_path, "report", "run.rank0.json", "run.rank1.json", "-o", "json")
    assert json.loads(out)["waits"] == record["waits"]


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 3])
def test_ranks_that_meet_in_no_file_leave_nothing(tmp_path, code):
    ends = f"import os\nraise SystemExit({code} * int(os.environ['RANK']))\n"
    (tmp_path / "train.py").write_text(DISTRIBUTED + ends)
    words = ("--standalone", "--nproc-per-node=2", "-m", "syncguard", "run", "--device", "simulate", "train.py")
    ended, _, err = cold(tmp_path, *words, module="torch.distributed.run", TMPDIR=str(tmp_path))
    assert ended == bool(code), err
    assert code or err.count("2 ranks") == 1
    assert not [*tmp_path.glob("syncguard-*")]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_examples_wait_where_their_marks_say(name, tmp_path):
    code, _, err = cold(ROOT, "run", "--device", "simulate", "--check", "--save", str(tmp_path / "run.json"),
                        f"examples/{name}.py")  # fmt: skip
    assert code == 0, err
    record = json.loads((tmp_path / "run.json").read_text())
    verdicts = {(f["place"]["line"], f["code"]): f["verdict"] for f in record.get("findings", ())}
    assert set(verdicts) >= marks(EXAMPLES / f"{name}.py")
    assert set(verdicts.values()) <= {"confirmed", "untested"}, verdicts
    assert not [w for w in record.get("waits", ()) if w.get("static") == "missed-alarm"]


SKIPPING = """\
import torch
import kernels, triton, triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4)], key=["n"])
@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    tl.store(y + tl.program_id(0), tl.load(x))


class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return kernels.gelu(x)


x = torch.ones(4, device="cuda")
add[lambda meta: (triton.cdiv(4, meta["BLOCK"]),)](x, x, 4)
print(Gelu.apply(x).sum().item())
"""


def test_what_cannot_be_simulated_is_stepped_over_when_asked(tmp_path):
    (tmp_path / "train.py").write_text(SKIPPING)
    (tmp_path / "kernels.py").write_text("raise ImportError('libcudart.so.12: cannot open shared object file')\n")
    code, _, err = run(tmp_path, "run", "--device", "simulate", "train.py")
    assert code == 1
    assert "ImportError: libcudart.so.12" in err
    assert "can be skipped: `--step-over NAME`" in " ".join(err.split())
    code, out, err = run(
        tmp_path, "run", "--device", "simulate", "--step-over", "kernels", "--step-over", "triton", "train.py"
    )
    assert (code, out) == (0, "4.0\n"), err
    assert "train.py:19  Gelu.apply(x).sum().item()" in err
    assert "kernels: its calls were stepped over" in err


OWN_BACKWARD = """\
import torch
from torch.utils.checkpoint import checkpoint


class Guard(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        if not torch.isfinite(grad).all():
            raise ValueError
        return grad * 2


def block(x):
    x = x.exp() * x
    if x.abs().max() > 9:
        x = x / 2
    return x.sin()


x = torch.ones(3, device="cuda", requires_grad=True)
checkpoint(block, Guard.apply(x), use_reentrant=False).sum().backward()
"""


def test_the_programs_own_code_in_a_backward_is_where_it_waits(tmp_path):
    (tmp_path / "train.py").write_text(OWN_BACKWARD)
    code, _, err = run(tmp_path, "run", "--device", "simulate", "--check", "--save", "run.json", "train.py")
    assert code == 0, err
    record = json.loads((tmp_path / "run.json").read_text())
    found = [(w["place"]["line"], w.get("phase", "forward"), w.get("forward"), w["static"]) for w in record["waits"]]
    assert [one[:3] for one in found] == [(19, "forward", None), (19, "backward", None), (12, "backward", None)]
    assert found[2][3] == "confirmed"
    assert {f["place"]["path"] for f in record["findings"]} == {"train.py"}


GRAPHED = """\
import torch

model = torch.nn.Linear(2, 1).cuda()
optimizer, x = torch.optim.SGD(model.parameters(), 0.1), torch.zeros(4, 2, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


with torch.cuda.stream(torch.cuda.Stream()):
    step()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for _ in range(5):
    x.copy_(torch.ones(4, 2))
    graph.replay()
"""


def test_the_replay_of_a_graph_with_an_optimizer_is_a_step(tmp_path):
    (tmp_path / "train.py").write_text(GRAPHED)
    code, _, err = run(tmp_path, "run", "--device", "simulate", "--save", "run.json", "train.py")
    assert code == 0, err
    record = json.loads((tmp_path / "run.json").read_text())
    assert (record["steps"]["how"], record["steps"]["warmup"], record["steps"]["counted"]) == ("optimizer", 1, 5)
    (copied,) = [wait for wait in record["waits"] if wait["place"]["line"] == 21]
    assert [times for step, times in copied["steps"] if step > 1] == [1] * 5


def test_a_program_on_the_device_that_never_waits_shows_false_alarms(tmp_path):
    (tmp_path / "train.py").write_text(
        "import torch\nx = torch.ones(2, device='cuda')\n"
        "kept = torch.zeros(2, pin_memory=bool(torch.cuda.is_available()))\nkept.copy_(x, non_blocking=True)\n"
    )
    code, _, err = run(tmp_path, "run", "--device", "simulate", "--check", "--save", "run.json", "train.py")
    assert code == 0, err
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["machine"].get("used", True)
    assert [f["verdict"] for f in record.get("findings", ())] in ([], ["false-alarm"])


def test_a_wait_in_a_library_names_the_lines_of_the_program_that_led_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("lib/site-packages/shown")
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("def show(x):\n    return inner(x)\n\n\ndef inner(x):\n    return x.item()\n")
    Path("prog.py").write_text(
        "import sys, torch\nsys.path.insert(0, 'lib/site-packages')\nimport shown\nx = torch.ones(1, device='cuda')\n"
        "shown.show(x)\nfor _ in range(2):\n    shown.show(x)\nx.item()\n"
    )
    code, _, err = running.ran("-m", "syncguard", "run", "--device", "simulate", "--save", "run.json", "prog.py")
    assert code == 0
    waits = json.loads(Path("run.json").read_text())["waits"]
    inner, own = sorted(waits, key=lambda wait: -wait["count"])
    assert inner["place"]["path"].endswith("shown/__init__.py")
    assert [place["line"] for place in inner["entrances"]] == [5, 7]
    assert [place["line"] for place in inner["stack"]] == [2, 5]  # and nothing of what started the program
    assert "entrances" not in own
    assert "prog.py:5 and 1 more" in err
    assert "to which `prog.py:5` leads" in err
    assert "shown/__init__.py:6" in err
