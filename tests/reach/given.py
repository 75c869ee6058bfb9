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
