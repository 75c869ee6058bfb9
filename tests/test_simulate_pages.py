"""Every program of every rule page, run simulated: its marked lines wait with their rule's hazard, no other does."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import linecache
import random
import re
import sys

import pytest

torch = pytest.importorskip("torch")

import on_cpu  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.observe.simulate import Seen, Simulation  # noqa: E402

PACK = pack.load()
PROGRAMS = [
    pytest.param(page.stem, program, id=f"{page.stem}:{program.line}")
    for page in sorted(pack.home().glob("SG*.md"))
    for program in pack.examples(page.read_text("utf-8"))
]
# A wait says what happens at a line; these rules judge the lines around it, so the run sees the rule beneath.
BENEATH = {
    "SG209": {"SG201", "SG202", "SG203"},  # a read, in every round of a loop
    "SG304": {"SG301"},  # a copy, of what could have been built on the device
    "SG305": {"SG301"},  # a copy, of what came from the device
    "SG405": {"SG401"},  # a synchronize, between two looks at the clock
}
# Nothing waits at the marked line, or not more than a moment before; only a reader of the source can tell.
UNSEEN = {
    "SG210": "reads too early instead of waiting",
    "SG306": "is the `if` that leads to the copies",
    "SG901": "is advice about a setting",
    "SG902": "is advice about a setting",
    "SG903": "is advice about a class",
}
# What the run sees although the page is silent, and the reason.
KNOWN = {
    "SG401-synchronize": {"SG401": "it waits; that this is what a measurement is for is a judgement of the source"},
    "SG405-timing-by-synchronize": {"SG401": "as above"},
    "SG402-empty-cache": {"SG402": "it waits; that once is not often is a judgement of the source"},
}
SILENT = (
    'os.environ["CUDA_LAUNCH_BLOCKING"]',  # asked by the driver, not by Python
    "DataLoader(",  # nobody waits where it is made, but where its batches are copied
)


@pytest.mark.parametrize(("page", "program"), PROGRAMS)
def test_the_marked_lines_wait_and_no_others(page: str, program: pack.Example) -> None:
    for library in ("numpy", "pandas"):
        if f"import {library}" in program.text and not importlib.util.find_spec(library):
            pytest.skip(f"{library} is not installed")
    promised = {
        (line, code)
        for line, code in marks(program.text)
        if code not in UNSEEN and not any(text in text_at(program, line) for text in SILENT)
    }
    seen = waits(page, program)
    unseen = {(line, code) for line, code in promised if not {(line, c) for c in (code, *BENEATH.get(code, ()))} & seen}
    excused = {(line, c) for line, code in marks(program.text) for c in (code, *BENEATH.get(code, ()))}
    excused |= {(line, code) for line, text in enumerate(program.text.splitlines(), 1) for code in missed(text)}
    extra = {(line, code) for line, code in seen - excused if code not in KNOWN.get(page, ())}
    assert (unseen, extra) == (set(), set())


@pytest.mark.parametrize("page", KNOWN)
def test_what_is_excused_is_seen(page: str) -> None:
    """An excuse that nothing needs goes."""
    needed = {
        code
        for name, program in (param.values for param in PROGRAMS)
        if name == page and program.section == "quiet"
        for _, code in waits(page, program)
    }
    assert needed >= set(KNOWN[page])


def waits(page: str, program: pack.Example) -> set[tuple[int, str]]:
    """Run a program; the line and rule of each wait."""
    name = f"<{page}:{program.line}>"
    linecache.cache[name] = (len(program.text), None, program.text.splitlines(True), name)
    found: set[tuple[int, str]] = set()
    moved: set[int] = set()

    def seen(wait: Seen) -> None:
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != name:
            frame = frame.f_back
        assert frame is not None, f"{wait} has no line in the program"
        line = list(frame.f_code.co_positions())[frame.f_lasti // 2][0]
        again = PACK.again(wait.op, wait.hazard) if line in moved else wait.hazard
        moved.add(line or 0)
        if code := PACK.code_of(again):
            found.add((line or 0, code))

    code = compile(program.text, name, "exec")
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[]))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(pytest.MonkeyPatch.context()).setattr("sys.argv", ["example"])
        for put_back, *values in on_cpu.settings():
            stack.callback(put_back, *values)
        torch.default_generator.manual_seed(0)
        random.seed(0)
        stack.enter_context(Simulation(PACK, seen))
        stack.callback(leave_group)
        exec(code, {"__name__": "example"})
    return found


def leave_group() -> None:
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def marks(text: str) -> set[tuple[int, str]]:
    return {
        (number, code)
        for number, line in enumerate(text.splitlines(), 1)
        for codes in re.findall(r"# sync: (SG\d{3}(?:, SG\d{3})*)", line)
        for code in codes.split(", ")
    }


def missed(line: str) -> list[str]:
    return [code for codes in re.findall(r"# missed: (SG\d{3}(?:, SG\d{3})*)", line) for code in codes.split(", ")]


def text_at(program: pack.Example, line: int) -> str:
    return program.text.splitlines()[line - 1]
