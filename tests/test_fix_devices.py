"""What is built on the device, fed to it, checked there, hoisted or unwrapped: the same values and gradients."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import Later, codes, fixes, function, rewritten, same  # noqa: E402
from tensors import tensors  # noqa: E402

from syncguard.fix.apply import applied  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n"
FINITE = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0)

MADE = [
    ("torch.tensor(0.0, device=x.device)", "torch.zeros((), device=x.device)"),
    ("torch.tensor(1, device=x.device)", "torch.full((), 1, device=x.device)"),
    ("torch.tensor([0], dtype=torch.int, device=x.device)", "torch.zeros((1,), dtype=torch.int, device=x.device)"),
    ("torch.tensor([[2.5, 2.5]], device=x.device)", "torch.full((1, 2), 2.5, device=x.device)"),
    ("torch.tensor(True, device=x.device)", "torch.full((), True, device=x.device)"),
    ("torch.tensor(-1, device=x.device)", "torch.full((), -1, device=x.device)"),
    ("torch.tensor(x.size(0), device=x.device)", "torch.full((), x.size(0), device=x.device)"),
    ("torch.as_tensor(0.5, device=x.device)", "torch.full((), 0.5, device=x.device)"),
    ("torch.tensor(0, dtype=torch.int).to(x.device)", "torch.zeros((), dtype=torch.int, device=x.device)"),
    ("x.new_tensor(0)", "x.new_zeros(())"),
    ("torch.arange(x.size(0)).to(x.device)", "torch.arange(x.size(0), device=x.device)"),
    ("torch.arange(1, 9, 2).to(x.device)", "torch.arange(1, 9, 2, device=x.device)"),
    ("torch.zeros(2, 3).to(x.device)", "torch.zeros(2, 3, device=x.device)"),
    ("torch.eye(3).unsqueeze(0).to(x.device)", "torch.eye(3, device=x.device).unsqueeze(0)"),
    (
        "torch.full((2,), 0.5, dtype=torch.half).to(x.device)",
        "torch.full((2,), 0.5, dtype=torch.half, device=x.device)",
    ),
]


@pytest.mark.parametrize(("made", "there"), MADE)
def test_constants_are_made_where_they_are_used(made, there):
    program = HEAD + f"    return {made}\n"
    after = rewritten(program)
    assert after == HEAD + f"    return {there}\n"
    for x in (torch.rand(3), torch.zeros(0, dtype=torch.int64), torch.rand(2, 2, dtype=torch.float64)):
        same(program, after, lambda x=x: (x, x))


NAMED = ["", "device = torch.device('cpu')", "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')"]


@pytest.mark.parametrize("bound", NAMED)
@pytest.mark.parametrize("shape", ["(3, 2)", "3, 2"])
def test_a_device_may_have_a_name(bound, shape):
    head = "import torch\n\n\n" + (f"{bound}\n\n\ndef f(x):\n" if bound else "def f(x, device):\n")
    program = head + f"    table = torch.zeros({shape}).to(device)\n    return x + table\n"
    after = rewritten(program, "build-on-device")
    if "'cpu')" in bound and "cuda" not in bound:
        assert after is None, "nothing is sent there"
        return
    assert after == head + f"    table = torch.zeros({shape}, device=device)\n    return x + table\n"
    for device in ("cpu", torch.device("cpu"), None):
        same(program, after, lambda device=device: (torch.rand(3, 2), device)[: 1 + (not bound)])


@pytest.mark.parametrize(
    "made",
    [
        "torch.rand(3).to(x.device)",
        "torch.randn(3).cuda()",
        "torch.randint(0, 3, (2,)).to(x.device)",
        "torch.empty(3).normal_().to(x.device)",
        "torch.arange(3).to(torch.float)",
        "torch.arange(3).to(y)",
        "torch.arange(3).to(x.device, torch.float)",
        "torch.zeros(3, requires_grad=True).to(x.device)",
        "torch.tensor(0.0, requires_grad=True).to(x.device)",
        "torch.Tensor(3).to(x.device)",
        "x.new_tensor(0.5)",
        "x.new_tensor([1, 2])",
    ],
)
def test_random_numbers_and_what_is_not_known_stay(made):
    found = fixes(HEAD + f"    return {made}\n")
    assert not [fix for fix in found if fix.recipe in ("build-on-device", "fill-on-device")]


def test_fractions_may_differ_in_the_last_bit():
    program = HEAD + "    return torch.arange(0, 1, 0.1).to(x.device)\n"
    assert rewritten(program, "build-on-device") is None
    assert "torch.arange(0, 1, 0.1, device=x.device)" in rewritten(program, "build-on-device", unsafe=True)


PINNED = [
    # Where the tensor beside it lies on the host, in a forked worker too, nothing may open the GPU.
    ("[1, 7], dtype=torch.int, device=x.device", "x.device", "x.is_cuda"),
    ('[x.size(0), 7], device="cuda"', '"cuda"', "True"),
    ('[x.size(0), 7], device=torch.device("cuda", 0)', 'torch.device("cuda", 0)', "True"),
]


@pytest.mark.parametrize(("given", "where", "there"), PINNED)
def test_lists_go_through_pinned_memory_only_where_the_device_is_one_of_cuda(given, where, there):
    """Pinning fails without CUDA, and a copy that nobody waits for has raced from memory that is not pinned."""
    program = HEAD + f"    return torch.tensor({given})\n"
    after = rewritten(program, "pin-data")
    rest = given.removesuffix(f"device={where}")
    pinned = f'torch.tensor({rest}device="cpu", pin_memory={there}).to({where}, non_blocking={there})'
    assert "".join(line.strip() for line in after.split("\n")).endswith(f"return {pinned}")
    if there != "True":
        same(program, after, lambda: (torch.rand(3), torch.rand(1)))


@pytest.mark.parametrize(
    ("made", "pinned"),
    [
        (
            "torch.tensor(x.tolist()).to(x.device)",
            'torch.tensor(x.tolist(), device="cpu", pin_memory=x.is_cuda).to(x.device, non_blocking=x.is_cuda)',
        ),
        (
            "torch.tensor([3, len(x)]).cuda()",
            'torch.tensor([3, len(x)], device="cpu", pin_memory=True).cuda(non_blocking=True)',
        ),
        (
            "torch.as_tensor([3, len(x)], device=there)",
            (
                'torch.tensor([3, len(x)], device="cpu", pin_memory=there.type == "cuda")'
                '.to(there, non_blocking=there.type == "cuda")'
            ),
        ),
    ],
)
def test_data_that_is_moved_goes_through_pinned_memory_too(made, pinned):
    program = HEAD + f"    there = y.device\n    return {made}, there\n"
    after = rewritten(program, "pin-data")
    assert after is not None
    assert pinned in "".join(line.strip() for line in after.split("\n"))


PROVEN = [
    ("rows=None", "list(rows)"),
    ("rows=None", "sorted(rows)"),
    ("rows=None", "rows.tolist()"),
    ("rows=None", "[row for row in rows]"),
    ("rows: list[int]", "rows"),
    ("rows: Sequence[float]", "rows[1:]"),
    ("rows: tuple[int, ...] | None = None", "rows or (1, 2)"),
    ("rows=None", "x.shape[1:]"),
    ("rows=None", "max(len(row) for row in rows)"),
    ("rows=None", "[0] + made"),
    ("rows=None", "made"),
    ("rows=None", "SIZES"),
]
OPEN = [
    ("rows", "rows"),
    ("rows", "rows[0]"),
    ("rows", "[0] + rows"),
    ("rows", "[0] * rows"),
    ("rows", "max(rows)"),
    ("rows", "np.zeros(3)"),
    ("rows", "np.stack(rows)"),
    ("rows", "array"),
    ("rows", "x.cpu().numpy()"),
    ("rows", "rows.data"),
    ("rows", "mixed"),
    ("rows: Iterable[int]", "rows"),
    ("rows: list[int] | np.ndarray", "rows"),
    ("rows: list[np.ndarray]", "rows[0]"),
    ("rows=(1, 2)", "rows"),
    ("rows=1.0", "rows"),
    ("rows: object", "rows"),
]
GIVEN = """\
from collections.abc import Iterable, Sequence

import numpy as np
import torch

SIZES = [3, 4]


def f(x: torch.Tensor, {parameter}):
    made = []
    for row in rows:
        made.append(len(row))
    array = np.array(made)
    mixed = [len(made), 1]
    mixed = np.array(mixed)
    return torch.tensor({data}, device=x.device)
"""


@pytest.mark.parametrize(("parameter", "data"), PROVEN)
def test_what_python_made_is_pinned(parameter, data):
    program = GIVEN.format(parameter=parameter, data=data)
    assert [fix.tier for fix in fixes(program, "pin-data")] == ["safe"]


@pytest.mark.parametrize(("parameter", "data"), OPEN)
def test_what_may_be_an_array_is_not_pinned(parameter, data):
    """torch refuses to pin what it makes of an array or a tensor."""
    program = GIVEN.format(parameter=parameter, data=data)
    assert not fixes(program, "pin-data")
    assert "pin_memory" not in (rewritten(program, unsafe=True) or "")


@pytest.mark.parametrize(
    "mark", ["if torch.jit.is_scripting():\n    pass\n", "@torch.jit.unused\ndef g(x):\n    pass\n"]
)
@pytest.mark.parametrize(
    "made",
    ["torch.tensor([1, 2], device=x.device)", "torch.tensor([1, 2]).to(x.device)", "x[0].item() + x[1].item()"],
)
def test_what_may_be_scripted_gets_nothing_that_a_script_does_not_hold(made, mark):
    program = HEAD + f"    return {made}\n"
    assert rewritten(program, unsafe=True)
    assert rewritten(program + "\n\n" + mark, unsafe=True) is None
    zero = HEAD + f"    return torch.tensor(0.0, device=x.device)\n\n\n{mark}"
    assert "torch.zeros((), device=x.device)" in rewritten(zero)


def shown(program: str, recipe: str) -> str:
    """The program after a fix that is only shown: it asks for more than a line of code should."""
    (fix,) = fixes(program, recipe)
    assert fix.tier == "display"
    return applied(program, fix.edits)


def test_what_names_no_device_for_sure_is_asked_whether_it_is_one_of_cuda():
    program = HEAD.replace("y: torch.Tensor", "device") + "    return x * torch.tensor([1, len(x)], device=device)\n"
    assert rewritten(program, "pin-data", unsafe=True) is None
    after = shown(program, "pin-data")
    assert 'pin_memory="cuda" in str(device)' in after
    assert 'device, non_blocking="cuda" in str(device)' in after
    for device in ("cpu", torch.device("cpu"), None):
        same(program, after, lambda device=device: (torch.rand(3), device))


def test_a_rank_is_a_device_too():
    program = HEAD.replace("y: torch.Tensor", "rank") + "    return x * torch.tensor([1, len(x)], device=rank)\n"
    after = shown(program, "pin-data")
    assert 'pin_memory=isinstance(rank, int) or "cuda" in str(rank)' in after
    for device in ("cpu", torch.device("cpu"), None):
        same(program, after, lambda device=device: (torch.rand(3), device))


@pytest.mark.parametrize(
    "made",
    [
        "torch.as_tensor(rows, device=x.device)",
        "torch.tensor(y, device=x.device)",
        "torch.tensor([1, 2], device=x.device, requires_grad=True)",
        "torch.tensor([1, 2], device=x.device, pin_memory=True)",
        "torch.tensor([1.5, 2]).to(x.device, torch.half)",
        "torch.tensor(y).to(x.device)",
        "torch.tensor([1, 2], device=(x + 1).device)",
        "torch.tensor([1, 2], device=next(iter([x])).device)",
        "x.to('cpu')",
    ],
)
def test_nothing_else_is_pinned_or_copied_without_waiting(made):
    program = HEAD.replace("y: torch.Tensor", "y: torch.Tensor, rows") + f"    return {made}\n"
    assert not fixes(program, "pin-data")
    assert "non_blocking" not in (rewritten(program, unsafe=True) or "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.linalg.inv(a)", "torch.linalg.inv_ex(a).inverse"),
        ("a.inverse()", "torch.linalg.inv_ex(a).inverse"),
        ("torch.linalg.cholesky(a, upper=True)", "torch.linalg.cholesky_ex(a, upper=True).L"),
        ("torch.linalg.solve(a, a)", "torch.linalg.solve_ex(a, a).result"),
    ],
)
@settings(deadline=None, max_examples=25)
@given(n=st.integers(0, 3), grad=st.booleans(), seed=st.integers(0, 9))
def test_the_form_that_does_not_check_gives_the_same(old, new, n, grad, seed):
    program = HEAD + f"    a = x @ x.mT + torch.eye(x.size(-1), device=x.device)\n    return {old}\n"
    after = program.replace(old, new)
    if n == 0:
        assert rewritten(program, "ex-form", unsafe=True) == after
        assert rewritten(program, "ex-form") is None

    def make():
        x = torch.randn(2, n, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        return x.requires_grad_(grad), x

    same(program, after, make, exact=False)


FED = HEAD + "    scale = x.abs().max().item() / 2\n    return y * scale + y\n"
MASKED = (
    HEAD
    + """\
    z = x * 1
    m = z > 1
    if m.any():
        low = y.min()
        z[m] = low
        z = z.masked_fill(m, 3)
    return z
"""
)
PARTLY = (
    HEAD
    + "    m = x > 1\n"
    + "    if y is not None and m.any():\n        x = x.masked_fill(m.view(m.shape), 0.0)\n    return x\n"
)
HOISTED = (
    HEAD
    + """\
    found = []
    for step in range(3):
        n = y.sum().tolist()
        found.append(n + step)
    return found
"""
)
CHECKED = (
    HEAD
    + """\
    if (x < 0).any():
        raise ValueError(f"negative: {x}")
    assert torch.isfinite(y).all(), "not finite"
    if not (x.numel() < 99 and (y <= 9).all()):
        raise ValueError("large")
    return x + y
"""
)
PROGRAMS = {
    FED: ("feed-tensor", "scale = x.abs().max().detach() / 2"),
    MASKED: ("unwrap-guard", "    z[m] = low\n    z = z.masked_fill(m, 3)"),
    PARTLY: ("unwrap-guard", "    if y is not None:\n"),
    HOISTED: ("hoist-read", "    n = y.sum().tolist()\n    for step"),
    CHECKED: ("assert-async", 'torch._assert_async(~(x < 0).any(), "negative: ...")'),
}
AFTER = Later(lambda program: rewritten(program, PROGRAMS[program][0], unsafe=True))


@pytest.mark.parametrize("program", PROGRAMS)
@settings(deadline=None, max_examples=40)
@given(shape=st.lists(st.integers(1, 3), max_size=2), data=st.data())
def test_gives_the_same(program, shape, data):
    assert PROGRAMS[program][1] in AFTER[program]
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    numbers = tuple(n for n in FINITE if program is not CHECKED or n >= 0)
    x = data.draw(tensors(shape, dtype, data.draw(st.booleans()), numbers=numbers))
    y = data.draw(tensors(shape, dtype, numbers=numbers))
    same(program, AFTER[program], lambda: (x(), y()), exact=False)


def test_an_assertion_on_the_device_still_fails():
    f = function(AFTER[CHECKED])
    for x, y in ((-1.0, 1.0), (1.0, float("nan")), (1.0, 10.0)):
        with pytest.raises(RuntimeError):
            f(torch.tensor([x]), torch.tensor([y]))


@pytest.mark.parametrize(
    "body",
    [
        "    if x.any():\n        x = x * 2\n    return x\n",
        "    m = x > 0\n    if m.any():\n        x[~m] = 0\n    return x\n",
        "    m = x > 0\n    if m.any():\n        x[m] = 0\n        print(1)\n    return x\n",
        "    m = x > 0\n    if m.all():\n        x[m] = 0\n    return x\n",
        "    m, z = x > 0, None\n    if m.any():\n        x[m] = 0\n        z = x.sum()\n    return z\n",
        "    for i in range(3):\n        y = y * 2\n        print(x, y.sum().item())\n    return x\n",
        "    for i in range(3):\n        y.add_(2)\n        print(y.sum().item())\n    return x\n",
        "    for i in range(3):\n        if i:\n            print(y.sum().item())\n    return x\n",
        "    if x.any():\n        print(1)\n        raise ValueError\n    return x\n",
        "    if x.any():\n        raise ValueError\n    else:\n        x = y\n    return x\n",
        "    return [1, 2, 3][x.argmax().item()]\n",
        "    return 'a' * x.sum().item()\n",
    ],
)
def test_leaves_alone(body):
    names = {name for name, _ in PROGRAMS.values()}
    assert not [fix for fix in fixes(HEAD + body) if fix.recipe in names and fix.tier != "display"]


def test_copies_to_the_host_are_never_made_without_waiting():
    """A host that reads before the copy has landed reads rubbish: this is only shown."""
    program = HEAD + "    a = x.cpu()\n    b = y.cpu()\n    return a.numpy() + b.numpy()\n"
    found = fixes(program, "copy-together")
    assert {fix.tier for fix in found} == {"display"}
    assert rewritten(program, unsafe=True) is None


COPIES = [
    (
        "    a = x.cpu()\n    b = y.to('cpu').detach()\n    return a, b\n",
        (
            "    a = x.to(\"cpu\", non_blocking=True)\n    b = y.to('cpu', non_blocking=True).detach()\n"
            "    if x.is_cuda:\n        torch.cuda.current_stream().synchronize()  # before the host reads them\n"
            "    return a, b\n"
        ),
    ),
    # What reads a copy that has not arrived reads rubbish: on the device instead, and before it.
    (
        "    rows = []\n    for row in y:\n        rows.append((x * row).cpu().contiguous())\n    return rows\n",
        (
            "    rows = []\n    for row in y:\n"
            '        rows.append((x * row).contiguous().to("cpu", non_blocking=True))\n'
            "    if torch.cuda.is_available():\n"
            "        torch.cuda.current_stream().synchronize()  # before the host reads them\n    return rows\n"
        ),
    ),
    (
        "    a = x.cpu()  # here\n    return a\n",
        (
            '    if x.is_cuda:\n        a = torch.empty_like(x, device="cpu", pin_memory=True)\n'
            "        a.copy_(x, non_blocking=True)\n"
            "        torch.cuda.current_stream().synchronize()  # before the host reads it\n"
            "    else:\n        a = x.cpu()  # here\n    return a\n"
        ),
    ),
]


@pytest.mark.parametrize(("body", "after"), COPIES)
def test_a_copy_that_is_queued_is_waited_for_where_there_is_a_device(body, after):
    (fix, *_) = fixes(HEAD + body, "copy-together")
    assert applied(HEAD + body, fix.edits) == HEAD + after
    for x, y in ((torch.rand(2, 3).t(), torch.rand(3, 2)), (torch.zeros(0), torch.zeros(0))):
        same(HEAD + body, HEAD + after.replace('"cpu"', "'cpu'"), lambda x=x, y=y: (x, y))


@pytest.mark.parametrize(
    "read",
    ["x.cpu().tolist(), y.cpu()", "x.cpu() + 1, y.cpu()", "y.cpu().T.contiguous(), x.cpu()", "x.cpu(), abs(y.cpu())"],
)
def test_a_copy_that_is_read_at_once_is_not_queued(read):
    assert not fixes(HEAD + f"    a = {read}\n    return a\n", "copy-together")
    assert not fixes(HEAD + "    return x.cpu(), y.cpu()\n", "copy-together")


PICKED = (
    HEAD
    + """\
    best = y.argmax().item()
    return x[best] * 2, x[y.argmin().item()]
"""
)
ZERO_DIM = HEAD + "    return x[y.argmax()]\n"
PICKED_AFTER = Later(lambda program: rewritten(program, "index-select", unsafe=True))


@pytest.mark.parametrize("program", [PICKED, ZERO_DIM])
@settings(deadline=None, max_examples=40)
@given(shape=st.lists(st.integers(1, 3), min_size=1, max_size=3), data=st.data())
def test_an_element_is_picked_on_the_device(program, shape, data):
    assert ".reshape(1)).squeeze(0)" in PICKED_AFTER[program]
    assert rewritten(program, "index-select") is None
    x = data.draw(tensors(shape, torch.float32, data.draw(st.booleans())))
    y = data.draw(tensors([shape[0]], torch.float32, numbers=FINITE))
    same(program, PICKED_AFTER[program], lambda: (x(), y()))


@pytest.mark.parametrize(
    "body",
    [
        "    i = y.argmax().item()\n    x[i] = 0\n    return x\n",
        "    i = y.argmax().item()\n    return x[i], i\n",
        "    i = y.argmax().item()\n    return x[i, 0]\n",
        "    i = y.argmax().item()\n    return ['a', 'b'][i]\n",
        "    i = y.mean().item()\n    return x[int(i)]\n",
    ],
)
def test_an_index_that_the_host_needs_stays(body):
    assert not fixes(HEAD + body, "index-select")


BATCHES = """\
import torch
from torch.utils.data import DataLoader


def fit(model, data, device):
    for batch in DataLoader(data{settings}):
        x = batch["x"].to(device)
        model(x).sum().backward()
"""


def test_what_a_loader_gives_is_copied_behind_the_hosts_back_only_if_it_pins():
    """Without `pin_memory` such a copy may wait all the same: then it is only shown, with what is missing."""
    found = fixes(BATCHES.replace("{settings}", ""), "pin-pair")
    shown = [fix for fix in found if any("non_blocking=True" in edit.text for edit in fix.edits)]
    assert {fix.tier for fix in shown} == {"display"}
    assert "only if the loader pins" in shown[0].message


@pytest.mark.parametrize("pinned", ["True", "torch.cuda.is_available()"])
def test_a_part_of_a_batch_that_is_pinned_is_copied_behind_the_hosts_back(pinned):
    program = BATCHES.replace("{settings}", f", pin_memory={pinned}")
    (fix,) = fixes(program, "pin-pair")
    assert (fix.tier, fix.edits[0].text) == ("unsafe", ", non_blocking=True")
    filled = program.replace("        model(x)", "        batch['x'][0] = 1\n        model(x)")
    assert not fixes(filled, "pin-pair")


def test_a_switch_is_no_data():
    """`pin_memory=...` made the list a tensor of booleans, and what it picked a mask."""
    body = (
        "    i = torch.tensor([p[0] for p in y], device='cpu', pin_memory=x.is_cuda).to(x.device, non_blocking=True)\n"
    )
    program = HEAD.replace("y: torch.Tensor", "y") + body + "    return x[:, i]\n"
    assert "SG102" not in codes(program)
