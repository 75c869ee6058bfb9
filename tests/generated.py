"""A seed in, a program of reads, writes, masks, loops and gates over a few tensors out: `f(x, y, k)`."""

from __future__ import annotations

from itertools import pairwise
from random import Random

HEAD = """\
import torch
import torch.nn.functional as F


def bump(t):
    t.add_(1)
    return t


def f(x: torch.Tensor, y: torch.Tensor, k: int):
"""
STARTS = ("x, y = x.float() * 2, y.float() + 1", "y = y.float() * 1", "x, y = x.abs(), y.abs()", "x = x * 1", "pass")
SHARED = ("z, w = x + y, y * 2", "z, w = x.view(-1), y.clone()", "z, w = x, y[:]", "z, w = x.clone(), x.clone()")
ENDS = ("out, total, n, a, b, x, y, z, w", "out, total, x", "total, n, a", "out")
NUMBERS = (
    "V.sum()", "V.max()", "V.float().mean()", "V[I]", "(V > 1).sum()", "V.min()", "V.argmax()", "V.abs().sum()",
    "(V * V).sum()", "(V > k).any()", "V.view(-1)[0]",
)  # fmt: skip
READS = ("N.item()", "int(N)", "float(N)", "N.detach().cpu().item()")
LINES = (
    "a = R",
    "b = R",
    "a, b = R, R",
    "out.append(R)",
    "out.append((R, R))",
    "out.append(a)",
    "total += R",
    "n += int(N)",
    "total -= R * 2",
    "V[I] = R",
    "V[I] = 3",
    "V.add_(k)",
    "V += 1",
    "V[m] = V[m]",
    "x[m] = x[m] + 1",
    "V[m] = V[m] * 2 - 1",
    "V[m] *= 2",
    "out.append(V[m])",
    "out.append(V[m] + V[m])",
    "m = V > k",
    "V = V + 1",
    "V = V.clone()",
    "V = V.view(-1)",
    "V = V[:]",
    "bump(V)",
    "bump(t=V)",
    "out.append([v.item() for v in V])",
    "out.append([V[j].item() for j in range(3)])",
    "out.append(sum(v.item() * 2 for v in V))",
    "out.append(torch.tensor(0.5, device=V.device) * V)",
    "out.append(torch.tensor([k], device=V.device) * V)",
    "out.append(torch.zeros(k).to(V.device))",
    "out.append(torch.arange(k).to(V.device))",
    "out.append(V.new_tensor([2]))",
    "V.copy_(V)",
    "V.data = V * 2",
    "out.append((y.repeat_interleave(y.long().abs()), torch.arange(y.long().abs().sum())))",
    "F.relu(V, True)",
    "torch.add(V, 1, out=V)",
    "out.append(V[V.argmax()])",
    "out.append(max(R, 1))",
    "out.append(f'{R}')",
    "if N > 1:\n    a = R",
    "if k > 3:\n    return out",
)
LOOPS = ("for i in range(3):", "for i in range(len(V)):", "for v in V:", "for i, v in enumerate(V):")
OVER = ("out.append(v.item())", "total += v.item()", "a = v.item()\nout.append(a * 2)", "n += int(v)", "v.add_(1)")
GATES = ("if k > 1:", "if k % 2 == 0:", "if flag:", "if len(out) > 2:", "if m.any():", "if not m.any():")


def program(seed: int) -> str:
    """The same program for the same seed."""
    random = Random(seed)
    lines = [random.choice(STARTS), random.choice(SHARED), "m = x > 1", "a = b = 0", "total, n, i = 0.0, 0, 0"]
    lines += ["out, flag = [], k > 0", *_block(random, 0, False), f"return {random.choice(ENDS)}"]
    return HEAD + "".join(f"    {row}\n" for line in lines for row in line.split("\n"))


def _block(random: Random, depth: int, looped: bool) -> list[str]:
    lines: list[str] = []
    for _ in range(random.randint(2, 6) if not depth else random.randint(1, 3)):
        kind = random.random()
        if depth < 2 and kind < 0.2:
            head = random.choice(LOOPS)
            body = _block(random, depth + 1, True)
            if " v in" in head:
                body.insert(random.randint(0, len(body)), random.choice(OVER))
            lines.append("\n".join([_filled(head, random, looped), *_indented(body)]))
        elif depth < 3 and kind < 0.35:
            lines.append("\n".join([random.choice(GATES), *_indented(_block(random, depth + 1, looped))]))
        elif looped and kind < 0.4:
            lines.append("if k > 2:\n    break")
        else:
            lines.append(_filled(random.choice(LINES), random, looped))
    return lines


def _indented(lines: list[str]) -> list[str]:
    return [f"    {row}" for line in lines for row in line.split("\n")]


def _filled(line: str, random: Random, looped: bool) -> str:
    """The line with something for each capital letter that stands alone: a read, a number, a variable, a place."""
    for letter, choices in (
        ("R", READS),
        ("N", NUMBERS),
        ("V", ("x", "y", "z", "w")),
        ("I", ("0", "1", "-1", "k", "i" if looped else "0")),
    ):
        words = line.split(letter)
        made = words[0]
        for before, after in pairwise(words):
            alone = not (before[-1:].isalnum() or after[:1].isalnum())
            made += (random.choice(choices) if alone else letter) + after
        line = made
    return line
