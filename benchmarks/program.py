"""A number of waits in, a model of about 300 lines out, so many of whose layers read a number from the device."""

from __future__ import annotations

HEAD = '''"""A model."""

import torch
from torch import nn
'''
LAYER = """

class Layer{n}(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
{read}        return x * self.scale
"""
READ = "        self.peak = x.max().item()\n"
TAIL = """

class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([{layers}])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


model = Model().to("cuda")
print(model(torch.rand(8, device="cuda")).shape)
"""


def text(waits: int, layers: int = 30) -> str:
    """The program; its first layers are those that wait."""
    body = "".join(LAYER.format(n=n, read=READ if n < waits else "") for n in range(layers))
    return HEAD + body + TAIL.format(layers=", ".join(f"Layer{n}()" for n in range(layers)))
