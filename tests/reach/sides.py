"""Objects of one class on either side: what a dataset makes of host tensors, and what a model makes of its own."""

import torch
from torch import nn
from torch.utils.data import Dataset


class Boxes:
    def __init__(self, tensor: torch.Tensor, **fields):
        self.tensor, self.fields = tensor, fields

    def __getitem__(self, item):
        return Boxes(self.tensor[item], **{k: v[item] for k, v in self.fields.items()})  # waits

    def area(self):
        return self.tensor[:, 2] * self.tensor[:, 3]

    def large(self, least=0.1):
        return self.area() > least

    def to(self, device):
        return Boxes(self.tensor.to(device, non_blocking=True), **self.fields)


class Scenes(Dataset):
    def __init__(self, n):
        self.images = torch.rand(n, 3, 4, 4)

    def __getitem__(self, i):
        boxes = Boxes(torch.rand(3, 4), label=torch.arange(3))
        keep = boxes.large()
        boxes = boxes[keep]
        if keep.sum() < 1 or boxes.tensor.sum() > 3:
            boxes = Boxes(torch.zeros(1, 4))
        moved = boxes.to("cuda")
        if moved.tensor.sum() > 3:  # waits
            return None
        return self.images[i], float(boxes.area().mean())


class Net(nn.Module):
    def forward(self, x):
        boxes = Boxes(x, score=x[:, 0])
        boxes = boxes[boxes.large()]
        if boxes.large().any():  # waits
            return boxes.tensor
        return float(boxes.area().mean())  # waits


def main(steps):
    net, scenes = Net().cuda(), Scenes(4)
    for step in range(steps):
        scenes[step]
        net(torch.rand(4, 4, device="cuda")).sum().backward()
