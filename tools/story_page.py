"""evidence/ -> what docs/story.md says was measured: tables, plots, what they come to; or that there is nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from marked import between
from plots import Panel, plot

DRY = "dry run"
TWINS = ("before", "after")
WORKS = {"step": "A training step (two convolutions, the loss, AdamW)", "loss": "The loss alone, forward and backward"}
COLUMNS = ("host_ms", "device_ms", "step_ms", "utilised", "predicted_ms")
ALIKE = 0.05  # steps that differ by less are one
BUSY = 0.9  # of the time: then the device is the limit
NOTHING = (
    "**Nothing has been measured: no GPU was at hand.** There are no tables and no plots here until\n"
    '`make device ARGS="--part story"` has written a file into [evidence/](../evidence/README.md) and `make docs` has '
    "read it.\n"
)
Row = Mapping[str, Any]
Size = tuple[int, int]


def pages(docs: Path, evidence: Path) -> dict[Path, str]:
    """The page as it should read, and its plots."""
    sections, plots = [], {}
    for path in sorted(evidence.glob("*-torch*.json"), reverse=True):
        found = json.loads(path.read_text("utf-8"))
        rows = found["parts"].get("story", {}).get("results", [])
        if rows and found["machine"]["device"] != DRY:
            pictures = {f"story-{path.stem}-{work}.svg": picture(rows, work) for work in WORKS}
            plots |= {docs / name: text for name, text in pictures.items() if text}
            told = [*section(path, found["machine"], rows, [n for n, text in pictures.items() if text])]
            told += savings(found["parts"].get("savings", {}).get("results", []))
            sections.append("\n".join(told))
    told = "\n".join(sections) if sections else NOTHING
    page = docs / "story.md"
    return {page: between(page.read_text("utf-8"), "measured", f"\n{told}\n"), **plots}


def section(path: Path, machine: Row, rows: Sequence[Row], pictures: Sequence[str]) -> Iterator[str]:
    """One device."""
    yield f"### {machine['device']}, torch {machine['torch']}, {machine['date']}\n"
    yield f"From [{path.name}](../evidence/{path.name}).\n"
    for work, title in WORKS.items():
        found = by_size(rows, work)
        if found:
            yield f"**{title}:**\n"
            yield from table(found)
            yield from (f"\n![{title}, before and after, by size]({name})" for name in pictures if f"-{work}." in name)
            yield ""
            yield from (f"* {sentence}" for sentence in verdicts(found))
            yield ""


def savings(rows: Sequence[Row]) -> Iterator[str]:
    """Steps with and without their waits, measured, and what a profile of the first says of the second."""
    if not rows:
        return
    yield "**Foreseen and measured:** training steps (six linear layers, SGD, 512 rows) that differ in nothing but"
    yield "whether the host asks the device for a number; *foreseen* is what `syncguard run` says from a profile of"
    yield "the first. It foresees the waiting alone: the call that asks takes the host some 20 us besides, which are"
    yield "saved as well where nothing takes its place."
    least = min((less(row["with_ms"], row["without_ms"]) or 0.0 for row in rows), default=0.0)
    if least < 0:
        yield f"That a step without waits took {share(-least)} longer shows how much steps differ here by chance."
    yield ""
    yield "| the host asks | width | waits | with ms | without ms | saved | foreseen |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        cells = [number(row.get(key)) for key in ("waits", "with_ms", "without_ms")]
        cells += [
            share(less(row["with_ms"], row["without_ms"])),
            share(less(row.get("window_ms"), row.get("predicted_ms"))),
        ]
        yield f"| {row['asking']} | {row['width']} | {' | '.join(cells)} |"
    yield ""


def less(whole: float | None, rest: float | None) -> float | None:
    """The share of a time that is saved."""
    return 1 - rest / whole if whole and rest is not None else None


def by_size(rows: Sequence[Row], work: str) -> dict[Size, dict[str, Row]]:
    """The two twins of each size, from the smallest on."""
    found: dict[Size, dict[str, Row]] = {}
    for row in rows:
        if row["work"] == work:
            found.setdefault((row["batch"], row["side"]), {})[row["twin"]] = row
    return dict(sorted(found.items(), key=lambda item: (item[0][0] * item[0][1] ** 2, item[0])))


def table(found: Mapping[Size, Mapping[str, Row]]) -> Iterator[str]:
    yield "| batch x side | twin | host ms | device ms | step ms | images/s | used | waits | predicted ms |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for size, twins in found.items():
        for twin in TWINS:
            row = twins.get(twin, {})
            cells = [number(row.get(key)) for key in ("host_ms", "device_ms", "step_ms")]
            cells += [number(throughput(row)), share(used(row)), number(row.get("waits"))]
            cells += [number(predicted(row)) if twin == "before" else ""]
            cells = [str(row["fault"]), *[""] * 6] if "fault" in row else cells
            yield f"| {called(size)} | {twin} | {' | '.join(cells)} |"


def verdicts(found: Mapping[Size, Mapping[str, Row]]) -> Iterator[str]:
    """What removing the waits came to, size by size, and what would have been said with the host's clock alone."""
    for size, twins in found.items():
        before, after = (twins.get(twin, {}) for twin in TWINS)
        if not before.get("step_ms") or not after.get("step_ms"):
            faults = ", ".join(f"{twin}: {twins[twin]['fault']}" for twin in TWINS if "fault" in twins.get(twin, {}))
            yield f"{called(size)}: not compared{f' ({faults})' if faults else ''}."
            continue
        steps = f"{number(before['step_ms'])} ms to {number(after['step_ms'])} ms"
        clock = f"the host's clock would have said {quotient(before['host_ms'], after['host_ms'])}"
        gained = 1 - after["step_ms"] / before["step_ms"]
        worked = used(before)
        less = lighter(before, after)
        busy = f", which had work {share(worked)} of the time before" if worked is not None else ""
        if abs(gained) <= ALIKE and (worked is None or worked >= BUSY):
            yield f"{called(size)}: **no gain, the GPU is the limit**{busy}: a step went from {steps}; {clock}."
        elif abs(gained) <= ALIKE:
            idle = f", and the GPU worked for {share(worked)} of the time before" if worked is not None else ""
            yield f"{called(size)}: no gain: a step went from {steps}{idle}, so the host is the limit; {clock}."
        elif gained < 0:
            why = "the version without waits does more work on the device"
            yield f"{called(size)}: **slower**: a step went from {steps}; {why}; {clock}."
        else:
            faster = quotient(before["step_ms"], after["step_ms"])
            yield f"{called(size)}: a step went from {steps}, {faster}{less}; {clock}."


def picture(rows: Sequence[Row], work: str) -> str:
    """Four quantities by size; empty where nothing was measured."""
    found = by_size(rows, work)
    if not any("step_ms" in row for twins in found.values() for row in twins.values()):
        return ""

    def series(value: Any) -> tuple[tuple[float | None, ...], ...]:
        return tuple(tuple(value(twins.get(twin, {})) for twins in found.values()) for twin in TWINS)

    panels = [
        Panel("host time of a step, ms", series(lambda row: row.get("host_ms"))),
        Panel("device time of a step, ms", series(lambda row: row.get("device_ms"))),
        Panel("throughput over many steps, images/s", series(throughput)),
        Panel("device in use, %", series(lambda row: percent(used(row))), log=False, top=100.0),
    ]
    return plot(f"{WORKS[work]}, before and after", [called(size) for size in found], TWINS, panels)


def throughput(row: Row) -> float | None:
    """Images a second, from the time of all steps in a row."""
    return round(row["batch"] / row["step_ms"] * 1e3, 1) if row.get("step_ms") else None


def called(size: Size) -> str:
    return f"{size[0]} x {size[1]}"


def predicted(row: Row) -> float | None:
    """What the model says of a step without waits. The window was slower, for the profiler: it is brought to scale.
    None where it says more than the window took: it took work of the step before for the window's own."""
    found, window = row.get("predicted_ms"), row.get("window_ms")
    if found is None or not window:
        return found
    return found * row["step_ms"] / window if found <= window else None


def lighter(before: Row, after: Row) -> str:
    """How much less a device that was the limit has to do in the version without waits."""
    one, other = before.get("busy_ms"), after.get("busy_ms")
    if one is None or other is None or (used(before) or 0.0) < BUSY or other > one * (1 - ALIKE):
        return ""
    return f", since the GPU, which was the limit, works {number(other)} ms instead of {number(one)} ms"


def used(row: Row) -> float | None:
    """The share of the time in which the device worked; more than all of it is none."""
    found = row.get("utilised")
    return None if found is None or found > 1 else float(found)


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def percent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 1)


def share(value: float | None) -> str:
    return "" if value is None else f"{round(100 * value)} %"


def quotient(one: float, other: float) -> str:
    return f"{number(one / other)} times as fast" if other else "any number"
