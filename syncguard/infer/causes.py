"""The functions of a file that is checked in, the waits out that what they pass brings about in other files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from syncguard.infer.domain.contents import classes_in, holds_tensor, is_object, tensors_in
from syncguard.infer.domain.reasons import Swaps, swapped, swaps_of
from syncguard.infer.domain.sureness import LIKELY, number_sureness
from syncguard.infer.domain.values import LINKS, Why, options
from syncguard.infer.domain.values import Call as Method
from syncguard.infer.functions.annotations import promised
from syncguard.infer.functions.callbacks import is_own
from syncguard.infer.functions.wrappers import WRAPPED
from syncguard.infer.routine import Frame, Given, Routine
from syncguard.infer.sightings import Sighting
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import FUNCTION

if TYPE_CHECKING:
    from syncguard.infer.project import World

Often = Callable[[Routine, Routine, At], int]
NEVER: Final = 0
ONCE: Final = 1
OFTEN: Final = 2
VAGUE: Final = frozenset(("computed", "moved parts", "torch only"))  # what shows no tensor to another file
TOLD_APART: Final = 3  # by the device, by what is given and by the class: what a key begins with


class Cause(msgspec.Struct, frozen=True):
    """A wait in a function of another file, and the call in this one that brings it about, or that is made `once`."""

    sighting: Sighting
    routine: Routine
    caller: Routine
    at: At
    once: bool = False


class Call(msgspec.Struct, frozen=True):
    """A function of another file that is called with a tensor: by a function of this file, and through which callers;
    `told` if the waits that each call of it costs are told at that first call, `proven` the reasons of what that passes
    that are tensors for sure, `once` if that call is made but once in a while.
    """

    routine: Routine
    key: Hashable
    given: Given
    links: tuple[Swaps, ...]
    told: bool
    proven: frozenset[int]
    once: bool = False


class Causes:
    """What the functions of one file bring about in others: nobody sees it there who does not see who calls."""

    def __init__(self, routines: Iterable[Routine], world: World, often: Often) -> None:
        """`often` tells of a call whether it is made more than once in a while, once, or never on the device."""
        self.world = world
        self.found: list[Cause] = []
        self.files: set[str] = set()  # those whose functions are given tensors, whether or not they wait today
        self._seen: set[tuple[Routine, Hashable]] = set()
        seldom: list[tuple[Call, Routine, At]] = []
        for caller in routines:
            for (callee, key), (given, at) in list(caller.asks.items()):
                made = often(caller, callee, at)
                if made == OFTEN:
                    self._follow(Call(callee, key, given, (), True, _proven(given)), caller, at)
                elif made == ONCE:
                    seldom.append((Call(callee, key, given, (), True, _proven(given), True), caller, at))
        for call, caller, at in seldom:
            self._follow(call, caller, at)

        for inherited, override, info in world.inherited:
            told = inherited.contexts.get(world.context({}, info))
            if told is not None and often(override, inherited, override.node.at) == OFTEN:
                self._given_back(told.waits, inherited, [m.routine for m in info.members.values() if type(m) is Method])

    def _given_back(self, waits: Iterable[Sighting], inherited: Routine, overrides: list[Routine]) -> None:
        """Note what a method of a class above waits for, of what it has from the method of this file that it calls."""
        path = overrides[0].home.path
        self.files.add(inherited.home.path)
        for sighting in waits:
            why = sighting.why
            told = why is not None and not (sighting.context.failing or why.text.startswith(WRAPPED))
            if why is not None and told and sighting.sure >= LIKELY and _leads_to(why, path, frozenset()):
                giving = _giver(why, overrides)
                if giving is not None:
                    self.found.append(Cause(sighting, inherited, giving, giving.node.at))

    def _follow(self, call: Call, caller: Routine, at: At) -> None:
        """Note what a call brings about, and the calls in its turn."""
        routine, known = call.routine, (call.routine, call.key)
        told = routine.contexts.get(call.key)
        if told is None or known in self._seen:
            return
        if not (_sees_kept(call.key) or any(holds_tensor(v) or is_own(v) or is_object(v) for v in call.given.values())):
            return
        if routine.home.path == caller.home.path:
            return
        self._seen.add(known)
        self.files.add(routine.home.path)
        links = (swaps_of(told.given, call.given), *call.links)
        paid = routine.pays.get(call.key, ()) if call.told else ()
        for sighting in told.waits:
            why = _because(sighting.why, links)
            if why is not None and sighting not in paid and self._counts(sighting, why, call, caller):
                self.found.append(Cause(_with(sighting, why), routine, caller, at, call.once))
        passed_on = {wait.at for wait in paid if wait.why is not None and wait.why.text.startswith(WRAPPED)}
        for (further, key), (given, where) in list(told.asks.items()):
            self._follow(Call(further, key, given, links, where in passed_on, call.proven, call.once), caller, at)

    def _counts(self, sighting: Sighting, why: Why, call: Call, caller: Routine) -> bool:
        """Whether a wait is there because of what is passed; what waits by another name is told by that name, and what
        only tells of a failure says little of who calls."""
        if sighting.sure < LIKELY or why.text.startswith(WRAPPED) or sighting.context.failing:
            return False
        if _leads_to(why, caller.home.path, call.proven):
            return True
        if not call.links and (_passes(call.given, why) or self._declared(sighting, why, call)):
            return True
        return self._by_object(sighting, why, call)

    def _by_object(self, sighting: Sighting, why: Why, call: Call) -> bool:
        """Whether a function waits for what the class of an object made that is passed, or that its own object was made
        with."""
        routine = call.routine
        passed = [*call.given.values()]
        if _sees_kept(call.key) and routine.owner is not None:
            mine = routine.owner
            passed += [held for (info, _), held in self.world.lent.items() if info in mine.mro or mine in info.mro]
        made = {base.home.path for value in passed for info in classes_in(value) for base in info.mro}
        if routine.host or why.root.path not in made or not _through(why, lambda link: link is why.root, call.proven):
            return False
        alone = self.world.alone(routine, Frame(self.world, routine, {}))
        return alone.get((sighting.at, sighting.hazard), 0) < LIKELY

    def _declared(self, sighting: Sighting, why: Why, call: Call) -> bool:
        """Whether a function waits for a declared tensor because of where the one is that is passed, or because one is
        passed where a number may be, as its own file may pass."""
        root, routine = why.root, call.routine
        params = routine.node.params if type(routine.node) is FUNCTION else ()
        shown = [param for param in params if param.name in call.given and _shows(root, param)]
        frame = Frame(self.world, routine, {})
        if any(_or_number(param, frame) for param in shown):
            return True
        return bool(shown) and self.world.alone(routine, frame).get((sighting.at, sighting.hazard), 0) < LIKELY


def _sees_kept(key: Hashable) -> bool:
    """Whether a call is one of a method that sees what the file that is checked lets its object keep."""
    return type(key) is tuple and len(key) > TOLD_APART


def _because(why: Why | None, links: tuple[Swaps, ...]) -> Why | None:
    """A reason that led to another caller, led to this one."""
    for swaps in links:
        why = swapped(why, swaps) if swaps else why
    return why


def _proven(given: Given) -> frozenset[int]:
    """The reasons of what is passed that is a tensor for sure: it was asked for its gradients, say."""
    sure = (tensor for value in given.values() for tensor in tensors_in(value) if tensor.sure)
    return frozenset([id(tensor.why) for tensor in sure])


def _leads_to(why: Why, path: str, proven: frozenset[int]) -> bool:
    """Whether a chain of reasons leads to this file."""
    return _through(why, lambda link: link.path == path, proven)


def _giver(why: Why, overrides: list[Routine]) -> Routine | None:
    """The method that a chain of reasons passes by last."""
    link: Why | None = why
    for _ in range(LINKS):
        if link is None:
            break
        for one in overrides:
            node = one.node
            if type(node) is FUNCTION and link.path == one.home.path and node.at[0] <= link.at[0] <= node.at[2]:
                return one
        link = link.parent
    return None


def _passes(given: Given, why: Why) -> bool:
    """Whether a chain of reasons leads to a tensor that is passed: what a base class of another file keeps, say."""
    passed = {id(tensor.why) for value in given.values() for tensor in tensors_in(value) if tensor.why is not None}
    return _through(why, lambda link: id(link) in passed, frozenset())


def _through(why: Why, wanted: Callable[[Why], bool], proven: frozenset[int]) -> bool:
    """Whether a chain of reasons has such a link, and none of which nobody knows what it gives back, unless it proved
    to be a tensor since, or torch has taken it for one."""
    link: Why | None = why
    found = False
    for _ in range(LINKS):
        if link is None or link.text in VAGUE:
            break
        found = found or wanted(link)
        if found and (id(link) in proven or _computed_by_torch(link.text)):
            return True
        link = link.parent
    return found and link is None


def _computed_by_torch(text: str) -> bool:
    """Whether this is the result of a function of torch, which takes tensors alone, not of what may be a method."""
    return text.startswith("torch.") and not text.startswith("torch.Tensor.")


def _shows(root: Why, param: core.Param) -> bool:
    """Whether a reason is what is declared of a parameter, or a part of that: `int | Tensor`."""
    declared = param.annotation.at if param.annotation is not None else param.at
    return root.at == param.at or (declared[:2] <= root.at[:2] and root.at[2:] <= declared[2:])


def _with(sighting: Sighting, why: Why) -> Sighting:
    told = Sighting(sighting.at, sighting.op, sighting.hazard, sighting.operand, why, sighting.sure, sighting.context)
    told.met = sighting.met
    return told


def _or_number(param: core.Param, frame: Frame) -> bool:
    """Whether a number is declared, or a tensor: `int | Tensor`."""
    kinds = options(promised(param.annotation, frame, "assumed"))
    return any(number_sureness(kind) for kind in kinds) and any(map(holds_tensor, kinds))
