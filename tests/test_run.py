"""`syncguard run` runs a program as `python` does. These programs import no torch, so that they take a moment each."""

from __future__ import annotations

import json
import os
import py_compile
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import click
import pytest
from records import empty
from running import ENVIRONMENT, ran, started

from syncguard.cli.outcome import writable
from syncguard.observe.ranks import write
from syncguard.record import load, text

STATE = """\
import json, os, pickle, sys
class Thing: pass
main = sys.modules["__main__"]
print(json.dumps({
    "name": __name__, "file": __file__, "argv": sys.argv, "path": sys.path[0], "package": __package__,
    "spec": getattr(__spec__, "name", None), "loader": type(__loader__).__name__, "main": main.__dict__ is globals(),
    "pickled": type(pickle.loads(pickle.dumps(Thing()))) is Thing, "doc": __doc__, "cwd": os.getcwd(),
}))
"""


def both(*words: str, given: str = "", flags: tuple[str, ...] = (), **options):
    """What Python does with a program, and what we do."""
    plain = ran(*flags, *words, given=given, **options)
    ours = ran(*flags, "-m", "syncguard", "run", "-q", *words, given=given, **options)
    return plain, ours


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def layout(kind: str) -> tuple[str, ...]:
    """A program in one of the forms that Python runs."""
    Path("prog.py").write_text(STATE)
    match kind:
        case "script":
            return ("prog.py",)
        case "script in a folder":
            Path("inner").mkdir()
            Path("inner/prog.py").write_text(f'"""Words."""\n{STATE}')
            return ("inner/prog.py", "--flag", "-m", "x")
        case "link":
            Path("real").mkdir()
            Path("real/prog.py").write_text(STATE)
            Path("link.py").symlink_to("real/prog.py")
            return ("link.py",)
        case "module":
            return ("-m", "prog", "--save", "other")
        case "module in one word":
            return ("-mprog", "-q")
        case "package":
            Path("pack").mkdir()
            Path("pack/__init__.py").write_text("")
            Path("pack/__main__.py").write_text(STATE)
            return ("-m", "pack", "a b")
        case "submodule":
            Path("pack").mkdir()
            Path("pack/__init__.py").write_text("")
            Path("pack/prog.py").write_text(STATE)
            return ("-m", "pack.prog")
        case "folder":
            Path("folder").mkdir()
            Path("folder/__main__.py").write_text(STATE)
            return ("folder", "-q")
        case "archive":
            with zipfile.ZipFile("app.pyz", "w") as archive:
                archive.writestr("__main__.py", STATE)
            return ("app.pyz", "x")
        case "compiled":
            py_compile.compile("prog.py", cfile="prog.pyc")
            return ("prog.pyc",)
        case "text":
            return ("-c", STATE.replace("__file__", "'none'"), "-q", "x")
        case "text in one word":
            return ("-c" + STATE.replace("__file__", "globals().get('__file__')"),)
    raise AssertionError(kind)


KINDS = (
    "script", "script in a folder", "link", "module", "module in one word", "package", "submodule", "folder", "archive",
    "compiled", "text", "text in one word",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_sees_what_python_shows_it(kind):
    plain, ours = both(*layout(kind))
    assert plain[0] == 0, plain
    assert ours[0] == 0, ours
    assert json.loads(ours[1]) == json.loads(plain[1])


def test_safe_path_is_left_alone():
    plain, ours = both(*layout("script"), flags=("-P",))
    assert json.loads(ours[1])["path"] == json.loads(plain[1])["path"]


ENDS = {
    "end": "pass",
    "exit": "import sys; sys.exit(7)",
    "exit without a number": "import sys; sys.exit()",
    "exit with text": "import sys; sys.exit('no data')",
    "exit beyond a byte": "import sys; sys.exit(259)",
    "exception": "def f(): raise ValueError('bad\\nworse')\ndef g(): f()\ng()",
    "chained": "try: 1/0\nexcept ZeroDivisionError as e: raise KeyError('x') from e",
    "group": "raise ExceptionGroup('many', [ValueError(1), OSError(2)])",
    "syntax": "x = = 1",
    "missing import": "import nothing_of_this_name",
    "own hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\nraise OSError",
    "interrupt": "raise KeyboardInterrupt",
    "at exit": "import atexit; atexit.register(print, 'bye'); raise SystemExit(4)",
    "thread": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()\nprint('main')",
    "thread that waits for the main one": "import threading as t\n"
    "def late(): t.main_thread().join(); print('late', t.main_thread().is_alive())\n"
    "t.Thread(target=late).start()\nprint('main')",
    "threads that start threads": "import atexit, threading\n"
    "def tick(n): print(n); n and threading.Timer(0.05, tick, (n - 1,)).start()\n"
    "atexit.register(print, 'bye'); tick(3)",
    "thread that is started at the exit": "import atexit, threading, time\n"
    "late = threading.Thread(target=lambda: (time.sleep(5), print('late')))\natexit.register(late.start)",
    "handler that calls the one before": "import os, signal\n"
    "def handler(number, frame): print(before, callable(before))\n"
    "before = signal.signal(signal.SIGTERM, handler)\nos.kill(os.getpid(), 15)\n"
    "print(signal.signal(15, before) is handler)",
    "handler that ends as nobody does": "import os, signal\n"
    "def handler(number, frame): signal.signal(number, signal.SIG_DFL); os.kill(os.getpid(), number)\n"
    "signal.signal(signal.SIGTERM, handler)\nos.kill(os.getpid(), 15)",
    "deep": "def deep(n): return n and deep(n - 1)\nprint(deep(985))",
    "children that are killed at once": "import os\n"
    "for _ in range(20):\n"
    "    if (pid := os.fork()) == 0: import time; time.sleep(60)\n"
    "    os.kill(pid, 15); os.waitpid(pid, 0)\n"
    "print('end')",
    "child that is interrupted": "import os, signal\n"
    "if (pid := os.fork()) == 0: signal.raise_signal(signal.SIGINT)\n"
    "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
    "pickled by name": "import os, pickle, signal\n"
    "for f in (os._exit, signal.signal, signal.getsignal): assert pickle.loads(pickle.dumps(f)) is f\n"
    "print(signal.signal(signalnum=15, handler=signal.SIG_IGN), signal.getsignal(signalnum=15))",
    "depth of its own": "import sys\nsys.setrecursionlimit(60)\ndef deep(n): return n and deep(n - 1)\n"
    "print(deep(50), sys.getrecursionlimit())\n"
    "try: deep(200)\nexcept RecursionError: print('too deep')",
    "nobody looks on": "import sys; print(sys.gettrace(), sys.getprofile())",
    "all is closed": "import os; os.closerange(3, 5000); print('on')",
    "left at once": "import os; os._exit(9)",
    "fork": "import os, sys\nif os.fork() == 0: sys.exit(3)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
    "fork that leaves": "import os\nif os.fork() == 0: os._exit(5)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
    "spawn": "import multiprocessing as mp\n"
    "def work(q): q.put(__name__)\n"
    "if __name__ == '__main__':\n"
    "    c = mp.get_context('spawn'); q = c.Queue(); p = c.Process(target=work, args=(q,)); p.start()\n"
    "    print(q.get(), p.join(), p.exitcode)",
    "pool": "from concurrent.futures import ProcessPoolExecutor as P\n"
    "def work(x): return x * x\n"
    "if __name__ == '__main__':\n"
    "    with P(2) as pool: print([*pool.map(work, range(4))])",
    "input": "print(input() + input())",
    "arguments": "import argparse; p = argparse.ArgumentParser(); p.add_argument('--n', type=int, required=True)\n"
    "p.parse_args()",
}


@pytest.mark.parametrize("end", ["end", "exit", "exception", "syntax", "fork", "arguments"])
def test_a_text_ends_as_it_does_under_python(end):
    plain, ours = both("-c", ENDS[end])
    assert ours == plain


def test_a_text_without_words_is_refused():
    code, _, err = ran("-m", "syncguard", "run", "-c")
    assert code == 2
    assert "which program?" in err


@pytest.mark.parametrize("end", ENDS)
def test_a_program_ends_as_it_does_under_python(end):
    Path("prog.py").write_text(ENDS[end])
    plain, ours = both("prog.py", given="a\nb\n")
    assert ours == plain


def test_what_cannot_be_encoded_is_an_error_as_under_python():
    Path("prog.py").write_text("print('\\xe9')")
    plain, ours = both("prog.py", env={"PYTHONIOENCODING": "ascii"})
    assert ours == plain
    assert plain[0] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_an_output_that_cannot_be_written_in_the_end_is_told_as_python_tells_it():
    Path("prog.py").write_text("print('x')")
    plain, ours = (
        subprocess.run(["sh", "-c", f'"{sys.executable}" {words} prog.py > /dev/full'], env=env, capture_output=True)
        for env in [{**os.environ, **ENVIRONMENT, "PYTHONUNBUFFERED": ""}]
        for words in ("", "-m syncguard run -q")
    )
    assert (ours.returncode, ours.stderr) == (plain.returncode, plain.stderr)
    assert plain.returncode == 120


def test_the_report_comes_where_a_program_has_closed_all_that_was_open():
    Path("prog.py").write_text(ENDS["all is closed"])
    code, out, err = ran("-m", "syncguard", "run", "prog.py")
    assert (code, out) == (0, "on\n")
    assert err.startswith("prog.py on the host alone")


@pytest.mark.parametrize("limit", [128, 4096])
def test_the_report_never_goes_into_a_file_of_the_program(limit):
    Path("prog.py").write_text(
        f"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, resource.getrlimit(7)[1]))\n"
        "import runpy\nrunpy._run_module_as_main('syncguard')\n"
    )
    Path("closes.py").write_text("import os\nos.closerange(3, 5000)\nf = [open(f'{n}.txt', 'w') for n in range(120)]\n")
    _, _, err = ran("prog.py", "run", "closes.py")
    assert err.startswith("closes.py on the host alone")
    assert not [path for path in Path().glob("*.txt") if path.read_text()]


def test_a_daemon_does_not_hold_the_output_of_the_run():
    Path("prog.py").write_text(
        "import os, time\nif os.fork() == 0:\n    nothing = os.open(os.devnull, os.O_RDWR)\n"
        "    [os.dup2(nothing, n) for n in range(3)]\n    time.sleep(20)\n    os._exit(0)\n"
    )
    assert ran("-m", "syncguard", "run", "-q", "prog.py", patience=15)[0] == 0


def test_a_signal_that_comes_while_it_is_reported_is_none_of_the_programs():
    Path("prog.py").write_text(
        "import os, signal, sys, time\nimport syncguard.cli.run as ours\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
        "ours._outcome = lambda *_: (os.kill(os.getpid(), signal.SIGTERM), time.sleep(20))\nsys.exit(3)\n"
    )
    assert ran("-m", "syncguard", "run", "-q", "prog.py")[0] == -signal.SIGTERM


def test_tests_that_take_warnings_for_errors_pass():
    Path("test_ok.py").write_text("def test_ok(): pass\n")
    code, out, _ = ran("-m", "syncguard", "run", "-q", "-m", "pytest", "-q", "-W", "error", "test_ok.py")
    assert code == 0, out


def test_a_signal_that_a_program_handles_no_more_leaves_a_record():
    Path("prog.py").write_text(ENDS["handler that ends as nobody does"])
    assert ran("-m", "syncguard", "run", "-q", "--save", "run.json", "prog.py")[0] == -signal.SIGTERM
    assert json.loads(Path("run.json").read_text())["ended"] == "signal SIGTERM"


def test_a_killed_program_leaves_a_record():
    Path("prog.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    for number, said in ((signal.SIGTERM, "signal SIGTERM"), (signal.SIGINT, "signal SIGINT")):
        with started("-m", "syncguard", "run", "-q", "--save", "run.json", "prog.py") as process:
            assert process.stdout.readline() == "up\n"
            process.send_signal(number)
            process.communicate(timeout=30)
        assert process.returncode == -number
        record = json.loads(Path("run.json").read_text())
        assert record["ended"] == said
        assert record["complete"] is False
        Path("run.json").unlink()


@pytest.mark.parametrize("ends", ["os._exit(4)", "os.kill(os.getpid(), signal.SIGTERM)", "os._exit(0)"])
def test_a_program_that_ends_at_once_is_reported_all_the_same(ends):
    Path("prog.py").write_text(f"import os, signal\n{ends}\n")
    with_one, without = (
        ran("-m", "syncguard", "run", *quiet, "--html", "run.html", "prog.py") for quiet in ((), ("-q",))
    )
    assert with_one[0] == without[0] == {"4": 4, "M": -signal.SIGTERM, "0": 0}[ends[-2]]
    assert "Nothing was on the device, so nothing waited for it." in with_one[2]
    assert without[2] == ""
    assert Path("run.html").is_file()


def test_what_fails_fails_a_program_that_ends_at_once_and_well():
    Path("prog.py").write_text("import os, sys\nos._exit(int(sys.argv[1]))\n")
    Path("gate.py").write_text(
        "from syncguard.compare import gate\ngate.reasons = lambda *_: iter(['too much'])\n"
        "import sys; from syncguard.cli.main import main\nmain()\n"
    )
    for said, code in (("0", 1), ("3", 3)):
        found = ran("gate.py", "run", "-q", "--budget", "0", "prog.py", said)
        assert (found[0], found[2]) == (code, "syncguard: too much\n")


def test_a_folder_that_is_gone_in_the_end_is_no_fault():
    Path("prog.py").write_text("import os, tempfile\nfolder = tempfile.mkdtemp()\nos.chdir(folder)\nos.rmdir(folder)\n")
    code, _, err = ran("-m", "syncguard", "run", "--save", "run.json", "prog.py")
    assert code == 0
    assert "internal error" not in err
    assert Path("run.json").is_file()


@pytest.mark.parametrize(("ends", "code"), [("", 2), ("sys.exit(4)", 4)])
def test_a_record_that_cannot_be_written_in_the_end_loses_no_report(ends: str, code: int):
    Path("prog.py").write_text(f"import shutil, sys\nshutil.rmtree('out')\n{ends}\n")
    Path("out").mkdir()
    found, _, err = ran("-m", "syncguard", "run", "--save", "out/run.json", "prog.py")
    assert found == code
    assert "did not import torch" in err
    assert err.endswith("out/run.json: cannot be written: No such file or directory\n")


@pytest.mark.parametrize(("seconds", "told"), [(1.2, True), (0, False)])
def test_what_a_program_starts_by_a_command_is_said_not_to_be_watched(seconds: float, told: bool):
    busy = f"import time\nwhile time.process_time() < {seconds}: pass"
    Path("prog.py").write_text(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])\n")
    code, _, err = ran("-m", "syncguard", "run", "prog.py")
    assert code == 0
    assert ("by a command is not watched" in err) is ("as in `torchrun -m syncguard run" in err) is told


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("", ("--check",), "`--check`"),
        ("", ("--html=a.html",), "`--html`"),
        ("", ("--save", "a.json"), ""),  # which may well be an option of the program
        ("import sys\nsys.exit(3)", ("--lr", "1", "--step-over", "kernels"), "`--step-over`"),
    ],
)
def test_an_option_of_ours_behind_the_program_is_told(text: str, words: tuple[str, ...], said: str):
    Path("prog.py").write_text(text)
    _, _, err = ran("-m", "syncguard", "run", "-q", "prog.py", *words)
    told = f"syncguard: {said} was given to prog.py; options of `syncguard run` stand before the program\n"
    assert err.endswith(told) if said else "syncguard:" not in err


def test_a_folder_that_may_not_be_written_is_refused_before_anything_runs(monkeypatch):
    monkeypatch.setattr("os.access", lambda file, mode: False)
    with pytest.raises(click.ClickException, match=r"run\.json: cannot be written: permission denied"):
        writable("run.json")


def test_a_pipe_is_written_into_and_a_link_is_followed(tmp_path):
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    Path("kept.json").touch()
    Path("link.json").symlink_to("kept.json")
    for name in ("pipe", "link.json"):
        write(Path(name), empty())
    assert load("link.json") == load("kept.json") == empty()
    assert os.read(reader, 10**5) == text(empty())
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    os.close(reader)


def test_a_program_may_handle_signals_itself():
    Path("prog.py").write_text(
        "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(6))\n"
        "print('up', flush=True)\ntime.sleep(60)\n"
    )
    with started("-m", "syncguard", "run", "-q", "--save", "run.json", "prog.py") as process:
        process.stdout.readline()
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 6
    assert json.loads(Path("run.json").read_text())["ended"] == "exit 6"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "which program?"),
        (("-m",), "which program?"),
        (("-",), "cannot be read from standard input"),
        (("gone.py",), "gone.py: there is no such file"),
        (("book.ipynb",), "book.ipynb is a notebook; run what `jupyter nbconvert --to script` makes of it"),
        (("--device", "tpu", "prog.py"), "'tpu' is not one of"),
        (("--save", "no/such/run.json", "prog.py"), "there is no such folder"),
        (("--html", "no/such/run.html", "prog.py"), "there is no such folder"),
        (("--fail-on", "new", "prog.py"), "needs --against"),
        (("--fail-on", "missed", "prog.py"), "--fail-on missed needs --check or --static"),
        (
            ("--fail-on", "any", "--fail-on", "false-alarm", "prog.py"),
            "--fail-on false-alarm needs --check or --static",
        ),
        (("--budget", "-1", "prog.py"), "is not in the range"),
        (("--save", "prog.py", "prog.py"), "prog.py would be written over prog.py; name a file of its own"),
        (("--html", "./prog.py", "prog.py"), "./prog.py would be written over prog.py"),
        (("--save", "a.json", "--trace", "a.json", "prog.py"), "a.json would be written over a.json"),
        (("--html", "prog.py", "-m", "this"), "prog.py is source code; write to another file"),
        (("--wat", "prog.py"), "No such option"),
        (("--against", "gone.json", "prog.py"), "gone.json: cannot be read"),
        (("--static", "gone/", "prog.py"), "gone/: there is no such file or folder"),
    ],
)
def test_wrong_usage_is_one_line_and_runs_nothing(words, said):
    Path("prog.py").write_text("print('ran')")
    Path("book.ipynb").write_text("{}")
    code, out, err = ran("-m", "syncguard", "run", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().split("\n")) == 1


def test_what_is_not_installed_here_is_not_imported():
    Path("prog.py").write_text(
        "import sys\nprint([m for m in sys.modules if m.split('.')[0] in ('torch', 'libcst', 'numpy', 'rich')\n"
        "       or m.startswith(('syncguard.infer', 'syncguard.judge', 'syncguard.pipeline', 'syncguard.read'))])"
    )
    assert ran("-m", "syncguard", "run", "-q", "prog.py") == (0, "[]\n", "")


def test_the_report_says_that_there_was_nothing_to_see():
    Path("prog.py").write_text("print('out')")
    code, out, err = ran("-m", "syncguard", "run", "--save", "run.json", "prog.py")
    assert (code, out) == (0, "out\n")
    assert "did not import torch" in err
    record = json.loads(Path("run.json").read_text())
    assert record["executed"] == {"prog.py": [[1, 1]]}
    assert record["command"] == ["prog.py"]


@pytest.mark.parametrize(
    ("takes", "ends"),
    [
        ("sys.settrace(lambda *_: None)", "sys.settrace(None)"),
        ("had = sys.gettrace(); sys.settrace(None)", "sys.settrace(had)"),
        ("_untraced(None)", "pass"),
    ],
    ids=["a debugger", "given back", "C"],
)
def test_lines_that_another_trace_hid_are_said_to_be_unknown(takes: str, ends: str):
    taken = "import ctypes; _untraced = lambda _: ctypes.pythonapi.PyEval_SetTrace(None, None)\n"
    Path("prog.py").write_text(f"import sys\n{taken}def main():\n    {takes}\n    x = 1\n    {ends}\n\n\nmain()\n")
    assert ran("-m", "syncguard", "run", "-q", "--save", "run.json", "prog.py") == (0, "", "")
    record = json.loads(Path("run.json").read_text())
    if sys.version_info >= (3, 12):
        assert record["executed"] == {"prog.py": [[1, 6], [9, 9]]}
        return
    assert any("set a trace of its own" in note for note in record["notes"])


def test_a_trace_that_a_deep_recursion_took_away_is_not_said_to_be_the_programs():
    deep = "def deep():\n    deep()\n\n\ntry:\n    deep()\nexcept RecursionError:\n    print('deep')\n"
    Path("prog.py").write_text(deep)
    assert ran("-m", "syncguard", "run", "-q", "--save", "run.json", "prog.py") == (0, "deep\n", "")
    notes = json.loads(Path("run.json").read_text())["notes"]
    assert all("a recursion too deep" in note for note in notes if "trace of its own" in note)


def test_a_program_that_traces_nothing_is_not_said_to():
    Path("prog.py").write_text("import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n")
    assert ran("-m", "syncguard", "run", "-q", "--save", "run.json", "prog.py") == (0, "\n", "")
    record = json.loads(Path("run.json").read_text())
    assert record["executed"] == {"prog.py": [[1, 4]]}
    assert not any("trace" in note for note in record["notes"])


def test_a_file_that_reads_as_one_of_a_library_is_looked_at_alone():
    Path("site-packages").mkdir()
    text = "def sign(x):\n    if x < 0:\n        return -1\n    return 1\n"
    for copy in ("ours.py", "copied.py", "site-packages/theirs.py"):
        Path(copy).write_text(text)
    Path("prog.py").write_text(
        "import sys\nsys.path.append('site-packages')\nimport ours, copied, theirs\n"
        "print(ours.sign(1), copied.sign(-1), theirs.sign(-1))\n"
    )
    assert ran("-m", "syncguard", "run", "-q", "--save", "run.json", "prog.py") == (0, "1 -1 -1\n", "")
    executed = json.loads(Path("run.json").read_text())["executed"]
    assert executed == {"copied.py": [[1, 3]], "ours.py": [[1, 2], [4, 4]], "prog.py": [[1, 4]]}


def test_the_exit_code_of_the_program_comes_first():
    Path("prog.py").write_text("import os; os.mkdir('out.html'); raise SystemExit(5)")
    code, _, err = ran("-m", "syncguard", "run", "-q", "--html", "out.html", "prog.py")
    assert code == 5
    assert "out.html" in err


def test_looking_at_lines_costs_little_once_each_was_seen():
    Path("prog.py").write_text(
        "import time\ndef f(n):\n    return n + 1\nx = 0\nbegun = time.process_time()\n"
        "for _ in range(300_000):\n    x = f(x)\nprint(time.process_time() - begun)\n"
    )
    plain, ours = both("prog.py")
    # Python 3.11 has no monitoring: a function is traced as long as one of its lines was not seen.
    most = 3 if sys.version_info >= (3, 12) else 60
    assert float(ours[1]) < most * float(plain[1]) + 0.1
