import numpy as np
import torch
import torch.nn.functional as F


def same(found, wanted):
    for a, b in zip(found, wanted):
        if not torch.allclose(a, b):  # waits
            return a.shape, float(b)  # waits
    return None


def beside_arrays(x: torch.Tensor, places, table):
    picked = torch.gather(x, 1, places)
    rows = np.asarray(table)
    return picked[: len(rows)], places.max().item()  # waits


def by_method(x: torch.Tensor, mask, source, index):
    x.masked_scatter_(mask, source)
    x.gather(0, index)
    return int(mask[0]), int(source[0]), int(index[0])  # waits


def by_name(table, index, logits, y, flags, n):
    picked = torch.index_select(table, 0, index=index) + table.gather(dim=n, index=y)
    loss = F.cross_entropy(input=logits, target=y)
    if index[0] > 3 and y[0] > 3:  # waits
        return weighed(picked, by=flags), int(flags[0])  # waits
    return torch.add(input=loss, other=n), torch.sum(loss, dim=n), int(n)


def weighed(x: torch.Tensor, *, by: torch.Tensor):
    return x * by


def many(a: torch.Tensor, b, c):
    total = torch.einsum("i,i->i", a, b) + torch.broadcast_tensors(a, c)[1]
    return total, int(b[0]), int(c[0])  # waits


def may_be_numbers(x: torch.Tensor, low, weight, size, value, boundaries):
    """What torch takes as numbers, too, or as sizes."""
    y = torch.where(x > 0, x, low) + torch.add(x, weight) + F.pad(x, size) + x.scatter_(0, x.long(), value)
    y = torch.lerp(x, y, weight) * torch.bucketize(low, boundaries)
    return y if low > 0 and weight > 0 and size[0] > 0 and value > 0 else int(boundaries[0])  # waits


def may_be_lists(rows, indices, values, size):
    y = torch.as_tensor(rows) + torch.sparse_coo_tensor(indices, values, size)
    return y if rows[0] > 1 and values[0] > 2 else indices[0] > 1


def own(store, key, mask):
    """Methods of others, by names that tensors have, too."""
    store.gather(key, mask)
    store.dot(key, mask)
    return int(key), int(mask)


def read_back(x: torch.Tensor, lens):
    last = lens - 1
    x.scatter_(-1, last.unsqueeze(-1), 0)
    return [row[:n] for row, n in zip(x, lens)]  # waits


def doubled(total, limit):
    kept = (2 * total - 1).clamp(min=0)
    return kept if total > limit else 0  # waits


def reshaped(total, limit, other):
    """What arrays have as well, a name that holds other things, and what is computed with something else."""
    flat = (total - 1).reshape(-1)
    last = limit - 1
    last = torch.zeros(3) if last is None else last
    last.unsqueeze(-1)
    both = (other * flat).unsqueeze(0)
    return both if total > 0 and limit > 0 and other > 0 else flat


def pad_to(x, pad: tuple[int, int]):
    if pad == (0, 0):  # waits
        return x
    return F.pad(x, pad)  # waits


def align(x: torch.Tensor, lens: torch.Tensor):
    return pad_to(x, ((x.shape[1] - lens).amax(), 0))


def padded(x, pad: tuple[int, int]):
    return x if pad == (0, 0) else F.pad(x, pad)


def aligned(x: torch.Tensor, lens: list[int]):
    return padded(x, (x.shape[1] - max(lens), 0))


def wide(count: int):
    return 1 if count == 0 else 2  # waits


def widest(lens):
    return wide(lens.amax())
