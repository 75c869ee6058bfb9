"""`syncguard explain`: a rule, an op, or what is believed of the expressions on a line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from syncguard.cli.common import colour_option, config_options, debug_option, look, refusing, write
from syncguard.config import Config
from syncguard.show.look import Look

if TYPE_CHECKING:
    from syncguard.pack import Pack

# As findings name a place: with the cell of a notebook, and with a column, which says no more than the line here.
PLACE = re.compile(r"(?P<path>.+?):(?:cell (?P<cell>\d+):)?(?P<line>\d+)(?::\d+)?")
# How people write the names of torch when they are in a hurry.
SHORT = {"F.": "torch.nn.functional.", "nn.": "torch.nn.", "Tensor.": "torch.Tensor.", "dist.": "torch.distributed."}


@click.command(name="explain", short_help="Explain a rule, an operation or a line of code.")
@click.argument("what", metavar="RULE|OPERATION|FILE:LINE")
@config_options
@click.option("--all", "whole", is_flag=True, help="Of a rule, show every example, not only the first of each kind.")
@colour_option
@debug_option
def command(what: str, config_file: str | None, isolated: bool, whole: bool, colour: str) -> None:
    """Explain a rule (SG101, nonzero), an operation (torch.nonzero: when it waits, and how we know), or a line
    (train.py:41: what is believed of every expression there, why, and what is found, reported or not).
    """
    from syncguard import config
    from syncguard.pack import load

    place = PLACE.fullmatch(what)
    with refusing():
        settings = config.load([place["path"]] if place else [], {}, config_file or "", isolated)
        pack = load(settings.pack_folders)
        if place and (os.path.exists(place["path"]) or place["path"].endswith((".py", ".ipynb"))):
            lines = _line(place["path"], int(place["cell"] or 0), int(place["line"]), settings, colour)
        else:
            lines = _word(what, pack, look(colour), whole)
    write(lines)


def _line(path: str, cell: int, line: int, config: Config, colour: str) -> Iterator[str]:
    from syncguard import house, pipeline
    from syncguard.read.cells import sound_cells
    from syncguard.read.lower import Unreadable
    from syncguard.read.notebook import cell_path, site_in
    from syncguard.read.source import lines_of, read
    from syncguard.selection import hidden
    from syncguard.show import explain
    from syncguard.show.look import plural
    from syncguard.terms import Site

    source = read(path)
    if source.note.state != "read":
        raise click.ClickException(f"{path}: {source.note.reason}")
    if source.cells:
        cells = [number for number, _ in source.cells]
        if cell not in cells:
            known = "its cells with code are " + ", ".join(map(str, cells))
            raise click.ClickException(
                f"{path}: name the cell too, as in `{cell_path(path, cells[0])}:{line}`; {known}"
            )
        path = cell_path(path, cell)
        if (wrong := sound_cells(source)[1].get(cell)) is not None:
            told = house.unreadable(path, wrong.reason).message
            raise click.ClickException(f"{path}: {told} (line {wrong.line})")
    lines = lines_of()
    last = len(lines(path)) - (lines(path)[-1:] == ("",))  # what ends the last line begins no other
    if not 0 < line <= last:
        raise click.ClickException(f"{path} has {plural(last, 'line')}, and no line {line}")
    try:
        believed = pipeline.beliefs(path, line, config)
    except Unreadable as fault:
        at = site_in(source, Site(source.path, fault.line, fault.column, fault.line, fault.column))
        raise click.ClickException(f"{at.path}: {fault.reason} (line {at.line})") from None
    found = [(finding, hidden(finding, config)) for finding in pipeline.on_line(path, line, config)]
    return explain.beliefs(path, line, believed, look(colour, lines=lines), found)


def _word(what: str, pack: Pack, style: Look, whole: bool) -> Iterator[str]:
    from syncguard.house import HOUSE
    from syncguard.show import explain

    rule = pack.rule(what) or pack.rule(what.upper()) or next((r for r in HOUSE if what in (r.code, r.name)), None)
    if rule:
        text = Path(rule.path).read_text("utf-8") if rule.path else ""
        ops = sorted(name for name, op in pack.ops.items() if rule in pack.judged(op).values())
        return explain.page(rule, text, tuple(ops), style, whole)
    for name in _spellings(what):
        if op := pack.op(name):
            return explain.op(op, pack.judged(op), style)
    from syncguard.config import like

    if os.path.isfile(what):
        raise click.ClickException(f"{what} is a file; name a line of it, as in `{what}:1`")
    group = [r.code for r in pack.rules if r.code.startswith(what.upper())]
    if what[2:].isdigit() and group:
        raise click.ClickException(f"'{what}' is the beginning of {', '.join(group)}; name one of them")
    known = [*(text for r in pack.rules for text in (r.code, r.name)), *pack.ops]
    raise click.ClickException(f"'{what}' is no rule, operation or line that we know{like(what, known)}")


def _spellings(what: str) -> Iterator[str]:
    name = what.removesuffix("()")
    yield name
    for short, whole in SHORT.items():
        if name.startswith(short):
            yield whole + name[len(short) :]
    yield f"torch.{name}"
    yield f"torch.Tensor.{name.removeprefix('.')}"
    yield f"torch.nn.functional.{name}"
