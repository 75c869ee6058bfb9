"""A call of a function in, whether it only makes what its object has not got yet out: it runs once for many steps."""

from __future__ import annotations

from syncguard.infer.branches.meant import necessary
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node


def first_time(callee: Routine, context: Context, places: Places) -> bool:
    """Whether what is named like setup is called where something that an object keeps is not there yet: `if self.index
    is None: self._init_index(x)`, `if scheduler.index is None: ..`, though another method may let go of it."""
    if not (context.tests and places.seldom(callee.name)):
        return False
    return any(_lacks(*part) for asked in context.tests for part in necessary(*asked))


def _lacks(test: Node, outcome: bool) -> bool:
    """Whether this outcome says that what an object keeps is None."""
    match test:
        case core.Do(what="is" | "is not" as what, args=(core.Attr(path=path), core.Const(value=None))):
            return (what == "is") is outcome and bool(path)
    return False
