"""What tells steps apart, optimizers, loaders or the user's word -> the number of the step that each moment is in."""

from __future__ import annotations

import functools
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from syncguard.observe.graphs import Graphs
from syncguard.record import Steps

MOST = 50_000  # marks that are kept; later ones are not told apart
LATE = -1  # the moment of all that comes after them


class Mark(NamedTuple):
    """Something that happens once a step: which kind of thing, which one of them, when (seconds)."""

    kind: str  # user | optimizer | next | end
    which: int
    time: float


class Clock:
    """Keeps the marks of a run. A moment is the number of marks before it."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.now = 0
        self.ended = False  # as many steps as were asked for
        self.limit = 0  # in marks of one kind; 0: none
        self.begins: Callable[[], None] | None = None  # called where a step begins, as far as that is known by then
        self._seen: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()
        self.started = time.perf_counter()

    def forget(self) -> None:
        """Begin anew, in a forked process."""
        self.marks, self.now, self._seen, self._lock = [], 0, {}, threading.Lock()
        self.started = time.perf_counter()

    def mark(self, kind: str, which: int = 0) -> None:
        """Note a mark."""
        with self._lock:
            if self.ended:
                return
            if len(self.marks) >= MOST:
                self.now = LATE
                return
            first, seen = self._seen.get(kind, (which, 0))
            if kind != "optimizer" or which == first:
                self._seen[kind] = first, seen + 1
            self.ended = bool(self.limit) and self._over(kind)
            # What would begin one step too many ends the last one.
            self.marks.append(Mark("end" if self.ended and kind == "next" else kind, which, time.perf_counter()))
            self.now = len(self.marks)
            leads = next(word for word in ("user", "next", "optimizer", "end") if word in self._seen)
        if self.begins is not None and kind == leads:
            self.begins()

    def end(self, which: int) -> None:
        """Note that a loader had no more: what it was asked for begins no step."""
        with self._lock:
            if not self.ended and self.now != LATE and self.marks[-1:] and self.marks[-1][:2] == ("next", which):
                self.marks[-1] = self.marks[-1]._replace(kind="end")
                first, seen = self._seen["next"]
                self._seen["next"] = first, seen - 1
                return
        self.mark("end", which)

    def _over(self, kind: str) -> bool:
        """Whether this mark ends the last step that is wanted. One that a loader feeds lasts until its next batch."""
        seen = {kind: count for kind, (_, count) in self._seen.items()}
        if "user" in seen:
            return seen["user"] >= self.limit
        if "optimizer" in seen:
            return seen["optimizer"] >= self.limit and ("next" not in seen or kind in ("next", "end"))
        return seen.get("next", 0) + (kind == "end") > self.limit


class Told(NamedTuple):
    """Which step each moment is in (0: none), and the times at which steps begin and end (seconds)."""

    how: str
    steps: tuple[int, ...]
    spans: tuple[tuple[float, float], ...]
    tail: int = -1  # the moment in which the last step ends, unmarked: what is seen only then came after it

    def step(self, moment: int) -> int:
        return self.steps[moment] if 0 <= moment < len(self.steps) else 0

    @property
    def total(self) -> int:
        return len(self.spans)


def told(clock: Clock) -> Told:
    """The steps of a run: the user's word counts before optimizers, and those before loaders."""
    marks = clock.marks
    kinds = {mark.kind for mark in marks}
    if "user" in kinds:
        leading = frozenset(n for n, mark in enumerate(marks) if mark.kind == "user")
        return _apart(_ended("user", clock, leading, frozenset()), clock, _training(marks, leading))
    if "optimizer" in kinds:
        leading = frozenset(_leading(marks))
        return _ended("optimizer", clock, leading, _training(marks, leading))
    if "next" in kinds:
        return _begun(clock)
    return Told("none", (0,) * (len(marks) + 1), ())


def _apart(steps: Told, clock: Clock, training: frozenset[int]) -> Told:
    """The same less what other loaders feed than those of the steps: a validation, until the next batch or step."""
    if not training:
        return steps
    found, aside = [steps.steps[0]], False
    for mark, step in zip(clock.marks, steps.steps[1:], strict=True):
        if mark.kind in ("next", "end"):
            aside = mark.which not in training
        elif mark.kind == "user":
            aside = False
        found.append(0 if aside else step)
    return steps._replace(steps=tuple(found))


def _leading(marks: list[Mark]) -> Iterator[int]:
    """The numbers of the marks that count, where several optimizers step: those of the first, until it stops."""
    leader: int | None = None
    others = set[int]()
    spans: dict[int, list[int]] = {}
    for number, mark in enumerate(marks):
        if mark.kind == "optimizer":
            spans.setdefault(mark.which, []).append(number)
    for number, mark in enumerate(marks):
        if mark.kind != "optimizer":
            continue
        before = spans.get(leader, []) if leader is not None else []
        # One that first steps when the leader has made all of its steps is that of another training.
        if not before or mark.which in others or (len(before) > 1 and before[-1] < spans[mark.which][0]):
            leader = mark.which
        if mark.which == leader:
            others.clear()
            yield number
        else:
            others.add(mark.which)


def _training(marks: list[Mark], leading: frozenset[int]) -> frozenset[int]:
    """The loaders that feed the steps, and not a validation between them."""
    latest, since = None, set[int]()
    fed: set[int] = set()
    often: dict[int, int] = {}
    for number, mark in enumerate(marks):
        if mark.kind == "next":
            latest = mark.which
            since.add(mark.which)
        elif number in leading:
            fed |= {latest} if latest is not None else set()
            for which in since:
                often[which] = often.get(which, 0) + 1
            since.clear()
    return frozenset(fed | {which for which, times in often.items() if 2 * times > len(leading)})


def _ended(how: str, clock: Clock, leading: frozenset[int], training: frozenset[int]) -> Told:
    """Steps that end with a mark; those that a loader feeds end with its next one, and last until then."""
    spans: list[tuple[float, float]] = []
    number, first, last, due = 1, min(leading), max(leading), False
    # Where a loader is asked before the first step ends, what comes before that is setup.
    fed = any(mark.kind == "next" for mark in clock.marks[:first])
    inside, begun = not training and not fed, clock.started
    steps = [int(inside)]
    for at, mark in enumerate(clock.marks):
        if due and (not training or mark.kind in ("next", "end")):
            due = False
            number += 1
            spans.append((begun, mark.time))
            begun = mark.time
        if mark.kind == "next" and fed and not training:
            begun, inside, fed = mark.time, True, False
        elif mark.kind == "next" and training:
            begun = begun if inside else mark.time
            inside = mark.which in training and at < last
        elif mark.kind == "end":
            inside = at < last and (not training or (inside and _ahead(clock.marks, at, leading)))
        if at in leading:
            due = bool(training)
            if not training:
                number += 1
                spans.append((begun, mark.time))
                begun, inside = mark.time, at < last
        steps.append(number if inside else 0)
    if due:
        spans.append((begun, clock.marks[-1].time))
    return Told(how, tuple(steps), tuple(spans), _tail(steps))


def _begun(clock: Clock) -> Told:
    """Steps that begin when a loader is asked for a batch."""
    steps, spans = [0], list[tuple[float, float]]()
    inside, begun = False, 0.0
    for mark in clock.marks:
        if inside:
            spans.append((begun, mark.time))
        inside, begun = mark.kind == "next", mark.time
        steps.append(len(spans) + 1 if inside else 0)
    if inside:
        spans.append((begun, time.perf_counter()))
    return Told("loader", tuple(steps), tuple(spans), _tail(steps))


def _ahead(marks: list[Mark], at: int, leading: frozenset[int]) -> bool:
    """Was the loader that has ended here asked ahead: does the step of its last batch still come?"""
    for number in range(at + 1, len(marks)):
        if marks[number].kind == "next":
            return False
        if number in leading:
            return True
    return False


def _tail(steps: list[int]) -> int:
    """The last moment, where it belongs to a step that is not the only one."""
    return len(steps) - 1 if steps[-1] > 1 else -1


def measured(steps: Told, warmup: int) -> Steps:
    """The steps as a record has them: the warm-up is at most all but one of them."""
    warmup = max(min(warmup, steps.total - 1), 0)
    times = tuple(round(1000 * (end - begin), 3) for begin, end in steps.spans[warmup:])
    return Steps(steps.how, warmup, steps.total - warmup, times)


def aligned(told: Told, warmup: int, begins: tuple[float, ...], device_ms: tuple[float, ...]) -> tuple[float, ...]:
    """The device's times of the counted steps, in their order, up to the first that has none."""
    found: list[float] = []
    for begin, end in told.spans[warmup:]:
        first = bisect_left(begins, begin)
        if first == len(begins) or not begins[first] < end:
            break
        found.append(device_ms[first])
    return tuple(found)


def within(told: Told, since: float, until: float) -> tuple[int, ...]:
    """The first and last step, from 1, that any of a stretch of time falls in; none where it falls in no step."""
    found = [n for n, (begin, end) in enumerate(told.spans, 1) if begin < until and since < end]
    return (found[0], found[-1]) if found else ()


class Hooks:
    """While it is entered, torch's optimizers and loaders mark the clock."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._undo = ExitStack()

    def __enter__(self) -> Hooks:
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook
        from torch.utils.data import dataloader

        graphs = Graphs(lambda which: self.clock.mark("optimizer", which))
        self._undo.callback(register_optimizer_step_post_hook(lambda it, *_: graphs.stepped(id(it))).remove)
        for name in set(Graphs.WRAPPED) & set(vars(torch.cuda.CUDAGraph)):
            self._wrap(torch.cuda.CUDAGraph, name, getattr(graphs, name))
        self._wrap(dataloader._BaseDataLoaderIter, "__next__", lambda plain: _asked(plain, self.clock))
        return self

    def _wrap(self, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
        plain = vars(owner)[name]
        setattr(owner, name, wrapper(plain))
        self._undo.callback(setattr, owner, name, plain)

    def __exit__(self, *_: object) -> None:
        self._undo.close()


def _asked(plain: Callable[[Any], Any], clock: Clock) -> Callable[[Any], Any]:
    @functools.wraps(plain)
    def __next__(loader: Any) -> Any:  # noqa: N807
        which = _loader(loader)
        clock.mark("next", which)
        try:
            return plain(loader)
        except StopIteration:
            clock.end(which)
            raise

    return __next__


def _loader(iterator: Any) -> int:
    """Which loader this is an iterator of: one of the same data, read in the same way."""
    batches = getattr(iterator, "_index_sampler", None)
    way = type(getattr(batches, "sampler", batches)), getattr(batches, "batch_size", None)
    return hash((id(getattr(iterator, "_dataset", iterator)), *way))
