"""`syncguard report`: the records of runs, shown again, merged and judged."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from syncguard.cli.common import colour_option, debug_option
from syncguard.cli.outcome import JUDGED, apart, joined, load, outcome_options, predicted, tell, wanted, writable


@click.command(name="report", short_help="Show what a run observed, and merge several.")
@click.argument("records", nargs=-1, required=True, metavar="RECORD...")
@click.option("--save", type=click.Path(dir_okay=False), metavar="FILE", default="", help="Write the merged record.")
@click.option("--missed", is_flag=True, help="Print an example for the rule's page of each wait that `check` missed.")
@outcome_options
@colour_option
@debug_option
def command(records: tuple[str, ...], save: str, missed: bool, colour: str, **given: Any) -> int:
    """Show the records that `syncguard run --save` wrote; several are merged: the ranks of a run, or several runs.

    In a merged report every number is that of the rank or run that has most.
    """
    from syncguard.compare.merge import merged
    from syncguard.compare.missed import examples
    from syncguard.read.source import lines_of
    from syncguard.record import text
    from syncguard.show.look import plural

    want = wanted(given)
    writable(save)
    apart((want.html, want.trace), (*records, want.against, save))
    apart((save,), (want.against,))
    record = merged([load(path) for path in records])
    asked = ["--missed"] * missed + [f"--fail-on {word}" for word in want.fail_on if word in JUDGED]
    predicted(record, want, asked)
    record = joined(record, want)
    if save:
        Path(save).write_bytes(text(record))
    if not missed:
        return tell(record, want, colour)
    lines = lines_of()
    paths = {place.path for wait in record.waits for place in (wait.place, wait.forward) if place}
    found = [*examples(record, {path: lines(str(Path(record.folder) / path)) for path in paths})]
    without = sum(wait.static == "missed-alarm" for wait in record.waits) - len(found)
    print("\n".join(found) if found or without else "No missed alarms.", file=sys.stdout)
    if without:
        print(f"syncguard: {plural(without, 'missed alarm')} in files that are not here as they ran", file=sys.stderr)
    return tell(record, want, colour, quiet=True)
