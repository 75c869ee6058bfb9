"""Two oracles that need no GPU: torch's tags of what a call reaches, and fake tensors, which refuse to be read.

Neither knows copies, and each is wrong in its own way: a tag does not look at the arguments (`one_hot` with
num_classes has one), and fake tensors do not see what a CUDA kernel reads by itself (`masked_fill` with a tensor).
Fake tensors can bring a process down (torch 2.13 corrupts its heap on some of our calls), so that they are asked in
one of its own. A corrupted heap is often noticed calls later: the call that the process ended at is asked once more
in a fresh process, and left without an answer only where that ends at it too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
)
from torch.utils._python_dispatch import TorchDispatchMode

DEATHS = 16  # of the process of the fake tensors, before it is given up
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
    """Tensors that are made here have a device and a shape, and no values."""
    with FakeTensorMode(allow_non_fake_inputs=True, allow_fallback_kernels=False):
        yield


def refuses(call: Callable[[], Any]) -> str | None:
    """What a call on fake tensors would have to read: an operator; empty: nothing. None where it fails otherwise."""
    try:
        call()
    except (DataDependentOutputException, DynamicOutputShapeException) as fault:
        return str(fault.func)
    except Exception:
        return None
    return ""


def refusals(rows: Sequence[str], opinfo: bool) -> dict[tuple[str, str], str | None]:
    """What fake tensors refuse in the calls of these rows, by row and text, as `refuses` says it."""
    found: dict[tuple[str, str], str | None] = {}
    done_with, asked_again = 0, -1
    for _ in range(DEATHS):
        asked = json.dumps({"rows": [*rows], "opinfo": opinfo, "skip": done_with})
        command = [sys.executable, "-W", "ignore", "-m", __name__]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)  # noqa: S603
        told = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
        found |= {(row, text): None if answer == "?" else answer for row, text, answer in told}
        if done.returncode == 0:
            break
        done_with += len(told)
        if done_with == asked_again:
            done_with += 1  # it ends at this call in a fresh process too: of it nothing is known
        asked_again = done_with
    return found


def main() -> None:
    """Answer what `refusals` asks on standard input, a line for each call."""
    from syncguard import pack
    from syncguard.observe.samples import calls, rows_of

    asked = json.loads(sys.stdin.read())
    every = rows_of(pack.load())
    with fakes():
        for n, call in enumerate(calls({row: every[row] for row in asked["rows"]}, "cpu", asked["opinfo"])):
            if n < asked["skip"]:
                continue
            answer = None if call.fault else refuses(call.run)
            sys.stdout.write(f"{call.row}\t{call.text}\t{'?' if answer is None else answer}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
