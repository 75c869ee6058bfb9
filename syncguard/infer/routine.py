"""A function being analyzed: Routine holds what is known of it for good, Frame one run through its body."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from syncguard.infer.domain.lattice import pooled
from syncguard.infer.domain.sureness import CERTAIN
from syncguard.infer.domain.values import Later, Table, Value, Why
from syncguard.infer.functions.wrappers import thin
from syncguard.infer.home import Home
from syncguard.infer.sightings import Asked, Context, Sighting
from syncguard.infer.written import Written
from syncguard.read.core import At, Call, Function, Module, Node
from syncguard.terms import BACKWARD

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.project import World

Env = dict[str, Value]
Given = dict[str, Value]  # what the parameters of which something is known hold in a call
Flags = dict[str, bool]  # what a part of a module was made with
Pairs = frozenset[tuple[str, str]]  # of the names of parameters
Asks = dict[tuple["Routine", Hashable], tuple[Given, At]]  # by what is called and its context: what it is given, where
Uses = dict[str, frozenset[str]]  # what is asked of each name
Rooted = tuple[str, At, str]  # where a chain of reasons begins: its file, place and words
Used = tuple[str, str]  # a file of the project, and the function in it whose body counts; "" for all around functions
# The calls of a file by the name of what is nothing but called, what is named elsewhere, and the lines of each name.
Mentioned = tuple[dict[str, list[Call]], frozenset[str], dict[str, list[int]]]
UNUSED: Final[frozenset[str]] = frozenset()
SERIAL: Final = count()  # tells apart what may have stood at one address


def of_part(name: str) -> bool:
    """Whether a name in an environment is one of a part of a variable: `self.x`, `batch[key]`."""
    return "." in name or "[" in name


Kept = tuple["ClassInfo", str, Value]  # an attribute of a class, and what it holds


class Told:
    """What a function of another file did when it was given this: what it returned, where it waited, whom it asked, the
    tensors that it let instances of classes keep, and those that it left in its own one."""

    __slots__ = ("asks", "given", "keeps", "left", "returned", "waits")

    def __init__(
        self, returned: Value, given: Given, waits: tuple[Sighting, ...], asks: Asks, keeps: tuple[Kept, ...], left: Env
    ) -> None:
        self.returned, self.given, self.waits, self.asks, self.keeps = returned, given, waits, asks, keeps
        self.left = left


class Routine:
    """A function, method, lambda or the top level of a file, with the facts that callers and runs have added so far."""

    __slots__ = (
        "actual",
        "annotated",
        "apart",
        "aside",
        "asks",
        "below",
        "called",
        "calls",
        "clocks",
        "closure",
        "contexts",
        "copies",
        "each",
        "errand",
        "filled",
        "given_to",
        "home",
        "host",
        "hosting",
        "inner",
        "kept",
        "kernel",
        "left",
        "made",
        "node",
        "owner",
        "pairs",
        "pays",
        "program",
        "qualname",
        "queued",
        "readers",
        "recurs",
        "returned",
        "running",
        "runs",
        "seen",
        "serial",
        "sightings",
        "stepping",
        "steps",
        "uses",
        "vague",
        "written",
        "yielded",
    )  # fmt: skip

    def __init__(
        self, node: Function | Module, home: Home, owner: ClassInfo | None, qualname: str, closure: tuple[Env, ...] = ()
    ) -> None:
        self.node, self.home, self.owner, self.qualname, self.closure = node, home, owner, qualname, closure
        self.serial = next(SERIAL)
        self.written = Written()
        self.uses: dict[Used, None] = {}
        self.seen: dict[str, Value] = {}
        # By its calls, the pairs of parameters of which one is given what is computed from the other, and those of
        # which one is given a tensor where the other may be None.
        self.pairs: dict[tuple[Routine, At | None], tuple[Pairs, Pairs]] = {}
        # By the calls of it as of a part of another module: how that was made, and what it is given.
        self.made: dict[tuple[Routine, At], tuple[Flags, Given]] = {}
        self.vague: set[str] = set()  # parameters that a call must give something, and that one gives what nobody knows
        self.returned: Value | None = None
        self.yielded: Value | None = None
        self.sightings: dict[tuple[At, str], Sighting] = {}
        self.calls: dict[Routine, list[tuple[At, Context]]] = {}
        # By calls: what they give that is on the host, and the texts.
        self.hosting: dict[tuple[Routine, At], tuple[frozenset[str], frozenset[str]]] = {}
        self.clocks: set[int] = set()  # the lines that read a clock
        self.copies: dict[int, int] = {}  # the lines that start a copy and go on, and how many loops are around
        self.filled: set[At] = set()  # what was built here on the host, and then took in data from elsewhere
        self.stepping: set[At] = set()  # the loops here of which each turn is a step
        self.readers: dict[Routine, None] = {}  # in order, so that runs do not differ
        self.runs = 0
        self.running = False
        self.aside = False  # whether it is run for one call alone
        self.actual: ClassInfo | None = None  # the receiver's own class, while an interface is run for it
        self.kept: Env = {}  # what that was made with and keeps, as long
        self.contexts: dict[object, Told] = {}  # of an interface
        # By calls of methods of other files: the classes of the objects asked, which descend from that of the method.
        self.below: dict[tuple[Routine, At], set[ClassInfo]] = {}
        self.asks: Asks = {}  # the functions of other files that it calls, with what it gives them
        self.pays: dict[object, tuple[Sighting, ...]] = {}  # of a thin interface: the waits of every call, likewise
        self.annotated: dict[str, Value] | None = None  # what the annotations say of the parameters, once asked for
        self.apart: tuple[int, Value] | None = None  # what it returns where no tensor is passed, as of a run
        # The same for callers of one kind, with one's arguments, and where every call of that kind waits.
        self.each: dict[object, tuple[int, Value, Given, tuple[Sighting, ...], Env]] = {}
        self.queued = False
        self.recurs = False  # whether it called itself before it was known what it returns
        self.inner: Value | None = None  # what such a call is taken to return, while this is tried
        self.left: Env = {}  # what its last run left in the attributes of its object, of a method that is told where
        self.given_to = ""  # what compiles or captures it, or asks it for a message, where a call does
        self.host = ""  # why its tensors are on the host, if they are
        self.kernel = False  # whether another compiler has its text, so that no line of it runs as Python
        self.steps = 0  # the line that takes many steps: its own loop, or a call of what has one
        self.program = False  # whether a script hands it its settings, once: it is the script
        self.called = False  # whether its file calls it
        self.errand = False  # whether a script calls it once, for its loop: what stands around that runs once

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    def made_anew(self) -> Routine:
        """Another one of the same def: what its text says is said of both, and what is known of its callers is not."""
        other = Routine(self.node, self.home, self.owner, self.qualname)
        other.host, other.kernel, other.written, other.uses = self.host, self.kernel, self.written, self.uses
        return other

    def forget(self) -> None:
        """Let go of all that was learnt of it."""
        self.owner, self.closure, self.returned, self.yielded = None, (), None, None
        self.seen, self.sightings, self.calls, self.hosting, self.readers = {}, {}, {}, {}, {}
        self.vague, self.pairs, self.made = set(), {}, {}
        self.contexts, self.asks, self.pays, self.each, self.below = {}, {}, {}, {}, {}
        self.annotated, self.apart, self.actual = None, None, None
        self.kept = {}
        self.written = Written()

    @property
    def gpuless(self) -> bool:
        """Whether it runs in a process that sees no GPU."""
        return bool(self.host) and self.host == self.home.processes


class Frame:
    """One run through a routine's body. `env` is None where control cannot be."""

    __slots__ = (
        "again",
        "arms",
        "asked",
        "beside_host",
        "beside_names",
        "breaks",
        "comps",
        "context",
        "continues",
        "demanded",
        "dotted",
        "emitted",
        "ends",
        "env",
        "failed",
        "given",
        "home",
        "keyed",
        "limit",
        "nested",
        "outer",
        "paid",
        "parts",
        "passed",
        "quiet",
        "returned",
        "routine",
        "several",
        "sometimes",
        "taken",
        "unused",
        "world",
        "yielded",
    )

    def __init__(self, world: World, routine: Routine, env: Env) -> None:
        self.world, self.routine, self.home, self.env = world, routine, routine.home, env
        self.outer = routine.closure
        self.context = Context()
        self.quiet = 0
        self.again = 0  # what is looked at once more: it calls nothing that it has not called where it stands
        self.sometimes = 0  # tests around this place that may skip it
        self.dotted: set[str] = set()  # names whose attributes have values of their own in `env`
        self.taken: dict[str, Node] = {}  # names of containers that something else holds, and where it holds them
        self.parts: set[str] = set()  # names that a loop gives to the parts of what is called a batch
        self.passed: frozenset[str] = (
            frozenset()
        )  # the parameters that a call gives something, where it is run for this
        self.failed: dict[str, bool] = {}  # flags that a handler alone sets, and to what
        self.arms: dict[str, tuple[Env, Env, Env]] = {}  # by question: what either answer bound, and both
        self.keyed: dict[str, tuple[Value, str, Value, Table]] = {}  # what loops over the items of dicts bind, by key
        self.comps: tuple[Uses, ...] = ()  # those of the variables of comprehensions around, from within
        self.unused: At | None = None  # the call whose result nobody asks for
        self.limit = CERTAIN  # no sighting is surer than this
        self.returned: Value | None = None
        self.yielded: Value | None = None
        self.breaks: list[Env] = []
        self.continues: list[Env] = []
        self.emitted: list[Sighting] = []
        self.ends: list[Env] = []  # the variables where it returned
        self.nested: dict[int, Routine] = {}  # what the defs in it made, by their identity: of another file's function
        self.asked: dict[int, Value] | None = None  # what the parts of a test hold, while both its sides are looked at
        self.given: tuple[Node | None, list[Value], dict[str, Value]] = (None, [], {})  # to the call that ended last
        self.several: At | None = None  # that call, where it is given nobody knows how many: `f(*found)`
        self.beside_host: set[Rooted] = set()  # what is computed with what was built here on the host
        self.beside_names: set[str] = set()  # the same of attributes of which nobody knows what they hold
        # What an array is made of as it is, and behind which tests.
        self.demanded: list[tuple[Rooted, tuple[Asked, ...]]] = []
        self.paid: dict[tuple[str, int], At] = {}  # what was waited for on the way here, and where

    def uses(self, path: str) -> frozenset[str]:
        """The uses of a name: those in a comprehension, where it is a variable of one."""
        root = path.partition(".")[0]
        for own in self.comps:
            if root in own:
                return own.get(path, UNUSED)
        return self.routine.node.uses.get(path, UNUSED)

    def lookup(self, name: str) -> Value:
        value = self.env.get(name)
        if value is None:
            for env in self.outer:
                value = env.get(name)
                if value is not None:
                    break
            else:
                value = self.home.env.get(name)
        if value is not None:
            return value if type(value) is not Later else self.world.brought(value, self.routine)
        if self.home.circular and (value := self.world.starred(self.home, name, self.routine)) is not None:
            return value
        for library in self.home.stars:
            if self.world.op(f"{library}.{name}") is not None:
                return self.world.resolved(f"{library}.{name}")
        return self.world.builtin(name)

    def sight(
        self,
        at: At,
        op: str,
        hazard: str,
        operand: Node | None,
        why: Why | None,
        sure: int,
        also: Why | None = None,
        met: tuple[int, ...] = (),
    ) -> None:
        """Record that the host may wait at this place."""
        sure = min(sure, self.limit)
        if self.quiet or not sure or self.routine.gpuless or self.routine.kernel:
            return
        sighting = Sighting(
            at, op, hazard, operand.at if operand is not None else None, why, sure, self.waited(at, hazard, why)
        )
        sighting.also, sighting.met = also, met
        if self.routine.aside:
            sighting.always = self.always()
        self.emitted.append(sighting)
        key = (at, hazard)
        known = self.routine.sightings.get(key)
        if known is None or known.sure < sure:
            self.routine.sightings[key] = sighting

    def always(self) -> bool:
        """Whether every call of a function of another file comes to this place, and comes for nothing else."""
        return not self.sometimes and not self.context.loops and not self.context.failing and thin(self.routine)

    def waited(self, at: At, hazard: str, why: Why | None) -> Context:
        """What surrounds a wait: one for a value that another has just waited for finds little left; a copy to the
        device has its own bytes to wait for, a count its own counting, and each backward comes later."""
        context = self.context
        if why is None or hazard in self.world.places.tables["hot"]["anew"] or hazard.startswith(BACKWARD):
            return context
        first = self.paid.setdefault((hazard, id(why)), at)
        if first == at:
            return context
        gate = context.gate or f"what the wait at line {first[0]} leaves of it"
        return Context(context.loops, gate, context.failing, context.tests, context.off)

    def why(self, text: str, at: At, parent: Why | None = None) -> Why:
        """A reason found in this file."""
        return Why(text, at, parent, self.home.path)

    def give(self, value: Value) -> None:
        self.returned = value if self.returned is None else pooled(self.returned, value)

    def surround(self, **changes: Any) -> Context:
        """Change what surrounds the places to come; returns what to put back."""
        before = self.context
        self.context = Context(
            changes.get("loops", before.loops),
            changes.get("gate", before.gate) or before.gate,
            changes.get("failing", before.failing),
            (*before.tests, changes["test"]) if "test" in changes else before.tests,
            changes.get("off", False) or before.off,
        )
        return before
