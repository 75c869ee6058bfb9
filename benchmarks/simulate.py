"""What the simulated device costs: a training step of a small llama, the segmentation loss, one operation."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "segmentation_loss.py"
LLAMA = {"hidden": 256, "layers": 4, "heads": 4, "inner": 688, "words": 32000, "batch": 4, "length": 128}
LOSS = {"batch": 8, "side": 256}
CALLS = 20_000


def simulate(rounds: int = 5) -> list[str]:
    """A table: plain CPU, simulated, their ratio; whether the losses are equal bit for bit."""
    import torch

    from syncguard import pack
    from syncguard.observe.simulate import Simulation

    rules = pack.load()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    lines = ["| program | plain CPU | simulated | ratio | waits a step | losses |", "|---|---|---|---|---|---|"]
    for name, make in (("llama training step", llama), ("segmentation loss", loss)):
        plain, simulated, waits = [], [], 0
        torch.manual_seed(0)
        step = make("cpu")
        expected = timed(step, rounds, plain)
        told: list[Any] = []
        torch.manual_seed(0)
        with Simulation(rules, told.append):
            step = make("cuda")
            told.clear()
            found = timed(step, rounds, simulated)
            waits = len(told) // (rounds + 1)
        equal = "equal" if [x.cpu().tolist() for x in expected] == [x.tolist() for x in found] else "**differ**"
        ratio = median(simulated) / median(plain)
        lines.append(
            f"| {name} | {median(plain):.1f} ms | {median(simulated):.1f} ms | {ratio:.2f} | {waits} | {equal} |"
        )
    with Simulation(rules, lambda _: None):
        there = per_call("cuda")
    bare = per_call("cpu")
    lines += ["", f"One operation on four elements: {bare:.1f} us plain, {there:.1f} us simulated."]
    return lines


def timed(step: Callable[[], Any], rounds: int, into: list[float]) -> list[Any]:
    """The values of a step, after one to warm up."""
    found = [step().detach()]
    for _ in range(rounds):
        start = time.perf_counter()
        value = step().detach()
        into.append((time.perf_counter() - start) * 1e3)
        found.append(value)
    return found


def per_call(device: str) -> float:
    """Microseconds of an addition that is nothing but its overhead."""
    import torch

    x = torch.ones(4, device=device)
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(CALLS // 5):
            x + x
        best = min(best, (time.perf_counter() - start) / (CALLS // 5) * 1e6)
    return best


def loss(device: str) -> Callable[[], Any]:
    """The loss of the example, forward and backward."""
    import torch

    spec = importlib.util.spec_from_file_location("segmentation_loss", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    shape = (LOSS["batch"], example.CLASSES, LOSS["side"], LOSS["side"])
    scores = torch.randn(shape).to(device).requires_grad_()
    labels = torch.randint(example.CLASSES, (shape[0], *shape[2:])).to(device)

    def step() -> Any:
        value = example.foreground_loss(scores, labels)
        value.backward()
        scores.grad = None
        return value

    return step


def llama(device: str) -> Callable[[], Any]:
    """Forward, backward, clipping and AdamW of a decoder with rotary positions, RMS norms and gated layers."""
    import torch
    from torch import nn
    from torch.nn import functional

    size, heads = LLAMA["hidden"], LLAMA["heads"]

    def turned(x: Any) -> Any:
        left, right = x.chunk(2, -1)
        return torch.cat((-right, left), -1)

    class Norm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(size))

        def forward(self, x: Any) -> Any:
            wide = x.float()
            return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Linear(size, size, bias=False) for _ in range(4))
            self.gate, self.up = (nn.Linear(size, LLAMA["inner"], bias=False) for _ in range(2))
            self.down, self.before, self.after = nn.Linear(LLAMA["inner"], size, bias=False), Norm(), Norm()

        def forward(self, x: Any, cos: Any, sin: Any) -> Any:
            y = self.before(x)
            q, k, v = (part(y).unflatten(-1, (heads, -1)).transpose(1, 2) for part in (self.q, self.k, self.v))
            q, k = q * cos + turned(q) * sin, k * cos + turned(k) * sin
            x = x + self.o(functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
            y = self.after(x)
            return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(LLAMA["words"], size)
            self.layers = nn.ModuleList(Layer() for _ in range(LLAMA["layers"]))
            self.norm, self.head = Norm(), nn.Linear(size, LLAMA["words"], bias=False)

        def forward(self, ids: Any) -> Any:
            rates = 1 / (10000 ** (torch.arange(0, size // heads, 2, device=ids.device).float() / (size // heads)))
            angles = torch.outer(torch.arange(ids.shape[1], device=ids.device).float(), rates).repeat(1, 2)
            x = self.words(ids)
            for layer in self.layers:
                x = layer(x, angles.cos(), angles.sin())
            return self.head(self.norm(x))

    model = Model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids = torch.randint(LLAMA["words"], (LLAMA["batch"], LLAMA["length"])).to(device)

    def step() -> Any:
        value = functional.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return value

    return step


if __name__ == "__main__":
    print("\n".join(simulate(int(sys.argv[1]) if len(sys.argv) > 1 else 5)))
