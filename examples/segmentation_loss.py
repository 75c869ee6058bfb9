"""Train a small segmentation network with a loss that asks the device four questions in every step.

The loss looks harmless. Ten labels, the first is the background and does not count; the mean over the other
pixels is weighted by how many labels the batch shows. Each of its four questions is answered on the device, and
the host stands still until it hears the answer:

    is there any foreground?      an `if` on a tensor           SG204
    where is it?                  `nonzero`                     SG101
    which labels are left?        a boolean mask as an index    SG102
    how many different ones?      `unique`                      SG104

While the host waits it queues nothing, so the device runs dry after every answer. `segmentation_loss_fixed.py`
computes the same loss and the same gradients without asking.

    python segmentation_loss.py [--device cpu] [--steps 20]
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 10
BACKGROUND = 0


def foreground_loss(logits, labels):
    """Cross entropy over the foreground, weighted by the share of labels present: [N, C, H, W], [N, H, W] -> []."""
    scores = logits.permute(0, 2, 3, 1).reshape(-1, CLASSES)
    target = labels.reshape(-1)
    foreground = target != BACKGROUND

    if not foreground.any():  # sync: SG204
        return logits.sum() * 0.0

    pixels = torch.nonzero(foreground).squeeze(1)  # sync: SG101
    kept = target[foreground]  # sync: SG102
    present = torch.unique(kept)  # sync: SG104

    share = present.numel() / (CLASSES - 1)
    return F.cross_entropy(scores[pixels], kept) * share


class Segmenter(nn.Module):
    """Images to one score per label and pixel: [N, 3, H, W] -> [N, C, H, W]."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Conv2d(3, width, kernel_size=3, padding=1)
        self.head = nn.Conv2d(width, CLASSES, kernel_size=1)

    def forward(self, images):
        return self.head(F.relu(self.body(images)))


def batch(size, device):
    """Two random images, and labels of which about half are background."""
    images = torch.rand(2, 3, size, size, device=device)
    labels = torch.randint(0, CLASSES, (2, size, size), device=device)
    painted = torch.rand(2, size, size, device=device) < 0.5
    return images, torch.where(painted, labels, BACKGROUND)


def train(steps, size, device):
    model = Segmenter(width=16).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    images, labels = batch(size, device)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = foreground_loss(model(images), labels)
        loss.backward()
        optimizer.step()
    return loss


def main():
    parser = argparse.ArgumentParser(description="a segmentation loss that waits")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--size", type=int, default=32)
    args = parser.parse_args()
    train(args.steps, args.size, args.device)
    print(f"{args.steps} steps, four questions each")


if __name__ == "__main__":
    main()
