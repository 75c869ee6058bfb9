"""Loaders that nothing but their name tells of, one or several."""

from __future__ import annotations

import pytest
from checked import codes

PHASES = """
import torch

def fit(model, {name}, optimizer):
    for phase in ["train", "val"]:
        for x, y in {taken}:
            print(y.sum().item())
            x = x.to("cuda:0")
            model(x).sum().backward()
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("name", "taken", "found"),
    [
        ("loader", "loader", ["SG301"]),
        ("dataloaders", "dataloaders[phase]", ["SG301"]),
        ("loaders", "loaders[0]", ["SG301"]),
        ("loaders", "loaders.get(phase)", ["SG301"]),
        ("loaders", "[batch for loader in loaders for batch in loader]", ["SG301"]),
        ("data", "data[phase]", ["SG201"]),
    ],
)
def test_what_one_of_several_loaders_gives_is_on_the_host(name: str, taken: str, found: list[str]) -> None:
    assert codes(PHASES.format(name=name, taken=taken)) == found


def test_the_first_batch_of_one_of_them() -> None:
    assert codes("def show(loaders):\n    x, y = next(iter(loaders['val']))\n    print(y.sum().item())\n") == []


def test_the_loaders_of_a_dict_and_their_names() -> None:
    text = """
def show(loaders):
    for name, loader in loaders.items():
        for x, y in loader:
            print(name, y.sum().item())
"""
    assert codes(text) == []
