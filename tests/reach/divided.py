"""Where the evidence is divided: of an array or a tensor, of a list or a number."""

import numpy as np
import torch


def scaled(x: torch.Tensor, factors: list):
    for factor in factors:
        if isinstance(factor, list):
            factor = sum(factor)
        x = x + factor * x
    return x


def scaled_by(x: torch.Tensor, factor, many: bool):
    if isinstance(factor, list) and many:
        return x * sum(factor)
    return factor * x


def hidden(image: torch.Tensor, mask: np.ndarray | torch.Tensor):
    image[(mask > 0.5).repeat(3, 1, 1)] = -1
    return image


def hidden_by_array(image: torch.Tensor, mask: np.ndarray):
    return image[mask.nonzero()[0]]  # waits


def repeated(x: torch.Tensor):
    return [0] * x.sum()  # waits


scaled_by(torch.ones(3, device="cuda"), 0.5, False)
