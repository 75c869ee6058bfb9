"""Bad input: one clear line, the right exit code, and the other files still checked."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.cli.main import run
from syncguard.config import Config
from syncguard.pipeline import Report, check
from syncguard.read import source
from syncguard.terms import Finding

WAITS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> float:
        return x.sum().item()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("zz_good.py").write_text(WAITS)


def write(name: str, data: bytes | str) -> str:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    return name


def checked(*paths: str) -> Report:
    """The report on these files and a good one after them, whose finding must not be lost."""
    report = check([*paths, "zz_good.py"], Config())
    assert [f.code for f in report.findings if f.site.path == "zz_good.py"] == ["SG201"]
    assert len({note.path for note in report.files}) == len(report.files)
    return report


def others(report: Report) -> list[Finding]:
    return [finding for finding in report.findings if finding.site.path != "zz_good.py"]


EVIDENCE = 'evidence = [{ state = "doc", at = "x" }]'


def unreadable(report: Report, path: str) -> Finding:
    """The only finding about a file that could not be read, and that its note says the same."""
    (finding,) = others(report)
    assert (finding.site.path, finding.code, finding.name, finding.level) == (path, "SG000", "unreadable-file", "error")
    assert "\n" not in finding.message
    (note,) = [note for note in report.files if note.path == path]
    assert note.state == "broken"
    assert note.reason in finding.message
    return finding


# -- text that is odd and fine -----------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b"   \n\t\n", b"# only a comment", b"\x0c\n"])
def test_an_empty_file(data):
    report = checked(write("a.py", data))
    assert others(report) == []
    assert {note.state for note in report.files} == {"read"}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + WAITS.encode(),
        WAITS.replace("\n", "\r\n").encode(),
        WAITS.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + WAITS.replace("\n", "\r\n").encode(),
        WAITS.rstrip("\n").encode(),
        WAITS.replace("return", "\x0creturn").replace("\x0creturn", "return").encode(),
    ],
    ids=["bom", "crlf", "cr", "bom-crlf", "no-newline", "plain"],
)
def test_marks_and_line_ends_move_nothing(data):
    (finding,) = others(checked(write("a.py", data)))
    site = finding.site
    assert (site.line, site.column, site.end_line, site.end_column) == (6, 16, 6, 30)


def test_columns_are_characters_not_bytes():
    (finding,) = others(checked(write("a.py", WAITS.replace("return x", 'return "日本", x'))))
    assert (finding.site.column, finding.site.end_column) == (22, 36)


def test_an_encoding_that_the_file_names():
    text = "# -*- coding: latin-1 -*-\n" + WAITS.replace("return x", 'return "é", x')
    (finding,) = others(checked(write("a.py", text.encode("latin-1"))))
    assert (finding.site.line, finding.site.column) == (7, 21)


def test_a_file_of_60000_lines():
    text = "import torch\n" + "x = 1\n" * 59_990 + WAITS.replace("import torch\n", "")
    (finding,) = others(checked(write("a.py", text)))
    assert (finding.code, finding.site.line) == ("SG201", 59_991 + 5)


# -- text that cannot be read --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (WAITS.encode("utf-16"), "is UTF-16"),
        (WAITS.replace("x", "é").encode("latin-1"), "not UTF-8"),
        (b"# coding: klingon\n" + WAITS.encode(), "does not know: `klingon`"),
        (b"import torch\n\0\n", "contains a NUL byte (line 2)"),
        (b"\x7fELF\x02\x01\x01\0\0\xff", ""),
        (b"\x80\x81\x82", "not UTF-8"),
    ],
    ids=["utf-16", "latin-1", "klingon", "nul", "binary", "bytes"],
)
def test_bytes_that_are_no_source(data, reason):
    assert reason in unreadable(checked(write("a.py", data)), "a.py").message


def test_a_syntax_error_says_where():
    finding = unreadable(checked(write("a.py", "import torch\n\ndef f(:\n    pass\n")), "a.py")
    assert (finding.site.line, finding.site.column) == (3, 7)
    assert "cannot parse it: invalid syntax" in finding.message


def test_a_file_of_python_2():
    finding = unreadable(checked(write("a.py", "import torch\nprint 'loss', loss\n")), "a.py")
    assert finding.site.line == 2
    assert f"Python {sys.version_info[0]}.{sys.version_info[1]} cannot parse it" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5000 + "1" + ")" * 5000,
        "x = " + "-" * 5000 + "1",
        "x = " + "[" * 5000 + "]" * 5000,
        "x = " + "f(" * 5000 + ")" * 5000,
        "x = " + "1 + " * 5000 + "1",
        "x = y" + ".a" * 5000,
        "x = y" + "[0]" * 5000,
        "x = y" + ".f()" * 5000,
        "x = " + "not " * 5000 + "y",
        "x = " + "lambda: " * 5000 + "y",
        "x = " + "y if z else " * 5000 + "y",
        "".join(" " * n + "if x:\n" for n in range(99)) + " " * 99 + "pass\n",
        "if x:\n    pass\n" + "elif x:\n    pass\n" * 3000,
    ],
    ids="parens minus list call plus attr index method not lambda ternary indent elif".split(),
)
def test_an_expression_nested_5000_deep(text):
    report = checked(write("a.py", f"import torch\n{text}\n"))
    assert {finding.code for finding in others(report)} <= {"SG000"}
    if others(report):
        assert "nested" in unreadable(report, "a.py").message or "cannot parse" in unreadable(report, "a.py").message


def test_a_deep_tensor_expression_in_forward():
    text = WAITS.replace("x.sum().item()", "x" + ".sum()" * 3000 + ".item()")
    report = checked(write("a.py", text))
    assert {finding.code for finding in others(report)} <= {"SG000", "SG201"}


# -- files that are not there, or not files --------------------------------------------------------------


def test_a_loop_of_links():
    os.symlink("b.py", "a.py")
    os.symlink("a.py", "b.py")
    assert "symbolic links" in unreadable(checked("a.py"), "a.py").message
    os.mkdir("p")
    os.symlink("..", "p/up")
    Path("p/a.py").write_text(WAITS)
    report = check(["p"], Config())
    assert [finding.site.path for finding in report.findings] == ["p/a.py"]


def test_a_file_that_does_not_exist():
    assert "does not exist" in unreadable(checked("gone.py"), "gone.py").message


def test_an_unreadable_file(monkeypatch):
    write("a.py", WAITS)
    real = open

    def refuse(path: object, *args: object, **kwargs: object) -> object:
        if os.path.basename(str(path)) == "a.py":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    monkeypatch.setattr("builtins.open", refuse)
    assert "cannot be read: Permission denied" in unreadable(checked("a.py"), "a.py").message


def test_a_folder_named_like_a_file():
    os.mkdir("a.py")
    Path("a.py/b.py").write_text(WAITS)
    assert [finding.site.path for finding in others(checked("a.py"))] == ["a.py/b.py"]


def test_a_file_that_vanishes_between_listing_and_reading(monkeypatch):
    write("a.py", WAITS)
    real = source.read

    def vanishing(path: str, given: Mapping[str, bytes | str]) -> source.Source:
        if os.path.basename(path) == "a.py":
            os.unlink(path)
        return real(path, given)

    monkeypatch.setattr(source, "read", vanishing)
    monkeypatch.setattr(pipeline, "read", vanishing, raising=False)
    report = check(["."], Config())
    assert [f.site.path for f in report.findings if f.code == "SG201"] == ["zz_good.py"]
    assert [(note.path, note.state) for note in report.files if note.state != "read"] == [("a.py", "broken")]


def test_a_folder_given_twice():
    os.mkdir("p")
    Path("p/a.py").write_text(WAITS)
    report = check(["p", "p/", "./p", "p/a.py"], Config())
    assert len(report.findings) == 1
    assert len(report.files) == 1


# -- the command line says the same ----------------------------------------------------------------------


def test_a_broken_file_exits_with_1_and_is_counted(capsys):
    write("a.py", "def f(:\n")
    assert run(["check", "-o", "concise", "."]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("a.py:1:7 SG000 not checked: ")
    assert out[1].startswith("zz_good.py:6:16 SG201 ")
    assert out[2] == "2 findings in 2 files (1 file read, 1 unreadable; 1 function, 1 hot)"


def test_the_frame_of_a_syntax_error(capsys):
    write("a.py", "import torch\n\ndef f(:\n    pass\n")
    run(["check", "a.py"])
    assert "3 | def f(:\n  |       ^\n" in capsys.readouterr().out


def test_unreadable_files_can_be_ignored_like_any_rule(capsys):
    write("a.py", "def f(:\n")
    assert run(["check", "a.py", "--ignore", "SG000"]) == 0
    assert "1 unreadable" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("syncguard.toml", "selct = []", "syncguard.toml: unknown key `selct`; did you mean `select`?"),
        ("syncguard.toml", "jobs = 'two'", "syncguard.toml: `jobs` takes a number from 0 up, not 'two'"),
        ("syncguard.toml", "select = [", "syncguard.toml: not TOML: "),
        ("syncguard.toml", 'select = ["SG999"]', "syncguard.toml: select: unknown rule `SG999`"),
        ("syncguard.toml", 'extend-exclude = ["a/[z-a]"]', "a pattern that cannot be used"),
        ("syncguard.toml", 'packs = ["gone"]', "gone: no such pack"),
        ("pyproject.toml", "[tool.syncguard]\nheat = 'warm'", "pyproject.toml: `heat` is one of hot, unknown"),
        ("pyproject.toml", "[tool.syncguard\n", "pyproject.toml: not TOML: "),
    ],
)
def test_a_broken_configuration(capsys, name, text, message):
    write(name, text)
    assert run(["check", "."]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("syncguard: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ops/a.toml", "[torch.f]\nx = 1", "a.toml: "),
        ("ops/a.toml", "no toml", "a.toml: "),
        ("ops/a.toml", f'["torch.f"]\nwaits = [{{ hazard = "item", when = {{ moon = "x" }} }}]\n{EVIDENCE}', "`moon`"),
        ("XX100-ours.md", "# XX100 ours", "XX100-ours.md: no toml block"),
        ("XX100-ours.md", '```toml\nlevel = "loud"\n```', "XX100-ours.md: "),
    ],
)  # fmt: skip
def test_a_malformed_pack(capsys, name, text, message):
    os.makedirs("ours/ops")
    write(f"ours/{name}", text)
    write("syncguard.toml", 'packs = ["ours"]')
    for command in (["check", "."], ["rules"], ["explain", "SG101"]):
        assert run(command) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err
        assert err.count("\n") == 1


BLOCKS = [
    "if x:\n        pass",
    "if x:\n        pass\n    else:\n        pass",
    "if not isinstance(x, torch.Tensor):\n        pass",
    "for i in x:\n        pass",
    "while x:\n        pass",
    "with x:\n        pass",
    "try:\n        pass\n    except E:\n        pass\n    finally:\n        pass",
    "match x:\n        case 1:\n            pass",
    "def inner():\n        pass",
    "class Inner:\n        pass",
    '"""Only a docstring."""',
    "...",
]


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_that_do_nothing(ran, block):
    text = f"import torch\n\n\ndef f(x):\n    {block}\n\n\ndef g(y):\n    f(y)\n    return y.cuda().sum().item()\n"
    Path("blocks.py").write_text(text)
    code, out, err = ran("check", "blocks.py", "--heat", "all")
    assert (code, err) == (1, "")
    assert "SG201" in out
