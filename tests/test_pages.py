"""Every example of every rule page: exactly the marked lines are found, whatever their heat.

`# sync: SG101, SG204` marks a line with all that must be found on it; `# missed: SG101` is a known gap, and fails the
day it is caught.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.pack import Example, examples

RULES = Path(__file__).parent.parent / "rules"
MARK = re.compile(r"#\s*(sync|missed):\s*((?:[A-Z]+\d+)(?:\s*,\s*[A-Z]+\d+)*)")


def programs() -> list[tuple[str, Example]]:
    return [(path.name, example) for path in sorted(RULES.glob("SG*.md")) for example in examples(path.read_text())]


def marked(text: str) -> tuple[dict[int, set[str]], dict[int, set[str]]]:
    """The codes that each line must give, and those that it should but does not."""
    found: tuple[dict[int, set[str]], dict[int, set[str]]] = ({}, {})
    for number, line in enumerate(text.split("\n"), 1):
        for kind, codes in MARK.findall(line):
            found[kind == "missed"].setdefault(number, set()).update(re.split(r"\s*,\s*", codes))
    return found


def check(text: str, code: str) -> dict[int, set[str]]:
    """The codes found on each line, by the rules that are on by default and by this one."""
    config = Config(heat="all", stdin_filename="example.py", extend_select=(code,))
    found: dict[int, set[str]] = {}
    for finding in pipeline.check(["-"], config, text).findings:
        found.setdefault(finding.site.line, set()).add(finding.code)
    return found


@pytest.mark.parametrize(
    ("page", "example"),
    [pytest.param(p, e, id=f"{p.split('-')[0]}-{e.section}-{e.title or 'first'}-{e.line}") for p, e in programs()],
)
def test_example(page: str, example: Example) -> None:
    wanted, missed = marked(example.text)
    found = check(example.text, page.split("-")[0])
    assert found == wanted, f"rules/{page}:{example.line}"
    for line, codes in missed.items():
        assert not codes & found.get(line, set()), (
            f"rules/{page}:{example.line + line - 1} is caught now: mark it `# sync:`"
        )
    if example.section == "caught":
        assert wanted or missed, f"rules/{page}:{example.line} catches nothing"
    else:
        assert not wanted, f"rules/{page}:{example.line} is meant to be quiet"
