"""Everything that needs a GPU, in the order of its worth -> evidence/<gpu>-torch<version>.json, written as it goes.

python tools/device/device.py                    all parts, in about twenty minutes
python tools/device/device.py --part doctor      one part (again and again for several)
python tools/device/device.py --dry-run          every part on the simulated device, small: nothing is measured
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
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
EVERY = 10.0  # seconds between two writings of a part that goes on


def main(argv: list[str] | None = None) -> int:
    """Run the parts; 0 where all came to their end, 1 where one did not, 2 where there is no GPU."""
    options = arguments(argv)
    if options.list:
        for name, part in parts.PARTS.items():
            print(f"{name:<10} {part.share:>4.0%}  {(part.run.__doc__ or '').splitlines()[0]}")
        return 0
    if not options.dry_run and not torch.cuda.is_available():
        print("No GPU here: torch.cuda.is_available() is False, so nothing was measured. `--dry-run` tries every part.")
        return 2
    chosen = options.part or [*parts.PARTS]
    share = sum(parts.PARTS[name].share for name in chosen)
    seconds = {name: options.minutes * 60 * parts.PARTS[name].share / share for name in chosen}
    if len(chosen) > 1:  # each in a process of its own: what one does to the device or to torch is over with it
        return max(apart(name, seconds[name], options) for name in chosen)
    (name,) = chosen
    machine = machine_of(options.dry_run)
    path = Path(options.out or ROOT / "evidence") / file_of(machine)
    evidence = begun(path, machine)
    print(f"{name}: at most {seconds[name]:.0f} s", flush=True)
    desk = Desk(options.dry_run, time.perf_counter() + seconds[name])
    done = run(name, desk, lambda part: save(path, evidence, name, part))
    fault = f": {done['fault']}" if "fault" in done else ""
    print(f"{name}: {len(done['results'])} results in {done['seconds']} s{fault}, in {path}", flush=True)
    return 1 if fault else 0


def apart(name: str, seconds: float, options: argparse.Namespace) -> int:
    """Run one part in a process of its own; one that hangs is ended."""
    command = [sys.executable, __file__, "--part", name, "--minutes", str(seconds / 60)]
    command += ["--dry-run"] if options.dry_run else []
    command += ["--out", options.out] if options.out else []
    try:
        return 1 if subprocess.run(command, check=False, timeout=seconds * 1.5 + 90).returncode else 0
    except subprocess.TimeoutExpired:
        print(f"{name}: ended, it did not come back", flush=True)
        return 1


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=list(parts.PARTS), help="only this part")
    parser.add_argument(
        "--list", action="store_true", help="name the parts, and the share of the time that each may take"
    )
    parser.add_argument("--dry-run", action="store_true", help="every part on the simulated device, small")
    parser.add_argument("--minutes", type=float, default=20.0, help="for all the parts that are run (default: 20)")
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
