"""Two instances of one class: each holds what it was made of, be the class of this file or of another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked import findings
from orders import in_any_order

from syncguard import pipeline
from syncguard.config import Config

METER = """
class Meter:
    def __init__(self, values):
        self.values = values

    def above(self):
        return self.values.sum() > 3

    def norm(self):
        return self.values.norm()
{more}"""
USE = """
def of_host():
    a = Meter(torch.zeros(3))
    {more}
    if a.above():
        return 1
    return float(a.norm()) + a.values.mean().item()


def of_device():
    b = Meter(torch.zeros(3, device="cuda"))
    if b.above():  # waits
        return 1
    return float(b.norm()) + b.values.mean().item()  # waits
"""
NORMS = """
def norms():
    a, b = Meter(torch.ones(3)), Meter(torch.ones(3, device="cuda"))
    return [
        float(a.norm()),
        float(b.norm()),  # waits
        float(sum(part.norm() for part in (a, b))),  # waits
    ]
"""
ELSEWHERE = [  # methods that give an instance something else, and what uses them
    ("def take(self, x):\n        self.values = x", "a.take(torch.ones(3, device='cuda'))"),
    ("def take(self, x):\n        self.values = self.values.to(x.device)", "a.take(torch.ones(3, device='cuda'))"),
    ("def cuda(self):\n        return Meter(self.values.cuda())", "a = a.cuda()"),
]


def marked(text: str) -> set[int]:
    return {number for number, line in enumerate(text.split("\n"), 1) if "# waits" in line}


def test_instances_of_a_class_of_this_file_are_told_apart() -> None:
    text = "import torch\n" + METER.format(more="") + USE.format(more="") + NORMS
    assert {finding.site.line for finding in findings(text)} == marked(text)


@pytest.mark.parametrize("use", [USE.format(more=""), USE.format(more="").partition("\n\n\ndef of_device")[0]])
def test_instances_of_a_class_of_another_file_are_told_apart(tmp_path: Path, use: str) -> None:
    use = f"import torch\nfrom meters import Meter\n{use}"
    found = in_any_order(tmp_path, {"meters": METER.format(more=""), "use": use})
    assert {line for name, line, _ in found if name == "use.py"} == marked(use)


@pytest.mark.parametrize(("method", "taken"), ELSEWHERE)
def test_what_is_given_something_else_may_be_on_the_device(method: str, taken: str) -> None:
    text = "import torch\n" + METER.format(more=f"\n    {method}\n") + USE.format(more=taken)
    number = text.split("\n").index("    if a.above():") + 1
    assert number in {finding.site.line for finding in findings(text)}


TRAINER = """import torch
from spikes import Spike

class Trainer:
    def __init__(self, model):
        self.model = model
        self.spike = Spike(10)

    def training_step(self, batch):
        loss = self.model(batch).mean()
        self.spike.update({given})
        if self.spike.spiked():
            print("spike", self.spike.last())
        return loss
"""
SPIKE = """class Spike:
    def __init__(self, limit):
        self.limit = limit
        self.total = None

    def update(self, loss):
        self.total = loss if self.total is None else self.total + loss

    def spiked(self):
        return self.excess() > 0

    def excess(self):
        return self.total - self.limit

    def last(self):
        return self.total
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [("loss.detach()", [(12, "SG204"), (13, "SG206")]), ("loss.item()", [(11, "SG201")]), ("len(batch)", [])],
)
def test_what_a_file_lets_an_instance_keep_is_asked_by_its_methods(
    tmp_path: Path, given: str, expected: list[tuple[int, str]]
) -> None:
    found = in_any_order(tmp_path, {"spikes": SPIKE, "trainer": TRAINER.format(given=given)})
    assert [(line, code) for name, line, code in found if name == "trainer.py"] == expected


def test_what_one_file_lets_it_keep_is_nothing_to_another(tmp_path: Path) -> None:
    files = {
        "spikes": SPIKE,
        "trainer": TRAINER.format(given="loss.detach()"),
        "counter": TRAINER.format(given="len(batch)"),
    }
    assert {name for name, _, _ in in_any_order(tmp_path, files)} == {"trainer.py"}


BUFFER = """
class Buffer:
    def __init__(self, data):
        self.data = data

    def peak(self):
        return float(self.data[0])
"""


@pytest.mark.parametrize(("asked", "waits"), [("here", 0), ("there", 1)])
def test_what_is_on_the_host_is_asked_for_nothing_that_another_object_was_made_with(
    tmp_path: Path, asked: str, waits: int
) -> None:
    (tmp_path / "buffers.py").write_text(BUFFER)
    (tmp_path / "train.py").write_text(
        "import torch\nfrom buffers import Buffer\n\nthere = Buffer(torch.zeros(3, device='cuda'))\n"
        f"here = Buffer(torch.zeros(3))\nfor i in range(100):\n    print({asked}.peak())\n"
    )
    found = pipeline.check([str(tmp_path)], Config(heat="all", cache=False)).findings
    assert len([one for one in found if one.site.path.endswith("buffers.py")]) == waits
