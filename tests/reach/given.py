import torch


class Net(torch.nn.Module):
    def forward(self, x, mask):
        return self._lengths(mask, longest=x.shape[1]), self._other(mask, x.shape[1]), self._some(mask, x.shape[1])

    def again(self, x, mask):
        return self._lengths(mask, longest=x.shape[0]), self._other(mask), self._some(mask, longest=None)

    def _lengths(self, mask: torch.Tensor, longest: int | None = None):
        most = longest if longest is not None else mask.sum(-1).max()
        if longest is None:
            print(mask.max().item())  # waits: amortized
        return torch.arange(most, device=mask.device)

    def _other(self, mask: torch.Tensor, longest: int | None = None):
        most = longest if longest is not None else mask.sum(-1).max()
        return torch.arange(most, device=mask.device)  # waits: hot

    def _some(self, mask: torch.Tensor, longest: int | None = None):
        most = longest if longest is not None else mask.sum(-1).max()
        return torch.arange(most, device=mask.device)  # waits: hot


def default(value, other):
    if value is not None:
        return value
    return other() if callable(other) else other


class Sampler(torch.nn.Module):
    def forward(self, x, sigma=None):
        sigma = default(sigma, lambda: torch.rand(4, device=x.device).exp())
        return x if sigma.max() > 1 else x * self.steps(None)  # waits

    def steps(self, count=None):
        count = default(count, self.count)
        return torch.arange(count) if count > 1 else count
