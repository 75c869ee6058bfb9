"""What the text around a value of which nothing is known tells of it: each program waits where it says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config

HEAD = """\
import numpy as np
import torch
"""
PROGRAMS = {
    "a loss is given to backward": """
def step(accelerator, run, batch):
    found = run(batch)
    accelerator.backward(found)
    return np.mean([found.item()])  # sync: SG201
""",
    "what a class of that name is given is no loss": """
class Scale:
    @staticmethod
    def backward(given):
        return given


def step(run, batch):
    found = run(batch)
    Scale.backward(found)
    return np.mean([found.item()])
""",
    "a number read from what is called a loss": """
def step(run, batch):
    loss = run(batch)
    return np.float32(loss.item())  # sync: SG201
""",
    "a loss that is moved may be a module": """
def store(self):
    np.save("nothing", 1)
    self.perceptual_loss.cpu()
""",
    "what is frozen may be a module, whose parts have names": """
def linear_names(load, kind):
    model = load()
    model.requires_grad_(False)
    found = set()
    for name, module in model.named_modules():
        if isinstance(module, kind):
            found.add(name.split(".")[-1])
    if "lm_head" in found:
        found.remove("lm_head")
    return found
""",
    "what has parameters is a module, whatever else it is asked for": """
def shrink(load):
    model = load()
    norms = [p.norm() for p in model.parameters()]
    if model.sigmoid or model == norms:
        return model
""",
    "a function that computes with no array, in a file that does": """
def total(parts):
    return sum(part.item() for part in parts)  # sync: SG201


def mean(rows):
    return np.mean(rows)
""",
    "reductions, where a function computes with torch": """
def settle(state):
    if state.mask.any():  # sync: SG204
        return torch.zeros(3)
    return int(state.lengths.max())  # sync: SG203


def mean(rows):
    return np.mean(rows)
""",
    "reductions that arrays have too": """
def settle(state):
    if state.mask.any():
        return 3
    return int(state.lengths.max())


def mean(rows):
    return np.mean(rows)
""",
    "a list that arrays have too": """
def words(self):
    return self.stop_words[0].tolist()


def mean(rows):
    return np.mean(rows)
""",
    "a cast that goes on as no module does": """
def norms(parts):
    return np.array([part.data.float().norm(2).item() for part in parts])  # sync: SG201
""",
    "a module that is cast": """
def prepare(parts):
    return np.array([part.float().eval().item() for part in parts])
""",
    "an attribute that is None until somebody sets it": """
class State:
    def __init__(self):
        self.index: torch.Tensor = None
        self.other = None

    def first(self):
        return np.array(self.index[0].item())  # sync: SG201

    def second(self):
        return np.array(self.other[0].item())
""",
    "an attribute that is set to what is on the host": """
class Node:
    def __init__(self):
        self.key: torch.Tensor | None = None


def grow():
    node = Node()
    node.key = torch.zeros(3, device="cpu")
    return node


class Tree(Node):
    def first(self):
        return np.array(self.key[0].item())


def share(node: Node):
    return np.array(node.key[0].item())
""",
    "a tensor has item": """
def number(value):
    if hasattr(value, "item"):
        return value.item()  # sync: SG201
    return value[0] if hasattr(value, "__getitem__") else value


def log(x: torch.Tensor):
    count = number((x > 0).sum())
    return 1 if count > 3 else np.pi
""",
    "a number or a tensor is sent": """
def returns(gamma: torch.Tensor | float, reward: torch.Tensor):
    return np.pi * torch.tensor([gamma], device=reward.device)  # sync: SG302
""",
    "a list is repeated": """
def pad(lengths: torch.Tensor, most):
    return np.array([[0] * n for n in lengths])  # sync: SG203


def scale(x: torch.Tensor, parts: tuple[torch.Tensor]):
    return np.pi, parts * x
""",
    "a scaler is known by what it is asked for": """
class Optimizer:
    def __init__(self, optimizer, scaler=None):
        self.scaler, self.optimizer = scaler, optimizer

    def step(self):
        if self.scaler is not None:
            before = self.scaler.get_scale()  # sync: SG504
            return np.array(before)


def fit(scaler, rows):
    return np.array(scaler.fit(rows).transform(rows))
""",
    "an attribute that is None at first": """
class Head:
    def __init__(self, mask=None):
        self.mask = mask

    def share(self):
        return np.array(self.mask.unsqueeze(0).sum().item())  # sync: SG201
""",
    "torchtyping": """
from torchtyping import TensorType


def some(valid: TensorType["rays"]):
    return np.pi if valid.any() else 0.0  # sync: SG204


class Rays(TensorType["rays", 3]):
    pass


def there(rays: Rays, valid: Rays):
    return rays[valid[:, 0] > 0]  # sync: SG102
""",
    "parts of a batch": """
def feed(model, batch, device):
    batch = {name: part.to(device) for name, part in batch.items()}  # sync: SG301
    return np.pi, model(**batch)


def put(model, batch, device):
    for name in batch:
        batch[name] = batch[name].to(device)  # sync: SG301
    return np.pi, model(**batch)


def train(model, loader, device):
    for rows in loader:
        model(**{name: part.to(device) for name, part in rows.items()}).loss.backward()  # sync: SG301
""",
    "modules of a list": """
def place(modules, device):
    return [module.to(device) for module in modules]
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_it_waits_where_it_says(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = HEAD + program
    Path("program.py").write_text(text)
    report = pipeline.check(["program.py"], Config(root=os.getcwd(), cache=False, heat="all"))
    marks = {(n, line.split("# sync: ")[1]) for n, line in enumerate(text.split("\n"), 1) if "# sync: " in line}
    assert {(finding.site.line, finding.code) for finding in report.findings} == marks


@pytest.mark.parametrize(
    ("imports", "codes"),
    [
        ("import torch", ["SG204", "SG204"]),
        ("from .core import grid", ["SG204", "SG204"]),
        ("import math\nimport weakref", []),
        ("import math\nfrom collections import deque", []),
        ("", []),
    ],
)
def test_words_of_anybody_prove_nothing_where_nothing_but_python_is_imported(imports, codes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = "def near(a, b, end):\n    if a.dist(b) > 3 or end.detach() is None or not end.detach():\n        end()\n"
    text = f"{imports}\n\n\n{body}"
    Path("program.py").write_text(text)
    report = pipeline.check(["program.py"], Config(root=os.getcwd(), cache=False, heat="all"))
    assert [finding.code for finding in report.findings] == codes


def test_a_height_is_no_conjugate_transpose(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(
        "import torch\n\n\ndef rays(cfg):\n    return torch.zeros(cfg.H * cfg.W) if cfg.H > 3 else cfg\n"
    )
    assert not pipeline.check(["program.py"], Config(root=os.getcwd(), cache=False, heat="all")).findings
