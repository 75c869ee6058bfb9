"""A file lowered to core in, every sync in it out: the world of modules, classes and routines, run to a fixpoint."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from syncguard.infer.classes import ClassInfo, class_of
from syncguard.infer.domain.contents import (
    any_on_device,
    held_there,
    holds_object,
    holds_tensor,
    is_object,
    made_with,
    there,
)
from syncguard.infer.domain.lattice import join_all, pooled, same
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Call,
    Host,
    Instance,
    Later,
    Seq,
    Table,
    Tensor,
    Union,
    Value,
    constant,
    options,
)
from syncguard.infer.expressions.demanded import needless
from syncguard.infer.functions import (
    callbacks,
    flagged,
    hosting,
    leaning,
    learnt,
    leaving,
    parameters,
    promises,
    setters,
    wrappers,
)
from syncguard.infer.functions.on_cpu import on_cpu
from syncguard.infer.functions.placing import placed
from syncguard.infer.functions.rebuilding import rebuilt
from syncguard.infer.heirs import overriding
from syncguard.infer.home import Home
from syncguard.infer.modules import Load, Says, nothing, silent
from syncguard.infer.operations.targets import names_host, names_one
from syncguard.infer.overrides import callers
from syncguard.infer.routine import Frame, Routine
from syncguard.infer.sharing import DEPTH, Sharing
from syncguard.infer.statements.execute import run
from syncguard.infer.statements.paths import Dead
from syncguard.infer.stores import constructs_above, stays_where_made, steady, stores_of
from syncguard.infer.turns import order
from syncguard.pack import Pack
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CONST, FUNCTION, NAME

RUNS: Final = 6  # runs of one routine before its facts are taken as settled
sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))


def _may_tell(value: Value, at_host: bool) -> bool:
    """Whether what an object is made with tells what it holds: another object, or a device that is not the host."""
    if type(value) is Host and value.kind.startswith("device:"):  # that of a tensor
        return not (at_host or names_host(value))
    return holds_object(value) or (not at_host and names_one(value) and not names_host(value))


def _handed_up(arg: Node, node: core.Function, given: dict[str, Value]) -> Value:
    """What a constructor hands up: a constant, or what it is given itself, or by default; else something."""
    left = {param.name: param.default for param in node.params}.get(arg.id) if type(arg) is NAME else arg
    found = given.get(arg.id) if type(arg) is NAME else None
    return found or (constant(left.value) if type(left) is CONST else Host("object"))


class World(Sharing):
    """All that is known of the project. Facts only grow, so running routines until none has news is a fixpoint."""

    def __init__(
        self,
        pack: Pack,
        default_device: str = "host",
        version: str = "",
        load: Load = nothing,
        says: Says = silent,
    ) -> None:
        super().__init__(pack, version, load, says)
        self.default_device = default_device
        self.all_there = False  # whether the user says that what names no device is on one, which no code disproves
        self.queue: deque[Routine] = deque()
        self.watch: Callable[[Frame, Node, Value], None] | None = None
        self.guesses = True  # whether a name such as `mask` tells a dtype

    # -- running ------------------------------------------------------------------------------

    def infer(self, home: Home) -> None:
        """Run everything in a file until nothing new is learnt."""
        self.open(home)
        self.run_fresh([routine for routine in home.routines if routine.name == "__init__"])
        known = [*home.classes]
        self.run_above(known)
        while fresh := [routine for routine in home.routines if not routine.runs]:
            self.run_fresh(fresh)
        self.run_above([info for info in home.classes if info not in known])
        while self.queue:
            routine = self.queue.popleft()
            routine.queued = False
            if routine.runs < RUNS and not routine.running:
                self.run(routine)

    def run_fresh(self, routines: list[Routine]) -> None:
        """Run those of some routines that have not been run yet."""
        for routine in sorted(routines, key=order):
            if not routine.runs:
                self.run(routine)
                self.constructed_anew()

    def run_above(self, classes: list[ClassInfo]) -> None:
        """Run what methods of other files these classes have that call their own: what they give is known from then."""
        for info in classes:
            for inherited, override in callers(info, self.places):
                self.outcome(inherited, {}, Frame(self, override, {}), info)
                self.inherited.append((inherited, override, info))

    def constructed_anew(self) -> None:
        """Run constructors that were given news, before who reads what they assign."""
        for routine in [routine for routine in self.queue if routine.name == "__init__"]:
            self.queue.remove(routine)
            routine.queued = False
            if routine.runs < RUNS and not routine.running:
                self.run(routine)

    def open(self, home: Home) -> None:
        """Run a file's top level once."""
        if home.top is None:
            home.top = Routine(home.core, home, None, "")
            home.top.host = on_cpu(home.top, self)
            home.frame = Frame(self, home.top, home.bound)
            home.top.running = True
            run(home.core.body, home.frame)
            home.bound = {**home.bound, **home.frame.env}
            home.frame = None
            for name, value in home.bound.items():
                if type(value) is Union and any(type(option) is Later for option in value.options):
                    home.bound[name] = self.brought(value, home.top)
            home.top.running, home.top.runs = False, 1

    def run(self, routine: Routine) -> None:
        """Run a routine's body with all that is known of its parameters."""
        node = routine.node
        if type(node) is not FUNCTION or routine.running or self.depth > DEPTH:
            return
        routine.runs += 1
        routine.sightings, routine.calls, routine.hosting, routine.asks = {}, {}, {}, {}
        returned = self.body(routine, node)
        first = routine.returned is None and routine.recurs
        if first and (again := self.itself(routine, node, routine.seen, returned)) is not None:
            returned, routine.sightings, routine.asks = again
        if routine.returned is None or not same(routine.returned, returned):
            routine.returned = returned if routine.returned is None else pooled(routine.returned, returned)
            self.look_again(routine.readers)

    def body(self, routine: Routine, node: core.Function) -> Value:
        """One run through a body; what it returns."""
        routine.running, self.depth = True, self.depth + 1
        frame = Frame(self, routine, {})
        parameters.bind(frame, node)
        if routine.aside:
            frame.passed = frozenset(routine.seen)
        default = self.default_device
        if default == "host" and routine.owner is not None and self.resets(routine.owner):
            self.default_device = "mixed"
        run(node.body, frame)
        if frame.beside_host or frame.beside_names or frame.demanded:
            routine.sightings = {key: wait for key, wait in routine.sightings.items() if not needless(wait, frame)}
        self.default_device = default
        routine.running, self.depth = False, self.depth - 1
        if type(frame.env) is not Dead:
            frame.give(NONE)
            frame.ends.append(frame.env)
        if names := leaving.leaves(routine, self.places):
            routine.left = leaving.left(names, node, frame)
        returned = frame.returned if frame.returned is not None else UNKNOWN  # it only raises: an abstract method
        if node.generator:
            routine.yielded = frame.yielded or UNKNOWN
            returned = Seq("iterator", None, routine.yielded)
        return promises.with_annotation(frame, node, returned)

    def look_again(self, routines: Iterable[Routine]) -> None:
        for routine in routines:
            if routine.runs and not routine.queued:
                routine.queued = True
                self.queue.append(routine)

    # -- calls --------------------------------------------------------------------------------

    def call(
        self,
        routine: Routine,
        receiver: Value | None,
        args: list[Value],
        keywords: dict[str, Value],
        at: At,
        frame: Frame,
    ) -> Value:
        """Call a function of the project: it learns from these arguments, and we from what it returns."""
        given = [receiver, *args] if receiver is not None else args
        kept = setters.kept_as(routine, args, keywords, self)
        above = setters.kept_above(routine, receiver, args, keywords)
        kept = {**kept, **above} if above else kept
        if kept and type(receiver) is Instance and receiver.info is not None:
            receiver.info.handed.update(above)
            for name, value in kept.items():
                self.learn(receiver.info, name, value, frame)
        found = self.called(routine, receiver, args, keywords, at, frame)
        heirs = overriding(routine, receiver, frame.routine) if frame.home.own and not frame.routine.host else ()
        others = [self.called(one, receiver, args, keywords, at, frame) for one in heirs]
        if others and (found is UNKNOWN or found is NONE):
            found = join_all(others)
        found = promises.of_receiver(rebuilt(found, routine, args), routine, receiver, self.places)
        if type(receiver) is Instance and receiver.device == "host" and not any_on_device([*args, *keywords.values()]):
            found = held_there(receiver, found, self.places.is_("manners", "moves", routine.name))
        return placed(found, routine, given, keywords, receiver is not None, at, frame)

    def called(
        self,
        routine: Routine,
        receiver: Value | None,
        args: list[Value],
        keywords: dict[str, Value],
        at: At,
        frame: Frame,
    ) -> Value:
        """What it returns, by its body."""
        if frame.home.own and not frame.again:
            frame.routine.calls.setdefault(routine, []).append((at, frame.context))
        given = [receiver, *args] if receiver is not None else args
        hosted = type(receiver) is Instance and receiver.device == "host"
        if routine.home is not frame.home or not frame.home.own:
            if frame.unused == at and not wrappers.thin(routine):
                passed = [*args, *keywords.values()] if frame.home.own else []
                # What a module hands to the one above it is set up there; an object tells no more of that.
                objects = not (routine.name == "__init__" and routine.owner is not None and routine.owner.is_module)
                tells = any(
                    holds_tensor(value) or callbacks.is_own(value) or (objects and is_object(value)) for value in passed
                )
                asks = frame.home.own and not hosted
                if not (tells or (asks and self.reads_lent(routine, class_of(receiver), frame))):
                    return UNKNOWN
            handed = learnt.given(routine, given, keywords, receiver is not None, frame.several != at)
            handed.update(promises.said(routine, at, frame))
            if frame.home.own:
                self.look_again(callbacks.told(routine, handed, frame))
            hosting.note(frame.routine, routine, at, handed)
            if routine.home.own:
                # What a base class of another file calls; what it only computed from tensors may be anywhere.
                sure = [told(value) for value in given]
                named = {name: told(value) for name, value in keywords.items()}
                told_of = learnt.given(routine, sure, named, receiver is not None, frame.several != at)
                if learnt.learn(routine, told_of, frame) | leaning.note(routine, told_of, False, None, frame):
                    self.look_again((routine,))
            mine = receiver.settings if type(receiver) is Instance and receiver.info is not None else None
            found = self.outcome(routine, handed, frame, class_of(receiver), at, mine, hosted)
            passed = [*args, *keywords.values()]
            if self.waits:
                wrappers.tell(self.waits, routine, passed, at, frame)
            return promises.varied(found, passed, routine, self)
        handed = learnt.given(routine, given, keywords, receiver is not None, frame.several != at)
        hosting.note(frame.routine, routine, at, handed)
        leans = leaning.note(routine, handed, receiver is not None, at, frame)
        leans = flagged.note(routine, receiver, handed, at, frame) or leans
        if learnt.learn(routine, handed, frame) or leans:
            if routine.runs:
                self.look_again((routine,))
            self.look_again(callbacks.told(routine, routine.seen, frame))
        if not routine.runs:
            self.run(routine)
        routine.readers[frame.routine] = None
        return self.shared(routine, handed, [*args, *keywords.values()], at, frame)

    def construct(self, info: ClassInfo, args: list[Value], keywords: dict[str, Value], at: At, frame: Frame) -> Value:
        """Call a class: its __init__ learns from the arguments; a dataclass may have __post_init__ follow."""
        passed = [*args, *keywords.values()]
        member = info.find("__init__")
        at_host = promises.made_there(info, passed, frame) or self.made_of_host(info, passed)
        if not at_host and member is not None and type(member[0]) is Call and not any_on_device(passed):
            at_host = self.made_for_host(info, member[0].routine, [UNKNOWN, *args], keywords)
        instance = Instance(info, device="host") if at_host else Instance(info)
        if member is not None and type(member[0]) is Call:
            if info.home.own:
                self.call(member[0].routine, instance, args, keywords, at, frame)
            elif frame.home.own and (
                any_on_device(passed) or (not info.is_module and any(_may_tell(value, at_host) for value in passed))
            ):
                routine = member[0].routine
                self.outcome(routine, learnt.given(routine, [instance, *args], keywords, True), frame, info, at)
                return instance if info.is_module else made_with(instance, self.made_with)
            return instance
        for name, value in [*zip(info.fields(), args, strict=False), *keywords.items()]:
            declared = info.find(name)
            # What a field of another file's class is declared to hold is said there.
            unsaid = declared is not None and (declared[0] is UNKNOWN or declared[0] is NONE)
            if value is not UNKNOWN and name and (info.home.own or unsaid):
                self.learn(info, name, value, frame)
        after = info.find("__post_init__") if info.home.own else None
        if after is not None and type(after[0]) is Call:
            self.call(after[0].routine, instance, [], {}, at, frame)
        return instance

    def made_for_host(self, info: ClassInfo, init: Routine, args: list[Value], keywords: dict[str, Value]) -> bool:
        """Whether an instance holds what its constructor makes on the host, as it is told or left to."""
        node = init.node
        if info.is_module or self.default_device == "assumed" or type(node) is not FUNCTION:
            return False
        asked = [param for param in node.params if self.places.is_("names", "devices", param.name)]
        given = learnt.given(init, args, keywords, True)
        above = constructs_above(node) if not asked and init.owner in info.mro else None
        if above is not None:
            higher = info.mro[info.mro.index(init.owner) + 1 :]
            maker = next((base.members["__init__"] for base in higher if "__init__" in base.members), None)
            args = [UNKNOWN, *[_handed_up(arg, node, given) for arg in above.args]]
            keywords = {name: _handed_up(arg, node, given) for name, arg in above.keywords}
            return type(maker) is Call and self.made_for_host(info, maker.routine, args, keywords)
        if len(asked) != 1:
            return False
        told = given.get(asked[0].name)
        default = asked[0].default
        left = type(default) is CONST and type(default.value) is str and default.value.partition(":")[0] == "cpu"
        if not (left if told is None else names_host(told)):
            return False
        if info.for_host is None:
            info.for_host = stays_where_made(info, self.moving)
        return info.for_host

    def made_of_host(self, info: ClassInfo, passed: list[Value]) -> bool:
        """Whether an instance holds what is on the host: it is made of that, whatever others are made of."""
        if info.is_module or not promises.hostly(passed):
            return False
        if info.steady is None:
            info.steady = all(self.places.is_("names", "bare_bases", name) for name in info.external()) and steady(
                info, self.moving
            )
        return info.steady

    # -- other files --------------------------------------------------------------------------

    def settle(self, info: ClassInfo, name: str, reader: Routine | None) -> None:
        """Learn what an attribute holds, from the methods of classes of other files that assign it."""
        found = info.assigning.get(name)
        if found is None:
            bases = ((base, self.storing(base, name)) for base in info.mro if not base.home.own)
            found = info.assigning[name] = [(base, assigning) for base, assigning in bases if assigning]
        if reader is not None:
            reader.uses.update(info.elsewhere)
            for base, assigning in found:
                for routine in assigning:
                    reader.uses[base.home.path, routine.qualname] = None
        for base, assigning in found:
            if name not in base.settled and not base.home.half:
                base.settled.add(name)
                for routine in assigning:
                    if not routine.running:
                        self.outcome(routine, {}, Frame(self, routine, {}))

    def assigned(self, info: ClassInfo, name: str) -> bool:
        """Run the methods that assign an attribute of which only a declaration is known; tells whether any was run."""
        waiting = [r for r in self.storing(info, name) if not r.runs and not r.running] if name in info.promises else []
        self.learning.add((info, name))
        for routine in waiting:
            self.run(routine)
        self.learning.discard((info, name))
        if waiting:
            self.look_again(info.readers(name))  # where nothing was learnt, they believe the declaration
        return any(routine.runs for routine in waiting)

    def awaited(self, info: ClassInfo, name: str, frame: Frame) -> bool:
        """Run the methods that assign an attribute of which only its uses tell; tells whether it is known by then: what
        a use proves it to be would stay with whom it is given to."""
        if not frame.home.own or frame.quiet:
            return False
        waiting = [r for one in info.mro for r in self.storing(one, name) if r.home.own and not (r.runs or r.running)]
        for routine in waiting:
            self.run(routine)
        found = info.attribute(name, frame.routine) if waiting else None
        return found is not None and found is not UNKNOWN

    def storing(self, info: ClassInfo, name: str) -> Sequence[Routine]:
        """The methods of a class that assign an attribute to their receiver."""
        return self.stored(info).get(name, ())

    def stored(self, info: ClassInfo) -> dict[str, list[Routine]]:
        """The attributes that methods of a class assign, and which do."""
        if info.stores is None:
            info.stores = stores_of(info, self.registrars)
        return info.stores

    def leave(self, home: Home) -> None:
        """Forget a file that has been checked; nothing of it may stay in what others share."""
        for routine, key in self.passing:
            routine.contexts.pop(key, None)
            routine.pays.pop(key, None)
        self.passing.clear()
        self.inherited.clear()
        self.lent.clear()
        self.anew.clear()
        self.made_with = {}
        self.readers.clear()
        home.forget()


def told(value: Value) -> Value:
    """A tensor, which is sure enough to be told to who knows nothing of it, or what was put on the host; what may be
    many things is not."""
    if type(value) is Table:
        return Table({key: told(item) for key, item in value.items.items()}, told(value.element), value.keys)
    return value if all(_told(option) for option in options(value)) else UNKNOWN


def _told(option: Value) -> bool:
    return there(option) or type(option) is Tensor or option is NONE
