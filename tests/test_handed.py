"""A method that overrides a library's, which its loop gives tensors -> these are on the device, by name and method."""

from __future__ import annotations

import pytest
from checked import codes

ONLY = """
    import torch
    {head}

    class Only({base}):
        def __init__(self, input_ids, scores):
            self.kept = input_ids[torch.ones(3, dtype=torch.bool)]

        def {method}(self, input_ids, scores):
            others = torch.ones(scores.size(), dtype=torch.bool)
            scores[others] = 0.0
            return scores
"""


def test_scores_are_on_the_device() -> None:
    text = ONLY.format(head="from transformers import LogitsProcessor", base="LogitsProcessor", method="__call__")
    assert codes(text) == ["SG307"]


@pytest.mark.parametrize(
    ("head", "base", "method"),
    [
        ("from transformers import LogitsProcessor", "LogitsProcessor", "apart"),
        ("from elsewhere import LogitsProcessor", "LogitsProcessor", "__call__"),
        ("", "object", "__call__"),
    ],
)
def test_what_others_call_may_be_anything(head: str, base: str, method: str) -> None:
    assert codes(ONLY.format(head=head, base=base, method=method)) == []


def test_what_tells_when_to_stop_reads_the_ids() -> None:
    assert codes("""
        import transformers

        class Stop(transformers.StoppingCriteria):
            def __call__(self, input_ids, scores, **kwargs):
                return input_ids[0, -1].item() == 3
    """) == ["SG201"]
