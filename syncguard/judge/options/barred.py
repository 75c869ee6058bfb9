"""A place behind tests in, the calls out that do not come to it, as far as what is written in one says so; and, of a
private function, the place as the others have it."""

from __future__ import annotations

from msgspec.structs import replace

from syncguard.infer.branches.above import asked_above
from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import necessary
from syncguard.infer.branches.passing import given, in_sight, positional
from syncguard.infer.branches.ungiven import private, spared
from syncguard.infer.sightings import Asked
from syncguard.judge.around.calling import Made
from syncguard.judge.defaults.defaults import MOST, Place, bound
from syncguard.judge.defaults.settled import outcome_of
from syncguard.judge.options.filled import is_something
from syncguard.read.core import At, Node
from syncguard.read.tags import CONST, FUNCTION, NAME
from syncguard.read.walk import walk

Test = tuple[Node, bool, frozenset[str]]  # how it must come out, and the names that it asks for


def without_barred(place: Place, tests: tuple[Asked, ...]) -> Place:
    """The place; unless some calls come to it and others do not, as it was."""
    own = bool(tests) and private(place.routine) and not asked_above(place.routine)
    calls = place.callers.named(place.routine.name) if own else ()
    barred = barred_from(place, tests) if len(calls) > 1 else frozenset()
    leading = frozenset([made.call.at for made in calls if made.call.at not in barred])
    return replace(place, only=leading) if barred and leading else place


def barred_from(place: Place, tests: tuple[Asked, ...]) -> frozenset[At]:
    """The calls in the file of a place's function that say by what is written in them that they do not come to it."""
    calls = place.callers.named(place.routine.name)
    if not 0 < len(calls) <= MOST:
        return frozenset()
    wanted = [part for test, outcome in tests for part in necessary(spelled_out(test, place.frame), outcome)]
    asked = [(test, outcome, _names(test)) for test, outcome in wanted]
    return frozenset([made.call.at for made in calls if _barred(made, asked, place)])


def _names(test: Node) -> frozenset[str]:
    return frozenset([part.id for part in walk(test) if type(part) is NAME])


def _barred(made: Made, asked: list[Test], place: Place) -> bool:
    """Whether a test comes out otherwise by what a call writes for all, or for one, that it asks for."""
    written = _written(made, place)
    literal = frozenset([name for name, node in written.items() if type(node) is CONST])
    there = replace(place, only=frozenset([made.call.at]))
    for test, outcome, names in asked:
        if names and names <= literal:
            told = outcome_of(test, there)
            if told is not None and told.value is not outcome:
                return True
        for name in names:
            if name in written and spared(test, outcome, name) and is_something(written[name], made, place.frame.world):
                return True
    return False


def _written(made: Made, place: Place) -> dict[str, Node]:
    """What a call gives for each parameter that it gives one thing, as it is written; nothing of what it takes out of a
    list or a dict."""
    node, call = place.routine.node, in_sight(made.call)
    if type(node) is not FUNCTION:
        return {}
    places, takes = positional(node), bound(call, place.routine)
    values = [(param.name, given(call, param, places, takes)) for param in node.params]
    return {name: nodes[0] for name, nodes in values if len(nodes) == 1}
