"""What stands behind the loop of the steps in its function, in a script and in what a script hands its work to."""

from __future__ import annotations

import pytest
from checked import findings
from packaged import heats as heats_of

HEAD = "import torch\n\n\n"
FIT = """
def fit(model, batches, opt, totals, limit):
    steps = 0
    while steps < limit:
        model(next(batches)).sum().backward()
        opt.step()
        opt.zero_grad()
        steps += 1
    {behind}
"""


def heats(text: str) -> list[str]:
    return [finding.heat for finding in findings(text, HEAD)]


@pytest.mark.parametrize(
    ("behind", "heat"),
    [
        ("print(torch.ones(3, device='cuda').sum().item())", "amortized"),
        ("for key in totals: show(torch.sum(totals[key]).item())", "amortized"),
        ("for key in sorted(totals): show(torch.sum(totals[key]).item())", "amortized"),
        ("for key, total in totals.items(): show(torch.sum(total).item())", "amortized"),
        ("for size in (64, 128): show(torch.ones(size, device='cuda').sum().item())", "amortized"),
        ("energies = torch.ones(9, device='cuda'); return [e.item() for e in energies]", "amortized"),
        ("energies = torch.ones(9, device='cuda'); return [f'{float(e):.3f}' for e in energies]", "amortized"),
        ("for item in totals: show(torch.sum(item).item())", "unknown"),  # of what there may be many
        ("return [model(torch.cat(x)).sum().item() for x in totals]", "unknown"),
    ],
)
def test_a_small_loop_behind_the_steps_is_run_once(behind: str, heat: str) -> None:
    assert heats(FIT.format(behind=behind)) == [heat]


def test_a_loop_calls_the_function_of_a_step() -> None:
    text = """
    def relax(state, model, max_iter: int):
        def step_fn(i, state):
            return advance(i, state, model)
        for i in range(max_iter):
            state = step_fn(i, state)
        return [e.item() for e in torch.sum(model(state), dim=1)]
    """
    assert heats(text) == ["unknown"]  # a call may give anything
    assert heats(
        text.replace("return [", "energy = torch.sum(model(state), dim=1)\n        return [").replace(
            "in torch.sum(model(state), dim=1)]", "in energy]"
        )
    ) == ["amortized"]


SCRIPT = """
def measure(model, rows, device):
    losses = []
    for i in range(len(rows)):
        losses.append(torch.sum(model(rows[i].to(device))))
        {inside}
    total = torch.stack(losses).sum()
    print(total.item())


def main():
    model, rows = build()
    {call}


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("measure(model, rows, 'cuda')", "cold"),
        ("measure(model, torch.rand(4, 4), 'cuda')", "unknown"),  # it may be of a library, and is only tried here
        ("for _ in range(many()): measure(model, rows, 'cuda')", "unknown"),
        ("hand(measure, model, rows)", "unknown"),
        ("measure(model, rows, 'cuda'); hand(measure)", "unknown"),
    ],
)
def test_what_a_script_hands_its_work_to_ends_once(call: str, heat: str) -> None:
    assert heats(SCRIPT.format(call=call, inside=""))[-1] == heat


def test_the_loop_of_such_a_function_may_run_long() -> None:
    text = SCRIPT.format(call="measure(model, rows, 'cuda')", inside="print(losses[-1].item())")
    assert heats(text)[-2:] == ["unknown", "cold"]


def test_what_such_a_function_leaves_on_is_met_at_every_step() -> None:
    text = SCRIPT.format(call="measure(model, rows, 'cuda')", inside="")
    left = text.replace("    losses = []", "    torch.autograd.set_detect_anomaly(True)\n    losses = []")
    assert [one.heat for one in findings(left, HEAD) if one.code == "SG404"] == ["unknown"]


RUNS = """
def tried(x, model, {given}):
    for turn in range(10):
        {made}
        for epoch in range(100):
            opt.zero_grad()
            model(x).sum().backward()
            opt.step()
        print(torch.sum(x).item())
"""


@pytest.mark.parametrize(
    ("made", "heat"),
    [
        ("opt = torch.optim.AdamW(model.parameters())", "amortized"),
        ("opt = chosen(turn)", "hot"),  # as far as we see, one of several that share a step
    ],
)
def test_a_loop_that_makes_an_optimizer_trains_in_each_turn(made: str, heat: str) -> None:
    assert heats(RUNS.format(made=made, given="chosen")) == [heat]


SAMPLING = """
import torch


@torch.no_grad()
def denoise(model, x, times):
    for t in times:
        x = x + model(x, t)
    return x
"""
PROGRAM = """
import torch
from pkg.sampling import denoise


def main(model, prompts):
    for prompt in prompts:
        {before}
        x = denoise(model, torch.zeros(3, device="cuda"), range(50))
        {behind}


if __name__ == "__main__":
    main(None, [])
"""


@pytest.mark.parametrize(
    ("before", "behind", "heat"),
    [
        ("pass", "show(x.cpu())", "amortized"),
        ("x = torch.ones(3, device='cuda'); show(x.cpu())", "pass", "amortized"),
        ("pass", "for row in x: show(x.cpu())", "unknown"),
        ("if not prompt: continue", "show(x.cpu())", "amortized"),
        ("pass", "if prompt: show(x.cpu())", "amortized"),
        ("y = torch.ones(3, device='cuda')", "\n    show(y.cpu())", "cold"),
    ],
)
def test_beside_the_steps_of_another_file_it_runs_once(before: str, behind: str, heat: str) -> None:
    files = {"pkg/__init__.py": "", "pkg/sampling.py": SAMPLING, "run.py": PROGRAM.format(before=before, behind=behind)}
    assert heats_of(files)["run.py"] == heat


def test_what_is_called_in_some_turns_is_not_beside_what_comes_in_each() -> None:
    run = 'denoise(model, torch.zeros(3, device="cuda"), range(50))'
    program = PROGRAM.replace(run, "model(prompt)").format(
        before="pass", behind=f"if prompt % 10 == 0:\n            {run}\n        show(torch.sum(x).cpu())"
    )
    files = {"pkg/__init__.py": "", "pkg/sampling.py": SAMPLING, "run.py": program}
    assert heats_of(files)["run.py"] == "unknown"


TRAINS = """
import torch
from {library} import Trainer


class Ours(Trainer):
    def loss(self, x):
        return x


def fetched(param: torch.Tensor):
    return param.detach().cpu()


def state(named):
    return {{name: fetched(param) for name, param in named}}


def train(model, kind=None):
    trainer = {made}
    {run}
    return state(model.named_parameters())
"""
STARTS = "from pkg.train import train\n\n\nif __name__ == '__main__':\n    train(None, 'fast')\n"


@pytest.mark.parametrize(
    ("library", "made", "run", "heat"),
    [
        ("transformers", "Ours(model=model)", "trainer.train()", "amortized"),
        ("transformers", "Trainer(model=model)", "trainer.train(resume=True)", "amortized"),
        ("lightning", "Trainer(max_epochs=3)", "trainer.fit(model)", "amortized"),
        ("transformers", "Ours(model=model)", "trainer.loss(kind)", "unknown"),
        ("transformers", "make(model)", "model.train()", "unknown"),
    ],
)
def test_what_a_library_trains_takes_the_steps(library: str, made: str, run: str, heat: str) -> None:
    text = TRAINS.format(library=library, made=made, run=run)
    files = {"pkg/__init__.py": "", "pkg/train.py": text, "run.py": STARTS, "pkg/more.py": "", "pkg/other.py": ""}
    assert heats_of(files)["pkg/train.py"] == heat


DRAWN = """
import torch

PARTS = {parts}


def batches(split):
    while True:
        yield torch.tensor(PARTS).to("cuda")


def train(model, opt, steps):
    loader = {drawn}
    for step in range(steps):
        if step % 100 == 0:
            measured = [model(x) for x in batches("val")]
        model(next(loader)).sum().backward()
        opt.step()
        opt.zero_grad()
"""


@pytest.mark.parametrize(("drawn", "heat"), [("batches('train')", "unknown"), ("iter(PARTS)", "amortized")])
def test_what_gives_its_items_one_by_one_runs_as_often_as_these_are_drawn(drawn: str, heat: str) -> None:
    text = DRAWN.format(parts="[3]", drawn=drawn)
    files = {"pkg/__init__.py": "", "pkg/data.py": text, "pkg/more.py": "", "pkg/other.py": "import pkg.data\n"}
    assert heats_of(files)["pkg/data.py"] == heat
    assert heats_of({"data.py": text})["data.py"] == heat


EACH = """
import torch
from torch.utils import data

def score(metrics, dataset, device):
    loader = data.DataLoader(dataset, batch_size=4)
    for x in loader:
        for metric in metrics.values():
            metric.update(x.to(device))
    {last}
"""


@pytest.mark.parametrize(
    ("last", "heat"),
    [
        ("return {name: metric.compute().mean().item() for name, metric in metrics.items()}", "amortized"),
        ("return [metric.compute().mean().item() for metric in metrics.values()]", "amortized"),
        ("return [metrics[name].compute().mean().item() for name in metrics]", "amortized"),
        ("return [metrics.draw(n).mean().item() for n in range(len(dataset))]", "unknown"),
    ],
)
def test_a_comprehension_over_the_items_of_a_dict_behind_the_steps_has_few_turns(last, heat):
    found = findings(EACH.format(last=last))
    assert [one.heat for one in found if one.code == "SG201"] == [heat]
