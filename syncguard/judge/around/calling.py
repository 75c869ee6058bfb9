"""Routines in, who calls each of them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from syncguard.infer.branches.above import asked_above
from syncguard.infer.branches.failures import beginning
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.parsed import parsed
from syncguard.infer.branches.subjects import ME, last_name
from syncguard.infer.branches.ungiven import BINDING, calls_of, handed_about, lines_of, private
from syncguard.infer.classes import ClassInfo
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.judge.around.chosen import tabled
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, FUNCTION, INDEX, NAME, WITH
from syncguard.read.walk import binds, everything, targets, walk
from syncguard.terms import Fact

Calling = tuple[Routine, At, Context]  # who calls, where, and what surrounds the call


# An expression, by its identity, and where it stands: the function, what is given, how deep, from which calls.
Asking = tuple[int, Routine, frozenset[str], int, frozenset[At]]
Around = tuple[Routine, tuple[tuple[int, bool], ...], tuple[int, ...]]  # the tests and loops around a place


class Made(msgspec.Struct, frozen=True):
    """A call as it is written, who makes it, and what surrounds it."""

    call: core.Call
    caller: Routine
    context: Context


Stored = tuple[core.Node, str, Routine]  # a statement, what it calls the attribute, and the method that it stands in


class Callers:
    """Who calls what in a file, worked out when it is first asked for."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.known: dict[tuple[str, At], list[Calling]] | None = None
        self.made: dict[str, tuple[Made, ...]] = {}
        self.behind: dict[Around, tuple[Fact, ...]] = {}  # the options that a place stands behind
        self.told: dict[Asking, tuple[core.Node, object]] = {}
        self.classes: dict[Asking, tuple[core.Node, list[ClassInfo]]] = {}  # of expressions
        self.asked: dict[tuple[int, bool, Routine, int, frozenset[At]], tuple[core.Node, bool]] = {}
        self.left: dict[tuple[Routine, str], core.Node | None] = {}  # what a constructor leaves an attribute with
        self.stored: dict[tuple[ClassInfo, str], list[Stored]] = {}
        self.keys: dict[str, Fact] | None = None
        self.others: dict[Home, Callers] = {home: self}
        self._of_each: dict[Routine, list[Calling]] | None = None
        self._binding: list[core.Node] | None = None
        self._set: frozenset[str] | None = None
        self._turned: frozenset[str] | None = None
        self._written: dict[str, list[core.Const]] | None = None
        self._called: frozenset[str] | None = None
        self._entered: list[core.Node] | None = None
        self._parsed: dict[str, list[core.Node | None]] | None = None

    def of(self, home: Home) -> Callers:
        """The same of another file."""
        found = self.others.get(home)
        if found is None:
            found = self.others[home] = Callers(home)
            found.others = self.others
        return found

    @property
    def of_each(self) -> dict[Routine, list[Calling]]:
        """The calls of each function that the file's own make."""
        if self._of_each is None:
            self._of_each = callers_of((*self.home.routines, *([self.home.top] if self.home.top else [])))
        return self._of_each

    @property
    def binding(self) -> list[core.Node]:
        """What assigns something anywhere in the file, if it is checked itself."""
        if self._binding is None:
            self._binding = [part for part in self.home.pieces if binds(part)] if self.home.own else []
        return self._binding

    @property
    def set(self) -> frozenset[str]:
        """The attributes that the file, if it is checked itself, assigns to what is not the object of a method."""
        if self._set is None:
            aims = [aim for part in self.binding for aim in targets(part) if type(aim) is ATTR]
            self._set = frozenset([aim.name for aim in aims if type(aim.of) is not NAME or aim.of.id not in ME])
        return self._set

    @property
    def turned(self) -> frozenset[str]:
        """Those of these that are set to what is written there: `config.exact = True`."""
        if self._turned is None:
            self._turned = self.set.intersection(self.written)
        return self._turned

    @property
    def written(self) -> dict[str, list[core.Const]]:
        """What is written there for each attribute of anything, where something is."""
        if self._written is None:
            self._written = {}
            for bind in self.binding:
                if type(bind) is BIND and type(bind.value) is CONST:
                    for aim in bind.targets:
                        if type(aim) is ATTR:
                            self._written.setdefault(aim.name, []).append(bind.value)
        return self._written

    def left_off(self, name: str) -> bool:
        """Whether all that the file does to an attribute is to turn it off: `config.exact = False`."""
        if name not in self.set:
            return True
        aims = [aim for part in self.binding for aim in targets(part) if type(aim) is ATTR and aim.name == name]
        values = self.written.get(name, ())
        return len(aims) == len(values) and not [one for one in values if one.value is not False]

    @property
    def called(self) -> frozenset[str]:
        """The methods that the file, if it is checked itself, calls on anything."""
        if self._called is None:
            calls = [part.fn for part in self.home.pieces if type(part) is CALL] if self.home.own else []
            self._called = frozenset([fn.name for fn in calls if type(fn) is ATTR])
        return self._called

    @property
    def entered(self) -> list[core.Node]:
        """What the file, if it is checked itself, enters by `with`."""
        if self._entered is None:
            blocks = [part for part in self.home.pieces if type(part) is WITH] if self.home.own else []
            self._entered = [context for block in blocks for context, _ in block.items]
        return self._entered

    def tabled(self, places: Places) -> dict[str, Fact]:
        """The keys that its functions are kept under."""
        if self.keys is None:
            self.keys = tabled(self.home, places)
        return self.keys

    @property
    def parsed(self) -> dict[str, list[core.Node | None]]:
        """What the file's parser says of each argument."""
        if self._parsed is None:
            self._parsed = parsed(self.home)
        return self._parsed

    def named(self, name: str) -> tuple[Made, ...]:
        """Every call of a function by this name, or of the forward pass of a class, `Round.apply`; none where one is
        not followed, or it is handed about."""
        found = self.made.get(name)
        if found is None:
            owner, _, called = name.rpartition(".")
            calls = _applied(owner, self.home) if owner else calls_of(name, self.home)
            found = self.made[name] = self._made(calls, "forward" if owner else called)
        return found

    def making(self, name: str) -> tuple[Made, ...]:
        """Every call that makes an object of a class by this name, with a constructor of its own or of one above."""
        return self._made(calls_of(name, self.home), "__init__")

    def _made(self, calls: Sequence[core.Call], runs: str) -> tuple[Made, ...]:
        made = [[Made(call, caller, context) for caller, _, context in self._at(call.at, runs)] for call in calls]
        return tuple([one for every in made for one in every]) if all(made) else ()

    def _at(self, at: At, name: str) -> list[Calling]:
        if self.known is None:
            self.known = {}
            for routine in (*self.home.routines, *([self.home.top] if self.home.top else [])):
                for callee, calls in routine.calls.items():
                    for place, context in calls:
                        self.known.setdefault((callee.name, place), []).append((routine, place, context))
        return self.known.get((name, at), [])


def call_at(at: At, routine: Routine) -> core.Call | None:
    """The call that is written at a place of a function; None where what is there has another form."""
    found = (part for part in walk(routine.node.body) if type(part) is CALL and part.at == at)
    return next(found, None)


def calls_for(written: core.Call, caller: Routine, routine: Routine) -> bool:
    """Whether what is written calls a function so that what it is given is seen: by its name, or by one that stands for
    what was looked up in a table; or an object that can be called, which another one has: `self.loss(x)`."""
    fn, owner = written.fn, caller.owner
    if last_name(fn) == routine.name:
        return True
    if routine.name == "__call__" and type(fn) is ATTR and type(fn.of) is NAME:
        return fn.of.id in ME and routine.owner is not None and owner is not None and owner.find(fn.name) is None
    kept = binders(caller).get(fn.id, ()) if type(fn) is NAME and routine.owner is None else ()
    return bool(kept) and all(type(one) is BIND and type(one.value) is INDEX for one in kept)


def plain(decorators: tuple[core.Node, ...], places: Places, binding: tuple[str, ...] = BINDING) -> bool:
    """Whether decorators leave a function to the same callers, for they only say what it is bound to, or wrap it."""
    names = map(last_name, decorators)
    return all(name in binding or places.is_("cold", "wrapping", name) for name in names)


def is_open(routine: Routine, places: Places) -> bool:
    """Whether a function may be called by others than those who name it: a method, or what a decorator hands on."""
    node = routine.node
    if type(node) is not FUNCTION or routine.owner is not None or routine.closure:
        return True
    return not plain(node.decorators, places, ())


def called_as(routine: Routine) -> str:
    """The name that a function is called by: of what torch runs forward and backward, `Round.apply`."""
    owner = routine.owner
    applies = owner is not None and owner.is_function and routine.name == "forward"
    return f"{owner.name}.apply" if owner is not None and applies else routine.name


def _applied(owner: str, home: Home) -> list[core.Call]:
    """The calls `Round.apply(x)` of a class that the file does nothing else with."""
    path = f"{owner}.apply"
    calls = [part for part in home.pieces if type(part) is CALL and type(part.fn) is ATTR and part.fn.path == path]
    return calls if len(calls) == len(lines_of(owner, home)) else []


def callers_of(routines: Iterable[Routine]) -> dict[Routine, list[Calling]]:
    """The calls of each routine that these make, in their order."""
    found: dict[Routine, list[Calling]] = {}
    for routine in routines:
        for callee, calls in routine.calls.items():
            found.setdefault(callee, []).extend((routine, at, context) for at, context in calls)
    return found


def kept_off(routine: Routine, callers: Callers, places: Places, asked: tuple[Routine, ...] = ()) -> bool:
    """Whether a function that nobody else has business with, or that is named for the host, is called in its file only
    where nothing runs on the device."""
    name = routine.name
    on_host = places.is_("names", "host_tensors", name) and not places.is_("names", "fetchers", name)
    own = (private(routine) or on_host) and not asked_above(routine)
    if not own or routine in asked or callers.home is not routine.home:
        return False
    calls = [call for call in callers.of_each.get(routine, ()) if call[0] is not routine]
    if not calls or len({at for _, at, _ in calls}) < len(lines_of(name, routine.home)):
        return False
    return all(context.off or kept_off(caller, callers, places, (*asked, routine)) for caller, _, context in calls)


def by_name(info: ClassInfo) -> bool:
    """Whether a class calls methods by names that it is given, with what it is given: `getattr(self, name)(*args)`. Any
    may be meant."""
    if info.picks is None:
        info.picks = _picks(info)
    return info.picks


def _picks(info: ClassInfo) -> bool:
    methods = [part for part in info.node.body if type(part) is FUNCTION]
    if not any("(0getattr" in method.uses.get(ME[0], ()) for method in methods):
        return False
    parts = everything(tuple(methods))
    handed = [part.fn for part in parts if type(part) is CALL and any(map(_starred, part.args))]
    called = {fn.id for fn in handed if type(fn) is NAME}
    binds = [part for part in parts if type(part) is BIND and type(part.targets[0]) is NAME]
    kept = [bind.value for bind in binds if getattr(bind.targets[0], "id", "") in called]
    return any(map(_picked, (*handed, *kept)))


def may_be_handed(routine: Routine) -> bool:
    """Whether a function is called by others than those who call it by its name: its file hands it about, or makes
    names up by which its class asks for it."""
    owner = routine.owner
    if owner is not None and may_pick(owner, routine.name):
        return True
    outer = not routine.closure and (owner is None or routine.name.startswith("_"))
    return outer and routine.name in handed_about(routine.home)


def may_pick(info: ClassInfo, name: str) -> bool:
    """Whether a class calls what it asks its own object for by a name that is made up, and may be this:
    `getattr(self, f"_{kind}")(x)`."""
    if info.begins is None:
        methods = [one for one in info.node.body if type(one) is FUNCTION and "(0getattr" in one.uses.get(ME[0], ())]
        info.begins = tuple([beginning(name) for one in methods for name in _made_up(walk(getattr(one, "body", ())))])
    return any(map(name.startswith, info.begins))


def _made_up(parts: Sequence[core.Node]) -> Iterator[core.Node]:
    """The names by which these parts of a method call what they ask its object for, where these are no texts."""
    called = [part.fn for part in parts if type(part) is CALL]
    names = {fn.id for fn in called if type(fn) is NAME}
    binds = [part for part in parts if type(part) is BIND and type(part.targets[0]) is NAME]
    kept = [bind.value for bind in binds if getattr(bind.targets[0], "id", "") in names]
    for asked in (*called, *kept):
        match asked:
            case core.Call(fn=core.Name(id="getattr"), args=(core.Name(id="self"), name, *_)) if (
                type(name) is not CONST
            ):
                yield name


def _starred(arg: core.Node) -> bool:
    return type(arg) is DO and arg.what == "*"


def _picked(node: core.Node | None) -> bool:
    """Whether this is `getattr(self, name)`."""
    if type(node) is not CALL or type(node.fn) is not NAME or node.fn.id != "getattr" or len(node.args) < 2:
        return False
    of, name = node.args[:2]
    return type(of) is NAME and of.id == "self" and type(name) is NAME
