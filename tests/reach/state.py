import math

import numpy as np
import torch
from torch.optim import Optimizer


class Scaled(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    def begin(self, group):
        group.setdefault("step", 0)
        for p in group["params"]:
            state = self.state[p]
            if len(state) == 0:
                state["step"] = 0
                state["average"] = torch.zeros_like(p)
                state["scale"] = p.norm()
                state["kept"] = p > 0
                state["rate"] = torch.zeros_like(p) if torch.is_tensor(group["lr"]) else 0.0
                state["share"] = state["kept"].sum().item()  # waits

    @torch.no_grad()
    def step(self, closure=None):
        if "round" not in self.state:
            self.state["round"] = torch.zeros((), device="cuda")
        for group in self.param_groups:
            if self.state["round"] == 0:  # waits
                self.begin(group)
            group["step"] += 1
            size = group["lr"] / math.sqrt(group["step"])
            if size > 1:
                size = 1
            for p in group["params"]:
                state = self.state[p]
                state["step"] += 1
                if state["step"] > 3 or state["share"] > 0:
                    continue
                if torch.is_tensor(state["rate"]):
                    size = torch.where(state["rate"] != 0, size, 0)
                else:
                    size = 1 / state["rate"] if state["rate"] != 0 else 0
                if state["scale"] == 0.0:  # waits
                    state["scale"] = torch.ones_like(state["scale"])
                grad = p.grad[state["kept"]] if "kept" in state else p.grad  # waits
                p.add_(grad.mean(), alpha=-size * state["scale"])  # waits
                self.decay(p, state.get("average"))
        self.clip()

    def decay(self, p, average):
        if average.sum() > 0:  # waits
            p.mul_(0.9)

    def clip(self):
        grads = [p.grad for group in self.param_groups for p in group["params"]]
        norms = torch._foreach_norm(grads)
        torch._foreach_mul_(grads, 0.5)
        for norm in norms:
            if norm != 0:  # waits
                pass
        if len(norms) != len(grads):
            pass


class Older(torch.optim.optimizer.Optimizer):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["norm"] = torch.zeros([]).to(p.device)  # waits
                norm = state["norm"]
                norm.copy_(p.norm() if norm == 0 else norm)  # waits


class Cache:
    def __init__(self):
        self.parts = {}
        self.counts = {"all": {}}

    def add(self, name, x: torch.Tensor):
        part = self.parts.setdefault(name, {})
        part["sum"] = x.sum()
        counts = self.counts["all"]
        counts["rows"] = x.shape[0]

    def large(self, name):
        part = self.parts[name]
        if self.counts["all"]["rows"] > 3:
            return False
        return part["sum"] > 3 and part  # waits


class Schedule:
    def keep(self, name, value):
        if type(value) == torch.Tensor:
            value = value.to(torch.device("cuda"))  # waits
        setattr(self, name, value)

    def make(self, steps: torch.Tensor):
        self.keep("steps", steps.cpu())  # waits
        self.keep("count", len(steps))

    def at(self, x, index):
        if self.count > 3:
            return torch.full((2, 1), self.steps[index], device=x.device)  # waits
        return x


def picked(x: torch.Tensor, times: np.ndarray, whole: bool):
    total = times if whole else times.shape[0]
    return x[total - 1]
