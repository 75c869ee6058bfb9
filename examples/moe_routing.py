"""Train a mixture of experts that asks the device, for every expert, which tokens are its own.

The router is free. The loop after it is not: the host learns the size of every expert's share before it can queue
the expert, so a layer of eight experts stops the host eight times, and the balance statistics stop it again.

    which tokens go to this expert?     one-argument `where`, once per expert       SG101
    how many does each expert get?      `bincount`: `minlength` does not help       SG107
    as Python numbers, for the log      `.tolist()`                                 SG202

Ways out: sort the tokens by expert and run one grouped product over fixed offsets; or give each expert a fixed
capacity and drop or pad; or, for few experts, let each compute all tokens and weight the results. The statistics
can stay on the device (`scatter_add_`) and be read every n-th step. All of them change cost or result: measure.

    python moe_routing.py [--device cpu] [--steps 10]
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

EXPERTS = 8
CHOICES = 2


class MixtureOfExperts(nn.Module):
    """Each token through its two best experts: [T, D] -> [T, D]."""

    def __init__(self, width):
        super().__init__()
        self.router = nn.Linear(width, EXPERTS)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(EXPERTS)
        )
        self.load = [0] * EXPERTS

    def forward(self, tokens):
        gates = F.softmax(self.router(tokens), dim=-1)
        weights, chosen = gates.topk(CHOICES, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)

        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, slots = torch.where(chosen == number)  # sync: SG101
            if rows.numel() == 0:
                continue
            share = weights[rows, slots].unsqueeze(-1)
            out = out.index_add(0, rows, expert(tokens[rows]) * share)

        counts = torch.bincount(chosen.reshape(-1), minlength=EXPERTS)  # sync: SG107
        self.load = counts.tolist()  # sync: SG202
        return out


def train(steps, tokens, width, device):
    layer = MixtureOfExperts(width).to(device)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-3)
    x = torch.randn(tokens, width, device=device)
    target = torch.randn(tokens, width, device=device)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(layer(x), target)
        loss.backward()
        optimizer.step()
    return layer.load


def main():
    parser = argparse.ArgumentParser(description="mixture-of-experts routing that waits")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--width", type=int, default=16)
    args = parser.parse_args()
    load = train(args.steps, args.tokens, args.width, args.device)
    print(f"tokens per expert: {load}")


if __name__ == "__main__":
    main()
