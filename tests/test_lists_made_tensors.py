"""A tensor that is made of a list has the dtype and the rank of what the list holds."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import torch
from torch import Tensor


def f(x: Tensor, xs: list[Tensor], n: int, some):
    """


codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize(
    "data",
    [
        "[len(y) > 0 for y in xs]", "[True, n > 1]", "[[True], [False]]", "[y is None for y in xs]",
        "[isinstance(y, Tensor) for y in xs]", "(n > 1, len(xs) > 2)", "[y.shape == x.shape for y in xs]",
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", ["torch.tensor({}, device=x.device)", "torch.as_tensor({}).to(x.device)"])
def test_a_list_of_truths_is_a_mask(call: str, data: str) -> None:
    assert "SG102" in codes(f"return x[{call.format(data)}]")


@pytest.mark.parametrize(
    "data", ["[len(y) for y in xs]", "[True, n]", "[True, some]", "[y > 0 for y in some]", "some", "[]", "[x, True]"]
)
def test_a_list_that_holds_more_than_truths_is_no_mask(data: str) -> None:
    assert "SG102" not in codes(f"return x[torch.tensor({data}, device=x.device)]")


def test_a_new_tensor_is_of_the_dtype_of_the_first() -> None:
    assert "SG102" in codes("return x[(x > 0).new_tensor([1, 0])]")
    assert "SG102" not in codes("return x[x.long().new_tensor([True, False])]")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("[1, n]", True),
        ("[len(y) for y in xs]", True),
        ("[[1, n], [2, 3]]", False),
        ("[some, 1]", False),
        ("[]", False),
    ],
)
def test_a_list_of_numbers_has_one_dimension(data: str, found: bool) -> None:
    assert ("SG208" in codes(f"order = torch.tensor({data}, device=x.device)\n    return x[order[0]]")) is found


def test_what_a_factory_makes_is_a_tensor_whatever_is_declared() -> None:
    text = """
        import torch

        def norm(module) -> float:
            return torch.tensor([p.grad.norm() for p in module.parameters()]).sum()

        def moved(module):
            return torch.tensor(norm(module), device="cuda")
    """
    assert checked.codes(text) == ["SG203", "SG305"]


@pytest.mark.parametrize("shape", ["x.shape", "x.size()", "x.shape[1:]", "x.shape + x.shape", "(n, 2) + x.shape[1:]"])
def test_a_shape_makes_a_row_of_sizes(shape: str) -> None:
    assert codes(f"return x[torch.as_tensor({shape}, device=x.device)]") == ["SG302"]  # 0-d, it would be read


@pytest.mark.parametrize("size", ["(x.max(),) + x.shape[1:]", "x.shape + (x.max(),)", "[x.max(), *x.shape]"])
def test_a_size_beside_a_shape_is_read(size: str) -> None:
    assert codes(f"return x.new_zeros({size})") == ["SG108"]


@pytest.mark.parametrize("size", ["(n,) + x.shape[1:]", "x.shape + (1,)", "x.shape + x.shape", "x.size()[:1] + (n, n)"])
def test_sizes_beside_a_shape_are_not(size: str) -> None:
    assert codes(
        f"rows = torch.zeros({size}, device=x.device)[0]\n    return x.view({size}), rows[0], x[rows > 0]"
    ) == ["SG102"]


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("torch.atleast_2d(torch.tensor(more, device=ids.device))", ["SG302"]),
        ("torch.tensor(more, device=ids.device)", ["SG302"]),
        ("torch.atleast_2d(more)", []),
    ],
)
def test_what_a_name_is_used_for_once_it_is_a_tensor_tells_nothing_of_what_it_was(made: str, found: list[str]) -> None:
    text = f"""
        import torch

        def longer(ids, more):
            more = {made}
            return torch.cat((ids, more)), torch.ones_like(more)
    """
    assert checked.codes(text) == found


@pytest.mark.parametrize(("least", "found"), [("argmin()", ["SG202"]), ("argmin(1)", ["SG307", "SG202"])])
def test_of_no_dimensions_no_list_is_made(least: str, found: list[str]) -> None:
    assert codes(f"d = x.view(4, 4)\n    return d[d.{least}.tolist()]") == found


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("x", ["SG204"]),  # a tensor stays where it is
        ("x > 0", ["SG204"]),
        ("x.cpu()", ["SG202"]),
        ("[1.0, n]", []),
        ("some", []),
        ("n, n", []),
    ],
)
def test_of_a_tensor_the_class_makes_the_same(data: str, found: list[str]) -> None:
    assert codes(f"y = torch.Tensor({data})\n    return 1 if y.sum() > 0 else 2") == found


@pytest.mark.parametrize(("data", "found"), [("x > 0", ["SG102"]), ("x.long()", [])])
def test_of_the_same_dtype(data: str, found: list[str]) -> None:
    assert codes(f"return x[torch.Tensor({data})]") == found


@pytest.mark.parametrize(
    ("rows", "found"),
    [("self.rows", ["SG301"]), ("torch.ones(3, device='cuda')", ["SG103"])],  # where 0-d, the mask is read as a bool
)
def test_what_is_only_thought_to_be_a_tensor_is_data(rows: str, found: list[str]) -> None:
    text = f"""
        import torch

        class Rows:
            def weights(self):
                some = {rows}[-1:].sum(0)
                rest = (3 - some) / some
                rest[rest == float("inf")] = 0
                return torch.Tensor(rest).to("cuda")
    """
    assert checked.codes(text) == found
