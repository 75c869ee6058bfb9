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
    train = TRAIN.format(calls=calls) if calls else ""
    files = {"pkg/__init__.py": "", "pkg/ops.py": OPS, "pkg/train.py": train, "pkg/more.py": more}
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


HOOKS = """
from .ops import show


class Hooks:
    def {name}(self):
        {call}
"""


@pytest.mark.parametrize(
    ("name", "call", "expected"),
    [
        ("after_epoch", "show(self.loss)", "amortized"),
        ("after_epoch", "if self.shown: show(self.loss)", "amortized"),
        ("on_train_epoch_end", "show(self.loss)", "amortized"),
        ("after_iter", "show(self.loss)", "unknown"),
        ("after_epoch", "self.register(show)", "unknown"),
    ],
)
def test_what_the_end_of_an_epoch_calls(name, call, expected):
    assert heat("", HOOKS.format(name=name, call=call)).heat == expected


def test_what_the_end_of_an_epoch_and_others_call():
    hooks = HOOKS.format(name="after_epoch", call="show(self.loss)")
    assert heat("", hooks + "\n\ndef other(x):\n    show(x)\n").heat == "unknown"
    assert heat("show(loss)", hooks).heat == "hot"
