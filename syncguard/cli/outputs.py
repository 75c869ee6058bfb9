"""The formats and files that `check` writes its report in: what `-o FORMAT:FILE` asks for, and the writing of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from syncguard.cli.common import write
from syncguard.show import counts
from syncguard.show.formats import FORMATS, PEOPLE, Output, UnknownFormat, output, renderer
from syncguard.show.look import Look, printable

if TYPE_CHECKING:
    from syncguard.pipeline import Report


def outputs_of(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[Output, ...]:
    """What `-o` asks for, given once or several times: at most one goes to standard output, and no two to one file."""
    try:
        found = tuple(output(text) for text in value) or (Output("full"),)
    except UnknownFormat as fault:
        raise click.BadParameter(f"there is no format '{fault}'; choose from {', '.join(FORMATS)}.") from None
    files = [os.path.realpath(item.file) for item in found if item.file]
    if len({*files}) < len(files):
        raise click.BadParameter("two formats cannot go to one file.")
    if sum(not item.file for item in found) > 1:
        raise click.BadParameter("only one format can go to standard output; write the others as FORMAT:FILE.")
    return found


def not_over(report: Report, outputs: tuple[Output, ...]) -> None:
    """Refuse to write over what was read."""
    read = {os.path.realpath(note.path) for note in report.files}
    for item in outputs:
        if item.file and os.path.realpath(item.file) in read:
            raise click.UsageError(f"{printable(item.file)} is among the files that are checked; write to another.")


def tell(report: Report, form: str, style: Look, statistics: bool, stream: TextIO) -> None:
    """Write a report in one format; for people also what is allowed or known, where that is asked for."""
    people = form in PEOPLE
    write((counts.statistics if statistics and people else renderer(form))(report, style), stream)
    if style.allowed and people:
        write(counts.allowed(report, style), stream)
    if style.baselined and people:
        write(counts.baselined(report, style), stream)


@contextmanager
def opened(item: Output) -> Iterator[TextIO]:
    """The file of an output, or standard output."""
    if not item.file:
        yield sys.stdout
        return
    try:
        with open(item.file, "w", encoding="utf-8", errors="backslashreplace") as stream:  # noqa: PTH123
            yield stream
    except OSError as fault:
        raise click.ClickException(f"{item.file}: cannot be written: {fault.strerror or fault}") from None
