"""What `make device` is made of: processes beside each other, programs on both devices, clocks, pages."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "device")]

import clocks  # noqa: E402
import device  # noqa: E402
import libraries_page  # noqa: E402
import parts  # noqa: E402
import programs  # noqa: E402
import real  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.observe import doctor  # noqa: E402
from syncguard.observe.apart import Died  # noqa: E402
from syncguard.observe.cost import Trace, Work, extent, idle_time  # noqa: E402
from syncguard.observe.measure import Answer  # noqa: E402
from syncguard.observe.simulate import Simulation  # noqa: E402

RULES = pack.load()


# -- by the clock, apart ------------------------------------------------------------------------------


def test_a_call_that_ends_the_process_is_told_beside_the_others(monkeypatch):
    said = [doctor.Checked("r", text, Answer(True)) for text in ("a", "b", "c")]
    told = [("r", "a", Answer(True)), Died(("r", "b"), "ended the process (SIGSEGV)"), ("r", "d", "NameError: e")]
    monkeypatch.setattr(doctor, "apart", lambda make, *args: iter(told))
    faults: dict[str, str] = {}
    found = {one.text: one.found for one in doctor.clocked(said, {}, True, faults)}
    assert found["a"] == Answer(True)
    assert found["b"] == Answer(None, fault="ended the process (SIGSEGV)")
    assert found["c"] is None
    assert faults == {"b": "ended the process (SIGSEGV)", "d": "NameError: e"}


def test_what_was_not_reached_in_time_is_there_all_the_same(monkeypatch):
    said = [doctor.Checked("r", text, Answer(True)) for text in ("a", "b")]
    monkeypatch.setattr(doctor, "apart", lambda make, *args: iter([("r", "a", Answer(True)), ("r", "b", Answer(True))]))
    assert [one.found is None for one in doctor.clocked(said, {}, True, {}, lambda: True)] == [False, True]


def test_a_process_that_cannot_begin_is_a_fault_of_the_part(monkeypatch):
    monkeypatch.setattr(parts, "apart", lambda make, *args: iter([Died(None, "ended the process (exit code 1)")]))
    with pytest.raises(RuntimeError, match="exit code 1"):
        [*parts.Desk(dry=False, rules=RULES).asked(parts.opinfo_asked)]


def test_a_question_that_ends_the_process_is_told(monkeypatch):
    monkeypatch.setattr(parts, "apart", lambda make, *args: iter([Died(("copies", 16), "ended the process (SIGSEGV)")]))
    desk = parts.Desk(dry=False, rules=RULES)
    monkeypatch.setattr(desk, "half", lambda make: {})
    (result,) = parts.questions(desk)
    assert (result["question"], result["n"]) == ("copies", 16)
    assert result["found"] == {"waited": None, "fault": "ended the process (SIGSEGV)"}


# -- several parts ------------------------------------------------------------------------------------


def test_a_half_is_kept_for_the_process_that_asks(tmp_path, monkeypatch):
    monkeypatch.setitem(parts.PARTS, "questions", parts.Part(parts.questions, 0.1, half=parts.questions_said))
    monkeypatch.setattr(parts, "sizes", lambda dry: [])
    assert device.main(["--part", "questions", "--half", "--halves", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["questions_said.pickle"]
    desk = parts.Desk(dry=False, rules=RULES, halves=tmp_path)
    assert desk.half(parts.questions_said) == {}
    assert desk.half(len_of) == "found now"


def len_of(desk):
    return "found now"


@pytest.mark.slow
def test_parts_run_together_and_end_in_one_file(tmp_path, capfd):
    chosen = ["--part", "libraries", "--part", "story", "--part", "profiles"]
    assert device.main(["--dry-run", *chosen, "--minutes", "2", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    found = json.loads(path.read_text())["parts"]
    assert list(found) == ["libraries", "story", "profiles"]
    assert all(part["complete"] for part in found.values())
    assert found["libraries"]["results"] == [{"program": "plain", "lines": 3}]


def test_what_needs_no_clock_is_known():
    assert {name for name, part in parts.PARTS.items() if part.beside} == {"pages", "libraries"}
    assert {name for name, part in parts.PARTS.items() if part.half} == {"questions", "doctor", "opinfo"}


def test_failures_keep_their_last_words():
    text = (
        "F.\n===== FAILURES =====\n______ test_one[a] ______\ntests/test_a.py:3: in test_one\n    assert f() == 2\n"
        "E   assert 1 == 2\n______ test_two ______\nE   ValueError: no\n===== short test summary info =====\n"
        "FAILED tests/test_a.py::test_one[a]\n"
    )
    one, two = parts.failures(text)
    assert one.startswith("test_one[a]\n")
    assert one.endswith("E   assert 1 == 2")
    assert two == "test_two\nE   ValueError: no"
    assert parts.failures("3 passed in 1 s") == []


# -- programs of pages --------------------------------------------------------------------------------


def test_a_program_finds_torch_as_new():
    validate = torch.distributions.Distribution._validate_args
    with programs.as_new():
        torch.distributions.Distribution.set_default_validate_args(False)
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        logging.root.setLevel(logging.CRITICAL)
    assert torch.distributions.Distribution._validate_args == validate
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled()
    assert logging.root.level != logging.CRITICAL


def test_what_is_logged_is_formatted():
    seen = []
    with programs.as_new(), Simulation(RULES, seen.append):
        logging.warning("loss %s", torch.ones((), device="cuda"))
    assert seen


def test_a_known_gap_may_wait_and_a_loader_does_not():
    text = "a  # sync: SG101\nb  # sync: SG303\nc  # missed: SG102\nd  # sync: SG303, SG201\n"
    assert programs.marks(pack.Example("caught", "", text, 1)) == ({1, 4}, {1, 2, 3, 4})


# -- libraries ----------------------------------------------------------------------------------------


def wait(path, line, op, count=1, **more):
    return {"place": {"path": path, "line": line}, "op": op, "count": count, **more}


def test_lines_are_compared_below_the_library():
    simulated = {"waits": [wait("/a/site-packages/l/m.py", 3, "item", 2), wait("p.py", 9, "to")]}
    found = {
        "waits": [wait("/usr/lib/python3/dist-packages/l/m.py", 3, "item"), wait("/b/site-packages/l/m.py", 7, "any")]
    }
    told = real.told(simulated, found)
    assert told == {"lines": 1, "only_said": [["p.py", 9, "to", 1]], "only_found": [["l/m.py", 7, "any", 1]],
                    "counts": 0, "said": 2, "found": 2}  # fmt: skip


def test_a_wait_in_backward_counts_for_its_forward():
    forward = {"path": "/x/site-packages/l/m.py", "line": 5}
    simulated = {"waits": [wait("train.py", 3, "getitem", phase="backward", forward=forward)]}
    found = {"waits": [wait("torch/_utils.py", 1, "Index", phase="backward", forward=forward),
                       wait("torch/_utils.py", 1, "Index", phase="backward")]}  # fmt: skip
    told = real.told(simulated, found)
    assert (told["lines"], told["only_said"], told["only_found"]) == (1, [], [])


def test_a_run_that_failed_leaves_nothing_to_compare():
    assert real.told(None, {"waits": []}) == {"lines": 0}


def test_programs_without_their_libraries_are_left_out(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text('"""A."""\nimport torch\n')
    (tmp_path / "b.py").write_text('"""B."""\nimport no_such_library\nfrom os import path\n')
    monkeypatch.setattr(real, "HERE", tmp_path)
    assert list(real.programs()) == ["a"]
    assert real.lacking(tmp_path / "b.py") == ["no_such_library"]


def test_what_a_program_makes_room_for_is_no_import_before_all_else(tmp_path):
    (tmp_path / "c.py").write_text('"""A program."""\nimport sys\nsys.path.append("..")\nimport beside_it\n')
    assert real.lacking(tmp_path / "c.py") == []


def test_the_parts_of_a_program_are_one(tmp_path):
    for part, line in ((1, 3), (2, 7)):
        record = {"waits": [wait("p.py", line, "item")], "executed": {"p.py": [[line, line]]}}
        real.saved(tmp_path, ("many", part, "cuda")).write_text(json.dumps(record))
    runs = [("many", part, "cuda") for part in (1, 2)]
    whole = real.gathered(tmp_path, runs)
    assert [one["place"]["line"] for one in whole["waits"]] == [3, 7]
    assert whole["executed"] == {"p.py": [[3, 3], [7, 7]]}
    assert real.gathered(tmp_path, []) is None


def test_models_that_ran_in_one_mode_alone_are_named(tmp_path):
    logs = {"simulate": "ran A\nwarning\nran B\nfailed C ValueError: no\n", "cuda": "ran A\nfailed B RuntimeError: x\n"}
    runs = [("many", 1, mode) for mode in logs]
    for run in runs:
        real.saved(tmp_path, run).with_suffix(".log").write_text(logs[run[2]])
    told = real.counted(tmp_path, runs)
    assert told == {"ran": {"simulate": 2, "cuda": 1}, "alone": {"B": ["ran", "failed RuntimeError: x"]}}
    for run in runs:
        real.saved(tmp_path, run).with_suffix(".log").write_text("a program that says nothing of models\n")
    assert real.counted(tmp_path, runs) == {}


def test_a_program_of_several_parts_is_run_in_several():
    every = [*real.every(["plain", "every_architecture"], ["cuda"])]
    assert every[0] == ("plain", 1, "cuda")
    assert [run[1] for run in every[1:]] == [*range(1, real.PARTS["every_architecture"] + 1)]


def test_so_many_run_at_a_time_and_what_has_no_time_left_is_told():
    def start(seconds, code=0):
        program = f"import sys, time; time.sleep({seconds}); sys.exit({code})"
        return lambda: subprocess.Popen([sys.executable, "-c", program], text=True)

    until = time.monotonic() + 4
    told = real.ended({"a": start(0), "b": start(0, 3), "c": start(60), "d": start(60), "e": start(0)}, until, 2)
    assert told == {"a": "", "b": "exit 3", "c": "ended, it took too long", "d": "ended, it took too long",
                    "e": "no time was left"}  # fmt: skip


def test_the_page_says_what_only_one_tells(tmp_path):
    (tmp_path / "simulation.md").write_text((ROOT / "docs" / "simulation.md").read_text())
    alone = {"only_said": [["p.py", 9, "to", 1]], "only_found": []}
    many = {"ran": {"simulate": 42, "cuda": 41}, "alone": {"A": ["ran", ""]}, "fault": "cuda, part 2: exit 1"}
    rows = [{"program": "plain", "lines": 3, "counts": 2, "said": 4, "found": 3, **alone, **many},
            {"program": "graphs", "lines": 0, "fault": "cuda, part 1: ended, it took too long"}]  # fmt: skip
    machine = {"device": "A Made-up GPU", "torch": "2.13.0", "date": "2026-11-21"}
    pages = [{"only_said": [], "only_found": []}, {"only_said": [3], "only_found": []}]
    evidence = {"machine": machine, "parts": {"libraries": {"results": rows}, "pages": {"results": pages},
                "opinfo": {"results": [{"said": "Wq?", "found": "WWW"}]}}}  # fmt: skip
    (tmp_path / "a-torch2.13.0.json").write_text(json.dumps(evidence))
    (text,) = libraries_page.pages(tmp_path, tmp_path).values()
    assert "| [plain](../tools/device/libraries/plain.py) | 3 | 2 | 1 | 0 |" in text
    assert "* only simulated: `p.py:9`, `to`, 1 times" in text
    assert "Of plain not all parts were compared: cuda, part 2: exit 1." in text
    assert "plain trains 41 or 42 models; 1 ran in one of the two alone." in text
    assert "graphs was not compared: cuda, part 1: ended, it took too long." in text
    assert "1 of 2 of torch's own samples" in text
    assert "1 of 2 programs of the rule pages" in text


# -- clocks -------------------------------------------------------------------------------------------


def test_calls_are_timed_by_turns():
    order = []
    with Simulation(RULES, lambda seen: None):
        found = clocks.taken({"before": lambda: order.append(1), "after": lambda: order.append(2)}, dry=True)
    assert set(found) == {f"{name}_{clock}_ms" for name in ("before", "after") for clock in ("host", "held")}
    assert order == [1, 1, 2, 2] * 3


@pytest.mark.parametrize(
    ("spans", "busy", "span"),
    [
        ([], 0.0, 0.0),
        ([(0, 2), (4, 5)], 3.0, 5.0),
        ([(0, 4), (1, 2), (3, 6)], 6.0, 6.0),  # two streams at once
        ([(10, 20), (0, 5)], 15.0, 20.0),
    ],
)
def test_the_device_works_at_most_all_of_the_time(spans, busy, span):
    trace = Trace(tuple(Work(f"{n}", start, end, 0.0) for n, (start, end) in enumerate(spans)))
    assert (extent(trace) - idle_time(trace), extent(trace)) == (busy, span)


# -- the simulated build ------------------------------------------------------------------------------


@pytest.mark.parametrize(("built", "told"), [("13.0", "13.0"), (None, "12.8")])
def test_a_build_keeps_its_version_of_cuda(monkeypatch, built, told):
    """Other packages compare theirs with it when they are imported."""
    monkeypatch.setattr(torch.version, "cuda", built)
    with Simulation(RULES, lambda seen: None):
        assert torch.version.cuda == told
    assert torch.version.cuda == built
