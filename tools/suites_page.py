"""docs/suites.json -> what docs/suites.md says of each package: a table of its tests, those that fail simulated."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from marked import between, escaped

COLUMNS = ("passing", "simulated", "unsteady", "not reached", "failing plain", "skipped")
LONGEST = 360  # characters of a message, with its place
Row = Mapping[str, Any]


def pages(docs: Path) -> dict[Path, str]:
    """The page as it should read."""
    page, kept = docs / "suites.md", docs / "suites.json"
    found = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    told = "\n".join(line for name in sorted(found) for line in section(name, found[name]))
    told = told or "Nothing has been run yet.\n"
    return {page: between(page.read_text("utf-8"), "measured", f"\n{told}\n")}


def section(name: str, found: Row) -> Iterator[str]:
    """One package."""
    yield f"## {name} {found['version']}\n"
    yield f"{found['date']}, torch {found['torch']}, Python {found['python']}, {found['machine']}\n"
    yield f"    {found['command']}\n"
    yield from models(found["parts"]) if "tried" in found["parts"] else tests(found["parts"])
    yield ""


def tests(parts: Mapping[str, Row]) -> Iterator[str]:
    """A table of the parts of a test-suite, and what fails."""
    rows = [(f"`{name}`", cells(part)) for name, part in parts.items()]
    sums = [sum(cell[n] for _, cell in rows) for n in range(len(rows[0][1]))]
    share = 100 * sums[3] / sums[2] if sums[2] else 0.0
    failed = [row for part in parts.values() for row in part["failed"]]
    others = Counter(row.get("passes", "") for row in failed)
    rest = "".join(f"; {n:,} more {'pass' if n > 1 else 'passes'} {how}" for how, n in sorted(others.items()) if how)
    yield f"**{sums[3]:,} of {sums[2]:,} tests that pass plain pass simulated: {share:.2f} %{rest}.**\n"
    heads = "pass plain | simulated | unsteady | not reached | fail plain | skipped | on a GPU only"
    yield f"| part | `--most` | tests | {heads} |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    limits = [str(part["most"] or "") for part in parts.values()]
    for limit, (name, row) in zip([*limits, ""], [*rows, ("in all", sums)], strict=True):
        drawn, collected, *middle, fine, device = row
        shown = " | ".join(f"{number:,}" for number in middle)
        yield f"| {name} | {limit} | {drawn:,} of {collected:,} | {shown} | {fine:,} of {device:,} |"
    for how in sorted(others):
        yield f"\nWhat fails simulated{how and f', and passes {how}'}:\n"
        said: dict[str, list[str]] = {}
        for row in failed:
            if row.get("passes", "") == how:
                said.setdefault(plain(row["why"]), []).append(f"`{row['test']}`")
        yield from (f"- {why}: {', '.join(names)}" for why, names in said.items())
    unread = [name for part in parts.values() for name in part["unread"]]
    if unread:
        yield f"\nFiles that could not be imported plain: {', '.join(f'`{Path(name).name}`' for name in unread)}."


def cells(part: Row) -> list[int]:
    """The numbers of a row."""
    numbers = [len(part[key]) if isinstance(part[key], list) else part[key] for key in COLUMNS]
    return [part["drawn"], part["collected"], *numbers, *part["only simulated"]]


def models(found: Row) -> Iterator[str]:
    """What the architectures come to."""
    ran = found["equal"] + len(found["other"])
    yield (
        f"**{found['equal']} of {ran} architectures: every loss, all parameters after the steps and the generated "
        f"tokens are equal, bit by bit.** {found['generate']} of them generate, {found['experts']} are mixtures of "
        f"experts; in the steps and while generating they wait {found['waits']:,} times."
    )
    for name, why in found["other"].items():
        yield f"\n- `{name}`: {plain(why)}"
    reasons: dict[str, list[str]] = {}
    for name, why in found["not run"].items():
        reasons.setdefault(why.partition(":")[0], []).append(name)
    if reasons:
        yield f"\n{len(found['not run'])} others do not run plain with the sizes and inputs that are made for them:\n"
        yield from (f"- {why}: {', '.join(names)}" for why, names in sorted(reasons.items()))


def plain(text: str) -> str:
    """A message in one line that Markdown leaves alone."""
    line = re.sub(r"\s+", " ", re.sub(r"\x1b\[[0-9;]*m", "", text)).strip()
    line = line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
    return escaped(line)
