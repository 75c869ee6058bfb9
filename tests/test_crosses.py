"""What is prepared of texts crosses to the device once, and is told for those who ask for all."""

from __future__ import annotations

from checked import findings

TEXTS = """
import torch

class Writer:
    def __init__(self, tokenizer, encoder):
        self.tokenizer, self.encoder = tokenizer, encoder

    {name}(self, texts, device):
        inputs = self.tokenizer(texts, return_tensors="pt")
        return self.encoder(inputs.input_ids.to(device))
"""


def test_what_a_tokenizer_prepares_crosses_once_unless_called_at_each_step():
    assert [one.heat for one in findings(TEXTS.format(name="def encode"))] == ["cold"]
    called = (
        TEXTS.format(name="def encode")
        + """
    def train(self, steps, opt):
        for texts in steps:
            loss = self.encode(texts, "cuda").mean()
            loss.backward()
            opt.step()
"""
    )
    assert [one.heat for one in findings(called)] == ["hot"]
