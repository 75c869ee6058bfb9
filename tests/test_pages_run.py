"""Every program of every rule page runs to its end on a CPU, and a Fixed program does what its Caught program did.

The convention: a program's last statement is a bare call. Where a Caught and a Fixed program of one page call a
function of the same name there, they are a pair, and both calls give the same values from the same seed (a number may
have become a 0-d tensor). A Fixed program that means something else calls a function of another name, and the page
says in what they differ.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import on_cpu  # noqa: E402

from syncguard.pack import Example, examples  # noqa: E402

RULES = Path(__file__).parent.parent / "rules"
PAGES = {path.stem: examples(path.read_text("utf-8")) for path in sorted(RULES.glob("SG*.md"))}
PROGRAMS = [pytest.param(p, id=f"{page}:{p.line}") for page, programs in PAGES.items() for p in programs]
PAIRS = [
    pytest.param(before, after, id=f"{page}:{before.line}-{after.line}")
    for page, programs in PAGES.items()
    for before in programs
    for after in programs
    if (before.section, after.section) == ("caught", "fixed")
    and on_cpu.called(before.text) == on_cpu.called(after.text)
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_runs_and_ends_in_a_call(program: Example) -> None:
    assert on_cpu.called(program.text)
    run(program)


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_a_fixed_program_gives_the_same_values(before: Example, after: Example) -> None:
    agree(run(before), run(after))


def run(program: Example) -> Any:
    for library in ("numpy", "pandas"):
        if f"import {library}" in program.text and not importlib.util.find_spec(library):
            pytest.skip(f"{library} is not installed")
    return on_cpu.run(program.text)


def agree(before: Any, after: Any) -> None:
    """Values, dtypes and shapes; a number agrees with a 0-d tensor."""
    if isinstance(before, (bool, int, float)) or isinstance(after, (bool, int, float)):
        assert float(after) == pytest.approx(float(before), nan_ok=True)
    elif isinstance(before, dict):
        assert list(before) == list(after)
        agree(list(before.values()), list(after.values()))
    elif isinstance(before, (list, tuple)):
        assert len(before) == len(after)
        for one, other in zip(before, after, strict=True):
            agree(one, other)
    elif isinstance(before, torch.Tensor):
        torch.testing.assert_close(after, before, equal_nan=True)
    else:
        assert before == after
