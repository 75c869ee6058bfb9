"""A wait that hangs on an argument, which hangs on a setting: the finding names it."""

from __future__ import annotations

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config

STEP = """
        for x in batches:
            {scaler}.scale(model(x).sum()).backward()
            {scaler}.step(optimizer)
"""


def told(text: str) -> list[tuple[str, list[str]]]:
    config = Config(confidence="likely", stdin_filename="example.py")
    findings = pipeline.check(["-"], config, "import argparse\nimport torch\n" + textwrap.dedent(text)).findings
    return [(finding.code, [fact.text for fact in finding.options]) for finding in findings]


@pytest.mark.parametrize(
    ("params", "enabled", "options"),
    [
        ("cfg", "cfg.amp", ["only where `cfg.amp` holds"]),
        ("cfg", "not cfg.full", ["only where `cfg.full` does not hold"]),
        ("cfg", "cfg.dtype == 'float16'", ["only where `cfg.dtype == 'float16'` holds"]),
        ("amp=False", "amp", ["only where `amp` holds; by default `amp` is `False`"]),
        ("amp=True", "amp", []),
        ("amp", "True", []),
        ("amp=None", "amp", []),
    ],
)
def test_what_switches_a_scaler_on_is_told(params: str, enabled: str, options: list[str]) -> None:
    text = f"""
    def train(model, batches, optimizer, {params}):
        scaler = torch.amp.GradScaler("cuda", enabled={enabled})
    """
    assert told(text + STEP.format(scaler="scaler")) == [("SG504", options)]


def test_a_scaler_that_is_off_does_not_wait() -> None:
    text = """
    def train(model, batches, optimizer):
        scaler = torch.amp.GradScaler("cuda", enabled=False)
    """
    assert told(text + STEP.format(scaler="scaler")) == []


def test_what_a_constructor_keeps_is_asked_where_it_was_made() -> None:
    text = """
    class Trainer:
        def __init__(self, args):
            self.scaler = torch.cuda.amp.GradScaler(enabled=args.fp16)

        def train(self, model, batches, optimizer):
            for x in batches:
                self.scaler.scale(model(x).sum()).backward()
                self.scaler.step(optimizer)
    """
    assert told(text) == [("SG504", ["only where `args.fp16` holds"])]


def test_what_a_caller_made_is_asked_there() -> None:
    text = """
    def epoch(model, batches, optimizer, scaler):
        for x in batches:
            scaler.scale(model(x).sum()).backward()
            scaler.step(optimizer)


    def main(model, batches, optimizer):
        parser = argparse.ArgumentParser()
        parser.add_argument("--amp", action="store_true")
        args = parser.parse_args()
        scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
        epoch(model, batches, optimizer, scaler)
    """
    assert told(text) == [("SG504", ["only where `args.amp` holds; by default `args.amp` is `False`"])]


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("", []),
        (", validate_args=True", []),
        (", validate_args=cfg.checks", ["only where `cfg.checks` holds"]),
    ],
)
def test_an_argument_of_the_call_itself(argument: str, options: list[str]) -> None:
    text = f"""
    def train(model, batches, optimizer, cfg):
        for x in batches:
            loss = torch.distributions.Categorical(logits=x.cuda().square(){argument}).entropy().sum()
            loss.backward()
            optimizer.step()
    """
    assert told(text) == [("SG501", options)]
