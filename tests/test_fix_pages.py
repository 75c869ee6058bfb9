"""What the recipes make of the pages' Caught programs: it runs, gives the same, and has fewer findings."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import on_cpu
from fixing import codes, rewritten
from test_pages_run import agree, run

from syncguard.pack import Example, examples, load

PROGRAMS = [
    pytest.param(example, rule.code, id=f"{rule.name}:{example.line}")
    for rule in load().rules
    if rule.fix
    for example in examples(Path(rule.path).read_text("utf-8"))
    if example.section == "caught"
]


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize(("program", "code"), PROGRAMS)
def test_a_caught_program_gives_the_same_after_its_fixes(program: Example, code: str, unsafe: bool) -> None:
    after = rewritten(program.text, unsafe=unsafe)
    if after is None:
        return
    assert len(codes(after)) <= len(codes(program.text))
    assert on_cpu.called(after) == on_cpu.called(program.text)
    if code == "SG405":
        return  # what these programs give is how long they took
    here = after.replace("torch.cuda.is_available()", "False")  # the stubs say yes, and nothing can be pinned
    agree(run(program), run(Example(program.section, program.title, here, program.line)))
