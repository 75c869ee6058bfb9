"""The material in, the lines of a section out: how fast, how cost grows, what a start costs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import material
import program
from measure import Cost, command, exponent, middle, worker

SYNCGUARD = str(Path(sys.executable).with_name("syncguard"))
CHECK = "check --isolated --no-cache --jobs 1 --heat all --exit-zero".split()
LINTS = [f"pytorch-efficiency-lint-{name}" for name in ("item-call", "cuda-call", "print-tensor", "redundant-to-call")]
LINTED = ["check", "--preset", "off", *(word for name in LINTS for word in ("--warn", name))]
LINTED += "--min-severity warn --output-format min-text --color never".split()
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FOUND = re.compile(r":\d+:\d+:? SG\d")
PARSE = "`ast.parse`, collector paused"


@dataclass(frozen=True)
class Plan:
    """What to measure on, and how often."""

    build: Path
    transformers: Path
    peers: Path
    rounds: int
    files: int
    sample: int
    sizes: tuple[int, ...] = SIZES


@dataclass(frozen=True)
class Runner:
    """One line of the speed table: its name, its command as a person would type it, its files, a run of it."""

    name: str
    shown: str
    files: Sequence[Path]
    run: Callable[[], Cost]
    count: Callable[[str], int]


# -- speed ----------------------------------------------------------------------------------------


def speed(plan: Plan) -> list[str]:
    """Every tool on the same files, each once per round."""
    runners = _runners(plan)
    costs: dict[str, list[Cost]] = {runner.name: [] for runner in runners}
    for turn in range(plan.rounds):
        for runner in runners:
            say(f"round {turn + 1} of {plan.rounds}: {runner.name.replace('`', '')}")
            costs[runner.name].append(runner.run())
    lines = {runner.name: material.count_lines(runner.files) for runner in runners}
    per_line = {name: [cost.cpu / lines[name] for cost in each] for name, each in costs.items()}
    torchfix = runners[-1].name
    table = [
        (
            "| tool | files | lines | wall s | processor s | lines/s | cost against `ast.parse` "
            "| times as fast as TorchFix | peak MB | findings |"
        ),
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for runner in runners:
        cost, own, length = (middle(costs[runner.name]), per_line[runner.name], lines[runner.name])
        parse, faster = _ratio(own, per_line[PARSE]), _ratio(per_line[torchfix], own)
        table.append(
            f"| {runner.name} | {len(runner.files)} | {length:,} | {cost.wall:.2f} | {cost.cpu:.2f} "
            f"| {length / cost.wall:,.0f} | {parse:.1f} | {faster:,.1f} "
            f"| {cost.memory:.0f} | {runner.count(cost.output)} |"
        )
    step, sample = plan.files // len(runners[-1].files), lines[torchfix]
    minutes = middle(costs[torchfix]).wall * lines[PARSE] / sample / 60
    return [
        f"The first {plan.files} of `transformers/models/*/modeling_*.py` by name, from the wheel of",
        f"transformers {version(plan.transformers)}. {rounds(plan.rounds)}, every tool once per round, one after the",
        "other; the table shows medians. One core each.",
        "",
        *table,
        "",
        "- The two ratios are of processor time per line, taken round by round, and then the median: other work on",
        "  the machine disturbs that least.",
        "- *In process* is the whole pipeline, from paths to findings, with modules imported and rules compiled;",
        "  *whole process* adds the start of Python and the printing of every finding.",
        f"- TorchFix reads every {_nth(step)} of these files. All of them would take it about {minutes:.0f} minutes,",
        "  in proportion to lines.",
        f"- Of Pyrefly, four torch lints are on and everything else is off. {_torch()}",
        "  Both read the modules of the same project that the files import, too; only the 300 files count as lines.",
        "- Findings are those of each tool's own rules; the tools look for different things.",
        "",
        "```",
        *(runner.shown for runner in runners),
        "```",
    ]


def _runners(plan: Plan) -> list[Runner]:
    files = material.models(plan.transformers, plan.files)
    sample = files[:: max(len(files) // plan.sample, 1)]
    config = plan.build / "pyrefly.toml"
    config.write_text("")
    lints = [*LINTED, "-j", "1"]
    pyrefly = [*lints, "--config", str(config), "--python-interpreter-path", sys.executable]
    torchfix = ["--select=ALL", "-j", "1"]
    paths, few = [str(path) for path in files], [str(path) for path in sample]
    tools, check = plan.peers / "bin", [*CHECK, "--output-format", "concise"]
    return [
        Runner(PARSE, "python benchmarks/worker.py parse LIST", files, lambda: _inside("parse", files), int),
        Runner(
            "SyncGuard, in process",
            "python benchmarks/worker.py check LIST",
            files,
            lambda: _inside("check", files),
            int,
        ),
        Runner(
            "SyncGuard, whole process",
            f"syncguard {' '.join(check)} FILES",
            files,
            lambda: command([SYNCGUARD, *check, *paths]),
            lambda text: len(FOUND.findall(text)),
        ),
        *(
            Runner(
                f"{name}, in process",
                "the same",
                files,
                lambda program=program: _inside("check", files, Path(program).with_name("python")),
                int,
            )
            for name, program in compiled(plan.build).items()
        ),
        Runner(
            "Pyrefly, four torch lints",
            f"pyrefly {' '.join(lints)} --python-interpreter-path python FILES",
            files,
            lambda: command([str(tools / "pyrefly"), *pyrefly, *paths]),
            lambda text: text.count("[pytorch-efficiency-lint"),
        ),
        Runner(
            "TorchFix, all rules",
            f"torchfix {' '.join(torchfix)} FILES",
            sample,
            lambda: command([str(tools / "torchfix"), *torchfix, *few]),
            lambda text: text.count(": TOR"),
        ),
    ]


def _inside(what: str, files: Sequence[Path], python: Path | None = None) -> Cost:
    told = worker(what, files, python)
    return Cost(told["wall"], told["cpu"], told["memory"], str(told["findings"]))


def compiled(build: Path) -> dict[str, str]:
    """SyncGuard as it is when its hot rooms are compiled; nothing where that cannot be done here."""
    program = material.compiled(build)
    return {"SyncGuard, compiled": str(program)} if program else {}


def _torch() -> str:
    found = "import torch; print(torch.__version__)"
    asked = subprocess.run([sys.executable, "-c", found], capture_output=True, text=True, check=False)
    if asked.returncode:
        return "torch is not installed, so it knows the type of no tensor: it is quicker than in use, and blind."
    return f"It reads the types of torch {asked.stdout.strip()}."


# -- growth ---------------------------------------------------------------------------------------


def growth(plan: Plan) -> list[str]:
    """The check in process, on ever more of the package."""
    sets = {size: material.subset(plan.transformers, size) for size in plan.sizes}
    told: dict[int, list[tuple[Mapping[str, float], float]]] = {size: [] for size in sets}
    for turn in range(plan.rounds):
        for size, files in sets.items():
            if turn and size > 100_000:
                continue
            say(f"round {turn + 1} of {plan.rounds}: {size:,} lines")
            told[size].append((worker("check", files), worker("parse", files)["cpu"]))
    table = [
        "| lines | files | wall s | processor s | lines/s | cost against `ast.parse` | peak MB |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]
    points: list[tuple[float, float]] = []
    for size, files in sets.items():
        lines = material.count_lines(files)
        wall, cpu, memory = (median(run[key] for run, _ in told[size]) for key in ("wall", "cpu", "memory"))
        ratio = median(run["cpu"] / parse for run, parse in told[size])
        points.append((lines, cpu))
        spent = f"{wall:.2f} | {cpu:.2f} | {lines / wall:,.0f} | {ratio:.1f} | {memory:.0f}"
        table.append(f"| {lines:,} | {len(files)} | {spent} |")
    return [
        f"`syncguard check` in process, on parts of the whole transformers {version(plan.transformers)} package, its",
        "files taken in the order of a hash of their names. The largest part is as much as there is.",
        f"{rounds(plan.rounds)} up to 100,000 lines, one above; medians.",
        "",
        *table,
        "",
        f"Processor time grows as lines to the power of **{exponent(points):.2f}** (least squares on the logarithms);",
        f"from the last part but one to the last it is {exponent(points[-2:]):.2f}.",
    ]


# -- start-up -------------------------------------------------------------------------------------


def startup(plan: Plan) -> list[str]:
    """What the shortest runs cost: an empty Python, a clean file, a file with ten findings."""
    clean, ten = plan.build / "clean.py", plan.build / "ten.py"
    clean.write_text(program.text(waits=0))
    ten.write_text(program.text(waits=10))
    found = [_findings(path) for path in (clean, ten)]
    runs = {
        "`python -c pass`": [sys.executable, "-c", "pass"],
        f"`syncguard check`, {found[0]} findings": [SYNCGUARD, *CHECK, str(clean)],
        f"`syncguard check`, {found[1]} findings, shown in full": [SYNCGUARD, *CHECK, str(ten)],
    }
    costs: dict[str, list[Cost]] = {name: [] for name in runs}
    times = 10
    for name, words in runs.items():
        command(words)
        say(f"{times} times {name.replace('`', '')}")
    for _ in range(times):
        for name, words in runs.items():
            costs[name].append(command(words))
    table = ["| run | wall ms | processor ms | slowest ms | peak MB |", "|---|--:|--:|--:|--:|"]
    for name, each in costs.items():
        cost, slowest = middle(each), max(one.wall for one in each)
        spent = " | ".join(f"{seconds * 1000:.0f}" for seconds in (cost.wall, cost.cpu, slowest))
        table.append(f"| {name} | {spent} | {cost.memory:.0f} |")
    lines = material.count_lines((clean,))
    return [
        f"Whole processes, on a file of {lines} lines that `benchmarks/program.py` writes. {times} times each in turn",
        "after one run that does not count; medians.",
        "",
        *table,
        "",
        "```",
        f"syncguard {' '.join(CHECK)} FILE",
        "```",
    ]


def _findings(path: Path) -> int:
    return len(json.loads(command([SYNCGUARD, *CHECK, "-o", "json", str(path)]).output)["findings"])


# -- words ----------------------------------------------------------------------------------------


def _ratio(above: Sequence[float], below: Sequence[float]) -> float:
    return median(a / b for a, b in zip(above, below, strict=True))


def rounds(count: int) -> str:
    return "One round" if count == 1 else f"{count} rounds"


def _nth(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 * (number % 100 not in (11, 12, 13)), "th")
    return f"{number}{suffix}"


def version(folder: Path) -> str:
    said = re.search(r"""^__version__ = ["'](.*)["']""", (folder / "__init__.py").read_text(), re.MULTILINE)
    return said[1] if said else "of unknown version"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
