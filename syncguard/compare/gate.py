"""A record and what a continuous integration allows -> the reasons why it fails, a sentence each."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from syncguard.compare.changes import difference
from syncguard.record import Record, Wait, per_step, when

WORDS = ("any", "new", "missed", "false-alarm")
NAMED = 3


def reasons(record: Record, budget: float | None, fail_on: Collection[str], before: Record | None) -> Iterator[str]:
    """Why the record fails. Waits that are allowed, of the warm-up or of setup count for none but `new`."""
    counted = [wait for wait in record.waits if not wait.allowed and when(wait, record.steps) in ("step", "run")]
    if budget is not None:
        each = sum(per_step(wait, record.steps) for wait in counted)
        if each > budget:
            span = "a step" if record.steps.counted else "in all"
            number = f"{round(each, 2):g}"
            yield f"{number} wait{'' if number == '1' else 's'} {span}, and the budget is {budget:g}"
    if "any" in fail_on and counted:
        yield f"{_lines(counted)}: waits where none may be"
    if "missed" in fail_on and (missed := [wait for wait in record.waits if wait.static == "missed-alarm"]):
        yield f"{_lines(missed)}: a wait that `check` did not predict"
    if "false-alarm" in fail_on and (false := [f for f in record.findings if f.verdict == "false-alarm"]):
        places = [f"{f.place.path}:{f.place.line}" for f in false]
        yield f"{_named(places)}: ran without the wait that `check` predicted"
    if "new" in fail_on and before is not None:
        new = [change.after for change in difference(before, record) if change.word == "new" and change.after]
        if new:
            yield f"{_lines(new)}: a wait that was not there before"


def _lines(waits: list[Wait]) -> str:
    places = [wait.forward or wait.place for wait in waits]
    return _named([f"{place.path}:{place.line}" for place in places])


def _named(places: list[str]) -> str:
    places = list(dict.fromkeys(places))
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return f"{', '.join(places[:NAMED])}{more}"
