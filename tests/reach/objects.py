import torch
from torch import nn
import functools
from dataclasses import dataclass, field
from typing import NamedTuple, Optional, List, Dict, Tuple
from collections import OrderedDict, namedtuple


class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"a": nn.Linear(2, 2)})
        self.blocks = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        for i in range(2):
            setattr(self, f"head{i}", nn.Linear(2, 2))
        self.register_buffer("table", torch.zeros(3))
        self.scale = nn.Parameter(torch.ones(1))
        self.seq = nn.Sequential(nn.Linear(2, 2), nn.ReLU())

    def forward(self, x):
        y = self.layers["a"](x)
        if y.sum() > 0:  # waits
            y = y + 1
        for b in self.blocks:
            z = b(y)
            if z.max() > 0:  # waits
                z = z + 1
        h = getattr(self, f"head{0}")(z)
        if h.max() > 0:  # waits
            h = h + 1
        if self.table[0] > 0:  # waits
            h = h + 1
        if self.scale > 0:  # waits
            h = h + 1
        s = self.seq(x)
        if s.mean() > 0:  # waits
            h = h + 1
        for name, layer in self.layers.items():
            q = layer(x)
            if q.mean() > 0:  # waits
                h = h + 1
        return h


@dataclass
class Out:
    loss: torch.Tensor
    logits: Optional[torch.Tensor] = None
    parts: List[torch.Tensor] = field(default_factory=list)


class Pair(NamedTuple):
    a: torch.Tensor
    b: int


P2 = namedtuple("P2", ["u", "v"])


def use(out: Out, p: Pair):
    if out.loss > 0:  # waits
        pass
    if out.logits is not None and out.logits.max() > 0:  # waits
        pass
    for t in out.parts:
        t.item()  # waits
    if p.a > 0:  # waits
        pass
    a, b = p
    if a > 0:  # waits
        pass
    if b > 0:
        pass
    p[0].item()  # waits


def made(x: torch.Tensor):
    o = Out(loss=x.sum(), logits=x)
    o.loss.item()  # waits
    q = P2(x, 3)
    q.u.item()  # waits
    if q.v > 3:
        pass
    return o


def scale(x, k):
    if x.max() > k:  # waits
        return x
    return x * 2


half = functools.partial(scale, k=0.5)


def call_partial(x: torch.Tensor):
    return half(x)


def apply(fn, x: torch.Tensor):
    return fn(x * 2)


def callback(v):
    if v > 0:  # waits
        return 1
    return 0


apply(callback, torch.ones(1, device="cuda"))


def outer(x: torch.Tensor):
    m = x > 0

    def inner():
        return x[m]  # waits

    return inner()


class Base(nn.Module):
    def pre(self, x):
        return x.abs()


class Derived(Base):
    def pre(self, x):
        y = super().pre(x)
        if y.sum() > 0:  # waits
            pass
        return y

    def forward(self, x):
        return self.pre(x)


def deco(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@deco
def decorated(x: torch.Tensor):
    return x.sum()


def use_deco(x: torch.Tensor):
    r = decorated(x)
    if r > 0:  # waits
        pass


class Prop:
    def __init__(self, x: torch.Tensor):
        self._x = x

    @property
    def mean(self):
        return self._x.mean()

    @functools.cached_property
    def total(self):
        return self._x.sum()


def use_prop(p: Prop):
    if p.mean > 0:  # waits
        pass
    if p.total > 0:  # waits
        pass


def generic(d: Dict[str, List[torch.Tensor]], e: "list[torch.Tensor]", f: "dict[str, tuple[torch.Tensor, int]]"):
    for k, v in d.items():
        for t in v:
            t.item()  # waits
    e[0].item()  # waits
    for t, n in f.values():
        if t > 0:  # waits
            pass
        if n > 0:
            pass
