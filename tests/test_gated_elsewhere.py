"""What steps of other files call behind a gate alone runs now and then, as it does where its own file calls it so."""

import pytest
from packaged import found

OPS = """
import torch


def show(x: torch.Tensor):
    return inner(x)


def inner(x: torch.Tensor):
    return x.sum().item()
"""
TRAIN = """
from .ops import show


def train(model, loader, optimizer):
    for step, x in enumerate(loader):
        loss = model(x)
        loss.backward()
        optimizer.step()
        {calls}
"""
SETUP = "from .ops import show\n\n\ndef setup(x):\n    show(x)\n"
OFTEN = "from .ops import show\n\n\ndef other(x):\n    show(x)\n"
GATED = "if step % 100 == 0: show(loss)"


def heat(calls, more=""):
    files = {"pkg/__init__.py": "", "pkg/ops.py": OPS, "pkg/train.py": TRAIN.format(calls=calls), "pkg/more.py": more}
    return found(files)["pkg/ops.py"]


@pytest.mark.parametrize(
    ("calls", "more", "expected"),
    [
        (GATED, "", "amortized"),
        (GATED, SETUP, "amortized"),
        (GATED, OFTEN, "unknown"),
        ("show(loss)", "", "hot"),
        (GATED + "\n        show(x)", "", "hot"),
        ("pass", SETUP, "unknown"),
        (GATED, "from .ops import show\n\n\ndef hook(model):\n    model.register_forward_hook(show)\n", "unknown"),
        (GATED + "\n        model.register_forward_hook(show)", "", "unknown"),
    ],
)
def test_all_calls_must_be_rare(calls, more, expected):
    assert heat(calls, more).heat == expected


def test_the_path_says_so():
    texts = [fact.text for fact in heat(GATED).hot_path]
    assert texts == ["the loop calls `backward`", "but only now and then calls `show`", "calls `inner`"]
