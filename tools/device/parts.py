"""The parts of `make device`: each takes a desk and yields results, small dictionaries for evidence/."""

from __future__ import annotations

import itertools
import pickle
import re
import signal
import subprocess
import sys
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import programs
import real
import savings
import story
import torch

from syncguard import pack
from syncguard.observe import doctor
from syncguard.observe.apart import Died, Next, apart
from syncguard.observe.measure import Answer, Real, simulated
from syncguard.observe.samples import Call, label_of, line_of, operator_calls, operators

HERE = Path(__file__).parent
BLOCKING = re.compile("Synchronize|Memcpy|Malloc|Free|HostAlloc")
RESERVE = 5.0  # seconds in which a part that collects first can tell what it has
DTYPES = (torch.float32, torch.int64, torch.bool)


@dataclass
class Desk:
    """What a part works with: a device, real or in a dry run simulated, and the time that it may take."""

    dry: bool
    until: float = float("inf")
    rules: Any = field(default_factory=pack.load)
    keep: Path | None = None  # what programs of libraries save is copied there
    halves: Path | None = None  # where what is found without the device is kept by processes beside this one

    @property
    def late(self) -> bool:
        return time.perf_counter() > self.until

    @property
    def left(self) -> float:
        return self.until - time.perf_counter()

    def half(self, make: Callable[[Desk], Any]) -> Any:
        """What a function finds without the device: kept, or found now."""
        path = self.halves / f"{make.__name__}.pickle" if self.halves else None
        return pickle.loads(path.read_bytes()) if path and path.is_file() else make(self)

    def asked(self, ask: Callable[..., Iterator[Any]], *args: Any) -> Iterator[Any]:
        """What a generator finds on the device, in a process of its own, until it is late; in a dry run here."""
        for told in ask(lambda what: True, True, *args) if self.dry else apart(ask, False, *args):
            if isinstance(told, Died) and told.what is None:
                raise RuntimeError(f"what asks the device {told.how}")
            yield told
            if self.late:
                return


def device(dry: bool, rules: Any) -> AbstractContextManager[Any]:
    """Something to ask, for as long as this lasts."""
    return simulated(rules) if dry else closing(Real())


def questions(desk: Desk) -> Iterator[dict[str, Any]]:
    """What the literature leaves open, by the protocol of questions.toml: what rows, clock, layers and profiler say."""
    said = desk.half(questions_said)
    for told in desk.asked(questions_asked):
        if isinstance(told, Died):
            name, n = told.what
            yield {"question": name, "row": "", "call": "", "n": n, "said": None,
                   "found": {"waited": None, "fault": told.how}}  # fmt: skip
            continue
        key = told["question"], told["n"], told["call"]
        yield {"question": told["question"], "row": told["row"], "call": told["call"], "n": told["n"],
               "said": said.get(key)} | told  # fmt: skip


def questions_said(desk: Desk) -> dict[tuple[str, int, str], bool | None]:
    """What the rows say of every call."""
    found = {}
    with simulated(desk.rules) as one, names() as space:
        for question, n in sizes(desk.dry):
            for call in calls_of(question, n, space):
                found[question["name"], n, call.text] = one.ask(call.run).waited
    return found


def questions_asked(about: Next, dry: bool) -> Iterator[dict[str, Any]]:
    """What the device does in every call."""
    wanted = iter((True,) if dry else itertools.repeat(True))  # the simulated runtime has no calls: once is proof
    with device(dry, pack.load()) as one, names() as space:
        for question, n in sizes(dry):
            if not about((question["name"], n)):
                continue
            for call in calls_of(question, n, space):
                answer = Answer(None, fault=call.fault) if call.fault else one.ask(call.run)
                result = {"question": question["name"], "row": call.row, "call": call.text, "n": n}
                result |= {"found": told(answer)}
                yield result | ({"profiled": profiled(call.run)} if not answer.fault and next(wanted, False) else {})


def sizes(dry: bool) -> list[tuple[dict[str, Any], int]]:
    """Every question at its sizes; in a dry run at the first."""
    table = tomllib.loads((HERE / "questions.toml").read_text("utf-8"))["question"]
    return [(question, n) for question in table for n in question["sizes"][: 1 if dry else None]]


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
    checked, faults = desk.half(rows_said)
    wanted = doctor.select_of(desk.rules, ())
    every = checked if desk.dry else doctor.clocked(checked, wanted, True, faults, lambda: desk.late)
    reasons = doctor.explained()
    for one in every:
        sentence = "" if one.text in reasons else doctor.against(one, desk.rules)
        result: dict[str, Any] = {"row": one.row, "call": one.text, "said": one.said.waited if one.said else None}
        result |= {"hazards": list(one.said.hazards)} if one.said and one.said.hazards else {}
        result |= {"found": told(one.found)} if one.found else {}
        result |= {"fake": one.fake} if one.fake else {}
        yield result | ({"against": sentence} if sentence else {})


def rows_said(desk: Desk) -> tuple[tuple[doctor.Checked, ...], dict[str, str]]:
    """All that is said of the rows' calls without a device."""
    return doctor.said(desk.rules, opinfo=not desk.dry)


def opinfo(desk: Desk) -> Iterator[dict[str, Any]]:
    """Torch's own sample inputs: a letter for each, W waited, q did not, ? failed; simulated and real side by side."""
    kept: dict[tuple[str, str], str] = {}
    for told in desk.asked(opinfo_asked):
        name, dtype = told.what if isinstance(told, Died) else told[:2]
        kept[name, dtype] = f"! {told.how}" if isinstance(told, Died) else told[2]
        if desk.left < RESERVE:
            break
    said = desk.half(opinfo_said)  # last: it takes longest
    for (name, dtype), found in kept.items():
        first = said.get((name, dtype), "")
        if first or found:
            agree = all(a == b for a, b in zip(first, found) if "?" not in (a, b)) and "!" not in found
            yield {"op": name, "dtype": dtype, "said": first, "found": found, "agree": agree}


def opinfo_said(desk: Desk) -> dict[tuple[str, str], str]:
    """What the rows say of torch's samples."""
    asked = operators_asked(lambda what: not desk.late, desk.dry, True)
    return {(name, dtype): found for name, dtype, found in asked}


def opinfo_asked(about: Next, dry: bool) -> Iterator[tuple[str, str, str]]:
    """What the device does in torch's samples."""
    yield from operators_asked(about, dry, dry)


def operators_asked(about: Next, few: bool, simulate: bool) -> Iterator[tuple[str, str, str]]:
    most, every = (1, operators()[::40]) if few else (2, operators())
    with device(simulate, pack.load()) as one:
        for op, dtype in itertools.product(every, DTYPES):
            if about((label_of(op), str(dtype)[6:])):
                yield label_of(op), str(dtype)[6:], letters(one, op, dtype, most)


def letters(device: Any, op: Any, dtype: torch.dtype, most: int) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = [device.ask(c.run) for c in operator_calls(op, "cuda", dtype, most) if not c.fault]
    return "".join("?" if a.waited is None else "W" if a.waited else "q" for a in answers)


def pages(desk: Desk) -> Iterator[dict[str, Any]]:
    """Every program of every rule page: the lines that waited, against its marks and against the simulated device."""
    said = desk.half(pages_said)
    for page, program in programs.every(desk.rules):
        found, fault = programs.waits(program, desk.rules, desk.dry)
        must, may = programs.marks(program)
        expected = set(said.get((page, program.line), ()))
        result: dict[str, Any] = {"page": page, "line": program.line, "section": program.section}
        if fault:
            result["fault"] = fault
        result |= {"silent": sorted(must - set(found)), "unmarked": sorted(set(found) - may - expected)}
        result |= {"only_said": sorted(expected - set(found)), "only_found": sorted(set(found) - expected)}
        yield result | {"agree": not (fault or result["silent"] or result["only_said"] or result["only_found"])}


def pages_said(desk: Desk) -> dict[tuple[str, int], list[int]]:
    """The lines of every program that wait, simulated."""
    return {(page, one.line): sorted(programs.waits(one, desk.rules, dry=True)[0])
            for page, one in programs.every(desk.rules)}  # fmt: skip


def libraries(desk: Desk) -> Iterator[dict[str, Any]]:
    """Programs that use real libraries, simulated and on the device: lines that both tell, and that only one does."""
    yield from real.compared(desk.dry, min(desk.left, real.PATIENCE), desk.keep)


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
    files = [
        str(path) for path in sorted((root / "tests").glob("test_*.py")) if "mark.device" in path.read_text("utf-8")
    ]
    words = "pytest -q -m device --tb=short --show-capture=no -p no:cacheprovider"
    command = [sys.executable, "-m", *words.split()]
    command += [*files, *(["--collect-only"] if desk.dry else [])]
    run = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        text, _ = run.communicate(timeout=None if desk.dry else max(desk.left, 1.0))
    except subprocess.TimeoutExpired:
        run.send_signal(signal.SIGINT)  # pytest then tells of what it came to
        text, _ = run.communicate(timeout=30)
    if desk.keep:
        (desk.keep / "tests.log").write_text(text)
    last = text.strip().split("\n")[-1]
    yield {"code": run.returncode, "said": last, "failed": failures(text)}


def failures(text: str, most: int = 12) -> list[str]:
    """Each failed test of a report of pytest, with the last lines of what it says."""
    heads = [*re.finditer(r"^_+ (test\S.*?) _+$", text, re.MULTILINE)]
    ends = [*(head.start() for head in heads[1:]), text.find("\n====", heads[-1].end()) if heads else -1]
    found = []
    for head, end in zip(heads, ends):
        said = [line[:160] for line in text[head.end() : end if end > 0 else None].split("\n") if line.strip()]
        found.append("\n".join((head[1], *said[-most:])))
    named = [line for line in text.split("\n") if line.startswith("ERROR")]
    return found + named


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
    beside: bool = False  # nothing is timed: others may run at the same time
    half: Callable[[Desk], Any] | None = None  # what it finds without the device, in a process beside the others


PARTS = {
    "pages": Part(pages, 0.1, beside=True),
    "tests": Part(tests, 0.1),
    "libraries": Part(libraries, 0.1, beside=True),
    "questions": Part(questions, 0.1, half=questions_said),
    "doctor": Part(rows, 0.18, half=rows_said),
    "story": Part(story.told, 0.1),
    "savings": Part(savings.told, 0.04),
    "fixes": Part(fixes, 0.1),
    "overhead": Part(overhead, 0.05),
    "opinfo": Part(opinfo, 0.11, half=opinfo_said),
    "profiles": Part(story.profiles, 0.02),
}
