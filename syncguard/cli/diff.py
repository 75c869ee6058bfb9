"""`syncguard diff`: two runs side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from syncguard.cli.common import colour_option, debug_option, look, write
from syncguard.cli.outcome import load

if TYPE_CHECKING:
    from syncguard.compare.changes import Change
    from syncguard.show.look import Look

TONES = {"new": "error", "more": "error", "fewer": "hint", "gone": "hint"}


@click.command(name="diff", short_help="Compare the waits of two runs.")
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@colour_option
@debug_option
def command(before: str, after: str, colour: str) -> int:
    """Compare two records: which waits are new, which are gone, which are more or fewer a step.

    A line that only moved is the same. Exits with 1 if a wait is new or there is more of one.
    """
    from syncguard.compare.changes import difference

    changes = difference(load(before), load(after))
    write(_lines(changes, look(colour)))
    return 1 if any(change.word in ("new", "more") for change in changes) else 0


def _lines(changes: Sequence[Change], style: Look) -> Iterator[str]:
    for change in changes:
        wait = change.after or change.before
        assert wait is not None
        if change.word == "same":
            continue
        place = wait.forward or wait.place
        word = style.paint(TONES[change.word], f"{change.word:<5}")
        counts = f"{change.was:g} -> {change.now:g}"
        code = f" {wait.code}" if wait.code else ""
        yield f"{word}  {counts:>9}  {place.path}:{place.line}:{place.column}{code} {wait.op}: `{place.source.strip()}`"
    words = Counter(change.word for change in changes)
    told = ", ".join(f"{words[word]} {word}" for word in ("new", "more", "fewer", "gone", "same") if words[word])
    was, now = sum(change.was for change in changes), sum(change.now for change in changes)
    yield f"{told or 'No waits'}; waits a step: {was:g} before, {now:g} after"
