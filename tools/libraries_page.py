"""evidence/ -> the tables of docs/simulation.md: where the simulated device and a real one tell different lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from marked import between

DRY = "dry run"
NOTHING = "No device has been asked yet.\n"
MOST = 12  # lines that only one of the two tells, of one program
Row = Mapping[str, Any]


def pages(docs: Path, evidence: Path) -> dict[Path, str]:
    """The page as it should read."""
    sections = []
    for path in sorted(evidence.glob("*-torch*.json"), reverse=True):
        found = json.loads(path.read_text("utf-8"))
        if found["machine"]["device"] != DRY:
            sections.append("\n".join(section(path, found["machine"], found["parts"])))
    page, told = docs / "simulation.md", "\n".join(sections) or NOTHING
    return {page: between(page.read_text("utf-8"), "simulated against real", f"\n{told}\n")}


def section(path: Path, machine: Row, parts: Mapping[str, Row]) -> Iterator[str]:
    """One device."""
    yield f"## {machine['device']}, torch {machine['torch']}, {machine['date']}\n"
    yield f"From [{path.name}](../evidence/{path.name}).\n"
    programs = [row for row in parts.get("libraries", {}).get("results", []) if "said" in row]
    if programs:
        yield from table(programs)
        yield ""
        if how := parts["libraries"].get("run"):
            yield f"The programs ran {how}.\n"
    yield from (f"* {sentence}" for sentence in (*sentences(parts), *unfinished(parts)))
    yield ""
    packages = [row for row in parts.get("libraries", {}).get("results", []) if "package" in row]
    if packages:
        yield from checked(packages)
        yield ""
    for row in programs:
        yield from differences(row)


def table(programs: Sequence[Row]) -> Iterator[str]:
    yield "| program | lines that both tell | as often | only simulated | only the device |"
    yield "|---|---|---|---|---|"
    sums = [0, 0, 0, 0]
    for row in programs:
        cells = [row["lines"], row["counts"], len(row["only_said"]), len(row["only_found"])]
        sums = [one + other for one, other in zip(sums, cells)]
        name = f"[{row['program']}](../tools/device/libraries/{row['program']}.py)"
        yield f"| {name} | {' | '.join(map(str, cells))} |"
    yield f"| all | {' | '.join(map(str, sums))} |"


def checked(packages: Sequence[Row]) -> Iterator[str]:
    """What `check` says of the libraries, against what waited in them."""
    yield "What `check --heat all` says of these libraries, by reading alone: the lines that waited on the device, and"
    yield "of its findings (SG1, SG2, SG3, SG5) those at lines that ran; *shown* are those that `check` shows without"
    yield "`--heat all`. Findings that name an option under which alone they wait are not counted, nor is moving a"
    yield "module to the device, which is no hazard. Which lines ran is known of the programs simulated.\n"
    yield "| package | waited | named | named by what is shown | findings executed | waited | shown | waited |"
    yield "|---|---|---|---|---|---|---|---|"
    sums = [0, 0, 0, 0, 0, 0, 0]
    for row in packages:
        shown, wrong = row.get("shown", (0, 0))
        cells = [
            row["waited"],
            row["named"],
            row.get("unasked", 0),
            row["tried"],
            row["tried"] - len(row["silent"]),
            shown,
            shown - wrong,
        ]
        sums = [one + other for one, other in zip(sums, cells)]
        yield f"| {row['package']} {row['version']} | {' | '.join(map(str, cells))} |"
    yield f"| all | {' | '.join(map(str, sums))} |"


def sentences(parts: Mapping[str, Row]) -> Iterator[str]:
    """How many models are behind a program; what the other parts say of the same question."""
    for one in results(parts, "libraries"):
        if "ran" in one:
            ran = {*one["ran"].values()}
            alone = f"; {len(one['alone'])} ran in one of the two alone" if one["alone"] else ""
            yield f"{one['program']} trains {' or '.join(f'{n:,}' for n in sorted(ran))} models{alone}."
    for name, what in (("questions", "calls of the questions"), ("doctor", "calls of the rows")):
        asked = [one for one in results(parts, name) if known(one.get("said"), one.get("found", {}).get("waited"))]
        if asked:
            alike = sum(one["said"] == one["found"]["waited"] for one in asked)
            first = parts[name].get("before")
            before = f"; {first} did before they were corrected by it" if first else ""
            yield f"{alike} of {len(asked)} {what} do on the device what the rows say now{before}."
    samples = [
        pair for one in results(parts, "opinfo") for pair in zip(one["said"], one["found"]) if set(pair) <= {*"Wq"}
    ]
    if samples:
        yield f"{sum(a == b for a, b in samples)} of {len(samples)} of torch's own samples of its operators do so, too."
    programs = [one for one in results(parts, "pages") if "only_said" in one and "fault" not in one]
    if programs:
        alike = sum(not one["only_said"] and not one["only_found"] for one in programs)
        yield f"{alike} of {len(programs)} programs of the rule pages wait at the same lines."


def unfinished(parts: Mapping[str, Row]) -> Iterator[str]:
    """What ran out of time, or failed."""
    late = [name for name, part in parts.items() if not part.get("complete", True)]
    if late:
        yield f"These parts ran out of time, and tell of what they came to: {', '.join(late)}."
    for one in results(parts, "libraries"):
        if "fault" in one:
            what = f"Of {one['program']} not all parts were" if "said" in one else f"{one['program']} was not"
            yield f"{what} compared: {one['fault']}."


def results(parts: Mapping[str, Row], name: str) -> list[Row]:
    found: list[Row] = parts.get(name, {}).get("results", [])
    return found


def known(*answers: bool | None) -> bool:
    return None not in answers


def differences(row: Row) -> Iterator[str]:
    """The lines of a program that only one of the two tells."""
    if not row["only_said"] and not row["only_found"]:
        return
    yield f"**{row['program']}**\n"
    for key, who in (("only_said", "only simulated"), ("only_found", "only the device")):
        for path, line, op, count in row[key][:MOST]:
            yield f"* {who}: `{path}:{line}`, `{op}`, {count} times"
        if len(row[key]) > MOST:
            yield f"* {who}: {len(row[key]) - MOST} more"
    yield ""
