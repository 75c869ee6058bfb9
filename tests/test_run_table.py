"""The terminal table of a run: what stands in it, what it leaves out, and how it fits."""

from __future__ import annotations

import re

import msgspec
import pytest
import records

from syncguard.record import Place, Steps, Wait, per_step, when
from syncguard.show.look import Look, width_of
from syncguard.show.run import table, words
from syncguard.show.run.rows import first_choice, milliseconds, number, ranked, ranks, row, rows, short, span, step_ms

EVERY = {name: getattr(records, name) for name in ("gpu", "simulated", "empty", "ranked", "nasty")}


def shown(record, width=120, colour=False) -> list[str]:
    return list(table.render(record, Look(width=width, colour=colour)))


def line_of(text: str, lines: list[str]) -> str:
    return next(line for line in lines if text in line)


def test_the_most_expensive_first():
    lines = shown(records.gpu())
    found = (re.search(r" [um]s  +1  ((?:loss|train)\.py:\d+(?: \(backward\))?)", line) for line in lines)
    order = [match[1] for match in found if match]
    assert order[:5] == ["loss.py:6", "loss.py:7", "loss.py:10", "loss.py:8", "loss.py:8 (backward)"]


def test_a_row_says_all_that_is_known():
    cells = line_of("torch.nonzero(labels", shown(records.gpu())).split("  ")
    cells = [cell.strip() for cell in cells if cell.strip()]
    assert cells == [
        "2.89 ms",
        "4.21 ms",
        "1",
        "loss.py:6",
        "torch.nonzero(labels != 0)",
        "SG101",
        "host-bound",
        "confirmed",
    ]


@pytest.mark.parametrize(("width", "said"), [(120, "two.py:3  Loader  x.item()"), (60, "on the thread Loader")])
def test_the_same_line_in_two_threads_is_told_apart(width, said):
    wait = Wait(Place("two.py", 3, 1, 3, 9, "", "x.item()"), "x", "item")
    waits = tuple(msgspec.structs.replace(wait, thread=thread) for thread in ("main", "Loader"))
    lines = shown(msgspec.structs.replace(records.empty(), waits=waits), width)
    assert sum("two.py:3" in line for line in lines) == 2
    assert sum(said in line for line in lines) == 1


def test_columns_are_aligned():
    lines = shown(records.gpu())
    start = next(n for n, line in enumerate(lines) if "bubble" in line)
    column = lines[start].index("source")
    for line in lines[start + 1 : start + 7]:
        assert line[column - 1] == " "
        assert line[column] != " "


def test_first_steps_setup_and_allowed_are_told_apart():
    text = "\n".join(shown(records.gpu()))
    groups = dict(re.findall(r"(?ms)^(Only in the first steps|Outside the steps|Allowed):\n(.*?)\n\n", text))
    assert "train.py:10" in groups["Only in the first steps"]
    assert "train.py:5" in groups["Outside the steps"]
    assert "train.py:13" in groups["Allowed"]
    assert "a line every ten steps" in groups["Allowed"]


def test_simulated_runs_have_no_columns_of_times():
    lines = shown(records.simulated())
    head = line_of("source", lines)
    assert head.split() == ["a", "step", "line", "source", "rule"]
    assert " ms" not in "\n".join(lines)
    assert "run it there" in " ".join(lines)


def test_a_run_without_waits():
    lines = shown(records.empty())
    assert "The host never waits." in lines
    assert lines[-1].startswith("Nothing to remove here")


def test_waits_outside_the_steps_are_counted_beside_those_in_them():
    text = words.waiting(records.gpu())
    assert text.endswith(
        " Besides, it waits 2 times only in the first steps (1 line), 1 time outside the steps (1 line) and 3 times "
        "where it is allowed (1 line)."
    )
    place = Place("train.py", 3, 5, 3, 9, "f", "    x[m]")
    setup = tuple(Wait(msgspec.structs.replace(place, line=n), "op", "h", count=n) for n in (3, 4))
    record = msgspec.structs.replace(records.empty(), waits=setup)
    said = "The host waits in no step. It waits 7 times outside the steps (2 lines)."
    assert words.waiting(record) == list(table.concise(record, Look()))[-1] == said
    assert words.advice(record).startswith("Nothing to remove in the steps.")


@pytest.mark.parametrize(
    ("machine", "head", "last"),
    [
        ({"torch": "", "device": ""}, "the host alone", "Run a program that imports torch."),
        ({"used": False}, "a simulated device", "no tensor was there, so nothing could wait."),
        ({"mode": "cuda", "device": "", "used": False}, "CUDA", "no tensor was there, so nothing could wait."),
        ({"mode": "cuda", "device": "NVIDIA H200", "used": False}, "NVIDIA H200", "keeps it so in CI."),
    ],
)
def test_nothing_seen_is_not_taken_for_nothing_to_see(machine, head, last):
    empty = records.empty()
    machine = msgspec.structs.replace(empty.machine, **machine)
    lines = shown(msgspec.structs.replace(empty, machine=machine))
    assert lines[0].startswith(f"train.py on {head}")
    assert lines[-1].endswith(last)


@pytest.mark.parametrize(
    ("ended", "complete", "said"),
    [
        ("exception ModuleNotFoundError: No module named 'torch'", False, "install it in the one that has what"),
        ("exception ValueError: x", False, "Let the program run to its end"),
        ("exit 2", True, "Let the program run to its end"),
        ("exit 0", True, "Nothing to remove here"),
    ],
)
def test_a_program_that_failed_is_not_called_clean(ended, complete, said):
    assert said in words.advice(msgspec.structs.replace(records.empty(), ended=ended, complete=complete))


def test_the_concise_form_counts_and_tells_the_backward_pass():
    place = Place("train.py", 3, 5, 3, 9, "f", "    x[m]")
    waits = tuple(Wait(place, "op", "h", phase=phase, count=1) for phase in ("forward", "backward"))
    lines = list(table.concise(msgspec.structs.replace(records.empty(), waits=waits, steps=Steps()), Look()))
    assert lines == [
        "train.py:3:5 unpredicted 1 time in all: `x[m]`",
        "train.py:3:5 unpredicted 1 time in all, in backward: `x[m]`",
        "The host waits 2 times in all, at 1 line.",
    ]
    assert list(table.concise(records.empty(), Look())) == ["The host never waits."]
    ended = msgspec.structs.replace(records.empty(), complete=False, ended="exception E: x")
    assert list(table.concise(ended, Look())) == [
        "The program ended with exception E: x; what is shown is what ran until then. The host never waits."
    ]


def test_ranks():
    lines = shown(records.ranked())
    assert "4 ranks" in lines[0]
    assert line_of("loss.py:8", lines).split()[-2:] == ["0-1,", "3"]
    assert line_of("loss.py:6", lines).split()[-1] == "all"
    assert "ranks 0-1, 3" in "\n".join(table.concise(records.ranked(), Look()))
    one = next(wait for wait in records.ranked().waits if wait.ranks)
    words = [ranked(msgspec.structs.replace(one, ranks=found), 4) for found in ((2,), (0, 1, 3), (0, 1, 2, 3), ())]
    assert words == ["rank 2", "ranks 0-1, 3", "all ranks", ""]


def test_what_if_is_joint_and_never_a_sum():
    lines = shown(records.gpu())
    said = [line for line in lines if " without " in line and line.startswith("  - ")]
    assert said[0] == "  - 4.3 ms (28%) less without all 6 waits"
    assert "  - 3.6 ms (24%) less without `loss.py:6` and `loss.py:7`" in said
    assert not any("2.5 ms" in line for line in said)  # 1.8 + 0.7


def test_the_closing_sentence_names_the_smallest_set_that_saves_nearly_all():
    assert first_choice(records.gpu()).waits == (0, 1, 3)
    together, first = words.advice(records.gpu()).split(" a step. ")
    assert together == "Next: remove `loss.py:6`, `loss.py:7` and `loss.py:10` together, which saves 4.1 ms"
    assert first.startswith("`loss.py:6` first: Keep the shape")


def test_where_the_device_is_busy_all_the_same_it_says_so():
    record = records.gpu()
    nothing = tuple(msgspec.structs.replace(what, saved_ms=0.01) for what in record.what_if)
    assert "Leave them" in words.advice(msgspec.structs.replace(record, what_if=nothing))
    full, idle = (
        msgspec.structs.replace(record, what_if=nothing, steps=msgspec.structs.replace(record.steps, utilised=share))
        for share in (0.97, 0.05)
    )
    assert words.advice(full).startswith("The device is busy all the same:")
    assert "works for 97% of the time" in words.stepping(full)
    assert words.advice(idle).startswith("The device works for 5% of the time, but these waits are not why:")
    assert "Leave them" not in words.advice(idle)
    assert words.what_ifs(idle) == ("less than 1% of a step is saved without these waits",)
    assert "\nWhat if:\n  - less than 1% of a step" in "\n".join(table.render(idle, Look()))
    assert "\nWhat if, all together and not the sum of each:\n  - 4" in "\n".join(table.render(record, Look()))


def test_a_step_takes_what_it_takes_without_the_profiler():
    record, times = records.gpu(), (3.0, 2.0, 30.0, 4.0, 60.0, 2.5)
    timed = Steps("optimizer", 3, len(times), times, times, profiled=(6, 8))
    whole = msgspec.structs.replace(timed, profiled=(3, 9))
    slow, brief = (msgspec.structs.replace(record, steps=steps) for steps in (timed, whole))
    assert step_ms(slow) == 2.5
    assert words.stepping(slow) == (
        "6 steps of 2.5 ms counted after 3 for warm-up (told by optimizer steps). That is the median without steps 6 "
        "to 8, slowed by the profiler."
    )
    assert "The profiler slowed them all" in words.stepping(brief)


def test_an_early_end_is_said():
    text = " ".join(shown(records.nasty()))
    assert "ended with exception ValueError" in text
    assert "what ran until then" in text


def test_the_what_ifs_say_what_they_count():
    record = records.gpu()
    assert "Only the waiting is counted." in "\n".join(shown(record))
    calls = tuple(msgspec.structs.replace(what, calls_ms=0.03) for what in record.what_if)
    text = " ".join(" ".join(shown(msgspec.structs.replace(record, what_if=calls))).split())
    assert "of what only reads a number the rest of its call: 30 us of the host's time a step in all." in text
    assert words.counted(records.simulated()) == ""


def test_static_findings_that_are_no_waits_are_listed():
    text = "\n".join(shown(records.gpu()))
    assert "Of 6 static findings: 4 confirmed, 1 false alarm, 1 untested; besides, 1 missed alarm." in text
    assert "train.py:14 SG202" in text
    assert "loss.py:11 SG203" in text


def test_what_is_only_possible_is_counted_apart():
    record = records.gpu()
    *others, untested, false = record.findings
    doubted = (msgspec.structs.replace(one, confidence="possible") for one in (untested, false))
    doubting = msgspec.structs.replace(record, findings=(*others, *doubted))
    assert words.checked(doubting) == (
        "Of 4 static findings: 4 confirmed; besides, 1 missed alarm. Of 2 that are only possible: 0 confirmed, "
        "1 false alarm, 1 untested."
    )
    assert "train.py:14 SG202 (only possible) `state_dict` copies" in "\n".join(shown(doubting))


@pytest.mark.parametrize("width", [60, 72, 99, 100, 120])
@pytest.mark.parametrize("name", EVERY)
def test_lines_fit(name, width):
    for line in shown(EVERY[name](), width):
        assert width_of(line) <= width or "`" in line  # what stands between backticks is never cut
        assert line == line.rstrip()


@pytest.mark.parametrize("name", EVERY)
def test_colour_changes_nothing_but_colour(name):
    painted = shown(EVERY[name](), colour=True)
    assert "\x1b[" in "".join(painted)
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in painted]
    assert plain == shown(EVERY[name]())


def test_colour_does_not_depend_on_the_environment(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    painted = "".join(shown(records.gpu(), colour=True))
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "".join(shown(records.gpu(), colour=True)) == painted
    assert "\x1b[" not in "".join(shown(records.gpu()))


@pytest.mark.parametrize("render", [table.render, table.concise])
def test_nothing_that_a_terminal_would_obey(render):
    text = "\n".join(render(records.nasty(), Look()))
    assert "\x1b" not in text
    assert "\u2028" not in text


def test_thousands_of_waits_are_cut_and_said():
    lines = shown(records.large(), 100)
    assert len(lines) < 60
    assert any("4,960 lines more" in line for line in lines)
    assert len(list(table.concise(records.large(), Look()))) == 5001


def test_concise_has_a_line_for_each_wait():
    first, *rest = table.concise(records.gpu(), Look())
    assert first == (
        "loss.py:6:12 SG101 1 a step, waits 4.21 ms, 2.89 ms idle, host-bound, confirmed: `torch.nonzero(labels != 0)`"
    )
    assert len(rest) == 9
    assert rest[-1].startswith("The host waits ")
    assert any("2 times in all, first steps only" in line for line in rest)
    assert any("allowed: a line every ten steps" in line for line in rest)


def test_when_and_how_often():
    steps = Steps("optimizer", 2, 4)
    place = Place("a.py", 1)
    some = Wait(place, "x", "item", count=9, steps=((1, 3), (3, 2), (5, 4)))
    assert (when(some, steps), per_step(some, steps)) == ("step", 1.5)
    first = Wait(place, "x", "item", count=3, steps=((1, 3),))
    assert (when(first, steps), per_step(first, steps)) == ("first", 0)
    assert when(Wait(place, "x", "item", count=1), steps) == "setup"
    assert when(Wait(place, "x", "item", count=1), Steps()) == "run"


def test_times_are_of_a_step():
    record = records.gpu()
    wait = msgspec.structs.replace(record.waits[0], steps=tuple((n, 2) for n in range(1, 24)), wait_us=(100.0, 300.0))
    made = row(0, wait, record)
    assert (made.often, made.waited) == (2, 0.4)


def test_rows_keep_every_wait():
    for build in EVERY.values():
        assert sorted(made.number for made in rows(build())) == list(range(len(build().waits)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12.345, "12.3 ms"),
        (0.84, "840 us"),
        (1240.0, "1.24 s"),
        (0.0, "0"),
        (None, ""),
        (5e6, "5,000 s"),
        (0.0001, "0.1 us"),
    ],
)
def test_milliseconds(value, text):
    assert milliseconds(value) == text


def test_small_texts():
    assert [number(n) for n in (3, 0.25, 1200, 0.001)] == ["3", "0.25", "1,200", "<0.01"]
    assert short("/very/long/way/to/a/file.py:3", 16) == "…/to/a/file.py:3"
    assert short("a.py:1", 16) == "a.py:1"
    assert len(short("x" * 50, 16)) == 16
    assert ranks(Wait(Place("a.py", 1), "x", "item", ranks=(0, 1, 2, 5)), 8) == "0-2, 5"
    assert span(Place("a.py", 1, 5, 1, 13, source="y = x.item() + 1")) == "x.item()"
    assert span(Place("a.py", 1, source="  y = x.item()  ")) == "y = x.item()"


def test_who_has_no_steps_is_told_how_to_tell_them():
    record = msgspec.structs.replace(records.empty(), steps=Steps())
    assert "`syncguard.step()` tells where one ends" in words.stepping(record)
    nowhere = msgspec.structs.replace(record, machine=msgspec.structs.replace(record.machine, used=False))
    assert "syncguard.step()" not in words.stepping(nowhere)
