"""Blocks: what a manager of the project does before and behind them runs as often as they do."""

import torch


class Shown:
    def __init__(self, loss):
        self.loss = loss

    def __enter__(self):
        return self.loss * 2

    def __exit__(self, kind, value, trace):
        print(self.loss)  # waits: hot


class Opened:
    async def __aenter__(self):
        torch.cuda.synchronize()  # waits: hot
        return torch.ones(3, device="cuda")

    async def __aexit__(self, *fault):
        torch.cuda.empty_cache()  # waits: hot


def train(net, batches):
    for x in batches:
        loss = net(x.cuda(non_blocking=True)).sum()
        with Shown(loss) as twice:
            twice.backward()
            if twice > 3:  # waits: hot
                return


async def stepped(net, batches):
    for x in batches:
        net(x.cuda(non_blocking=True)).sum().backward()
        async with Opened() as ones, Shown(ones):
            float(ones.sum())  # waits: hot
