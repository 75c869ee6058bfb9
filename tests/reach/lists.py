"""Lists of sizes, given where a tensor of them is declared: what callers pass counts."""

import torch
from torch import Tensor


def sampled(value: Tensor, shapes: Tensor, weights: Tensor | list[tuple]):
    parts = value.split([height * width for height, width in shapes], dim=1)
    others = value.split([height * width for height, width in weights], dim=1)
    return parts, others


def counted(value: Tensor, shapes: Tensor):
    return value.split([height * width for height, width in shapes], dim=1)  # waits


class Attention(torch.nn.Module):
    def forward(self, value, shapes: Tensor, shapes_list=None):
        parts = sampled(value, shapes_list, shapes_list)
        return parts, counted(value, shapes)


class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, value, maps: list):
        shapes_list = []
        for one in maps:
            shapes_list.append(one.shape[-2:])
        shapes = torch.as_tensor(shapes_list, device=value.device)  # waits
        return self.attention(value, shapes, shapes_list)
