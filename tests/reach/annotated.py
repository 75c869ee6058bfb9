import dataclasses

import numpy as np
import torch


class Rotary(torch.nn.Module):
    def forward(self, ids: torch.Tensor):
        place = ids.float()
        found = []
        for i in range(3):
            cos, sin = rotary(self.dim, place[:, i], theta=self.theta)
            found.append(cos + sin)
        return torch.cat(found, -1).to(ids.device)


class OfArrays(torch.nn.Module):
    def forward(self, ids: torch.Tensor):
        place = ids.cpu().numpy()  # waits
        found = []
        for i in range(3):
            cos, sin = rotary_of_arrays(8, place[:, i])
            found.append(cos + sin)
        return torch.cat(found, -1).to(ids.device)  # waits


def rotary(dim: int, pos: np.ndarray | int, theta: float = 10000.0):
    if isinstance(pos, int):
        pos = torch.arange(pos)
    if isinstance(pos, np.ndarray):
        pos = torch.from_numpy(pos)
    steps = torch.arange(0, dim, 2, device=pos.device) / dim
    turned = torch.outer(pos, steps)
    return turned.cos(), turned.sin()


def rotary_of_arrays(dim: int, pos: np.ndarray | int):
    if isinstance(pos, int):
        pos = torch.arange(pos)
    if isinstance(pos, np.ndarray):
        pos = torch.from_numpy(pos)
    steps = torch.arange(0, dim, 2, device=pos.device) / dim
    turned = torch.outer(pos, steps)
    return turned.cos(), turned.sin()


@dataclasses.dataclass
class Progress:
    ema: torch.Tensor | None
    best: float = 3.0

    @property
    def improved(self) -> bool:
        return self.ema < self.best

    def update(self, loss: torch.Tensor):
        self.ema = loss.detach() if self.ema is None else self.ema.lerp(loss.detach(), 0.1)
        return self


def progressed(loss: torch.Tensor):
    progress = Progress(None).update(loss)
    return 1 if progress.improved else 0  # waits
