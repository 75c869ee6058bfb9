"""Devices that a plug-in of torch brings along, and trainers of other libraries that move what they are given."""

from __future__ import annotations

import checked
import pytest

STEP = """
import torch


class Runner:
    def __init__(self):
        self.stream, self.event = torch.{device}.Stream(), torch.{device}.Event()

    def step(self, x: torch.Tensor):
        y = x.relu()
        {wait}
        return y + 1
"""
TRAINER = """
import torch
from transformers import {base}


class Mine({base}):
    def compute_loss(self, model, texts):
        batch = self.processing_class(text=texts, return_tensors="pt")
        {move}
        ids = batch["input_ids"]
        return model(ids), ids.sum().item()
"""


@pytest.mark.parametrize("device", ["cuda", "npu"])
@pytest.mark.parametrize(
    "wait",
    [
        "torch.{device}.synchronize()",
        "torch.{device}.current_stream().synchronize()",
        "self.stream.synchronize()",
        "self.event.synchronize()",
    ],
)
def test_a_device_of_a_plug_in_is_waited_for_like_any(device: str, wait: str) -> None:
    assert checked.codes(STEP.format(device=device, wait=wait.format(device=device))) == ["SG401"]


@pytest.mark.parametrize("base", ["Trainer", "Seq2SeqTrainer"])
@pytest.mark.parametrize("of", ["self", "super()"])
def test_a_trainer_brings_a_batch_to_the_device(base: str, of: str) -> None:
    move = f"batch = {of}._prepare_inputs(batch)"
    assert checked.codes(TRAINER.format(base=base, move=move)) == ["SG201"]


def test_what_is_not_brought_there_is_on_the_host() -> None:
    assert checked.codes(TRAINER.format(base="Trainer", move="pass")) == []


COPIES = """
import torch
from somewhere import {name}


async def feed(queue, out, side: torch.cuda.Stream):
    while True:
        given = await queue.get()
        with torch.cuda.stream(side):
            moved = [{name}(x, non_blocking=True) for x in given]
            side.synchronize()
        out.put_nowait(moved)
"""


@pytest.mark.parametrize(("name", "there"), [("to_cuda", ["SG401"]), ("try_to_device", ["SG401"]), ("copied", [])])
def test_copies_to_the_device_need_no_wait(name: str, there: list[str]) -> None:
    assert checked.codes(COPIES.format(name=name)) == there
