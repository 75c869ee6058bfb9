"""output-size: only a size that must be the sum of the counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402
from tensors import tensors  # noqa: E402

SELECTED = """\
import torch


def f(ids: torch.Tensor, rows: torch.Tensor):
    mask = ids != 0
    kept = ids[mask]
    owner = torch.arange(len(rows), device=rows.device).repeat_interleave(
        mask.sum(dim=1),  # how many of each
    )
    return kept, rows[owner]
"""
ADDED = """\
import torch


def f(x: torch.Tensor, counts: torch.Tensor):
    samples = torch.arange(counts.size(0), device=x.device)
    owner = samples.repeat_interleave(counts)
    return torch.zeros(counts.size(0), device=x.device, dtype=x.dtype).index_add(0, owner, x)
"""
PAIRED = """\
import torch


def f(x: torch.Tensor, bias: torch.Tensor, counts: torch.Tensor):
    return x + bias.repeat_interleave(counts, dim=0)
"""


def test_the_length_of_what_the_mask_selected():
    after = rewritten(SELECTED, "output-size")
    assert "        mask.sum(dim=1),  # how many of each\n        output_size=kept.shape[0],\n" in after


def test_the_rows_that_index_add_takes():
    assert "samples.repeat_interleave(counts, output_size=x.size(0))" in rewritten(ADDED, "output-size")
    given = ADDED.replace("repeat_interleave(counts)", "repeat_interleave(counts, output_size=None)")
    assert rewritten(given, "output-size") == rewritten(ADDED, "output-size")


def test_what_it_is_added_to_only_suggests_the_size():
    assert rewritten(PAIRED, "output-size") is None
    assert "(counts, dim=0, output_size=x.size(0))" in rewritten(PAIRED, "output-size", unsafe=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kept = ids[mask]\n", "kept = ids[~mask]\n"),
        ("kept = ids[mask]\n", "kept = ids[mask]\n    mask = ids > 3\n"),
        ("kept = ids[mask]\n", "kept = ids[mask]\n    kept = kept[1:]\n"),
        ("kept = ids[mask]\n", "if len(ids) > 3:\n        kept = ids[mask]\n"),
        ("mask.sum(dim=1),", "mask.sum(dim=1) + 1,"),
        ("ids != 0", "ids"),
    ],
)
def test_leaves_alone(old, new):
    assert old in SELECTED
    assert not fixes(SELECTED.replace(old, new), "output-size")


AFTER = [rewritten(program, "output-size") for program in (SELECTED, ADDED)]


@settings(deadline=None, max_examples=60)
@given(n=st.integers(0, 4), k=st.integers(0, 3), data=st.data())
def test_gives_the_same(n, k, data):
    ids = data.draw(tensors([n, k], torch.int64))
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64, torch.int64]))
    rows = data.draw(tensors([n, 2], dtype, dtype.is_floating_point and data.draw(st.booleans())))
    same(SELECTED, AFTER[0], lambda: (ids(), rows()))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    x = data.draw(tensors([sum(counts)], dtype, dtype.is_floating_point and data.draw(st.booleans())))
    same(ADDED, AFTER[1], lambda: (x(), torch.tensor(counts, dtype=torch.int64)))
