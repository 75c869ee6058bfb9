"""A pytest that keeps how each test ended, one JSON line each, as soon as it has. `suites.py` starts it.

python tools/outcomes.py SIDE FILE MOST PATIENCE [PYTEST'S OWN WORDS...]

SIDE is `plain`, `simulated`, or `default`: simulated, and what names no device is made on it. Of a test file with more
tests than MOST (0: all), MOST are drawn by a seed that its name makes. A test that takes longer than PATIENCE seconds
fails. What FILE says of has been run, and is not run again.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
STANDARD = sysconfig.get_path("stdlib")
LONGEST = 300  # characters of what a failure says
FOLDERS = re.compile(r"(?<![\w./])/(?:[\w.@+-]+/)+")  # of this machine, before the name of a file


class TooLong(Exception):
    """A test had no more time."""


class Outcomes:
    """Draws the tests, and writes how they end."""

    def __init__(self, side: str, file: Path, most: int, patience: int) -> None:
        self.side, self.file, self.most, self.patience = side, file, most, patience
        kept = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        self.known = {row["begun"] for row in kept if "begun" in row}
        self.stream = file.open("a")

    def say(self, **row: Any) -> None:
        self.stream.write(json.dumps(row) + "\n")
        self.stream.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        if self.side == "default":
            import torch

            torch.set_default_device("cuda")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        files: dict[str, list[pytest.Item]] = {}
        for item in items:
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        drawn: set[str] = set()
        for name, there in files.items():
            some = drawn_of(there, self.most, name)
            drawn.update(item.nodeid for item in some)
            self.say(file=name, collected=len(there), drawn=len(some))
        wanted = [item for item in items if item.nodeid in drawn and item.nodeid not in self.known]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(wanted)])
        items[:] = wanted

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.say(unread=report.nodeid, why=last_line(report.longrepr))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.say(begun=item.nodeid)
        self.parts: list[tuple[str, str]] = []
        begun = time.monotonic()
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(self.patience)
        try:
            return (yield)
        finally:
            signal.alarm(0)
            state, why = ended(self.parts)
            self.say(test=item.nodeid, state=state, seconds=round(time.monotonic() - begun, 3), why=why)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        state = report.outcome
        if hasattr(report, "wasxfail"):
            state = "skipped"
        self.parts.append((state, last_line(report.longrepr) if state == "failed" else ""))

    def pytest_sessionfinish(self) -> None:
        self.say(over=True)


def drawn_of(items: list[pytest.Item], most: int, seed: str) -> list[pytest.Item]:
    return items if not most or len(items) <= most else random.Random(seed).sample(items, most)


def ended(parts: list[tuple[str, str]]) -> tuple[str, str]:
    """How the set-up, the call and the tear-down of a test ended, in one word, and what the failure says."""
    for wanted in ("failed", "skipped"):
        for state, why in parts:
            if state == wanted:
                return state, why
    return ("passed", "") if parts else ("failed", "no report")


def last_line(shown: Any) -> str:
    """What a failure says, and where in the package or its tests."""
    crash = getattr(shown, "reprcrash", None)
    if crash is None:
        return str(shown).strip()[-LONGEST:]
    entries = getattr(getattr(shown, "reprtraceback", None), "reprentries", ())
    places = [place for entry in entries if (place := getattr(entry, "reprfileloc", None)) and theirs(place.path)]
    path, line = (places[-1].path, places[-1].lineno) if places else (crash.path, crash.lineno)
    return f"{FOLDERS.sub('', crash.message)[:LONGEST]} ({'/'.join(Path(path).parts[-3:])}:{line})"


def theirs(path: str) -> bool:
    """Neither a file of ours, nor of torch, nor of Python itself."""
    there = Path(path).resolve()
    if "site-packages" in there.parts:
        return "torch" not in there.parts
    return not any(map(there.is_relative_to, (ROOT / "syncguard", STANDARD)))


def too_long(*_: object) -> None:
    raise TooLong("no more time")


def main() -> int:
    side, file, most, patience, *words = sys.argv[1:]
    # As `python -m pytest` has it; a module of a suite may have the name of one beside this file.
    sys.path[0] = os.getcwd()
    if side != "plain":
        sys.path.insert(1, str(ROOT))
        # Where SyncGuard is installed, that one stays out.
        words = ["-p", "no:syncguard", "-p", "syncguard.observe.plugin", "--syncguard=simulate", *words]
    words = [
        "-q",
        "--rootdir=.",
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-W",
        "ignore",
        "--tb=short",
        *words,
    ]
    return int(pytest.main(words, plugins=[Outcomes(side, Path(file), int(most), int(patience))]))


if __name__ == "__main__":
    sys.exit(main())
