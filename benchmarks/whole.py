"""The whole package in, the lines of a section out: what a first check costs, and every one after it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import material
import parts
from measure import Cost, command
from parts import Plan

CHECK = "check --exit-zero --output-format concise".split()
EDITED = "models/llama/modeling_llama.py"  # of the package
BASE = "modeling_utils.py"  # what every model imports
HOOK = (
    EDITED,
    "models/bert/modeling_bert.py",
    "models/mixtral/modeling_mixtral.py",
    "models/whisper/modeling_whisper.py",
    "trainer_utils.py",
)


@dataclass(frozen=True)
class Step:
    """A line of the table: what is done before, what is checked, what every run of it cost."""

    name: str
    before: Callable[[Path], None]
    paths: Sequence[str]


def whole(plan: Plan) -> list[str]:
    """A copy of the package, checked as its authors would: all of it, again, after edits, by a hook."""
    lines = material.count_lines(sorted(plan.transformers.rglob("*.py")))
    tools = {"SyncGuard": parts.SYNCGUARD, **parts.compiled(plan.build)}
    costs: dict[tuple[str, str], list[Cost]] = {}
    for turn in range(plan.rounds):
        for tool, program in tools.items():
            _round(plan, tool, program, turn, costs)
        parts.say(f"round {turn + 1} of {plan.rounds}: Pyrefly")
        costs.setdefault(("Pyrefly, four torch lints", "cold"), []).append(_pyrefly(plan))
    table = [
        "| tool | what is checked | wall s | slowest s | processor s | lines/s | peak MB in all |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for (tool, name), each in costs.items():
        wall, cpu, memory = (median(getattr(cost, key) for cost in each) for key in ("wall", "cpu", "together"))
        rate = f"{lines / wall:,.0f}" if name == "cold" else ""
        table.append(
            f"| {tool} | {name} | {wall:.2f} | {max(cost.wall for cost in each):.2f} | {cpu:.2f} | {rate} "
            f"| {memory:.0f} |"
        )
    return [
        f"A copy of the whole transformers {parts.version(plan.transformers)} package, {lines:,} lines, on",
        f"{os.cpu_count()} cores. {parts.rounds(plan.rounds)}, each from an empty cache; medians.",
        "",
        *table,
        "",
        "- *cold*: nothing is cached. *again*: nothing has changed since.",
        f"- *one edited file*: a comment was added to `{EDITED}`. *its base edited*: a line was added inside a",
        f"  function of `{BASE}`, which every model imports. *a function added*: there, too, by a name that",
        "  nobody asks for yet.",
        "- *hook*: five files were edited and only they are given, as a commit hook does. The rest of the project",
        "  counts: what they import is known from the cache, and so is what makes their functions hot.",
        "- Memory is the sum over the processes of what is resident, every 20 ms; pages that they share count twice.",
        "- Pyrefly has as many threads as there are cores, and no cache.",
        "",
        "```",
        f"syncguard {' '.join(CHECK)} transformers",
        "```",
    ]


def _round(plan: Plan, tool: str, program: str, turn: int, costs: dict[tuple[str, str], list[Cost]]) -> None:
    project = plan.build / "project"
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(plan.transformers, project / "transformers", ignore=shutil.ignore_patterns("__pycache__"))
    (project / "pyproject.toml").write_text("")
    steps = [
        Step("cold", lambda _: None, ["transformers"]),
        Step("again", lambda _: None, ["transformers"]),
        Step("one edited file", lambda top: _comment(top, (EDITED,)), ["transformers"]),
        Step("its base edited", _line, ["transformers"]),
        Step("a function added to its base", _function, ["transformers"]),
        Step("hook, five edited files", lambda top: _comment(top, HOOK), [f"transformers/{name}" for name in HOOK]),
    ]
    for step in steps:
        parts.say(f"round {turn + 1} of {plan.rounds}: {tool}, {step.name}")
        step.before(project / "transformers")
        cost = command([program, *CHECK, *step.paths], folder=project)
        first = costs.setdefault(("SyncGuard", step.name), [cost])[0]
        if first.output != cost.output:
            raise SystemExit(f"{tool}, {step.name}: other findings than in the first round, uncompiled")
        if first is not cost:
            costs.setdefault((tool, step.name), []).append(cost)
    shutil.rmtree(project)


def _comment(top: Path, names: Sequence[str]) -> None:
    for name in names:
        with (top / name).open("a") as file:
            file.write("# edited\n")


def _line(top: Path) -> None:
    """A line inside the first function of the file."""
    path = top / BASE
    head, define, rest = path.read_text().partition("\ndef ")
    signature, end, body = rest.partition(":\n")
    path.write_text(f"{head}{define}{signature}{end}    edited = None\n{body}")


def _function(top: Path) -> None:
    """A function in front of the first one of the file."""
    path = top / BASE
    head, define, rest = path.read_text().partition("\ndef ")
    path.write_text(f"{head}\ndef added_by_the_benchmark(x):\n    return x.item()\n\n{define}{rest}")


def _pyrefly(plan: Plan) -> Cost:
    config = plan.build / "pyrefly.toml"
    config.write_text("")
    lints = [*parts.LINTED, "--config", str(config), "--python-interpreter-path", sys.executable]
    return command([str(plan.peers / "bin" / "pyrefly"), *lints, str(plan.transformers)])
