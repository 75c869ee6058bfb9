"""The command line: what each command prints, and the code it exits with."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from syncguard import __version__, pack, pipeline
from syncguard.cli.main import COMMANDS, run
from syncguard.examine import workers
from syncguard.infer.project import World

ROOT = Path(__file__).parent.parent
WAITS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> float:
        return x.sum().item()
"""
CLEAN = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, x, 0.0).sum()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "SYNCGUARD_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    Path("waits.py").write_text(WAITS)
    Path("clean.py").write_text(CLEAN)


def last(text: str) -> str:
    return text.rstrip("\n").split("\n")[-1]


# -- check ----------------------------------------------------------------------------------------


def test_findings_exit_with_1_and_nothing_with_0(ran):
    code, out, err = ran("check", "waits.py")
    assert (code, err) == (1, "")
    assert out.startswith("SG201 item: ")
    assert " --> waits.py:6:16 in Net.forward\n" in out
    assert "6 |         return x.sum().item()\n" in out
    assert last(out) == "1 finding in 1 file (1 file read; 1 function, 1 hot)"
    code, out, err = ran("check", "clean.py")
    assert (code, out, err) == (0, "No findings (1 file read; 1 function, 1 hot)\n", "")
    assert ran("check", "waits.py", "--exit-zero")[0] == 0


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_a_quiet_check_says_what_it_found_and_no_more(ran, flag):
    code, out, err = ran("check", flag, "-o", "concise", "waits.py")
    assert (code, out.count("\n"), err) == (1, 1, "")
    assert out.startswith("waits.py:6:16 SG201 ")
    assert ran("check", flag, "clean.py") == (0, "", "")
    assert ran("check", flag, "--diff", "clean.py") == (0, "", "")
    assert ran("check", flag, "-o", "json:found.json", "waits.py") == (1, "", "")
    assert "no such file" in ran("check", flag, "none.py")[2]


def test_without_a_path_the_current_folder_is_read(ran):
    code, out, _ = ran("check")
    assert code == 1
    assert last(out) == "1 finding in 1 file (2 files read; 2 functions, 2 hot)"


def test_nothing_to_read_is_fine(ran, tmp_path):
    Path("notes.md").write_text("x")
    assert ran("check", "notes.md")[:2] == (
        0,
        "No findings (0 files read, 1 skipped: 1 not Python; 0 functions, 0 hot)\n",
    )
    os.makedirs("empty")
    assert ran("check", "empty")[:2] == (0, "No findings (0 files read; 0 functions, 0 hot)\n")


def test_standard_input(ran, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(WAITS.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    code, out, _ = ran("check", "-", "--stdin-filename", "pkg/net.py")
    assert code == 1
    assert " --> pkg/net.py:6:16" in out
    assert "6 |         return x.sum().item()\n" in out
    Stdin.buffer = io.BytesIO(CLEAN.encode())
    assert ran("check", "-")[0] == 0


def test_select_ignore_heat_and_confidence(ran):
    assert ran("check", "waits.py", "--select", "SG1,SG3")[0] == 0
    assert ran("check", "waits.py", "--select", "item")[0] == 1
    assert ran("check", "waits.py", "--ignore", "SG2")[0] == 0
    assert ran("check", "waits.py", "--extend-select", "SG9", "--heat", "all", "--confidence", "possible")[0] == 1
    assert ran("check", "waits.py", "--preset", "library")[0] == 1


def test_an_allow_comment(ran):
    Path("waits.py").write_text(WAITS.replace(".item()", ".item()  # syncguard: allow[SG201] once per epoch"))
    code, out, _ = ran("check", "waits.py")
    assert (code, out) == (0, "No findings, 1 allowed (1 file read; 1 function, 1 hot)\n")
    code, out, _ = ran("check", "waits.py", "--show-allowed")
    assert code == 0
    assert out.startswith("waits.py:6:16 SG201 allowed: ")
    Path("waits.py").write_text(CLEAN + "x = 1  # syncguard: allow[SG201]\n")
    code, out, _ = ran("check", "waits.py", "-o", "concise")
    assert [line.split()[1] for line in out.split("\n")[:2]] == ["SG001", "SG004"]
    assert code == 1


def test_a_notebook(ran):
    cells = [
        ("markdown", "# Demo"),
        ("code", "import torch\n%matplotlib inline"),
        ("code", WAITS.partition("\n\n\n")[2]),
    ]
    rows = [{"cell_type": kind, "source": text, "metadata": {}} for kind, text in cells]
    Path("book.ipynb").write_text(json.dumps({"cells": rows, "metadata": {}, "nbformat": 4}))
    code, out, _ = ran("check", "book.ipynb")
    assert code == 1
    assert " --> book.ipynb:cell 3:3:16 in Net.forward\n" in out
    assert "3 |         return x.sum().item()\n" in out
    found = json.loads(ran("check", "book.ipynb", "-o", "json")[1])["findings"][0]
    assert {fact["path"] for fact in (*found["because"], *found["hot_path"])} == {"book.ipynb:cell 3"}


def test_a_cell_that_does_not_parse_is_named(ran):
    cells = ["import torch", "x = 1\nx = = 2"]
    rows = [{"cell_type": "code", "source": text, "metadata": {}} for text in cells]
    Path("book.ipynb").write_text(json.dumps({"cells": rows, "metadata": {}, "nbformat": 4}))
    code, out, _ = ran("check", "book.ipynb")
    assert code == 1
    assert " --> book.ipynb:cell 2:2:5\n" in out
    assert "2 | x = = 2\n" in out


@pytest.mark.parametrize(("cut", "outside"), [("return 3", "function"), ("if 3:\n    break", "loop")])
def test_a_cell_that_was_cut_out_of_what_it_leaves_is_named(ran, cut, outside):
    cells = [WAITS.partition("\n\n\n")[0], cut, WAITS.partition("\n\n\n")[2]]
    rows = [{"cell_type": "code", "source": text, "metadata": {}} for text in cells]
    Path("book.ipynb").write_text(json.dumps({"cells": rows, "metadata": {}, "nbformat": 4}))
    code, out, _ = ran("check", "book.ipynb", "-o", "concise")
    assert code == 1
    assert "cell 2:" in out
    assert f"outside {outside}" in out
    assert "cell 3:3:16 SG201" in out


def test_cells_beside_one_that_does_not_parse_are_checked(ran):
    broken = "def f(:\n    pass  # syncguard: allow[SG201] later"
    cells = [WAITS.partition("\n\n\n")[0], broken, WAITS.partition("\n\n\n")[2]]
    rows = [{"cell_type": "code", "source": text, "metadata": {}} for text in cells]
    Path("book.ipynb").write_text(json.dumps({"cells": rows, "metadata": {}, "nbformat": 4}))
    for _ in range(2):  # the second time from the cache
        code, out, _ = ran("check", "book.ipynb", "-o", "concise")
        assert code == 1
        assert len(out.splitlines()) == 3
        assert "cell 2:1:7 SG000" in out
        assert "cell 3:3:16 SG201" in out
    out = ran("check", "book.ipynb")[1]
    assert " --> book.ipynb:cell 2:1:7\n" in out
    assert "1 | def f(:\n" in out
    assert ran("explain", "book.ipynb:cell 2:1")[::2] == (
        2,
        "syncguard: book.ipynb:cell 2: not checked: Python 3.11 cannot parse it: invalid syntax (line 1)\n",
    )


def test_findings_come_in_order_of_path_and_place(ran):
    os.makedirs("p")
    Path("p/a.py").write_text(
        "x = 1  # syncguard: allow[SG201] why\n" + WAITS + "y = 1  # syncguard: allow[SG201] why\n"
    )
    Path("p/b.py").write_text("def f(:\n")
    _, out, _ = ran("check", "p", "waits.py", "-o", "concise")
    places = [line.split()[0] for line in out.splitlines()[:-1]]
    assert places == ["p/a.py:1:8", "p/a.py:7:16", "p/a.py:8:8", "p/b.py:1:7", "waits.py:6:16"]


def test_per_file_ignores(ran):
    Path("syncguard.toml").write_text('[per-file-ignores]\n"waits.py" = ["SG2"]\n"broken.py" = ["SG000"]\n')
    Path("broken.py").write_text("def f(:\n")
    code, out, _ = ran("check", "waits.py", "broken.py")
    assert code == 0
    assert last(out) == "No findings (1 file read, 1 unreadable; 1 function, 1 hot)"


def test_several_formats_at_once(ran):
    code, out, err = ran("check", "waits.py", "-o", "concise", "-o", "json:a.json", "--output-format", "sarif:b.sarif")
    assert (code, err) == (1, "")
    assert out.startswith("waits.py:6:16 SG201 ")
    assert json.loads(Path("a.json").read_text())["findings"][0]["code"] == "SG201"
    assert json.loads(Path("b.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "SG201"


def test_json_is_alone_on_standard_output(ran):
    _, out, err = ran("check", "waits.py", "-o", "json")
    assert json.loads(out)["summary"]["findings"] == 1
    assert err == "1 finding in 1 file (1 file read; 1 function, 1 hot)\n"
    _, out, err = ran("check", "waits.py", "-o", "json:a.json")
    assert (out, err) == ("", "1 finding in 1 file (1 file read; 1 function, 1 hot)\n")


def test_statistics(ran):
    code, out, _ = ran("check", "waits.py", "--statistics")
    assert code == 1
    assert out.split("\n")[0] == "1  SG201  item"


def test_colour(ran, monkeypatch):
    assert "\x1b[" not in ran("check", "waits.py")[1]
    assert "\x1b[" in ran("check", "waits.py", "--color", "always")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in ran("check", "waits.py")[1]
    ran("check", "waits.py", "-o", "full:report.txt")
    assert "\x1b[" not in Path("report.txt").read_text()


def test_configuration(ran):
    Path("pyproject.toml").write_text('[tool.syncguard]\nignore = ["SG201"]\n')
    assert ran("check", "waits.py")[0] == 0
    assert ran("check", "waits.py", "--isolated")[0] == 1
    Path("other.toml").write_text("")
    assert ran("check", "waits.py", "--config", "other.toml")[0] == 1
    assert ran("check", "waits.py", "--select", "SG201")[0] == 1


# -- wrong use --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["check", "--select", "SG99999"], "--select: unknown rule `SG99999`"),
        (["check", "--ignore", "nonzro"], "--ignore: unknown rule `nonzro`; did you mean `nonzero`?"),
        (["check", "--heat", "warm"], "'warm' is not one of"),
        (["check", "--nope"], "No such option '--nope'"),
        (["check", "-o", "xml"], "there is no format 'xml'; choose from full, concise"),
        (["check", "-o", "full", "-o", "json"], "only one format can go to standard output"),
        (["check", "-o", "json:no/where.json"], "no/where.json: cannot be written: there is no such folder"),
        (["check", "--config", "gone.toml"], "gone.toml"),
        (["check", "--jobs", "-1"], "-1 is not in the range x>=0"),
        (["check", "--unsafe-fixes"], "--unsafe-fixes goes with --fix"),
        (["check", "--stdin-filename", "a.py"], "--stdin-filename needs the path -, which reads standard input"),
        (["chek"], "there is no command 'chek'; did you mean `check`?"),
        (["waits.py"], "'waits.py' is a path; write `syncguard check waits.py`"),
        (["explain", "nonzro"], "'nonzro' is no rule, operation or line that we know; did you mean `nonzero`?"),
        (["explain", "waits.py:99"], "waits.py has 6 lines, and no line 99"),
        (["explain", "gone.py:1"], "gone.py: does not exist"),
        (["explain"], "Missing argument"),
    ],
)
def test_wrong_use_is_one_line_and_exits_with_2(ran, args, message):
    code, _, err = ran(*args)
    assert code == 2
    assert err.startswith("syncguard: ")
    assert message in err
    assert err.count("\n") == 1


def test_without_a_command_there_is_help(ran):
    code, out, _ = ran()
    assert code == 2
    assert all(name in out for name in COMMANDS)
    assert ran("--help")[0] == 0
    assert ran("--version")[:2] == (0, f"syncguard {__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(ran, name):
    code, out, _ = ran(name, "-h")
    assert code == 0
    assert out.startswith(f"Usage: syncguard {name}")


def test_an_internal_error_is_a_line_and_exits_with_3(ran, monkeypatch):
    def broken(*_: object, **__: object) -> object:
        raise KeyError("oh\nno")

    monkeypatch.setattr(pipeline, "check", broken)
    code, _, err = ran("check", "waits.py")
    assert code == 3
    assert err.split("\n")[0].startswith("syncguard: internal error: KeyError: ")
    assert "--debug" in err
    with pytest.raises(KeyError):
        run(["check", "waits.py", "--debug"])


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_internal_error_in_one_file_leaves_the_others_checked(ran, monkeypatch, jobs):
    Path("odd.py").write_text(WAITS)
    infer = World.infer

    def broken(world, home):
        infer(world, home)
        if home.path.endswith("odd.py"):
            raise KeyError("oh\nno")

    monkeypatch.setattr(World, "infer", broken)
    monkeypatch.setattr(workers, "WORTH", 0)
    for _ in range(2):  # nothing of it is remembered
        code, out, err = ran("check", "waits.py", "odd.py", "-o", "concise", "--jobs", jobs)
        assert code == 3
        places = [line.split()[:2] for line in out.splitlines()[:2]]
        assert places == [["waits.py:6:16", "SG201"], ["odd.py:1:1", "SG000"]]
        assert "not checked: internal error: KeyError: " in out
        assert err.splitlines()[0] == "syncguard: internal error: 1 file not checked (SG000)"
        assert "--debug" in err
    assert "KeyError" in ran("check", "odd.py", "--debug")[2]


def test_an_interrupt_is_no_traceback(ran, monkeypatch):
    def interrupted(*_: object, **__: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "check", interrupted)
    assert ran("check", "waits.py") == (130, "", "syncguard: interrupted\n")


def test_a_reader_that_goes_away_is_no_traceback():
    Path("many.py").write_text(WAITS + "".join(WAITS.replace("Net", f"Net{n}") for n in range(3000)))
    command = f"{sys.executable} -m syncguard check many.py | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, cwd=Path.cwd())
    assert done.stdout.startswith("SG201")
    assert (done.stderr, done.returncode) == ("", 141)


def test_a_terminal_without_unicode():
    Path("waits.py").write_text(WAITS.replace("x", "größe"))
    environ = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, "-m", "syncguard", "check", "waits.py"], capture_output=True, env=environ)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"gr\\xf6\\xdfe.sum().item()" in done.stdout


# -- explain and rules ------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["SG101", "sg101", "nonzero"])
def test_explain_a_rule(ran, what):
    code, out, _ = ran("explain", what)
    assert code == 0
    assert out.startswith("SG101 nonzero\nwarning · on")
    assert "`torch.nonzero`" in out.rsplit("Operations", 1)[1]


def test_explain_a_rule_without_a_page(ran):
    code, out, _ = ran("explain", "unused-allow")
    assert code == 0
    assert out.startswith("SG001 unused-allow\n")


@pytest.mark.parametrize(
    "what", ["torch.nonzero", "torch.Tensor.nonzero", "Tensor.nonzero", "torch.nonzero()", "Tensor.nonzero()"]
)
def test_explain_an_operation(ran, what):
    code, out, _ = ran("explain", what)
    assert code == 0
    assert "waits     when" in out
    assert "SG101 nonzero" in out
    assert "evidence" in out


@pytest.mark.parametrize("what", ["torch.count_nonzero", "F.relu", "linalg.qr", "masked_fill"])
def test_explain_finds_operations_by_short_names(ran, what):
    assert ran("explain", what)[0] == 0


def test_explain_a_line(ran):
    code, out, _ = ran("explain", "waits.py:6")
    assert code == 0
    assert out.startswith("waits.py:6\n6 |         return x.sum().item()\n")
    assert "x.sum()" in out.split("\n", 2)[2]
    assert "tensor[" in out


def test_explain_tells_what_is_found_and_why_it_is_not_reported(ran):
    Path("net.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x, step):\n"
        "        a = x.sum().item()\n"
        "        b = x.max().item()  # syncguard: allow[SG201] small\n"
        "        if step % 10 == 0:\n            print(x.min().item())\n"
        "        return x + a + b\n\n\ndef main():\n    Net().cuda()(torch.rand(3).cuda(), 1)\n"
    )
    assert (
        "\nSG201 `x.sum().item()` waits for the device to compute `x.sum()`\n  hot       reported\n"
        in ran("explain", "net.py:6")[1]
    )
    assert "\n  hot       allowed by a comment: small\n" in ran("explain", "net.py:7")[1]
    rare = ran("explain", "net.py:9")[1]
    assert "\n  amortized reported with `--heat amortized`\n" in rare
    assert "but only every n-th step" in rare
    assert "reported" not in ran("explain", "net.py:10")[1]


def test_explain_names_all_that_a_finding_would_have_to_be_asked_for_with(ran):
    Path("net.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self, scale: int | torch.Tensor | None = None):\n"
        "        self.scale = scale if scale else 1\n"
    )
    assert "\n  cold      reported with `--heat all --confidence possible`\n" in ran("explain", "net.py:6")[1]


@pytest.mark.parametrize("what", ["waits.py:6:16", "./waits.py:6:16", "waits.py:6"])
def test_explain_takes_a_place_as_findings_write_it(ran, what):
    code, out, _ = ran("explain", what)
    assert code == 0
    assert "x.sum().item()  host number" in out


def test_explain_tells_reasons_in_other_files(ran):
    Path("maker.py").write_text("import torch\n\n\ndef make(n):\n    return torch.ones(n, device='cuda') * 2\n")
    Path("user.py").write_text("from maker import make\n\nx = make(3)\n")
    out = ran("explain", "user.py:3")[1]
    assert "maker.py:5  `torch.ones(n, device='cuda')` is the result of `torch.ones`" in out
    assert "``" not in out


def test_explain_a_line_of_a_notebook(ran):
    code = ["import torch\n", "x = torch.randn(3).cuda()"], ["\n", "y = x[x > 0]"]
    cells = [{"cell_type": "markdown", "source": []}, *({"cell_type": "code", "source": text} for text in code)]
    Path("book.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    found = json.loads(ran("check", "book.ipynb", "--heat", "all", "--select", "SG102", "-o", "json")[1])["findings"][0]
    place = f"{found['path']}:{found['line']}:{found['column']}"
    assert place == "book.ipynb:cell 3:2:5"
    code, out, _ = ran("explain", place)
    assert code == 0
    assert out.startswith("book.ipynb:cell 3:2\n2 | y = x[x > 0]\n")
    assert "book.ipynb:cell 2:2  `torch.randn(3)` is" in out
    assert "line 2  `x > 0` is" in out
    assert "\nSG102 `x[x > 0]` waits" in out
    assert ran("explain", "book.ipynb:3") == (
        2, "", "syncguard: book.ipynb: name the cell too, as in `book.ipynb:cell 2:3`; its cells with code are 2, 3\n"
    )  # fmt: skip


def test_explain_a_line_of_a_script_without_an_ending(ran):
    Path("train").write_text("#!/usr/bin/env python\nimport torch\n\nn = torch.rand(3, device='cuda').sum().item()\n")
    assert "\nSG201 " in ran("explain", "train:4")[1]


def test_explain_a_line_that_cannot_be_parsed(ran):
    Path("bad.py").write_text("import torch\nif True\n")
    code, _, err = ran("explain", "bad.py:1")
    assert code == 2
    assert err.startswith("syncguard: bad.py: Python 3.")
    assert err.endswith(" cannot parse it: expected ':' (line 2)\n")


def test_explain_a_group_of_rules_names_them(ran):
    assert ran("explain", "sg2")[2].startswith("syncguard: 'sg2' is the beginning of SG201, SG202, ")


def test_an_empty_line_is_not_shown(ran):
    Path("bad.py").write_bytes(b"x = '\xe9'\n")
    out = ran("check", "bad.py")[1]
    assert out.startswith("SG000 unreadable-file: not checked: not UTF-8")
    assert " |" not in out


def test_a_loop_in_a_notebook_is_told_by_its_line_in_the_cell(ran):
    code = (
        ["import torch\n"],
        ["for _ in range(3):\n", "    x = torch.rand(3, device='cuda')\n", "    x.backward()\n", "    print(x)\n"],
    )
    cells = [{"cell_type": "code", "source": text} for text in code]
    Path("book.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert "= hot      line 1  the loop calls `backward`\n" in ran("check", "book.ipynb")[1]


def test_explain_a_file_asks_for_a_line(ran):
    assert ran("explain", "waits.py")[2] == "syncguard: waits.py is a file; name a line of it, as in `waits.py:1`\n"


@pytest.mark.parametrize(
    ("what", "width"),
    [(what, width) for what in ("explain SG301", "explain waits.py:6") for width in (60, 80, 120)]
    + [("rules", 90), ("rules", 120)],
)
def test_prose_keeps_to_the_width(ran, monkeypatch, what, width):
    monkeypatch.setenv("COLUMNS", str(width))
    prose, code = [], False
    for line in ran(*what.split())[1].split("\n"):
        code = code != line.startswith("```")
        prose += [line] if not code and not line.startswith("#") else []
    assert max(map(len, prose)) <= width


def test_a_page_on_a_narrow_terminal_says_what_it_says_on_a_wide_one(ran, monkeypatch):
    texts = []
    for width in ("60", "120"):
        monkeypatch.setenv("COLUMNS", width)
        texts.append(ran("explain", "SG301")[1])
    assert texts[0] != texts[1]
    assert texts[0].split() == texts[1].split()


def test_rules(ran):
    code, out, _ = ran("rules")
    assert code == 0
    codes = [line.split()[0] for line in out.splitlines()[1:] if not line.startswith(" ")]
    assert codes == sorted(codes)
    assert set(codes) > {rule.code for rule in pack.load().rules}
    rows = json.loads(ran("rules", "-o", "json")[1])
    assert [row["code"] for row in rows] == codes


def test_a_pack_of_ones_own(ran, tmp_path):
    page = ROOT / "rules" / "SG201-item.md"
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "XX100-ours.md").write_text(
        page.read_text().replace("SG201 item", "XX100 ours").replace('["item"]', '["our-hazard"]')
    )
    Path("syncguard.toml").write_text('packs = ["ours"]\n')
    assert "XX100" in ran("rules")[1]
    assert ran("explain", "XX100")[0] == 0
    assert ran("check", "clean.py", "--select", "XX1")[0] == 0


# -- start-up -----------------------------------------------------------------------------------------

HEAVY = ("torch", "libcst", "rich", "numpy", "pathspec", "asyncio", "tomllib", "difflib", "inspect.getsource")


def test_a_clean_file_loads_nothing_heavy():
    code = (
        "import sys; from syncguard.cli.main import run; code = run(['check', 'clean.py']);"
        "print(*sys.modules, sep='\\n', file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert loaded & set(HEAVY) <= {"tomllib"}
    assert "syncguard.cli.rules" not in done.stderr


@pytest.mark.slow
def test_a_clean_file_of_300_lines_takes_a_quarter_of_a_second_more_than_python(tmp_path):
    from statistics import median
    from time import perf_counter

    body = "    def step_{0}(self, x: torch.Tensor):\n        return torch.where(x > {0}, x, 0.0).sum()\n\n"
    Path("clean.py").write_text(CLEAN + "\n" + "".join(body.format(n) for n in range(98)))

    # What an installed package has: its bytecode.
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)

    def took(*args: str) -> float:
        start = perf_counter()
        subprocess.run([sys.executable, *args], capture_output=True, check=True, env=environ)
        return perf_counter() - start

    pairs = [(took("-c", "pass"), took("-m", "syncguard", "check", "clean.py")) for _ in range(11)][1:]
    assert median(check for _, check in pairs) - median(nothing for nothing, _ in pairs) <= 0.25


def test_a_profiler_sees_the_end_of_a_check(tmp_path):
    """`check` leaves at once when it has spoken, but not from under who measures it."""
    command = [sys.executable, "-m", "cProfile", "-m", "syncguard", "check", "--no-cache", "empty.py"]
    (tmp_path / "empty.py").write_text("")
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("No findings")
    assert "function calls" in done.stdout
