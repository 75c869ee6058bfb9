"""A call of a function of the file that is checked in, what it returns to this caller out: the functions of that file
are run once for all of their callers, and apart for those to whom that would tell too little."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.passing import left_out
from syncguard.infer.classes import class_of
from syncguard.infer.definitions import Definitions
from syncguard.infer.domain import reasons
from syncguard.infer.domain.contents import any_on_device, believed, holds_tensor
from syncguard.infer.domain.keys import key_of
from syncguard.infer.domain.values import NONE, UNKNOWN, Call, Value
from syncguard.infer.functions import callbacks, learnt, leaving, promises, wrappers
from syncguard.infer.functions.refined import fed
from syncguard.infer.operations.targets import names_host
from syncguard.infer.routine import Env, Frame, Given, Routine
from syncguard.infer.sightings import Sighting
from syncguard.read.core import At
from syncguard.read.tags import FUNCTION

DEPTH: Final = 40  # calls followed at once


class Sharing(Definitions):
    """The part of the world that tells the callers of one function apart."""

    def shared(self, routine: Routine, handed: Given, passed: list[Value], at: At, frame: Frame) -> Value:
        """What a routine of this file returns: the same to all, but for what a caller's own tensors, or none, show, and
        what it finds by the kinds of what it is given."""
        if routine.returned is None:
            return promises.declared(frame, routine)
        if callbacks.applies(routine):
            return self.apart(routine, handed)
        if routine.host and any(map(fed, handed.values())):  # what a model gave, to what prepares data
            return self.apart(
                routine, {name: value for name, value in handed.items() if fed(value) or not holds_tensor(value)}
            )
        if any(map(names_host, handed.values())) and any_on_device([routine.returned]):
            found = self.apart(routine, handed)
            if waits := self.own_waits(routine, handed):
                wrappers.tell(waits, routine, [believed(value) for value in passed], at, frame)
            return found
        if kinds := callbacks.of_kinds(routine, handed, frame):
            return self.apart(routine, {**routine.seen, **kinds})
        if (unplaced := promises.placeless(routine, handed, at, frame)) and not any_on_device(passed):
            hostly = {name: value for name, value in routine.seen.items() if not holds_tensor(value)}
            return self.apart(routine, {**hostly, **handed, **unplaced})
        if (chosen := promises.chosen(routine, handed, passed, at, frame)) is not None:
            return self.apart(routine, chosen)
        others = holds_tensor(routine.returned) and any(map(holds_tensor, routine.seen.values()))
        if others and not any(map(holds_tensor, passed)):
            return self.untouched(routine)
        forwards = self.places.is_("hot", "module_methods", routine.name)  # what a module keeps moves what it is given
        if not forwards and promises.by_place(routine.returned, passed):
            return self.apart(routine, handed)
        found = promises.instantiated(reasons.retold(routine.returned, routine.seen, handed), passed)
        return promises.varied(found, passed, routine, frame.world)

    def untouched(self, routine: Routine) -> Value:
        """What a routine returns to a caller that passes no tensor, whatever others pass."""
        node = routine.node
        if type(node) is not FUNCTION or routine.running or self.depth > DEPTH:
            return routine.returned or UNKNOWN
        if routine.apart is None or routine.apart[0] != routine.runs:
            hostly = {name: value for name, value in routine.seen.items() if not holds_tensor(value)}
            routine.apart = (routine.runs, self.aside(routine, node, hostly)[0])
        return routine.apart[1]

    def apart(self, routine: Routine, given: Given) -> Value:
        """What a routine returns to callers that pass it this, whatever others pass."""
        node = routine.node
        if type(node) is not FUNCTION or routine.running or self.depth > DEPTH:
            return routine.returned or UNKNOWN
        key = key_of(given.items())
        known = routine.each.get(key)
        if known is None or known[0] != routine.runs:
            given = reasons.apart(given)
            found, sightings, _ = self.aside(routine, node, given)
            waits = tuple([sighting for sighting in sightings.values() if sighting.always])
            known = routine.each[key] = (routine.runs, found, given, waits, routine.left)
        return reasons.retold(known[1], known[2], given)

    def leaving(self, method: Call, args: list[Value], keywords: dict[str, Value], at: At, frame: Frame) -> Env:
        """What a call of a method that is told a device leaves in the attributes of its object."""
        routine, node = method.routine, method.routine.node
        if type(node) is not FUNCTION or routine.running or self.depth > DEPTH:
            return {}
        handed = learnt.given(routine, [method.receiver or UNKNOWN, *args], keywords, True)
        unsaid = left_out(frame.given[0], at, node, True)
        handed.update({p.name: NONE for p in unsaid if p.name in leaving.nowhere(routine, self.places)})
        if not routine.home.own:
            self.outcome(routine, handed, frame, class_of(method.receiver), at)
            return self.left
        handed = {**{name: value for name, value in routine.seen.items() if name not in handed}, **handed}
        self.apart(routine, handed)
        known = routine.each.get(key_of(handed.items()))
        return {name: reasons.retold(value, known[2], handed) for name, value in known[4].items()} if known else {}

    def own_waits(self, routine: Routine, given: Given) -> tuple[Sighting, ...]:
        """The waits of every call that passes this, of which less is known for all callers together: they are told
        where it is called."""
        passed = {name: believed(value) for name, value in given.items()}
        self.apart(routine, passed)
        known = routine.each.get(key_of(passed.items()))
        return tuple([wait for wait in known[3] if wait.sure > _sureness(routine, wait)]) if known else ()


def _sureness(routine: Routine, wait: Sighting) -> int:
    """How sure a wait is for all callers of a function together; 0 where it is none."""
    known = routine.sightings.get((wait.at, wait.hazard))
    return known.sure if known is not None else 0
