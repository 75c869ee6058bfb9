"""A notebook that cannot be parsed in, the same without the cells at fault out, and what is wrong with these."""

from __future__ import annotations

from msgspec.structs import replace

from syncguard.read.lower import Unreadable, lower
from syncguard.read.source import Source, cell_lines


def sound_cells(source: Source) -> tuple[Source, dict[int, Unreadable]]:
    """The notebook with nothing in these cells, line for line, and by their numbers why they cannot be parsed; any
    other file as it is."""
    faults: dict[int, Unreadable] = {}
    lines: list[str] = []
    for number, _ in source.cells:
        own = cell_lines(source, number)
        try:
            lower("\n".join(own))
        except Unreadable as fault:
            faults[number] = fault
            own = ("",) * len(own)
        lines += own
    return (replace(source, text="\n".join(lines)) if faults else source), faults
