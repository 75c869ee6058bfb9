import torch


class Counts:
    def __init__(self):
        self.counts: torch.Tensor | None = None
        self.sums: torch.Tensor | None = None

    def update(self, x: torch.Tensor):
        counts = x.sum(0).cpu()  # waits
        self.counts = counts if self.counts is None else self.counts + counts
        self.sums = x.sum(1)

    def total(self):
        return told(self.counts), _sum(self.counts), told_both(self.sums)


def told(counts: torch.Tensor | None):
    return counts.sum().item()


def _sum(counts: torch.Tensor | None):
    return counts.max().item()


def told_both(counts: torch.Tensor | None):
    return counts.max().item()  # waits


def wide(count: int):
    return 1 if count == 0 else 2


def widest(state):
    """What only looks like a tensor, as torch alone is used here, is no proof against a declared number."""
    return wide(state.lengths.max())


def pasted(masks: torch.Tensor, shape: tuple[int, int]):
    return masks.new_zeros(int(shape[0]), int(shape[1]))


def paste(batch: list[dict[str, torch.Tensor]]):
    """Sizes are in such a dict, too, whatever is declared: of two that are only declared the nearer is believed."""
    return [pasted(one["masks"], (one["height"], one["width"])) for one in batch]
