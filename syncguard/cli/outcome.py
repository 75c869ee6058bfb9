"""What `run`, `report` and `diff` share: a record in, its report, files and exit code out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

import click

from syncguard.cli.common import look, refusing, write

if TYPE_CHECKING:
    from syncguard.record import Record

Command = TypeVar("Command", bound=Callable[..., Any])
FAIL_ON = ("any", "new", "missed", "false-alarm")


class Wanted(NamedTuple):
    """What to make of a record."""

    form: str = "full"
    html: str = ""
    trace: str = ""
    static: tuple[str, ...] = ()
    check: bool = False
    budget: float | None = None
    fail_on: tuple[str, ...] = ()
    against: str = ""
    config_file: str = ""
    isolated: bool = False


def outcome_options(command: Command) -> Command:
    """The options that say what to make of a record."""
    output = click.Path(dir_okay=False, writable=True)
    options = [
        click.option("-o", "--output-format", "form", type=click.Choice(["full", "concise", "json"]), default="full",
                     show_default=True, help="How to print the report."),
        click.option("--html", type=output, metavar="FILE", default="", help="Write the report as one HTML page."),
        click.option("--trace", type=output, metavar="FILE", default="",
                     help="Write a trace for Perfetto, chrome://tracing or TensorBoard."),
        click.option("--static", multiple=True, metavar="PATH",
                     help="Check this file or folder, and join what is found. May be repeated."),
        click.option("--check", is_flag=True, help="Check the project's files that the program executed, and join it."),
        click.option("--budget", type=click.FloatRange(0), metavar="N",
                     help="Waits that a step may have; with more, exit with 1."),
        click.option("--fail-on", multiple=True, type=click.Choice(FAIL_ON),
                     help="Exit with 1 if a step waits, if a wait is new (see --against), if `check` missed one, "
                     "or if it raised a false alarm. May be repeated."),
        click.option("--against", metavar="RECORD",
                     help="The record of an earlier run, to tell what is new."),
        click.option("--config", "config_file", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
                     help="Read this configuration file, and look for no other."),
        click.option("--isolated", is_flag=True, help="Read no configuration file."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def wanted(given: dict[str, Any]) -> Wanted:
    """The options as one value; refuses what cannot be."""
    found = Wanted(**{name: given[name] or default for name, default in Wanted()._asdict().items() if name != "budget"})
    if "new" in found.fail_on and not found.against:
        raise click.UsageError("--fail-on new needs --against, the record of an earlier run.")
    for path in found.static:
        if not Path(path).exists():
            raise click.ClickException(f"{path}: there is no such file or folder")
    if found.against:
        load(found.against)
    for file in (found.html, found.trace):
        writable(file)
    return found._replace(budget=given["budget"])


JUDGED = ("missed", "false-alarm")


def predicted(record: Record, want: Wanted, words: Sequence[str]) -> None:
    """Refuse to say what `check` missed where it was not asked: neither now nor when the record was written."""
    from syncguard.compare.verdicts import missed

    if want.static or want.check or record.findings or any(wait.static for wait in record.waits):
        return
    if words and any(missed(wait, record) for wait in record.waits):
        raise click.UsageError(f"{words[0]} needs --check or --static: the record holds nothing that `check` said.")


def apart(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    """Refuse to write over what is read or run, over source code, and twice into one file."""
    read = {os.path.realpath(file): file for file in inputs if file}
    for file in filter(None, outputs):
        place = os.path.realpath(file)
        if place in read:
            raise click.UsageError(f"{file} would be written over {read[place]}; name a file of its own.")
        if place.endswith((".py", ".ipynb")) and os.path.exists(place):
            raise click.UsageError(f"{file} is source code; write to another file.")
        read[place] = file


def writable(file: str) -> None:
    """Refuse a file that cannot be written, before a program is run for hours."""
    if not file:
        return
    folder = Path(file).absolute().parent
    if not folder.is_dir():
        raise click.ClickException(f"{file}: cannot be written: there is no such folder")
    if Path(file).is_dir():
        raise click.ClickException(f"{file}: cannot be written: it is a folder")
    if not os.access(file if os.path.exists(file) else folder, os.W_OK):
        raise click.ClickException(f"{file}: cannot be written: permission denied")


def load(path: str) -> Record:
    """A record from a file, or a fault of one line."""
    from syncguard import record

    try:
        return record.load(path)
    except record.RecordError as fault:
        raise click.ClickException(str(fault)) from None


def joined(record: Record, want: Wanted) -> Record:
    """The record with the findings of the files that are wanted; as it is where none are."""
    if not (want.static or want.check):
        return record
    from syncguard import config, pipeline
    from syncguard.compare import verdicts
    from syncguard.read.source import lines_of

    paths = want.static or ran(record)
    if not paths:
        return record
    with refusing():
        # Whatever may wait counts here, in setup and where it is only possible.
        settings = config.load(paths, {"heat": "all", "confidence": "possible"}, want.config_file, want.isolated)
        report = pipeline.check(paths, settings)
    read = {note.path for note in report.files if note.state == "read"}
    return verdicts.joined(record, report.findings, read, lines_of())


def ran(record: Record) -> tuple[str, ...]:
    """The project's files that were executed and are still there."""
    folder = Path(record.folder)
    return tuple(str(folder / name) for name in record.executed if (folder / name).is_file())


def tell(record: Record, want: Wanted, colour: str, stream: TextIO | None = None, quiet: bool = False) -> int:
    """Print a record, write the files, and say with 1 that it waits more than it may."""
    from syncguard.compare.gate import reasons

    stream, errors = stream or sys.stdout, stream or sys.stderr
    if not quiet:
        render(record, want.form, colour, stream)
    if want.html:
        from syncguard.show.run import page

        try:
            _write(want.html, page.render(record, at_home(record)))
        except page.Incomplete as fault:
            raise click.ClickException(str(fault)) from None
    if want.trace:
        from syncguard.show.run import trace

        _write(want.trace, trace.render(record))
    before = load(want.against) if want.against else None
    failed = tuple(reasons(record, want.budget, want.fail_on, before))
    for reason in failed:
        print(f"syncguard: {reason}", file=errors)
    return 1 if failed else 0


def render(record: Record, form: str, colour: str, stream: TextIO) -> None:
    """Print a record."""
    if form == "json":
        from syncguard.record import text

        stream.write(text(record).decode())
        return
    from syncguard.show.run import table

    style = look(colour, stream, lines=at_home(record))
    write((table.render if form == "full" else table.concise)(record, style), stream)


def _write(file: str, text: str | bytes) -> None:
    try:
        Path(file).write_bytes(text if isinstance(text, bytes) else text.encode())
    except OSError as fault:
        raise click.ClickException(f"{file}: cannot be written: {fault.strerror or fault}") from None


def at_home(record: Record) -> Callable[[str], tuple[str, ...]]:
    """The lines of a file by the path that the record has, which is relative to the folder of the run."""
    from syncguard.read.source import lines_of

    lines = lines_of()
    return lambda path: lines(str(Path(record.folder) / path))


def folders(paths: Sequence[str], file: str) -> tuple[Path, ...]:
    """The packs that the configuration of these paths names."""
    from syncguard import config

    with refusing():
        return config.load(paths, {}, file).pack_folders
