"""`make bench`: measure `syncguard check` beside its peers and print the tables; --write keeps them in docs/."""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import fixing
import material
import parts
import simulate
import whole
from parts import Plan

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "bench"
PAGE = ROOT / "docs" / "benchmarks.md"
PARTS: dict[str, tuple[str, Callable[[Plan], list[str]]]] = {
    "speed": ("Speed", parts.speed),
    "whole": ("A whole package, and again", whole.whole),
    "growth": ("Growth", parts.growth),
    "startup": ("Start-up", parts.startup),
    "fixing": ("Fixes", fixing.fixing),
    "simulate": ("The simulated device", lambda plan: simulate.simulate(max(plan.rounds, 3))),
}
HEAD = """# Benchmarks

What `make bench` measured. The numbers are of the machine and the day that a section names: compare them within it.
[benchmarks/](../benchmarks) has the programs and says what they measure.
"""


def main() -> None:
    options = arguments()
    BUILD.mkdir(parents=True, exist_ok=True)
    folder = material.package(options.transformers) if options.transformers else material.transformers(BUILD)
    environment = options.peers or (material.peers(BUILD) if {"speed", "whole"} & {*options.part} else Path())
    quick = options.quick
    plan = Plan(
        build=BUILD,
        transformers=folder.resolve(),
        peers=environment.absolute(),
        rounds=options.rounds or (1 if quick else 3),
        files=40 if quick else 300,
        sample=2 if quick else 15,
        sizes=parts.SIZES[:5] if quick else parts.SIZES,
    )
    sections: dict[str, str] = {}
    for name in options.part:
        title, measured = PARTS[name]
        before = load()
        lines = measured(plan)
        about = provenance(plan, name, before, load(), options)
        sections[title] = "\n".join([f"## {title}", "", *about, "", *lines, ""])
        print(sections[title], flush=True)
    if options.write:
        PAGE.write_text(page(PAGE.read_text() if PAGE.exists() else "", sections))
        print(f"Wrote {PAGE.relative_to(ROOT)}", file=sys.stderr)


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--part", type=_parts, default=list(PARTS), help=f"only these, with commas: {', '.join(PARTS)}")
    add("--quick", action="store_true", help="one round, 40 files, up to 100,000 lines: to see that it runs")
    add("--rounds", type=int, default=0, help="how often; 3 by default")
    add("--write", action="store_true", help="put the measured sections into docs/benchmarks.md")
    add("--transformers", type=Path, help="the unpacked wheel, in place of downloading it")
    add("--peers", type=Path, help="a virtual environment with TorchFix and Pyrefly, in place of making one")
    return parser.parse_args()


def provenance(plan: Plan, part: str, before: str, after: str, options: argparse.Namespace) -> list[str]:
    """When, where and with what a section was measured."""
    installed = material.versions(plan.peers) if part in ("speed", "whole") else {}
    tools = [f"SyncGuard {revision()}", interpreter()]
    tools += [f"{title} {installed[title.lower()]}" for title in ("TorchFix", "Pyrefly") if title.lower() in installed]
    flags = f"--part {part}{' --quick' * options.quick}{f' --rounds {options.rounds}' if options.rounds else ''}"
    return [
        f"- {datetime.now(UTC):%Y-%m-%d}: {', '.join(tools)}",
        f"- {processor()}, {os.cpu_count()} cores, {platform.system()}; load average {before} before, {after} after",
        f"- `python benchmarks/bench.py {flags}`",
    ]


def page(known: str, sections: dict[str, str]) -> str:
    """The page with these sections new and the others as they were."""
    old = {text.split("\n", 1)[0]: f"## {text.rstrip()}\n" for text in re.split(r"^## ", known, flags=re.MULTILINE)[1:]}
    every = {**old, **sections}
    return "\n".join([HEAD, *(every[title] for title, _ in PARTS.values() if title in every)])


def interpreter() -> str:
    """Which Python, and whose: one that is built without its own optimizations takes a sixth longer."""
    version = f"Python {platform.python_version()}"
    if sys.base_prefix == "/usr" and platform.system() == "Linux":
        return f"{version} of {platform.freedesktop_os_release()['PRETTY_NAME']}"
    optimized = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    return version if optimized else f"{version}, built without --enable-optimizations"


def processor() -> str:
    """The model of the processor, as the system names it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def revision() -> str:
    """The version, and the commit where it is known; + where files have changed since."""
    from syncguard import __version__

    def git(*words: str) -> str:
        asked = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
        return asked.stdout.strip() if asked.returncode == 0 else ""

    commit = git("rev-parse", "--short", "HEAD")
    changed = "+" if commit and git("status", "--porcelain", "--", "syncguard", "rules") else ""
    return f"{__version__} ({commit}{changed})" if commit else __version__


def _parts(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no part '{unknown[0]}'; choose from {', '.join(PARTS)}")
    return [name for name in PARTS if name in names]


if __name__ == "__main__":
    main()
