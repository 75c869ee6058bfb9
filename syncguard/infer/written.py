"""What the text of a function says of it, whoever calls it: each thing is worked out when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from syncguard.read.core import At, Bind, Node

if TYPE_CHECKING:
    from syncguard.infer.branches.meant import Held
    from syncguard.infer.expressions.consumed import Consumed


class Written:
    """Memories for one function; None is what nobody has asked for yet."""

    __slots__ = (
        "applies",
        "asked",
        "binders",
        "binds",
        "brought",
        "chooses",
        "consumed",
        "counted",
        "demanded",
        "fields",
        "fleeting",
        "forgets",
        "imports",
        "indexed",
        "inner",
        "keeps",
        "keeps_each",
        "leaves",
        "looped",
        "meanings",
        "meant",
        "moves",
        "nones",
        "own",
        "parts",
        "passed",
        "pieces",
        "placeless",
        "placing",
        "rebuilds",
        "replaced",
        "sizes",
        "spelled",
        "stored",
        "takes",
        "thin",
        "turns",
        "ungiven",
        "whole",
        "wrapped",
    )

    def __init__(self) -> None:
        self.applies: bool | None = None  # whether it is short, and calls what it is given
        self.asked: frozenset[str] | None = None  # the names of whose kind its own tests ask
        self.binders: dict[str, tuple[Node, ...]] | None = None  # the statements that bind each name, in any function
        self.binds: frozenset[str] | None = None  # the names and paths that the body binds
        self.brought: dict[str, At] | None = None  # the parameters that it brings to the device itself, and where first
        self.stored: dict[str, tuple[str, ...]] | None = None  # the parameters of which it moves parts, and which
        self.moves: bool | None = None  # whether it puts something on the device, or fetches it, as its names tell
        self.chooses: bool | None = None  # of a decorator: whether it looks up what is to run
        self.consumed: Consumed | None = None  # the orders that its loops use up
        self.counted: frozenset[str] | None = None  # the names that the body uses as counts
        self.demanded: frozenset[tuple[int, bool]] | None = None  # its tests, by identity, all else of which raises
        self.spelled: dict[int, tuple[Node, Node]] = {}  # its tests, by identity, with what calls only ask written out
        self.fields: dict[str, list[Bind]] | None = None  # the statements that give each `self.name` a value
        self.fleeting: frozenset[At] | None = None  # where `self.name` is given a value that is soon replaced
        self.forgets: bool | None = None  # whether it has the instance forget what it keeps by made-up names
        self.rebuilds: bool | None = None  # whether it goes through the parts of a module, which it gives back
        self.replaced: frozenset[str] | None = None  # parameters that the body gives something else
        self.nones: frozenset[str] | None = None  # the parameters that it tests for None
        self.placing: tuple[str, str] | None = None  # of one that puts things on a device: what, and where
        self.placeless: frozenset[str] | None = None  # parameters that are called a device, and None by default
        self.ungiven: dict[str, Any] | None = None  # of a private one: parameters that every call leaves None
        self.passed: dict[str, bool] | None = None  # parameters that every call writes; and whether as a number
        self.wrapped: dict[str, tuple[str, ...]] | None = None  # what the call is given whose result a name holds
        self.indexed: dict[str, tuple[str, ...]] | None = None  # what each name indexes
        self.meanings: dict[int, int] = {}  # how much each of its tests asks, by identity
        self.meant: dict[str, Held | None] = {}  # of the names asked for, the test that each holds
        self.own: dict[int, tuple[str, ...]] = {}  # of a method: what it asks an instance of a class for, by its serial
        self.imports: frozenset[str] | None = None  # the packages that it imports itself
        self.looped: frozenset[str] | None = None  # the names that are looped over
        self.takes: dict[int, bool] = {}  # the parameters, by position, that are declared to be tensors or not
        self.whole: bool | None = None  # whether it declares to return whole numbers, flags or texts
        self.pieces: dict[At, list[Node]] | None = None  # all that its body is written of, by where it stands
        self.sizes: list[Node] | None = None  # what its body gives as sizes
        self.turns: list[Node] | None = None  # its loops and comprehensions
        self.inner: frozenset[str] | None = None  # the names that functions in it bind
        self.keeps: str | None = None  # what one that keeps all its keywords as attributes calls each of them
        self.keeps_each: dict[str, str] | None = None  # the parameters that a method keeps, and as which attributes
        self.leaves: frozenset[str] | None = None  # of a method that is told a device: the attributes that it assigns
        self.parts: dict[str, frozenset[str]] | None = None  # what is asked of what each path stands for
        self.thin: bool | None = None  # whether it is short enough to be a name for its waits
