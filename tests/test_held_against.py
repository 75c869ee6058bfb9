"""What a loss is held against is a tensor, whatever else the function computes with -> its reads wait."""

from __future__ import annotations

import pytest
from checked import codes

EVALUATE = """
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch import nn

    criterion = nn.CrossEntropyLoss()

    class Judge:
        def __init__(self, names):
            self.criterion = nn.CrossEntropyLoss()
            self.names = names

        def evaluate(self, net, batches, own):
            table = np.zeros((4, 4))
            for x, y in batches:
                loss = {call}
                if (y > 3).any():
                    table[0, 0] += 1
            return table
"""


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("F.cross_entropy(net(x), y)", ["SG204"]),
        ("F.smooth_l1_loss(net(x), y, reduction='sum')", ["SG204"]),
        ("criterion(net(x), y)", ["SG204"]),
        ("self.criterion(net(x), y)", ["SG204"]),
        ("F.pad(net(x), y)", []),
        ("torch.add(net(x), y)", []),
        ("F.one_hot(net(x), y)", []),
        ("own(net(x), y)", []),
        ("self.names(net(x), y)", []),
    ],
)
def test_what_stands_in_second_place(call: str, found: list[str]) -> None:
    assert codes(EVALUATE.format(call=call)) == found
