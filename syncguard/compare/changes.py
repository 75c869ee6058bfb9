"""Two records -> what changed between them, wait by wait."""

from __future__ import annotations

from typing import NamedTuple

from syncguard.record import Record, Wait, per_step
from syncguard.terms import SETUP


class Change(NamedTuple):
    """A wait before and after; None where it is not there."""

    before: Wait | None
    after: Wait | None
    was: float  # per step
    now: float

    @property
    def word(self) -> str:
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        return "same" if abs(self.was - self.now) < 1e-9 else "more" if self.now > self.was else "fewer"


def difference(before: Record, after: Record) -> tuple[Change, ...]:
    """The waits of two runs, matched by what they are and not by the number of their line: new ones first."""
    old, new = identified(before), identified(after)
    found = [
        Change(
            old.get(key), new.get(key),
            per_step(old[key], before.steps) if key in old else 0.0,
            per_step(new[key], after.steps) if key in new else 0.0,
        )
        for key in dict.fromkeys((*new, *old))
    ]  # fmt: skip
    order = ("new", "more", "fewer", "gone", "same")
    return tuple(sorted(found, key=lambda change: order.index(change.word)))


def identified(record: Record) -> dict[tuple[str, ...], Wait]:
    """The waits that are neither allowed nor of setup, by path, function, source, op, phase and occurrence.

    That a line moved does not matter.
    """
    found: dict[tuple[str, ...], Wait] = {}
    for wait in sorted(record.waits, key=lambda wait: (wait.place.path, wait.place.line, wait.place.column)):
        if wait.allowed or wait.hazard == SETUP:
            continue
        place = wait.place
        key: tuple[str, ...] = (
            place.path,
            place.function,
            "".join(place.source.split()),
            wait.op,
            wait.hazard,
            wait.phase,
        )
        if wait.forward:
            key = (*key, wait.forward.path, "".join(wait.forward.source.split()))
        occurrence = 0
        while (*key, str(occurrence)) in found:
            occurrence += 1
        found[*key, str(occurrence)] = wait
    return found
