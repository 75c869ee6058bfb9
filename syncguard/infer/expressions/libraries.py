"""The dotted name of something imported and its arguments in, the value of the call out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from syncguard.infer.branches.no_tensor import no_tensor
from syncguard.infer.domain.sureness import number_sureness, plain
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Call,
    Const,
    Host,
    Instance,
    Named,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
)
from syncguard.infer.expressions import pythonic, unknowns
from syncguard.infer.expressions.demanded import demand
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.kin import from_tensors, operand
from syncguard.infer.routine import Frame
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CALL, MODULE
from syncguard.terms import Op

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo

Keywords = dict[str, Value]
Nodes = tuple[Node, ...]


def imported(name: str, args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """Call something that was imported, by its dotted name."""
    done(name, frame)
    if args and type(args[0]) is Const and type(args[0].value) is bool:
        done(f"{name}({args[0].value})", frame)
    if name in frame.world.clocks:
        frame.routine.clocks.add(at[0])
    special = pythonic.FUNCTIONS.get(name)
    if special is not None:
        value = special(args, keywords, at, nodes, frame)
        if value is not None:
            return value
    given_away(name, args, keywords, frame.world.places)
    made_array(name, args, nodes, frame)
    op = frame.world.op(name)
    if op is not None:
        first = [taken(args[0], op, nodes, frame)] if args and frame.world.computing(name) else args[:1]
        value = apply(frame, op, at, [*first, *args[1:]], keywords, nodes)
        listed = type(value) is Host and value.kind == "array" and any(map(holds_anything, (*args, *keywords.values())))
        return Seq("list", None) if listed else value
    if name.endswith(".__init__") and constructed(name[: -len(".__init__")], args[1:], keywords, at, nodes[1:], frame):
        return NONE
    if name.startswith("builtins."):
        return Host("object") if name.endswith(("Error", "Exception", "object")) else UNKNOWN
    library = frame.world.host_library(name) if not frame.world.places.is_("host", "unpickles", name) else ""
    if library == "array" and any(map(holds_anything, (*args, *keywords.values()))):
        return Seq("list", None)
    if library == "array" and len(args) == 1 and not keywords:
        pointer = frame.world.places.is_("names", "pointers", name.rpartition(".")[2])
        library = "number" if pointer else library  # `np.argmin(x)`: of all its elements
    if library:
        read = next((value.read for value in args if type(value) is Host and value.read), None)
        return Host(library, read, library == "array" and one_row(name, args, frame.world.places))
    last = name.rpartition(".")[2]
    if last[:1].isupper() and not last.isupper():
        return Instance(None, name)
    if name.startswith("torch."):
        asks = last.startswith("_") and not args and not keywords  # `_get_default_store()` computes nothing
        told = asks or frame.world.places.is_("names", "descriptions", name)
        return UNKNOWN if told else Unknown(frame.why(name, at))
    return from_tensors([*args, *keywords.values()], at, frame)


def taken(value: Value, op: Op, nodes: Nodes, frame: Frame) -> Value:
    """What a function of torch is given first: a tensor, or the data of which it makes one."""
    if op.args[:1] and op.args[0] in frame.world.operand_names:
        return operand(value)
    data = any(condition in ("data", "data_or_unknown") for wait in op.waits for condition, _ in wait.when)
    return Host("object") if data and plain(value) and nodes and no_tensor(nodes[0], frame) else value


def done(name: str, frame: Frame) -> None:
    """Keep what a file calls of other libraries, or sets there: `thing`, `thing(False)`, `thing=False`. Of a file that
    is imported only what importing it does counts: the rest depends on who asks."""
    if frame.home.own or type(frame.routine.node) is MODULE:
        frame.home.called.add(name)


def given_away(name: str, args: list[Value], keywords: Keywords, places: Places) -> None:
    """Note what compiles, captures, traces or starts a function that it is given, and what asks one for the message of
    a failure."""
    first = args[0] if args else None
    if type(first) is Call and (places.is_("hot", "decorators", name) or _starts(name, places)):
        first.routine.given_to = name
        return
    for value in (*args[1:], *keywords.values()):
        if type(value) is Call and places.is_("cold", "checks", name):
            value.routine.given_to = name


def _starts(name: str, places: Places) -> bool:
    return places.is_("cold", "starters", name) or places.is_("cold", "tracers", name)


def made_array(name: str, args: list[Value], nodes: Nodes, frame: Frame) -> None:
    """What an array is made of was fetched as a tensor, if it was fetched, `np.array(x.cpu())`; a tensor that was not
    is on the host."""
    for value, node in zip(args, nodes):
        if value is UNKNOWN and type(node) is CALL and frame.world.host_library(name) == "array":
            unknowns.fetched(UNKNOWN, "use", (node,), frame)
        if type(value) is Tensor and not frame.sometimes and frame.world.places.is_("host", "arrays", name):
            demand(value, node, node.at, frame)


def holds_anything(dtype: Value) -> bool:
    """Whether an array is of Python's objects, so that it keeps a tensor as it is: `np.empty(n, dtype=object)`."""
    return type(dtype) is Named and dtype.name == "builtins.object"


def constructed(
    name: str,
    args: list[Value],
    keywords: Keywords,
    at: At,
    nodes: Nodes,
    frame: Frame,
    info: ClassInfo | None = None,
) -> bool:
    """Run the constructor of an imported class for one that descends from it; whether there is a row for it."""
    made = frame.world.op(name)
    if made is None or not made.returns.startswith("new"):
        return False
    if made.args[:1] == ("self",):  # what it does depends on what the class declares
        mine: Keywords = {key: value for key, value in declarations(info) if type(value) is Table and value.items}
        args, nodes = [Instance(info, settings=mine), *args], (core.Const(None, at), *nodes)
    apply(frame, made, at, args, keywords, nodes)
    return True


def one_row(name: str, args: list[Value], places: Places) -> bool:
    """Whether an array that is made so has one dimension: `np.arange(n)`, and an order of so many."""
    counted = bool(args) and number_sureness(args[0]) > 0
    return places.is_("names", "rows", name) or (counted and places.is_("names", "orders", name))


def declarations(info: ClassInfo | None) -> Iterator[tuple[str, Value]]:
    """What the bodies of a class and its bases bind, the nearest last."""
    for owner in reversed(info.mro if info is not None else ()):
        yield from owner.members.items()
