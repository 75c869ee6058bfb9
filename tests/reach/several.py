import numpy as np
import torch

_CURRENT = None


class Current:
    def scale(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def begin():
    global _CURRENT
    _CURRENT = Current()


def current() -> Current:
    if _CURRENT is None:
        begin()
    return _CURRENT


def scaled(count):
    return 1 if current().scale(count) > 0 else 2  # waits


def begun(x: torch.Tensor):
    y, longest = _padded([x.relu(), x], 3)
    return y.max().item()  # waits


def begun_on_host(names):
    y, longest = _padded([torch.tensor([len(name)]) for name in names], 3)
    return y.max().item()


def _padded(xs, longest):
    y = xs[0].new_zeros(len(xs), longest)
    for i, x in enumerate(xs):
        y[i, : x.shape[0]] = x
    return y, longest


def halves(xs: list[torch.Tensor]):
    rows = torch.zeros((0, 3))
    for x in xs:
        rows = torch.cat([rows, x / 2])
    return rows.cpu()  # waits


class Halves:
    def __init__(self, x: torch.Tensor):
        self.rows = torch.empty(0) if x.shape[0] == 0 else x.relu()

    def longest(self):
        return self.rows.max().item()  # waits


def nothing():
    return torch.empty(0).tolist()


def sent(use_cuda, count):
    x = torch.zeros(count)
    if use_cuda:
        x = x.cuda()  # waits
    return x.sum().item()  # waits


def brought_back(use_cuda, x: torch.Tensor):
    y = torch.zeros(3)
    if use_cuda:
        y = x.relu().cpu()  # waits
    return y.sum().item()


class Output:
    loss: torch.FloatTensor = None
    scores: torch.Tensor | None = None
    kept: torch.Tensor = None
    name: str = None

    def keep(self):
        self.kept = torch.zeros(3)


def asked(output: Output, x: torch.Tensor):
    named = output.name == "a"
    if x.shape[0] and (x == output.scores).all():  # waits
        return named
    return x[output.loss > 0], output.kept.tolist()  # waits


def rotation(sin, eye, angle):
    out = eye(2)
    out[0, 0] = sin(angle)
    return out


def rotations(angle: torch.Tensor, arrays):
    if arrays:
        return rotation(np.sin, np.eye, angle.cpu().numpy())  # waits
    return rotation(torch.sin, lambda size: torch.eye(size, device=angle.device), angle)


def kept(angle: torch.Tensor):
    out = np.zeros(2)
    out[0] = torch.sin(angle)  # waits
    return out
