"""What inference follows: each line of tests/reach that is marked `# waits` has a finding, and no other line has one.

`# waits: hot` tells how often as well. The files are read, never run.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config

PROGRAMS = sorted((Path(__file__).parent / "reach").glob("*.py"))
MARK = re.compile(r"# waits(?:: (\w+))?$")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_marked_lines_wait_and_no_others(program: Path) -> None:
    text = program.read_text()
    wanted = {
        number: mark[1] for number, line in enumerate(text.split("\n"), 1) if (mark := MARK.search(line)) is not None
    }
    # Given by a name of its own: what stands in a folder of tests is cold.
    config = Config(heat="all", stdin_filename="program.py")
    found = {finding.site.line: finding.heat for finding in pipeline.check(["-"], config, text).findings}
    assert found.keys() == wanted.keys()
    assert {line: heat for line, heat in found.items() if wanted[line]} == {k: v for k, v in wanted.items() if v}
