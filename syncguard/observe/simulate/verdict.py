"""A call and its row -> the hazards at which it waits, told to `seen` unless a row further out has spoken for it."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from itertools import islice
from types import CodeType, FrameType
from typing import Any

import torch

from syncguard.observe.simulate.arguments import Arguments
from syncguard.observe.simulate.conditions import hold
from syncguard.observe.simulate.marks import DEVICE, local, names_device, on_device, tensors
from syncguard.observe.simulate.refused import DebugMode, in_a_capture
from syncguard.observe.simulate.seen import Frame, Seen
from syncguard.observe.simulate.spelling import spelled
from syncguard.pack import Pack
from syncguard.pack.returns import depends_on
from syncguard.terms import SETUP, Op, Wait

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
STANDARD = sysconfig.get_paths()["stdlib"] + os.sep
COPIES = ("copy-to-host", "copy-to-device", "unpinned-loader", "host-data", "host-index")
FORWARD = "syncguard_forward"  # what a node's metadata keeps of the line that made it


def holds(fact: Op | Wait, version: tuple[int, ...]) -> bool:
    """Whether a row, or a wait of it, is one of this version of torch."""
    return not (fact.since and version < numbers(fact.since)) and not (fact.until and version >= numbers(fact.until))


def row_of(name: str, pack: Pack, version: tuple[int, ...]) -> Op | None:
    """The hand-written row of a callable, if this version of torch has it."""
    op = pack.op(name)
    return op if op is not None and op.known and holds(op, version) else None


def waits_of(op: Op, pack: Pack, version: tuple[int, ...]) -> tuple[Wait, ...]:
    """The waits of a row that this version of torch has and that a page reports by default."""
    return tuple(
        wait
        for wait in op.waits
        if holds(wait, version) and (wait.hazard == SETUP or pack.by_hazard(wait.hazard).default)
    )


class Verdict:
    """What the rows say of the calls of one program, for the torch that runs it."""

    def __init__(self, pack: Pack, seen: Callable[[Seen], None]) -> None:
        self.pack, self.seen = pack, seen
        self.muted = False
        self.engine: CodeType | None = None
        self.quiet: set[CodeType] = set()  # the code of frames in which a row speaks for everything inside
        self.version = numbers(torch.__version__)
        self.hushed = 0  # so often something waited for which a row further out speaks
        self.debug = DebugMode()

    def row(self, name: str) -> Op | None:
        """The hand-written row of a callable, if this torch has it."""
        return row_of(name, self.pack, self.version)

    def waits(self, op: Op | None) -> tuple[Wait, ...]:
        """The waits of a row that this torch has and that a page reports by default."""
        return () if op is None else waits_of(op, self.pack, self.version)

    def later(self, op: Op | None) -> tuple[Wait, ...]:
        """The waits of the backward of what a row's call gives, which the call itself has not."""
        return () if op is None else tuple(wait for wait in op.backward if holds(wait, self.version))

    def judge(
        self,
        op: Op,
        waits: tuple[Wait, ...],
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        landing: int,
        owner: Any = None,
    ) -> tuple[str, ...]:
        """Tell each hazard of this call. `landing`: where its result will be; `owner`: what is being made."""
        told = self.found(op, waits, args, keywords, landing, owner)
        for hazard, wait in told.items():
            crosses = size(hazard, (*args, *keywords.values()))
            self.tell(op.name, hazard, crosses, reported=wait.mode, depends=depends_on(wait.when))
        return tuple(told)

    def found(
        self,
        op: Op,
        waits: tuple[Wait, ...],
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        landing: int,
        owner: Any = None,
    ) -> dict[str, Wait]:
        """The hazards of this call, each with the wait of the row that has it."""
        arguments: Arguments | None = None
        told: dict[str, Wait] = {}
        for wait in waits:
            if wait.hazard in told or not self._concerns(wait.on, args, keywords, landing):
                continue
            arguments = arguments or Arguments(op.args, args, keywords, owner)
            if hold(wait.when, arguments):
                told[wait.hazard] = wait
        return told

    def _concerns(self, on: str, args: tuple[Any, ...], keywords: dict[str, Any], landing: int) -> bool:
        if on == "argument":
            return any(on_device(tensor) for tensor in tensors((*args, *keywords.values())))
        if on == "self":
            return bool(args) and any(on_device(tensor) for tensor in (*tensors(args[:1]), *state(args[0])))
        if on == "factory":
            return names_device(torch.get_default_device())
        return on == "always" or landing == DEVICE

    def tell(
        self,
        op: str,
        hazard: str,
        size: int = 0,
        forward: tuple[Frame, ...] | None = None,
        reported: bool = True,
        depends: str = "",
    ) -> None:
        """One wait, here and now. `reported`: the sync debug mode of a device knows of it; `depends`: on what only a
        run knows."""
        if self.muted:
            return
        user = self.caller()
        if user is None:
            self.hushed += 1
            return
        op, hazard = spelled(op, hazard, user, self.pack)
        if not hazard:
            return
        backward = local.backwards > 0
        if backward and forward is None:
            forward = forward_of(torch._C._current_autograd_node())
        with torch._C.DisableTorchFunction():
            self.seen(Seen(op, hazard, "backward" if backward else "forward", forward, size, depends=depends))
        if reported and self.debug.level:
            self.debug.meets(user)
        in_a_capture(("capture",) if hazard == SETUP else self.pack.by_hazard(hazard).breaks)

    def caller(self) -> FrameType | None:
        """The nearest frame of the user or of a library; None where torch's own frames on the way have a row."""
        frame: FrameType | None = sys._getframe(1)
        last, crossed = frame, False
        while frame is not None:
            if frame.f_code in self.quiet and not crossed:
                return None
            crossed = crossed or frame.f_code is self.engine  # what runs in a backward, the row of `backward` knows not
            if not internal(frame.f_code.co_filename):
                return frame
            last, frame = frame, frame.f_back
        return last


def state(owner: Any) -> tuple[torch.Tensor, ...]:
    """The tensors that an object of torch holds: a module's parameters and buffers, a mask's indices."""
    held = getattr(owner, "__dict__", None)
    own = () if held is None or isinstance(owner, torch.Tensor) else tuple(tensors(held.values()))
    return own or tuple(islice(owner.parameters(), 1)) if isinstance(owner, torch.nn.Module) else own


def forward_of(node: Any) -> tuple[Frame, ...] | None:
    """The line that made a node of the graph, where it was kept."""
    return node.metadata.get(FORWARD) if node is not None else None


@cache
def internal(filename: str) -> bool:
    """Is this file torch, the standard library or ours?"""
    if filename.startswith((HERE, TORCH, "<frozen ")):
        return True
    return filename.startswith(STANDARD) and "site-packages" not in filename


@cache
def numbers(version: str) -> tuple[int, ...]:
    """2.13.0+cpu is (2, 13, 0)."""
    found: list[int] = []
    for part in version.split("+")[0].split("."):
        digits = "".join(c for c in part if c.isdigit())
        if not digits or not part[0].isdigit():
            break
        found.append(int(digits))
        if digits != part:
            break
    return tuple(found)


def size(hazard: str, values: tuple[Any, ...]) -> int:
    """How many bytes cross over: a copy moves its tensor, a read one element."""
    first = next(tensors(values), None)
    if first is None:
        return 0
    with torch._C.DisableTorchFunction():
        return first.nbytes if hazard in COPIES and first.layout is torch.strided else first.element_size()


def lacks(wait: Wait) -> bool:
    """Is it only an option that is not given? Then nobody waits where the object is made, a loader say."""
    return bool(wait.when) and all(condition == "false" for condition, _ in wait.when)
