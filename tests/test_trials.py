"""What runs beside the work: trials of what a file holds, plain forms of its kernels, copies that are asked for by
name, benchmarks; and what stands around a loop that counts its steps."""

from __future__ import annotations

import pytest

from syncguard import pipeline
from syncguard.config import Config

HEAD = "import torch\n\n\n"


def heats(text: str, name: str = "example.py") -> list[str]:
    report = pipeline.check(["-"], Config(heat="all", stdin_filename=name), HEAD + text)
    return [finding.heat for finding in report.findings]


@pytest.mark.parametrize(
    ("head", "x", "heat"),
    [
        ("test2()", "torch.randn(4, device='cuda')", "cold"),
        ("test()", "torch.empty(4, device='cuda').normal_()", "cold"),
        ("test()", "torch.ones(4, device='cuda')", "unknown"),  # it may evaluate
        ("test(size)", "torch.randn(size, device='cuda')", "unknown"),
        ("_test_rows()", "torch.randn(4, device='cuda')", "cold"),
        ("testing()", "torch.randn(4, device='cuda')", "unknown"),
    ],
)
def test_a_trial_draws_what_it_tries(head: str, x: str, heat: str) -> None:
    body = f"def {head}:\n    x = {x}\n    for i in range(4):\n        print(x[i].item())\n"
    assert heats(body) == [heat]
    if heat == "cold":
        assert heats(f"{body}\n\nif __name__ == '__main__':\n    {head}\n") == ["cold"]
        assert heats(f"{body}\n\nfor epoch in range(9):\n    {head}\n") == ["unknown"]


def test_the_loop_of_a_trial_takes_no_steps() -> None:
    text = """
def {head}:
    for i in range(2):
        x = torch.randn(4, device="cuda", requires_grad=True)
        x.sum().backward()
        print(x.grad)


if __name__ == "__main__":
    {head}
"""
    assert heats(text.format(head="_test_gradients()")) == ["cold"]
    assert heats(text.format(head="fit_gradients()")) == ["hot"]
    evaluates = text.replace("range(2)", "loader").replace("{head}:", "{head}:\n    loader = load()")
    assert heats(evaluates.format(head="test()")) == ["hot"]


@pytest.mark.parametrize(
    ("imported", "name", "heat"),
    [
        ("import triton\nimport triton.language as tl", "torch_att", "cold"),
        ("import triton\nimport triton.language as tl", "att", "unknown"),
        ("import numpy", "torch_att", "unknown"),
    ],
)
def test_what_is_of_torch_alone_is_compared_with_kernels(imported: str, name: str, heat: str) -> None:
    assert heats(f"{imported}\n\n\ndef {name}(x: torch.Tensor):\n    return x.max().item()\n") == [heat]


BOXES = """
class Boxes:
    def __init__(self, at: torch.Tensor):
        self.at = at

    def {name}(self):
        return Boxes(self.at.cpu())


class Net(torch.nn.Module):
    def forward(self, x):
        boxes = Boxes(x.relu())
        return {call}
"""


@pytest.mark.parametrize(
    ("name", "call", "heat"), [("cpu", "x", "cold"), ("there", "x", "unknown"), ("cpu", "boxes.cpu()", "hot")]
)
def test_what_is_named_for_its_copy_is_told_of_where_hot_code_asks_for_it(name: str, call: str, heat: str) -> None:
    assert heats(BOXES.format(name=name, call=call)) == [heat]


TIMED = """
import time


def seconds(model, x, count):
    for _ in range(count):
        torch.cuda.synchronize()
        start = time.time()
        x = model(x)
    return start
"""


@pytest.mark.parametrize(("name", "found"), [("benchmark.py", []), ("generate.py", ["hot"])])
def test_a_benchmark_waits_to_measure(name: str, found: list[str]) -> None:
    assert heats(TIMED, name) == found


@pytest.mark.parametrize(
    ("bound", "heat"),
    [("opt.iterations + 1", "amortized"), ("first, args.max_iters", "amortized"), ("opt.rounds", "unknown")],
)
def test_a_loop_that_counts_its_steps_runs_many(bound: str, heat: str) -> None:
    text = f"""
def training(model, opt, args, first, color):
    ground = torch.tensor(color, device="cuda")
    for step in range({bound}):
        loss = model(ground).sum()
        loss.backward()
        model.optimizer.step()
        model.optimizer.zero_grad()
"""
    assert heats(text) == [heat]
    assert heats(text.replace("model.optimizer.zero_grad()", "pass")) == ["unknown"]


@pytest.mark.parametrize(("name", "heat"), [("extract_mesh_bounded", "cold"), ("extract_features", "unknown")])
def test_a_mesh_is_made_once(name: str, heat: str) -> None:
    assert heats(f"def {name}(field: torch.Tensor):\n    return field.cpu().numpy()\n") == [heat]


@pytest.mark.parametrize(
    ("head", "heat"),
    [
        ("init_state(lens: torch.Tensor, input_ids)", "unknown"),
        ("init_state(lens: torch.Tensor, module)", "cold"),
        ("convert_weights(lens: torch.Tensor, input_ids)", "cold"),
        ("__init__(lens: torch.Tensor, batch)", "cold"),
    ],
)
def test_what_is_given_what_a_step_brings_readies_it(head: str, heat: str) -> None:
    assert heats(f"def {head}:\n    return lens.max().item()\n") == [heat]


@pytest.mark.parametrize(
    ("body", "heat"),
    [
        ("numpy.savez_compressed(path, rows=rows.cpu().numpy())", "cold"),
        ("rows = rows.cpu()\n    with open(path, 'wb') as file:\n        torch.save(rows, file)", "cold"),
        ("np.savetxt(path, [row.item() for row in rows])", "cold"),
        ("kept = rows.cpu()\n    if path:\n        torch.save(kept, path)\n    return kept", "unknown"),
        ("for row in split(rows):\n        keep(torch.sum(row).item())\n    torch.save(seen, path)", "unknown"),
        ("memory = io.BytesIO()\n    torch.save(rows.cpu(), memory)\n    return memory", "unknown"),
        ("return rows.cpu()", "unknown"),
    ],
)
def test_what_writes_a_file_is_seldom_asked_to(body: str, heat: str) -> None:
    assert heats(f"import numpy\n\n\ndef pack(rows: torch.Tensor, path):\n    {body}\n") == [heat]


@pytest.mark.parametrize(
    ("head", "body", "heat"),
    [
        ("adopt(net, rows: torch.Tensor, path)", "net.merge(torch.load(path))\n    return rows.cpu()", "unknown"),
        ("adopt(net, rows: torch.Tensor, path)", "old = torch.load(path)\n    return rows.cpu(), old", "cold"),
        ("adopt(net, rows: torch.Tensor, old)", "net.load_state_dict(old)\n    return rows.cpu()", "cold"),
        (
            "adopt(net, rows: torch.Tensor, path)",
            "with safe_open(path) as old:\n        return rows.cpu(), old",
            "unknown",
        ),
        (
            "adopt(net, rows: torch.Tensor, old)",
            "if old:\n        net.load_state_dict(old)\n    return rows.cpu()",
            "unknown",
        ),
        ("get(net, rows: torch.Tensor, path)", "old = torch.load(path)\n    return rows.cpu(), old", "unknown"),
        ("__getitem__(net, rows: torch.Tensor, path)", "old = torch.load(path)\n    return rows.cpu(), old", "unknown"),
    ],
)
def test_what_reads_a_checkpoint_is_seldom_asked_to(head: str, body: str, heat: str) -> None:
    assert heats(f"def {head}:\n    {body}\n")[:1] == [heat]


KEPT = """
class State:
    table = None

    @classmethod
    def tables(cls, numbers):
        if cls.table is None:
            cls.table = {built}
        return cls.table

    @classmethod
    def clear(cls):
        cls.table = {cleared}


table = None


def tables(numbers):
    global table
    if table is None:
        table = {built}
    return table


def clear():
    global table
    table = {cleared}
"""


@pytest.mark.parametrize(
    ("built", "cleared", "heat"),
    [
        ("torch.tensor(numbers).cuda()", "1", "amortized"),
        ("torch.tensor(numbers).cuda()", "None", "unknown"),  # it may be built at every step
    ],
)
def test_what_a_class_or_a_file_keeps_is_built_once(built: str, cleared: str, heat: str) -> None:
    assert heats(KEPT.format(built=built, cleared=cleared)) == [heat, heat]


@pytest.mark.parametrize(
    ("told", "given", "heat"),
    [
        ("print('far', x.max())", "torch.tensor(0)", "amortized"),
        ("logger.info(f'far {x.max()}')", "0.0", "amortized"),
        ("print('far', x.max())", "x / total", "unknown"),
        ("collect('far', x.max().item())", "0.0", "unknown"),
    ],
)
def test_an_arm_that_only_shows_something_and_gives_a_constant(told: str, given: str, heat: str) -> None:
    text = f"""
def scored(x: torch.Tensor, limit=8, collect=None, logger=None):
    total = x.sum()
    if total > limit:
        {told}
        return {given}
    return 1 / total
"""
    assert heats(text)[1] == heat
