"""What is read after its function has waited for an event may be the copy that was waited for."""

from __future__ import annotations

import pytest
from checked import findings

CODE = """
import torch

class Writer:
    def run(self, queue):
        while (item := queue.get()) is not None:
            step, value, done, x = item
            x = torch.relu(x)
            {before}
            self.keep(step, {read})
            {after}
"""


@pytest.mark.parametrize(
    ("before", "read", "after", "confidence"),
    [
        ("", "value.item()", "", "likely"),
        ("torch.cuda.Event().synchronize()", "value.item()", "", "possible"),
        ("", "value.item()", "torch.cuda.Event().synchronize()", "likely"),
        ("torch.cuda.Event().synchronize()", "x.item()", "", "likely"),
    ],
)
def test_what_nothing_tells_to_be_there(before, read, after, confidence):
    text = CODE.format(before=before, read=read, after=after)
    assert [one.confidence for one in findings(text, confidence="possible") if one.code[:3] == "SG2"] == [confidence]
