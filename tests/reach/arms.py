"""What one arm of a test binds, and another test of the same flag finds again."""

from collections.abc import Iterable, Mapping

import torch


class Quantizers(torch.nn.Module):
    def forward(self, x: torch.Tensor, count: int):
        if self.training:
            count = torch.randint(1, 9, (3,), device=x.device)
        for i, layer in enumerate(self.layers):
            if self.training is False and i >= count:
                break
            x = layer(x)
        if not self.training and count > 3:
            return x
        if self.training:
            return x[: int(count.max())]  # waits
        return x if count > 2 else x * 2

    def changed(self, x: torch.Tensor, fast: bool, slow: bool):
        limit = 3
        if fast:
            limit = x.max()
        if not fast and limit > 2:
            x = x * 2
        if not slow and limit > 2:  # waits
            x = x * 2
        if fast and limit > 2:  # waits
            x = x * 2
        return x

    def rebound(self, x: torch.Tensor, fast: bool):
        limit = 3
        if fast:
            limit = x.max()
        fast = not fast
        if not fast and limit > 2:  # waits
            x = x * 2
        return x

    def moved(self, x: torch.Tensor, fast: bool):
        limit = 3
        if fast:
            limit = x.max()
        for _ in range(3):
            if not fast and limit > 2:  # waits
                x = x * 2
            limit = x.min()
        return x


class Numbers(torch.nn.Module):
    def forward(self, output):
        if (torch.is_tensor(output) or isinstance(output, str)) and len(output.shape) == 0:
            return [float(output)]  # waits
        elif isinstance(output, Mapping):
            return [float(output[name]) for name in self.names]
        elif isinstance(output, Iterable):
            return [float(one) for one in output]  # waits
        else:
            return [float(output)]
