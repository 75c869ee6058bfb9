"""What a base class of another file brings to the host before it calls a method of this one."""

import pytest
from packaged import found

BASE = """
import torch


class Pipeline:
    def __init__(self, net, helper, device):
        self.net, self.helper, self.device = net, helper, device

    def postprocess(self, outputs):
        raise NotImplementedError

    def put(self, held, device):
        if isinstance(held, dict):
            return {name: self.put(part, device) for name, part in held.items()}
        if isinstance(held, list):
            return [self.put(part, device) for part in held]
        return held.to(device) if isinstance(held, torch.Tensor) else held

    def run(self, inputs):
        outputs = self.net(self.put(inputs, self.device))
        outputs = self.put(outputs, WHERE)
        return self.postprocess(outputs)
"""
BELOW = """
import torch
from typing import Union
from .base import Pipeline

Several = Union[list["Several"], "torch.Tensor"]


class Boxes(Pipeline):
    def postprocess(self, outputs):
        {body}
"""
BOX = """

    def box(self, box: "torch.Tensor"):
        left, right = box.int().tolist()
        return left - right
"""
MOST = """

    def most(self, scores: Several):
        return torch.nonzero(scores == 1)
"""
LISTED = """if isinstance(outputs, list):
            return [one.to("cpu", torch.float) for one in outputs]"""
OFFSETS = """scores = outputs["scores"]
        if isinstance(scores, torch.Tensor):
            return scores.offsets().diff().sum().item()"""
BODIES = {
    "a helper of the method": f"return [self.box(box) for box in outputs['boxes']]{BOX}",
    "one of a list": LISTED,
    "what an unknown method makes of it": f"return [self.box(box) for box in self.helper.decode(outputs)]{BOX}",
    "one of several types": f"return self.most(outputs['scores'][0]){MOST}",
    "a method that no row tells of": OFFSETS,
}


def heats(body, where):
    return {
        path: finding.heat
        for path, finding in found(
            {
                "pkg/__init__.py": "",
                "pkg/base.py": BASE.replace("WHERE", where),
                "pkg/below.py": BELOW.format(body=body),
            }
        ).items()
        if path == "pkg/below.py"
    }


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_a_base_class_has_brought_to_the_host_is_not_waited_for(body):
    assert set(heats(body, "torch.device('cpu')").values()) <= {"cold"}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_stays_on_the_device_is_waited_for(body):
    assert "unknown" in heats(body, "self.device").values()


MADE = """
import torch


def made(n: int):
    return torch.full((n,), -1).{}()


def count(n: int):
    return (made(n) != -1).sum().item()
"""


@pytest.mark.parametrize(("method", "codes"), [("npu", ["SG201"]), ("kept", [])])
def test_what_is_moved_to_another_accelerator_is_on_the_host_no_more(method: str, codes: list[str]) -> None:
    files = {"pkg/__init__.py": "", "pkg/maps.py": MADE.format(method)}
    assert [one.code for one in found(files).values()] == codes
