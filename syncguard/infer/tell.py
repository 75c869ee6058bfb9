"""A sighting and the text it was seen in, a Sync out: places in characters, and the because chain as sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from syncguard.infer.domain.sureness import CERTAIN, LIKELY, POSSIBLE
from syncguard.infer.domain.values import LINKS, Why
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Sighting
from syncguard.read.core import At
from syncguard.terms import Confidence, Fact, Finding, Site, Sync

SURENESS: Final[dict[int, Confidence]] = {POSSIBLE: "possible", LIKELY: "likely", CERTAIN: "certain"}
Texts = Callable[[str], Sequence[str]]
LONGEST: Final = 60
HEADER: Final = re.compile(r"(\s*)(?:async\s+)?def\b")
TAIL: Final = 24  # of what is longer, the end that is shown: what a chain of calls and indices comes to
FACTS: Final = 6
SHORT: Final = 4  # of two chains, each
WITHIN: Final = " waits for"  # how the last reason of a finding ends that is told at a call
TO_DEVICE: Final = ("copy-to-device", "host-index")  # what waits for what is on the host


def sync_of(sighting: Sighting, routine: Routine, text_of: Texts) -> Sync:
    """What a person is told of one sighting."""
    path = routine.home.path
    lines = text_of(path)
    return Sync(
        site(path, sighting.at, lines), sighting.op, sighting.hazard,
        snippet(sighting.operand, lines) if sighting.operand else "",
        reasons(sighting, text_of, path), SURENESS[sighting.sure], routine.qualname,
        sighting.context.gate,
    )  # fmt: skip


def told_at_call(finding: Finding) -> tuple[Fact, ...]:
    """The lines of other files that wait, where a finding is told at the call that leads there: the last is the wait,
    those before it call functions that are a name for that."""
    return tuple([fact for fact in finding.because if fact.path and fact.text.endswith(WITHIN)])


def site(path: str, at: At, lines: Sequence[str]) -> Site:
    """A place as people count: lines and columns from 1, in characters."""
    return Site(path, at[0], _characters(lines, at[0], at[1]) + 1, at[2], _characters(lines, at[2], at[3]) + 1)


def _characters(lines: Sequence[str], line: int, byte: int) -> int:
    if line > len(lines):
        return byte
    text = lines[line - 1]
    return byte if text.isascii() else len(text.encode()[:byte].decode(errors="replace"))


def snippet(at: At, lines: Sequence[str]) -> str:
    """The source at a place, on one line and not too long."""
    if at[0] > len(lines):
        return ""
    if at[0] == at[2]:
        text = lines[at[0] - 1]
        text = text[at[1] : at[3]] if text.isascii() else text.encode()[at[1] : at[3]].decode(errors="replace")
    else:
        first, last = lines[at[0] - 1], lines[min(at[2], len(lines)) - 1]
        parts = [
            first.encode()[at[1] :].decode(errors="replace"),
            *lines[at[0] : at[2] - 1],
            last.encode()[: at[3]].decode(errors="replace"),
        ]
        text = " ".join(part.strip() for part in parts)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - TAIL - 1]}…{text[-TAIL:]}"


def reasons(sighting: Sighting, text_of: Texts, path: str) -> tuple[Fact, ...]:
    """The chain of reasons of a sighting; behind it, shorter, that of an index from the host."""
    there = sighting.hazard not in TO_DEVICE
    if sighting.also is None:
        facts = because(sighting.why, text_of, path, there=there)
        return facts if there or sighting.why is None else (*facts, *elsewhere(sighting.why, text_of, path))
    first, then = because(sighting.why, text_of, path, SHORT, there), because(sighting.also, text_of, path, SHORT)
    return (*[fact for fact in first if fact not in then], *then)


def elsewhere(why: Why, text_of: Texts, path: str) -> tuple[Fact, ...]:
    """What may have put on the device what is taken to be on the host."""
    if why.there is None:
        return ()
    lines = text_of(why.there.path or path)
    told = f"`{snippet(why.there.at, lines)}` may have put it on the device by then"
    return (Fact(told, line(why.there, lines), why.there.path if why.there.path != path else ""),)


def because(why: Why | None, text_of: Texts, path: str, most: int = FACTS, there: bool = False) -> tuple[Fact, ...]:
    """The chain of reasons, the first cause first; a long one keeps its ends, and where it was put on the device. Of
    what is here or `there`, on the device, why it is there, if that is asked for."""
    facts: list[Fact] = []
    seen: set[tuple[At, str]] = set()
    put = 0  # how many facts stand behind the one that tells of this, with it
    while why is not None and len(seen) < LINKS:
        why = why.there or why if there else why
        if (why.at, why.text) not in seen:
            seen.add((why.at, why.text))
            lines = text_of(why.path or path)
            fact = Fact(sentence(why, lines), line(why, lines), why.path if why.path != path else "")
            if not facts or facts[-1].text != fact.text:
                facts.append(fact)
            if why.put and not put:
                put = len(facts)
        why = why.parent
    facts.reverse()
    if len(facts) <= most:
        return tuple(facts)
    ends = facts[-(most - 2) :]
    second = facts[-put] if len(ends) < put < len(facts) else facts[1]
    return facts[0], second, *ends


def line(why: Why, lines: Sequence[str]) -> int:
    """The line to look at: of what is used as a tensor, the one in its function that first asks it for that."""
    first = why.at[0]
    kind, _, detail = why.text.partition(":")
    if kind != "use" or not detail or first > len(lines):
        return first
    asked = re.compile(rf"(?<![\w.]){re.escape(snippet(why.at, lines))}\.{detail}\b")
    return next((i for i in body(first, lines) if asked.search(lines[i - 1])), first)


def body(first: int, lines: Sequence[str]) -> Iterator[int]:
    """The lines of a function from this one on, to the first that stands no deeper than its `def`."""
    above = (header for i in range(first, 0, -1) if (header := HEADER.match(lines[i - 1])) is not None)
    margin = next((len(header[1]) for header in above), -1)
    for i in range(first, len(lines) + 1):
        text = lines[i - 1]
        depth = len(text) - len(text.lstrip())
        if i > first and depth <= margin and text.strip() and not text.lstrip().startswith((")", "#")):
            return
        yield i


def sentence(why: Why, lines: Sequence[str]) -> str:
    """One reason in words."""
    source = snippet(why.at, lines)
    kind, _, detail = why.text.partition(":")
    if kind == "use" and detail:
        return f"`{source}` is used as only a tensor can be: it is asked for `.{detail}`"
    told = SENTENCES.get(kind)
    return f"`{source}` is the result of `{why.text}`" if told is None else told.format(source=source, detail=detail)


SENTENCES: Final = {
    "parameter": "`{source}` is declared to be a tensor",
    "annotation": "`{source}` is the declared type",
    "to come": "`{source}` is declared to be what is put there",
    "returned": "what is picked from `{source}` is returned by what says that it gives a tensor",
    "docstring": "`{source}` is a tensor, says the docstring",
    "forward": "`{source}` is a parameter of `forward`, which is given tensors",
    "step": "`{source}` is a parameter of `{detail}`, which is given a batch, or what a step has made of one",
    "use": "`{source}` is used as only a tensor can be",
    "both": "`{source}` is asked for `.{detail}` and for a shape: only a tensor has both",
    "moved": "`{source}` moves a tensor, or a module that holds some",
    "passed": "`{source}` is given to `{detail}`, which takes a tensor",
    "iterate": "iterating over a tensor gives tensors",
    "computed": "`{source}` is computed from tensors",
    "moved parts": "`{source}` moves what it holds to the device",
    "module": "`{source}` calls a module with tensors",
    "batch": "`{source}` takes batches from a DataLoader, which are on the host",
    "brought batch": "`{source}` takes batches from a DataLoader that brings them to the device",
    "made batch": "`{source}` takes batches from a DataLoader, made where all is that names no device",
    "pinned batch": "`{source}` gives tensors in pinned memory, on the host",
    "part": "`{source}` moves a part of a batch by hand, so it was on the host",
    "loaded": "`{source}` gives tensors on the host",
    "placed": "`{source}` puts all that it is given on the host",
    "fetched": "`{source}` is held by what brought all that it has to the host",
    "left on host": "`{source}` is the CPU where nothing else is asked for",
    "prepared": "`{source}` is given texts or images, and prepares tensors on the host",
    "torch only": "`{source}`: this function computes with torch and with no other array library",
    "loss": "`{source}`: what is read from a loss is read from a tensor",
    "overrides": "`{source}` is given what `{detail}` is given, which this overrides",
    "gives loss": "`{source}` computes the loss, as `{detail}` is given it, which this overrides",
    "wrapped": "`{source}` is what `{detail}` waits for",
    "registered": "`{source}` makes a tensor part of the module",
    "isinstance": "`{source}` was tested to be a tensor",
    "kind": "`{source}` was tested to be of a type that holds tensors",
    "mask": "`{source}` indexes a tensor, as a mask does",
    "listed": "`{source}` is a list of Python's, on the host",
    "array": "`{source}` is an array, on the host",
}
