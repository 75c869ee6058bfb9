"""Methods that keep what they are given by name, each under its name."""

from __future__ import annotations

import checked
import pytest

HEAD = """import torch
from torch import Tensor, nn


"""
KEPT = """
class Kept:
    def __init__(self, x: Tensor, n: int):
        self.keep({given})

    def keep(self, first=None, **parts):
        {body}

    def run(self, y: Tensor):
        {use}
"""
LOOP = "for name, part in parts.items():\n            print(name)\n            setattr(self, name, part)"


def codes(body: str, use: str, given: str = "scale=x, number=n") -> list[str]:
    return checked.codes(KEPT.format(body=body, use=use, given=given), HEAD)


@pytest.mark.parametrize(
    "body",
    [
        LOOP,
        "self.__dict__.update(parts)",
        "for name, part in parts.items():\n            if part is not None:\n                setattr(self, name, part)",
    ],
)
def test_what_is_given_by_name_is_kept_under_it(body: str) -> None:
    assert codes(body, "return 1 if self.scale > 0 else 0") == ["SG204"]
    assert codes(body, "return 1 if self.number > 0 else 0") == []
    assert codes(body, "return 1 if self.other > 0 else 0") == []
    assert codes(body, "return 1 if self.first > 0 else 0", "first=x") == []


@pytest.mark.parametrize(
    "body",
    [
        "for name, part in self.parts.items():\n            setattr(self, name, part)",
        "for name, part in parts.items():\n            setattr(self, name, 3)",
        "for name, part in parts.items():\n            setattr(part, name, self)",
        "self.table.update(parts)",
        "for name, part in parts.items():\n            part = part.item()\n            setattr(self, name, part)",
        "for name, part in parts.items():\n            if name: continue\n            setattr(self, name, part)",
        "parts = {name: float(part) for name, part in parts.items()}\n        self.__dict__.update(parts)",
        "self.held = parts",
    ],
)
def test_what_is_not_kept_under_its_own_name_is_unknown(body: str) -> None:
    found = codes(body, "return 1 if self.scale > 0 else 0")
    assert "SG204" not in found


def test_what_a_base_class_keeps_its_heirs_have() -> None:
    text = """
    class Base:
        def register(self, **parts):
            for name, part in parts.items():
                setattr(self, name, part)


    class Clock:
        def __init__(self, n):
            self.times = torch.arange(n, device="cuda")


    class Loop(Base):
        def __init__(self, clock: Clock, model: nn.Module):
            self.register(clock=clock, model=model)

        def run(self, x: Tensor, bound: float):
            for t in self.clock.times:
                if t >= bound:
                    x = x - self.model(x)
            return x
    """
    assert [(f.code, f.heat) for f in checked.findings(text, HEAD)] == [("SG204", "hot")]


def test_what_a_constructor_keeps_on_the_host_is_read_where_another_method_has_put_it_on_the_device() -> None:
    text = """
    class Clock:
        def __init__(self, n: int):
            self.times = torch.arange(n)

        def start(self, device):
            self.times = torch.arange(8).to(device)

        def read(self):
            return self.times.max().item()
    """
    found = {f.code: [fact.text for fact in f.because][:2] for f in checked.findings(text, HEAD)}
    made = "`torch.arange(8)` is the result of `torch.arange`"
    assert found["SG201"] == [made, "`torch.arange(8).to(device)` is the result of `torch.Tensor.to`"]
