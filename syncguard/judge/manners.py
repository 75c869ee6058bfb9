"""A sighting and what stands around it in, whether it waits in the manner that a page has another hint for out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from syncguard.infer.branches.gates import last_name
from syncguard.infer.domain.values import Why
from syncguard.infer.project import World
from syncguard.infer.routine import Routine, Sighting
from syncguard.infer.statements.collected import alike, around
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.walk import bound_in, everything, walk

KEPT = re.compile(r"[A-Za-z_]\w*(\.\w+)*(\[[^()]*\])?")  # what can be kept: no call
COMPARES = frozenset(("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__invert__"))
BATCHES = frozenset(("batch", "pinned batch", "part"))


class Place(msgspec.Struct, frozen=True):
    """A sighting with its routine, the world, and the text of what is waited for."""

    sighting: Sighting
    routine: Routine
    world: World
    operand: str

    @property
    def causes(self) -> list[Why]:
        """The links of its chain, the last first."""
        found, why = list[Why](), self.sighting.why
        while why is not None:
            found.append(why)
            why = why.parent
        return found

    def begins(self, why: Why | None, *kinds: str) -> bool:
        """Whether a chain begins with a factory of one of these kinds."""
        return why is not None and any(why.root.text in self.world.places.tables["factories"][kind] for kind in kinds)

    def around(self) -> Iterator[Node]:
        """The statements that it stands in, from without."""
        return enclosing(self.routine.node.body, self.sighting.at)

    def pieces(self) -> list[Node]:
        """All that its function is written of."""
        return walk(self.routine.node.body)

    def read(self) -> list[Node]:
        """What is waited for, as it is written."""
        return [part for part in self.pieces() if part.at == self.sighting.operand]

    def tests(self) -> Iterator[core.If | core.Loop | core.Check]:
        """The statements that it is asked in the test of."""
        for part in self.around():
            match part:
                case core.If(test=test) | core.Check(test=test) | core.Loop(test=test) if test is not None:
                    if around(test.at, self.sighting.at):
                        yield part


def waits_so(manner: str, sighting: Sighting, routine: Routine, world: World, words: Mapping[str, str]) -> bool:
    """Whether a place waits in this manner."""
    return MANNERS[manner](Place(sighting, routine, world, words["operand"]))


def enclosing(parts: tuple[Node, ...], at: At) -> Iterator[Node]:
    """The statements of a block that a place stands in, from without."""
    while (held := next((part for part in parts if around(part.at, at)), None)) is not None:
        yield held
        parts = within(held)


def within(part: Node) -> tuple[Node, ...]:
    """The statements in a statement."""
    match part:
        case core.If(body=body, orelse=orelse) | core.Loop(body=body, orelse=orelse):
            return (*body, *orelse)
        case core.With(body=body):
            return body
        case core.Try():
            return (*part.body, *[one for _, body in part.handlers for one in body], *part.orelse, *part.final)
    return ()


def several(place: Place) -> bool:
    """An element of what others are read of too: by the same function, or in the turns of a loop."""
    return any(
        _turned(part, place) or (type(part) is core.Index and _picked(part) and _others(part, place))
        for part in place.read()
    )


def _turned(part: Node, place: Place) -> bool:
    """Whether this is what a loop over a list or a tensor comes to in each turn, or what its turn picks."""
    turns = set[str]()
    for loop in place.pieces():
        if type(loop) is core.Comp and around(loop.at, part.at):
            turns |= {name.id for target, _, _ in loop.clauses for name in walk(target) if type(name) is core.Name}
        if type(loop) is core.Loop and loop.target is not None and around(loop.at, part.at):
            turns |= {name.id for name in walk(loop.target) if type(name) is core.Name}
    if type(part) is core.Index:
        return _picked(part) and any(type(name) is core.Name and name.id in turns for name in walk(part.key))
    return type(part) is core.Name and part.id in turns


def _picked(part: core.Index) -> bool:
    """Whether this picks one element: by numbers, or what may be some."""
    keys = part.key.items if type(part.key) is core.Seq else (part.key,)
    return all(type(key) is core.Name or (type(key) is core.Const and type(key.value) is int) for key in keys)


def _others(part: core.Index, place: Place) -> bool:
    """Whether other elements of the same tensor are read, too."""
    read = {one.operand for one in place.routine.sightings.values() if one.hazard == place.sighting.hazard}
    return any(
        type(other) is core.Index and other.at != part.at and other.at in read and alike(other.of, part.of)
        for other in place.pieces()
    )


def sized(place: Place) -> bool:
    """A number that says how large something is, or how often a loop turns."""
    last = next(reversed([*place.around()]), None)
    bound = last.targets[0] if type(last) is core.Bind and len(last.targets) == 1 else None
    return any(_sizes(part, place, bound) for part in place.pieces())


def _sizes(part: Node, place: Place, bound: Node | None) -> bool:
    """Whether a call or a slice is given it as a size, or the name that it is bound to."""
    names = place.world.places.tables["names"]
    sizes = list[Node]()
    if type(part) is core.Slice:
        sizes += part.bounds
    elif type(part) is core.Call:
        sizes += part.args if last_name(part.fn) in names["counting"] else ()
        sizes += [value for key, value in part.keywords if place.world.places.is_("names", "numbers", key)]
    return any(
        around(size.at, place.sighting.at) or (type(bound) is core.Name and _names(size, bound.id)) for size in sizes
    )


def _names(part: Node, name: str) -> bool:
    return any(type(one) is core.Name and one.id == name for one in walk(part))


def counted(place: Place) -> bool:
    """A count or a flag that is kept from step to step, in a buffer of one number."""
    causes, owner = place.causes, place.routine.owner
    if (
        not causes
        or owner is None
        or around(place.routine.node.at, causes[-1].at)
        or not place.begins(causes[-1], "converts")
    ):
        return False
    made = [part for part in everything(owner.node.body) if type(part) is core.Call and part.at == causes[-1].at]
    plain = {*COMPARES, *place.world.places.tables["manners"]["moves"]}
    return any(_alike(part.args) for part in made) and all(why.text.rpartition(".")[2] in plain for why in causes[:-1])


def logged(place: Place) -> bool:
    return place.sighting.op.rpartition(".")[2] in place.world.places.tables["manners"]["says"]


def drawn(place: Place) -> bool:
    return place.begins(place.sighting.why, "drawn")


def number(place: Place) -> bool:
    """It is made of one number that is written there, once or for each element."""
    return _made_of(place, _alike)


def row(place: Place) -> bool:
    """It is made of the numbers of a range."""
    return _made_of(place, lambda args: bool(args) and type(args[0]) is core.Call and last_name(args[0].fn) == "range")


def _made_of(place: Place, fits: Callable[[tuple[Node, ...]], bool]) -> bool:
    """Whether it is made of arguments that are such, here."""
    why = place.sighting.why
    if why is None or not place.begins(why, "converts"):
        return False
    return any(type(part) is core.Call and part.at == why.root.at and fits(part.args) for part in place.pieces())


def _alike(args: tuple[Node, ...]) -> bool:
    """Whether what comes first is a number, or a list of one and the same: `[1, 1]`, `[n] * size`."""
    first = args[0] if args else None
    if type(first) is core.Do and first.what == "*x":
        return any(type(part) is core.Seq and len(part.items) == 1 for part in first.args)
    parts = walk(first.args[0] if type(first) is core.Do and first.what == "neg" else first)
    numbers = {part.value for part in parts if type(part) is core.Const}
    return len(numbers) == 1 and all(type(part) in (core.Const, core.Seq) for part in parts)


def batch(place: Place) -> bool:
    causes = place.causes
    return bool(causes) and causes[-1].text in BATCHES


def kept(place: Place) -> bool:
    """What is copied is kept in an attribute, or in a name from around the function."""
    why, node = place.sighting.why, place.routine.node
    if why is None or KEPT.fullmatch(place.operand) is None or type(node) is not core.Function:
        return False
    here = why.root.path in ("", place.routine.home.path) and around(node.at, why.root.at)
    name, _, rest = place.operand.partition("[")[0].partition(".")
    own = {part.id for part in bound_in(node.body) if type(part) is core.Name}
    given = {param.name for param in node.params}
    return not here and (bool(rest) or name not in own | given)


def brought(place: Place) -> bool:
    """What is read was on the host before, and has only been moved and looked at in other shapes since."""
    causes = [why.text for why in place.causes]
    places = place.world.places.tables
    if not causes or causes[-1] not in BATCHES | {"loaded", *places["factories"]["converts"]}:
        return False
    plain = {"iterate", *places["manners"]["moves"], *places["views"]["names"]}
    return len(causes) > 1 and all(text.rpartition(".")[2] in plain for text in causes[:-1])


def built(place: Place) -> bool:
    return place.begins(place.sighting.also, "built", "drawn")


def computed(place: Place) -> bool:
    return place.sighting.also is not None and place.sighting.also.text != "listed"


def checked(place: Place) -> bool:
    return any(type(part) is core.Check or (type(part) is core.If and raises(part.body)) for part in place.tests())


def raises(body: tuple[Node, ...]) -> bool:
    return bool(body) and type(body[-1]) is core.Leave and body[-1].what == "raise"


def told(place: Place) -> bool:
    says = place.world.places.tables["manners"]["says"]
    return any(
        type(part) is core.If
        and not part.orelse
        and part.body
        and all(type(one) is core.Run and last_name(one.value) in says for one in part.body)
        for part in place.tests()
    )


def skipped(place: Place) -> bool:
    return any(type(part) is core.If and leaves(part.body) for part in place.tests())


def leaves(body: tuple[Node, ...]) -> bool:
    return len(body) == 1 and type(body[0]) is core.Leave and body[0].what != "raise"


def repeated(place: Place) -> bool:
    """It is the test of a loop, or of what ends one."""
    return any(type(part) is core.Loop or (type(part) is core.If and ends_loop(part.body)) for part in place.tests())


def ends_loop(body: tuple[Node, ...]) -> bool:
    return len(body) == 1 and type(body[0]) is core.Leave and body[0].what == "break"


def collected(place: Place) -> bool:
    last = list(place.around())[-1:]
    return bool(last) and type(last[0]) is core.Run and last_name(last[0].value) == "append"


def updated(place: Place) -> bool:
    return any(type(part) is core.Update and part.target.at == place.sighting.at for part in place.around())


def bound(place: Place) -> bool:
    return place.sighting.op in ("torch.Tensor.__getitem__", "torch.Tensor.__setitem__")


def recorded(place: Place) -> bool:
    return not place.sighting.op.startswith(("builtins.", "torch.Tensor.", "str."))


def argument(place: Place) -> bool:
    return place.sighting.op.startswith("torch.") and not place.sighting.op.startswith("torch.Tensor.")


MANNERS: dict[str, Callable[[Place], bool]] = {
    "drawn": drawn, "number": number, "row": row, "batch": batch, "kept": kept, "brought": brought, "built": built,
    "computed": computed, "checked": checked, "told": told, "skipped": skipped, "repeated": repeated,
    "collected": collected, "several": several, "sized": sized, "counted": counted, "logged": logged,
    "updated": updated, "bound": bound, "recorded": recorded, "argument": argument,
}  # fmt: skip
