"""Fit a Gaussian process through a QR factorisation that is sent to the CPU when the matrix is small.

Someone measured once, on one card and one version of torch, that small factorisations are faster on the CPU, and
wrote the number into the source. The number ages: on a newer card or library the crossover lies elsewhere, often at
a fraction of it, and every matrix below the number pays three copies that the host waits for, and three more in
backward.

    a fixed size chooses the CPU      `if features.size(-1) <= SMALL`      SG306
    the matrix goes to the host       `.cpu()`                             SG202
    the factors come back             `.to(features.device)`, twice        SG305

Measure on the card at hand, the copies included, before a number is written down; or stay on the device.

    python gp_qr.py [--device cpu] [--steps 10]
"""

import argparse
import math

import torch

SMALL = 2048


def qr(features):
    """The thin QR of [N, M], on whichever side was faster when the number was written."""
    if features.size(-1) <= SMALL:  # sync: SG306
        q, r = torch.linalg.qr(features.cpu())  # sync: SG202
        q = q.to(features.device)  # sync: SG305
        r = r.to(features.device)  # sync: SG305
        return q, r
    return torch.linalg.qr(features)


def kernel(a, b, log_scale):
    """The squared exponential kernel of points on a line: [N], [M] -> [N, M]."""
    gap = (a.unsqueeze(-1) - b.unsqueeze(-2)) / log_scale.exp()
    return torch.exp(-0.5 * gap.square())


def evidence(x, y, inducing, log_scale, log_noise):
    """The negative log evidence of a Gaussian process with M inducing points, up to a constant."""
    points = inducing.numel()
    noise = log_noise.exp()
    features = kernel(x, inducing, log_scale) / math.sqrt(points)
    ridge = noise * torch.eye(points, device=x.device)
    q, r = qr(torch.cat([features, ridge]))
    inside = q[: x.numel()].mT @ y
    misfit = (y.square().sum() - inside.square().sum()) / noise.square()
    volume = 2 * r.diagonal().abs().log().sum() + 2 * (x.numel() - points) * log_noise
    return 0.5 * (misfit + volume)


def fit(steps, size, points, device):
    x = torch.linspace(0, 1, size, device=device)
    y = torch.sin(12 * x) + 0.1 * torch.randn(size, device=device)
    inducing = torch.linspace(0, 1, points, device=device)
    log_scale = torch.full((), -1.0, device=device, requires_grad=True)
    log_noise = torch.full((), -1.0, device=device, requires_grad=True)
    optimizer = torch.optim.Adam([log_scale, log_noise], lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = evidence(x, y, inducing, log_scale, log_noise)
        loss.backward()
        optimizer.step()
    return loss


def main():
    parser = argparse.ArgumentParser(description="a Gaussian process that waits")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--points", type=int, default=16)
    args = parser.parse_args()
    fit(args.steps, args.size, args.points, args.device)
    print(f"{args.steps} steps, three copies each way")


if __name__ == "__main__":
    main()
