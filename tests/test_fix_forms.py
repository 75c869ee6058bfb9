"""Forms of rewrites that several statements make together: the same values and gradients, and what they leave alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fixing import Later, codes, fixes, rewritten, same  # noqa: E402
from tensors import tensors  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n"
BOTH = (
    HEAD
    + """\
    out = torch.empty_like(x)
    m = x > 0
    out[m] = y[m] * 2
    out[~m] = -x[~m]
    return out
"""
)
SHARE = (
    HEAD
    + """\
    out = torch.zeros_like(y)
    n = (x > 0).sum(-1)
    seen = n > 0
    out[seen] = y[seen] / n[seen]
    return out
"""
)
COLUMN = (
    HEAD
    + """\
    out = x.new_zeros(x.shape)
    n = torch.zeros(len(x), dtype=torch.long, device=x.device)
    n.add_((x > 0).sum(-1))
    seen = n > 0
    out[seen] = x[seen] / n[seen].to(x.dtype).view(-1, *([1] * (x.ndim - 1)))
    return out
"""
)
ASKED = (
    HEAD
    + """\
    assert x.shape == y.shape
    z = x * 1
    m = ~torch.isnan(y)
    z[m] = y[m]
    return z
"""
)
LATER = (
    HEAD
    + """\
    m = (x > 0).any(-1)
    a = x[m]
    b = y[m] if len(a) > 1 else None
    return a, b
"""
)
AHEAD = (
    HEAD
    + """\
    m = (x > 0).any(-1)
    found = []
    for k in range(3):
        found.append(y[m] + k)
    return found
"""
)
WINDOW = (
    HEAD
    + """\
    losses, seen = [], []
    for step, row in enumerate(x):
        losses.append(row.mean().item())
        if step % 2:
            seen.append(sum(losses) / len(losses))
            losses.clear()
    return seen
"""
).replace("    losses, seen = [], []\n", "    seen = []\n    losses: list[float] = []\n")
PASSED = (
    HEAD
    + """\
    seen = []
    losses = []
    for step, row in enumerate(x):
        loss = row.mean().item()
        losses.append(loss)
        if step % 2:
            seen.append((min(losses), max(losses)))
            losses = []
    return seen, losses
"""
)
NOT_ALL = (
    HEAD + "    keep = x > 0\n    out = y.clone()\n    if not keep.all():\n        out[~keep] = 0.0\n    return out\n"
)
COUNTED = (
    HEAD + "    m = x > 0\n    out = y.clone()\n    if m.sum().item() > 0:\n        out[m] = 0.0\n    return out\n"
)
COMPARED = HEAD + "    low = x.sum().item()\n    return y.gt(low) & (y <= x.sum().item()), y.add(x.sum().item())\n"
PROGRAMS = {
    BOTH: ("where-assign", "out.copy_(torch.where(m, y * 2, -x))", False),
    SHARE: ("where-assign", "torch.where(seen", True),
    COLUMN: ("where-assign", "x / n.clamp(min=1).to(x.dtype).view(-1, *([1] * (x.ndim - 1)))", True),
    ASKED: ("where-assign", "z.copy_(torch.where(m, y, z))", False),
    LATER: ("mask-once", "b = y[m_index] if len(a) > 1 else None", True),
    AHEAD: ("mask-once", "    m_index = torch.where(m)\n    for k in range(3):", True),
    WINDOW: ("accumulate-on-device", "            losses.clear()\n    return seen", False),
    PASSED: (
        "accumulate-on-device",
        "            losses_list = torch.stack(losses).tolist() if losses else []\n",
        False,
    ),
    NOT_ALL: ("unwrap-guard", "    out = y.clone()\n    out[~keep] = 0.0\n", True),
    COUNTED: ("unwrap-guard", "    out = y.clone()\n    out[m] = 0.0\n", True),
    COMPARED: ("feed-tensor", "y.gt(low) & (y <= x.sum()), y.add(x.sum().detach())", True),
}
AFTER = Later(lambda program: rewritten(program, PROGRAMS[program][0], PROGRAMS[program][2]))
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewrites(program):
    recipe, line, unsafe = PROGRAMS[program]
    assert line in AFTER[program]
    assert [code for code in codes(AFTER[program]) if code in codes(program)] == []
    every = [one for fix in fixes(program) for one in (fix, fix.bolder) if one is not None and one.recipe == recipe]
    assert {fix.tier for fix in every} == {"unsafe" if unsafe else "safe"}


@pytest.mark.parametrize("program", PROGRAMS)
@settings(deadline=None, max_examples=60)
@given(shape=st.lists(st.integers(0, 3), min_size=2, max_size=2), data=st.data())
def test_gives_the_same(program, shape, data):
    grad = data.draw(st.booleans()) and program not in (WINDOW, PASSED)
    whole = program in (COLUMN, SHARE)
    numbers = (0.0, 1.0, -1.0, 0.5, 2.0) if whole or program is COMPARED else None
    dtype = data.draw(st.sampled_from(DTYPES[:2] if program is COMPARED else DTYPES))
    x = data.draw(tensors(shape, dtype, grad, numbers=numbers))
    y = data.draw(tensors(shape[:1] if program is SHARE else shape, dtype, grad, numbers=numbers))
    if program in (WINDOW, PASSED) and not shape[1]:
        return
    same(program, AFTER[program], lambda: (x(), y()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("out[~m] = -x[~m]", "out[~m] = out[~m] + 1"),  # reads what the first may have written
        ("out[~m] = -x[~m]", "out[~m] = x[~m] * out.sum()"),
        ("out[~m] = -x[~m]", "m = m & (x > 1)\n    out[~m] = -x[~m]"),
        ("out[~m] = -x[~m]", "out[m] = -x[m]"),
        ("out[~m] = -x[~m]", "y[~m] = -x[~m]"),
        ("out[~m] = -x[~m]", "out[~m] = 0.0"),
        ("out[~m] = -x[~m]", "k = 0\n    out[~m] = -x[~m]"),
    ],
)
def test_only_the_opposite_of_a_mask_is_joined(old, new):
    program = BOTH.replace(old, new).replace("empty_like", "zeros_like")
    after = rewritten(program, unsafe=True)
    assert "torch.where(m, y * 2, out)" in after
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    same(program, after, lambda: (x.clone(), y.clone()))


@pytest.mark.parametrize("of", ["z.sum()", "z[~m]", "z.flip(0)[~m]"])
def test_writes_are_not_joined_where_memory_is_shared(of):
    program = HEAD + f"    z = x\n    m = y > 0\n    x[m] = y[m] * 2\n    x[~m] = x[~m] * 0 + {of}\n    return x\n"
    after = rewritten(program, unsafe=True)
    assert "torch.where(m.reshape(" in after
    same(program, after, lambda: (torch.randn(3, 4), torch.randn(3, 4)))


def test_what_was_selected_before_fits_no_more():
    program = HEAD + (
        "    m = x > 0\n    w = x[m] / 3\n    k = w * 2\n    out = torch.zeros_like(x)\n"
        "    out[m] = y[m] * (0.5 + k)\n    return out\n"
    )
    assert not fixes(program, "where-assign")


def test_a_generator_looks_at_its_mask_later():
    program = HEAD + (
        "    m = y > 0\n    a = x[m]\n    b = (y[m] for _ in range(2))\n    m = y < 0\n    return a, list(b)\n"
    )
    assert not fixes(program, "mask-once")


def test_a_comment_above_a_test_stays_once():
    program = (
        HEAD + "    m = y > 0\n    # above\n    if m.any():  # beside\n        # in\n        x[m] = 0.0\n    return x\n"
    )
    after = rewritten(program, "unwrap-guard", unsafe=True)
    assert "    # above\n    # beside\n    # in\n    x[m] = 0.0\n" in after
    assert after.count("# above") == 1


def test_what_a_variable_held_before_has_another_shape():
    program = HEAD + (
        "    out = torch.zeros_like(y)\n    y = y[:, 0]\n    m = y > 0\n    out[m] = x[m]\n    return out\n"
    )
    assert rewritten(program) is None
    after = rewritten(program, unsafe=True)
    assert "m.reshape(" in after
    same(program, after, lambda: (torch.randn(3, 3), torch.randn(3, 3)))
    asked = ASKED.replace("    z = x * 1\n", "    z = x[0] * 1\n")
    assert "m.reshape(" in (rewritten(asked, unsafe=True) or "m.reshape(")


def test_a_count_that_changes_may_be_zero():
    changed = SHARE.replace("    out[seen]", "    n -= 1\n    out[seen]")
    assert "clamp" not in (rewritten(changed, unsafe=True) or "")
    signed = SHARE.replace("n > 0", "n != 0").replace("(x > 0).sum(-1)", "x.long().sum(-1)")
    assert "clamp" not in (rewritten(signed, unsafe=True) or "")


def test_where_copy_means_something_else_it_is_not_called():
    program = (
        "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n    m = y > 0\n    x[m] = y[m]\n    return x\n\n\n"
        "torch.Tensor.copy_ = f\n"
    )
    after = rewritten(program, unsafe=True)
    assert "x[...] = torch.where(" in after
    assert ".copy_(" not in after


@pytest.mark.parametrize(
    "lines",
    [
        "losses.append(0.0)",
        "if step:\n            losses.pop()",
        "print(losses)",
        "if step:\n            kept = losses",
        "if step:\n            seen.append(losses)",
        "if step:\n            losses[0] = 1.0",
        "if step:\n            losses += [1.0]",
        "g = lambda: losses",
        "losses.sort()",
    ],
)
def test_a_list_of_which_the_loop_does_more_stays(lines):
    program = WINDOW.replace("        if step % 2:", f"        {lines}\n        if step % 2:")
    assert program != WINDOW
    assert not fixes(program, "accumulate-on-device")


@pytest.mark.parametrize(
    ("test", "check"),
    [
        ("step > 3 and (x < 0).any()", "    if step > 3:\n        torch._assert_async(~(x < 0).any(), "),
        (
            "step is not None and x.isnan().any()",
            "    if step is not None:\n        torch._assert_async(~x.isnan().any(), ",
        ),
        ("not x.isfinite().all()", "    torch._assert_async(x.isfinite().all(), "),
    ],
)
def test_an_assertion_keeps_its_words(test, check):
    program = (
        f"import torch\n\n\ndef f(x: torch.Tensor, step: int):\n    if {test}:\n"
        "        raise ValueError(\n            f'wrong at {step}: '\n            f'{x.sum()} is {{bad}}'\n        )\n"
    )
    after = rewritten(program, "assert-async", unsafe=True)
    assert check + 'f"wrong at {step}")' in after


@pytest.mark.parametrize(
    "text",
    ["a {} b'.format(x)", "a %d b' % step", "a ' f'{x} b'"],
)
def test_a_message_has_dots_for_its_values(text):
    program = (
        "import torch\n\n\ndef f(x: torch.Tensor, step: int):\n    if (x < 0).any():\n"
        f"        raise ValueError('{text})\n"
    )
    assert '"a ... b"' in rewritten(program, "assert-async", unsafe=True)


@pytest.mark.parametrize(
    "body",
    [
        "    return x[: max(1, int(y.sum().item()))]\n",
        "    return g(max(1, y.long().sum().item()))\n",
        "    return x.new_zeros(max(1, int(y.max().item())))\n",
        "    n = max(0, y.max())\n    return torch.randint(high=n, size=(2,))\n",
        "    assert_close(y.sum().item(), 1.0)\n",
        "    n = y.max().item()\n    return g(x, n)\n\n\ndef g(x, size):\n    n = size\n    return x if n else -x\n",
        "    return grow(x, size=y.max().item())\n\n\ndef grow(x, size):\n    return x[:size]\n",
    ],
)
def test_a_number_that_is_needed_is_not_passed_on_as_a_tensor(body):
    assert not [fix for fix in fixes(HEAD + body) if fix.recipe in ("feed-tensor", "clamp-number")]


@pytest.mark.parametrize(
    "body",
    [
        "    logs = {'a': y.sum().item()}\n    logging.info(logs)\n",
        "    logs = {'a': y.sum().item()}\n    print(f\"{logs['a']}\")\n",
        "    logs = {'a': y.sum().item()}\n    self.log.info('%s', logs.items())\n",
        "    self.ids[0] = self.table[0][1].item()\n",
        "    self.n = y.sum().item()\n    if self.n > 3:\n        return None\n",
    ],
)
def test_what_is_written_out_stays_a_number(body):
    program = f"import logging\nimport torch\n\n\ndef f(self, y: torch.Tensor):\n{body}"
    assert not fixes(program, "keep-tensor")


def test_what_may_be_a_tensor_already_is_not_filled_in():
    program = HEAD.replace("y: torch.Tensor", "y: float") + "    return torch.as_tensor(y, device=x.device)\n"
    assert not fixes(program, "fill-on-device")


def test_a_flag_says_nothing_of_the_numbers():
    program = (
        "import torch\n\n\ndef f(x: torch.Tensor, rows: list):\n"
        "    key = torch.tensor([row[0] for row in rows], pin_memory=True).to(x.device, non_blocking=True)\n"
        "    return x[key]\n"
    )
    assert "SG102" not in codes(program)
