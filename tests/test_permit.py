"""`--add-allow`: a comment at every finding that is left, on code however it is laid out; then nothing is found."""

from __future__ import annotations

import ast
import io
import json
import sys
import textwrap
from functools import partial
from pathlib import Path

import pytest

REASON = "known, see issue #7"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("[tool.syncguard]\ncache = false\nheat = 'all'\n")


@pytest.fixture
def ran(ran):
    return partial(ran, "check")


def permitted(ran, body: str) -> str:
    """The body of a function after `--add-allow`; nothing is found then, and a second time changes nothing."""
    head = "import torch\n\n\ndef forward(x: torch.Tensor, mask: torch.Tensor):\n"
    Path("net.py").write_text(head + textwrap.indent(textwrap.dedent(body), "    "))
    before = ast.dump(ast.parse(Path("net.py").read_text()))
    assert ran("net.py")[0] == 1
    code, out, err = ran("net.py", "--add-allow", REASON)
    assert (code, err) == (0, ""), out
    text = Path("net.py").read_text()
    assert ast.dump(ast.parse(text)) == before
    assert ran("net.py")[0] == 0
    assert ran("net.py", "--add-allow", "other")[0] == 0
    assert Path("net.py").read_text() == text
    return textwrap.dedent(text.removeprefix(head))


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("return x.item()\n", "return x.item()  # syncguard: allow[SG201] known, see issue #7\n"),
        ("return x.item()", "return x.item()  # syncguard: allow[SG201] known, see issue #7"),
        ("return x.item()   \n", "return x.item()  # syncguard: allow[SG201] known, see issue #7\n"),
        (
            "return x.item()  # noqa: E501\n",
            "return x.item()  # noqa: E501  # syncguard: allow[SG201] known, see issue #7\n",
        ),
        # Several codes and several findings on a line: one comment.
        (
            "return x[mask > 0].item(), x.item()\n",
            "return x[mask > 0].item(), x.item()  # syncguard: allow[SG102, SG201] known, see issue #7\n",
        ),
        # A comment that is there takes the code as well, and keeps its own reason.
        (
            "return x[mask > 0].sum().item()  # syncguard: allow[SG201] once\n",
            "return x[mask > 0].sum().item()  # syncguard: allow[SG201, SG102] once\n",
        ),
        (
            "# syncguard: allow[item] once\nreturn x[mask > 0].sum().item()\n",
            "# syncguard: allow[item, SG102] once\nreturn x[mask > 0].sum().item()\n",
        ),
        # Statements of several lines: behind the line itself; behind the last where a string or a backslash ends it.
        (
            "return f(\n    x.item(),\n    1,\n)\n",
            "return f(\n    x.item(),  # syncguard: allow[SG201] known, see issue #7\n    1,\n)\n",
        ),
        (
            "y = x.item() + \\\n    1\nreturn y\n",
            "y = x.item() + \\\n    1  # syncguard: allow[SG201] known, see issue #7\nreturn y\n",
        ),
        (
            'y = x.item(), """\n    text\n"""\nreturn y\n',
            'y = x.item(), """\n    text\n"""  # syncguard: allow[SG201] known, see issue #7\nreturn y\n',
        ),
        (
            'y = f"""\n    {x.item()}\n"""\nreturn y\n',
            'y = f"""\n    {x.item()}\n"""  # syncguard: allow[SG201] known, see issue #7\nreturn y\n',
        ),
        # Headers of compound statements.
        ("if x > 0:\n    pass\n", "if x > 0:  # syncguard: allow[SG204] known, see issue #7\n    pass\n"),
        ("if x > 0: return 1\n", "if x > 0: return 1  # syncguard: allow[SG204] known, see issue #7\n"),
        (
            "if len(x):\n    pass\nelif x > 0:\n    pass\n",
            "if len(x):\n    pass\nelif x > 0:  # syncguard: allow[SG204] known, see issue #7\n    pass\n",
        ),
        (
            "a = 1; b = x.item(); c = x.tolist()\n",
            "a = 1; b = x.item(); c = x.tolist()  # syncguard: allow[SG201, SG202] known, see issue #7\n",
        ),
        # Too long for the line: above it.
        (
            f"{'a' * 60} = x.item()\n",
            f"# syncguard: allow[SG201] known, see issue #7\n{'a' * 60} = x.item()\n",
        ),
        (
            f"if len(x):\n    pass\nelif x > {'1' * 60}:\n    pass\n",
            f"if len(x):\n    pass\n# syncguard: allow[SG204] known, see issue #7\nelif x > {'1' * 60}:\n    pass\n",
        ),
        # A comment of ours that says something else cannot be followed by one.
        (
            "return x.item()  # syncguard: a note\n",
            "# syncguard: allow[SG201] known, see issue #7\nreturn x.item()  # syncguard: a note\n",
        ),
        # No room above, as the line before goes on.
        (
            f'y = """\n"""; {"a" * 60} = x.item()\n',
            f'y = """\n"""; {"a" * 60} = x.item()  # syncguard: allow[SG201] known, see issue #7\n',
        ),
    ],
)
def test_where_the_comment_goes(ran, body, after):
    if "f(" in body:
        body = body.replace("f(", "print(") if "print" in after else body
    assert permitted(ran, body) == after


def test_many_statements_in_a_file_at_once(ran):
    body = "".join(
        f"y{n} = x.item()\nif x > {n}:\n    z{n} = print(\n        x,\n        x[mask > {n}],\n    )\n"
        for n in range(20)
    )
    assert permitted(ran, body).count("# syncguard: allow[") >= 60


def test_line_endings_encoding_and_permissions_stay(ran):
    raw = "# coding: latin-1\r\nimport torch\r\n\r\n\r\ndef forward(x: torch.Tensor):\r\n    return x.item(), 'é'\r\n"
    Path("net.py").write_bytes(raw.encode("latin-1"))
    Path("net.py").chmod(0o640)
    assert ran("net.py", "--add-allow", REASON)[0] == 0
    told = f"  # syncguard: allow[SG201] {REASON}"
    assert Path("net.py").read_bytes().decode("latin-1") == raw.replace("'é'", f"'é'{told}")
    assert Path("net.py").stat().st_mode & 0o777 == 0o640
    Path("net.py").write_bytes(raw.encode("latin-1"))
    code, _, err = ran("net.py", "--add-allow", "weil 日本")
    assert code == 2
    assert err.startswith("syncguard: net.py: not written: 'latin-1' codec can't encode")
    assert err.endswith("\nsyncguard: 1 of 1 changed file could not be written\n")
    assert Path("net.py").read_bytes() == raw.encode("latin-1")


WAITS = "import torch\n\n\ndef forward(x: torch.Tensor):\n    return x.item()\n"


def test_the_diff_and_the_change_say_how_many_are_allowed(ran):
    Path("a.py").write_text(WAITS)
    Path("b.py").write_text(WAITS)
    code, out, err = ran(".", "--add-allow", REASON, "--diff")
    assert code == 1
    assert out.count("\n+    return x.item()  # syncguard: allow[SG201] known, see issue #7\n") == 2
    assert err == "Would allow 2 findings in 2 files\n"
    assert Path("a.py").read_text() == WAITS
    code, out, err = ran(".", "--add-allow", REASON)
    assert (code, out, err) == (
        0, "Allowed 2 findings in 2 files\nNo findings, 2 allowed (2 files read; 2 functions, 0 hot)\n", "",
    )  # fmt: skip


def test_only_what_is_reported_is_allowed(ran):
    Path("a.py").write_text(WAITS + "\n\ndef other(x: torch.Tensor):\n    return x[x > 0]\n")
    assert ran("a.py", "--select", "SG102", "--add-allow", REASON)[0] == 0
    assert Path("a.py").read_text().count("allow[") == 1
    assert ran("a.py", "--baseline", "b.json", "--update-baseline")[0] == 0
    Path("a.py").write_text(Path("a.py").read_text() + "\n\ndef third(x: torch.Tensor):\n    return x.tolist()\n")
    assert ran("a.py", "--baseline", "b.json", "--add-allow", REASON)[0] == 0
    assert Path("a.py").read_text().count("allow[") == 2
    assert "return x.item()\n" in Path("a.py").read_text()


def test_with_fixes_what_can_be_fixed_is(ran):
    built = WAITS.replace("return x", "y = torch.zeros(3).to(x.device)\n    return y, x.sum()")
    Path("a.py").write_text(built)
    code, out, _ = ran("a.py", "--fix", "--add-allow", REASON)
    assert code == 0
    assert out.startswith("Fixed 1 finding, allowed 1 finding in 1 file (1 more with --unsafe-fixes)\n")
    text = Path("a.py").read_text()
    assert "torch.zeros(3, device=x.device)\n" in text
    assert "x.sum().item()  # syncguard: allow[SG201]" in text


def test_files_comments_and_notebooks_are_not_written_over(ran):
    Path("bad.py").write_text("def (:\n")
    Path("a.py").write_text("x = 1  # syncguard: allow[SG201] nothing\n")
    source = "import torch\ntorch.rand(3, device='cuda').item()"
    cells = json.dumps({"cells": [{"cell_type": "code", "source": source}], "metadata": {}, "nbformat": 4})
    Path("n.ipynb").write_text(cells)
    code, out, err = ran(".", "--add-allow", REASON, "-o", "concise")
    assert (code, err) == (1, "syncguard: comments are not written into notebooks\n")
    assert "Allowed 0 findings in 0 files\n3 findings in 3 files (2 files read, 1 unreadable;" in out
    assert [line.split(" ")[-1:] and line.split(":")[0] for line in out.split("\n")[:3]] == [
        "a.py",
        "bad.py",
        "n.ipynb",
    ]
    assert Path("n.ipynb").read_text() == cells
    assert Path("a.py").read_text() == "x = 1  # syncguard: allow[SG201] nothing\n"


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "a # b", "\x1b"])
def test_a_reason_that_is_none(ran, reason):
    Path("a.py").write_text(WAITS)
    code, _, err = ran("a.py", "--add-allow", reason)
    assert code == 2
    assert "--add-allow takes the reason" in err
    assert Path("a.py").read_text() == WAITS


def test_standard_input(ran, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(WAITS.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    code, out, err = ran("-", "--add-allow", REASON)
    assert (code, err) == (0, "Allowed 1 finding in 1 file\n")
    assert out == WAITS.replace(".item()", f".item()  # syncguard: allow[SG201] {REASON}")
