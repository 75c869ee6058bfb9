"""fill-on-device: a list of one number repeated, and numbers that are only said to be such."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import Later, codes, fixes, rewritten, same  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, scale: float, n: int):\n    return "
SAFE = {
    "torch.tensor([0.5] * len(x), device=x.device)": "torch.full((len(x),), 0.5, device=x.device)",
    "torch.tensor([0] * x.shape[0], dtype=torch.long, device=x.device)": (
        "torch.zeros((x.shape[0],), dtype=torch.long, device=x.device)"
    ),
    "torch.tensor([len(x)] * x.size(0), dtype=x.dtype, device=x.device)": (
        "torch.full((x.size(0),), len(x), dtype=x.dtype, device=x.device)"
    ),
    "torch.tensor(len(x) / 2, device=x.device)": "torch.full((), len(x) / 2, device=x.device)",
    "torch.tensor(x.shape[0] ** 0.5 + 1, device=x.device)": "torch.full((), x.shape[0] ** 0.5 + 1, device=x.device)",
    "x * torch.tensor(2j, device=x.device)": "x * torch.full((), 2j, device=x.device)",
}
UNSAFE = {
    "torch.tensor([scale] * len(x), dtype=x.dtype, device=x.device)": (
        "torch.full((len(x),), scale, dtype=x.dtype, device=x.device)"
    ),
    "torch.tensor([0.5] * n, device=x.device)": "torch.full((n,), 0.5, device=x.device)",
    "torch.tensor([0] * len(x), device=x.device)": "torch.full((len(x),), 0, device=x.device)",
    "torch.tensor(scale, dtype=x.dtype, device=x.device)": "torch.full((), scale, dtype=x.dtype, device=x.device)",
    "torch.tensor(10.0 ** len(x), device=x.device)": "torch.full((), 10.0 ** len(x), device=x.device)",
    "torch.tensor(scale * 2 + n, device=x.device)": "torch.full((), scale * 2 + n, device=x.device)",
}
AFTER = Later(lambda value: rewritten(f"{HEAD}{value}\n", "fill-on-device", unsafe=value in UNSAFE))


@pytest.mark.parametrize("value", [*SAFE, *UNSAFE])
def test_it_is_filled_in_there(value):
    found = SAFE | UNSAFE
    assert AFTER[value] == f"{HEAD}{found[value]}\n"
    assert codes(AFTER[value]) == []
    assert {fix.tier for fix in fixes(f"{HEAD}{value}\n") if fix.recipe == "fill-on-device"} <= {"safe"}


@pytest.mark.parametrize("value", [*SAFE, *UNSAFE])
@settings(deadline=None, max_examples=30)
@given(rows=st.integers(0, 3), scale=st.floats(-4, 4, width=16), n=st.integers(1, 3), double=st.booleans())
def test_the_filled_tensor_has_the_same_values_and_dtype(value, rows, scale, n, double):
    if value in UNSAFE and not rows:
        return  # of no elements the dtype may be another, as the fix says
    dtype = torch.float64 if double else torch.float32
    same(f"{HEAD}{value}\n", AFTER[value], lambda: (torch.ones(rows, dtype=dtype), scale, n))


@pytest.mark.parametrize("value", UNSAFE)
def test_what_is_not_proven_is_sent_unless_it_may_differ(value):
    """Pinned memory is the last resort: where the user allows what is not proven, nothing is sent."""
    (fix,) = fixes(f"{HEAD}{value}\n")
    assert (fix.recipe, fix.tier) == ("pin-data", "safe")
    assert fix.bolder is not None
    assert (fix.bolder.recipe, fix.bolder.tier) == ("fill-on-device", "unsafe")
    assert "torch.full" in rewritten(f"{HEAD}{value}\n", unsafe=True)


TYPED = {
    "torch.tensor(0, dtype=dtype, device=x.device)": "torch.full((), 0, dtype=dtype, device=x.device)",
    "torch.tensor(True, dtype=dtype, device=x.device)": "torch.full((), True, dtype=dtype, device=x.device)",
    "torch.tensor([1], dtype=kind, device=x.device)": "torch.full((1,), 1, dtype=kind, device=x.device)",
    "torch.tensor(0, dtype=None, device=x.device)": "torch.full((), 0, dtype=None, device=x.device)",
    "torch.tensor(0).to(x.device)": "torch.full((), 0, device=x.device)",
    "torch.tensor(0, dtype=dtype).to(x.device)": "torch.full((), 0, dtype=dtype, device=x.device)",
    "torch.tensor(1.0, dtype=dtype, device=x.device)": "torch.ones((), dtype=dtype, device=x.device)",
    "torch.tensor(0, dtype=x.dtype, device=x.device)": "torch.zeros((), dtype=x.dtype, device=x.device)",
    "torch.tensor(1, dtype=same, device=x.device)": "torch.ones((), dtype=same, device=x.device)",
    "torch.tensor(0, dtype=bool, device=x.device)": "torch.zeros((), dtype=bool, device=x.device)",
    "x.new_tensor(1, dtype=dtype)": "x.new_ones((), dtype=dtype)",
    "x.new_tensor(0, dtype=kind)": "x.new_zeros((), dtype=kind)",
}


@pytest.mark.parametrize("value", TYPED)
def test_a_dtype_may_be_none(value):
    head = "import torch\n\n\ndef f(x: torch.Tensor, dtype=None, kind: torch.dtype | None = None):\n"
    head += "    same = x.dtype\n    return same, "
    after = rewritten(f"{head}{value}\n", "fill-on-device")
    assert after == f"{head}{TYPED[value]}\n"
    for dtype in (None, torch.int32, torch.float64, torch.bool):
        for x in (torch.ones(2), torch.ones(2, dtype=torch.int64)):
            same(f"{head}{value}\n", after, lambda x=x, dtype=dtype: (x, dtype, dtype))


def test_of_no_elements_a_dtype_that_may_be_none_is_none():
    head = "import torch\n\n\ndef f(x: torch.Tensor, dtype=None):\n    return "
    assert not rewritten(f"{head}torch.tensor([0] * len(x), dtype=dtype, device=x.device)\n", "fill-on-device")


@pytest.mark.parametrize(
    "value",
    [
        "torch.tensor([0.5, 1.5] * len(x), device=x.device)",
        "torch.tensor([x.mean()] * len(x), device=x.device)",
        "torch.tensor(len(x) * [0.5, scale], device=x.device)",
        "torch.tensor([[0.5]] * len(x), device=x.device)",
        "torch.tensor([0.5] + [scale], device=x.device)",
    ],
)
def test_lists_that_are_not_one_number_repeated_are_left(value):
    assert not fixes(f"{HEAD}{value}\n", "fill-on-device")


@pytest.mark.parametrize("shape", ["x.shape", "x.size()", "size"])
def test_a_shape_is_no_number(shape):
    body = f"    size = x.size()\n    return torch.tensor({shape}, device=x.device)\n"
    program = f"import torch\n\n\ndef f(x: torch.Tensor):\n{body}"
    assert not fixes(program, "fill-on-device")
