"""What itertools, draws and sorting give and ask of the tensors in a list."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import itertools, random, torch
from torch import Tensor


def f(xs: list[Tensor], ns: list[int]):
    """


codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize(
    "text",
    [
        "for x, n in itertools.product(xs, ns): range(n), x.item()",
        "for x, y in itertools.combinations(xs, 2): y.item()",
        "for x, y in itertools.pairwise(xs): y.item()",
        "for x, n in itertools.zip_longest(xs, ns, fillvalue=0): range(n), x.item()",
        "for n, x in itertools.chain([(0, xs[0])], zip(ns, xs)): range(n), x.item()",
        "for x in itertools.chain.from_iterable([xs, xs]): x.item()",
        "for x in itertools.accumulate(xs): x.item()",
        "for x in itertools.repeat(xs[0], 3): x.item()",
        "for x in itertools.starmap(torch.add, [(xs[0], 1)]): x.item()",
        "for x in itertools.takewhile(lambda x: x.dim() > 1, xs): x.item()",
        "for k, group in itertools.groupby(xs, len): next(group).item()",
        "a, b = itertools.tee(xs); next(b).item()",
        "for n, x in zip(itertools.count(), xs): range(n), x.item()",
        "random.choice(xs).item()",
        "random.sample(xs, 2)[0].item()",
    ],
)
def test_the_items_are_known(text: str) -> None:
    assert codes(text) == ["SG201"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("return sorted(xs, key=lambda x: x.sum())", 1),
        ("return max(xs, key=lambda x: x.norm())", 1),
        ("xs.sort(key=lambda x: x.mean())", 1),
        ("xs.sort(reverse=True)", 1),
        ("xs.sort(key=len)", 0),
        ("return max(xs, key=lambda x: x.shape[0])", 0),
        ("return sorted(ns, key=lambda n: -n)", 0),
        ("return list(filter(lambda x: x.sum() > 0, xs))", 1),
        ("return list(filter(None, xs))", 1),
        ("return list(filter(lambda x: x.dim() > 1, xs))", 0),
        ("return list(itertools.dropwhile(lambda x: x > 0, xs))", 1),
        ("return list(itertools.compress(xs, ns))", 0),
        ("return list(itertools.groupby(ns, lambda n: xs[n].sum()))", 1),
        ("return list(itertools.groupby(ns, key=lambda n: xs[n].sum()))", 1),
        ("return list(itertools.groupby(xs))", 1),
        ("return list(itertools.groupby(xs, key=lambda x: x.shape))", 0),
        ("return list(itertools.groupby(ns))", 0),
    ],
)
def test_what_is_asked_of_the_items(text: str, found: int) -> None:
    assert codes(text) == ["SG204"] * found


def test_what_groups_is_given_the_items() -> None:
    text = "return [k.item() for k, _ in itertools.groupby(range(3), key=lambda n: xs[0][xs[1][0, n]])]"
    assert sorted(codes(text)) == ["SG201", "SG204"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("range(functools.reduce(lambda n, x: n + x.numel(), xs, 0))", []),
        ("range(functools.reduce(lambda n, x: n + x.sum(), xs, 0))", ["SG205"]),
        ("functools.reduce(lambda a, b: a + b, xs).item()", ["SG201"]),
        ("functools.reduce(torch.add, xs, xs[0]).item()", ["SG201"]),
    ],
)
def test_a_reduction_begins_with_what_it_is_given(text: str, found: list[str]) -> None:
    assert codes(f"import functools\n    {text}\n") == found


OWN = """
import torch
from torch.utils.data import DataLoader


class Own(DataLoader):
    {body}


def train(model, data):
    for x in Own(data, 4, pin_memory=True):
        model({given}).sum().backward()
"""


@pytest.mark.parametrize(
    ("body", "given", "found"),
    [
        ("pass", "x.cuda()", [("SG301", "hot")]),
        ("pass", "x[0].cuda()", [("SG301", "hot")]),
        ("pass", "x.sum().item()", []),
        ("pass", "x.cuda(non_blocking=True)", []),
        ("def __iter__(self): yield torch.ones(3, device='cuda')", "x.sum().item()", [("SG201", "hot")]),
    ],
)
def test_a_loader_of_ones_own_class_gives_batches(body: str, given: str, found: list[tuple[str, str]]) -> None:
    text = OWN.format(body=body, given=given)
    assert [(one.code, one.heat) for one in checked.findings(text)] == found
