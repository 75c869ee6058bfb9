"""What a function makes an array of as it is lies on the host, or torch would raise: nothing waits for it."""

from __future__ import annotations

import pytest
from checked import codes, findings

HEAD = """
import numpy as np
import torch
from torch import Tensor

"""
WAITS = "if (x > 0).any():\n            x = x[x > 1]\n        "


@pytest.mark.parametrize(
    "body",
    [
        "return x.numpy()",
        "return x.detach().numpy()",
        "return np.asarray(x * 2)",
        "return np.array(x.to(dtype=torch.float64))",
        "return np.intersect1d(x, more)",
        "return np.sqrt(x)",
        "if more:\n            x = x * 2\n        return x.numpy()",
        "for part in x:\n            more.append(part.numpy())",
    ],
)
def test_what_an_array_is_made_of_is_on_the_host(body: str) -> None:
    assert codes(f"def f(x: Tensor, y: Tensor, more):\n        {WAITS}{body}\n", HEAD) == []


@pytest.mark.parametrize(
    "body",
    [
        "return x.cpu().numpy()",
        "return y.numpy()",
        "return x.numpy(force=True)",
        "return np.array([len(x)])",
        "return np.full(x.shape[0], 1)",
        "if x.is_cuda:\n            x = x.cpu()\n        return x.numpy()",
        "if more:\n            return x.numpy()\n        return x",  # there alone
        "try:\n            return x.numpy()\n        except TypeError:\n            return more",
        "return x.to('cpu').numpy()",
        "return [one.numpy() for one in more]",
    ],
)
def test_what_may_be_copied_or_skipped_shows_no_place(body: str) -> None:
    found = codes(f"def f(x: Tensor, y: Tensor, more):\n        {WAITS}{body}\n", HEAD)
    assert found[:2] == ["SG204", "SG102"]


def test_it_tells_nothing_where_the_user_says_that_all_is_on_the_device() -> None:
    text = """
    def f(n):
        x = torch.rand(n)
        mask = x > 0.5
        first = x[mask].numpy()
        return first, np.asarray(x.exp()[mask]), x.numpy()
    """
    assert codes(text, HEAD) == []
    assert codes(text, HEAD, default_device="cuda") == ["SG102", "SG102"]


def test_what_an_array_is_made_of_pays_for_nothing() -> None:
    text = """
    def f(x: Tensor, y: Tensor, n):
        mask = x > n
        return y[mask].numpy(), y.exp()[mask]
    """
    assert {finding.heat for finding in findings(text, HEAD)} == {"unknown"}


def test_where_an_array_is_made_behind_a_test_it_is_there_behind_that() -> None:
    text = """
    def f(x: Tensor, plain):
        if plain:
            print(x.max().item())
            return x.numpy()
        return x.min().item()
    """
    assert codes(text, HEAD) == ["SG201"]


def test_what_one_function_gives_is_not_always_there() -> None:
    text = """
    def made(n) -> Tensor:
        return n.made


    def f(n):
        kept, other = made(n), made(n)
        return kept.numpy(), other.max().item()
    """
    assert codes(text, HEAD) == ["SG201"]
