"""The seven words of SyncGuard, frozen and without logic: Site, Op, Value, Sync, Rule, Finding, Edit."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Heat = Literal["hot", "amortized", "unknown", "cold"]
Confidence = Literal["certain", "likely", "possible"]
Level = Literal["error", "warning", "advice"]
Tier = Literal["safe", "unsafe", "display"]
SETUP = "setup"  # the hazard that no page judges: a wait of what a program does once, which a run tells
BACKWARD = "backward "  # before the hazard of a call whose backward waits, where the call itself does not
UPLOAD = "copy-to-device"  # the hazard of a module that is moved at every step, which is no setup


class Site(msgspec.Struct, frozen=True, order=True, array_like=True):
    """A place in source: 1-based lines and columns (in characters), the end column exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Wait(msgspec.Struct, frozen=True, array_like=True):
    """One way in which an op makes the host wait: a hazard, and the named conditions under which it holds."""

    hazard: str
    when: tuple[tuple[str, str], ...] = ()
    on: str = "argument"
    of: str = ""  # the argument that is waited for, where it is not the first that is on the device
    since: str = ""
    until: str = ""
    mode: bool = True  # torch.cuda.set_sync_debug_mode reports it
    how: str = ""  # how it waits this way, where the op waits in several


class Op(msgspec.Struct, frozen=True, array_like=True):
    """What a torch callable does: its result, and when the host waits for it. No waits: known not to wait."""

    name: str
    args: tuple[str, ...] = ()
    returns: str = ""
    waits: tuple[Wait, ...] = ()
    known: bool = False
    aten: str = ""
    mechanism: str = ""
    alternative: str = ""
    caveat: str = ""
    untried: str = ""  # why no call of it can be made where there is no GPU
    since: str = ""
    until: str = ""
    evidence: tuple[dict[str, Any], ...] = ()
    keywords: tuple[str, ...] = ()  # arguments that are given by name alone
    writes: tuple[str, ...] = ()  # arguments that it writes into though its name does not say so: `weight if max_norm`
    backward: tuple[Wait, ...] = ()  # when the backward of what it gives waits, which the call itself does not
    takes: tuple[int, ...] = ()  # the places of the arguments that can be nothing but a tensor

    @property
    def signature(self) -> tuple[str, ...]:
        """The names of its arguments as a row has them, with a star before those that are given by name alone."""
        return (*self.args, "*", *self.keywords) if self.keywords else self.args


class Value:
    """What we know of an expression. The kinds are in infer/values.py."""

    __slots__ = ()


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """One link of a *because* chain: a sentence and the place that shows it."""

    text: str
    line: int
    path: str = ""


class Sync(msgspec.Struct, frozen=True, array_like=True):
    """The host may wait here: predicted from source, or observed in a run."""

    site: Site
    op: str
    hazard: str
    operand: str = ""
    because: tuple[Fact, ...] = ()
    confidence: Confidence = "likely"
    function: str = ""
    gate: str = ""


class Rule(msgspec.Struct, frozen=True, array_like=True):
    """A page of judgement."""

    code: str
    name: str
    level: Level
    hazards: tuple[str, ...]
    message: str
    hint: str
    why: str = ""
    breaks: tuple[str, ...] = ()
    fix: tuple[str, ...] = ()
    since: str = ""
    default: bool = True
    path: str = ""
    hints: tuple[tuple[str, str], ...] = ()  # by the manner of waiting, where another than `hint` fits better
    backward: str = ""  # the message where only the backward waits


class Edit(msgspec.Struct, frozen=True, array_like=True):
    """Text for a span."""

    site: Site
    text: str


class Fix(msgspec.Struct, frozen=True, array_like=True):
    """Edits that belong together: the recipe that made them, how far they are proven, and what they change.

    `leaves` is how many waits the new text has, at a place that is reached less often. `bolder` is one that is not
    proven and leaves fewer, or takes less work.
    """

    recipe: str
    tier: Tier
    message: str
    edits: tuple[Edit, ...]
    leaves: int = 0
    bolder: Fix | None = None


class Finding(msgspec.Struct, frozen=True, array_like=True):
    """A rule meeting a sync."""

    site: Site
    code: str
    name: str
    op: str
    message: str
    hint: str
    because: tuple[Fact, ...]
    hot_path: tuple[Fact, ...]
    heat: Heat
    confidence: Confidence
    level: Level
    breaks: tuple[str, ...] = ()
    function: str = ""
    fix: Fix | None = None
    allowed: str = ""  # the reason that a comment gives
    options: tuple[Fact, ...] = ()  # what must be set for the place to be reached: by default it is not
    verdict: str = ""  # of a run: confirmed, false-alarm, untested; "" where there was none
