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

    A line that only moved is the same. Exits with 1 if a wait is new or there is more of one.
    """
    from syncguard.compare.changes import difference
    from syncguard.show.run import diff

    old, new = load(before), load(after)
    changes = difference(old, new)
    write(diff.render(old, new, changes, look(colour)))
    return 1 if any(change.word in ("new", "more") for change in changes) else 0
