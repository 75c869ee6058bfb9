"""Libraries that programs use, as `check` reads them, against where they waited: per package, lines and findings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Which of them are read: what the programs import, and what that is built upon.
PACKAGES = (
    "accelerate", "botorch", "diffusers", "gpytorch", "lightning_fabric", "linear_operator", "peft",
    "pytorch_lightning", "timm", "torch_geometric", "torchmetrics", "torchvision", "transformers",
)  # fmt: skip
WAITING = ("SG1", "SG2", "SG3", "SG5")  # the rules that name a line at which the host waits
SHOWN = ("hot", "unknown")  # what `check` shows unless it is asked for more
Line = tuple[str, int]


def linked(folder: Path) -> tuple[str, ...]:
    """Put the packages that are installed into a folder, so that a run takes them for a project's: their lines are
    noted as they are executed."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name in PACKAGES:
        spec = find_spec(name)
        for home in (spec.submodule_search_locations or []) if spec is not None else []:
            if not (folder / name).exists():
                (folder / name).symlink_to(home, target_is_directory=True)
            found.append(name)
    return tuple(found)


def started(folder: Path, name: str) -> subprocess.Popen[str]:
    """`check` of a package, in every heat."""
    command = [sys.executable, "-m", "syncguard", "check", name, "--heat", "all", "--isolated", "--no-cache"]
    saved = (folder / f"{name}.json").open("w")
    command += ["--output-format", "json"]
    return subprocess.Popen(command, cwd=folder, stdout=saved, stderr=subprocess.DEVNULL, text=True)


def findings(folder: Path, name: str) -> list[dict[str, Any]]:
    path = folder / f"{name}.json"
    try:
        read: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["findings"]
    except (OSError, ValueError):
        return []
    return read


def judged(
    name: str,
    found: Iterable[Mapping[str, Any]],
    records: Iterable[Mapping[str, Any]],
    ran: Iterable[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Of the lines of a package that waited, how many `check` names, and which it does not; of the findings at lines
    that were executed (in the records `ran`, if these are others), how many waited, and which did not; and the same of
    those that `check` shows unasked. Findings that name an option, under which alone they wait, are not judged.
    """
    waited, passed, executed = heard(records, f"{name}/")
    executed = executed if ran is None else heard(ran, f"{name}/")[2]
    named, unasked = lines_of(found), lines_of(one for one in found if one["heat"] in SHOWN)
    judged = [one for one in found if one["code"].startswith(WAITING) and not one.get("options")]
    tried = [one for one in judged if _any(one, executed)]
    silent = [one for one in tried if not _any(one, passed)]
    shown, wrong = ([one for one in every if one["heat"] in SHOWN] for every in (tried, silent))
    return {
        "package": name, "version": version_of(name), "waited": len(waited), "named": len(waited.keys() & named),
        "unasked": len(waited.keys() & unasked),
        "missed": [[*key, waited[key]] for key in sorted(waited.keys() - named)],
        "tried": len(tried), "shown": [len(shown), len(wrong)],
        "silent": sorted([one["path"], one["line"], one["code"], one["heat"]] for one in silent),
    }  # fmt: skip


def lines_of(found: Iterable[Mapping[str, Any]]) -> set[Line]:
    """The lines that findings name."""
    return {(one["path"], n) for one in found for n in range(one["line"], (one.get("end_line") or one["line"]) + 1)}


def heard(records: Iterable[Mapping[str, Any]], below: str) -> tuple[dict[Line, str], set[Line], set[Line]]:
    """The lines below a folder that waited, each with its op; those that waits came through; those that ran.

    What has no rule, the move of a module to the device, is nobody's hazard, and `check` is not asked for it.
    """
    waited: dict[Line, str] = {}
    passed: set[Line] = set()
    executed: set[Line] = set()
    for record in records:
        for wait in record["waits"]:
            places = [wait.get("forward") if wait.get("phase") == "backward" else wait["place"], *wait.get("stack", ())]
            keys = [(within(place["path"], below), place["line"]) for place in places if place]
            passed |= {*keys}
            if keys and keys[0][0] and wait.get("code"):
                waited.setdefault(keys[0], wait["op"])
        for path, spans in record.get("executed", {}).items():
            short = within(path, below)
            executed |= {(short, number) for first, last in spans for number in range(first, last + 1) if short}
    return waited, passed, executed


def within(path: str, below: str) -> str:
    """The part of a path from the package on; '' where it is of another."""
    at = path.rfind(f"/{below}")
    return path[at + 1 :] if at >= 0 else ""


def _any(one: Mapping[str, Any], lines: set[Line]) -> bool:
    return any((one["path"], number) in lines for number in range(one["line"], (one.get("end_line") or 0) + 1))


@cache
def distributions() -> Mapping[str, list[str]]:
    """What each package was installed by, which takes a while to find out."""
    return packages_distributions()


def version_of(name: str) -> str:
    try:
        return version((distributions().get(name) or [name])[0])
    except PackageNotFoundError:
        return ""


def table(
    folder: Path,
    packages: Iterable[str],
    records: list[Mapping[str, Any]],
    ran: list[Mapping[str, Any]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Each package that was executed."""
    for name in packages:
        told = judged(name, findings(folder, name), records, ran)
        if told["waited"] or told["tried"]:
            yield told
