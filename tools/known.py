"""evidence/ -> a few sentences of README: how far what SyncGuard says held on a device."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import story_page
from libraries_page import DRY, known, results
from marked import between

MORE = 1.1  # what differs by less is alike
LARGEST = (256, 256)  # batch and side of the published loss
Parts = Mapping[str, Mapping[str, Any]]


def told(text: str, evidence: Path) -> str:
    """A page with its sentences as they should read."""
    sections = []
    for path in sorted(evidence.glob("*-torch*.json"), reverse=True):
        found = json.loads(path.read_text("utf-8"))
        machine, said = found["machine"], [*sentences(found["parts"])]
        if machine["device"] != DRY and said:
            sections.append(
                f"Measured on an {machine['device']} with torch {machine['torch']} ({machine['date']}):\n\n"
            )
            sections.append("".join(f"- {sentence}\n" for sentence in said))
    return between(text, "known", "".join(sections))


def sentences(parts: Parts) -> Iterator[str]:
    """What each part came to."""
    asked = [one for one in results(parts, "doctor") if known(one.get("said"), one.get("found", {}).get("waited"))]
    if asked:
        alike = sum(one["said"] == one["found"]["waited"] for one in asked)
        first = parts["doctor"].get("before")
        before = f" ({first} before it was corrected by that)" if first else ""
        yield (
            f"of {len(asked)} calls that were made while the device had work to do, the table of operations says of\n"
            f"  {alike} what the clock found: whether the host waits{before};"
        )
    runs = [one for one in results(parts, "libraries") if "said" in one]
    if runs:
        both = sum(one["lines"] for one in runs)
        every = both + sum(len(one["only_said"]) + len(one["only_found"]) for one in runs)
        yield (
            f"of {every:,} lines at which programs over transformers, diffusers, torchmetrics, torch_geometric\n"
            f"  and others waited, simulated or on the device, {both:,} waited in both ([which](docs/simulation.md));"
        )
    packages = [one for one in results(parts, "libraries") if "package" in one and "shown" in one]
    if packages:
        waited, named, unasked = (sum(one[key] for one in packages) for key in ("waited", "named", "unasked"))
        shown, wrong = (sum(one["shown"][n] for one in packages) for n in (0, 1))
        yield (
            f"`check`, by reading alone, names {named:,} of the {waited:,} lines of these libraries that waited,\n"
            f"  {unasked:,} of them in its default report; of {shown:,} findings of that report at lines that ran,\n"
            f"  {shown - wrong:,} waited (it was mended where these runs showed it wrong:\n"
            "  [before and after](docs/simulation.md));"
        )
    pairs = [one for one in results(parts, "fixes") if one.get("after_held_ms") and one.get("before_held_ms")]
    if pairs:
        equal = sum(bool(one.get("equal")) for one in pairs)
        times = [one["before_held_ms"] / one["after_held_ms"] for one in pairs]
        shorter, longer = sum(one > MORE for one in times), sum(one < 1 / MORE for one in times)
        yield (
            f"{equal} of {len(pairs)} programs gave the same values and gradients after they were rewritten; while\n"
            f"  the device had work to do, {shorter} held the host for less time than before, by more than a\n"
            f"  tenth, {longer} for more, the others as long: in the median {statistics.median(times):.0f} times less;"
        )
    loss, step = (story_page.by_size(results(parts, "story"), work).get(LARGEST, {}) for work in ("loss", "step"))
    if all("step_ms" in twins.get(twin, {}) for twins in (loss, step) for twin in story_page.TWINS):
        before, after = loss["before"], loss["after"]
        faster, clock = before["step_ms"] / after["step_ms"], before["host_ms"] / after["host_ms"]
        whole = step["before"]["step_ms"] / step["after"]["step_ms"]
        yield (
            "the loss of the example above, of 256 images of 256 by 256, took "
            f"{before['step_ms']:.3g} ms before it was rewritten and\n"
            f"  {after['step_ms']:.3g} ms after, and is {faster:.1f} times as fast; a whole training step is\n"
            f"  {whole:.1f} times as fast, mostly because the device has less to do. A stopwatch that does not wait\n"
            f"  for the device would say {clock:.0f} times ([the story](docs/story.md))."
        )
