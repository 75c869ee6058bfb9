"""`check --fix`: what is changed, what is kept, what is left alone, and how it is said."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import libcst as cst
import pytest

from syncguard.fix.apply import Overlap, applied
from syncguard.fix.recipe import recipe
from syncguard.fix.write import Unwritable, write
from syncguard.pack import load
from syncguard.terms import Edit, Site

ROOT = Path(__file__).parent.parent
BEFORE = """\
import torch


class Net(torch.nn.Module):
    def forward(self, a: torch.Tensor, y: torch.Tensor):
        x = a * 1
        # what is below stays
        x[x > 0] = y[x > 0]  # and this, too
        return x
"""
AFTER = BEFORE.replace("x[x > 0] = y[x > 0]", "x.copy_(torch.where(x > 0, y, x))")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(BEFORE)


@pytest.fixture
def ran(ran):
    return partial(ran, "check")


# -- what the options do --------------------------------------------------------------------------


def test_fix_rewrites_the_file_and_reports_what_is_left(ran):
    code, out, err = ran("--fix", "net.py")
    assert (code, err) == (0, "")
    assert out == "Fixed 1 finding in 1 file\nNo findings (1 file read; 1 function, 1 hot)\n"
    assert Path("net.py").read_text() == AFTER
    assert ran("--fix", "net.py")[1].startswith("Fixed 0 findings in 0 files\n")
    assert Path("net.py").read_text() == AFTER


def test_diff_shows_and_changes_nothing(ran):
    code, out, err = ran("--diff", "net.py")
    assert code == 1
    assert "-        x[x > 0] = y[x > 0]  # and this, too\n" in out
    assert "+        x.copy_(torch.where(x > 0, y, x))  # and this, too\n" in out
    assert err == "Would fix 1 finding in 1 file\n"
    assert Path("net.py").read_text() == BEFORE
    Path("net.py").write_text(AFTER)
    assert ran("--diff", "net.py") == (0, "", "Would fix 0 findings in 0 files\n")


def test_a_diff_has_colours_where_they_are_wanted(ran):
    red, green = "\x1b[31m-        x[x > 0] = y[x > 0]", "\x1b[32m+        x.copy_("
    plain, coloured = ran("--diff", "--color", "never", "net.py")[1], ran("--diff", "--color", "always", "net.py")[1]
    assert (red in coloured, green in coloured) == (True, True)
    assert "\x1b" not in plain
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain


def test_unsafe_fixes_are_counted_and_made_only_when_asked(ran):
    Path("net.py").write_text(BEFORE.replace("a * 1", "a"))
    _, out, _ = ran("--fix", "net.py")
    assert out.splitlines()[-2] == "Fixed 0 findings in 0 files (1 more with --unsafe-fixes)"
    _, out, _ = ran("--fix", "--unsafe-fixes", "net.py")
    assert out.splitlines()[0] == "Fixed 1 finding in 1 file"


@pytest.mark.parametrize(("answer", "text"), [("y\n", AFTER), ("n\n", BEFORE), ("q\n", BEFORE)])
def test_interactive_asks(ran, monkeypatch, answer, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    _, out, _ = ran("--interactive", "net.py")
    assert "Make this fix?" in out
    assert Path("net.py").read_text() == text


def test_standard_input_gives_the_fixed_text(ran, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BEFORE.encode())))
    assert ran("--fix", "-") == (0, AFTER, "Fixed 1 finding in 1 file\n")


def test_json_has_the_fix_where_it_is_asked_for(ran):
    _, out, _ = ran("--show-fixes", "-o", "json", "net.py")
    fix = next(f["fix"] for f in json.loads(out)["findings"] if f["code"] == "SG103")
    assert (fix["recipe"], fix["tier"]) == ("where-assign", "safe")
    assert [edit["text"] for edit in fix["edits"]] == ["x.copy_(torch.where(x > 0, y, x))"]
    assert all(f["fix"] is None for f in json.loads(ran("-o", "json", "net.py")[1])["findings"])


def test_the_fix_is_shown_that_would_be_made(ran):
    """A proven one, and where what is not proven is allowed the one that sends nothing."""
    Path("net.py").write_text(SENT)
    for args, shown in ((), ("pin-data", "safe")), (("--unsafe-fixes",), ("fill-on-device", "unsafe")):
        _, out, _ = ran("--show-fixes", *args, "-o", "json", "net.py")
        fix = next(f["fix"] for f in json.loads(out)["findings"] if f["code"] == "SG302")
        assert (fix["recipe"], fix["tier"]) == shown


SENT = "import torch\n\n\ndef f(x: torch.Tensor, n: float):\n    return torch.tensor(n, device=x.device)\n"


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        (["--unsafe-fixes"], "--unsafe-fixes goes with --fix"),
        (["--diff", "--interactive"], "choose one"),
        (["--interactive", "-"], "needs standard input for your answers"),
    ],
)
def test_options_that_do_not_go_together(ran, monkeypatch, args, fault):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    code, _, err = ran(*args)
    assert code == 2
    assert fault in err


# -- what is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf", b"# -*- coding: latin-1 -*-\n# caf\xe9\n"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_bytes_around_a_fix_stay(ran, ending, head):
    data = head.replace(b"\n", ending.encode()) + BEFORE.replace("\n", ending).encode()
    Path("net.py").write_bytes(data)
    ran("--fix", "net.py")
    assert Path("net.py").read_bytes() == data.replace(b"x[x > 0] = y[x > 0]", b"x.copy_(torch.where(x > 0, y, x))")


def test_mixed_line_endings_stay(ran):
    lines = BEFORE.split("\n")
    data = "".join(line + ("\r\n" if n % 2 else "\n") for n, line in enumerate(lines[:-1])).encode()
    Path("net.py").write_bytes(data)
    ran("--fix", "net.py")
    assert Path("net.py").read_bytes() == data.replace(b"x[x > 0] = y[x > 0]", b"x.copy_(torch.where(x > 0, y, x))")


def test_permissions_and_links_stay(ran):
    os.chmod("net.py", 0o750)
    os.symlink("net.py", "link.py")
    ran("--fix", "link.py")
    assert os.path.islink("link.py")
    assert os.stat("net.py").st_mode & 0o777 == 0o750
    assert Path("net.py").read_text() == AFTER
    assert sorted(os.listdir(".")) == ["link.py", "net.py"]


def test_names_of_one_file_stay_its_names(ran):
    os.link("net.py", "other.py")
    code, out, err = ran("--fix", "net.py", "other.py")
    assert (code, err) == (0, ""), out
    assert os.path.samefile("net.py", "other.py")
    assert Path("other.py").read_text() == AFTER
    assert sorted(os.listdir(".")) == ["net.py", "other.py"]


def test_a_file_of_several_names_that_cannot_be_written_is_as_before(ran, monkeypatch):
    os.link("net.py", "other.py")
    flush, flushed = os.fsync, []

    def full(number):
        flushed.append(number)
        if len(flushed) == 2:
            raise OSError(28, "No space left on device")
        flush(number)

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = ran("--fix", "net.py")
    assert (code, Path("other.py").read_text()) == (2, BEFORE)
    assert "No space left" in err


@pytest.mark.parametrize("text", [BEFORE, BEFORE.rstrip("\n"), AFTER + "\n\n" + BEFORE])
def test_a_diff_can_be_applied(ran, text):
    Path("net.py").write_text(text)
    diff = ran("--diff", "net.py")[1]
    subprocess.run(["git", "apply", "-p0", "-"], input=diff, text=True, check=True)
    assert Path("net.py").read_text() == text.replace("x[x > 0] = y[x > 0]", "x.copy_(torch.where(x > 0, y, x))")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_who_owns_a_file_stays(ran):
    os.chown("net.py", 1234, 1235)
    ran("--fix", "net.py")
    assert Path("net.py").read_text() == AFTER
    assert (os.stat("net.py").st_uid, os.stat("net.py").st_gid) == (1234, 1235)


def test_a_file_that_may_only_be_read_is_left_alone(ran, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    code, _, err = ran("--fix", "net.py")
    assert (code, Path("net.py").read_text()) == (2, BEFORE)
    assert "net.py" in err
    assert "it may only be read" in err


def test_a_file_that_has_changed_is_left_alone():
    with pytest.raises(Unwritable, match="changed since"):
        write("net.py", BEFORE + "x = 1\n", AFTER)
    assert Path("net.py").read_text() == BEFORE


def test_a_fix_that_would_lose_a_comment_is_only_shown(ran):
    text = BEFORE.replace("x[x > 0] = y[x > 0]", "x[x > 0] = y[  # why\n            x > 0\n        ]")
    Path("net.py").write_text(text)
    _, out, _ = ran("--fix", "--unsafe-fixes", "-o", "json", "net.py")
    assert Path("net.py").read_text() == text
    fix = next(f["fix"] for f in json.loads(out)["findings"] if f["code"] == "SG103")
    assert (fix["tier"], fix["message"].endswith("a comment would be lost")) == ("display", True)


def test_standard_input_goes_through_in_its_own_spelling():
    latin = BEFORE.replace("stays", "bl\xe9ibt")
    cases = {
        latin.encode(): latin.replace(BEFORE.split("\n")[7], AFTER.split("\n")[7]).encode(),
        b"# coding: latin-1\n" + latin.encode("latin-1"): b"# coding: latin-1\n"
        + latin.replace(BEFORE.split("\n")[7], AFTER.split("\n")[7]).encode("latin-1"),
        b"\xef\xbb\xbf" + BEFORE.replace("\n", "\r\n").encode(): b"\xef\xbb\xbf" + AFTER.replace("\n", "\r\n").encode(),
        b"import torch\r\nx = '\xff'\r\n": b"import torch\r\nx = '\xff'\r\n",
        b"x = (\r": b"x = (\r",
        b"": b"",
    }
    for given, wanted in cases.items():
        done = subprocess.run(
            [sys.executable, "-m", "syncguard", "check", "--fix", "-"],
            input=given, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert done.stdout == wanted


@pytest.mark.parametrize("feed", ["\f", "\f\n", "    \f\n"])
def test_what_stands_behind_a_form_feed_is_fixed(ran, feed):
    body = "(x: torch.Tensor):\n{0}    return torch.arange(3).to(x.device)\n"
    code = f"import torch\n\n{feed}def f{body}\n\nclass A:\n\f\n    def g{body.replace('{0}', '{0}    ')}".replace(
        "{0}", ""
    )
    Path("form.py").write_text(code)
    ran("--fix", "--heat", "all", "form.py")
    assert Path("form.py").read_text() == code.replace("(3).to(x.device)", "(3, device=x.device)")


def test_what_only_python_parses_is_shown_without_a_fix(ran, monkeypatch):
    Path("new.py").write_text("import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.arange(3).to(x.device)\n")

    def refused(text):
        raise cst.ParserSyntaxError("new syntax", lines=[text], raw_line=1, raw_column=0)

    assert "= fix" in ran("--show-fixes", "--heat", "all", "new.py")[1]
    monkeypatch.setattr("libcst.parse_module", refused)
    code, out, err = ran("--show-fixes", "--heat", "all", "new.py")
    assert (code, err) == (1, "")
    assert "SG304" in out
    assert "= fix" not in out


def test_a_notebook_is_not_rewritten(ran):
    cells = [{"cell_type": "code", "source": BEFORE, "metadata": {}, "outputs": []}]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    Path("net.ipynb").write_text(text)
    _, out, _ = ran("--fix", "-o", "json", "net.ipynb")
    assert Path("net.ipynb").read_text() == text
    fix = next(f["fix"] for f in json.loads(out)["findings"] if f["code"] == "SG103")
    assert (fix["tier"], fix["edits"][0]["line"]) == ("display", 8)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # syncguard: allow[SG201] why\n", "x = 1\n"),
        ("# syncguard: allow[SG201] why\nx = 1\n", "x = 1\n"),
        ("x = 1  # syncguard: allow[SG201] why  # noqa: E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # syncguard: allow[SG201] once, see #42\n", "x = 1\n"),
        ("x = 1\n\n# syncguard: allow-file[SG201] why\n", "x = 1\n\n"),
    ],
)
def test_comments_that_allow_nothing_go(ran, before, after):
    Path("net.py").write_text(before)
    ran("--fix", "net.py")
    assert Path("net.py").read_text() == after


@pytest.mark.parametrize(
    "comment", ["allow[nosuchrule] why", "alow[SG201] why", "allow[SG201 why", "allow why", "allow[SG77]"]
)
def test_a_comment_that_is_not_understood_stays(ran, comment):
    text = f"x = 1  # syncguard: {comment}\n"
    Path("net.py").write_text(text)
    ran("--fix", "net.py")
    assert Path("net.py").read_text() == text


def test_a_comment_that_belongs_to_no_statement_stays(ran):
    text = "x = 1\n\n# syncguard: allow[SG201] why\n"
    Path("net.py").write_text(text)
    ran("--fix", "net.py")
    assert Path("net.py").read_text() == text


@pytest.mark.parametrize("word", ["SG021", "itm", "SG021, SG101"])
def test_a_misspelt_rule_is_corrected_where_it_is_reported(ran, word):
    text = "import torch\n\n\ndef forward(x: torch.Tensor):\n    return x.item()  # syncguard: allow[{}] why\n"
    Path("net.py").write_text(text.format(word))
    _, out, _ = ran("--fix", "--heat", "all", "net.py")
    assert Path("net.py").read_text() == text.format("item" if "it" in word else "SG201")
    assert "1 allowed" in out


def test_an_allow_keeps_the_words_that_are_of_use(ran):
    text = BEFORE.replace("# and this, too", "# syncguard: allow[SG103, SG102, SG101] small")
    Path("net.py").write_text(text)
    ran("--fix", "net.py")
    assert Path("net.py").read_text() == text.replace("SG103, SG102, SG101", "SG103, SG102")


# -- edits ----------------------------------------------------------------------------------------


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit(Site("f.py", line, column, end_line, end_column), text)


def test_edits_are_made_by_place_whatever_their_order():
    text = "one\ntwo\nthree"
    assert applied(text, [edit(3, 1, 3, 6, "3"), edit(1, 1, 2, 1, "")]) == "two\n3"
    assert applied(text, [edit(2, 1, 2, 1, "a\n"), edit(2, 1, 2, 1, "b\n")]) == "one\na\nb\ntwo\nthree"
    assert applied(text, [edit(4, 1, 4, 1, "four\n")]) == "one\ntwo\nthree\nfour"


def test_edits_of_the_same_text_are_refused():
    with pytest.raises(Overlap):
        applied("one two", [edit(1, 1, 1, 5, ""), edit(1, 3, 1, 8, "")])


# -- pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [rule for rule in load().rules if rule.fix], ids=lambda rule: rule.name)
def test_the_recipes_that_a_page_names_exist(rule):
    assert all(callable(recipe(name)) for name in rule.fix)


def test_every_recipe_answers_a_rule():
    named = {name for rule in load().rules for name in rule.fix}
    there = {
        path.stem.replace("_", "-") for path in (Path(recipe.__code__.co_filename).parent / "recipes").glob("*.py")
    }
    assert there - {"--init--"} == named
