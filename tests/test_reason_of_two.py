"""Of a tensor that one caller, or path, has on the host and another on the device, the reason says why it is there."""

from __future__ import annotations

import pytest
from checked import findings

TEXT = """
import torch

def read(x):
    return x.sum().item()

def call(m: torch.Tensor, n: int):
    {first}
    {then}
"""
HERE, THERE = "read(torch.zeros(n))", "read(m.cuda())"


@pytest.mark.parametrize(("first", "then"), [(HERE, THERE), (THERE, HERE)])
def test_the_caller_that_makes_it_wait(first: str, then: str) -> None:
    (found,) = findings(TEXT.format(first=first, then=then))
    told = [fact.text for fact in found.because]
    assert any("`m.cuda()`" in text for text in told)
    assert not any("zeros" in text for text in told)


STEPS = """
    import numpy as np
    import torch

    class Schedule:
        def __init__(self, n: int):
            self.steps = torch.from_numpy(np.arange(n))

        def set(self, n: int, device=None):
            self.steps = torch.arange(n).to(device)

        def before(self, at: int):
            if at == 0:
                found = torch.tensor(-1)
            else:
                found = self.steps[at - 1]
            return found

        def run(self, at: int):
            return 1 if self.before(at) >= 0 else 0
    """


def test_the_reason_of_what_is_given_back_is_that_of_what_may_wait() -> None:
    (found,) = [one for one in findings(STEPS) if one.code == "SG204"]
    told = [fact.text.split("`")[1] for fact in found.because]
    assert told[1:3] == ["torch.arange(n).to(device)", "self.steps[at - 1]"]


def reason(text: str, code: str, of: str = "x: torch.Tensor | float | None, m: torch.Tensor, n: int") -> list[str]:
    """What the reasons of the one finding of a rule in a function are of."""
    (found,) = [one for one in findings(f"import torch\n\n\ndef read({of}):\n{text}") if one.code == code]
    return [fact.text.split("`")[1] for fact in found.because]


NUMBER = """
    x = m * n
    if not {test}:
        x = torch.tensor([x], device=m.device)
    return x.item()
"""


@pytest.mark.parametrize("test", ["torch.is_tensor(x)", "isinstance(x, torch.Tensor)"])
def test_what_is_a_tensor_is_one_as_it_is_given(test: str) -> None:
    assert reason(NUMBER.format(test=test), "SG201")[-1] == "m * n"


LAST = """
    x = m[0] if n else None
    if x is None:
        x = m.sum() - 1
    return x.item()
"""


def test_what_is_made_where_there_is_none_is_no_reason_beside_what_there_is() -> None:
    assert reason(LAST, "SG201")[-1] == "m[0]"


def test_what_is_only_declared_shows_less_than_what_is_made() -> None:
    text = "    if x is None:\n        x = torch.zeros(n, device=m.device)\n    return x.item()\n"
    assert reason(text, "SG201", "m: torch.Tensor, n: int, x: torch.Tensor | None = None") == [
        "torch.zeros(n, device=m.device)"
    ]


STRETCHED = """
    def stretch(t: torch.Tensor):
        return 1 / t
    if n > 3:
        steps = stretch(steps)
    steps = torch.from_numpy(steps).to(m.device)
    return steps[0].item()
"""


def test_no_array_is_the_reason_of_what_is_made_of_one() -> None:
    assert reason(STRETCHED, "SG201", "steps, m: torch.Tensor, n: int")[0] == "torch.from_numpy(steps)"


LONG = """
    s = torch.linspace(0, 1, n)
    s = s.flip(0)
    s = s.to(m.device)
    s = s * 2
    s = s + 1
    s = s.exp()
    s = s.neg()
    return s[0].item()
"""


def test_a_long_chain_tells_where_it_was_put_on_the_device() -> None:
    told = reason(LONG, "SG201")
    assert told[:2] == ["torch.linspace(0, 1, n)", "s.to(m.device)"]
    assert told[-1] == "s[0]"
