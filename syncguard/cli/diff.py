"""`syncguard diff`: two runs side by side."""

from __future__ import annotations

import click

from syncguard.cli.common import colour_option, debug_option, look, write
from syncguard.cli.outcome import load


@click.command(name="diff", short_help="Compare the waits of two runs.")
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@colour_option
@debug_option
def command(before: str, after: str, colour: str) -> int:
    """Compare two records: which waits are new, which are gone, which are more or fewer a step.

    A line that only moved is the same.

    Exits with 1 if a wait is new or there are more of it.
    """
    from syncguard.compare.changes import difference
    from syncguard.show.run import changes

    old, new = load(before), load(after)
    found = difference(old, new)
    write(changes.render(old, new, found, look(colour)))
    return 1 if any(change.word in ("new", "more") for change in found) else 0
