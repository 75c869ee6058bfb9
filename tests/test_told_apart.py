"""What a function of another file does for one caller is not taken for what it does for the next."""

from __future__ import annotations

import pytest
from orders import in_any_order

LIBRARY = """\
import torch


def move(x, device):
    return x.to(device)


def placed(x: torch.Tensor, device: str = "cuda") -> torch.Tensor:
    return x.to(device)


def put(x: torch.Tensor, where: str | torch.device = "cuda"):
    return [x.to(where)]


def pick(parts, key):
    return parts[key]


def first(parts):
    return parts[0].to(parts[1])


def step(size, call, device):
    there = torch.ones(size, device=device)

    def run():
        return call(there)

    return timed(run)


def timed(step):
    return step()


def through(call, x):
    y = call(x)
    return y + 1
"""
HEAD = "import torch\nfrom functools import partial\nfrom library import *\n\n\n"


@pytest.mark.parametrize(
    ("host", "device"),
    [
        ('move(x, "cpu")', 'move(x, "cuda")'),
        ('placed(x, "cpu")', "placed(x)"),
        ('placed(x, device="cpu")', 'placed(x, device="cuda:1")'),
        ('put(x, torch.device("cpu"))[0]', 'put(x, torch.device("cuda"))[0]'),
        ('first((x, "cpu"))', 'first((x, "cuda"))'),
        ('pick({"a": x.cpu(), "b": x}, "a")', 'pick({"a": x.cpu(), "b": x}, "b")'),
        ('through(partial(move, device="cpu"), x)', 'through(partial(move, device="cuda"), x)'),
    ],
)
def test_texts_tell_apart_who_calls(tmp_path, monkeypatch, host, device):
    """A read of what one caller has on the host is no wait, whoever called first for the device."""
    monkeypatch.chdir(tmp_path)
    files = {"library": LIBRARY}
    for name, made in (("host", host), ("there", device)):
        files[name] = f"{HEAD}def f(x: torch.Tensor):\n    y = {made}\n    return y.item()\n"
    found = in_any_order(tmp_path, files)
    assert [line for line in found if line[2] == "SG201"] == [("there.py", 8, "SG201")]


def test_a_function_in_a_function_of_another_file_is_another_one_for_each_caller(tmp_path, monkeypatch):
    """`run` keeps what `step` was given: what is called through it is called for both."""
    monkeypatch.chdir(tmp_path)
    files = {"library": LIBRARY}
    for name in ("one", "two"):
        files[name] = (
            f"{HEAD}def f():\n    def call(x):\n        return x.sum().item()\n\n    return step(3, call, 'cuda')\n"
        )
    found = in_any_order(tmp_path, files)
    assert found == [("one.py", 8, "SG201"), ("two.py", 8, "SG201")]


def test_a_caller_that_names_the_cpu_has_it_there_though_others_name_none(tmp_path, monkeypatch):
    """Of one file, too, whose functions are run once for all of their callers."""
    monkeypatch.chdir(tmp_path)
    calls = ['placed(x, "cpu")', "placed(x)", 'put(x, torch.device("cpu"))[0]', 'put(x, "cuda")[0]']
    text = LIBRARY + "".join(
        f"\n\ndef f{n}(x: torch.Tensor):\n    y = {call}\n    return y.item()\n" for n, call in enumerate(calls)
    )
    first = text[: text.index("def f0")].count("\n") + 3
    found = in_any_order(tmp_path, {"one": text})
    assert [line - first for _, line, code in found if code == "SG201"] == [5, 15]


def test_the_call_that_names_the_cpu_is_told_of_the_copy(tmp_path, monkeypatch):
    """The line that copies does so for this caller alone, and what reads the copy waits no more."""
    monkeypatch.chdir(tmp_path)
    text = (
        'import torch\n\n\ndef moved(x: torch.Tensor, device: str = "cuda"):\n    return x.to(device) * 2\n\n\n'
        'def a(model, x: torch.Tensor):\n    y = moved(model(x).relu(), "cpu")\n    return y.sum().item()\n\n\n'
        "def b(x: torch.Tensor):\n    return moved(x).item()\n"
    )
    assert in_any_order(tmp_path, {"one": text}) == [("one.py", 9, "SG202"), ("one.py", 14, "SG201")]
