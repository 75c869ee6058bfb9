"""A short function of another file that is no more than a name for a wait: told where it is called, and why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config

WRAPPERS = """\
import torch


def sync_now(device_type=None):
    if device_type is None:
        device_type = "cuda"
    getattr(torch, device_type, torch.cuda).synchronize()


def settle():
    if torch.cuda.is_available():
        sync_now()


def to_float(value):
    return value.item() if isinstance(value, torch.Tensor) else value


def debug_sync(flag):
    if flag:
        torch.cuda.synchronize()


def largest(x: torch.Tensor):
    if x.max() > 3:
        x = x / x.max()
    return x


def keep(xs, x: torch.Tensor):
    xs.append(x.tolist())


def everything(x):
    total = 0.0
    for part in x:
        total += part.item()
    return total


def number(value):
    if torch.is_tensor(value) and value.device.type == "xla":
        return value.detach()
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "__getitem__"):
        return value[0]
    return value
"""
HEAD = """\
import torch
from torch import nn
from ops import debug_sync, everything, keep, largest, number, settle, sync_now, to_float


class Net(nn.Module):
    def forward(self, x):
"""


@pytest.fixture
def found(tmp_path, monkeypatch):
    """What is found in a module whose forward has this one statement, with all files given or the module alone."""
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[project]\nname = 'p'\n")
    Path("ops.py").write_text(WRAPPERS)

    def of(statement: str, *more: str):
        Path("net.py").write_text(f"{HEAD}        {statement}\n        return x\n")
        report = pipeline.check(["net.py", *more], Config(root=os.getcwd(), cache=False, heat="all"))
        return [finding for finding in report.findings if finding.site.path == "net.py"]

    return of


@pytest.mark.parametrize(
    ("statement", "code", "line"),
    [
        ("sync_now()", "SG401", 7),
        ("settle()", "SG401", 12),
        ("mean = to_float(x.mean())", "SG201", 16),
        ("mean = number(x.mean())", "SG201", 45),
    ],
)
def test_a_call_of_a_wrapper_waits(found, statement, code, line):
    (finding,) = found(statement)
    assert (finding.code, finding.heat, finding.site.line) == (code, "hot", 8)
    assert any(fact.path == "ops.py" and fact.line == line for fact in finding.because)
    assert found(statement, "ops.py") == [finding]


@pytest.mark.parametrize(
    "statement",
    [
        "debug_sync(self.training)",  # it may not wait
        "x = largest(x)",  # it computes; told where it does
        "keep(self.seen, x)",
        "total = everything(x)",  # long enough to be told for itself
        "mean = to_float(3.0)",
        "mean = number(3.0)",
        "mean = number([x.mean()])",
        "mean = to_float(x.cpu().mean())  # syncguard: allow[SG202] the copy",
    ],
)
def test_calls_of_what_is_no_mere_wrapper_are_not_told(found, statement):
    assert found(statement) == []


STRUCTURE = """\
import torch


class Boxes:
    def __init__(self, tensor: torch.Tensor):
        self.tensor = tensor

    def to(self, device):
        return Boxes(self.tensor.to(device))

    def __getitem__(self, item):
        if isinstance(item, int):
            return Boxes(self.tensor[item].view(1, -1))
        return Boxes(self.tensor[item])


def doubled(x, least=0):
    return x[least < x]
"""
USER = """\
import torch
from boxes import Boxes, doubled


def proposals(x: torch.Tensor):
    boxes = Boxes(x)
    first, some = boxes[0], boxes[1:3]
    finite = torch.isfinite(boxes.tensor).all(dim=1)
    return boxes[finite], first, some


def more(x: torch.Tensor):
    return doubled(x)
"""


def test_what_only_the_caller_can_see_is_told_at_the_call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[project]\nname = 'p'\n")
    Path("boxes.py").write_text(STRUCTURE)
    Path("user.py").write_text(USER)
    report = pipeline.check(["."], Config(root=os.getcwd(), cache=False, heat="all"))
    assert [(f.site.path, f.site.line, f.code) for f in report.findings] == [
        ("user.py", 9, "SG102"),
        ("user.py", 13, "SG102"),
    ]
    assert [f.because[-1].line for f in report.findings] == [14, 18]


@pytest.mark.parametrize(
    ("waits", "named"),
    [
        ("x.item()", "x.mean()"),
        ("x.detach().view(-1).cpu()", "x.mean()"),
        ("x.argmax().item()", "net.read(x.mean())"),
        ("(x + 1).sum().item()", "net.read(x.mean())"),
    ],
)
def test_what_is_named_is_what_the_call_waits_for(tmp_path, monkeypatch, waits, named):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[project]\nname = 'p'\n")
    Path("net.py").write_text(f"import torch\n\n\ndef read(x):\n    return {waits}\n")
    Path("use.py").write_text("import net\nimport torch\n\n\ndef f(x: torch.Tensor):\n    return net.read(x.mean())\n")
    report = pipeline.check(["use.py"], Config(root=os.getcwd(), cache=False, heat="all"))
    (finding,) = report.findings
    assert finding.message.startswith("`net.read(x.mean())`")
    assert f" `{named}`" in finding.message
