import functools
from typing import cast

import torch
from torch import nn


class Cuda:
    @property
    def FloatTensor(self):
        return functools.partial(torch.tensor, dtype=torch.float, device="cuda")

    def name(self):
        return "cuda:{}".format(torch.cuda.current_device())

    def synchronize(self):
        return torch.cuda.synchronize()  # waits


class Npu:
    FloatTensor = functools.partial(torch.tensor, dtype=torch.float, device="cpu")

    def name(self):
        return "npu"

    def synchronize(self):
        return None


chosen = None


def choose(accelerator_name=None):
    global chosen
    if chosen is not None:
        return chosen
    if accelerator_name == "cuda":
        chosen = Cuda()
    elif accelerator_name == "npu":
        chosen = Npu()
    return chosen


def norm(grads):
    total = choose().FloatTensor([1.0])  # waits
    for grad in grads:
        total += grad.detach().norm()
    choose().synchronize()
    return total.item()  # waits


def on_host(text):
    return functools.partial(torch.tensor, device="cpu")(text).tolist()


def given_in_parts(x: torch.Tensor):
    clip = functools.partial(functools.partial(torch.clamp, x), min=0)
    if clip(max=1).sum() > 1:  # waits
        return x
    return functools.partial(torch.where, x > 0)()  # waits


class Keeper(nn.Module):
    def __init__(self, offload, x):
        super().__init__()
        self.at = choose("cuda").name() if not offload else "cpu"
        self.beside = x.device if not offload else "cpu"
        self.host = torch.device("cpu") if offload else "cpu"

    def forward(self, x):
        at = torch.zeros(3, device=self.at)
        beside = torch.zeros(3, device=self.beside)
        host = torch.zeros(3, device=self.host)
        if at.sum() > 0:  # waits
            return x
        if beside.sum() > 0:  # waits
            return x
        return x if host.sum() > 0 else None


def cast_to_a_number(params: dict[str, torch.Tensor]):
    sizes = [1, 2, 3]
    index = cast(int, params["index"][0])
    count = cast(int, sizes[0])
    return sizes[index] + count  # waits
