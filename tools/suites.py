"""Runs a package's own tests on the plain CPU and on the simulated device, and tells what passes on both.

    python tools/suites.py NAME FOLDER PART... --work WORK [--python PYTHON] [--most 200] [--write] [-- WORDS]

FOLDER is where the package's developers start pytest, PARTs are folders or files in it. Each part is run in a process
of its own, plain and then simulated; what kills a process costs that test, and the others run on in a new one. A test
that passes plain and fails simulated is run again on both sides; where it fails plain then, it is unsteady and counts
for nothing; with `--default-device` it is run once more without. What is done is kept in WORK/NAME and not run again.
`--write` puts the sums into docs/suites.json, from which `make docs` makes docs/suites.md. PYTHON is one that has
torch, pytest, the package, and what SyncGuard needs to run; WORDS are pytest's. Many tests put nothing on the device by
themselves: `--default-device` makes there, on the simulated side, what names no device, and `--simulated WORDS` gives
that side words of its own (`--device=cuda`).
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from kept import keep

RUNNER = Path(__file__).with_name("outcomes.py")
SIDES = ("plain", "simulated")
UNMOVED = "simulated.unmoved.jsonl"  # what failed with the default device, run without
ABOUT = """
import json, os, platform, sys, torch
from importlib.metadata import PackageNotFoundError, version
try:
    found = version(sys.argv[1])
except PackageNotFoundError:
    found = ""
print(json.dumps({"version": found, "torch": torch.__version__, "python": platform.python_version()}))
"""
Row = dict[str, Any]


def main() -> int:
    options = arguments()
    folder, work = options.folder.resolve(), options.work.resolve() / options.name
    work.mkdir(parents=True, exist_ok=True)
    python = options.python or sys.executable
    for part in options.part:
        for side in SIDES:
            ran(side, [part], work / f"{side}.jsonl", folder, python, options)
        known = {side: outcomes(work / f"{side}.jsonl") for side in SIDES}
        other = [test for test in differing(known) if within(test, part)]
        again = {side: [known[side][test]["test"] for test in other] for side in SIDES}
        for side in SIDES if other else ():
            ran(side, again[side], work / f"{side}.again.jsonl", folder, python, options)
        if other and options.default_device:
            ran("simulated", again["simulated"], work / UNMOVED, folder, python, options, default=False)
        print(f"{part}: {told(tally(work, part))}", flush=True)
    sums = {part: tally(work, part) for part in options.part}
    if options.write:
        keep(options.name, about(python, options.name), command(options), sums)
    failed = [row for found in sums.values() for row in found["failed"]]
    for row in failed:
        print("\n    ".join(filter(None, (row["test"], row["why"], row["passes"] and f"{row['passes']} it passes"))))
    return int(bool(failed))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the package, as pip knows it")
    parser.add_argument("folder", type=Path, help="where its tests are started")
    parser.add_argument("part", nargs="+", help="a folder or a file of tests, from there")
    parser.add_argument("--work", type=Path, required=True, help="a folder for what is done")
    parser.add_argument("--python", help="a Python with the package; by default this one")
    parser.add_argument("--most", type=int, default=0, help="tests that are drawn of a file that has more; 0 for all")
    parser.add_argument("--patience", type=int, default=60, help="seconds for a test")
    parser.add_argument("--limit", type=int, default=900, help="seconds for a part, on each side")
    parser.add_argument("--write", action="store_true", help="put the sums into docs/suites.json")
    parser.add_argument("--default-device", action="store_true", help="simulated, make tensors on the device")
    parser.add_argument("--simulated", type=shlex.split, default=[], metavar="WORDS", help="pytest's, for that side")
    own, words = (sys.argv[1:], []) if "--" not in sys.argv else split(sys.argv[1:])
    options = parser.parse_args(own)
    options.words = words
    return options


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """Our words, and pytest's behind the dashes."""
    at = words.index("--")
    return words[:at], words[at + 1 :]


# -- running --------------------------------------------------------------------------------------


def ran(
    side: str, tests: list[str], file: Path, folder: Path, python: str, options: argparse.Namespace,
    default: bool = True,
) -> None:  # fmt: skip
    """Run these tests on one side until each has an outcome, or time is up."""
    done = file.with_suffix(".done")
    over = json.loads(done.read_text()) if done.exists() else []
    left = [test for test in tests if test not in over]
    if not left:
        return
    deadline = time.monotonic() + options.limit
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}
    words = [str(options.most), str(options.patience), *options.words]
    words += options.simulated if side == "simulated" else []
    how = "default" if side == "simulated" and options.default_device and default else side
    while left and time.monotonic() < deadline:
        with file.with_suffix(".log").open("ab") as log:
            process = subprocess.Popen(
                [python, str(RUNNER), how, str(file), *words, *left],
                cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
            watched(process, file, deadline, options.patience)
        rows = list(lines(file))
        if time.monotonic() > deadline and rows and "begun" in rows[-1]:
            with file.open("a") as kept:
                kept.write(json.dumps({"cut": rows[-1]["begun"]}) + "\n")
        if rows and "over" in rows[-1]:
            left = []
        elif not rows or "begun" not in rows[-1]:
            break  # it ended before any test: there is no use in another try
    done.write_text(json.dumps([*over, *tests]))


def watched(process: subprocess.Popen[bytes], file: Path, deadline: float, patience: int) -> None:
    """Wait for a process; end it where time is up, or where it says nothing for too long."""
    size, news = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.2)
        now = file.stat().st_size if file.exists() else 0
        if now != size:
            size, news = now, time.monotonic()
        if time.monotonic() > deadline or time.monotonic() - news > patience + 120:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


# -- what came of it ------------------------------------------------------------------------------


def lines(file: Path) -> Iterator[Row]:
    for line in file.read_text().splitlines() if file.exists() else ():
        yield json.loads(line)


def outcomes(file: Path) -> dict[str, Row]:
    """How each test ended; `died` where it took its process along.

    A test that is given the device by its name has one name on both sides.
    """
    found: dict[str, Row] = {}
    for row in lines(file):
        found.pop(row.get("cut", ""), None)
        name = row.get("begun") or row.get("test")
        if name:
            died = {"test": name, "state": "died", "why": "the process ended in it"}
            found[name] = row if "test" in row else died
    return {on_cpu(name, found): row for name, row in found.items()}


def on_cpu(name: str, names: Container[str]) -> str:
    """The name that a test has where the CPU stands in the place of the device, unless that is another one's."""
    other = name.replace("cuda:0", "cpu").replace("cuda", "cpu")
    return name if other in names else other


def differing(known: dict[str, dict[str, Row]]) -> list[str]:
    """The tests that pass plain and fail simulated."""
    plain, simulated = known["plain"], known["simulated"]
    return [
        test
        for test, row in plain.items()
        if row["state"] == "passed" and test in simulated and simulated[test]["state"] != "passed"
    ]


def within(test: str, part: str) -> bool:
    return test.partition("::")[0] == part or test.startswith((f"{part.rstrip('/')}/", f"{part}::"))


def tally(work: Path, part: str) -> Row:
    """The sums of a part, and what passes plain and fails simulated both times."""
    known = {side: outcomes(work / f"{side}.jsonl") for side in SIDES}
    again = {side: outcomes(work / f"{side}.again.jsonl") for side in SIDES}
    unmoved = outcomes(work / UNMOVED)
    files = {row["file"]: row for row in lines(work / "plain.jsonl") if "file" in row and within(row["file"], part)}
    plain = {test: row for test, row in known["plain"].items() if within(test, part)}
    passed = [test for test, row in plain.items() if row["state"] == "passed"]
    other = [test for test in differing(known) if within(test, part)]
    unsteady = [test for test in other if again["plain"].get(test, {}).get("state", "passed") != "passed"]
    reached = [test for test in passed if test in known["simulated"] and test not in unsteady]
    failed = [known["simulated"][test] for test in reached if known["simulated"][test]["state"] != "passed"]
    device = [
        row
        for test, row in known["simulated"].items()
        if within(test, part) and plain.get(test, {}).get("state") == "skipped" and row["state"] != "skipped"
    ]
    return {
        "collected": sum(row["collected"] for row in files.values()),
        "drawn": sum(row["drawn"] for row in files.values()),
        "most": max((row["drawn"] for row in files.values() if row["drawn"] < row["collected"]), default=0),
        "skipped": sum(row["state"] == "skipped" for row in plain.values()),
        "failing plain": sum(row["state"] in ("failed", "died") for row in plain.values()),
        "unread": sorted({row["unread"] for row in lines(work / "plain.jsonl") if within(row.get("unread", ""), part)}),
        "passing": len(reached),
        "simulated": len(reached) - len(failed),
        "not reached": len(passed) - len(reached) - len(unsteady),
        "unsteady": sorted(unsteady),
        "only simulated": [sum(row["state"] == "passed" for row in device), len(device)],
        "failed": [
            {"test": row["test"], "why": row["why"], "passes": passing(row, again["simulated"], unmoved)}
            for row in failed
        ],
    }


def passing(row: Row, again: dict[str, Row], unmoved: dict[str, Row]) -> str:
    """How a test that fails simulated passes there; empty where it does not."""
    how = {"run alone": again, "without the default device": unmoved}
    return next((words for words, known in how.items() if known.get(row["test"], row)["state"] == "passed"), "")


def told(found: Row) -> str:
    """The sums in a line."""
    return (
        f"{found['drawn']} of {found['collected']} tests; {found['passing']} pass plain, {found['simulated']} of these "
        f"simulated; {len(found['unsteady'])} unsteady, {found['not reached']} not reached; "
        f"{found['failing plain']} fail plain, {found['skipped']} skipped, {len(found['unread'])} files unread; "
        f"{found['only simulated'][0]} of {found['only simulated'][1]} that need a GPU pass"
    )


def about(python: str, name: str) -> Row:
    """The versions of a package, of torch and of Python."""
    return json.loads(subprocess.run([python, "-c", ABOUT, name], capture_output=True, text=True, check=True).stdout)


def command(options: argparse.Namespace) -> str:
    """How it can be had again, without the paths of this machine."""
    given = ["--default-device"] if options.default_device else []
    given += [f"--simulated={shlex.quote(shlex.join(options.simulated))}"] if options.simulated else []
    given += [f"-- {shlex.join(options.words)}"] if options.words else []
    return " ".join(["python tools/suites.py", options.name, "FOLDER PART... --work WORK --write", *given])


if __name__ == "__main__":
    sys.exit(main())
