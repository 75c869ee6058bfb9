import contextlib
import enum
import heapq
import operator
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Protocol, TypedDict, Self

import numpy as np
import torch
from torch import Tensor, nn


class Batch(TypedDict):
    ids: Tensor
    n: int


class Scorer(Protocol):
    def score(self, x: Tensor) -> Tensor: ...


class Mode(enum.Enum):
    A = 1


@dataclass
class ModelOutput(OrderedDict):
    loss: Tensor | None = None
    logits: Tensor | None = None

    def to_tuple(self):
        return tuple(self.values())


def typed(b: Batch, s: Scorer, m: Mode):
    b["ids"].max().item()  # waits
    if b["n"] > 3:
        pass
    if s.score(b["ids"]) > 0:  # waits
        pass
    if m == Mode.A:
        pass


class Head(nn.Module):
    def forward(self, x: Tensor) -> ModelOutput:
        return ModelOutput(loss=x.sum(), logits=x)


class Net(nn.Module):
    limit: Tensor

    def __init__(self, limit: float = 1.0):
        super().__init__()
        self.head = Head()
        self.register_buffer("limit", torch.tensor(limit))
        self.hist = []
        self.seen = defaultdict(list)

    def forward(self, x: Tensor):
        out = self.head(x)
        if out.loss > self.limit:  # waits
            pass
        if out["logits"].max() > 0:  # waits
            pass
        self.hist.append(out.loss)
        self.seen["a"].append(out.loss)
        return out

    def flush(self):
        for loss in self.hist:
            loss.item()  # waits
        for k, v in self.seen.items():
            v[0].item()  # waits
        return sum(self.hist).item()  # waits

    @classmethod
    def build(cls) -> Self:
        return cls()

    @staticmethod
    def clip(x: Tensor):
        return x.clamp(0, 1)


def use(x: Tensor):
    net = Net.build()
    y = Net.clip(x)
    if y.sum() > 0:  # waits
        pass
    if net.limit > 0:  # waits
        pass


def functional(xs: list[Tensor], x: Tensor):
    t = reduce(operator.add, xs)
    t.item()  # waits
    if any(v > 0 for v in xs):  # waits
        pass
    m = max(xs)  # waits
    s = sorted(xs, key=lambda v: v.item())  # waits
    q = list(map(lambda v: v.item(), xs))  # waits
    a, *rest = x.unbind(0)
    rest[0].item()  # waits
    d = {k: v for k, v in zip("ab", xs)}
    d["a"].item()  # waits
    dq = deque(maxlen=3)
    dq.append(x.sum())
    dq[0].item()  # waits
    u, v = zip(*[(t, 1) for t in xs])
    u[0].item()  # waits
    if v[0] > 0:
        pass
    return m, s, q, a


def texts(x: Tensor):
    a = "%s" % x  # waits
    b = "{}".format(x)  # waits
    c = str(x)  # waits
    d = repr(x)  # waits
    e = f"{x.shape} {x.dtype} {len(x)} {x.ndim}"
    print("x", x)  # waits
    return a, b, c, d, e


@lru_cache
def table(n: int):
    return torch.arange(n, device="cuda")


@contextlib.contextmanager
def timed():
    yield


def cached(x: Tensor):
    with timed(), torch.no_grad():
        t = table(3)
    return t[0].item()  # waits


def arrays(a: np.ndarray, n: int):
    if a.sum() > 0 and a[a > 0].size:
        return a.mean().item(), float(a.max())
    b = np.stack([a, a])
    for row in b:
        if row.any():
            return row.tolist()
    return torch.from_numpy(b).sum().item()


def nested(x: Tensor):
    count = 0

    def bump(v):
        nonlocal count
        count += v.item()  # waits

    bump(x.sum())
    return count


def tried(x: Tensor):
    try:
        y = x.cholesky_solve(x)
    except RuntimeError:
        y = x.abs()
    finally:
        z = x.sum()
    return y.max().item(), z.item()  # waits


def sizes(x: Tensor, mask: Tensor | None = None):
    b, n = x.shape
    for i in range(b):
        if n > 3 and x.size(0) == b and mask is None:
            pass
    k = min(n, 5)
    v, idx = x.topk(k)
    if idx.numel() == 0 or x.numel() > 3:
        return None
    lengths = [len(r) for r in x]
    return v, max(lengths), x[:, :k], x[idx[0]]


def host(x: Tensor):
    y = x.cpu()  # waits
    if y.sum() > 0:
        return y[y > 0].tolist()
    z = y.numpy()
    return float(z.sum()), y.max().item()


def segments(src: Tensor, bounds: Tensor, batched: bool):
    for i in range(len(bounds) - 1):
        if batched:
            part = (slice(None), slice(bounds[i], bounds[i + 1]))
        else:
            part = slice(bounds[i], bounds[i + 1])
        src[part].sum()  # waits


def tridiagonal(b: Tensor, n: int):
    parts = np.empty(n, dtype=object)
    numbers = np.empty(n)
    parts[0] = b[..., 0]
    numbers[0] = b[0, 0]  # waits
    for i in range(1, n):
        parts[i] = b[..., i] - parts[i - 1]
    return torch.stack(parts.tolist(), dim=-1), parts[0].max().item()  # waits


def best(losses: Tensor, orders: Tensor, hot: Tensor):
    each = torch.einsum("bij,pij->bp", [losses, hot])
    each /= losses.shape[-1]
    low, index = torch.min(each, dim=1)
    return low, torch.stack([orders[i] for i in index])  # waits


def queued(scores: Tensor):
    heap = [(score, i) for i, score in enumerate(scores)]
    heapq.heapify(heap)  # waits
    return heapq.heappop(heap)  # waits
