"""Train a classifier in the loop that everybody writes first: it waits four times a step.

    batches in pageable memory          a `DataLoader` without `pin_memory`      SG303
    images and labels to the device     two blocking copies                      SG301
    the running loss                    `total += loss.item()`                   SG209
    the running accuracy                `.item()` again                          SG209

The cure is known. Give the loader `pin_memory=True` and the copies `non_blocking=True`; add up `loss.detach()` on
the device and read the sums once per epoch.

    python train_loop.py [--device cpu] [--epochs 2]
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 10


def train(epochs, samples, device):
    """Average loss and accuracy of the last epoch."""
    data = TensorDataset(torch.rand(samples, 1, 8, 8), torch.randint(0, CLASSES, (samples,)))
    loader = DataLoader(data, batch_size=16, shuffle=True)  # sync: SG303
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, CLASSES)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    for _ in range(epochs):
        total, correct = 0.0, 0
        for images, labels in loader:
            images = images.to(device)  # sync: SG301
            labels = labels.to(device)  # sync: SG301
            optimizer.zero_grad()
            scores = model(images)
            loss = F.cross_entropy(scores, labels)
            loss.backward()
            optimizer.step()
            total += loss.item()  # sync: SG209
            correct += (scores.argmax(dim=-1) == labels).sum().item()  # sync: SG209
    return total / len(loader), correct / samples


def main():
    parser = argparse.ArgumentParser(description="a training loop that waits")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--samples", type=int, default=128)
    args = parser.parse_args()
    loss, accuracy = train(args.epochs, args.samples, args.device)
    print(f"loss {loss:.3f}, accuracy {accuracy:.1%}")


if __name__ == "__main__":
    main()
