"""A file and names in, where it reads them out, each time with the tests around that: not where it only asks whether
something is one, or declares it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable
from typing import Final, cast

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import lines_of
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Asked
from syncguard.judge.around.passed import passed
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, CLASS, FUNCTION, IF, LOOP, NAME
from syncguard.read.walk import parts

ASKING: Final = ("isinstance", "issubclass")
NONE: Final[tuple[Asked, ...]] = ()
# What stands in these stands at their lines.
STATEMENTS: Final = frozenset((core.Bind, core.Run, core.Leave, core.Update, core.If, core.Loop, core.With, core.Try))
Naming = tuple[Routine | None, tuple[Asked, ...], int]  # the function that names it, the tests around that, the line


def namings(home: Home, names: Container[str], lines: list[int]) -> dict[str, list[Naming]]:
    """The names that a file reads, each time with the tests around it, in order; what one says of itself names nothing.
    They stand in these lines, in order; one with a dot is asked of a module."""
    found = dict[str, list[Naming]]()
    todo: list[tuple[Node, Routine | None, tuple[Asked, ...], tuple[str, ...]]] = [(home.core, home.top, (), ())]
    while todo:
        node, routine, tests, within = todo.pop()
        if type(node) in STATEMENTS and not _stand_in(lines, node):
            continue
        if type(node) is NAME or type(node) is ATTR:
            name = node.id if type(node) is NAME else cast(core.Attr, node).path
            if name in names and name not in within:
                found.setdefault(name, []).append((routine, tests, node.at[0]))
                continue
        if type(node) is IF or type(node) is CHOOSE:
            for outcome, arm in ((False, _arm(node, False)), (True, _arm(node, True))):
                behind = (*tests, (node.test, outcome))
                todo += [(part, routine, (*behind, *more), within) for part, more in reversed(passed(arm))]
            todo.append((node.test, routine, tests, within))
        elif type(node) is CALL and last_name(node.fn) in ASKING:
            continue
        else:
            if type(node) is FUNCTION:
                if not _stand_in(lines, node, *node.decorators):
                    continue
                routine, tests, within = home.made.get(id(node)), (), (*within, node.name)
            elif type(node) is CLASS:
                within = (*within, node.name)
            todo += [(part, routine, (*tests, *more), within) for part, more in reversed(_values(node))]
    return found


def lines_with(names: Iterable[str], home: Home) -> list[int]:
    """The lines of a file in which one of these names stands, in order."""
    return sorted({line for name in names for line in lines_of(name, home)})


def _stand_in(lines: list[int], node: Node, *above: Node) -> bool:
    """Whether one of some lines, in order, is one of a piece or of what stands above it."""
    first = bisect_left(lines, min(part.at[0] for part in (node, *above)))
    return first < len(lines) and lines[first] <= node.at[2]


def _arm(node: core.If | core.Choose, outcome: bool) -> tuple[Node, ...]:
    if type(node) is CHOOSE:
        return (node.yes,) if outcome else (node.no,)
    return cast(core.If, node).body if outcome else cast(core.If, node).orelse


def _values(node: Node) -> list[tuple[Node, tuple[Asked, ...]]]:
    """The parts of a piece but for what only declares or binds it, each with the tests that were passed before it."""
    if type(node) is FUNCTION:
        first = [*node.decorators, *[one.default for one in node.params if one.default is not None]]
        return [*[(part, NONE) for part in first], *passed(node.body)]
    if type(node) is LOOP and not node.orelse:
        head = [part for part in (node.test, node.target, node.iterable) if part is not None]
        return [*[(part, NONE) for part in head], *passed(node.body)]
    if type(node) is BIND:
        written = [target for target in node.targets if type(target) is not NAME]  # a name that is bound is not read
        return [(part, NONE) for part in (*written, *([node.value] if node.value is not None else []))]
    return [(part, NONE) for part in parts(node)]
