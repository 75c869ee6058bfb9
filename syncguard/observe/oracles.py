"""Two oracles that need no GPU: torch's tags of what a call reaches, and fake tensors, which refuse to be read.

Neither knows copies, and each is wrong in its own way: a tag does not look at the arguments (`one_hot` with
num_classes has one), and fake tensors do not see what a CUDA kernel reads by itself (`masked_fill` with a tensor).
Fake tensors can bring a process down, so that they are asked in one of its own, forked where that is possible from
one that has imported what they need. A corrupted heap is often noticed calls later: the rows that the process ended at
are asked once more, each in a process of its own.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.utils._python_dispatch import TorchDispatchMode

from syncguard import pack
from syncguard.observe.samples import Call, by_hand, by_opinfo, operators, rows_by_hand, rows_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

PROCESSES = 24  # that are started, before what is left is given up
TORCHS = "torch's own:"  # what follows this line
TAGS = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


class Tagged(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the operators with a tag that a call reaches."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.found: dict[str, None] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(tag in func.tags for tag in TAGS):
            self.found[str(func)] = None
        return func(*args, **(kwargs or {}))


def tags(call: Callable[[], Any]) -> tuple[str, ...] | None:
    """The tagged operators that a call on the CPU reaches; None where it fails."""
    with Tagged() as mode:
        try:
            call()
        except Exception:
            return None
    return tuple(mode.found)


@contextmanager
def fakes() -> Iterator[None]:
    """Tensors that are made here have a device and a shape, and no values.

    A module's parameters are made where they stay: torch 2.13 corrupts its heap where `Module.to` swaps fake ones.
    """
    to = torch.nn.Module.to
    torch.nn.Module.to = lambda self, *args, **kwargs: self  # type: ignore[method-assign]
    try:
        with FakeTensorMode(allow_non_fake_inputs=True, allow_fallback_kernels=False):
            yield
    finally:
        torch.nn.Module.to = to  # type: ignore[method-assign]


def refuses(call: Callable[[], Any]) -> str | None:
    """What a call on fake tensors would have to read: an operator; empty: nothing. None where it fails otherwise."""
    try:
        call()
    except (DataDependentOutputException, DynamicOutputShapeException) as fault:
        return str(fault.func)
    except Exception:
        return None
    return ""


@dataclass(frozen=True)
class Asked:
    """What one process is asked: our calls of these rows, then torch's own of those rows, but for the first few."""

    by_hand: tuple[str, ...]
    by_opinfo: tuple[str, ...]
    skip: int = 0

    def left(self, lines: Sequence[str]) -> Iterator[Asked]:
        """What is still to ask when a process ended after these lines: the two rows it may have ended at, alone."""
        if TORCHS in lines:
            yield replace(self, by_hand=(), skip=self.skip + len(lines) - lines.index(TORCHS))
            return
        at = self.by_hand.index(lines[-1].split("\t")[0]) if lines else 0
        if len(self.by_hand) > 1:
            yield from (Asked((row,), ()) for row in self.by_hand[at : at + 2])
        rest = replace(self, by_hand=self.by_hand[at + 2 :])
        if rest.by_hand or rest.by_opinfo:
            yield rest


def refusals(rows: Sequence[str], opinfo: bool) -> dict[tuple[str, str], str | None]:
    """What fake tensors refuse in the calls of these rows, by row and text, as `refuses` says it."""
    asked = Asked(tuple(row for row in rows_by_hand() if row in rows), tuple(rows) if opinfo else ())
    command = [sys.executable, "-W", "ignore", "-m", __name__]
    given = json.dumps(asdict(asked))
    with tempfile.TemporaryDirectory(prefix="syncguard-") as folder:  # for what those leave that are brought down
        env = os.environ | {"TMPDIR": folder}
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=env)  # noqa: S603
    told = [line.split("\t") for line in done.stdout.splitlines()]
    return {(row, text): None if answer == "?" else answer for row, text, answer in told}


def main() -> None:
    """Answer what `refusals` asks on standard input, a line for each call."""
    asked = Asked(**json.loads(sys.stdin.read()))
    importlib.import_module("torch._dynamo")  # optimizers do; here it is once for all processes
    if asked.by_opinfo:
        operators()
    for line in answers(asked):
        sys.stdout.write(f"{line}\n")


def answers(first: Asked) -> Iterator[str]:
    """The answer to each call that was asked, by as many processes as are brought down and one."""
    pending = deque([first])
    for _ in range(PROCESSES):
        if not pending:
            break
        asked = pending.popleft()
        code, lines = answered(asked)
        yield from (line for line in lines if line != TORCHS)
        if code:
            pending.extendleft(reversed([*asked.left(lines)]))


def answered(asked: Asked) -> tuple[int | None, list[str]]:
    """How a process ends that is asked this, and what it said before."""
    start: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    ours, theirs = start.Pipe(duplex=False)
    process = start.Process(target=answer, args=(asked, theirs))
    process.start()
    theirs.close()
    lines: list[str] = []
    with ours:
        try:
            while True:
                lines.append(ours.recv())
        except (EOFError, OSError):
            process.join()
    return process.exitcode, lines


def answer(asked: Asked, to: Connection) -> None:
    """In a process of its own: send the answer to each call, as it is found."""
    every = rows_of(pack.load())
    with fakes():
        for call in by_hand({row: every[row] for row in asked.by_hand}, "cpu"):
            to.send(_line(call))
        to.send(TORCHS)
        for n, call in enumerate(by_opinfo({row: every[row] for row in asked.by_opinfo}, "cpu")):
            if n >= asked.skip:
                to.send(_line(call))


def _line(call: Call) -> str:
    answer = None if call.fault else refuses(call.run)
    return f"{call.row}\t{call.text}\t{'?' if answer is None else answer}"


if __name__ == "__main__":
    main()
