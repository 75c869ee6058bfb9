"""hoist-read: what a loop may change, itself or through what it calls, is read in the loop."""

import pytest
from fixing import rewritten

HEAD = """\
import torch
from torch import nn, optim


class Stats:
    def __init__(self, x: torch.Tensor):
        self.mean = x

    def update(self, x: torch.Tensor):
        self.mean = x.mean()


"""
STAYS = {
    "another tensor": (
        "def f(y: torch.Tensor, rows: torch.Tensor):\n    for row in rows:\n        row *= y.sum().item()\n"
    ),
    "an object that nobody calls": (
        "def f(stats: Stats, rows: torch.Tensor):\n    for row in rows:\n        row -= stats.mean.item()\n"
    ),
    "what was computed from a parameter": (
        "def f(x: torch.Tensor, opt: optim.Optimizer, rows: torch.Tensor):\n    y = x * 2\n    for row in rows:\n"
        "        (row * x).sum().backward()\n        opt.step()\n        row *= y.sum().item()\n"
    ),
    "a buffer beside the layers": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))\n"
        '        self.register_buffer("scale", torch.ones(()))\n\n'
        "    def forward(self, x):\n        for layer in self.layers:\n"
        "            x = layer(x) * self.scale.item()\n        return x\n"
    ),
    "what a layer is given, too": (
        "class Net(nn.Module):\n    def __init__(self, layer):\n        super().__init__()\n"
        "        self.layer = layer\n\n"
        "    def forward(self, x, lengths: torch.Tensor):\n        for _ in range(4):\n"
        "            x = self.layer(x, lengths, lengths.tolist())\n        return x\n"
    ),
}
CHANGES = {
    "the step of an optimizer": (
        "def f(alpha: torch.Tensor, opt: optim.Optimizer, rows: torch.Tensor):\n    for row in rows:\n"
        "        (row * alpha).sum().backward()\n        opt.step()\n        row *= alpha.exp().item()\n"
    ),
    "the step of an optimizer, of a leaf made here": (
        "def f(rows: torch.Tensor):\n    alpha = torch.zeros((), device=rows.device, requires_grad=True)\n"
        "    opt = optim.SGD([alpha], lr=0.1)\n    for row in rows:\n        (row * alpha).sum().backward()\n"
        "        opt.step()\n        row *= alpha.exp().item()\n"
    ),
    "a method of the object": (
        "def f(stats: Stats, rows: torch.Tensor):\n    for row in rows:\n        stats.update(rows)\n"
        "        row -= stats.mean.item()\n"
    ),
    "a function that is given the object": (
        "def f(stats: Stats, rows: torch.Tensor, change):\n    for row in rows:\n        change(stats)\n"
        "        row -= stats.mean.item()\n"
    ),
    "a function that is given the tensor": (
        "def f(y: torch.Tensor, rows: torch.Tensor, change):\n    for row in rows:\n        change(y)\n"
        "        row -= y.sum().item()\n"
    ),
    "its attribute": (
        "def f(stats: Stats, rows: torch.Tensor):\n    for row in rows:\n        stats.mean = row.mean()\n"
        "        row -= stats.mean.item()\n"
    ),
    "memory that it shares": (
        "def f(buf: torch.Tensor, rows: torch.Tensor):\n    n = buf[0]\n    for row in rows:\n        buf.add_(1)\n"
        "        row *= n.item()\n"
    ),
    "a method of self": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        '        self.register_buffer("scale", torch.ones(()))\n\n'
        "    def grow(self):\n        self.scale.mul_(2)\n\n"
        "    def forward(self, x):\n        for _ in range(4):\n            self.grow()\n"
        "            x = x * self.scale.item()\n        return x\n"
    ),
}


@pytest.mark.parametrize("program", STAYS)
def test_what_a_loop_leaves_alone_is_read_before_it(program: str) -> None:
    after = rewritten(HEAD + STAYS[program], "hoist-read", unsafe=True)
    assert after is not None
    assert after.index("_host = ") < after.index("    for ")
    assert rewritten(HEAD + STAYS[program], "hoist-read") is None, "not proven"


@pytest.mark.parametrize("program", CHANGES)
def test_what_a_loop_may_change_is_read_in_it(program: str) -> None:
    assert rewritten(HEAD + CHANGES[program], "hoist-read", unsafe=True) is None
