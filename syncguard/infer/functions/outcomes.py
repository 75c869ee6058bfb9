"""A function of another file and what a caller gives it in; what it returns and what it waits for out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from syncguard.infer.branches.passing import left_out
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain import reasons
from syncguard.infer.domain.contents import changed, classes_in, holds_tensor, tensor_in, tensors_in, there
from syncguard.infer.domain.keys import Key, holds_own, key_of, outlined
from syncguard.infer.domain.lattice import same
from syncguard.infer.domain.values import NONE, UNKNOWN, Call, Host, Value
from syncguard.infer.functions import promises, wrappers
from syncguard.infer.functions.declared import annotated
from syncguard.infer.functions.refined import fed, refined
from syncguard.infer.modules import Load, Modules, Says
from syncguard.infer.operations.targets import names_one
from syncguard.infer.routine import Asks, Env, Frame, Given, Kept, Routine, Told
from syncguard.infer.sightings import Sighting
from syncguard.pack import Pack
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import ATTR, CONST, FUNCTION
from syncguard.read.walk import walk

if TYPE_CHECKING:
    from syncguard.infer.project import World

REACH: Final = 12  # calls followed at once through other files
Sightings = dict[tuple[At, str], Sighting]
Context = tuple[str, Key, int] | tuple[str, Key, int, Key]
Run = tuple[Value, Sightings, Asks]  # what a routine returns, waits for and asks


class Outcomes(Modules):
    """The part of the world that runs what other files define for the one that is checked."""

    def __init__(self, pack: Pack, version: str, load: Load, says: Says) -> None:
        super().__init__(pack, version, load, says)
        self.depth = 0
        self.passing: list[tuple[Routine, object]] = []  # what interfaces said of things of the file that is checked
        self.inherited: list[tuple[Routine, Routine, ClassInfo]] = []  # what calls an override of the file, and that
        self.left: Env = {}  # what the interface that was asked last left in the attributes of its object
        self.waits: tuple[Sighting, ...] = ()  # what the interface waits for that was asked last
        self.lent: dict[tuple[ClassInfo, str], Value] = {}  # what the file that is checked assigns to others' classes
        self.anew: set[tuple[ClassInfo, str]] = set()  # of these, what it assigns to objects that are made already
        self.made_with: Env = {}  # what the object keeps whose constructor was asked last
        self.readers: dict[tuple[ClassInfo, str], dict[Routine, None]] = {}  # of attributes, in that file
        self.learning: set[tuple[ClassInfo, str]] = set()  # attributes whose assigning methods run for the first time
        self.keeps: list[Kept] = []  # the tensors that a run for one caller lets instances of classes keep
        self.showing = False  # whether a method of another file's class sees what the file that is checked lets it keep
        self.teaches = True  # whether what is assigned now is so for every caller

    def body(self, routine: Routine, node: core.Function) -> Value:
        raise NotImplementedError

    def outcome(
        self,
        routine: Routine,
        given: Given,
        frame: Frame,
        receiver: ClassInfo | None = None,
        at: At | None = None,
        mine: Env | None = None,
        hosted: bool = False,
    ) -> Value:
        """What a function of another file returns when a call gives it this: its body is run for this caller, who asks
        an object that was made with these, or that is on the host."""
        node = routine.node
        if type(node) is not FUNCTION:
            return UNKNOWN
        if not routine.home.own:
            frame.routine.uses[routine.home.path, routine.qualname] = None
        actual = receiver if receiver is not None and routine.owner in receiver.mro[1:] else None
        unsaid = left_out(frame.given[0], at, node, routine.owner is not None) if given else []
        if actual is not None and at is not None and frame.home.own and not routine.home.own:
            frame.routine.below.setdefault((routine, at), set()).add(actual)
        given = self.telling(routine, node, given, unsaid, frame.world)
        mine = mine or {}
        shown: list[tuple[str, Value]] = []
        if receiver is not None and receiver.elsewhere and not hosted:
            shown = self.shown(routine, node, receiver, mine, frame)
        if self.lent and (frame.home.own or self.showing):
            shown = [*shown, *self.handed(given)]
        key = self.context(given, actual)
        if shown:
            key = (*key, key_of(shown))
        if (given or shown) and at is not None:
            frame.routine.asks.setdefault((routine, key), (given, at))
        known = routine.contexts.get(key)
        self.waits = routine.pays.get(key, ())
        self.left = {}
        if known is not None:
            self.lend(known, routine, given, frame, at)
            self.left = {name: reasons.retold(value, known.given, given) for name, value in known.left.items()}
            return reasons.retold(known.returned, known.given, given)
        if routine.running or self.depth > REACH:
            return promises.declared(frame, routine)
        given = reasons.apart(given)
        teaches, self.teaches = self.teaches, not key[1] and actual is None and not shown
        showing, self.showing = self.showing, bool(shown)
        routine.actual, routine.kept = actual, mine
        if shown or (actual is not None and actual.home.own) or any(map(holds_own, given.values())):
            self.passing.append((routine, key))
        keeps, self.keeps = self.keeps, []
        half = self.half
        first = self.aside(routine, node, given)
        left = routine.left
        found, sightings, asks = self.itself(routine, node, given, first[0]) or first
        kept, self.keeps = tuple(self.keeps), keeps
        told = Told(found, given, tuple(sightings.values()), asks, kept, left)
        if self.half == half and not routine.home.half:
            routine.contexts[key] = told
        self.lend(told, routine, given, frame, at)
        self.teaches, self.showing, routine.actual = teaches, showing, None
        routine.kept = {}
        # What only the object that is asked brings about stands in its method, whoever calls that.
        passed = not shown or any(map(holds_tensor, given.values()))
        always = {key: sighting for key, sighting in sightings.items() if sighting.always} if passed else {}
        told_more = key != self.context({}, None)
        self.waits = self.costs(routine, always, found, told_more, frame) if always else ()
        if self.waits:
            routine.pays[key] = self.waits
        self.left = left
        return found

    def shown(
        self, routine: Routine, node: core.Function, receiver: ClassInfo, mine: Env, frame: Frame
    ) -> list[tuple[str, Value]]:
        """What a method of another file's class asks its instance for, of what the file that is checked lets those
        keep, or this one: what nobody sees there."""
        if receiver.is_module or not (frame.home.own or self.showing) or not node.params:
            return []
        known = routine.written.own
        asked = known.get(receiver.serial)
        if asked is None:
            asked = known[receiver.serial] = tuple(dict.fromkeys(asks(node, receiver, set())))
        found = []
        for name in asked:
            for info in receiver.mro:
                if frame.home.own:
                    self.readers.setdefault((info, name), {})[frame.routine] = None
                own, there = info.home.own, (info, name)
                value = info.attrs.get(name) if own else self.lent.get(there)
                if value is not None and not own and mine and there not in self.anew:
                    value = mine.get(f".{name}")  # what other objects were made with is none of it
                if value is not None and (holds_tensor(value) or not own):
                    found.append((name, value))
        return found

    def reads_lent(self, routine: Routine, receiver: ClassInfo | None, frame: Frame) -> bool:
        """Whether a method of another file's class asks its instance for what this file lets it keep."""
        node = routine.node
        if receiver is None or not receiver.elsewhere or type(node) is not FUNCTION:
            return False
        frame.routine.uses[routine.home.path, routine.qualname] = None
        return bool(self.shown(routine, node, receiver, {}, frame))

    def handed(self, given: Given) -> Iterator[tuple[str, Value]]:
        """The same of the objects that a call gives."""
        for param, value in given.items():
            mro = [base for info in classes_in(value) for base in info.mro]
            for (info, name), held in self.lent.items() if mro else ():
                if info in mro:
                    yield f"{param}.{name}", held

    def context(self, given: Given, actual: ClassInfo | None) -> Context:
        """What tells apart the calls of a function of another file."""
        return self.default_device, key_of(given.items()), actual.serial if actual is not None else -1

    def lend(self, told: Told, routine: Routine, given: Given, frame: Frame, at: At | None) -> None:
        """Let the file that is checked see what classes, and the instances that it gives tensors to, keep of a call."""
        making = routine.name == "__init__"
        self.made_with = {}
        for info, name, value in told.keeps if given or at is not None else ():
            value = reasons.retold(value, told.given, given)
            if frame.home.own:
                self.look_again(info.lend(name, value))
                if not making:
                    self.anew.add((info, name))
                elif routine.owner is not None and (info in routine.owner.mro or routine.owner in info.mro):
                    self.made_with[name] = value
            else:
                self.keeps.append((info, name, value))

    def look_again(self, routines: Iterable[Routine]) -> None:
        raise NotImplementedError

    def telling(
        self, routine: Routine, node: core.Function, given: Given, left: list[core.Param], world: World
    ) -> Given:
        """What a call gives, as the body sees it: nothing of a parameter whose annotation says as much by itself, and
        the number or None that a parameter is left with which might be a tensor."""
        if not given or routine.home.half:
            return given
        told = routine.annotated
        if told is None:
            asking, place, half = Frame(world, routine, {}), self.place(routine), self.half
            told = {param.name: annotated(asking, param, place) for param in node.params}
            if self.half == half:
                routine.annotated = told
        defaults = {param.name: known for param in left if (known := default(param, told[param.name], self.places))}
        moved = {name for name, value in given.items() if routine.host and fed(value)}
        if moved:
            asking = Frame(world, routine, {})
            told = {
                **told,
                **{p.name: annotated(asking, p, "assumed") for p in node.params if p.name in moved},
            }
        seen = {
            name: value if names_one(value) else refined(told[name], outlined(value), by_one=True)
            for name, value in {**defaults, **given}.items()
        }
        return {
            name: value
            for name, value in seen.items()
            if name in moved or told[name] is UNKNOWN or not same(value, told[name])
        }

    def aside(self, routine: Routine, node: core.Function, given: Given) -> Run:
        """What a routine returns, waits for and asks when it is given this, of which it keeps nothing itself."""
        kept = (routine.seen, routine.sightings, routine.calls, routine.asks, routine.yielded)
        routine.seen, routine.sightings, routine.calls, routine.asks, routine.aside = given, {}, {}, {}, True
        found = self.body(routine, node), routine.sightings, routine.asks
        routine.aside = False
        routine.seen, routine.sightings, routine.calls, routine.asks, routine.yielded = kept
        return found

    def itself(self, routine: Routine, node: core.Function, given: Given, found: Value) -> Run | None:
        """A run of a function that calls itself and returns, but for that, what is on the host: so is what that gives;
        None of any other."""
        if not routine.recurs or not any(tensor.on_device for tensor in tensors_in(found)):
            return None
        routine.inner = changed(found, promises.on_host)
        again = self.aside(routine, node, given)
        routine.inner = None
        return again if there(again[0]) else None

    def costs(
        self, routine: Routine, waits: Sightings, returned: Value, told_more: bool, frame: Frame
    ) -> tuple[Sighting, ...]:
        """The waits of a function of another file that a call is told of: all of a mere name for them, and those
        that only what this caller passes brings about, which nobody can see there."""
        if wrappers.names(returned):
            return tuple([wait for wait in waits.values() if wait.operand is None or returned is not NONE])
        if not told_more:
            return ()  # asked once more, a file that is only half run would have it run again
        alone = self.alone(routine, frame)
        return tuple([wait for key, wait in waits.items() if key not in alone])

    def alone(self, routine: Routine, frame: Frame) -> dict[tuple[At, str], int]:
        """The waits of a function of another file whatever it is given, and how sure they are."""
        key = self.context({}, None)
        if key not in routine.contexts:
            self.outcome(routine, {}, frame)
        told = routine.contexts.get(key)
        return {(wait.at, wait.hazard): wait.sure for wait in told.waits} if told is not None else {}


def asks(node: core.Function, info: ClassInfo, seen: set[int]) -> Iterator[str]:
    """What a method, and those that it calls of its own class, names of its instance."""
    seen.add(id(node))
    start = f"{node.params[0].name}." if node.params else ""
    for part in walk(node.body):
        if start and type(part) is ATTR and part.path.startswith(start):
            name = part.path[len(start) :].partition(".")[0]
            member = info.find(name)
            inner = member[0].routine.node if member is not None and type(member[0]) is Call else None
            if type(inner) is not FUNCTION:
                yield name
            elif id(inner) not in seen:
                yield from asks(inner, info, seen)


def default(param: core.Param, told: Value, places: Places) -> Value | None:
    """The number or None that a parameter is by default which its annotation, or nobody, says might be a tensor, or
    which names a device."""
    if type(param.default) is not CONST:
        return None
    value, tensor = param.default.value, tensor_in(told) is not None
    if value is None:
        return NONE if tensor or told is UNKNOWN or places.is_("names", "devices", param.name) else None
    return Host(type(value).__name__) if tensor and type(value) in (int, float) else None
