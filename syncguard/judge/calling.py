"""Routines in, who calls each of them out."""

from __future__ import annotations

from collections.abc import Iterable

from syncguard.infer.routine import Context, Routine
from syncguard.read.core import At

Calling = tuple[Routine, At, Context]  # who calls, where, and what surrounds the call


def callers_of(routines: Iterable[Routine]) -> dict[Routine, list[Calling]]:
    """The calls of each routine that these make, in their order."""
    found: dict[Routine, list[Calling]] = {}
    for routine in routines:
        for callee, calls in routine.calls.items():
            found.setdefault(callee, []).extend((routine, at, context) for at, context in calls)
    return found
