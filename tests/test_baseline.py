"""The baseline: what is known stays known when lines move, what is new is told, what is gone can be taken out."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncguard.judge import baseline
from syncguard.judge.baseline import Entry, snippet
from syncguard.terms import Site

NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> float:
        return x.sum().item()
"""
TWO = """\
import torch


class Two(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        y = x[x > 0]
        z = x[x > 0]
        return y, z
"""
FILE = "syncguard-baseline.json"
ROW = {"path": "net.py", "code": "SG201", "snippet": "x.sum().item()", "occurrence": 1, "function": "Net.forward"}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[tool.syncguard]\ncache = false\n")
    Path("net.py").write_text(NET)
    Path("two.py").write_text(TWO)


def rows(file=FILE):
    return json.loads(Path(file).read_text())["findings"]


def write(*found, file=FILE, version=1):
    Path(file).write_text(json.dumps({"version": version, "findings": found}))


def last(text: str) -> str:
    return text.rstrip("\n").split("\n")[-1]


def checked(ran, *args):
    return ran("check", "--baseline", FILE, "-o", "concise", *args)


def updated(ran, *args):
    return checked(ran, "--update-baseline", *args)


# -- what a baseline does ---------------------------------------------------------------------------


def test_what_is_written_is_known_afterwards(ran):
    code, out, err = updated(ran, ".")
    assert (code, err) == (0, "")
    assert out == (
        f"{FILE}: 3 listed (3 new, 0 removed)\nNo findings, 3 baselined (2 files read; 2 functions, 2 hot)\n"
    )
    assert Path(FILE).read_text() == (
        '{\n "version": 1,\n "findings": [\n'
        '  {"path":"net.py","function":"Net.forward","code":"SG201","snippet":"x.sum().item()","occurrence":1},\n'
        '  {"path":"two.py","function":"Two.forward","code":"SG102","snippet":"x[x>0]","occurrence":1},\n'
        '  {"path":"two.py","function":"Two.forward","code":"SG102","snippet":"x[x>0]","occurrence":2}\n'
        " ]\n}\n"
    )
    assert checked(ran, ".") == (0, "No findings, 3 baselined (2 files read; 2 functions, 2 hot)\n", "")
    assert ran("check", ".", "-o", "concise")[0] == 1


def test_lines_that_move_and_another_layout_change_nothing(ran):
    updated(ran, ".")
    Path("net.py").write_text(
        "# new\n\n" + NET.replace("x.sum().item()", "(\n            x.sum( )  # all\n  .item()\n)")
    )
    Path("two.py").write_text("import os\n" + TWO.replace("x[x > 0]", "x[x>0]"))
    assert checked(ran, ".", "--error-stale-baseline")[0] == 0


def test_one_more_of_the_same_is_new(ran):
    updated(ran, ".")
    Path("two.py").write_text(TWO.replace("        return", "        w = x[x > 0]\n        return"))
    code, out, _ = checked(ran, ".")
    assert code == 1
    assert out.startswith("two.py:8:13 SG102 ")
    assert last(out) == "1 finding in 1 file, 3 baselined (2 files read; 2 functions, 2 hot)"


def test_another_function_another_file_and_another_rule_are_new(ran):
    updated(ran, ".")
    Path("net.py").write_text(NET.replace("forward", "training_step"))
    os.rename("two.py", "three.py")
    assert last(checked(ran, ".")[1]).startswith("3 findings in 2 files (")


def test_what_the_options_show_does_not_change_which_is_which(ran):
    # The first of two equal findings is cold, so that only one of them is shown.
    Path("two.py").write_text(TWO.replace("y = x[x > 0]", "if False:\n            raise ValueError(x[x > 0])"))
    updated(ran, "two.py")
    (row,) = rows()
    assert checked(ran, "two.py", "--error-stale-baseline")[0] == 0
    code, out, _ = checked(ran, "two.py", "--heat", "all")
    assert (code, row["occurrence"]) in ((1, 2), (0, 1))
    assert "1 baselined" in last(out)
    assert checked(ran, "--select", "SG201", "--error-stale-baseline")[0] == 1  # net.py is new, two.py not stale


def test_an_allow_comment_beside_it_changes_nothing(ran):
    updated(ran, "two.py")
    Path("two.py").write_text(TWO.replace("y = x[x > 0]", "y = x[x > 0]  # syncguard: allow[SG102] wanted"))
    code, out, err = checked(ran, "two.py")
    assert code == 0
    assert last(out).startswith("No findings, 1 baselined, 1 allowed (")
    assert err == f"syncguard: {FILE} lists 1 finding that is found no more; `--prune-baseline` takes them out\n"


def test_a_notebook_is_known_by_its_file_wherever_its_cells_move(ran):
    def book(*cells):
        found = [{"cell_type": "code", "source": text, "metadata": {}} for text in cells]
        Path("book.ipynb").write_text(json.dumps({"cells": found, "metadata": {}, "nbformat": 4}))

    book("import torch", NET, TWO)
    updated(ran, "book.ipynb")
    assert [(row["path"], row["occurrence"]) for row in rows()] == [("book.ipynb", n) for n in (1, 1, 2)]
    book("import torch", "print(1)", TWO, "\n\n" + NET)
    assert checked(ran, "book.ipynb", "--error-stale-baseline")[0] == 0


def test_a_file_that_cannot_be_read_is_never_known(ran):
    Path("bad.py").write_text("def (:\n")
    code, out, _ = updated(ran, "bad.py")
    assert code == 1
    assert "SG000" in out
    assert rows() == []


def test_the_formats_count_what_is_known(ran):
    updated(ran, "net.py")
    found = json.loads(checked(ran, ".", "-o", f"json:{Path('r.json')}") and Path("r.json").read_text())
    assert (found["summary"]["findings"], found["summary"]["baselined"], found["summary"]["stale"]) == (2, 1, 0)
    out = checked(ran, "net.py", "--show-baselined")[1]
    assert out.startswith("net.py:6:16 SG201 baselined: ")


# -- what is stale ----------------------------------------------------------------------------------


def test_what_is_found_no_more_is_said_and_can_be_taken_out(ran):
    updated(ran, ".")
    Path("net.py").write_text("x = 1\n")
    os.unlink("two.py")
    code, _, err = checked(ran, ".")
    assert code == 0
    assert err == f"syncguard: {FILE} lists 3 findings that are found no more; `--prune-baseline` takes them out\n"
    code, _, err = checked(ran, ".", "--error-stale-baseline")
    assert code == 1
    assert err.split("\n")[0] == f"syncguard: {FILE}: net.py: SG201 in Net.forward: x.sum().item()"
    code, out, err = checked(ran, ".", "--prune-baseline", "--error-stale-baseline")
    assert (code, err) == (0, "")
    assert out.startswith(f"{FILE}: 0 listed (0 new, 3 removed)\n")
    assert rows() == []


def test_pruning_adds_nothing(ran):
    updated(ran, "net.py")
    code, out, _ = checked(ran, ".", "--prune-baseline")
    assert code == 1
    assert last(out).startswith("2 findings in 1 file, 1 baselined (")
    assert len(rows()) == 1


def test_what_was_not_checked_is_not_stale_and_is_kept(ran):
    updated(ran, ".")
    Path("net.py").write_text("x = 1\n")
    Path("two.py").write_text("def (:\n")  # it cannot be read at the moment
    for args in (("two.py",), ("two.py", "--prune-baseline"), ("two.py", "--update-baseline")):
        assert checked(ran, *args, "--error-stale-baseline")[0] == 1  # SG000
        assert len(rows()) == 3
    Path("two.py").write_text(TWO)
    assert checked(ran, "two.py", "--error-stale-baseline")[0] == 0


def test_updating_replaces_what_is_gone_by_what_is_new(ran):
    updated(ran, ".")
    Path("two.py").write_text(TWO.replace("y = x[x > 0]", "y = x.item()"))
    assert last(checked(ran, ".")[1]).startswith("1 finding in 1 file, 2 baselined")
    assert updated(ran, ".")[1].startswith(f"{FILE}: 3 listed (1 new, 1 removed)\n")
    assert [row["code"] for row in rows()] == ["SG201", "SG102", "SG201"]


def test_nothing_is_written_where_nothing_changes(ran):
    updated(ran, ".")
    os.chmod(FILE, 0o444)
    before = os.stat(FILE)
    assert updated(ran, ".")[0] == 0
    assert os.stat(FILE).st_ino == before.st_ino


# -- configuration, folders, fixes -------------------------------------------------------------------


def test_it_stands_in_the_configuration_and_works_from_any_folder(ran, monkeypatch):
    Path("pyproject.toml").write_text(f'[tool.syncguard]\ncache = false\nbaseline = "ci/{FILE}"\n')
    os.makedirs("ci")
    os.makedirs("src/deep")
    os.rename("net.py", "src/deep/net.py")
    assert ran("check", "--update-baseline")[0] == 0
    assert [row["path"] for row in rows(f"ci/{FILE}")] == ["../src/deep/net.py", *["../two.py"] * 2]
    assert ran("check")[0] == 0
    monkeypatch.chdir("src/deep")
    for args in ((), ("net.py",), ("../../two.py",), (os.path.abspath("net.py"),)):
        assert ran("check", "--error-stale-baseline", *args)[0] == 0
    assert ran("check", "--no-baseline")[0] == 1
    assert ran("check", "--isolated", "--no-cache")[0] == 1
    code, _, err = ran("check", "--no-baseline", "--update-baseline")
    assert (code, err) == (
        2,
        "syncguard: --no-baseline does not go with another option on the baseline. (see `syncguard check --help`)\n",
    )


def test_error_stale_baseline_in_the_configuration(ran):
    write(ROW | {"snippet": "x.gone()"}, ROW)
    Path("pyproject.toml").write_text(
        f'[tool.syncguard]\ncache = false\nbaseline = "{FILE}"\nerror-stale-baseline = true\n'
    )
    assert ran("check", "net.py")[0] == 1
    assert ran("check", "net.py", "--exit-zero")[0] == 0


def test_fixes_leave_alone_what_is_known(ran):
    text = TWO.replace("y = x[x > 0]", "y = torch.zeros(3).to(x.device)")
    Path("two.py").write_text(text)
    before = ran("check", "two.py", "--diff")
    assert "device=x.device" in before[1], before
    updated(ran, "two.py")
    assert checked(ran, "two.py", "--diff")[:2] == (0, "")
    Path("two.py").write_text(text.replace("z = x[x > 0]", "z = torch.ones(4).to(x.device)"))
    code, out, _ = checked(ran, "two.py", "--fix", "--prune-baseline")
    assert code == 0, out
    assert "torch.zeros(3).to(x.device)" in Path("two.py").read_text()
    assert "torch.ones(4, device=x.device)" in Path("two.py").read_text()
    assert [row["snippet"] for row in rows()] == ["torch.zeros(3).to(x.device)"]


def test_a_baseline_is_not_written_where_files_are_not(ran):
    code, _, err = checked(ran, "net.py", "--diff", "--update-baseline")
    assert code == 2
    assert "the baseline cannot be written" in err
    code, _, err = ran("check", "--prune-baseline")
    assert code == 2
    assert "--prune-baseline needs --baseline FILE" in err


# -- faults -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no such baseline; `--update-baseline` writes one"),
        ("", "not a baseline: "),
        ("[]", "not a baseline: "),
        ('{"findings": []}', "not a baseline: Object missing required field `version`"),
        ('{"version": 1}', "not a baseline: Object missing required field `findings`"),
        ('{"version": 7, "findings": 3}', "a baseline of version 7; this SyncGuard reads version 1"),
        ('{"version": 1, "findings": [{"path": 3}]}', "not a baseline: Expected `str`, got `int`"),
        ("{\n<<<<<<< HEAD\n}\n", "holds the marks of a merge"),
        (b'{"version": 1, "findings": [{"path": "\xff"}]}', "not a baseline: "),
    ],
)
def test_a_baseline_that_cannot_be_used_is_one_line_and_2(ran, text, said):
    if text is not None:
        Path(FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = checked(ran, ".")
    assert (code, out) == (2, "")
    assert err.startswith(f"syncguard: {FILE}: {said}")
    assert err.count("\n") == 1
    if text is not None:
        assert checked(ran, ".", "--update-baseline")[0] == 2  # a broken one is never overwritten
        assert Path(FILE).read_bytes() == (text if isinstance(text, bytes) else text.encode())


def test_a_folder_and_a_place_that_cannot_be_written(ran):
    os.mkdir("folder")
    assert ran("check", "--baseline", "folder")[2] == (
        "syncguard: folder: the baseline cannot be read: Is a directory\n"
    )
    code, _, err = ran("check", "net.py", "--baseline", "gone/b.json", "--update-baseline")
    assert (code, err) == (2, "syncguard: gone/b.json: cannot be written: No such file or directory\n")


def test_a_write_that_fails_leaves_what_was_there(ran, monkeypatch):
    updated(ran, "net.py")
    before = Path(FILE).read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert updated(ran, ".")[0] == 2
    assert Path(FILE).read_bytes() == before
    assert not [name for name in os.listdir() if name.startswith(f".{FILE}")]


# -- the file and the snippet --------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
entries = st.builds(Entry, st.sampled_from(["/p/a.py", "/p/b/c.py", "/q/ü.py"]), texts, texts, texts, st.integers(1, 9))


@given(st.frozensets(entries))
def test_what_is_saved_is_loaded_and_sorted_whatever_the_order(found):
    file = os.path.abspath("b.json")
    baseline.save(file, found)
    text = Path(file).read_text("utf-8")
    shuffled = [*found]
    random.shuffle(shuffled)
    baseline.save(file, shuffled)
    assert Path(file).read_text("utf-8") == text
    assert baseline.load(file) == found


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x.sum( ) . item()", "x.sum().item()"),
        ("f(\n    a,  # first\n    b,\n)", "f(a,b)"),
        ("a if b  else\\\n c", "a if b else c"),
        ("not  x", "not x"),
        ("print('a  # b', \"c\")", "print('a  # b',\"c\")"),
        ("f('''a\n  b''')", "f('''a\n  b''')"),
        ("x [ 'a' ]", "x['a']"),
        ("return 'a' 'b'", "return 'a' 'b'"),
        ("x is  not None", "x is not None"),
        ("[1, 2, ]", "[1,2]"),
        ("日本 [ m ]", "日本[m]"),
    ],
)
def test_a_snippet_is_the_same_however_it_is_laid_out(source, said):
    lines = source.split("\n")
    assert snippet(Site("a.py", 1, 1, len(lines), len(lines[-1]) + 1), lines) == said
    assert snippet(Site("a.py", 1, 1, 1, len(said.split("\n")[0]) + 1), [said]) or "\n" in said


def test_a_long_snippet_is_cut_and_still_told_apart():
    one, two = ("f(" + ", ".join(f"name_{n}" for n in range(99)) + end for end in ("1)", "2)"))
    first, second = (snippet(Site("a.py", 1, 1, 1, len(text) + 1), [text]) for text in (one, two))
    assert len(first) <= 200
    assert first != second
    assert snippet(Site("a.py", 9, 1, 9, 3), [one]) == ""


# -- a commit -------------------------------------------------------------------------------------------


@pytest.fixture
def git(monkeypatch):
    for name, value in {"HOME": os.getcwd(), "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, value)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@b.c")

    def git(*args):
        return subprocess.run(["git", *args], check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "one")
    return git


def since(ran, revision, *args):
    return ran("check", "--baseline-commit", revision, "-o", "concise", *args)


def test_only_what_a_commit_did_not_have_is_new(ran, git):
    assert since(ran, "HEAD", ".")[:2] == (0, "No findings, 3 baselined (2 files read; 2 functions, 2 hot)\n")
    Path("net.py").write_text("\n\n" + NET.replace("return x", "print(x)\n        return x"))
    Path("new.py").write_text(NET)  # not known to git
    git("mv", "two.py", "moved.py")
    code, out, err = since(ran, "HEAD", ".")
    assert (code, err) == (1, "")
    assert [line.split(" ")[:2] for line in out.split("\n")[:-2]] == [["net.py:8:9", "SG206"], ["new.py:6:16", "SG201"]]
    assert last(out).startswith("2 findings in 2 files, 3 baselined (")
    git("add", ".")
    git("commit", "-qm", "two")
    assert since(ran, "HEAD~1", ".")[0] == 1
    assert since(ran, "HEAD", ".")[0] == 0


def test_where_a_branch_left(ran, git):
    git("checkout", "-qb", "branch")
    Path("other.py").write_text(NET)
    git("add", ".")
    git("commit", "-qm", "branch")
    git("checkout", "-q", "main")
    Path("net.py").write_text("x = 1\n")
    git("commit", "-qam", "fixed on main")
    git("checkout", "-q", "branch")
    assert [line.split(":")[0] for line in since(ran, "main", ".")[1].split("\n")[:-2]] == ["net.py", "other.py"]
    assert [line.split(":")[0] for line in since(ran, "main...", ".")[1].split("\n")[:-2]] == ["other.py"]


def test_what_another_file_made_wait_is_new_in_a_file_that_did_not_change(ran, git):
    Path("ops.py").write_text("import torch\n\n\ndef count(x: torch.Tensor):\n    return len(x)\n")
    Path("model.py").write_text(
        "import torch\nfrom ops import count\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n"
        "        if count(x) > 3:\n            return x\n        return x + 1\n"
    )
    git("add", ".")
    git("commit", "-qm", "ops")
    Path("ops.py").write_text(Path("ops.py").read_text().replace("len(x)", "x.sum()"))
    code, out, _ = since(ran, "HEAD", "model.py", "ops.py")
    assert (code, out.split(" ")[:2]) == (1, ["model.py:7:12", "SG204"])
    assert since(ran, "HEAD", "model.py")[0] == 1


def test_what_a_caller_without_findings_brings_about_was_there_before(ran, git):
    Path("ops.py").write_text(
        "def clip(v, n):\n    for _ in range(3):\n        if v > n:\n            return n\n    return v\n"
    )
    Path("model.py").write_text(
        "import torch\nimport ops\n\n\nclass M(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        return ops.clip(x.cuda().amax(), 1.0) * x\n"
    )
    assert "ops.py:3:12 SG204" in ran("check", "-o", "concise", ".")[1]
    assert since(ran, "HEAD", ".")[0] == 1
    git("add", ".")
    git("commit", "-qm", "ops")
    for path in ("ops.py", "model.py"):
        Path(path).write_text("# moved\n" + Path(path).read_text())
    assert since(ran, "HEAD", ".")[0] == 0
    assert since(ran, "HEAD", "ops.py")[0] == 0


def test_a_sub_folder_a_hook_and_a_baseline_with_a_commit(ran, git, monkeypatch):
    os.mkdir("sub")
    Path("sub/new.py").write_text(NET)
    updated(ran, "sub/new.py")
    assert since(ran, "HEAD", ".", "--baseline", FILE)[0] == 0
    monkeypatch.setenv("GIT_DIR", ".git")  # as git tells its hooks
    monkeypatch.chdir("sub")
    assert since(ran, "HEAD", "../net.py")[0] == 0
    assert since(ran, "HEAD", "new.py")[0] == 1


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        ("nowhere", "there is no commit `nowhere`"),
        ("--all", "there is no commit `--all`"),
        ("nowhere...", "there is no commit `nowhere`"),
    ],
)
def test_a_commit_that_is_not_there(ran, git, revision, said):
    assert since(ran, revision, ".") == (2, "", f"syncguard: --baseline-commit: {said}\n")


def test_no_repository_and_no_git(ran, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", os.path.dirname(os.getcwd()))
    assert since(ran, "HEAD", ".")[2] == "syncguard: --baseline-commit: not in a git repository\n"
    monkeypatch.setenv("PATH", "")
    assert since(ran, "HEAD", ".")[2] == "syncguard: --baseline-commit: git is not installed\n"
