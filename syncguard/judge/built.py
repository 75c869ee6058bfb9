"""A class of a file in, or a function that it hands about, the options out without which the file names it nowhere:
what stands in its methods waits only where such an object is made."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, cast

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import calls_of, lines_of, only_bound
from syncguard.infer.classes import ClassInfo
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Asked, Context, Routine
from syncguard.infer.tell import Texts
from syncguard.judge.calling import Callers
from syncguard.judge.common import common
from syncguard.judge.opted import NAMED, opted
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import BIND, CALL, CHOOSE, CLASS, FUNCTION, IF
from syncguard.read.walk import parts
from syncguard.terms import Fact

MADE: Final = "in this file made "
ASKING: Final = ("isinstance", "issubclass")
Mention = tuple[Routine | None, tuple[Asked, ...]]  # the function that names it, and the tests around that


class Built(msgspec.Struct):
    """Where a file names its classes and functions, worked out when it is first asked for."""

    callers: Callers
    world: World
    text_of: Texts
    named: dict[str, list[Mention]] | None = None
    known: dict[str, tuple[Fact, ...]] = {}

    def of(self, info: ClassInfo) -> tuple[Fact, ...]:
        """What every place stands behind that names a class for what it is, and not to ask for it."""
        return self._of(info.name, MADE) if info.home is self.callers.home else ()

    def of_function(self, routine: Routine) -> tuple[Fact, ...]:
        """The same of a function that its file hands about, and may call by another name: `loss = nll`."""
        home = self.callers.home
        node = routine.node
        plain = routine.owner is None and not routine.closure and routine.home is home
        plain = plain and type(node) is FUNCTION and only_bound(node)
        if not plain or calls_of(routine.name, home) or not lines_of(routine.name, home):
            return ()
        return self._of(routine.name, NAMED)

    def _of(self, name: str, says: str) -> tuple[Fact, ...]:
        if self.named is None:
            self.named = _mentions(self.callers.home)
        if name not in self.known:
            every = self.named.get(name, ())
            shared = common([self._around(*mention) for mention in every])
            self.known[name] = tuple([replace(fact, text=f"{says}{fact.text}") for fact in shared])
        return self.known[name]

    def _around(self, routine: Routine | None, tests: tuple[Asked, ...]) -> tuple[Fact, ...]:
        if routine is None or not tests:
            return ()
        return opted(Context(tests=tests), routine, self.callers, self.world, self.text_of)


def _mentions(home: Home) -> dict[str, list[Mention]]:
    """The names of classes and functions that a file reads, each time with the tests around it, in order; what one says
    of itself names nothing."""
    found = dict[str, list[Mention]]()
    names = {info.name for info in home.classes}
    names |= {one.name for one in home.routines if one.owner is None and not one.closure}
    lines = sorted({line for name in names for line in lines_of(name, home)})
    whole = (core.Bind, core.Run, core.Leave, core.Update)  # what stands in these stands at their lines
    todo: list[tuple[Node, Routine | None, tuple[Asked, ...], tuple[str, ...]]] = [(home.core, home.top, (), ())]
    while todo:
        node, routine, tests, within = todo.pop()
        kind = type(node)
        if kind is core.Name:
            name = cast(core.Name, node).id
            if name in names and name not in within:
                found.setdefault(name, []).append((routine, tests))
        elif type(node) is IF or type(node) is CHOOSE:
            for outcome, arm in ((False, _arm(node, False)), (True, _arm(node, True))):
                todo += [(part, routine, (*tests, (node.test, outcome)), within) for part in reversed(arm)]
            todo.append((node.test, routine, tests, within))
        elif type(node) is CALL and last_name(node.fn) in ASKING:
            continue
        elif kind not in whole or _stand_in(lines, node):
            if type(node) is FUNCTION:
                if not _stand_in(lines, node, *node.decorators):
                    continue
                routine, tests, within = home.made.get(id(node)), (), (*within, node.name)
            elif type(node) is CLASS:
                within = (*within, node.name)
            todo += [(part, routine, tests, within) for part in reversed(_values(node))]
    return found


def _stand_in(lines: list[int], node: Node, *above: Node) -> bool:
    """Whether one of some lines, in order, is one of a piece or of what stands above it."""
    first = bisect_left(lines, min(part.at[0] for part in (node, *above)))
    return first < len(lines) and lines[first] <= node.at[2]


def _arm(node: core.If | core.Choose, outcome: bool) -> tuple[Node, ...]:
    if type(node) is CHOOSE:
        return (node.yes,) if outcome else (node.no,)
    return cast(core.If, node).body if outcome else cast(core.If, node).orelse


def _values(node: Node) -> list[Node]:
    """The parts of a piece but for what only declares it."""
    if type(node) is FUNCTION:
        return [*node.decorators, *[one.default for one in node.params if one.default is not None], *node.body]
    if type(node) is BIND:
        return [*node.targets, *([node.value] if node.value is not None else [])]
    return parts(node)
