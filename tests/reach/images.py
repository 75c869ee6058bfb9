"""What may be an image of a library beside a tensor is what a user gives: nobody knows where it is."""

import numpy as np
import PIL.Image
import torch


def checked(image: PIL.Image.Image | torch.Tensor):
    if isinstance(image, torch.Tensor):
        if image.min() < 0:
            raise ValueError("below zero")
        image = image.to("cuda")
        return image / image.max().item()  # waits
    return np.asarray(image)


def fetched(values: np.ndarray | torch.Tensor):
    return values.cpu().numpy() if isinstance(values, torch.Tensor) else values  # waits


def masked(image: torch.Tensor | None):
    return image[image > 0]  # waits
