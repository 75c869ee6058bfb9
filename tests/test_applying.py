"""What is called by another function gives what it gives where it is called by itself."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import copy
import torch
from torch import nn
from torch.func import functional_call


class Scored(nn.Module):
    def forward(self, x, scale=1):
        return {"score": x.sum() * scale, "count": 3}


def f(x: torch.Tensor, model: Scored, named: dict[str, torch.Tensor]):
    """

codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize(
    "text",
    [
        "out = functional_call(model, named, (x,))\n    out['score'] > 0 or f()",
        "out = functional_call(model, named, x)\n    out['score'] > 0 or f()",
        "out = functional_call(model, named, args=(x,), kwargs={'scale': 2})\n    out['score'] > 0 or f()",
        "y = functional_call(nn.Linear(2, 2).cuda(), named, (x,))\n    y.sum() > 0 or f()",
        "y = copy.deepcopy(x)\n    y > 0 or f()",
        "y = torch.autograd.functional.jacobian(lambda t: t * 2, x)\n    y.isnan().any() or f()",
    ],
)
def test_what_it_gives_is_on_the_device(text: str) -> None:
    assert codes(text) == ["SG204"]


@pytest.mark.parametrize(
    "text",
    [
        "out = functional_call(model, named, (x,))\n    out['count'] > 0 or f()",
        "y = copy.deepcopy(x.cpu())  # syncguard: allow[SG202] to look at\n    y > 0 or f()",
        "y, z = torch.autograd.functional.jacobian(model, (x, x))\n    return y, z",
    ],
)
def test_what_it_gives_besides_is_not(text: str) -> None:
    assert codes(text) == []
