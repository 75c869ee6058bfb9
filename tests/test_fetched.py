"""What an object holds whose own method has brought all of it to the host is there."""

from __future__ import annotations

import pytest
from checked import findings

TEXT = """
from typing import Any

import torch
from torch import Tensor


class Rows:
    def __init__(self):
        self._rows = dict()

    def __setitem__(self, key: str, item: Any) -> None:
        self._rows[key] = item

    def __getitem__(self, key: str) -> Any:
        return self._rows[key]

    def {method}(self) -> None:
        for k, v in self._rows.items():
            self._rows[k] = take(v)


def wide(boxes: Tensor):
    widths = boxes[2:] - boxes[:2]
    return widths


def made(image) -> Rows:
    rows = Rows()
    rows["boxes"] = image
    rows.{method}()
    return rows


def generate(image, n: int, i: int):
    rows = made(image)
    boxes = torch.rand(n)
    return {read}
"""


@pytest.mark.parametrize("read", ["rows['boxes'][i].item()", "wide(rows['boxes'][i]).tolist()"])
@pytest.mark.parametrize(("method", "expected"), [("to_numpy", 0), ("cpu", 0), ("sort", 1)])
def test_what_was_brought_to_the_host(method: str, expected: int, read: str) -> None:
    assert len(findings(TEXT.format(method=method, read=read))) == expected
