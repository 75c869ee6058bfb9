"""Routines in, those around the steps marked: what stands beside a call of one whose loop takes the steps, as in
`for epoch in range(n): train(model, loader)`, runs once in many steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from syncguard.infer.routine import Routine
from syncguard.judge.calling import callers_of


def pace(routines: Sequence[Routine]) -> None:
    """Mark the functions that call one whose loop takes the steps, and the loops around such a call."""
    callers = callers_of(routines)
    todo = deque(routine for routine in routines if routine.steps)
    while todo:
        for caller, at, context in callers.get(todo.popleft(), ()):
            if context.gate or context.failing or any(loop.reason for loop in context.loops):
                continue  # a step that now and then goes through a loader
            for loop in context.loops:
                loop.steps = loop.steps or at[0]
            if not caller.steps:
                caller.steps = at[0]
                todo.append(caller)
