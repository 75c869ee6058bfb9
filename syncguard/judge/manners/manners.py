"""A sighting and what stands around it in, whether it waits in the manner that a page has another hint for out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.judge.around.changes import aimed_at, changes, holder, sets
from syncguard.judge.around.standing import Place
from syncguard.judge.manners.answers import COLLECTS, asked, branched, checked, gathers, repeated, skipped, told
from syncguard.judge.manners.extremes import elements, largest
from syncguard.judge.manners.masks import masked
from syncguard.judge.manners.moving import comes_back
from syncguard.judge.manners.picked import each_row, made, stored, written_back
from syncguard.judge.manners.together import neighbour
from syncguard.judge.manners.wanted import counted, one_number, several, sized, turned
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import (
    ATTR,
    BIND,
    CALL,
    COMP,
    DO,
    FUNCTION,
    IF,
    INDEX,
    NAME,
    RUN,
    SEQ,
    UPDATE,
)  # fmt: skip
from syncguard.read.walk import around, bound_in, walk
from syncguard.terms import BACKWARD, SETUP

KEPT: Final = re.compile(r"[A-Za-z_]\w*(\.\w+)*(\[[^()]*\])?")  # what can be kept: no call
DEVIATION: Final = "deviation-check"
BATCHES: Final = frozenset(("batch", "pinned batch", "part"))


def waits_so(manner: str, place: Place) -> bool:
    """Whether a place waits in this manner."""
    return MANNERS[manner](place)


def logged(place: Place) -> bool:
    return place.sighting.op.rpartition(".")[2] in place.world.places.tables["manners"]["says"]


def drawn(place: Place) -> bool:
    return place.begins(place.sighting.why, "drawn")


def number(place: Place) -> bool:
    """It is made of one number that is written there, once or for each element."""
    return _made_of(place, one_number)


def row(place: Place) -> bool:
    """It is made of the numbers of a range."""
    why = place.sighting.why
    whole = why is not None and why.root.text.rpartition(".")[2] in ("tensor", "as_tensor", "LongTensor")
    return whole and _made_of(place, lambda args: bool(args) and _counts_from_0(args[0]))


def _counts_from_0(node: Node) -> bool:
    return type(node) is CALL and last_name(node.fn) == "range" and len(node.args) == 1


def sizes(place: Place) -> bool:
    """It is made by its type, of how large it is to be, and filled: `torch.LongTensor(n, m).zero_()`."""
    why = place.sighting.why
    if why is None or place.begins(why, "converts"):
        return False
    fills = place.world.places.tables["manners"]["fills"]
    filled = any(type(part) is ATTR and part.name in fills and part.of.at == why.root.at for part in place.pieces())
    return _made_of(place, lambda args: len(args) > 1 or (filled and len(args) == 1))


def _made_of(place: Place, fits: Callable[[tuple[Node, ...]], bool]) -> bool:
    """Whether it is made of arguments that are such, here."""
    why = place.sighting.why
    if why is None or not place.begins(why, "converts", "of_data"):
        return False
    return any(type(part) is CALL and part.at == why.root.at and fits(part.args) for part in place.pieces())


def batch(place: Place) -> bool:
    causes = place.causes
    return bool(causes) and causes[-1].text in BATCHES


def kept(place: Place) -> bool:
    """What is copied is kept in an attribute, or in a name from around the function."""
    why, node = place.sighting.why, place.routine.node
    if why is None or KEPT.fullmatch(place.operand) is None or type(node) is not FUNCTION:
        return False
    here = why.root.path in ("", place.routine.home.path) and around(node.at, why.root.at)
    name, _, rest = place.operand.partition("[")[0].partition(".")
    own = {part.id for part in bound_in(node.body) if type(part) is NAME}
    for part in place.pieces():
        if type(part) is COMP:
            own |= {one.id for target, _, _ in part.clauses for one in walk(target) if type(one) is NAME}
    given = {param.name for param in node.params}
    return not here and ((bool(rest) and not _varies(place)) or (not rest and name not in own | given))


def _varies(place: Place) -> bool:
    """Whether the function changes what an object keeps, or puts something else there than what is moved."""
    path = place.operand.partition("[")[0]
    return changes(place.pieces(), path, place.views()) or sets(place.routine.node.body, path)


def brought(place: Place) -> bool:
    """What is read was on the host before, and has only been moved and looked at in other shapes since; what was made a
    tensor elsewhere may have been changed there."""
    causes, made = place.causes, place.world.places.tables["factories"]["converts"]
    if len(causes) < 2 or not _of_host(place) or _shared(place) or _written_to(place) or _bound_anew(place):
        return False
    root = causes[-1]
    return root.text not in made or (
        root.path in ("", place.routine.home.path) and around(place.routine.node.at, root.at)
    )


def _bound_anew(place: Place) -> bool:
    """Whether the name that is read holds what was computed, or may hold something else: `loss = model(x)`, `a = b`."""
    names = {held for part in place.read() if (held := holder(part))}
    bound = [
        part.value
        for part in place.pieces()
        if type(part) is BIND and part.value is not None and any(holder(to) in names for to in aimed_at(part))
    ]
    other = [value for value in bound if holder(value, place.views()) not in names]
    return len(other) > 1 or any(type(value) is DO or _calls_object(value, place) for value in other)


def _calls_object(value: Node, place: Place) -> bool:
    """Whether this calls what the function was given or has made, and no function: `model(x)`."""
    if type(value) is not CALL or type(value.fn) is not NAME:
        return False
    params = place.routine.node.params if type(place.routine.node) is FUNCTION else ()
    name = value.fn.id
    bound = (part for part in place.pieces() if type(part) is BIND)
    return any(param.name == name for param in params) or any(
        holder(to) == name for part in bound for to in aimed_at(part)
    )


def _written_to(place: Place) -> bool:
    """Whether the function puts something else into what is read."""
    return any(name and changes(place.pieces(), name, place.views()) for name in map(holder, place.read()))


def reduced(place: Place) -> bool:
    """What is read was on the host before, and what other processes have was put to it since."""
    return _of_host(place) and _shared(place)


def _of_host(place: Place) -> bool:
    causes = [why.text for why in place.causes]
    places = place.world.places.tables
    if not causes or causes[-1] not in BATCHES | {"loaded", *places["factories"]["converts"]}:
        return False
    plain = {"iterate", *places["manners"]["moves"], *places["views"]["names"]}
    return all(text.rpartition(".")[2] in plain for text in causes[:-1])


def _shared(place: Place) -> bool:
    """Whether a collective got what is read."""
    collectives, name = place.world.places.tables["manners"]["collectives"], place.operand.partition("[")[0]
    return any(
        type(part) is CALL
        and part.at < place.sighting.at
        and last_name(part.fn) in collectives
        and any(type(given) is NAME and given.id == name for given in (*part.args, *dict(part.keywords).values()))
        for part in place.pieces()
    )


def built(place: Place) -> bool:
    return place.begins(place.sighting.also, "built", "drawn")


def computed(place: Place) -> bool:
    return place.sighting.also is not None and place.sighting.also.text != "listed"


def added(place: Place) -> bool:
    """It is added to what is kept, as a number: `self.total += x.item()`."""
    parts = (part for part in place.around() if type(part) is UPDATE and part.what == "+")
    return any(type(part.target) is not NAME and not _of_texts(part.value) for part in parts)


def _of_texts(value: Node) -> bool:
    """Whether this is a list, or a text with something put into it."""
    return type(value) is SEQ or (type(value) is DO and value.what in ("join", "format"))


def collected(place: Place) -> bool:
    last = list(place.around())[-1:]
    return bool(last) and type(last[0]) is RUN and last_name(last[0].value) == "append"


def element(place: Place) -> bool:
    """An element of a tensor, of which each turn of a loop fetches another one: one that it picks, or comes to."""
    if any(why.text == "iterate" for why in place.causes[:1]):
        return all(type(part) is NAME for part in place.read())
    picked = any(why.text == "torch.Tensor.__getitem__" for why in place.causes[:1])
    return picked and turned(place) and all(type(part) is INDEX for part in place.read())


def filtered(place: Place) -> bool:
    """It sorts out the elements of a tensor in a comprehension, or in a loop that puts them into a list."""
    at = place.sighting.at
    if not any(why.text == "iterate" for why in place.causes):
        return False
    return any(type(part) is IF and not part.orelse and all(map(collects, part.body)) for part in place.tests()) or any(
        type(part) is COMP and any(around(test.at, at) for _, _, tests in part.clauses for test in tests)
        for part in place.pieces()
    )


def collects(node: Node) -> bool:
    """Whether a statement puts something into what Python keeps."""
    call = node.value if type(node) is RUN else None
    return type(call) is CALL and type(call.fn) is ATTR and call.fn.name in COLLECTS


def updated(place: Place) -> bool:
    """It is added to, or taken from: of these an element that is left alone is given 0."""
    parts = (part for part in place.around() if type(part) is UPDATE and part.what in ("+", "-"))
    return any(part.target.at == place.sighting.at for part in parts)


def beside(place: Place) -> bool:
    """Through an index of which more than one part picks elements."""
    plain = (core.Slice, core.Const, core.Seq)
    written = (part for part in place.written_at(place.sighting.at) if type(part) is INDEX)
    return any(
        type(part.key) is SEQ and sum(not isinstance(one, plain) for one in part.key.items) > 1 for part in written
    )


def written(place: Place) -> bool:
    """It is written through an index alone, which counts along the first dimension."""
    keys = [part.key for part in place.written_at(place.sighting.at) if type(part) is INDEX]
    return place.sighting.op == "torch.Tensor.__setitem__" and all(type(key) is not SEQ for key in keys)


def barred(place: Place) -> bool:
    """A trainer shows it for each step."""
    return place.world.places.is_("gates", "shows", place.sighting.op)


def bound(place: Place) -> bool:
    return place.sighting.op in ("torch.Tensor.__getitem__", "torch.Tensor.__setitem__")


def recorded(place: Place) -> bool:
    return not place.sighting.op.startswith(("builtins.", "torch.Tensor.", "str."))


def chosen(place: Place) -> bool:
    """It is one of two between which is chosen on the device."""
    return place.sighting.op.rpartition(".")[2] in place.world.places.tables["manners"]["chooses"]


def bounded(place: Place) -> bool:
    """It is one of two bounds, of which the other one is a number."""
    return place.sighting.op.rpartition(".")[2] in place.world.places.tables["manners"]["bounds"]


def deviated(place: Place) -> bool:
    """It is drawn with a deviation that is checked, validation or not."""
    return place.sighting.hazard == DEVIATION


def backward(place: Place) -> bool:
    """The call does not wait, but its backward does."""
    return place.sighting.hazard.startswith(BACKWARD)


def moved(place: Place) -> bool:
    """It is a module that is moved, and all that it has."""
    return place.sighting.hazard == SETUP


def swapped(place: Place) -> bool:
    """It is a module that goes back to the host as often."""
    return moved(place) and comes_back(place.sighting, place.routine)


def argument(place: Place) -> bool:
    op = place.sighting.op
    return op.startswith("torch.") and not op.startswith("torch.Tensor.__")


MANNERS: Final[dict[str, Callable[[Place], bool]]] = {
    "drawn": drawn, "number": number, "row": row, "sizes": sizes, "batch": batch, "kept": kept, "brought": brought,
    "reduced": reduced, "built": built, "computed": computed, "checked": checked, "told": told, "skipped": skipped,
    "repeated": repeated, "asked": asked, "gathers": gathers,
    "collected": collected, "several": several, "sized": sized, "counted": counted, "logged": logged,
    "updated": updated, "beside": beside, "bound": bound, "recorded": recorded, "argument": argument,
    "bounded": bounded, "chosen": chosen, "branched": branched, "added": added, "largest": largest,
    "elements": elements, "each_row": each_row, "stored": stored, "made": made, "written_back": written_back,
    "masked": masked, "written": written, "barred": barred, "neighbour": neighbour, "element": element,
    "filtered": filtered, "deviated": deviated, "backward": backward, "moved": moved, "swapped": swapped,
}  # fmt: skip
