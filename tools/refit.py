"""Rewrites an installed transformers in a copy, and shows that its tiny random models still give the same, bit by bit.

    python tools/refit.py PATH/TO/transformers WORK [--files 300] [--named 'modeling_*.py'] [--seed 0] [--python PYTHON]
        [--limit 30]

Draws files (0: all; --named: of those with such names), makes every safe fix in WORK/after, and asks four things: does
a second pass change nothing, is every changed file still Python, does every module that could be imported still
import, and do the models of every changed `modeling_*.py` give equal outputs and gradients? PYTHON is one that has
torch and what transformers needs. Each module is run in a process of its own, both ways, for `--limit` seconds; what
is done is kept in WORK and skipped the next time.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from syncguard import fixing
from syncguard.config import Config

RUNNER = Path(__file__).with_name("tiny_models.py")
CONFIG = replace(Config(), heat="all", cache=False)


def main() -> int:
    options = arguments()
    package = options.package.resolve()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    changed = rewritten(package, work, options.files, options.seed, options.named)
    python = options.python or sys.executable
    imports = {side: imported(python, where, changed) for side, where in sides(package, work).items()}
    broken = sorted(name for name in changed if imports["before"][name] != imports["after"][name])
    there = sum(outcome == "imported" for outcome in imports["before"].values())
    print(f"imports: {there} of {len(changed)} import before, {len(broken)} do otherwise after {broken or ''}")
    models = [name for name in changed if ".models." in name and ".modeling_" in name]
    known = compared(python, package, work, models, options.limit)
    return told(known, models) or bool(broken)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, help="the folder `transformers`, installed or unpacked")
    parser.add_argument("work", type=Path, help="a folder for the copy and the results")
    parser.add_argument("--files", type=int, default=300, help="how many files are drawn; 0 for all")
    parser.add_argument("--named", default="*.py", help="a pattern that the drawn files' names match")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", help="a Python with torch; by default this one")
    parser.add_argument("--limit", type=int, default=30, help="seconds for the models of a module, on each side")
    return parser.parse_args()


def sides(package: Path, work: Path) -> dict[str, Path]:
    """The folders from which transformers is imported."""
    return {"before": package.parent, "after": work / "after"}


# -- rewriting ------------------------------------------------------------------------------------


def rewritten(package: Path, work: Path, count: int, seed: int, named: str = "*.py") -> dict[str, list[int]]:
    """The changed modules and their changed lines; the copy is made and rewritten where it is not there yet."""
    done = work / "changed.json"
    asked = {"package": str(package), "files": count, "named": named, "seed": seed}
    if done.exists() and (kept := json.loads(done.read_text()))["asked"] == asked:
        print(kept["said"])
        return kept["changed"]
    copy = work / "after" / "transformers"
    shutil.rmtree(work / "after", ignore_errors=True)
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    files = sorted(str(path) for path in copy.rglob(named))
    drawn = files if not count else sorted(random.Random(seed).sample(files, min(count, len(files))))
    fixed = fixing.fixed(drawn, CONFIG, None, fixing.SAFE)
    changed: dict[str, list[int]] = {}
    for path, (before, after) in fixed.changed.items():
        compile(after, path, "exec")
        Path(path).write_text(after, "utf-8")
        changed[module(Path(path), copy)] = new_lines(before, after)
    again = fixing.fixed(drawn, CONFIG, None, fixing.SAFE)
    recipes: dict[str, int] = {}
    for finding in fixed.made:
        if finding.fix is not None:
            recipes[finding.fix.recipe] = recipes.get(finding.fix.recipe, 0) + 1
    said = (
        f"{len(drawn)} of {len(files)} files, seed {seed}: {len(fixed.made)} safe fixes in {len(changed)} files "
        f"{recipes}; a second pass changes {len(again.changed)}"
    )
    print(said, flush=True)
    (work / "models.jsonl").unlink(missing_ok=True)
    done.write_text(json.dumps({"asked": asked, "said": said, "changed": changed}))
    return changed


def module(path: Path, package: Path) -> str:
    """The name under which a file is imported."""
    parts = ["transformers", *path.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def new_lines(before: str, after: str) -> list[int]:
    """The lines of the new text that the old one has not."""
    matched = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return [n + 1 for tag, _, _, first, last in matched.get_opcodes() if tag != "equal" for n in range(first, last)]


# -- running --------------------------------------------------------------------------------------


def command(python: str, where: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """The runner's command for one side, and its environment."""
    surroundings = {**os.environ, "PYTHONPATH": str(where), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return [python, str(RUNNER), *words], surroundings


def imported(python: str, where: Path, changed: dict[str, list[int]]) -> dict[str, str]:
    """How the import of each module ends."""
    words, surroundings = command(python, where, "import", *changed)
    ended = subprocess.run(words, env=surroundings, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"the modules could not be imported from {where}: {ended.stderr.strip()[-300:]}")
    return json.loads(ended.stdout.splitlines()[-1])["modules"]  # type: ignore[no-any-return]


def compared(python: str, package: Path, work: Path, models: list[str], limit: int) -> dict[str, dict[str, Any]]:
    """For each module its models on both sides; what earlier runs found is read, and not run again."""
    kept = work / "models.jsonl"
    known: dict[str, dict[str, Any]] = {name: {"module": name} for name in models}
    for row in map(json.loads, kept.read_text().splitlines() if kept.exists() else ()):
        known.setdefault(row["module"], {"module": row["module"]})[row["side"]] = row
    changed = json.loads((work / "changed.json").read_text())["changed"]
    runners = {}
    for side, where in sides(package, work).items():
        words, surroundings = command(python, where, "models")
        runners[side] = subprocess.Popen(
            words, env=surroundings, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    for name in models:
        asked = {side: runner for side, runner in runners.items() if side not in known[name]}
        for side, runner in asked.items():
            print(json.dumps([name, limit, changed[name] if side == "after" else []]), file=runner.stdin, flush=True)
        for side, runner in asked.items():
            answer = runner.stdout.readline() if runner.stdout is not None else ""
            known[name][side] = {**json.loads(answer), "side": side}
            with kept.open("a") as stream:
                stream.write(json.dumps(known[name][side]) + "\n")
        print(f"{name.rpartition('.')[2]}: {verdict(known[name])}", flush=True)
    for runner in runners.values():
        runner.communicate("")
    return known


def verdict(row: dict[str, Any]) -> str:
    """What the two sides of a module say about each other."""
    before, after = row["before"].get("models", {}), row["after"].get("models", {})
    both = [name for name in before if name in after and "digest" in before[name] and "digest" in after[name]]
    other = [name for name in both if before[name]["digest"] != after[name]["digest"]]
    other += [name for name in before if "digest" in before[name] and "fault" in after.get(name, {})]
    if other:
        return f"DIFFERENT: {', '.join(other)}"
    if not both:
        faults = {model["fault"] for model in before.values() if "fault" in model}
        faults = faults or {row["before"].get("fault", "there is no model, or no time for one")}
        return f"nothing ran: {min(faults)}"
    trained = sum(before[name]["gradients"] > 0 for name in both)
    lines = row["after"].get("lines", 0)
    return f"equal: {len(both)} models, {trained} with gradients, {lines} changed lines were run"


def told(known: dict[str, dict[str, Any]], models: list[str]) -> int:
    """Print the sums; 1 where a model gives something else."""
    verdicts = [verdict(known[name]) for name in models]
    equal = [text for text in verdicts if text.startswith("equal")]
    ran = sum(", 0 changed lines" not in text for text in equal)
    different = sum(text.startswith("DIFFERENT") for text in verdicts)
    print(
        f"models: of {len(models)} changed modeling files {len(equal)} give bit-equal outputs and gradients "
        f"({ran} of them ran a changed line), {different} differ, {len(models) - len(equal) - different} did not run"
    )
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
