"""The same question asked twice: what the first answer bound is what the second finds."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import torch
from torch import Tensor, nn


class Block(nn.Module):
    def forward(self, x: Tensor, mask: Tensor | None = None, mode: str = "", sizes: int | list = 1):
        n = x.shape[0]
        """

codes = partial(checked.codes, head=HEAD)


def lines(*text: str) -> str:
    return "\n        ".join(text)


@pytest.mark.parametrize(
    "test",
    [
        "mask is not None",
        "mask != None",
        "mode == 'packed'",
        "mode != 'packed'",
        "isinstance(sizes, list)",
        "not isinstance(sizes, list)",
        "mode",
        "self.packs",
        "self.packs is None",
        "n > 4",
    ],
)
def test_an_answer_holds_as_long_as_what_was_asked_is_the_same(test: str) -> None:
    once = lines(f"if {test}:", "    n_kept = x.sum()", "else:", "    n_kept = x.shape[1]", "x = x + 1")
    assert codes(lines(once, f"if not ({test}):", "    return x[:n_kept]")) == []
    assert codes(lines(once, f"if {test}:", "    return x[:n_kept]")) == ["SG108"]
    assert codes(lines(once, "return x[:n_kept]")) == ["SG108"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("mask is not None", "mask is None"),
        ("mode == 'packed'", "mode != 'packed'"),
        ("n > 4", "n <= 4"),
        ("n < 4", "n >= 4"),
        ("mode in ('a', 'b')", "mode not in ('a', 'b')"),
    ],
)
def test_the_opposite_question_has_the_opposite_answer(first: str, second: str) -> None:
    once = lines(f"if {first}:", "    n_kept = x.sum()", "else:", "    n_kept = x.shape[1]", "x = x + 1")
    assert codes(lines(once, f"if {second}:", "    return x[:n_kept]")) == []
    assert codes(lines(once, f"if {second}:", "    pass", "else:", "    return x[:n_kept]")) == ["SG108"]


@pytest.mark.parametrize(
    "between",
    [
        "mask = None if n > 4 else mask",
        "mask = self.masked(x)",
        "n_kept = x.sum() if n > 4 else 3",
        "for mask in self.masks: pass",
        "with self.masked(x) as mask: pass",
        "mask, other = self.masked(x)",
    ],
)
def test_what_is_bound_anew_is_asked_anew(between: str) -> None:
    once = lines("if mask is not None:", "    n_kept = x.sum()", "else:", "    n_kept = x.shape[1]", between)
    assert codes(lines(once, "if mask is None:", "    return x[:n_kept]")) == ["SG108"]


def test_what_the_next_turn_of_a_loop_binds_is_asked_anew() -> None:
    text = lines(
        "n_kept = 3",
        "for mask in self.masks:",
        "    if mask is None:",
        "        x = x[:n_kept]",
        "    if mask is not None:",
        "        n_kept = x.sum()",
        "    else:",
        "        n_kept = 3",
    )
    assert codes(text) == ["SG108"]


def test_what_a_walrus_binds_is_asked_anew() -> None:
    once = lines("if mask is not None:", "    n_kept = x.sum()", "else:", "    n_kept = x.shape[1]")
    assert codes(lines(once, "if (mask := self.masked(x)) is None:", "    return x[:n_kept]")) == ["SG108"]


def test_calls_are_asked_anew() -> None:
    once = lines("if self.packs():", "    n_kept = x.sum()", "else:", "    n_kept = x.shape[1]")
    assert codes(lines(once, "if not self.packs():", "    return x[:n_kept]")) == ["SG108"]


def test_elements_of_a_tensor_are_no_answer() -> None:
    """What is compared element by element may be written to between the questions."""
    once = lines("if x.shape[0] > 4:", "    n_kept = x.sum()", "else:", "    n_kept = x.shape[1]", "x = x[0]")
    assert codes(lines(once, "if x.shape[0] <= 4:", "    return x[:n_kept]")) == ["SG108"]


@pytest.mark.parametrize(
    ("first", "tensor", "other", "second"),
    [
        ("mask is None", "n_kept = x.sum()\n            mask = x > 0", "n_kept = 3", "mask is not None"),
        ("not mode", "n_kept = x.sum()\n            mode = 'a'", "n_kept = 3", "mode"),
        ("x.dtype == torch.half", "n_kept = x.sum()\n            x = x.float()", "n_kept = 3", "x.dtype != torch.half"),
        (
            "self.scale is None",
            "n_kept = x.sum()\n            self.calibrate(x)",
            "n_kept = 3",
            "self.scale is not None",
        ),
        (
            "mode not in self.seen",
            "n_kept = x.sum()\n            self.seen[mode] = 1",
            "n_kept = 3",
            "mode in self.seen",
        ),
        ("sizes.length == 0", "n_kept = x.sum()\n            sizes.update(x)", "n_kept = 3", "sizes.length != 0"),
        ("sizes", "n_kept = 3", "n_kept = x.sum()\n            sizes.append(3)", "sizes"),
        ("mode is False", "n_kept = 3", "n_kept = x.sum()", "not mode"),
        ("mode is True", "n_kept = 3", "n_kept = x.sum()", "mode"),
    ],
)
def test_an_arm_may_change_the_answer(first: str, tensor: str, other: str, second: str) -> None:
    text = lines(
        f"if {first}:", f"    {tensor}".replace("\n            ", "\n            "), "else:", f"    {other}",
        f"if {second}:", "    return x[:n_kept]",
    )  # fmt: skip
    scale = "\n\n    def fit(self, x):\n        self.scale = 3\n"
    assert codes(text + scale) == ["SG108"]


def test_a_function_in_this_one_may_change_the_answer() -> None:
    text = lines(
        "def drop():",
        "    nonlocal mask",
        "    mask = None",
        "if mask is not None:",
        "    n_kept = x.sum()",
        "else:",
        "    n_kept = 3",
        "drop()",
        "if mask is None:",
        "    return x[:n_kept]",
    )
    assert codes(text) == ["SG108"]


def test_what_is_false_does_not_hold() -> None:
    once = lines("if mode:", "    n_kept = x.sum()", "else:", "    n_kept = 3")
    assert codes(lines(once, "if mode is False:", "    return x[:n_kept]")) == []
    assert codes(lines(once, "if mode is not False:", "    return x[:n_kept]")) == ["SG108"]


@pytest.mark.parametrize("between", ["def mask(): ...", "class mask: ...", "import mask", "from x import y as mask"])
def test_what_is_defined_anew_is_asked_anew(between: str) -> None:
    once = lines("if mask is None:", "    n_kept = x.sum()", "else:", "    n_kept = x.shape[1]", between)
    assert codes(lines(once, "if mask is not None:", "    return x[:n_kept]")) == ["SG108"]


MODE = """import torch
FAST = False

def toggle():
    global FAST
    FAST = not FAST

class Net(torch.nn.Module):
    def freeze(self):
        self.eval()

    def count(self):
        return 3

    def forward(self, x: torch.Tensor):
        if {asked}:
            n = x.sum()
        else:
            n = x.shape[1]
        {between}
        if not {asked}:
            x = x[:n]
        return x
"""


@pytest.mark.parametrize(
    ("asked", "between", "found"),
    [
        ("self.training", "x = torch.relu(x)", []),
        ("self.training", "x = x * self.count()", []),
        ("self.training", "self.net.eval()", []),
        ("self.training", "self.eval()", ["SG108"]),
        ("self.training", "self.train(x.shape[0] > 3)", ["SG108"]),
        ("self.training", "self.freeze()", ["SG108"]),
        ("self.net.training", "self.net.eval()", ["SG108"]),
        ("self.net.training", "torch.relu(x)", []),
        ("FAST", "toggle()", ["SG108"]),
    ],
)
def test_what_a_call_turns_is_asked_anew(asked: str, between: str, found: list[str]) -> None:
    assert checked.codes(MODE.format(asked=asked, between=between)) == found
