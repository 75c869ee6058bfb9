"""Everything that needs a GPU, in the order of its worth -> evidence/<gpu>-torch<version>.json, written as it goes.

python tools/device/device.py                    all parts, in about eight minutes
python tools/device/device.py --part doctor      one part (again and again for several)
python tools/device/device.py --dry-run          every part on the simulated device, small: nothing is measured
"""

from __future__ import annotations

import argparse
import json
import pickle
import platform
import re
import subprocess
import sys
import tempfile
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import parts
import torch
from parts import Desk

ROOT = Path(__file__).parents[2]
VERSION = 1
DRY = "dry run"
BESIDE = 0.25  # of the time, at most, for the parts that run at the same time
EVERY = 10.0  # seconds between two writings of a part that goes on


def main(argv: list[str] | None = None) -> int:
    """Run the parts; 0 where all came to their end, 1 where one did not, 2 where there is no GPU."""
    options = arguments(argv)
    if options.list:
        for name, part in parts.PARTS.items():
            print(f"{name:<10} {part.share:>4.0%}  {(part.run.__doc__ or '').splitlines()[0]}")
        return 0
    chosen = options.part or [*parts.PARTS]
    seconds = options.minutes * 60
    if options.half:
        return half(chosen, Path(options.halves), time.perf_counter() + seconds)
    if not options.dry_run and not torch.cuda.is_available():
        print("No GPU here: torch.cuda.is_available() is False, so nothing was measured. `--dry-run` tries every part.")
        return 2
    if len(chosen) > 1:  # each in a process of its own: what one does to the device or to torch is over with it
        return together(chosen, time.perf_counter() + seconds, options)
    (name,) = chosen
    machine = machine_of(options.dry_run)
    path = Path(options.out or ROOT / "evidence") / file_of(machine)
    evidence = begun(path, machine)
    print(f"{name}: at most {seconds:.0f} s", flush=True)
    desk = Desk(
        options.dry_run, time.perf_counter() + seconds, keep=folder_of(options.keep), halves=folder_of(options.halves)
    )
    done = run(name, desk, lambda part: save(path, evidence, name, part))
    fault = f": {done['fault']}" if "fault" in done else ""
    print(f"{name}: {len(done['results'])} results in {done['seconds']} s{fault}, in {path}", flush=True)
    return 1 if fault else 0


def together(chosen: list[str], until: float, options: argparse.Namespace) -> int:
    """Several parts: what needs no device and what times nothing all at once, then those with a clock one by one."""
    every = {name: parts.PARTS[name] for name in chosen}
    beside = [name for name, part in every.items() if part.beside]
    alone = [name for name in chosen if name not in beside]
    written = options.out or str(ROOT / "evidence")
    with tempfile.TemporaryDirectory() as folder:
        # A dry run's halves are all that it does: there each part finds its own.
        halves = {name: begin(name, until, folder, ["--half"]) for name in alone
                  if every[name].half and not options.dry_run}  # fmt: skip
        limit = time.perf_counter() + (until - time.perf_counter()) * (BESIDE if alone else 1.0)
        first = {name: begin(name, limit, folder, out_of(options, f"{folder}/{name}")) for name in beside}
        codes = [ended(name, run, limit) for name, run in first.items()]
        for name in beside:
            take(Path(folder) / name, Path(written))
        for n, name in enumerate(alone):
            if name in halves:
                ended(f"half of {name}", halves[name], until)
            shares = [parts.PARTS[one].share for one in alone[n:]]
            limit = time.perf_counter() + (until - time.perf_counter()) * shares[0] / sum(shares)
            codes.append(ended(name, begin(name, limit, folder, out_of(options, written)), limit))
        return max(codes)


def folder_of(name: str | None) -> Path | None:
    if name:
        Path(name).mkdir(parents=True, exist_ok=True)
    return Path(name).resolve() if name else None


def out_of(options: argparse.Namespace, folder: str) -> list[str]:
    more = ["--keep", options.keep] if options.keep else []
    return ["--out", folder, *more, *(["--dry-run"] if options.dry_run else [])]


def begin(name: str, until: float, halves: str, more: list[str]) -> subprocess.Popen[bytes]:
    """A process for one part, or for the half of it that needs no device."""
    minutes = max(until - time.perf_counter(), 1.0) / 60
    command = [sys.executable, __file__, "--part", name, "--minutes", str(minutes), "--halves", halves, *more]
    return subprocess.Popen(command)


def ended(name: str, run: subprocess.Popen[bytes], until: float) -> int:
    """1 where a process failed, or hangs and is ended; a part needs some time beyond its own to begin and to write."""
    try:
        return 1 if run.wait(max(until - time.perf_counter(), 0.0) * 1.2 + 45) else 0
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
        print(f"{name}: ended, it did not come back", flush=True)
        return 1


def half(chosen: list[str], folder: Path, until: float) -> int:
    """Keep what parts find without the device for the processes that ask it."""
    for name in chosen:
        make = parts.PARTS[name].half
        if make is not None:
            found = make(Desk(dry=False, until=until))
            draft = folder / f"{make.__name__}.part"
            draft.write_bytes(pickle.dumps(found))
            draft.replace(folder / f"{make.__name__}.pickle")
    return 0


def take(source: Path, target: Path) -> None:
    """The parts of the files of one folder into those of another."""
    for path in sorted(source.glob("*-torch*.json")):
        found = json.loads(path.read_text("utf-8"))
        evidence = begun(target / path.name, found["machine"])
        for name, part in found["parts"].items():
            save(target / path.name, evidence, name, part)


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=list(parts.PARTS), help="only this part")
    parser.add_argument(
        "--list", action="store_true", help="name the parts, and the share of the time that each may take"
    )
    parser.add_argument("--dry-run", action="store_true", help="every part on the simulated device, small")
    parser.add_argument("--minutes", type=float, default=8.0, help="for all the parts that are run (default: 8)")
    parser.add_argument("--keep", help="folder for the records of the libraries' programs, to look at")
    parser.add_argument("--half", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--halves", help=argparse.SUPPRESS)
    parser.add_argument("--out", help="folder to write into (default: evidence/)")
    return parser.parse_args(argv)


def run(name: str, desk: Desk, keep: Any) -> dict[str, Any]:
    """One part; what it found before it failed or ran out of time is kept."""
    begin = written = time.perf_counter()
    part: dict[str, Any] = {"seconds": 0.0, "complete": False, "results": []}
    try:
        for result in parts.PARTS[name].run(desk):
            part["results"].append(result)
            if time.perf_counter() - written > EVERY:
                written = time.perf_counter()
                keep(part | {"seconds": round(written - begin, 1)})
            if desk.late:
                break
        else:
            part["complete"] = True
    except Exception as fault:
        traceback.print_exc()
        part["fault"] = f"{type(fault).__name__}: {fault}".split("\n")[0][:300]
    part["seconds"] = round(time.perf_counter() - begin, 1)
    keep(part)
    return part


def machine_of(dry: bool) -> dict[str, str]:
    """Where this is measured."""
    device = DRY if dry else torch.cuda.get_device_name()
    return {
        "device": device, "torch": torch.__version__.split("+")[0], "cuda": str(torch.version.cuda or ""),
        "driver": "" if dry else driver(), "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}", "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }  # fmt: skip


def driver() -> str:
    ask = getattr(torch._C, "_cuda_getDriverVersion", None)  # noqa: SLF001
    return str(ask()) if ask is not None else ""


def file_of(machine: dict[str, str]) -> str:
    """nvidia-h200-torch2.13.0.json"""
    name = re.sub(r"[^a-z0-9]+", "-", machine["device"].lower()).strip("-")
    return f"{name}-torch{machine['torch']}.json"


def begun(path: Path, machine: dict[str, str]) -> dict[str, Any]:
    """What is there of this machine already: parts are replaced one by one."""
    if path.is_file():
        evidence: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return evidence | {"machine": machine}
    return {"version": VERSION, "machine": machine, "parts": {}}


def save(path: Path, evidence: dict[str, Any], name: str, part: dict[str, Any]) -> None:
    """Compact: one line a result."""
    evidence["parts"][name] = part
    heads = []
    for key, one in evidence["parts"].items():
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in one["results"])
        rest = json.dumps({k: v for k, v in one.items() if k != "results"})[:-1]
        heads.append(f'{json.dumps(key)}: {rest}, "results": [\n{rows}\n]}}')
    body = ",\n".join(heads)
    text = f'{{"version": {VERSION},\n"machine": {json.dumps(evidence["machine"])},\n"parts": {{\n{body}\n}}}}\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(text, "utf-8")
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
