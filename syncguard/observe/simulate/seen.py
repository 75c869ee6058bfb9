"""One wait, as the simulation tells it while the waiting thread stands there."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Literal

KIND = "simulated"


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that has gone: `list(code.co_positions())[instruction // 2]` is its place, `line` its line."""

    code: CodeType
    instruction: int  # an offset in bytes: f_lasti
    line: int


@dataclass(frozen=True, slots=True)
class Seen:
    """The host would wait here. `forward`: innermost first, what made the autograd node that waits in backward."""

    op: str
    hazard: str
    phase: Literal["forward", "backward"] = "forward"
    forward: tuple[Frame, ...] | None = None
    bytes: int = 0
    kind: str = KIND
    depends: str = ""  # on sizes, or on the layout, which only a run knows


def frames(start: FrameType | None, limit: int = 40) -> tuple[Frame, ...]:
    """The frames from this one outwards."""
    found: list[Frame] = []
    while start is not None and len(found) < limit:
        found.append(Frame(start.f_code, start.f_lasti, start.f_lineno))
        start = start.f_back
    return tuple(found)
