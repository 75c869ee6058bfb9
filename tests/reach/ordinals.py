import os

import torch
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model: torch.nn.Module, loader: DataLoader, gpu_id: int):
        self.gpu_id = gpu_id
        self.local = int(os.environ["LOCAL_RANK"])
        self.model = model.to(gpu_id)
        self.loader = loader

    def train(self):
        for inputs, targets in self.loader:
            x = inputs.to(self.gpu_id)  # waits: hot
            y = targets.to(self.local)  # waits
            z = torch.rand(8, 4, device=self.gpu_id)
            loss = (self.model(x) - y + z).square().mean()
            loss.backward()
            print(loss)  # waits: hot


def scaled(image: torch.Tensor, flag: bool):
    there = torch.rand(3).to(0)  # waits
    kept = torch.rand(3).to(torch.float64)
    return there, kept, image.to(image.dtype, copy=flag)
