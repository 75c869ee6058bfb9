"""What a run observed, as a typed record: written by `observe`, read by `compare` and `show`. JSON, version 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

VERSION = 1
COMMANDS = "What the program started by a command is not watched."  # a note


class RecordError(Exception):
    """A file that is not a record that this version reads; the message is one line."""


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in source: 1-based lines and columns (in characters), the end column exclusive; 0 where not known."""

    path: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""
    source: str = ""  # the text of the line


class Wait(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place at which one op made the host wait, with all the times that it did."""

    place: Place
    op: str  # the key of a row in rules/ops: "torch.Tensor.item"
    hazard: str  # "item"; "unpredicted" where no row says so
    kind: str = ""  # what waited: "cudaStreamSynchronize", "memcpy DtoH", "simulated"
    code: str = ""  # the rule: "SG201"
    phase: str = "forward"  # forward | backward | optimizer | loader
    forward: Place | None = None  # of a wait in backward: the line that made the node
    thread: str = "main"
    stack: tuple[Place, ...] = ()  # the callers, innermost first, without libraries' inner frames
    entrances: tuple[Place, ...] = ()  # of a wait in a library: the project's lines that led there, at most 16
    count: int = 0  # in all
    steps: tuple[tuple[int, int], ...] = ()  # (step, count) of the steps that had any, from 1, the warm-up first
    wait_us: tuple[float, ...] = ()  # time blocked, each time that it was measured
    bubble_us: tuple[float, ...] = ()  # GPU idle time that it caused, likewise
    verdict: str = ""  # gpu-bound | host-bound | true-dependency | "" where not measured
    static: str = ""  # confirmed | missed-alarm | depends-on-sizes | depends-on-layout | "" where not compared
    hint: str = ""  # what `check` suggests in this place; "" where not predicted
    allowed: str = ""  # the reason of an `allow` in force
    call: str = ""  # of the function that waits, with arguments of the same kinds: "loss(torch.rand([8]))"
    depends: str = ""  # sizes | layout: what decides that it waits, where no source tells that
    ranks: tuple[int, ...] = ()  # of a merged record: the ranks that have it; the numbers are those of one of them


class Machine(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the program ran."""

    mode: str  # cuda | simulate
    device: str = ""  # "NVIDIA H200", "simulated"
    torch: str = ""
    python: str = ""
    cuda: str = ""
    driver: str = ""
    system: str = ""
    used: bool = True  # a tensor was on the device: where none was, no finding is a false alarm


class Steps(msgspec.Struct, frozen=True, omit_defaults=True):
    """The steps of the run: how they were told, how many, and how long each took."""

    how: str = "none"  # optimizer | loader | user | none
    warmup: int = 0
    counted: int = 0
    host_ms: tuple[float, ...] = ()
    device_ms: tuple[float, ...] = ()  # the same steps; fewer where the end of the last was not seen
    profiled: tuple[int, ...] = ()  # the first and last step, from 1, that a profiler slowed down
    utilised: float = 0.0  # of the profiled steps' time: the share in which the device worked; 0 if not measured


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stretch of one lane of the timeline; `wait` is an index into the record's waits, or -1."""

    lane: str  # step | host | wait | gpu | copy | idle
    name: str
    start_us: float
    duration_us: float
    wait: int = -1
    thread: str = ""


class WhatIf(msgspec.Struct, frozen=True, omit_defaults=True):
    """What removing some waits together would save of a step, in device time."""

    waits: tuple[int, ...]
    step_ms: float
    saved_ms: float
    calls_ms: float = 0.0  # of the host, in calls that only read a number, besides the waiting: gone as well


class Static(msgspec.Struct, frozen=True, omit_defaults=True):
    """A static finding joined to the run."""

    place: Place
    code: str
    message: str
    verdict: str  # confirmed | false-alarm | untested
    waits: tuple[int, ...] = ()
    confidence: str = "likely"  # certain | likely | possible: what is only possible `check` shows where it is asked to


class Versioned(msgspec.Struct, frozen=True):
    """What a record of any version says of itself."""

    version: int


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run, of one rank or merged."""

    version: int
    tool: str  # "syncguard 0.1.0"
    machine: Machine
    command: tuple[str, ...] = ()
    folder: str = ""  # what relative paths are relative to
    started: str = ""  # ISO 8601, UTC
    seconds: float = 0.0
    complete: bool = True
    ended: str = "exit 0"  # exit N | exception Type: text | signal NAME
    rank: int = 0
    world: int = 1
    steps: Steps = Steps()
    waits: tuple[Wait, ...] = ()
    executed: dict[str, tuple[tuple[int, int], ...]] = {}  # path: first and last line of every executed stretch
    timeline: tuple[Span, ...] = ()
    what_if: tuple[WhatIf, ...] = ()
    findings: tuple[Static, ...] = ()
    notes: tuple[str, ...] = ()  # what could not be seen or was left out, a sentence each


def when(wait: Wait, steps: Steps) -> str:
    """When it waits: `step` in the counted steps, `first` only in the warm-up, `setup` in none, `run` without steps."""
    if not steps.counted:
        return "run"
    return "step" if any(n > steps.warmup for n, _ in wait.steps) else "first" if wait.steps else "setup"


def per_step(wait: Wait, steps: Steps) -> float:
    """How often it waits in a counted step, on average; in the whole run where there are no steps."""
    if not steps.counted:
        return float(wait.count)
    return sum(count for n, count in wait.steps if n > steps.warmup) / steps.counted


def load(path: str) -> Record:
    """Read a record; RecordError where the file is none."""
    try:
        raw = Path(path).read_bytes()
    except OSError as fault:
        raise RecordError(f"{path}: cannot be read: {fault.strerror or fault}") from None
    try:
        version = msgspec.json.decode(raw, type=Versioned).version
        if version != VERSION:
            raise RecordError(f"{path}: a record of version {version}; this SyncGuard reads version {VERSION}")
        record = msgspec.json.decode(raw, type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise RecordError(f"{path}: not a record of `syncguard run`: {fault}") from None
    if any("\0" in name for name in _names(record)):
        raise RecordError(f"{path}: not a record of `syncguard run`: a path in it has a NUL character")
    return record


def _names(record: Record) -> Iterator[str]:
    """The paths in it, which are opened."""
    yield record.folder
    yield from record.executed
    for wait in record.waits:
        yield from (place.path for place in (wait.place, wait.forward, *wait.stack, *wait.entrances) if place)
    yield from (finding.place.path for finding in record.findings)


def text(record: Record) -> bytes:
    """The record as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
