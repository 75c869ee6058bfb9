from __future__ import annotations

import torch
from torch import Tensor, nn
from jaxtyping import Float, Int, Bool
from torch.utils.data import DataLoader, Dataset
from typing import Any, Callable, Generic, Iterator, Protocol, Sequence, TypeVar, Union

T = TypeVar("T")


def jax(x: Float[Tensor, "b d"], m: Bool[Tensor, "b"], i: Int[torch.Tensor, ""]):
    y = x[m]  # waits
    if i > 0:  # waits
        return y
    return x


class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        if x.max() > 0:  # waits: hot
            return x * x
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        if x.max() > 0:  # waits: hot
            return grad * 2 * x
        return grad.item()  # waits: hot


class Lit(nn.Module):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("loss", loss.item())  # waits: hot
        return loss

    def validation_step(self, batch, batch_idx):
        out = self.net(batch["x"])
        return out.sum().item()  # waits: hot

    def on_train_epoch_end(self):
        pass

    def on_train_batch_end(self, outputs, batch, batch_idx):
        print(outputs["loss"].item())  # waits: hot

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


class Words(Dataset):
    def __getitem__(self, i):
        x = torch.arange(10)
        return x[x > 3], x.sum().item()


def collate(batch):
    xs = torch.stack([b[0] for b in batch])
    return xs, xs.max().item()


def train(model, ds):
    loader = DataLoader(ds, batch_size=2, collate_fn=collate, pin_memory=True)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for xs, top in loader:
        xs = xs.to("cuda", non_blocking=True)
        loss = model(xs).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if top > 3:
            pass
        print(loss.item())  # waits: hot


class Trainer2:
    def compute_loss(self, model, inputs, return_outputs=False):
        out = model(**inputs)
        loss = out.loss
        if torch.isnan(loss):  # waits: hot
            loss = loss * 0
        return loss

    def prediction_step(self, model, inputs, prediction_loss_only):
        with torch.no_grad():
            loss = self.compute_loss(model, inputs)
        return loss.item()  # waits: hot


class Box(Generic[T]):
    def __init__(self, value: T):
        self.value = value

    def get(self) -> T:
        return self.value


def use_box(x: Tensor):
    b = Box(x)
    b.get().item()  # waits
    c: Box[Tensor] = make()
    c.value.item()  # waits


def make() -> Any: ...


def walk(xs: Sequence[Tensor], f: Callable[[Tensor], Tensor], it: Iterator[Tensor]):
    for x in xs:
        f(x).item()  # waits
    next(it).item()  # waits


def lam(x: Tensor):
    g = lambda v: v.item()  # waits
    return g(x)


def gen(x: Tensor):
    for i in range(3):
        yield x * i


def use_gen(x: Tensor):
    for y in gen(x):
        if y.max() > 0:  # waits
            pass


def star(*xs: Tensor, **kw: Tensor):
    xs[0].item()  # waits
    kw["a"].item()  # waits


def walrus(x: Tensor):
    if (m := x.max()) > 0:  # waits
        return m.item()  # waits


def matching(x: Tensor, kind: str):
    match kind:
        case "a":
            y = x.sum()
        case _:
            y = x.mean()
    return y.item()  # waits


def compiled(x):
    return x * x.max().item()  # waits: hot


fast = torch.compile(compiled)


@torch.compile(fullgraph=True)
def compiled2(x: Tensor):
    return x * x.max().item()  # waits: hot


class M2(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = torch.compile(self._step)

    def _step(self, x: Tensor):
        return x.max().item()  # waits: hot
