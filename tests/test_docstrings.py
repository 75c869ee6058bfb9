"""What docstrings say of parameters, and what is no Python although it looks so."""

from __future__ import annotations

import fixing
import pytest

from syncguard.config import Config
from syncguard.pipeline import check
from syncguard.read.docstrings import ranks, tensors

TEXT = """A function.

Args:
    boxes (Tensor): of shape (N, 4)
    scores (torch.Tensor, optional): one number each
    input_ids (`torch.LongTensor` of shape `(batch, seq)`, *optional*): tokens
    many (Tensor | None): or none
    mixed (Tensor or list): either
    other (list[Tensor]): several
    array (Tensor, np.ndarray): either
    either (Tensor/ndarray): either
    parts: Tensors of one shape
    sharded (DTensor): of another class
    inliers: boolean mask of shape (N,)
    verts: FloatTensor of shape (V, 3)
    count (int): of Tensors
    *rest (Tensor): more

Returns:
    Tensor: a result
"""


def test_google():
    assert tensors(TEXT) == {
        "boxes": "", "scores": "", "input_ids": "int", "many": "", "inliers": "bool", "verts": "float",
    }  # fmt: skip


def test_shapes():
    assert ranks(TEXT) == {"boxes": 2, "input_ids": 2, "inliers": 1, "verts": 2}


@pytest.mark.parametrize(
    ("shape", "rank"),
    [
        ("`(n,)`", 1), ("[n, 2]", 2), ("(B, N*3, h//2)", 3), ("[..., 2]", None), ("(*, 2)", None), ("()", None),
        ("(n, 2) or (2,)", None), ("(n, 2), or shape (2,) for one", None), ("(n, 2) / (2,)", None), ("(n x 2)", None),
        ("(n, [h, w])", None), ("(n, 2) or None", None),
    ],
)  # fmt: skip
def test_a_shape_that_is_the_only_one(shape, rank):
    assert ranks(f"Text.\n\n    x (Tensor): of shape {shape}\n").get("x") == rank


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (":param torch.Tensor x: what", {"x": ""}), (":type x: torch.BoolTensor", {"x": "bool"}),
        (":param int x: a Tensor's size", {}), ("x : torch.Tensor", {"x": ""}), ("x : Tensor, shape (n,)", {"x": ""}),
        ("x : array of Tensor", {}), ("x (:class:`torch.Tensor`): y", {"x": ""}),
        ("x: a boolean tensor", {"x": "bool"}), ("", {}),
    ],
)  # fmt: skip
def test_numpy_and_sphinx(line, found):
    assert tensors(f"Text.\n\n    {line}\n") == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (": A float tensor with shape [N, 4]", "float"), (": int32 tensor of shape [K]", "int"),
        (": a torch tensor with shape [N]", ""), (" (tensor): batch x height", ""), (": tensor of shape (n,)", ""),
        ("(tensor, optional): or none", ""), (": The input tensor.", ""), (": a boolean tensor", "bool"),
        (": a nested tensor", None), (": sparse tensor", None), (": tensor or array", None), (": tensors", None),
        (": tensor([[1, 1]])", None), (" (tensor/ndarray): either", None), (" (list of tensor): many", None),
        (": Tensor Parallel size (number of GPUs)", None), (": tensor-parallel group", None),
        (": tensor model parallel size", None), (": tensor name in the file", None), (": Tensor parallelism", None),
    ],
)  # fmt: skip
def test_prose_says_it_too(said, found):
    assert tensors(f"Text.\n\n    keep{said}\n") == ({} if found is None else {"keep": found})


@pytest.mark.parametrize(
    "said",
    [
        "(torch.Tensor): boolean mask of shape (N,)", "(Tensor): A boolean mask over the batch",
        "(torch.Tensor, optional): a 1d boolean tensor of ends", "(torch.Tensor, bool):\n            where it is kept",
        "(Tensor, optional): common boolean (H, W) mask of both", "(torch.Tensor): Boolean roi mask, or all of it",
        "(`torch.Tensor`): the bool tensor", "(Tensor): Tensor of bool type", "(Tensor): boolean flag of the end",
        "(torch.Tensor of dtype torch.bool): kept", "(Tensor[bool]): kept",
    ],
)  # fmt: skip
def test_what_is_said_of_a_tensor_is_its_dtype(said):
    assert tensors(f"Text.\n\n    keep {said}\n") == {"keep": "bool"}


@pytest.mark.parametrize(
    "said",
    [
        "(torch.Tensor): what the boolean mask of the other keeps", "(torch.Tensor): scores; a mask comes of them",
        "(torch.Tensor): not boolean", "(Tensor): booleans come later",
    ],
)  # fmt: skip
def test_what_is_said_of_others_is_not(said):
    assert tensors(f"Text.\n\n    keep {said}\n") == {"keep": ""}


def test_a_declared_tensor_has_the_dtype_that_its_docstring_tells():
    text = (
        'import torch\ndef f(x: torch.Tensor, keep: torch.Tensor):\n    """\n'
        '    keep (torch.Tensor{}\n    """\n    return x[keep]\n'
    )
    assert found(text.format("): which")) == []
    assert found(text.format("): boolean mask")) == found(text.format(", bool):")) == [(6, "SG102")]
    assert found(text.replace("keep (torch.Tensor{}", ":param keep: a boolean mask")) == [(6, "SG102")]


def found(text: str) -> list[tuple[int, str]]:
    report = check(["-"], Config(heat="all"), stdin=text)
    return [(finding.site.line, finding.code) for finding in report.findings]


def test_an_annotation_is_believed_before_a_docstring():
    text = 'import torch\ndef f(x: {}):\n    """x (Tensor): it"""\n    return int(x)\n'
    assert found(text.format("int")) == []
    assert found(text.format("torch.Tensor")) == [(4, "SG203")]
    assert found(text.replace(": {}", "")) == [(4, "SG203")]


@pytest.mark.parametrize("decorator", ["cuda.jit()", "numba.njit", "jit(nopython=True)", "triton.jit", "T.macro"])
def test_a_kernel_is_no_python(decorator):
    text = (
        "import numba, triton, torch, functools, tilelang.language as T\nfrom numba import cuda, jit\n"
        f'@{decorator}\ndef f(x):\n    """x (torch.Tensor): it"""\n    return int(x.sum())\n'
    )
    assert found(text) == []
    assert found(text.replace(decorator, "functools.cache")) == [(6, "SG203")]


PROVES = """
import torch


def first(table: torch.Tensor, order: torch.Tensor, own):
    '''A row.

    Args:
        order (torch.Tensor): places, of shape (n,)
    '''
    place = order.long()[0]
    return own(table[place]), table[table.argmax()]
"""


def test_a_shape_that_nobody_checks_proves_nothing() -> None:
    found = fixing.findings(PROVES)
    assert [(one.code, one.fix is not None) for one in found] == [("SG208", False), ("SG208", True)]
