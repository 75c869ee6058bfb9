"""The parts of `make device`: each takes a desk and yields results, small dictionaries for evidence/."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import programs
import story
import torch

from syncguard import pack
from syncguard.observe import doctor
from syncguard.observe.measure import Answer, Real, simulated
from syncguard.observe.samples import Call, line_of, operator_calls, operators

HERE = Path(__file__).parent
BLOCKING = re.compile("Synchronize|Memcpy|Malloc|Free|HostAlloc")
DTYPES = (torch.float32, torch.int64, torch.bool)


@dataclass
class Desk:
    """What a part works with: a device, real or in a dry run simulated, and the time that it may take."""

    dry: bool
    until: float = float("inf")
    rules: Any = field(default_factory=pack.load)
    begun: float = field(default_factory=time.perf_counter)

    @property
    def late(self) -> bool:
        return time.perf_counter() > self.until

    @cached_property
    def real(self) -> Real:
        return Real()

    def device(self) -> AbstractContextManager[Any]:
        """Something to ask, for as long as this lasts."""
        return simulated(self.rules) if self.dry else nullcontext(self.real)


def questions(desk: Desk) -> Iterator[dict[str, Any]]:
    """What the literature leaves open, by the protocol of questions.toml: what rows, clock, layers and profiler say."""
    table = tomllib.loads((HERE / "questions.toml").read_text("utf-8"))["question"]
    asked = [(question, n) for question in table for n in question["sizes"][: 1 if desk.dry else None]]
    said: dict[tuple[str, int], list[Answer]] = {}
    with simulated(desk.rules) as device, names() as space:
        for question, n in asked:
            said[question["name"], n] = [device.ask(call.run) for call in calls_of(question, n, space)]
    wanted = iter((True,) if desk.dry else itertools.repeat(True))  # the simulated runtime has no calls: once is proof
    with desk.device() as device, names() as space:
        for question, n in asked:
            for call, expected in zip(calls_of(question, n, space), said[question["name"], n]):
                answer = Answer(None, fault=call.fault) if call.fault else device.ask(call.run)
                result = {"question": question["name"], "row": call.row, "call": call.text, "n": n}
                result |= {"said": expected.waited, "found": told(answer)}
                yield result | ({"profiled": profiled(call.run)} if not answer.fault and next(wanted, False) else {})


def calls_of(question: dict[str, Any], n: int, space: dict[str, Any]) -> Iterator[Call]:
    """The calls of a question at one size; what it makes is made once."""
    mine, fault = dict(space), ""
    try:
        exec(question["make"].replace("{n}", str(n)), mine)
    except Exception as problem:
        fault = f"{type(problem).__name__}: {problem}".split("\n")[0][:120]
    for row, texts in question["calls"].items():
        for text in texts:
            call = line_of(row, {"make": "", "call": text.replace("{n}", str(n))}, mine)
            yield replace(call, fault=fault)


def profiled(call: Callable[[], Any]) -> list[str]:
    """The calls of the CUDA runtime in it that can hold the host."""
    kinds = [torch.profiler.ProfilerActivity.CPU]
    kinds += [torch.profiler.ProfilerActivity.CUDA] if torch.profiler.kineto_available() and on_gpu() else []
    with warnings.catch_warnings(), torch.profiler.profile(activities=kinds) as profile:
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception:
            return []
    seen = (event.name for event in profile.events() or ())
    # The last one is the profiler's own, at the end of its window.
    return [name for name in seen if name.startswith(("cuda", "hip")) and BLOCKING.search(name)][:-1]


def on_gpu() -> bool:
    """Whether this torch has a device in earnest; the simulated one says that it has, too."""
    return torch.version.cuda is not None or torch.version.hip is not None


def rows(desk: Desk) -> Iterator[dict[str, Any]]:
    """Every call of every row: what the row says, what the device did, what the oracles say."""
    found = doctor.diagnose(desk.rules, opinfo=not desk.dry)
    said = {(one.row, one.text): sentence for one, sentence in doctor.conflicts(found, desk.rules)}
    for one in found.checked:
        result: dict[str, Any] = {"row": one.row, "call": one.text, "said": one.said.waited if one.said else None}
        result |= {"hazards": list(one.said.hazards)} if one.said and one.said.hazards else {}
        result |= {"found": told(one.found)} if one.found else {}
        result |= {"fake": one.fake} if one.fake else {}
        result |= {"against": said[one.row, one.text]} if (one.row, one.text) in said else {}
        yield result


def opinfo(desk: Desk) -> Iterator[dict[str, Any]]:
    """Torch's own sample inputs: a letter for each, W waited, q did not, ? failed; simulated and real side by side."""
    most, every = (1, operators()[::40]) if desk.dry else (4, operators())
    first: dict[tuple[str, str], str] = {}
    with simulated(desk.rules) as device:
        for op, dtype in itertools.product(every, DTYPES):
            if time.perf_counter() > (desk.begun + desk.until) / 2:  # the other half is for the device
                break
            first[label(op), str(dtype)] = letters(device, op, dtype, most)
    with desk.device() as device:
        for op, dtype in itertools.product(every, DTYPES):
            said = first.get((label(op), str(dtype)), "")
            found = letters(device, op, dtype, most)
            if said or found:
                agree = all(a == b for a, b in zip(said, found) if "?" not in (a, b))
                yield {"op": label(op), "dtype": str(dtype)[6:], "said": said, "found": found, "agree": agree}


def label(op: Any) -> str:
    return f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}"


def letters(device: Any, op: Any, dtype: torch.dtype, most: int) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = [device.ask(c.run) for c in operator_calls(op, "cuda", dtype, most) if not c.fault]
    return "".join("?" if a.waited is None else "W" if a.waited else "q" for a in answers)


def pages(desk: Desk) -> Iterator[dict[str, Any]]:
    """Every program of every rule page: the lines that are marked against the lines that waited."""
    for page, program in programs.every(desk.rules):
        seen, fault = programs.waits(program, desk.rules, desk.dry)
        must, may = programs.marks(program)
        result: dict[str, Any] = {"page": page, "line": program.line, "section": program.section}
        if fault:
            result["fault"] = fault
        result |= {"silent": sorted(must - set(seen)), "unmarked": sorted(set(seen) - may)}
        yield result | {"agree": not fault and not result["silent"] and not result["unmarked"]}


def fixes(desk: Desk) -> Iterator[dict[str, Any]]:
    """Every Caught program and its rewrite: the same values and gradients, free of waits, and the time of both."""
    for page, before, after, how in programs.pairs(desk.rules):
        yield {"page": page, "line": before.line, "how": how, **programs.compared(before, after, desk.rules, desk.dry)}


def overhead(desk: Desk) -> Iterator[dict[str, Any]]:
    """A step of the story under each recording layer, against a step under none."""
    yield from story.overhead(desk)


def tests(desk: Desk) -> Iterator[dict[str, Any]]:
    """The tests that are marked `device`."""
    root = HERE.parents[1]
    files = [str(path) for path in sorted((root / "tests").glob("test_*.py")) if "mark.device" in path.read_text("utf-8")]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "device", "--tb=line", "-p", "no:cacheprovider", *files]
    command += ["--collect-only"] if desk.dry else []
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    last = done.stdout.strip().split("\n")[-1]
    failed = [line for line in done.stdout.split("\n") if line.startswith(("FAILED", "ERROR"))]
    yield {"code": done.returncode, "said": last, "failed": failed}


def told(answer: Answer) -> dict[str, Any]:
    """An answer in few words: what is empty is left out."""
    full = {"waited": answer.waited, "host_ms": answer.host_ms, "warned": answer.warned, "traced": list(answer.traced),
            "hazards": list(answer.hazards), "fault": answer.fault}  # fmt: skip
    return {key: value for key, value in full.items() if key == "waited" or value}


@contextmanager
def names() -> Iterator[dict[str, Any]]:
    """What the setup of rules/samples.toml makes, for as long as this lasts."""
    table = tomllib.loads((pack.home() / "samples.toml").read_text("utf-8"))
    space: dict[str, Any] = {"__name__": "questions"}
    exec(table["setup"], space)
    try:
        yield space
    finally:
        exec(table["after"], space)


@dataclass(frozen=True)
class Part:
    """A generator of results, and the share of the time that it may take."""

    run: Callable[[Desk], Iterator[dict[str, Any]]]
    share: float


PARTS = {
    "questions": Part(questions, 0.12),
    "doctor": Part(rows, 0.15),
    "pages": Part(pages, 0.08),
    "story": Part(story.told, 0.2),
    "overhead": Part(overhead, 0.05),
    "opinfo": Part(opinfo, 0.22),
    "fixes": Part(fixes, 0.1),
    "profiles": Part(story.profiles, 0.03),
    "tests": Part(tests, 0.05),
}
