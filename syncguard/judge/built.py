"""A class of a file in, the options out without which the file names it nowhere: what stands in its methods waits only
where such an object is made."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.gates import last_name
from syncguard.infer.classes import ClassInfo
from syncguard.infer.project import World
from syncguard.infer.routine import Asked, Context, Routine
from syncguard.infer.tell import Texts
from syncguard.judge.calling import Callers
from syncguard.judge.opted import opted
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.walk import parts
from syncguard.terms import Fact

MADE = "in this file made "
ASKING = ("isinstance", "issubclass")
Mention = tuple[Routine | None, tuple[Asked, ...]]  # the function that names it, and the tests around that


class Built(msgspec.Struct):
    """Where a file names its classes, worked out when it is first asked for."""

    callers: Callers
    world: World
    text_of: Texts
    named: dict[str, list[Mention]] | None = None
    known: dict[str, tuple[Fact, ...]] = {}

    def of(self, info: ClassInfo) -> tuple[Fact, ...]:
        """What every place stands behind that names a class for what it is, and not to ask for it."""
        home = self.callers.home
        if info.home is not home:
            return ()
        if self.named is None:
            self.named = {}
            for name, mention in _named(home.core, home.top, (), home.made):
                self.named.setdefault(name, []).append(mention)
        if info.name not in self.known:
            every = self.named.get(info.name, ())
            told = [{fact.text: fact for fact in self._around(*mention)} for mention in every]
            shared = [fact for text, fact in told[0].items() if all(text in one for one in told)] if told else []
            self.known[info.name] = tuple([replace(fact, text=f"{MADE}{fact.text}") for fact in shared])
        return self.known[info.name]

    def _around(self, routine: Routine | None, tests: tuple[Asked, ...]) -> tuple[Fact, ...]:
        if routine is None or not tests:
            return ()
        return opted(Context(tests=tests), routine, self.callers, self.world, self.text_of)


def _named(
    node: Node, routine: Routine | None, tests: tuple[Asked, ...], made: dict[int, Routine]
) -> Iterator[tuple[str, Mention]]:
    """The names that are read in a piece, each with the tests around it; what a class says of itself names nothing."""
    if type(node) is core.Name:
        yield node.id, (routine, tests)
    elif type(node) is core.If:
        yield from _in_arms(node.test, node.body, node.orelse, routine, tests, made)
    elif type(node) is core.Choose:
        yield from _in_arms(node.test, (node.yes,), (node.no,), routine, tests, made)
    elif type(node) is core.Call and last_name(node.fn) in ASKING:
        return
    else:
        within, around = (made.get(id(node)), ()) if type(node) is core.Function else (routine, tests)
        for part in _values(node):
            for name, mention in _named(part, within, around, made):
                if type(node) is not core.Class or name != node.name:
                    yield name, mention


def _in_arms(
    test: Node,
    yes: tuple[Node, ...],
    no: tuple[Node, ...],
    routine: Routine | None,
    tests: tuple[Asked, ...],
    made: dict[int, Routine],
) -> Iterator[tuple[str, Mention]]:
    yield from _named(test, routine, tests, made)
    for outcome, arm in ((True, yes), (False, no)):
        for part in arm:
            yield from _named(part, routine, (*tests, (test, outcome)), made)


def _values(node: Node) -> list[Node]:
    """The parts of a piece but for what only declares it."""
    if type(node) is core.Function:
        return [*node.decorators, *[one.default for one in node.params if one.default is not None], *node.body]
    if type(node) is core.Bind:
        return [*node.targets, *([node.value] if node.value is not None else [])]
    return parts(node)
