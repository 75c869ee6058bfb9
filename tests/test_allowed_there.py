"""What is told at a call may be allowed at the line of the other file that waits; such a comment is of use."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import config, pipeline
from syncguard.pipeline import Report

LIB = """
def fill(x, m):
    {above}
    x[m] = x[m] + 1
    return x


def read(loss):
    return float(loss)  {behind}
"""
MAIN = """
import torch
from lib import fill, read

net = torch.nn.Linear(4, 4).cuda()
for _ in range(3):
    x = torch.randn(8, 4, device="cuda")
    z = fill(net(x), x > 0)
    z.sum().backward()
    read(z.sum())
"""
MASKS = "# syncguard: allow[SG102, SG103] wanted"
READ = "# syncguard: allow[SG203] asked for"


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("")
    Path("main.py").write_text(MAIN)
    return tmp_path


def checked(path: str, cache: bool = True) -> Report:
    return pipeline.check([path], config.load([path], {"heat": "all", "cache": cache}, isolated=True))


def told(report: Report) -> list[tuple[str, str]]:
    return [(finding.site.path, finding.code) for finding in report.findings]


def allowed(report: Report) -> list[tuple[str, str]]:
    return [(finding.code, finding.allowed) for finding in report.allowed]


@pytest.mark.parametrize("cache", [True, False])
def test_a_comment_where_it_waits_covers_the_call(top: Path, cache: bool) -> None:
    Path("lib.py").write_text(LIB.format(above=MASKS, behind=READ))
    report = checked(".", cache)
    assert told(report) == []
    assert allowed(report) == [("SG102", "wanted"), ("SG103", "wanted"), ("SG203", "asked for")]


@pytest.mark.parametrize("deep", ["read", "outer", "outmost"])
def test_a_comment_covers_the_calls_of_what_is_a_name_for_that_name(top: Path, deep: str) -> None:
    behind = dict.fromkeys(("outer", "outmost"), "") | {deep: READ}
    Path("lib.py").write_text(LIB.format(above=MASKS, behind=READ if deep == "read" else ""))
    Path("mid.py").write_text(f"from lib import read\n\n\ndef outer(loss):\n    return read(loss)  {behind['outer']}\n")
    Path("far.py").write_text(f"import mid\n\n\ndef read(loss):\n    return mid.outer(loss)  {behind['outmost']}\n")
    Path("main.py").write_text(MAIN.replace("import fill, read", "import fill\nfrom far import read"))
    report = checked(".")
    assert told(report) == []
    assert allowed(report)[-1] == ("SG203", "asked for")


def test_each_code_is_covered_by_itself(top: Path) -> None:
    Path("lib.py").write_text(LIB.format(above="# syncguard: allow[SG102, SG201] wanted", behind=""))
    report = checked(".")
    assert told(report) == [("lib.py", "SG001"), ("main.py", "SG103"), ("main.py", "SG203")]
    assert "`SG201`" in report.findings[0].message
    assert allowed(report) == [("SG102", "wanted")]


def test_a_part_of_the_files_says_the_same(top: Path) -> None:
    Path("lib.py").write_text(LIB.format(above=MASKS, behind=READ))
    for path in (".", "main.py", "lib.py", ".", "lib.py", "main.py"):
        assert told(checked(path)) == []


def test_a_comment_that_goes_is_missed_at_once(top: Path) -> None:
    Path("lib.py").write_text(LIB.format(above=MASKS, behind=READ))
    assert told(checked(".")) == []
    Path("lib.py").write_text(LIB.format(above="pass", behind=""))
    assert [code for _, code in told(checked("main.py"))] == ["SG102", "SG103", "SG203"]
    assert [code for _, code in told(checked("."))] == ["SG102", "SG103", "SG203"]
    Path("lib.py").write_text(LIB.format(above=MASKS, behind=""))
    assert [code for _, code in told(checked("main.py"))] == ["SG203"]
