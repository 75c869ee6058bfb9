import numpy as np
import renderer
import torch
from torch import zeros_like
from torch.nn.functional import softmax


def picked(x: torch.Tensor, size):
    image, alpha = renderer.draw(torch.sigmoid(x), size)
    image[alpha > 0] = image[alpha > 0] / alpha[alpha > 0]  # waits
    image[alpha == 0] = 1000.0
    return image[~(alpha > 1)]  # waits


def picked_of_arrays(x: torch.Tensor, size):
    image, alpha = renderer.draw(torch.sigmoid(x), size)
    image[alpha > 0] = np.abs(image[alpha > 0])
    return image


def picked_of_nothing(size):
    image, alpha = renderer.draw(size)
    return image[alpha > 0]


def taken_by_torch(size):
    values = renderer.values(size)
    negative = zeros_like(values)
    negative[values < 0] = -values[values < 0]  # waits
    scores = renderer.scores(size)
    return softmax(scores, dim=-1), scores.max().item()  # waits


def like_what_was_computed(x: torch.Tensor, device):
    return zeros_like(renderer.draw(x)).to(device)


def fetched(size):
    outputs = renderer.outputs(size)
    return np.abs(outputs["depth"].cpu().numpy())  # waits


def fetched_twice(size):
    net = renderer.net(size)
    return np.zeros(3), net.cpu().float(), net.cpu().eval()  # waits


def fetched_of_host(sample, step):
    sample = np.concatenate([sample, sample])
    sample = renderer.scale(torch.from_numpy(sample), step)
    return np.abs(sample.cpu().numpy())


def fetched_of_host_at_once(sample, solver):
    return solver(torch.from_numpy(sample), 2).cpu().numpy().item()


def of_a_batch(batch):
    return np.abs(batch["label"].cpu().numpy())  # waits


def compared(sample, end):
    tokens = sample["tokens"]
    if tokens[:, 0].eq(end).all():  # waits
        return np.zeros(3)
    done = renderer.flags(tokens.shape)
    return np.zeros(3), done.nonzero(as_tuple=True)  # waits


def of_a_table(sample):
    import pandas

    rows = pandas.DataFrame(sample)
    return rows["tokens"].eq(0).all(), rows.to_numpy().nonzero()


def fetched_again(x):
    x = renderer.scale(x.cpu())  # waits
    x = renderer.scale(x.cpu().numpy(), 3)
    return np.abs(x)
