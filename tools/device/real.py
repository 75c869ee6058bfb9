"""Programs that use real libraries, each run simulated and on the device: the lines that wait in only one of them; and
what `check` says of these libraries.

    python tools/device/device.py --part libraries --keep FOLDER    on the device: programs run there alone
    python tools/device/real.py FOLDER EVIDENCE                     where there is time: simulated, and compared
"""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import checking

HERE = Path(__file__).parent / "libraries"
DRY = ("plain",)
MODES = {"simulate": "said", "cuda": "found"}
WENT = re.compile(r"(ran|failed) (\S+)(.*)$")
OF_A_LIBRARY = re.compile(r".*(?:site-packages|dist-packages|/projects|/lib/python[\d.]+)/")
PATIENCE = 240.0  # seconds for all of them
RESERVE = 8.0  # seconds to tell of them
PARTS = {"every_architecture": 40}  # programs that are run as so many processes, each doing its part
RUN = "on the device, and simulated on another machine with the same versions of torch and of the libraries"
Line = tuple[str, int]
Run = tuple[str, int, str]  # a program, which part of it, and the mode
Start = Callable[[], "subprocess.Popen[str]"]


def programs(dry: bool = False) -> dict[str, Path]:
    """The programs whose libraries are installed."""
    found = {path.stem: path for path in sorted(HERE.glob("*.py"))}
    return {name: path for name, path in found.items() if (not dry or name in DRY) and not lacking(path)}


def lacking(path: Path) -> list[str]:
    """What a program imports before all else that is not there."""
    wanted = set()
    body = ast.parse(path.read_text("utf-8")).body[1:]  # behind what it says of itself
    for node in itertools.takewhile(lambda one: isinstance(one, (ast.Import, ast.ImportFrom)), body):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        wanted |= {name.split(".")[0] for name in names}
    return sorted(name for name in wanted if find_spec(name) is None)


def compared(dry: bool, seconds: float = PATIENCE, keep: Path | None = None) -> Iterator[dict[str, Any]]:
    """Every program in both modes, and `check` of what they use, all at once; in a dry run programs, simulated.

    With a folder to `keep` records in, programs run on the device alone, and the rest can be done on another machine.
    """
    until = time.monotonic() + max(seconds - RESERVE, 0.0)
    modes = [mode for mode in MODES if not (dry and mode == "cuda") and not (keep and mode == "simulate")]
    with tempfile.TemporaryDirectory() as name:
        folder = keep or Path(name)
        packages = () if dry else checking.linked(folder / "projects")
        runs = [*every(programs(dry), modes)]
        faults = ended(starts(runs, folder, () if keep else packages), until, 1 if dry else os.cpu_count() or 1)
        if keep:
            (keep / "faults.json").write_text(json.dumps([[*run, fault] for run, fault in faults.items()]))
            yield from ({"program": name, "lines": 0, "fault": f"kept in {keep}"} for name in programs(dry))
        else:
            yield from results(folder, modes, faults, packages)


def again(folder: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """What was kept of a device, compared on this machine, which has the same libraries. What was simulated or checked
    there already is not done again.
    """
    told = {(name, part, mode): fault for name, part, mode, fault in json.loads((folder / "faults.json").read_text())}
    packages = checking.linked(folder / "projects")
    runs = [run for name, part, _ in told if not saved(folder, run := (name, part, "simulate")).is_file()]
    until = time.monotonic() + seconds
    unread = [name for name in packages if not (folder / "projects" / f"{name}.json").is_file()]
    faults = told | ended(starts(runs, folder, unread), until, os.cpu_count() or 1)
    yield from results(folder, [*MODES], faults, packages)


def starts(runs: Iterable[Run], folder: Path, packages: Iterable[str]) -> dict[Any, Start]:
    """Programs of one part, then `check` of packages, then those of several parts."""
    each = {run: partial(started, HERE / f"{run[0]}.py", run, folder) for run in runs}
    whole: dict[Any, Start] = {run: start for run, start in each.items() if run[0] not in PARTS}
    return whole | {name: partial(checking.started, folder / "projects", name) for name in packages} | each


def results(
    folder: Path, modes: list[str], faults: Mapping[Any, str], packages: Iterable[str]
) -> Iterator[dict[str, Any]]:
    """A row for each program, then one for each package."""
    every_said, every_found = [], []
    for name in dict.fromkeys(run[0] for run in faults if isinstance(run, tuple)):
        runs = [*every([name], modes)]
        lost = {run[1] for run in runs if not saved(folder, run).is_file()}
        kept = [run for run in runs if run[1] not in lost]
        records = [gathered(folder, [run for run in kept if run[2] == mode]) for mode in modes]
        every_said += [one for one in records[:1] if one is not None]
        every_found += [one for one in records[1:] if one is not None]
        words = [f"{run[2]}, part {run[1]}: {faults[run]}" for run in runs if faults.get(run)]
        result = {"program": name} | told(*records) | counted(folder, kept)
        yield result | ({"fault": "; ".join(words)} if words else {})
    yield from checking.table(folder / "projects", packages, every_found, every_said)


def every(names: Iterable[str], modes: list[str]) -> Iterator[Run]:
    for name in names:
        for part in range(1, PARTS.get(name, 1) + 1):
            yield from ((name, part, mode) for mode in modes)


def saved(folder: Path, run: Run) -> Path:
    name, part, mode = run
    return folder / f"{name}-{part}.{mode}.json"


def started(path: Path, run: Run, folder: Path) -> subprocess.Popen[str]:
    name, part, mode = run
    target = saved(folder, run)
    command = [sys.executable, "-m", "syncguard", "run", "--device", mode, "--save", str(target), "-q", path.name]
    command += [str(part), str(PARTS[name])] if name in PARTS else []
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (root, str(folder / "projects"), os.environ.get("PYTHONPATH"))))
    env = os.environ | {"OMP_NUM_THREADS": "1" if name in PARTS else "4", "PYTHONPATH": paths}
    log = target.with_suffix(".log").open("w")
    return subprocess.Popen(command, cwd=path.parent, env=env, stdout=log, stderr=subprocess.STDOUT, text=True)


def ended(starts: Mapping[Any, Start], until: float, most: int) -> dict[Any, str]:
    """Start processes, so many at a time, and wait for them, at most to that time; how each failed, if it did."""
    running: dict[Any, subprocess.Popen[str]] = {}
    faults: dict[Any, str] = {}
    waiting = list(starts)
    while (waiting or running) and time.monotonic() < until:
        while waiting and len(running) < most:
            key = waiting.pop(0)
            running[key] = starts[key]()
        for key in [key for key, run in running.items() if run.poll() is not None]:
            code = running.pop(key).returncode
            faults[key] = f"exit {code}" if code else ""
        time.sleep(0.05)
    for run in running.values():
        run.kill()
        run.wait()
    return faults | dict.fromkeys(running, "ended, it took too long") | dict.fromkeys(waiting, "no time was left")


def gathered(folder: Path, runs: list[Run]) -> dict[str, Any] | None:
    """What the parts of a program saved, as one; None where none came so far."""
    records = [json.loads(saved(folder, run).read_text("utf-8")) for run in runs]
    if len(records) < 2:
        return records[0] if records else None
    executed: dict[str, list[Any]] = {}
    for path, spans in (item for one in records for item in one.get("executed", {}).items()):
        executed.setdefault(path, []).extend(spans)
    return {"waits": [wait for one in records for wait in one["waits"]], "executed": executed}


def counted(folder: Path, runs: list[Run]) -> dict[str, Any]:
    """Of a program that says so line by line: how many models ran in each mode, and which in one alone."""
    said: dict[str, dict[str, str]] = {}
    for run in runs:
        for line in saved(folder, run).with_suffix(".log").read_text("utf-8", "replace").split("\n"):
            if match := WENT.match(line):
                said.setdefault(run[2], {})[match[2]] = match[1] + match[3]
    if not said:
        return {}
    ran = {mode: {name for name, how in names.items() if how == "ran"} for mode, names in said.items()}
    alone = set.union(*ran.values()) - set.intersection(*ran.values())
    return {"ran": {mode: len(names) for mode, names in ran.items()},
            "alone": {name: [said[mode].get(name, "") for mode in said] for name in sorted(alone)}}  # fmt: skip


def told(simulated: dict[str, Any] | None, real: dict[str, Any] | None = None) -> dict[str, Any]:
    """Counts, and the lines that only one of the two tells: path below the library's folder, line, op, how often."""
    if simulated is None:
        return {"lines": 0}
    said = lines(simulated)
    if real is None:
        return {"lines": len(said)}
    found = lines(real)
    both = said.keys() & found.keys()
    return {
        "lines": len(both), "only_said": [row(key, said) for key in sorted(said.keys() - both)],
        "only_found": [row(key, found) for key in sorted(found.keys() - both)],
        "counts": sum(said[key][1] == found[key][1] for key in both), "said": len(said), "found": len(found),
    }  # fmt: skip


def lines(record: dict[str, Any]) -> dict[Line, tuple[str, int]]:
    """The lines of a run that waited, each with an op and how often.

    A wait in backward counts for the line of its forward: a device does it in a thread that has no lines. One whose
    forward is not known is left out in both.
    """
    found: dict[Line, tuple[str, int]] = {}
    for wait in record["waits"]:
        place = wait.get("forward") if wait.get("phase") == "backward" else wait["place"]
        if place:
            key = (OF_A_LIBRARY.sub("", place["path"]), place["line"])
            op, count = found.get(key, (wait["op"], 0))
            found[key] = (op, count + wait.get("count", 0))
    return found


def row(key: Line, found: dict[Line, tuple[str, int]]) -> list[Any]:
    return [*key, *found[key]]


if __name__ == "__main__":
    from device import begun, save

    kept, path = map(Path, sys.argv[1:3])
    evidence = begun(path, json.loads(path.read_text("utf-8"))["machine"])
    begin = time.monotonic()
    rows = [*again(kept.resolve(), 3600.0)]
    part = {"seconds": round(time.monotonic() - begin, 1), "complete": True, "results": rows, "run": RUN}
    save(path, evidence, "libraries", part)
