"""A class of the project: its members, its bases, and what its instances' attributes hold, joined over all methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from syncguard.infer.domain.contents import arrived, taken_along, tensor_in
from syncguard.infer.domain.lattice import held, join, same
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Call,
    ClassOf,
    Host,
    Instance,
    Named,
    Seq,
    Tensor,
    Unknown,
    Value,
    constant,
    options,
)
from syncguard.infer.home import Home
from syncguard.infer.moves import moves_all
from syncguard.infer.routine import SERIAL, Env, Routine, Used
from syncguard.infer.spelling import fits
from syncguard.read.core import Bind, Class, Function, Name, Param
from syncguard.read.tags import ATTR, CALL, CONST
from syncguard.read.walk import walk

if TYPE_CHECKING:
    from syncguard.infer.project import World


class ClassInfo:
    """What is known of one class; `attrs` grows as methods are run."""

    __slots__ = (
        "announced",
        "asked_above",
        "assigning",
        "attrs",
        "bases",
        "begins",
        "elsewhere",
        "flags",
        "for_host",
        "handed",
        "hands_out",
        "home",
        "hostly",
        "is_function",
        "is_module",
        "is_optimizer",
        "is_tensor",
        "judges",
        "line",
        "members",
        "moved",
        "mro",
        "name",
        "node",
        "own_moves",
        "past",
        "picks",
        "promises",
        "qualname",
        "resets",
        "serial",
        "settled",
        "spelled",
        "steady",
        "stores",
        "tokenizes",
        "world",
    )

    def __init__(self, node: Class, home: Home, bases: list[Value], world: World) -> None:
        self.node, self.home, self.name, self.qualname, self.bases = node, home, node.name, node.qualname, bases
        self.members: Env = {}
        self.attrs: Env = {}
        self.promises: Env = {}  # what attributes are declared to hold that are None at first
        self.announced: Env = {}  # and those that are declared before anything is put there: `self.x: Tensor`
        self.world = world
        self.serial = next(SERIAL)
        self.stores: dict[str, list[Routine]] | None = None  # of an interface: the methods that assign an attribute
        self.settled: set[str] = set()
        self.spelled: dict[str, None] = {}  # the made-up names that its attributes were asked for by
        self.assigning: dict[str, list[tuple[ClassInfo, Sequence[Routine]]]] = {}  # the same over all bases
        self.past: dict[tuple[ClassInfo, str], bool] = {}  # the attributes that a base gives only other heirs
        self.resets: bool | None = None  # whether a method of it says where factories build
        self.moved: bool | None = None  # whether something moves all that an instance holds; not asked for yet
        self.own_moves: bool | None = None  # whether a method of this very class does
        self.asked_above: dict[str, tuple[str, ...]] | None = None  # by which methods of other files; likewise
        self.for_host: bool | None = None  # whether an instance holds what it made, where it made that; not asked yet
        self.steady: bool | None = None  # whether an instance holds what it was made of, where that is; likewise
        self.tokenizes: bool | None = None  # whether it keeps what a tokenizer makes, and names no device; likewise
        self.judges: bool | None = None  # whether it scores texts, likewise
        self.hands_out: bool | None = None  # whether it has attributes of names that nobody sees, likewise
        self.begins: tuple[str, ...] | None = None  # what names begin with that are made up for its methods, likewise
        self.picks: bool | None = None  # whether it calls methods by names that it is given, likewise
        self.flags: list[tuple[Param, list[Param]]] | None = (
            None  # the yes or no that instances are made with; likewise
        )
        self.handed: set[str] = set()  # the attributes that a method of another file's class keeps objects of this in
        self.hostly: dict[str, bool] = {}  # which attributes are asked for what only a tensor of the host has
        self.mro: tuple[ClassInfo, ...] = tuple(
            dict.fromkeys([self, *[info for base in bases if type(base) is ClassOf for info in base.info.mro]])
        )
        self.elsewhere: dict[Used, None] = {(info.home.path, ""): None for info in self.mro if not info.home.own}
        self.is_module = any(world.is_subclass(name, "torch.nn.Module") for name in self.external())
        self.is_function = any(world.is_subclass(name, "torch.autograd.Function") for name in self.external())
        self.is_optimizer = any(world.is_subclass(name, "torch.optim.Optimizer") for name in self.external())
        self.is_tensor = any(map(world.is_tensor_type, self.external()))

    def forget(self) -> None:
        """Let go of all that was learnt of it."""
        self.members, self.attrs, self.promises, self.announced = {}, {}, {}, {}
        self.bases, self.mro, self.assigning, self.stores = [], (), {}, None

    def external(self) -> Iterator[str]:
        """The dotted names of the imported classes that this one descends from."""
        for info in self.mro:
            for base in info.bases:
                if type(base) is Named:
                    yield base.name

    def libraries(self) -> Iterator[str]:
        """The imported classes whose methods an instance has: of a class of none, what a mixin is made for."""
        names = [*self.external()]
        yield from names
        if self.is_module:
            yield "torch.nn.Module"
        elif all(self.world.places.is_("names", "bare_bases", name) for name in names):
            yield from self.world.places.tables["names"]["mixed_into"]

    def find(self, name: str, above: bool = False) -> tuple[Value, ClassInfo] | None:
        """A member by name along the bases; `above` starts behind this class, as super() does."""
        for info in self.mro[1:] if above else self.mro:
            value = info.members.get(name)
            if value is not None:
                return value, info
        return None

    def fields(self) -> list[str]:
        """What a dataclass or NamedTuple declares, in order: what it descends from comes first."""
        declared = dict([item for info in reversed(self.mro) for item in info.members.items()])
        constants = {name for info in self.mro for name in info.constants()}
        return [name for name, value in declared.items() if type(value) is not Call and name not in constants]

    def constants(self) -> Iterator[str]:
        """What the body of the class gives a value and no type: the class has it, and no instance is made with it."""
        for node in self.node.body:
            if type(node) is Bind and node.annotation is None and node.value is not None:
                yield from [target.id for target in node.targets if type(target) is Name]

    def parts(self) -> tuple[Value, ...] | None:
        """The items of an instance that is a tuple; None of any other class."""
        if not any(name.endswith((".NamedTuple", ".namedtuple")) for name in self.external()):
            return None
        return tuple([self.held(name, None) or UNKNOWN for name in self.fields()])

    def held(self, name: str, reader: Routine | None) -> Value | None:
        """What a declared field holds: what was assigned to it, else what its type promises, as numbers in a list of
        what nobody knows."""
        assigned, declared = self.attribute(name, reader), self.find(name)
        if declared is None or type(declared[0]) is Call:
            return assigned
        if assigned is not None:
            told = declared[0]
            return told if type(assigned) is Unknown and type(told) is Seq and type(told.element) is Host else assigned
        return self.expected(name) if declared[0] is NONE else declared[0]

    def handed_up(self, name: str) -> Value | None:
        """The constant that a constructor gives by a keyword to the one above: `super().__init__(x, check=False)`."""
        for info in self.mro:
            maker = info.members.get("__init__")
            node = maker.routine.node if type(maker) is Call else None
            for part in walk(node.body) if type(node) is Function else ():
                if type(part) is CALL and type(part.fn) is ATTR and part.fn.name == "__init__":
                    for key, value in part.keywords:
                        if key == name and type(value) is CONST:
                            return constant(value.value)
        return None

    def expected(self, name: str) -> Value:
        """What is declared of an attribute that is None at first."""
        declared = next((info.promises[name] for info in self.mro if name in info.promises), None)
        return NONE if declared is None else join(declared, NONE)

    def settle(self) -> None:
        """With the body run: a class of unknown bases that defines forward(self, ...) is taken for a module."""
        forward = self.members.get("forward")
        node = forward.routine.node if type(forward) is Call else None
        if not self.is_module and type(node) is Function and node.params[:1] and node.params[0].name == "self":
            self.is_module = any(type(base) is not ClassOf for base in self.bases)
        if not self.is_module:
            self.is_module = any(info.is_module for info in self.mro[1:])

    def attribute(self, name: str, reader: Routine | None, mine: Value | None = None) -> Value | None:
        """What an instance attribute holds, over the class and its bases; `mine` is what an instance was made with that
        keeps it under this name."""
        if self.elsewhere:
            self.world.settle(self, name, reader)
        own = reader is not None and reader.home.own
        lent, readers = self.world.lent, self.world.readers
        seen = own or self.world.showing
        found: Value | None = None
        handed = False
        for info in self.mro:
            value = info.attrs.get(name)
            if value is not None and (info is self or not (handed or self.replaces(info, name))):
                found = value if found is None else held(found, value, self.is_module)
            value = lent.get((info, name)) if lent and seen else None
            if value is not None:
                if mine is not None and (info, name) not in self.world.anew:
                    value = mine
                found = value if found is None else held(found, value, self.is_module)
            handed = handed or name in info.handed
        if reader is not None and own:
            for info in self.mro:
                known = readers.get((info, name))
                if known is None:
                    readers[info, name] = {reader: None}
                else:
                    known[reader] = None
        if self.world.learning and any((info, name) in self.world.learning for info in self.mro):
            return found
        if found is NONE and any(self.world.assigned(info, name) for info in self.mro if info.home.own):
            return self.attribute(name, reader, mine)
        return self.kept(name, self.with_announced(name, found))

    def with_announced(self, name: str, found: Value | None) -> Value | None:
        """What was assigned, and what was declared; a tensor that was assigned tells more than that it is to be one."""
        declared = next((info.announced[name] for info in self.mro if name in info.announced), None)
        if declared is None or found is None:
            return declared if found is None else found
        told = type(declared) is Tensor and tensor_in(found) is not None
        return found if told else held(declared, found, self.is_module)

    def replaces(self, base: ClassInfo, name: str) -> bool:
        """Whether a class below a base assigns an attribute itself, and has its own of each method in which that one
        does, which does not call it."""
        known = self.past.get((base, name))
        if known is None:
            storing = self.world.storing(base, name)
            below = self.mro[: self.mro.index(base)] if storing else []
            mine = any(self.world.storing(info, name) for info in below)
            known = self.past[base, name] = mine and all(replaced(one.name, below) for one in storing)
        return known

    def alike(self, made: str, reader: Routine) -> list[Value]:
        """What each of the attributes holds that a made-up name may come to: `getattr(self, kind + "_seen")`."""
        names: dict[str, None] = {made: None}
        for info in self.mro:
            info.spelled[made] = None
            stored = [*info.attrs] if info.home.own else [*self.world.stored(info)]
            names.update(dict.fromkeys([name for name in stored if fits(made, name)]))
        held = [self.attribute(name, reader) for name in names]
        members = [value for info in self.mro for name, value in info.members.items() if fits(made, name)]
        return [value for value in (*held, *members) if value is not None]

    def on_host(self, name: str) -> bool:
        """Whether a method asks an attribute for what a tensor has on the host alone: it raises anywhere else. What a
        module holds may be asked before it is moved, and of other files we look at parts."""
        known = self.hostly.get(name)
        if known is None:
            asked = self.world.places.tables["host"]["demands"]
            nodes = [m.routine.node for info in self.mro for m in info.members.values() if type(m) is Call]
            uses = [node.uses.get(f"self.{name}", ()) for node in nodes if type(node) is Function]
            told = self.home.own and self.world.default_device == "host"  # else the user says that all is on the device
            known = told and not self.is_module and any(how in used for used in uses for how in asked)
            self.hostly[name] = known
        return known

    def moves(self) -> bool:
        """Whether a method, or a function that was given an instance, moves all that it holds to a device."""
        if self.moved is None:
            self.moved = any(info.moving() for info in self.mro)
        return self.moved

    def moving(self) -> bool:
        """Whether one of its own methods does so."""
        if self.own_moves is None:
            nodes = [m.routine.node for m in self.members.values() if type(m) is Call]
            self.own_moves = any(moves_all(node, self.world.moving) for node in nodes if type(node) is Function)
        return self.own_moves

    def move(self) -> None:
        """Something moves all that an instance holds to a device."""
        if self.home.own and not self.moved:
            self.moved = True
            for (info, _), routines in list(self.world.readers.items()):
                if self in info.mro or info in self.mro:
                    self.world.look_again(routines)

    def kept(self, name: str, found: Value | None) -> Value | None:
        """What was assigned; where that is None and things unknown, what was declared (`self.x: Tensor = None`)."""
        if type(found) is Tensor and found.device == "assumed" and self.on_host(name):
            return found.but(device="host")
        if found is not None and not self.is_module and self.moves():
            found = taken_along(found)
        if found is not None and tensor_in(found) is not None and (wrapper := self.wrapper(name)) is not None:
            return wrapper
        if found is None or any(type(option) is not Unknown and option is not NONE for option in options(found)):
            return found
        declared = self.expected(name)
        return found if declared is NONE else declared

    def wrapper(self, name: str) -> Value | None:
        """What a field is declared to hold that a class of the project makes: no tensor, whatever it is given."""
        declared = self.find(name)
        made = declared[0] if declared is not None else None
        wraps = type(made) is Instance and made.info is not None and not made.info.is_tensor
        return made if wraps and declared is not None and name not in tuple(declared[1].constants()) else None

    def lend(self, name: str, value: Value) -> Iterable[Routine]:
        """The same of the file that is checked, to a class of another file: nobody else sees it."""
        known = self.world.lent.get((self, name))
        value = arrived(value)
        joined = value if known is None else held(known, value, self.is_module)
        if known is not None and same(known, joined):
            return ()
        self.world.lent[self, name] = joined
        return self.readers(name)

    def learn(self, name: str, value: Value) -> Iterable[Routine]:
        """Join a value into an attribute; returns who must look again."""
        value = arrived(value)
        known = self.attrs.get(name)
        if known is None:
            self.attrs[name] = value
            return self.readers(name) if value is not UNKNOWN else ()
        joined = held(known, value, self.is_module)
        if same(known, joined):
            return ()
        self.attrs[name] = joined
        return self.readers(name)

    def readers(self, name: str) -> Iterable[Routine]:
        """Who has looked at an attribute, in the file that is checked, by its name or one that may come to it."""
        readers = self.world.readers
        found = readers.get((self, name), ())
        made = [one for one in self.spelled if one != name and fits(one, name)]
        return [*found, *[reader for one in made for reader in readers.get((self, one), ())]] if made else found


def replaced(name: str, below: Sequence[ClassInfo]) -> bool:
    """Whether one of these classes has its own method of a name, which calls none of that name."""
    for info in below:
        member = info.members.get(name)
        node = member.routine.node if type(member) is Call else None
        if type(node) is Function:
            calls = (part.fn for part in walk(node.body) if type(part) is CALL)
            return not any(type(fn) is ATTR and fn.name == name for fn in calls)
    return False


def class_of(receiver: Value | None) -> ClassInfo | None:
    """The class that a value is, or is an instance of."""
    return receiver.info if type(receiver) is Instance or type(receiver) is ClassOf else None
