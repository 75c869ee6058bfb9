"""Names, series and numbers -> a plot in SVG for light and dark paper, with the numbers in words for screen readers."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WIDE, HIGH = 360, 210  # of one panel
LEFT, RIGHT, TOP, BOTTOM = 54, 12, 34, 40  # what its axes leave free
COLUMNS = 2
STYLE = """
text { font: 11px system-ui, sans-serif; fill: #333; } .title { font-size: 13px; font-weight: 600; }
.place { font-size: 9.5px; }
.grid { stroke: #ddd; } .s0 { stroke: #b3541e; fill: #b3541e; } .s1 { stroke: #1b6ca8; fill: #1b6ca8; }
.line { fill: none; stroke-width: 2; } text.s0, text.s1 { stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #ccc; } .grid { stroke: #444; }
  .s0 { stroke: #f0955a; fill: #f0955a; } .s1 { stroke: #6cb6ee; fill: #6cb6ee; }
  .line { fill: none; } text.s0 { fill: #f0955a; } text.s1 { fill: #6cb6ee; }
}
"""


@dataclass(frozen=True)
class Panel:
    """A quantity: its title, and for each series a number for each place on the x axis, None where there is none."""

    title: str
    series: tuple[tuple[float | None, ...], ...]
    log: bool = True
    top: float | None = None  # of the axis, where it is known


def plot(title: str, places: Sequence[str], names: Sequence[str], panels: Sequence[Panel]) -> str:
    """All panels in one picture. `names`: of the series."""
    rows = math.ceil(len(panels) / COLUMNS)
    wide, high = WIDE * COLUMNS, HIGH * rows + 24
    said = "; ".join(told(panel, places, names) for panel in panels)
    size = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="t d">'
    words = f'<title id="t">{html.escape(title)}</title><desc id="d">{html.escape(said)}</desc>'
    parts = [head, words, f"<style>{STYLE}</style>"]
    for n, name in enumerate(names):
        x = 16 + 120 * n
        parts.append(
            f'<circle class="s{n}" cx="{x}" cy="14" r="4"/><text class="s{n}" x="{x + 9}" y="18">{name}</text>'
        )
    for n, panel in enumerate(panels):
        parts.append(f'<g transform="translate({WIDE * (n % COLUMNS)},{24 + HIGH * (n // COLUMNS)})">')
        parts += [*drawn(panel, places)]
        parts.append("</g>")
    return "\n".join((*parts, "</svg>")) + "\n"


def told(panel: Panel, places: Sequence[str], names: Sequence[str]) -> str:
    """The numbers of a panel as a sentence."""
    found = []
    for name, values in zip(names, panel.series):
        numbers = ", ".join(f"{place} {value:g}" for place, value in zip(places, values) if value is not None)
        found.append(f"{name}: {numbers or 'none'}")
    return f"{panel.title}: {'; '.join(found)}"


def drawn(panel: Panel, places: Sequence[str]) -> Iterator[str]:
    """The axes of a panel, and a line for each series, broken where a number is missing."""
    values = [value for series in panel.series for value in series if value is not None]
    ticks = scale(values, panel)
    low, high = ticks[0], ticks[-1]

    def down(value: float) -> float:
        share = math.log(value / low) / math.log(high / low) if panel.log else (value - low) / (high - low)
        return TOP + (HIGH - TOP - BOTTOM) * (1 - share)

    def across(n: int) -> float:
        return LEFT + (WIDE - LEFT - RIGHT) * (n + 0.5) / len(places)

    yield f'<text class="title" x="{LEFT}" y="{TOP - 14}">{html.escape(panel.title)}</text>'
    for tick in ticks:
        y = down(tick)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
    for n, place in enumerate(places):
        short = html.escape(place.replace(" x ", "\N{MULTIPLICATION SIGN}"))  # six of them stand side by side
        at = f'x="{across(n):.1f}" y="{HIGH - BOTTOM + 18}"'
        yield f'<text class="place" {at} text-anchor="middle">{short}</text>'
    for n, series in enumerate(panel.series):
        at = [(across(k), down(value)) if value is not None else None for k, value in enumerate(series)]
        for one, other in itertools.pairwise(at):
            if one and other:
                yield f'<path class="line s{n}" d="M{one[0]:.1f} {one[1]:.1f}L{other[0]:.1f} {other[1]:.1f}"/>'
        yield from (f'<circle class="s{n}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in filter(None, at))


def scale(values: Sequence[float], panel: Panel) -> list[float]:
    """The numbers on the axis: powers of ten, or quarters of the largest."""
    if panel.log:
        positive = [value for value in values if value > 0] or [1.0]
        first, last = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
        return [10.0**n for n in range(first, max(last, first + 1) + 1)]
    top = panel.top or max([*values, 0.0]) or 1.0
    return [top * n / 4 for n in range(5)]
