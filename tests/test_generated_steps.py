"""A loop over what a generator of the project gives: its turns are the steps of that, or each comes behind many."""

import pytest
from packaged import heats

ENGINE = """
import torch


def steps(net, batches, opt):
    for x in batches:
        loss = net(x).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield loss


def epochs(net, loader, opt, count):
    for epoch in range(count):
        total = torch.zeros((), device="cuda")
        for x in loader:
            loss = net(x).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.detach()
        yield total


def at_times(net, batches, opt):
    for n, x in enumerate(batches):
        loss = net(x).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if n % 100 == 0:
            yield loss


def words(net, ids: torch.Tensor):
    for _ in range(100):
        ids = torch.cat([ids, net(ids)[:, -1:].argmax(-1)], dim=1)
        yield ids[:, -1]


def slices(x: torch.Tensor, n_batches=3):
    x = x.cuda()
    for b in range(n_batches):
        yield x[b * len(x) // n_batches : (b + 1) * len(x) // n_batches]


def parts(x: torch.Tensor):
    for one in x.cuda().split(3):
        yield one.sum()
"""
DRIVES = """
import torch
from . import engine


def drive(net, loader, opt, ids: torch.Tensor):
    {above}
    for one in {given}:
        print(one.sum().item())
        {then}
"""
ABOVE = "made = engine.steps(net, loader.dataset, opt)"


@pytest.mark.parametrize(
    ("given", "then", "told"),
    [
        ("engine.steps(net, loader.dataset, opt)", "", "hot"),
        ("made", "", "hot"),
        ("engine.epochs(net, loader, opt, 3)", "", "amortized"),
        ("engine.epochs(net, loader, opt, 3)", "net(one).backward()", "hot"),
        ("engine.at_times(net, loader.dataset, opt)", "", "unknown"),
        ("engine.words(net, ids)", "", "hot"),
        ("engine.slices(ids)", "", "unknown"),
        ("engine.parts(ids)", "", "unknown"),
    ],
)
def test_a_loop_is_as_hot_as_what_its_generator_does_at_each_turn(given: str, then: str, told: str) -> None:
    drives = DRIVES.format(above=ABOVE, given=given, then=then)
    found = heats({"pkg/__init__.py": "", "pkg/engine.py": ENGINE, "pkg/drives.py": drives})
    assert found["pkg/drives.py"] == told
