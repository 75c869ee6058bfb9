"""A routine in, why it runs beside the work out, as far as its own file tells: what others are compared with, objects
sent as texts, what is shown to people, what is measured, what is named for its copies, what saves and loads, what is
deprecated. Another file may yet call it at every step."""

from __future__ import annotations

import os
from typing import Final

from syncguard.infer.branches.stepping import pause
from syncguard.infer.domain.values import Named
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.judge.heat.templated import asked_seldom
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.tags import FUNCTION, LOOP
from syncguard.read.walk import walk

COMPARED: Final = "named as what others are compared with"
PICKLED: Final = "sends objects to other processes as texts, which is seldom asked for"
SHOWN: Final = "waits for somebody who looks at what it shows"
MEASURED: Final = "in a file of benchmarks"
NAMED: Final = "named for the copy to the host, which its callers ask for"
OUTDATED: Final = "in a package of what is deprecated"
SAVED: Final = "in a class that is there to save and load"
FIRST: Final = "in a file for what weights are at first"
DRAWN: Final = "in a file that draws for people"
LEFT: Final = "left by its class to be called as an object is made, moved or changed"
BESIDE: Final = frozenset((COMPARED, PICKLED, SHOWN, MEASURED, NAMED, OUTDATED, SAVED, FIRST, DRAWN, LEFT))


def beside(routine: Routine, places: Places) -> str:
    """The reason, '' where there is none."""
    node = routine.node
    if type(node) is not FUNCTION:
        return ""
    if is_reference(routine, places):
        return COMPARED
    if _pickles(node, places):
        return PICKLED
    if _shows(node, places):
        return SHOWN
    if _converts(routine, places):
        return NAMED
    if routine.owner is not None and any(places.is_("cold", "savers", info.name) for info in routine.owner.mro):
        return SAVED
    if asked_seldom(routine, places):
        return LEFT
    if places.outdated(routine.home.path):
        return OUTDATED
    if places.is_("cold", "first_files", os.path.basename(routine.home.path)):
        return FIRST
    if places.draws(routine.home.path):
        return DRAWN
    return MEASURED if places.measures(routine.home.path) else ""


def _converts(routine: Routine, places: Places) -> bool:
    """Whether a method, or a function with what stands in it, is named for the copy to the host."""
    if routine.owner is not None:
        return places.is_("cold", "moved", routine.name)
    return places.is_("cold", "converters", routine.qualname.partition(".")[0])


def is_reference(routine: Routine, places: Places) -> bool:
    """Whether a function is there for others to be compared with; a method by such a name may well be of a model."""
    if routine.owner is not None:
        return False
    named = places.is_("cold", "references", routine.name)
    return named or (places.is_("cold", "plain", routine.name) and _has_kernels(routine.home, places))


def _has_kernels(home: Home, places: Places) -> bool:
    """Whether a file writes kernels: what there is of torch alone is what these are compared with."""
    libraries = (held.name.partition(".")[0] for held in home.env.values() if type(held) is Named)
    return any(places.is_("cold", "kernel_libraries", library) for library in libraries)


def _pickles(node: core.Function, places: Places) -> bool:
    if all(name not in node.uses for name in places.tables["cold"]["picklers"]):
        return False
    return not all(places.exchanges.isdisjoint(asked) for asked in node.uses.values())


def _shows(node: core.Function, places: Places) -> bool:
    if pause(node.body, places.tables["gates"]["pauses"]) is None:
        return False
    return not any(type(part) is LOOP for part in walk(node.body))
