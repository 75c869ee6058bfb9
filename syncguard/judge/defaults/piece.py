"""An expression in a function in, the parameter out that it is a piece of: an item of it, or computed from it where it
is."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import ME
from syncguard.infer.functions.brought import ITEMS
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.judge.defaults.defaults import bound_before
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import FUNCTION, NAME, SEQ
from syncguard.read.walk import walk

TAKERS: Final = ("list", "tuple", "dict", "enumerate", "reversed", "iter", "next", "sorted", "zip", "min", "max", "sum")
NOTHING: Final = ""  # what is of no parameter, and nowhere but on the host: a number
OTHER: Final = "?"  # what may be anywhere

Inside = dict[str, Node]  # the names that comprehensions bind, with what they take them of


def piece_of(node: Node, routine: Routine, world: World, loosely: bool = False) -> str:
    """That parameter; '' of what is of several, or of something else. `loosely`, where any function and method leaves
    things where they are."""
    found = _Finder(routine, world, loosely).of(node, {})
    return "" if found == OTHER else found


class _Finder:
    """A function in which expressions are looked at."""

    def __init__(self, routine: Routine, world: World, loosely: bool) -> None:
        node = routine.node
        self.routine, self.world, self.loosely = routine, world, loosely
        self.moves = world.places.tables["manners"]["moves"]
        self.params = [one.name for one in node.params if one.name not in ME] if type(node) is FUNCTION else []
        self.found: dict[str, str] = {}  # by variable: each is looked at once, however many are made of one another

    def of(self, node: Node | None, inside: Inside) -> str:
        """The parameter; NOTHING of a number, OTHER of all else."""
        match node:
            case core.Name(id=name):
                if name not in inside:
                    return self.named(node)
                return self.of(inside[name], {one: of for one, of in inside.items() if one != name})
            case core.Const() | None:
                return NOTHING
            case core.Index(of=of) | core.Attr(of=of):
                return self.of(of, inside)
            case core.Call():
                return self.called(node, inside)
            case core.Choose(yes=yes, no=no):
                return self.all_of((yes, no), inside)
            case core.Either(operands=args) | core.Seq(items=args) | core.Do(args=args) | core.Slice(bounds=args):
                return self.all_of(args, inside)
            case core.Comp(clauses=clauses, body=body):
                within = dict(inside)
                for target, iterable, _ in clauses:
                    names = [part.id for part in walk(target) if type(part) is NAME]
                    within.update(dict.fromkeys(names, iterable))
                return self.all_of(body, within)
        return OTHER

    def all_of(self, nodes: tuple[Node, ...], inside: Inside) -> str:
        """The same of what is made of several."""
        found = {self.of(one, inside) for one in nodes} - {NOTHING}
        return found.pop() if len(found) == 1 else OTHER if found else NOTHING

    def called(self, call: core.Call, inside: Inside) -> str:
        """The same of what a method gives back, or a function that takes containers apart."""
        if any(key == "device" for key, _ in call.keywords) and not self.loosely:
            return OTHER
        match call.fn:
            case core.Name(id=name) if name in TAKERS and name not in self.routine.home.env:
                return self.all_of(call.args, inside)
            case core.Attr(of=of, name=name) if name not in self.moves and self.known(name):
                return self.of(of, inside)
        if not self.loosely:
            return OTHER
        found = self.of(call.fn, inside)
        return found if found not in (NOTHING, OTHER) else self.all_of(call.args, inside)

    def known(self, method: str) -> bool:
        """Whether a method, of a tensor or of a container of some, leaves things where they are."""
        kinds = self.world.places.tables["names"]["tensor_kinds"]
        return method in ITEMS or any(self.world.op(f"{kind}.{method}") is not None for kind in kinds)

    def named(self, name: core.Name) -> str:
        """The same of a variable, by all that it is bound to."""
        if name.id in self.found:
            return self.found[name.id]
        bound = binders(self.routine).get(name.id, ())
        function = self.routine.node
        if name.id in self.params and type(function) is FUNCTION:
            return name.id if not bound_before(name, bound, function) else OTHER
        if not bound:
            return OTHER
        self.found[name.id] = NOTHING  # what it is made of itself adds nothing
        found = {self.bound(part) for part in bound} - {NOTHING}
        self.found[name.id] = found.pop() if len(found) == 1 else OTHER if found else NOTHING
        return self.found[name.id]

    def bound(self, part: Node) -> str:
        """The same of what a statement gives a variable."""
        match part:
            case core.Bind(targets=targets, value=value):
                return self.of(value, {}) if all(map(_plain, targets)) else OTHER
            case core.Update(value=more) | core.Let(value=more):
                return self.of(more, {})
            case core.Loop(iterable=iterable) if iterable is not None:
                return self.of(iterable, {})
        return OTHER


def _plain(target: Node) -> bool:
    """Whether names alone are bound here."""
    return type(target) is NAME or (type(target) is SEQ and all(map(_plain, target.items)))
