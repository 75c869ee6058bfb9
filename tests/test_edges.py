"""The command line at its edges: odd configurations, paths, terminals and outputs, each with a clear line and code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WAITS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> float:
        é = "日本", x.sum().item()
        return é
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="of Linux")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "SYNCGUARD_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    Path("waits.py").write_text(WAITS, "utf-8")


@pytest.fixture
def ran(ran):
    return partial(ran, "check", "--no-cache")


def process(*args, **more):
    environ = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("environ", {})}
    command = [sys.executable, "-m", "syncguard", "check", "--no-cache", *args]
    return subprocess.run(command, env=environ, stderr=subprocess.PIPE, **more)


def configured(text, folder="."):
    os.makedirs(folder, exist_ok=True)
    Path(folder, "pyproject.toml").write_text(text, "utf-8")


def refused(ran, *args):
    code, out, err = ran(*args)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    return err.removeprefix("syncguard: ").rstrip("\n")


# -- configuration --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool]\nsyncguard = 3\n", "pyproject.toml: `tool.syncguard` is a table, not 3"),
        ("[tool]\nsyncguard = []\n", "pyproject.toml: `tool.syncguard` is a table, not []"),
        ("[tool.syncguard\n", "pyproject.toml: not TOML: Expected ']' at the end of a table declaration"),
        ('[tool."syncguard"]\nselct = []\n', "pyproject.toml: unknown key `selct`; did you mean `select`?"),
        ("tool.syncguard.heat = 'hut'\n", "pyproject.toml: `heat` is one of hot, unknown, amortized, all; not `hut`"),
        ("[tool.syncguard]\npreset = 'trainng'\n", "; not `trainng`; did you mean `training`?"),
        ("[tool.syncguard]\nselect = ['itm']\n", "pyproject.toml: select: unknown rule `itm`; did you mean `item`?"),
        ("[tool.syncguard]\nselect = ['']\n", "pyproject.toml: select: unknown rule ``"),
        ("[tool.syncguard]\nselect = 'SG1'\n", "pyproject.toml: `select` takes a list of strings, not 'SG1'"),
        (
            "[tool.syncguard.per-file-ignores]\na = ['SG999']\n",
            "pyproject.toml: per-file-ignores: unknown rule `SG999`",
        ),
        ("[tool.syncguard.per-file-ignores]\n'a\\*.py' = ['SG2']\n", "`a\\*.py`; write `a/*.py`, as in .gitignore"),
        ("[tool.syncguard]\nexclude = ['old\\code']\n", "`old\\code`; write `old/code`, as in .gitignore"),
        ("[tool.syncguard]\nbaseline = 3\n", "pyproject.toml: `baseline` takes a string, not 3"),
        ("[tool.syncguard]\ntool = 3\n", "unknown key `tool`; here the keys stand at the top, without"),
        ("[tool.syncguard]\nextend = '../base.toml'\n", "pyproject.toml: unknown key `extend`"),
    ],
)
def test_a_configuration_that_cannot_be_used(ran, text, said):
    configured(text)
    assert said in refused(ran, "waits.py")
    assert ran("waits.py", "--isolated")[0] == 1


@pytest.mark.parametrize("text", ["[project]\nname = 'syncguard-plugin'\n", "tool = 3 # syncguard\n", "[tool.other]\n"])
def test_a_project_file_without_a_table_of_ours_is_passed_by(ran, text):
    configured("[tool.syncguard]\nignore = ['SG2']\n")
    configured(text, "inner")
    os.rename("waits.py", "inner/waits.py")
    assert ran("inner/waits.py")[0] == 0


def test_the_nearest_configuration_counts_and_the_others_are_named(ran, monkeypatch):
    configured("[tool.syncguard]\nignore = ['SG2']\n", "one")
    configured("[tool.syncguard]\nheat = 'all'\n", "two")
    for folder in ("one/src/deep", "two"):
        os.makedirs(folder, exist_ok=True)
        Path(folder, "waits.py").write_text(WAITS, "utf-8")
    assert ran("one/src/deep/waits.py")[::2] == (0, "")
    code, _, err = ran("one", "two/waits.py", "-o", "concise")
    assert code == 0
    assert (
        err == "syncguard: two/pyproject.toml is not read: one configuration counts, here that of one/pyproject.toml\n"
    )
    code, _, err = ran("waits.py", "two")
    assert code == 1
    assert (
        err == "syncguard: two/pyproject.toml is not read: one configuration counts, here none, as for the first path\n"
    )
    assert ran("one", "two", "--config", "two/pyproject.toml")[::2] == (1, "")
    monkeypatch.chdir("one/src/deep")
    assert ran()[0] == 0
    Path("syncguard.toml").write_text("heat = 'all'\n")  # nearer, and it wins over a pyproject.toml beside it
    configured("[tool.syncguard]\nignore = ['SG2']\n")
    assert ran()[0] == 1


def test_presets_below_the_file_and_the_command_line(ran):
    configured("[tool.syncguard]\npreset = 'capture'\n")
    assert ran("waits.py")[0] == 1
    configured("[tool.syncguard]\npreset = 'capture'\nselect = ['SG3']\n")
    assert ran("waits.py")[0] == 0
    assert ran("waits.py", "--select", "SG2")[0] == 1
    assert ran("waits.py", "--preset", "library", "--ignore", "SG2")[0] == 0


def test_patterns_of_files(ran):
    for pattern, code in (("waits.py", 0), ("*.py", 0), ("sub/**", 1), ("!sub/**", 0), ("!*.py", 1), ("/waits.py", 0)):
        configured(f"[tool.syncguard.per-file-ignores]\n'{pattern}' = ['SG2']\n")
        assert ran("waits.py")[0] == code, pattern


def test_rules_that_are_none(ran):
    for empty in ("", ",", " "):
        assert refused(ran, "waits.py", "--select", empty).startswith("Invalid value for '--select': it names no rule.")
        assert ran("waits.py", "--ignore", empty)[0] == 1  # as of an unset variable
    assert refused(ran, "waits.py", "--select", "itm") == "--select: unknown rule `itm`; did you mean `item`?"
    assert refused(ran, "waits.py", "--ignore", "sg201") == "--ignore: unknown rule `sg201`; did you mean `SG201`?"


# -- paths -----------------------------------------------------------------------------------------------


def test_a_mistyped_path_is_no_finding(ran):
    assert refused(ran, "wait.py") == "wait.py: there is no such file or folder; did you mean `waits.py`?"
    assert refused(ran, "waits.py", "src/") == "src/: there is no such file or folder"
    assert refused(ran, "*.pyx") == "*.pyx: there is no such file or folder; paths are no patterns: name the folder"
    os.symlink("gone.py", "link.py")
    code, out, _ = ran("link.py", "-o", "concise")
    assert (code, out.split("\n")[0]) == (1, "link.py:1:1 SG000 not checked: is a link to nothing")


@pytest.mark.parametrize(
    "name", ["a b.py", "a\nb.py", "a\tb.py", "日本.py", "a:b.py", "a%2Cb.py", "-x.py", "\x1b[31m.py"]
)
def test_names_of_files(ran, name):
    os.makedirs("in")
    os.rename("waits.py", f"in/{name}")
    path = os.path.join("in", name)
    code, out, err = ran("in")
    assert (code, err) == (1, "")
    assert "\x1b" not in out
    assert len(out.split("\n")) == len(ran("in", "--color", "never")[1].split("\n"))
    found = json.loads(ran("in", "-o", "json")[1])["findings"]
    assert [one["path"] for one in found] == [path]
    sarif = json.loads(ran("in", "-o", "sarif")[1])
    uri = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    from urllib.parse import unquote

    assert unquote(uri) == path
    assert json.loads(ran("in", "-o", "gitlab")[1])[0]["location"]["path"] == path
    assert ran("in", "-o", "github")[1].startswith("::warning file=")
    assert ran("in", "-o", "github")[1].count("\n") == 2
    ET.fromstring(ran("in", "-o", "junit")[1].encode())
    assert ran("in", "--baseline", "b.json", "--update-baseline")[0] == 0
    assert ran("in", "--baseline", "b.json", "--error-stale-baseline")[0] == 0


@linux
def test_a_name_that_is_no_text_is_checked_and_written(tmp_path):
    os.rename("waits.py", b"\xff.py")
    Path("pyproject.toml").write_text("[project]\nname = 'p'\n")
    for name in ("full", "concise", "json", "sarif", "github", "gitlab", "junit", "rdjson"):
        done = subprocess.run(
            [sys.executable, "-m", "syncguard", "check", "-o", name, "-o", f"json:{name}.json"],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert len(json.loads(Path(f"{name}.json").read_text())["findings"]) == 1
    for args, code in ((("--update-baseline",), 0), (("--error-stale-baseline",), 0)):
        assert process("--baseline", "b.json", *args, stdout=subprocess.DEVNULL).returncode == code


# -- terminals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "LANG": ""},
    ],
)
@pytest.mark.parametrize("form", ["full", "concise", "json"])
def test_a_terminal_without_the_characters(environ, form):
    done = process("waits.py", "-o", form, environ=environ, stdout=subprocess.PIPE)
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)
    assert b"SG201" in done.stdout


def test_what_the_environment_says_of_colour():
    for environ, coloured in (
        ({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1"}, False),
    ):  # fmt: skip
        done = process("waits.py", environ=environ, stdout=subprocess.PIPE)
        assert (b"\x1b[" in done.stdout) is coloured


@pytest.mark.parametrize("columns", ["1", "40", "80", "100000", "0", "x"])
def test_the_width_of_the_terminal(ran, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    code, out, err = ran("waits.py")
    assert (code, err) == (1, "")
    width = min(max(int(columns), 48), 120) if columns.isdigit() and columns != "0" else 120
    assert max(len(line) for line in out.split("\n")[:-2]) <= width


# -- outputs ---------------------------------------------------------------------------------------------


@linux
def test_standard_output_that_is_full():
    with Path("/dev/full").open("wb") as full:
        done = process("waits.py", stdout=full)
        assert (done.returncode, done.stderr) == (
            2, b"syncguard: the output cannot be written: No space left on device\n",
        )  # fmt: skip
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-m", "syncguard", "rules"], stdout=full, stderr=full, env=environ)
        assert done.returncode == 2
        done = subprocess.run(
            [sys.executable, "-m", "syncguard", "check", "waits.py", "-o", "concise"],
            stdout=subprocess.PIPE, stderr=full, env=environ,
        )  # fmt: skip
        assert (done.returncode, done.stdout.count(b"\n")) == (1, 2)
    done = process("waits.py", "-o", "json:/dev/full", stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, b"syncguard: /dev/full: cannot be written: No space left on device\n")


def test_a_reader_that_goes_early():
    Path("many.py").write_text(
        WAITS + "".join(f"def forward{n}(x: torch.Tensor):\n    x.item()\n" for n in range(3000))
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = f"{sys.executable} -m syncguard check --no-cache --heat all many.py | head -1"
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], env=environ, capture_output=True, text=True
    )
    assert done.stdout.split("\n")[1] == "141"
    assert done.stderr == ""


def test_standard_input_that_is_closed(ran, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input, which the path - reads, is closed" in refused(ran, "-")


@pytest.mark.parametrize("name", ["waits.py", "./waits.py", "link.json"])
def test_an_output_does_not_go_over_what_is_read(ran, name):
    os.symlink("waits.py", "link.json")
    for path in ("waits.py", "."):
        assert f"{name} is among the files that are checked" in refused(ran, path, "-o", f"json:{name}")
    assert Path("waits.py").read_text("utf-8") == WAITS


@linux
@pytest.mark.parametrize("words", [["check"], ["check", "-"], ["explain", "SG101"], ["run", "prog.py"], ["clean"]])
def test_a_current_folder_that_is_gone(words):
    there = f"import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); os.execv({sys.executable!r}, "
    done = subprocess.run(
        [sys.executable, "-c", f"{there}{[sys.executable, '-P', '-m', 'syncguard', *words]!r})"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, input="", capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "syncguard: the current folder is there no more; go to another\n")


def test_a_configuration_that_leads_nowhere(ran):
    os.symlink("gone.toml", "syncguard.toml")
    assert refused(ran, "waits.py").endswith("syncguard.toml: No such file or directory")


def test_a_question_in_a_message_ends_it(ran):
    Path("waits.py").write_text("# syncguard: allow-file[itm] of old\n")
    out = ran("waits.py", "-o", "concise")[1]
    assert "did you mean `item`? Write `# syncguard:" in out


def test_standard_output_that_is_closed():
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m syncguard check --no-cache waits.py >&-"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
