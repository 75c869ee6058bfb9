"""What a call tells of what it passes, and a declared type of what it stands for."""

from collections import namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import BoolTensor, Tensor, nn
from torch.distributions import Beta

State = namedtuple("State", "y t dt")
Pair = NamedTuple("Pair", [("a", Tensor), ("b", int)])
Case = tuple[Callable[[], BoolTensor], Callable[[BoolTensor], Tensor]]


@dataclass
class Step:
    count: Any
    loss: Any = None


def stepped(step: Step, loss: Tensor):
    later = replace(step, loss=loss)
    if later.count > 3:
        return 0
    return later.loss.item()  # waits


class Solver:
    def __init__(self, y: Tensor):
        self.state = State(y, torch.zeros((), device=y.device), torch.ones((), device=y.device))

    def step(self, end: int):
        y, t, dt = self.state
        while t < end:  # waits
            t = t + dt
        if self.state.t > end:  # waits
            return y
        found = self.state._replace(t=t)
        return 1 if found.y.sum() > 0 else 2  # waits


def pair(p: Pair):
    if p.b > 3:
        return 0
    return p.a.item()  # waits


def dispatch(out: Tensor, cases: Iterable[Case] = (), default: Optional[Callable[[BoolTensor], Tensor]] = None):
    for closure, func in cases:
        mask = closure()
        if mask.all():  # waits
            out[mask] = func(mask)  # waits
    return out


def solve(x: Tensor, low: Tensor):
    cases = (
        (lambda: x > 1, lambda m: x[m]),  # waits
        (lambda: x < 0, lambda m: low[m] + 1),  # waits
    )
    return dispatch(x, cases, default=lambda m: low[m])  # waits


def minimize(closure: Callable[[Tensor], Tensor], x: Tensor, rounds: Callable[[int], int]):
    best = closure(x)
    while best > 0.1:  # waits
        best = closure(x)
    if rounds(3) > 2:
        return best
    return closure(x.cpu()).item()  # waits


def shapes(x: Tensor, n: int): ...


def maybe(x: Optional[Tensor], n: int): ...


def passed(labels, count, other):
    shapes(labels, count)
    maybe(other, count)
    hit = labels == 3
    if not hit.any():  # waits
        return None
    if count > 3 or other > 3:
        return None
    return labels[hit]  # waits


class Miner:
    def check(self, x: Tensor, *rest): ...

    def mine(self, labels, extra):
        self.check(labels, extra)
        if extra > 2:
            return 0
        return 1 if labels.any() else 2  # waits


def scalars(t0: Union[float, Tensor], t1: Union[int, Tensor]):
    return float(t0), int(t1)  # waits


def ordered(xs: list[Tensor]):
    pairs = [(x, 1) for x in xs]
    pairs.sort()  # waits
    pairs.sort(key=lambda pair: pair[1])
    numbers = [(1, x) for x in xs]
    numbers.sort()
    return pairs


def kinds(y: Tensor, value: Tensor):
    keep = torch.ones(3, dtype=bool, device=y.device)
    y[keep] = value[keep]  # waits
    rate, positive = torch.broadcast_tensors(y, y > 0)
    return rate[positive]  # waits


def ids(x: Tensor, table: Tensor):
    for one in x.unique():  # waits
        table[one] = 1.0  # waits
    return table


def decollate(batch: Tensor):
    return [part.item() for part in torch.unbind(batch)]  # waits


def fetched(cpu_x: Tensor):
    return cpu_x.cpu()  # waits


def kept(cpu_x: Tensor):
    return cpu_x.item()


class Chain:
    def __init__(self, target):
        self.target = target

    def accept(self, z: Tensor, name: str):
        self.target.log_prob(name)
        return self.target.log_prob(z) > 0  # waits


class Adaptive(nn.Module):
    def __init__(self, many: bool, width):
        super().__init__()
        if many:
            self.proj = nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2])
        elif width > 3:
            self.proj = nn.Linear(4, 8)
        else:
            self.proj = width

    def forward(self, x):
        return self.proj.log_prob(x)


class Naive(Beta):
    def __init__(self, concentration1, concentration0, validate_args=None):
        super().__init__(concentration1, concentration0, validate_args=validate_args)  # waits


def policy(actor, state: Tensor):
    choice = actor(state)
    action = choice.sample()
    return choice.log_prob(action)  # waits


def in_range(ids: Tensor, n: int) -> bool:
    return (ids >= 0).all() and (ids < n).all()  # waits


def checked(ids: Tensor, n: int):
    if not in_range(ids, n):  # waits
        raise ValueError


class Even:
    def __init__(self, x: Tensor):
        self.held = x


class Odd:
    def __init__(self, x: int):
        self.held = x


def told_apart(one):
    if isinstance(one, Odd):
        return one.held > 3
    return 1 if one.held.sum() > 3 else 2  # waits


def both(x: Tensor):
    return told_apart(Even(x)), told_apart(Odd(3))


def annotated(x: Tensor):
    return torch.tensor(torch.jit.annotate(list[int], []), device=x.device)


class Clipper(torch.optim.Optimizer):
    def norm_of(self, p: Tensor, *rest):
        return p.grad.norm()

    def clip(self, params, limit):
        for p in params:
            norm = self.norm_of(p, limit)
            state = self.state[p]
            mean = state.get("mean")
            if mean is None:
                mean = norm.clone()
            if mean / norm < 1.0:  # waits
                state["mean"] = mean
