"""The names of tensor types say a place and a dtype: `torch.cuda.FloatTensor`, and what `x.type()` gives."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = "import torch\nfrom torch.utils.data import DataLoader\n\n\n"


codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("torch.cuda.FloatTensor", ["SG303", "SG301"]),
        ("torch.cuda.HalfTensor if half else torch.cuda.FloatTensor", ["SG303", "SG301"]),
        ("torch.HalfTensor if half else torch.FloatTensor", []),
        ("torch.half if half else torch.float", []),
        ("'torch.cuda.FloatTensor'", ["SG303", "SG301"]),
    ],
)
def test_a_batch_goes_where_the_type_says(kind: str, found: list[str]) -> None:
    text = f"""
        def epoch(data, half):
            kind = {kind}
            for x, y in DataLoader(data):
                x = x.type(kind)
        """
    assert codes(text) == found


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("torch.arange(3).type(x.type())", ["SG304"]),
        ("torch.arange(3).type(x.cpu().type())", ["SG202"]),
        ("torch.arange(3).type(x.type())[x > 0]", ["SG304", "SG102"]),
        ("x[torch.arange(3).type(x.type())]", ["SG304"]),  # a mask, if `x` is one: nobody knows
        ("x[torch.arange(3, device='cuda').type((x > 0).type())]", ["SG102"]),
        ("x.type() == 'torch.cuda.FloatTensor' or x.type().endswith('FloatTensor')", []),
        ("torch.zeros(3, dtype=x.dtype).numpy()", []),
    ],
)
def test_the_type_of_a_tensor_says_where_it_is(use: str, found: list[str]) -> None:
    assert codes(f"def of(x: torch.Tensor):\n    return {use}\n") == found


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("x.cpu()", []),
        ("x.to('cpu')", []),
        ("x.float().numpy()", []),
        ("x.cuda()", ["SG303", "SG301"]),
    ],
)
def test_a_loader_matters_where_its_batches_go_to_the_device(use: str, found: list[str]) -> None:
    text = f"""
        def epoch(data, where):
            for x, y in DataLoader(data):
                z = {use}
        """
    assert codes(text) == found


def test_what_is_unpacked_once_it_has_moved_is_no_tensor() -> None:
    text = """
        def layers(net, nodes, data, device):
            for index, part in DataLoader(data):
                edges, _, size = {part}.to(device)
                nodes.append(torch.arange(9, device="cuda")[: size[1]])
        """
    assert "SG108" not in codes(text.format(part="part"))
    assert "SG108" in codes(text.format(part="torch.as_tensor(part)"))


def test_an_array_dtype_names_no_device() -> None:
    text = "import numpy as np\n\n\ndef of(n: int):\n    return torch.zeros(n, dtype=np.float32).sum().item()\n"
    assert codes(text) == []


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("(n)", []), ("(n, 3)", []), ("(x.shape)", []), ("(torch.Size((n, 3)))", []), ("()", []),
        ("([1.0])", ["SG302"]), ("((n, 3))", ["SG302"]),
    ],
)  # fmt: skip
def test_a_type_that_is_called_is_given_data_or_sizes(made: str, found: list[str]) -> None:
    text = f"""
    import torch

    def make(x: torch.Tensor, n: int):
        return torch.cuda.FloatTensor{made}
    """
    assert checked.codes(text) == found


@pytest.mark.parametrize(
    ("name", "found"), [("BoolTensor", ["SG102"]), ("LongTensor", []), ("Rows", []), ("torch.BoolTensor", ["SG102"])]
)
def test_a_name_for_any_tensor_that_is_a_type_of_torch_says_its_dtype(name: str, found: list[str]) -> None:
    named = "" if "." in name else f"{name} = torch.Tensor\n\n\n"
    text = f"{named}def pick(x: torch.Tensor, kept: {name} | None):\n    return x if kept is None else x[kept]\n"
    assert codes(text) == found


@pytest.mark.parametrize(
    ("kind", "found"),
    [("int", ["SG208"]), ("torch.Tensor", []), ("Any", [])],
)
def test_a_tensor_that_is_cast_to_a_number_holds_one(kind: str, found: list[str]) -> None:
    text = f"""
        from typing import Any, cast

        def pick(places: torch.Tensor, x: torch.Tensor):
            return x[cast({kind}, places[0])]
    """
    assert codes(text) == found


MASKS = """
import torch

def pick(mask: torch.BoolTensor, ids: torch.LongTensor, x: torch.FloatTensor, y: torch.Tensor, rows: torch.Tensor):
    return rows[{index}]
"""


@pytest.mark.parametrize(
    ("index", "found"),
    [
        ("mask", ["SG102"]),
        ("mask.to(ids.dtype)", []),
        ("mask.to(ids)", []),
        ("mask.to(y.dtype)", []),
        ("torch.zeros_like(mask, dtype=ids.dtype)", []),
        ("torch.full_like(mask, 0, dtype=y.dtype)", []),
        ("ids.to(mask.dtype)", ["SG102"]),
        ("ids.to(mask)", ["SG102"]),
        ("ids.to(mask.dtype if y.shape[0] > 1 else ids.dtype)", []),
        ("mask.to(y.device)", ["SG102"]),
    ],
)
def test_the_dtype_of_another_tensor_is_asked_for(index: str, found: list[str]) -> None:
    assert codes(MASKS.format(index=index)) == found
