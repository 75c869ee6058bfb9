"""Findings and a record joined: verdicts, missed alarms, changes, merging, and what fails in continuous integration."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from syncguard.compare.changes import difference
from syncguard.compare.gate import reasons
from syncguard.compare.merge import merged
from syncguard.compare.missed import examples
from syncguard.compare.verdicts import joined, marked
from syncguard.record import VERSION, Machine, Place, Record, Steps, Wait
from syncguard.show.run import words
from syncguard.show.run.rows import hint
from syncguard.terms import Fact, Finding, Site

SOURCE = """\
import torch
from torch import nn


class Loss(nn.Module):
    def forward(self, x, mask):
        index = torch.nonzero(mask)
        if x.sum() > 0:
            y = x[
                mask
            ].mean()
        ready = self.training and bool(x.any())
        f = lambda t: t.item()
        return y.item(), index, ready, f
"""
LINES = tuple(SOURCE.split("\n"))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loss.py").write_text(SOURCE)


def span(text: str, line: int = 0) -> tuple[int, int, int, int]:
    """The place of a text in SOURCE."""
    start = SOURCE.index(text) if not line else SOURCE.index(text, sum(len(s) + 1 for s in LINES[: line - 1]))
    before, all_ = SOURCE[:start], SOURCE[: start + len(text)]
    column = len(before) - (before.rfind("\n") + 1) + 1
    return before.count("\n") + 1, column, all_.count("\n") + 1, len(all_) - (all_.rfind("\n") + 1) + 1


def finding(text: str, code: str, op: str = "torch.op", line: int = 0) -> Finding:
    return Finding(
        Site("loss.py", *span(text, line)), code, "name", op, "waits", "", (), (), "hot", "likely", "warning"
    )


def place(text: str, line: int = 0) -> Place:
    first, column, last, end = span(text, line)
    return Place("loss.py", first, column, last, end, "Loss.forward", LINES[first - 1])


def wait(text: str, code: str, op: str = "torch.op", line: int = 0, **fields) -> Wait:
    given = {"count": 3, "steps": ((1, 1), (2, 1), (3, 1))} | fields
    return Wait(place(text, line), op, "hazard", "simulated", code, **given)


def record(*waits: Wait, ran=((1, 14),), **fields) -> Record:
    given = {"folder": ".", "steps": Steps("optimizer", 1, 2), "executed": {"loss.py": ran}} | fields
    return Record(VERSION, "syncguard", Machine("simulate"), waits=waits, **given)


def verdict(found: Finding, seen: Record) -> str:
    return joined(seen, [found], ["loss.py"], lambda path: LINES).findings[0].verdict


def test_the_same_expression_confirms_whatever_the_rule_is_called():
    seen = record(wait("y.item()", "SG201"))
    assert verdict(finding("y.item()", "SG209"), seen) == "confirmed"
    assert verdict(finding("torch.nonzero(mask)", "SG101"), seen) == "false-alarm"


def test_a_wait_has_the_hint_of_the_finding_that_predicts_it():
    seen = record(wait("y.item()", "SG201"), wait("torch.nonzero(mask)", "SG101"))
    found = replace(finding("y.item()", "SG201"), hint="Read it a step later")
    read, other = joined(seen, [found], ["loss.py"], lambda path: LINES).waits
    assert hint(read) == "Read it a step later"
    assert hint(other).startswith("Keep the shape")  # that of the rule's page


def test_a_wait_is_of_the_rule_that_its_surroundings_make_it():
    """Whoever reads the table finds the finding by its code, and the hint of its page."""
    seen = record(wait("y.item()", "SG201"), wait("x.any()", "SG203"))
    once = joined(seen, [finding("y.item()", "SG209"), finding("x.any()", "SG204")], ["loss.py"], lambda path: LINES)
    assert [found.code for found in once.waits] == ["SG209", "SG203"]
    again = joined(once, [finding("y.item()", "SG201")], ["loss.py"], lambda path: LINES)
    assert again.findings[0].verdict == "confirmed"


def test_a_wait_around_or_inside_confirms_where_the_rule_or_operation_is_the_same():
    around = record(wait("x[\n                mask\n            ].mean()", "SG102"))
    inner = finding("x[\n                mask\n            ]", "SG102")
    assert verdict(inner, around) == "confirmed"
    assert verdict(finding("mask", "SG201", "torch.other", line=10), around) == "false-alarm"
    inside = record(wait("x.sum()", "SG204", op="torch.Tensor.__bool__"))
    assert verdict(finding("x.sum() > 0", "SG204"), inside) == "confirmed"
    assert verdict(finding("x.sum() > 0", "SG203", op="torch.Tensor.__bool__"), inside) == "confirmed"
    assert verdict(finding("x.sum() > 0", "SG203"), inside) == "false-alarm"


def test_a_wait_elsewhere_in_the_statement_is_not_charged_to_its_neighbour():
    seen = record(wait("index", "SG201", line=14))
    assert verdict(finding("y.item()", "SG201"), seen) == "confirmed"  # of one rule, on one line: taken for the same
    assert verdict(finding("y.item()", "SG202"), seen) == "false-alarm"
    assert verdict(finding("torch.nonzero(mask)", "SG201"), seen) == "false-alarm"


def test_the_best_fit_alone_is_confirmed():
    seen = record(wait("bool(x.any())", "SG203"))
    exact, near = finding("bool(x.any())", "SG203"), finding("x.any()", "SG203")
    assert [f.verdict for f in joined(seen, [near, exact], ["loss.py"], lambda _: LINES).findings][1] == "confirmed"
    assert joined(seen, [near, exact], ["loss.py"], lambda _: LINES).findings[0].verdict != "confirmed"


@pytest.mark.parametrize(
    ("text", "code", "ran", "fields"),
    [
        ("y.item()", "SG201", ((1, 12),), {}),
        ("y.item()", "SG201", ((1, 13),), {}),
        ("y.item()", "SG303", ((1, 14),), {}),
        ("bool(x.any())", "SG203", ((1, 14),), {}),
        ("t.item()", "SG201", ((1, 14),), {}),
        ("y.item()", "SG201", ((1, 14),), {"machine": Machine("simulate", used=False)}),
        ("y.item()", "SG201", ((1, 14),), {"executed": {"other.py": ((1, 14),)}}),
    ],
    ids=["not run", "stretch ends before", "no wait shows it", "right of and", "lambda", "no device", "other file"],
)  # fmt: skip
def test_what_may_not_have_run_is_untested(text, code, ran, fields):
    seen = msgspec.structs.replace(record(ran=ran), **fields)
    assert verdict(finding(text, code), seen) == "untested"


def test_what_ran_without_a_wait_is_a_false_alarm():
    assert verdict(finding("y.item()", "SG201"), record()) == "false-alarm"
    assert verdict(finding("x.sum() > 0", "SG204"), record()) == "false-alarm"


def test_a_wait_in_a_library_confirms_what_is_said_of_its_function():
    inner = Place("lib/site-packages/shown/utils.py", 9, 5, 9, 20)
    wait_of = Wait(inner, "builtins.float", "python-number", code="SG203", entrances=(place("y.item()"),), count=1)
    seen = record(wait_of)
    told = finding("y.item()", "SG202", "shown.utils.save_image")
    assert verdict(told, seen) == "confirmed"
    assert joined(seen, [told], ["loss.py"], lambda _: LINES).waits[0].static == "confirmed"
    assert verdict(finding("y.item()", "SG202", "other.save_image"), seen) == "false-alarm"
    assert verdict(finding("y.item()", "SG201", "torch.Tensor.item"), seen) == "false-alarm"
    assert verdict(finding("y.item()", "SG203", "torch.Tensor.to"), seen) == "confirmed"
    assert verdict(finding("torch.nonzero(mask)", "SG202", "shown.utils.save_image"), seen) == "false-alarm"


def test_a_wait_meets_the_finding_at_the_call_of_another_file_that_leads_to_it():
    call = replace(
        finding("torch.nonzero(mask)", "SG102", "torch.index"),
        because=(Fact("`x[m]` is what `fill` waits for", 2, "fill.py"),),
    )
    inner = Place("fill.py", 2, 5, 2, 9)
    there = Wait(inner, "torch.index", "mask-read", code="SG102", count=1)
    behind = Wait(
        Place("fill.py", 2, 5, 2, 9), "torch.index", "mask-read", code="SG102", phase="backward", forward=inner
    )
    other = Wait(inner, "torch.Tensor.item", "python-number", code="SG201", count=1, steps=((1, 1),))
    done = joined(record(there, behind, other), [call], ["loss.py", "fill.py"], lambda _: LINES)
    assert [found.static for found in done.waits] == ["confirmed", "confirmed", "missed-alarm"]
    assert done.findings[0].verdict == "confirmed"


def test_a_wait_in_backward_meets_its_forward_line():
    seen = record(
        Wait(Place("train.py", 9, 5, 9, 20), "torch.nonzero", "nonzero", phase="backward",
             forward=place("x[\n                mask\n            ]"), count=1)
    )  # fmt: skip
    found = finding("x[\n                mask\n            ]", "SG102")
    done = joined(seen, [found], ["loss.py"], lambda _: LINES)
    assert done.findings[0].verdict == "confirmed"
    assert done.waits[0].static == "confirmed"


def test_a_wait_in_the_backward_of_a_function_meets_its_own_line():
    own = wait("y.item()", "SG201", phase="backward", forward=Place("other.py", 3, 1, 3, 9))
    done = joined(record(own), [finding("y.item()", "SG201")], ["loss.py", "other.py"], lambda _: LINES)
    assert done.findings[0].verdict == "confirmed"
    assert done.waits[0].static == "confirmed"
    other = joined(record(own), [finding("y.item()", "SG204")], ["loss.py"], lambda _: LINES)
    assert other.waits[0].static == "confirmed", "one place, one wait"


METHOD = [
    "import torch",
    "class Net(torch.nn.Module):",
    "    def forward(self, x):",
    "        x.item()",
]


def test_missed_alarms_are_of_checked_files_and_of_steps():
    seen = record(
        wait("torch.nonzero(mask)", "SG101", op="torch.nonzero", call="forward(None, torch.rand([2]))"),
        wait("y.item()", "SG201", steps=()),
        wait("x.any()", "SG204", allowed="because"),
        Wait(Place("other.py", 1, 1, 1, 5), "torch.op", "hazard", count=3, steps=((2, 3),)),
    )
    done = joined(seen, [], ["loss.py"], lambda _: LINES)
    assert [w.static for w in done.waits] == ["missed-alarm", "", "", ""]
    setup = Wait(Place("loss.py", 1, 1, 1, 5), "torch.nn.Module.to", "setup", count=3, steps=((2, 3),))
    unheard = msgspec.structs.replace(setup, op="torch.new", hazard="unpredicted")
    asked = msgspec.structs.replace(setup, op="torch.cuda.synchronize", hazard="synchronize", code="SG401")
    judged = joined(record(setup, unheard, asked), [], ["loss.py"], lambda _: LINES)
    assert [w.static for w in judged.waits] == [
        "",
        "missed-alarm",
        "",
    ]  # no rule judges the first: it is silent on purpose
    (text,) = examples(done, {"loss.py": LINES})
    assert text.startswith(
        "### torch.nonzero at loss.py:7\n```python\nimport torch\nfrom torch import nn\n\n\nclass Loss("
    )
    assert "        index = torch.nonzero(mask)  # missed: SG101\n" in text
    (method,) = examples(
        joined(record(Wait(Place("m.py", 4, 9, 4, 17), "torch.Tensor.item", "item", code="SG201", steps=((2, 1),),
                           count=1)), [], ["m.py"], lambda _: METHOD),
        {"m.py": METHOD},
    )  # fmt: skip
    assert "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n" in method
    assert text.endswith("return y.item(), index, ready, f\n\n\nforward(None, torch.rand([2]))\n```\n")


def test_what_only_sizes_decide_is_no_missed_alarm():
    seen = msgspec.structs.replace(wait("torch.nonzero(mask)", "SG101", op="torch.isin"), depends="sizes")
    seen = [msgspec.structs.replace(seen, depends=on) for on in ("sizes", "layout", "")]
    done = joined(record(*seen), [], ["loss.py"], lambda _: LINES)
    assert [one.static for one in done.waits] == ["depends-on-sizes", "depends-on-layout", "missed-alarm"]
    assert not list(reasons(record(done.waits[0], done.waits[1]), None, ["missed"], None))
    assert len(list(examples(done, {"loss.py": LINES}))) == 1
    assert words.checked(done).endswith(
        "1 missed alarm. 2 waits depend on sizes or layouts, which `check` does not read."
    )


def test_a_record_made_elsewhere_is_taken_to_be_of_here():
    seen = record(wait("y.item()", "SG201"), folder="/home/ci/build")
    assert verdict(finding("y.item()", "SG201"), seen) == "confirmed"
    assert verdict(finding("x.sum() > 0", "SG204"), seen) == "false-alarm"


def test_check_gets_the_findings_with_their_verdicts():
    house = Finding(Site("loss.py", 1, 1, 1, 2), "SG003", "n", "", "m", "", (), (), "hot", "certain", "warning")
    found = [finding("y.item()", "SG201"), house, finding("torch.nonzero(mask)", "SG101")]
    done = marked(found, record(wait("y.item()", "SG201")), lambda _: LINES)
    assert [f.verdict for f in done] == ["confirmed", "", "false-alarm"]


def moved(one: Wait, by: int) -> Wait:
    at = one.place
    return msgspec.structs.replace(one, place=msgspec.structs.replace(at, line=at.line + by, end_line=at.end_line + by))


def test_moved_lines_are_the_same_and_counts_are_compared_per_step():
    before = record(wait("y.item()", "SG201"), wait("x.any()", "SG204"), wait("t.item()", "SG201"))
    after = record(
        moved(wait("y.item()", "SG201"), 40),
        wait("x.any()", "SG204", count=9, steps=((1, 3), (2, 3), (3, 3))),
        wait("torch.nonzero(mask)", "SG101"),
        wait("index", "SG999", allowed="reason", line=14),
    )
    assert [(c.word, c.was, c.now) for c in difference(before, after)] == [
        ("new", 0.0, 1.0), ("more", 1.0, 3.0), ("gone", 1.0, 0.0), ("same", 1.0, 1.0),
    ]  # fmt: skip
    assert {c.word for c in difference(after, after)} == {"same"}


def test_two_waits_of_one_line_stay_two():
    twice = record(wait("x", "SG201", line=8), wait("x", "SG201", line=9))
    assert len(difference(twice, twice)) == 2


def test_the_numbers_of_a_merged_record_are_those_of_the_rank_that_has_most():
    one = record(wait("y.item()", "SG201", count=3, wait_us=(5.0,)), ran=((1, 3),), world=2)
    two = record(
        wait("y.item()", "SG201", count=7, wait_us=(50.0,)), wait("x.any()", "SG204"), ran=((3, 5), (9, 9)),
        rank=1, world=2, ended="exit 3", complete=False, notes=("a note",),
    )  # fmt: skip
    done = merged([two, one])
    assert [(w.count, w.ranks) for w in done.waits] == [(7, (0, 1)), (3, (1,))]
    assert done.executed == {"loss.py": ((1, 5), (9, 9))}
    assert (done.rank, done.world, done.ended, done.complete, done.notes) == (0, 2, "exit 3", False, ("a note",))
    assert merged([one]) == one
    assert merged([done, one]).waits[0].ranks == (0, 1)


@pytest.mark.parametrize(
    ("ranks", "world", "gone"),
    [((0, 0), 3, "1-2"), ((0, 2), 4, "1, 3"), ((3, 3), 4, "0-2"), ((0, 1), 10**9, "2-999999999")],
)
def test_ranks_that_are_missing_are_named(ranks, world, gone):
    (note,) = merged([record(rank=rank, world=world) for rank in ranks]).notes
    assert note.startswith(f"No record of rank {gone} of {world}:")


def test_stretches_of_lines_are_joined_without_counting_them():
    tables = [((5, 9), (20, 30)), ((10, 12), (1, 2), (8, 6)), ((25, 10**9),)]
    done = merged([record(executed={"a.py": table}) for table in tables])
    assert done.executed == {"a.py": ((1, 2), (5, 12), (20, 10**9))}


def test_a_missed_alarm_whose_file_is_another_now_has_no_example():
    done = joined(record(wait("torch.nonzero(mask)", "SG101")), [], ["loss.py"], lambda _: LINES)
    assert done.waits[0].static == "missed-alarm"
    assert [*examples(done, {"loss.py": LINES[:2]}), *examples(done, {"loss.py": [""]}), *examples(done, {})] == []


def test_a_collective_names_the_rank_that_the_others_wait_for():
    def rank(number: int, waits: tuple[float, ...]) -> Record:
        one = wait("y.item()", "SG403", wait_us=waits)
        return record(msgspec.structs.replace(one, hazard="blocking-collective"), rank=number, world=2)

    (note,) = merged([rank(0, (9000.0, 8000.0)), rank(1, (100.0, 90.0))]).notes
    assert "wait for rank 1 here" in note
    assert merged([rank(0, (100.0,)), rank(1, (101.0,))]).notes == ()


def failing(seen: Record, budget=None, fail_on=(), before=None) -> list[str]:
    return [*reasons(seen, budget, fail_on, before)]


def test_budgets_and_gates():
    first = wait("x.any()", "SG204", count=5, steps=((1, 5),))
    seen = record(wait("y.item()", "SG201"), first, wait("t.item()", "SG201", allowed="reason"))
    assert failing(seen, budget=1) == []
    assert failing(seen, budget=0.5) == ["1 wait a step, and the budget is 0.5"]
    assert failing(seen, fail_on=["any"]) == ["loss.py:14: waits where none may be"]
    assert failing(record(first), 0, ["any"]) == []
    assert failing(seen, fail_on=["new"], before=record(wait("y.item()", "SG201"), first)) == []
    assert failing(seen, fail_on=["new"], before=record(first)) == ["loss.py:14: a wait that was not there before"]
    done = joined(seen, [finding("torch.nonzero(mask)", "SG101")], ["loss.py"], lambda _: LINES)
    assert failing(done, fail_on=["missed", "false-alarm"]) == [
        "loss.py:14, loss.py:12: a wait that `check` did not predict",
        "loss.py:7: ran without the wait that `check` predicted",
    ]


def test_without_steps_the_whole_run_counts():
    seen = record(wait("y.item()", "SG201", steps=()), steps=Steps())
    assert failing(seen, budget=2) == ["3 waits in all, and the budget is 2"]
