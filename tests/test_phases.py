"""What runs once in a generation, or before its loop, runs seldom; its steps run often."""

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config

PART = """
import torch
from diffusers import ModularPipelineBlocks


class Part({base}):
    def __call__(self, components, state{more}):
        return self.ids(components.device)

    def ids(self, device):
        return torch.arange(4).to(device)
"""
PIPE = """
import torch
from diffusers import DiffusionPipeline


class Pipe(DiffusionPipeline):
    def __call__(self, x: torch.Tensor, steps: int):
        scale = x.amax().item()
        for _ in range(steps):
            x = self.unet(x)
            if x.amax() > scale:
                break
        return x
"""
SCHEDULE = """
import torch


class Schedule:
    def {name}(self, n, device):
        self.times = torch.linspace(0, 1, n).to(device)


def sampled(schedule: Schedule, model, x):
    {before}
    for t in schedule.times:
        {inside}
        x = model(x, t)
    return x
"""


def heats(text: str) -> dict[int, str]:
    config = Config(heat="all", stdin_filename="example.py")
    return {f.site.line: f.heat for f in pipeline.check(["-"], config, textwrap.dedent(text)).findings}


@pytest.mark.parametrize(
    ("base", "more", "heat"),
    [
        ("ModularPipelineBlocks", "", "amortized"),
        ("ModularPipelineBlocks", ", i: int, t", "unknown"),  # what the loop of the steps hands them to
        ("object", "", "unknown"),
    ],
)
def test_a_part_of_a_pipeline_runs_once_in_a_generation(base: str, more: str, heat: str) -> None:
    assert {*heats(PART.format(base=base, more=more)).values()} == {heat}


def test_the_loop_of_the_steps_runs_often() -> None:
    text = PIPE.split("\n")
    found = heats(PIPE)
    told = {text[line - 1].strip(): heat for line, heat in found.items()}
    assert told == {"scale = x.amax().item()": "amortized", "if x.amax() > scale:": "hot"}


@pytest.mark.parametrize(
    ("name", "inside", "heat"),
    [
        ("set_timesteps", "", {"cold"}),
        ("set_timesteps", "schedule.set_timesteps(9, x.device)", {"hot"}),
        ("advance", "", {"unknown"}),
    ],
)
def test_what_sets_the_steps_runs_before_them(name: str, inside: str, heat: set[str]) -> None:
    text = SCHEDULE.format(name=name, before="", inside=inside or "pass")
    assert {h for line, h in heats(text).items() if line == 7} == heat


EPOCH = """
import torch


class Hooks:
    def on_validation_epoch_end(self):
        for {turn} in {over}:
            x = torch.stack(self.outputs[turn])
            self.log({name}, x.cuda().mean().item())
"""


@pytest.mark.parametrize(
    ("turn", "over", "name", "heat"),
    [
        ("turn", "self.times", 'f"loss_{turn}"', "amortized"),
        ("i, turn", "enumerate(self.times)", 'f"loss_{i}"', "amortized"),
        ("turn", "self.parts", 'f"loss of {turn.full_name}"', "amortized"),
        ("turn", "self.parts", 'f"loss of {turn.loss}"', "unknown"),
        ("turn", "self.times", '"loss"', "unknown"),
        ("turn", "self.times", 'f"{turn}"', "unknown"),  # all of it may be a text already
        ("turn", "range(self.size)", 'f"loss_{turn}"', "unknown"),
    ],
)
def test_what_is_named_in_each_turn_at_the_end_of_an_epoch_is_one_of_a_few(turn, over, name, heat) -> None:
    found = heats(EPOCH.format(turn=turn, over=over, name=name))
    assert found[9] == heat
