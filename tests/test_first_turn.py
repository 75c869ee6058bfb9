"""What is None before a loop of steps is filled in its first turn."""

import textwrap

import pytest
from checked import findings

from syncguard import pipeline
from syncguard.config import Config

GATHERED = """
import torch


def gathered(model, loader: torch.utils.data.DataLoader):
    {before}
    for batch in loader:
        out = model(batch)
        {test}
            kept = out.cpu()
        else:
            {more}
    return kept
"""


def heat(before: str = "kept = None", test: str = "if kept is None:", more: str = "kept = torch.cat([kept, 1])") -> str:
    text = textwrap.dedent(GATHERED).format(before=before, test=test, more=more)
    config = Config(heat="all", stdin_filename="example.py")
    (found,) = [f for f in pipeline.check(["-"], config, text).findings if "out.cpu()" in f.message]
    return found.heat


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "amortized"),
        ({"test": "if not kept is not None:"}, "amortized"),
        ({"test": "if kept is not None:"}, "hot"),
        ({"more": "kept = None"}, "hot"),
        ({"before": "kept = torch.zeros(1)"}, "hot"),
        ({"test": "if other is None:", "before": "other = None"}, "hot"),
        ({"before": "kept = start()\n    show(kept)\n    kept = None"}, "amortized"),
        ({"before": "kept = None\n    kept = start()"}, "hot"),
        ({"before": "kept = start()\n    if again():\n        kept = None"}, "hot"),
        ({"before": "first = True", "test": "if first:\n            first = False"}, "amortized"),
        ({"before": "begun = False", "test": "if not begun:\n            begun = True"}, "amortized"),
        ({"before": "first = True", "test": "if first:\n            first = more()"}, "hot"),
        ({"before": "first = True", "test": "if first:"}, "hot"),
        ({"before": "first = False", "test": "if first:\n            first = False"}, "hot"),
        ({"before": "first = True", "test": "if first:\n            first = False", "more": "first = True"}, "hot"),
        ({"before": "done = 0", "test": "done += 1\n        if done == 1:"}, "hot"),
        ({"before": "done = 0", "test": "if done == 0:", "more": "pass\n        done += 1"}, "amortized"),
        ({"before": "done = 0", "test": "if done != 0:", "more": "pass\n        done += 1"}, "hot"),
        ({"before": "done = 0", "test": "if done == 0:", "more": "done += 1"}, "hot"),
        ({"before": "done = 0", "test": "if done == 0:", "more": "pass\n        done = 0"}, "hot"),
        ({"before": "done = start()", "test": "if done == 0:", "more": "pass\n        done += 1"}, "hot"),
    ],
)
def test_what_is_not_there_yet_is_filled_in_the_first_turn(settings: dict[str, str], expected: str) -> None:
    assert heat(**settings) == expected


def test_each_call_of_what_runs_at_every_step_has_a_first_turn() -> None:
    text = textwrap.dedent(GATHERED).format(before="kept = None", test="if kept is None:", more="kept = kept + 1")
    text = text.replace("def gathered", "class Net(torch.nn.Module):\n  def forward").replace(
        "(model,", "(self, model,"
    )
    text = text.replace("loader: torch.utils.data.DataLoader", "layers").replace("loader", "layers")
    text = text.replace("\n    ", "\n      ")
    config = Config(heat="all", stdin_filename="example.py")
    assert {f.heat for f in pipeline.check(["-"], config, text).findings if "out.cpu()" in f.message} == {"hot"}


REFINED = """
import torch


@torch.no_grad()
def refine(model, x, n):
    first = True
    for i in range(n):
        x = model(x)
        {test}
    return x


def train(model, loader: torch.utils.data.DataLoader, optimizer, epochs):
    for epoch in range(epochs):
        {epoch}
        for x in loader:
            {turn}
            model(x).sum().backward()
            optimizer.step()
"""
FLAG = "if first:\n            first = False\n            x.max().item()"
LAST = "if x.shape[0] < n:\n            x.max().item()\n            break"


@pytest.mark.parametrize(
    ("test", "parts", "expected"),
    [
        (FLAG, {"turn": "refine(model, x, 9)"}, "hot"),
        (LAST, {"turn": "refine(model, x, 9)"}, "hot"),
        (FLAG, {"turn": "if x.is_cuda: refine(model, x, 9)"}, "hot"),
        (FLAG, {"turn": "if epoch % 9 == 0: refine(model, x, 9)"}, "amortized"),
        (FLAG, {"epoch": "refine(model, loader, 9)"}, "amortized"),
        (LAST, {"epoch": "refine(model, loader, 9)"}, "amortized"),
        (LAST, {}, "amortized"),
    ],
)
def test_each_step_may_have_a_first_turn(test: str, parts: dict[str, str], expected: str) -> None:
    text = REFINED.format(test=test, **{"turn": "pass", "epoch": "pass", **parts})
    config = Config(heat="all", stdin_filename="example.py")
    (found,) = [f for f in pipeline.check(["-"], config, text).findings if "item()" in f.message]
    assert found.heat == expected


PARTS = """
import torch


def train(model: torch.nn.Linear, loader, opt):
    model.cuda()
    {outer}
        n = 0
        for part in batch.cuda(non_blocking=True).split(4):
            loss = model(part).mean()
            loss.backward()
            if n == 0:
                print(loss.item())
            n += 1
            {inner}
        {step}
"""


def test_a_count_that_each_step_sets_back_is_of_no_first_turn() -> None:
    steps = PARTS.format(outer="for batch in loader:", inner="pass", step="opt.step()")
    epochs = PARTS.format(outer="for epoch in range(3):", inner="opt.step()", step="pass")
    epochs = epochs.replace("batch.cuda(non_blocking=True).split(4)", "loader")
    assert [one.heat for one in findings(steps) if one.code == "SG201"] == ["hot"]
    assert [one.heat for one in findings(epochs) if one.code == "SG201"] == ["amortized"]
