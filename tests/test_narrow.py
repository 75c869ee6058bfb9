"""What a test that joins several tells of a variable where nobody knows which of them failed or held."""

from __future__ import annotations

from functools import partial

import checked
import pytest

from syncguard import pipeline
from syncguard.config import Config

HEAD = """import torch
from collections.abc import Iterable
from torch import Tensor


"""


codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize(
    ("annotation", "test", "use", "found"),
    [
        # Whatever iterable it was has gone: a number is left, and two of it are no list.
        ("tuple[int, int] | int", "isinstance(n, Iterable) and not isinstance(n, str)", "[0] * n", []),
        ("list[Tensor] | Tensor", "isinstance(n, list) and len(n) > 1", "n[0].item()", ["SG201"]),
        ("Tensor | list[float] | None", "n is None or isinstance(n, list)", "n.item()", ["SG201"]),
        ("Tensor | float", "isinstance(n, float) or n is None", "n.item()", ["SG201"]),
    ],
)
def test_where_a_test_fails(annotation: str, test: str, use: str, found: list[str]) -> None:
    assert codes(f"def f(n: {annotation}):\n    if {test}:\n        return\n    return {use}\n") == found


def test_a_tensor_that_was_let_through_stays_one() -> None:
    text = """
def f(n: Tensor | int | None):
    if not isinstance(n, Tensor) and not isinstance(n, int) and n is not None:
        raise ValueError(n)
    print(f"{n}")
"""
    assert codes(text, confidence="possible") == ["SG206"]


def test_one_of_two_that_held() -> None:
    text = """
def f(n: object):
    if isinstance(n, Tensor) or isinstance(n, torch.nn.Parameter):
        return n.item()
"""
    assert codes(text) == ["SG201"]


def test_a_sequence_that_was_made_a_tensor_is_one() -> None:
    text = """
def f(w: list[float] | Tensor | None, x: Tensor):
    if w is not None and not isinstance(w, Tensor):
        w = torch.ones(3, device=x.device)
    return w[x.argsort()] if w is not None else 1.0
"""
    assert codes(text) == []


KEPT = """
def f(model, x: Tensor):
    batch = {"x": x, "model": model}
    for key in batch:
        if not isinstance(batch[key], Tensor):
            %s
            print(batch[key])
"""


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ("pass", []),
        ("other = 'x'", []),
        ("key = 'x'", ["SG206"]),
        ("batch = {key: x}", ["SG206"]),
        ("batch['y'] = x", ["SG206"]),
        ("batch[key] = 3", []),
        ("batch[key] = x", ["SG206"]),
    ],
)
def test_an_item_under_a_name_is_what_a_test_says_until_either_is_bound_anew(between: str, found: list[str]) -> None:
    assert codes(KEPT % between) == found


def test_an_item_that_was_tested_to_be_a_tensor_is_one() -> None:
    text = """
def f(state):
    for key in state:
        if isinstance(state[key], torch.Tensor):
            state[key] = state[key].cpu()
            print(state[key])
    return [state[k].tolist() if torch.is_tensor(state[k]) else state[k] for k in state]
"""
    assert codes(text) == ["SG202", "SG202"]


WRAPPED = """
def told(model: torch.nn.Module, x):
    if isinstance(model, {kinds}):
        model = model.module
    if model(x).sum() > 0:  # waits
        return 1
"""


@pytest.mark.parametrize(
    "kinds",
    ["torch.nn.DataParallel", "(torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)"],
)
def test_what_is_one_of_several_modules_is_a_module(kinds: str) -> None:
    assert codes(WRAPPED.format(kinds=kinds)) == ["SG204"]
    layer = "def told(layer):\n    if isinstance(layer, (torch.nn.Linear, torch.nn.Conv2d)):\n"
    assert codes(layer + "        return layer.weight.sum().item()\n") == ["SG201"]
    assert codes(layer + "        return 1 if layer.stride[0] > 1 else 0\n") == []


def test_a_wrapper_keeps_the_module_that_it_is_made_of() -> None:
    text = """
class Mask(torch.nn.Module):
    def forward(self, x):
        return x > 0

def told(x: Tensor, other: torch.nn.DataParallel):
    mask = torch.nn.DataParallel(Mask().cuda())
    if other.module(x).sum() > 0:
        return x
    return x[mask.module(x)]
"""
    assert codes(text) == ["SG204", "SG102"]


SHOWN = """
import numpy as np

def listed(value):
    if isinstance(value, (list, tuple)):
        return [listed(item) for item in value]
    if isinstance(value, (Tensor, np.ndarray)):
        return value.tolist()

def shown(value):
    if isinstance(value, float):
        value = f"{value:.2f}"
    if isinstance(value, (Tensor, np.ndarray)):
        return f"<{value}>"

def told(value: float | Iterable[float]):
    if isinstance(value, (Tensor, np.ndarray)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return float(value[0])
    return float(value)
"""


def test_what_is_one_of_several_types_may_hold_anything() -> None:
    assert codes(SHOWN) == ["SG202", "SG206"]


def test_a_list_of_tensors_is_no_number() -> None:
    text = """
def rates(optimizer: torch.optim.Optimizer, name: str):
    return [float(group[name]) for group in optimizer.param_groups]

def first(optimizer: torch.optim.Optimizer):
    return [float(group["params"][0]) for group in optimizer.param_groups]
"""
    assert codes(text) == ["SG203"]


def test_a_kind_that_one_of_two_outcomes_names_is_not_all_that_is_left() -> None:
    text = """
def told(x, rows):
    if isinstance(x, (tuple, list)) and type(x) != torch.nn.Linear:
        return
    return 1 if x(rows) > 0 else 0
"""
    assert codes(text) == []
    sure = text.replace("isinstance(x, (tuple, list)) and ", "")
    assert codes(sure) == ["SG204"]


EACH = """
def f(xs: list[Tensor] | list[float], a: Tensor | float, b: Tensor | float):
    if {test}:
        raise TypeError
    return {use}
"""


@pytest.mark.parametrize(
    ("test", "use", "found"),
    [
        ("not all(isinstance(x, float) for x in xs)", "int(xs[0])", []),
        ("any(not isinstance(x, float) for x in xs)", "int(xs[0])", []),
        ("any(isinstance(x, Tensor) for x in xs)", "int(xs[0])", []),
        ("any(torch.is_tensor(x) for x in xs)", "[int(x) for x in xs]", []),
        ("not all([isinstance(x, (int, float)) for x in xs])", "int(xs[0])", []),
        ("len(xs) < 2 or not all(isinstance(x, float) for x in xs)", "int(xs[0])", []),
        ("any(torch.is_tensor(x) for x in (a, b))", "int(a) + int(b)", []),
        ("not all(isinstance(x, float) for x in [a, b])", "int(a) + int(b)", []),
        # Some of them may be, or those are not all that there are, or it is asked of others.
        ("not any(isinstance(x, float) for x in xs)", "int(xs[0])", ["SG203"]),
        ("all(isinstance(x, Tensor) for x in xs)", "int(xs[0])", ["SG203"]),
        ("not all(isinstance(x, float) for x in xs if x is not a)", "int(xs[0])", ["SG203"]),
        ("not all(isinstance(a, float) for x in xs)", "int(xs[0])", ["SG203"]),
        ("not all(isinstance(x, float) for x in xs[1:])", "int(xs[0])", ["SG203"]),
        ("any(torch.is_tensor(x) for x in (a,))", "int(b)", ["SG203"]),
        ("not all(isinstance(x, Tensor) for x in xs)", "int(xs[0])", ["SG203"]),
    ],
)
def test_what_is_asked_of_each_item(test: str, use: str, found: list[str]) -> None:
    assert codes(EACH.format(test=test, use=use), confidence="possible") == found


REGIONS = """
class Region:
    def holds(self, point):
        raise NotImplementedError

class Box(Region):
    def __init__(self, low):
        self.low = low

    def holds(self, point: Tensor):
        return (point > self.low).all()

class Both(Region):
    def __init__(self, regions):
        {test}
        self.regions = regions

    def holds(self, point: Tensor):
        return all(one.holds(point) for one in self.regions)
"""


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("if not all(isinstance(one, Region) for one in regions):\n            raise TypeError", ["SG204"]),
        ("assert all(isinstance(one, Region) for one in regions)", ["SG204"]),
        ("if not any(isinstance(one, Region) for one in regions):\n            raise TypeError", []),
        ("if not all(isinstance(one, int) for one in regions):\n            raise TypeError", []),
        ("assert len(regions)", []),
    ],
)
def test_what_is_asked_of_each_item_of_anything_tells_what_it_holds(test: str, found: list[str]) -> None:
    assert codes(REGIONS.format(test=test)) == found


def test_what_was_asked_of_each_item_is_told_of_those_that_were_there() -> None:
    text = EACH.format(test="not all(isinstance(x, float) for x in xs)", use="int(xs[0])")
    assert codes(text.replace("    return", "    xs.append(a)\n    return"), confidence="possible") == ["SG203"]
    assert codes(text.replace("    return", "    xs = [a]\n    return"), confidence="possible") == ["SG203"]


@pytest.mark.parametrize("given", ["", "first(Left(x))", "first(Left(x)), first(x.kept)"])
def test_a_kind_that_one_of_several_tests_names_is_believed_where_a_caller_gives_what_nobody_knows(given: str) -> None:
    text = f"""
class Left:
    def __init__(self, x: Tensor):
        self.x = x

class Right:
    def __init__(self, x: Tensor):
        self.y = x

def first(of):
    assert isinstance(of, Left) or isinstance(of, Right)
    if isinstance(of, Left):
        return 1
    return int(of.y)

def both(x: Tensor):
    return {given or None}
"""
    assert codes(text) == ([] if given == "first(Left(x))" else ["SG203"])


@pytest.mark.parametrize(
    ("check", "found"),
    [("assert False", []), ("assert 0, 'not yet'", []), ("assert True", ["SG204"]), ("assert x.dim() > 1", ["SG204"])],
)
def test_behind_what_is_never_so_nothing_runs(check: str, found: list[str]) -> None:
    text = f"import torch\n\n\ndef f(x: torch.Tensor):\n    {check}\n    if x.sum() > 0:\n        return x\n"
    assert [one.code for one in pipeline.check(["-"], Config(heat="all", cache=False), text).findings] == found
