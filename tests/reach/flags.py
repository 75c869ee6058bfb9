"""Flags: what nobody declared and is asked for its truth alone, and what is a flag by default."""

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


def taken(table, key, default=None):
    value = table.get(key, default)
    if isinstance(value, torch.Tensor):
        return value
    return default


def trained(table):
    if taken(table, "frozen", default=False):
        return None
    mask = taken(table, "mask")
    if mask is not None and mask.any():  # waits
        return mask
    if taken(table, "scale", default=1.0) > 2:  # waits
        return None
    return None
