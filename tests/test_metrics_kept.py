"""What a trainer of Lightning keeps of what was logged: tensors, but for the numbers of its bar."""

from __future__ import annotations

import pytest
from checked import codes

STOP = """
import {library} as pl

class Stop(pl.Callback):
    def on_train_batch_end(self, trainer: pl.Trainer, module, outputs, batch, batch_idx):
        if trainer.{kept} > 3:
            trainer.should_stop = True
"""


@pytest.mark.parametrize("library", ["lightning.pytorch", "pytorch_lightning"])
@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("callback_metrics['loss']", ["SG204"]),
        ("logged_metrics.get('loss')", ["SG204"]),
        ("progress_bar_metrics['loss']", []),
        ("current_epoch", []),
    ],
)
def test_what_was_logged(library: str, kept: str, found: list[str]) -> None:
    assert codes(STOP.format(library=library, kept=kept)) == found


def test_a_module_asks_its_trainer() -> None:
    text = """
import lightning.pytorch as pl

class Net(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        self.worst = float(self.trainer.callback_metrics["loss"])
"""
    assert codes(text) == ["SG203"]


@pytest.mark.parametrize(
    ("base", "asked", "found"),
    [
        ("pl.Callback", "trainer.callback_metrics['loss']", ["SG204"]),
        ("pl.callbacks.Callback", "trainer.callback_metrics['loss']", ["SG204"]),
        ("pl.Callback", "trainer.current_epoch", []),
        ("pl.Callback", "trainer.callback_metrics['loss'].shape[0]", []),
        ("pl.LightningModule", "trainer.callback_metrics['loss']", ["SG204"]),
        ("object", "trainer.callback_metrics['loss']", []),
    ],
)
def test_every_hook_is_handed_the_trainer(base: str, asked: str, found: list[str]) -> None:
    text = STOP.replace("pl.Callback", base).replace(": pl.Trainer", "").replace("trainer.{kept}", asked)
    assert codes(text.format(library="lightning.pytorch")) == found
