"""What is prepared of texts crosses to the device once, and is told for those who ask for all; what holds it moves in
place."""

from __future__ import annotations

import pytest
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


IN_PLACE = """
import torch

def write(model: torch.nn.Module, tokenizer, batches):
    model = model.cuda()
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for texts in batches:
        inputs = tokenizer(texts{how})
        {moved}
        loss = model(inputs["input_ids"]).mean()
        loss.backward()
        optimizer.step()
        if inputs["input_ids"].max() > 7:
            break
"""


@pytest.mark.parametrize(
    ("how", "moved", "found"),
    [
        (', return_tensors="pt"', 'inputs.to("cuda")', ["SG301", "SG204"]),
        (', return_tensors="pt"', 'inputs = inputs.to("cuda")', ["SG301", "SG204"]),
        (', return_tensors="pt"', 'inputs["input_ids"].to("cuda")', []),
        (', return_tensors="pt"', "pass", []),
        ("", 'inputs.to("cuda")', ["SG204"]),
    ],
)
def test_what_holds_what_a_tokenizer_prepares_moves_it_in_place(how: str, moved: str, found: list[str]) -> None:
    text = IN_PLACE.format(how=how, moved=moved)
    assert [one.code for one in findings(text) if one.heat == "hot"] == found
