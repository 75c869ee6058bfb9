"""Files: which are found, and how their bytes become text."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.read.find import find
from syncguard.read.notebook import in_cells
from syncguard.read.source import FileNote, Source, decode, lines_of, read
from syncguard.terms import Edit, Fact, Finding, Fix, Site


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def tree(*names: str, **contents: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    for name, text in contents.items():
        Path(name).write_text(text)


def found(*paths: str, **fields: object) -> list[str]:
    return list(find(paths, Config(root=str(Path.cwd()), **fields)).paths)


def skipped(*paths: str, **fields: object) -> dict[str, str]:
    return {note.path: note.reason for note in find(paths, Config(root=str(Path.cwd()), **fields)).notes}


# -- finding --------------------------------------------------------------------------------------


def test_a_folder_is_walked_and_its_files_come_in_a_stable_order():
    tree("b.py", "a.py", "p/z.py", "p/q/m.py", "o/n.ipynb", "p/readme.md", "p/stub.pyi", "p/data.txt")
    assert found(".") == ["a.py", "b.py", "o/n.ipynb", "p/z.py", "p/q/m.py"]
    assert found("p") == ["p/z.py", "p/q/m.py"]
    assert found("p/") == ["p/z.py", "p/q/m.py"]
    assert skipped(".") == {}


def test_paths_are_shown_as_they_were_given(tmp_path):
    tree("p/a.py")
    assert found(str(tmp_path / "p")) == [str(tmp_path / "p" / "a.py")]
    assert found("./p") == ["./p/a.py"]
    assert found("p/../p/a.py") == ["p/../p/a.py"]


def test_each_file_comes_once_however_often_it_is_named(tmp_path):
    tree("p/a.py", "p/b.py")
    os.symlink("a.py", "p/link.py")
    assert found("p", "p", "p/a.py", "./p", str(tmp_path / "p"), "p/link.py") == ["p/a.py", "p/b.py"]


def test_nothing_at_all():
    assert find((), Config()).paths == ()
    assert found(".") == []


def test_named_files_are_read_whatever_the_patterns_say():
    tree("build/a.py", "old.py", ".gitignore")
    Path(".gitignore").write_text("old.py\n")
    assert found("build/a.py", "old.py", extend_exclude=("*.py",)) == ["build/a.py", "old.py"]
    assert found("build") == ["build/a.py"]


def test_what_is_not_python_is_skipped_and_said():
    tree("a.md", "s.pyi", "b.py")
    assert found("a.md", "s.pyi", "b.py") == ["b.py"]
    assert skipped("a.md", "s.pyi") == {"a.md": "not Python", "s.pyi": "a stub has no code that runs"}


def test_a_script_without_a_suffix_is_python_if_it_says_so():
    tree(train="#!/usr/bin/env python3\nx = 1\n", run="#!/bin/sh\n", data="x")
    assert found("train", "run", "data") == ["train"]


def test_standard_input_is_a_path_of_its_own():
    tree("a.py")
    assert found("-", "a.py", "-") == ["-", "a.py"]


def test_a_file_that_does_not_exist_is_left_to_reading():
    assert found("gone.py") == ["gone.py"]
    assert read("gone.py").note == FileNote("gone.py", "broken", "does not exist")


def test_default_and_extra_excludes():
    tree(
        "a.py",
        "build/b.py",
        ".venv/c.py",
        "__pycache__/d.py",
        "gen/e_pb2.py",
        "gen/f.py",
        "third/g.py",
        "deep/third/h.py",
    )
    fields = {"extend_exclude": ("*_pb2.py", "third/")}
    assert found(".", **fields) == ["a.py", "gen/f.py"]
    assert skipped(".", **fields) == {
        "build/": "excluded",
        "gen/e_pb2.py": "excluded",
        "third/": "excluded",
        "deep/third/": "excluded",
    }
    assert "build/b.py" in found(".", exclude=())


def test_patterns_are_relative_to_the_folder_of_the_configuration(tmp_path, monkeypatch):
    tree("src/gen/a.py", "src/b.py", "gen/c.py")
    assert found(".", extend_exclude=("/src/gen",)) == ["gen/c.py", "src/b.py"]
    assert found("src", extend_exclude=("/src/gen",)) == ["src/b.py"]
    monkeypatch.chdir("src")
    assert list(find(["."], Config(root=str(tmp_path), extend_exclude=("/src/gen",))).paths) == ["b.py"]


# -- .gitignore -----------------------------------------------------------------------------------


def test_gitignore_of_every_folder_counts_and_the_nearest_has_the_last_word():
    tree("a.py", "x_gen.py", "p/x_gen.py", "p/keep_gen.py", "out/b.py", "p/q/b.py", "p/q/c.py")
    Path(".gitignore").write_text("# made\n*_gen.py\nout/\n\n!\n")
    Path("p/.gitignore").write_text("!keep_gen.py\n/q/b.py\n")
    assert found(".") == ["a.py", "p/keep_gen.py", "p/q/c.py"]
    assert skipped(".") == dict.fromkeys(["x_gen.py", "out/", "p/x_gen.py", "p/q/b.py"], "in .gitignore")
    assert len(found(".", respect_gitignore=False)) == 7


def test_gitignore_above_the_walk_counts_within_a_repository():
    tree("p/q/a_gen.py", "p/q/b.py", "p/q/c.py")
    Path(".gitignore").write_text("*_gen.py\n")
    assert "p/q/a_gen.py" in found("p/q")
    Path(".git/info").mkdir(parents=True)
    Path(".git/info/exclude").write_text("/p/q/c.py\n")
    assert found("p/q") == ["p/q/b.py"]
    assert found(".") == ["p/q/b.py"]


def test_an_ignored_folder_that_is_named_is_read():
    tree("out/a.py", "out/sub/b.py")
    Path(".git").mkdir()
    Path(".gitignore").write_text("out/\n")
    assert found(".") == []
    assert found("out") == ["out/a.py", "out/sub/b.py"]
    assert found("out/sub") == ["out/sub/b.py"]


def test_we_ignore_what_git_ignores():
    names = [
        "a.py",
        "b_gen.py",
        "dir/a.py",
        "dir/deep/x.py",
        "foo/bar/a.py",
        "foo/x/bar/a.py",
        "k/keep.py",
        "k/drop.py",
        "s p.py",
        "é.py",
    ]
    tree(*names)
    Path(".gitignore").write_text(
        "*_gen.py\n/dir/*\n!/dir/deep/\nfoo/**/bar\nk/*\n!k/keep.py\ns\\ p.py\né.py\n[z-a].py\n"
    )
    subprocess.run(["git", "init", "-q"], check=True)
    kept = subprocess.run(
        ["git", "-c", "core.quotePath=off", "ls-files", "-co", "--exclude-standard", "*.py"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert sorted(found(".")) == sorted(kept.stdout.splitlines())


# -- links, loops, odd entries ----------------------------------------------------------------------


def test_a_link_to_a_folder_is_not_followed_and_loops_end():
    tree("p/a.py")
    os.symlink(".", "p/loop")
    os.symlink("..", "p/up.py")
    os.symlink("nowhere", "p/gone.py")
    os.symlink("self.py", "p/self.py")
    assert found("p") == ["p/a.py", "p/gone.py", "p/self.py"]
    assert skipped("p") == {"p/loop": "a link to a folder", "p/up.py": "a link to a folder"}
    assert read("p/gone.py").note.reason == "is a link to nothing"
    assert read("p/self.py").note == FileNote(
        "p/self.py", "broken", "cannot be read: Too many levels of symbolic links"
    )


def test_a_folder_named_like_a_file_is_a_folder():
    tree("x.py/a.py")
    assert found(".") == ["x.py/a.py"]
    assert found("x.py") == ["x.py/a.py"]


def test_a_pipe_is_not_waited_for():
    os.mkfifo("pipe.py")
    tree("a.py")
    assert found(".") == ["a.py"]
    assert skipped(".") == {"pipe.py": "not a regular file"}
    assert read("pipe.py").note == FileNote("pipe.py", "skipped", "not a regular file")


def test_a_folder_that_cannot_be_listed_is_noted_and_the_rest_is_read(monkeypatch):
    tree("a.py", "shut/b.py")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(".") == ["a.py"]
    note = find(["."], Config()).notes[0]
    assert note == FileNote("shut/", "broken", "cannot be read: Permission denied")


def test_a_very_deep_tree_does_not_exhaust_the_stack():
    os.makedirs("d/" * 900)
    Path("d/" * 900, "a.py").touch()
    assert len(found(".")) == 1


@pytest.mark.slow
def test_a_hundred_thousand_files_take_seconds():
    import time

    for n in range(1000):
        os.makedirs(f"p{n // 50}/q{n}")
        for k in range(100):
            os.close(os.open(f"p{n // 50}/q{n}/m{k}.py", os.O_CREAT))
    Path(".gitignore").write_text("*.pyc\n__pycache__/\n*.egg-info\n/build\ndist/\nwandb\n")
    start = time.perf_counter()
    assert len(found(".")) == 100_000
    assert time.perf_counter() - start < 10


# -- decoding -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"x = 1", "x = 1"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"\xef\xbb\xbf# coding: utf-8\n", "# coding: utf-8\n"),
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
        ("# é\n".encode(), "# é\n"),
        (b"# -*- coding: latin-1 -*-\n# \xe9\n", "# -*- coding: latin-1 -*-\n# é\n"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# \x80\n",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# €\n",
        ),
        ("# coding: shift_jis\n# 日本\n".encode("shift_jis"), "# coding: shift_jis\n# 日本\n"),
        (b"x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n"),
        (b"a\x0cb\n", "a\x0cb\n"),
    ],
)
def test_bytes_become_text_as_python_reads_them(data, text):
    assert decode("a.py", data) == Source("a.py", text, FileNote("a.py", "read"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = 1\n\xe9 = 2\n", "not UTF-8, and no comment names another encoding (byte 0xe9, line 2)"),
        (b"x = 1\n# coding: latin-1\n# \xe9\n", "not UTF-8, and no comment names another encoding (byte 0xe9, line 3)"),
        ("x".encode("utf-16"), "is UTF-16, which Python does not read; save it as UTF-8"),
        (b"\xff\xfe\x00\x00x\x00\x00\x00", "is UTF-32, which Python does not read; save it as UTF-8"),
        (b"# coding: klingon\n", "names an encoding that Python does not know: `klingon`"),
        (b"# coding: hex\n", "names an encoding that Python does not know: `hex`"),
        (b"# coding: ascii\n\x80", "not ascii (byte 0x80, line 2)"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "has a UTF-8 byte order mark and names the encoding `latin-1`"),
        (b"a\nb\0c\n", "contains a NUL byte (line 2)"),
    ],
)
def test_what_is_no_text_says_why(data, reason):
    assert decode("a.py", data) == Source("a.py", "", FileNote("a.py", "broken", reason))


@pytest.mark.parametrize(
    "name",
    [
        "utf-16",
        "utf-7",
        "idna",
        "undefined",
        "unicode_escape",
        "raw_unicode_escape",
        "punycode",
        "zlib",
        "rot13",
        "mbcs",
    ],
)
def test_no_encoding_raises(name):
    assert decode("a.py", f"# coding: {name}\nx = '\\x'\n".encode() + b"\xff\xfe\x80").note.state in ("read", "broken")


def test_an_unreadable_file_says_why(monkeypatch):
    tree("a.py")

    def refuse(*_: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert read("a.py").note == FileNote("a.py", "broken", "cannot be read: Permission denied")
    assert read("a\0.py").note.state == "broken"


def test_text_from_an_editor_is_taken_as_it_is():
    assert decode("a.py", "# coding: latin-1\r\nx = 'é'\r\n").text == "# coding: latin-1\nx = 'é'\n"


def test_the_lines_that_output_shows():
    tree(**{"a.py": "one\ntwo\x0c\nthree"})
    lines = lines_of("s\nt", "<stdin>")
    assert lines("a.py") == ("one", "two\x0c", "three")
    assert lines("<stdin>") == ("s", "t")
    assert lines("gone.py") == ("",)


# -- notebooks ------------------------------------------------------------------------------------


def notebook(*cells: tuple[str, str], **meta: object) -> str:
    rows = [{"cell_type": kind, "source": text.splitlines(keepends=True), "metadata": {}} for kind, text in cells]
    return json.dumps({"cells": rows, "metadata": meta, "nbformat": 4})


def test_code_cells_are_one_text_and_magics_are_blanked():
    book = notebook(
        ("markdown", "# Title"),
        ("code", "import torch\n%matplotlib inline\n!nvidia-smi"),
        ("code", "for x in y:\n    !ls {x}\n    z = %timeit -o f(x)\n    help?\n"),
        ("code", "%%bash\nls -l | wc\n"),
        ("code", "%%time\nx.item()"),
        ("code", "m = (a\n% b)\ns = '''\n!not a magic\n'''"),
        ("code", "%time x.item()\nif new:\n    %timeit -n 10 y.item()\n%prun f(\n"),
        ("code", "if new:\n    !pip install a \\\n        b \\\n        c\nn = \\\n    1"),
    )
    source = decode("n.ipynb", book)
    assert source.note.state == "read"
    assert source.cells == ((2, 1), (3, 4), (4, 8), (5, 10), (6, 12), (7, 17), (8, 21))
    assert source.text.split("\n") == [
        *("import torch", "pass", "pass"),
        *("for x in y:", "    pass", "    z = None", "    pass"),
        *("", ""),
        *("pass", "x.item()"),
        *("m = (a", "% b)", "s = '''", "!not a magic", "'''"),
        *("if 1: x.item()", "if new:", "    if 111111111: y.item()", "pass"),
        *("if new:", "    pass", "", "", "n = \\", "    1", ""),
    ]  # fmt: skip
    compile(source.text, "n", "exec")


def test_findings_move_into_their_cells():
    source = decode("n.ipynb", notebook(("code", "a\nb"), ("markdown", "x"), ("code", "c\nd")))
    site = Site("n.ipynb", 4, 2, 4, 5)
    facts = (Fact("here", 2), Fact("elsewhere", 7, "other.py"), Fact("there", 3, "n.ipynb"))
    finding = Finding(
        site,
        "SG201",
        "item",
        "op",
        "m",
        "h",
        facts,
        facts[:1],
        "hot",
        "likely",
        "warning",
        fix=Fix("r", "safe", "m", (Edit(site, "e"),)),
    )
    moved = in_cells(source, finding)
    assert moved.site == Site("n.ipynb:cell 3", 2, 2, 2, 5)
    assert moved.because == (Fact("here", 2, "n.ipynb:cell 1"), facts[1], Fact("there", 1, "n.ipynb:cell 3"))
    assert moved.hot_path == (Fact("here", 2, "n.ipynb:cell 1"),)
    assert moved.fix.edits[0].site == moved.site
    assert in_cells(decode("a.py", "x"), finding) is finding


def test_the_second_cell_stands_before_the_tenth():
    wait = ("code", "import torch\nx = torch.rand(4, device='cuda').sum().item()")
    Path("n.ipynb").write_text(notebook(*[wait] * 11))
    findings = pipeline.check(["n.ipynb"], Config(heat="all", cache=False)).findings
    assert [finding.site.path for finding in findings] == [f"n.ipynb:cell {number}" for number in range(1, 12)]


def test_the_lines_of_a_cell():
    Path("n.ipynb").write_text(notebook(("code", "a\nb"), ("markdown", "x"), ("code", "c\nd")))
    lines = lines_of()
    assert lines("n.ipynb:cell 3")[:2] == ("c", "d")
    assert lines("n.ipynb:cell 1")[:2] == ("a", "b")
    assert lines("n.ipynb:cell 9") == ()


@pytest.mark.parametrize(
    ("text", "state", "reason"),
    [
        ("", "broken", "is not a notebook: Expecting value: line 1 column 1 (char 0)"),
        ("{}", "broken", "is not a notebook in format 4"),
        ("[1]", "broken", "is not a notebook in format 4"),
        ('{"cells": [{"cell_type": "code"}]}', "broken", "is not a notebook in format 4"),
        (notebook(("code", "x <- 1"), language_info={"name": "R"}), "skipped", "a notebook in R"),
        (notebook(), "read", ""),
    ],
)
def test_odd_notebooks(text, state, reason):
    assert decode("n.ipynb", text).note == FileNote("n.ipynb", state, reason)
