import numpy as np
import torch


def normalize(x, limit):
    if x.dim() > 2:
        raise ValueError(x.shape)
    if x.norm() > limit:  # waits
        return x / x.norm()
    return x


def together(first, second, limit):
    both = torch.stack([first, second], dim=-1)
    if first > limit:  # waits
        return both
    return torch.exp(-2 * both)


def decayed(rate, step):
    weight = torch.exp(-rate / 2)
    return weight if rate > step else 1.0  # waits


def on_host(rates, first, second):
    both = np.stack([first, second])
    if first > second and rates[0] > np.exp(-first):
        return both
    return None


class Embedding(torch.nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, x, width):
        half = self.rows(width // 2)
        if width > 4:
            half = half + 1
        return self.rows(2 * width) + half

    def rows(self, count):
        return self.table[:count]


def above(x, limit):
    rows = x.size(0) if x.dim() > 1 else 1
    return rows if x > limit else 0  # waits


def penalty(weight):
    if weight.requires_grad and weight.shape[0] > 1:
        return weight if weight.norm() > 1 else 0  # waits
    return 0.0


def built(config, image, group):
    """Settings that are called as methods of tensors are, a picture, and processes."""
    if config.dim > 2 and config.topk > config.requires_grad:
        return image.size[0] if image.width > image.size[1] else image.shape
    return config.size if group.size() > 1 else group.rank()


def rebound(tokenizer, text, weights, ids: torch.Tensor):
    """Names that are given something else before torch is given them."""
    prefix = tokenizer(text)["input_ids"]
    count = int(prefix[0]) if prefix > text else len(prefix)
    prefix = torch.tensor(prefix, dtype=ids.dtype)
    layers = [int(k.split(".")[1]) for k in weights]
    for k in weights:
        q, k, v = weights[k].chunk(3)
        weights[layers[0]] = torch.cat([q, k, v])
    return torch.cat([prefix, ids.cpu()]), count  # waits
