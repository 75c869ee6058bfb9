"""What the code asks of a tensor, whether it is there or has elements, it asks before anything is computed of it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, function, rewritten  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor | None = None, n: int = 3):\n"
BREAK = HEAD + "    for i in range(n):\n        if y is None:\n            break\n        print(i * y[i].item())\n"
CONTINUE = BREAK.replace("break", "continue")
NAMED = BREAK.replace("    for i", "    gone = y is None\n    for i", 1).replace("if y is None", "if gone")
WHILE = HEAD + "    i = 0\n    while y is not None and i < n:\n        print(i * y[i].item())\n        i += 1\n"
ROWS = HEAD + "    for i in range(n):\n        assert y is not None\n        print(y[i].sum().item())\n"
HELD = (
    HEAD + "    for i in range(n):\n        if x.numel() == 0:\n            break\n        print(i, x.max().item())\n"
)
AHEAD = (
    HEAD
    + """\
    k = x.numel() and x.flatten().argmax()
    a = k.item() + 1 if False else 1
    first = torch.zeros(3, dtype=torch.long, device=x.device).argmax()
    b = first.item() + a
    if y is None:
        return b
    c = y.argmax().item()
    return b + c
"""
)
EMPTY = AHEAD.replace("y is None", "y.numel() == 0")
ARGUMENTS = {
    BREAK: (torch.rand(3), None),
    CONTINUE: (torch.rand(3), None),
    NAMED: (torch.rand(3), None),
    WHILE: (torch.rand(3), None),
    ROWS: (torch.rand(3), None, 0),
    HELD: (torch.rand(0), None),
    AHEAD: (torch.rand(3), None),
    EMPTY: (torch.rand(3), torch.rand(0)),
}


@pytest.mark.parametrize("program", ARGUMENTS)
def test_nothing_is_computed_before_it_is_asked(program):
    after = rewritten(program, unsafe=True) or program
    assert function(after)(*ARGUMENTS[program]) == function(program)(*ARGUMENTS[program])


@pytest.mark.parametrize(
    ("test", "line"),
    [
        ("x[i] > 0.5", "    x_list = x.flatten().tolist()\n"),  # which only a tensor has
        ("len(x) == 0", "    x_list = x.flatten().tolist()\n"),  # and the list of no elements is empty
        ("x.device.type == 'cpu'", "    x_list = x.flatten().tolist()\n"),
        ("y is None", "    x_list = x.flatten().tolist()\n"),
    ],
)
def test_other_questions_are_none_of_its_being_there(test, line):
    program = (
        HEAD + f"    for i in range(n):\n        if {test}:\n            continue\n        print(i * x[i].item())\n"
    )
    assert line in (rewritten(program, "read-together", unsafe=True) or "")


SUMMED = """\
import torch
from contextlib import suppress


def f(x: torch.Tensor, n: int = 3):
    total = 0.0
    seen = []
    try:
        for i in range(n):
            total += x.mean().item()
            seen.append(x.sum().item())
            if i == 2:
                raise ValueError
    except ValueError:
        pass
    return total, seen
"""
SUPPRESSED = SUMMED.replace("    try:", "    with suppress(ValueError):").replace(
    "    except ValueError:\n        pass\n", ""
)


@pytest.mark.parametrize("program", [SUMMED, SUPPRESSED])
def test_what_a_loop_that_failed_has_added_up_is_a_number(program):
    after = rewritten(program, "accumulate-on-device", unsafe=True) or program
    for n in (2, 5):
        total, seen = function(after)(torch.rand(3), n)
        assert type(total) is float
        assert all(type(one) is float for one in seen)


def test_what_stays_within_the_try_is_added_up_on_the_device():
    """What fails leaves the function."""
    program = SUMMED.replace("        pass\n    return total, seen", "        raise\n    finally:\n        print(n)")
    program = program.replace("    except", "        return total, seen\n    except")
    after = rewritten(program, "accumulate-on-device", unsafe=True)
    assert "            total += x.mean().detach().double()\n" in after
    assert "        total = float(total)\n" in after


def test_what_a_loop_reads_several_times_is_read_once_before_it():
    body = "    found = []\n    for i in range(n):\n        found.append(x.tolist() + [i])\n"
    body += "        found.append(x.tolist())\n"
    after = rewritten(f"{HEAD}{body}    return found\n", "hoist-read", unsafe=True)
    assert after.count("x.tolist()") == 1
    assert "        found.append(x_host + [i])\n        found.append(x_host)\n" in after


def test_a_size_that_is_asked_before_a_repeat_stays_before_it():
    body = (
        "    n = (x > 0).long()\n    if n.sum().item() == 0:\n        return x\n    if y is None:\n        return x\n"
    )
    body += "    z = y.repeat_interleave(n)\n    return z\n"
    assert not fixes(HEAD + body, "known-size")
