"""What a parameter of a module is used as that is no tensor: a size, a member of an Enum, what keeps tensors."""

from enum import Enum, IntEnum, auto

import numpy as np
import torch


class Stage(Enum):
    TRAIN = auto()
    VALID = auto()


class Kind(IntEnum):
    NEAR = 0
    FAR = 1


class Loss(torch.nn.Module):
    def forward(self, stage, x):
        if stage == Stage.TRAIN:
            return x.sum()
        if Stage.VALID != stage and x.max() > 1:  # waits
            return x.mean()
        return x

    def near(self, kinds: torch.Tensor):
        return [kind for kind in kinds if kind == Kind.NEAR]  # waits


class Memory(torch.nn.Module):
    def forward(self, hidden, segments, rows):
        total, width = hidden.shape
        batch = total // segments
        hidden = hidden.view(batch, segments, width)
        if rows.max() > batch:  # waits
            hidden = hidden[:, :1]
        return hidden.reshape((batch * segments, width))


class Policy(torch.nn.Module):
    def forward(self, td, x, limit: torch.Tensor):
        if self.key not in td:
            raise KeyError(self.key)
        if x.to(td.device).sum() > limit:  # waits
            td.set(self.key, x.reshape(td.shape))
        return td


def total(x: torch.Tensor, weights: list[torch.Tensor], blocks: int):
    return scan(x, *weights, blocks) + first(x, blocks, *weights)


def scan(x, weight, blocks):
    return x.view(blocks, -1) @ weight if blocks > 2 else x


def first(x, blocks, weight):
    return x.view(blocks, -1) if weight > 0 else x  # waits


def rows(lens: torch.Tensor, width: int, sizes):
    valid_rows = torch.arange(sizes.longest(), device=lens.device)
    index = valid_rows[torch.randint(3, (width,), device=lens.device)]
    valid_lens = sizes.of(lens)
    return lens[index], lens[valid_lens]  # waits


def counted(x: torch.Tensor, arrays: bool):
    lib = np if arrays else torch
    return lib.bincount(x)  # waits


def lens_to_mask(lens, longest):
    return torch.arange(longest, device=lens.device) < lens.unsqueeze(-1)


def masked(x: torch.Tensor, lens, rearrange):
    seq_mask = rearrange(lens_to_mask(lens, x.shape[1]), "b n -> b n")
    return x[seq_mask]  # waits


def told(instruction, x: torch.Tensor):
    text = getattr(instruction, "tolist", lambda: instruction)()
    return text, getattr(x, "tolist", lambda: x)()  # waits


def truncated(rows: list, eos, counts):
    masks = [torch.ones_like(ids) for ids in map(torch.tensor, rows)]
    ended = [ids[-1] not in eos for ids in rows]
    large = [counts.clamp(min=1).max().item() for counts in counts]  # waits
    return masks, ended, large, counts[0] > 1
