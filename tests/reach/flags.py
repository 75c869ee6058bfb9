"""Parameters of a forward that nobody declared: what is asked for its truth alone is a flag."""

import torch


class Encoder(torch.nn.Module):
    def forward(self, x, output_attentions, mask, last):
        found = ()
        for block in self.blocks:
            x, attention = block(x, output_attentions)
            if output_attentions:
                found += (attention,)
        y = self.norm(x) if last else x
        if mask.any():  # waits
            y = y * 2
        return (y, found) if not output_attentions else y[y > 0]  # waits
