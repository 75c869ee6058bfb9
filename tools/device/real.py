"""Programs that use real libraries, each run simulated and on the device: the lines that wait in only one of them; and
what `check` says of these libraries."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import checking

HERE = Path(__file__).parent / "libraries"
DRY = ("plain",)
MODES = {"simulate": "said", "cuda": "found"}
OF_A_LIBRARY = re.compile(r".*(?:site-packages|dist-packages|/projects|/lib/python[\d.]+)/")
PATIENCE = 240.0  # seconds for all of them
Line = tuple[str, int]


def programs(dry: bool = False) -> dict[str, Path]:
    """The programs whose libraries are installed."""
    found = {path.stem: path for path in sorted(HERE.glob("*.py"))}
    return {name: path for name, path in found.items() if (not dry or name in DRY) and not lacking(path)}


def lacking(path: Path) -> list[str]:
    """What a program imports before all else that is not there."""
    wanted = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        wanted |= {name.split(".")[0] for name in names}
    return sorted(name for name in wanted if find_spec(name) is None)


def compared(dry: bool, seconds: float = PATIENCE) -> Iterator[dict[str, Any]]:
    """Every program in both modes, and `check` of what they use, all at once; in a dry run programs, simulated."""
    until = time.monotonic() + seconds
    modes = [mode for mode in MODES if not (dry and mode == "cuda")]
    with tempfile.TemporaryDirectory() as name:
        folder, found = Path(name), []
        packages = () if dry else checking.linked(folder / "projects")
        runs = {(name, mode): started(path, mode, folder / f"{name}.{mode}.json")
                for name, path in programs(dry).items() for mode in modes}  # fmt: skip
        checks = {package: checking.started(folder / "projects", package) for package in packages}
        for name in programs(dry):
            faults = [fault for mode in modes if (fault := ended(runs[name, mode], until))]
            records = [record(folder / f"{name}.{mode}.json") for mode in modes]
            found += [one for one in records[1:] if one is not None]
            yield {"program": name} | told(*records) | ({"fault": "; ".join(faults)} if faults else {})
        for package, check in checks.items():
            ended(check, until)
            yield from checking.table(folder / "projects", [package], found)


def started(path: Path, mode: str, saved: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "syncguard", "run", "--device", mode, "--save", str(saved), "-q", path.name]
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (root, str(saved.parent / "projects"), os.environ.get("PYTHONPATH"))))
    env = os.environ | {"OMP_NUM_THREADS": "4", "PYTHONPATH": paths}
    log = saved.with_suffix(".log").open("w")
    return subprocess.Popen(command, cwd=path.parent, env=env, stdout=log, stderr=subprocess.STDOUT, text=True)


def ended(run: subprocess.Popen[str], until: float) -> str:
    """Wait for a run, at most to that time; how it failed, if it did."""
    mode = str(run.args[5])  # type: ignore[index]
    try:
        code = run.wait(max(until - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
        return f"{mode}: ended, it took too long"
    return f"{mode}: exit {code}" if code else ""


def record(path: Path) -> dict[str, Any] | None:
    """What a run saved; None where it did not come so far."""
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


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
