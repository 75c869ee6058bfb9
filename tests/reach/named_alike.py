"""Methods that only one class has: by their names it is known what they do, whatever they are asked of."""

import torch


def train(net, writer, batches):
    for i, x in enumerate(batches):
        loss = net(x.cuda(non_blocking=True)).sum()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        norm = norm.full_tensor()
        if norm > 100:  # waits
            break
        writer.add_scalar("loss", loss, i)  # waits
        writer.add_scalar("rate", 0.1, i)
        writer.add_scalars("all", {"loss": loss, "norm": norm}, i)  # waits
        writer.add_image("x", i)


def packed(x: torch.Tensor):
    held = x.to_sparse()  # waits
    again = held.to_sparse()
    return again, held.to_dense().to_sparse()  # waits
