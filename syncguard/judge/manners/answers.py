"""A sighting and what stands around it in, what the program does with the answer that it waits for out."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.judge.around.standing import Place
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import (
    CHECK,
    CONST,
    DO,
    IF,
    INDEX,
    LEAVE,
    LOOP,
    NAME,
    RUN,
    TRY,
)  # fmt: skip
from syncguard.read.walk import walk

COLLECTS: Final = frozenset(("append", "add", "extend", "insert", "appendleft"))  # into what Python keeps
COMPARED: Final = 3  # the last links of a chain: what is asked, what it is held against, and what is counted


def checked(place: Place) -> bool:
    """What does not hold raises, and nobody here catches that."""
    return not any(type(part) is TRY for part in place.around()) and any(
        type(part) is CHECK or (type(part) is IF and raises(part.body)) for part in place.tests()
    )


def raises(body: tuple[Node, ...]) -> bool:
    return bool(body) and type(body[-1]) is LEAVE and body[-1].what == "raise"


def told(place: Place) -> bool:
    return _only_calls(place, place.world.places.tables["manners"]["says"])


def gathers(place: Place) -> bool:
    """What holds is put into what Python keeps, and nothing is computed of it: `if x > best: found.append(x)`."""
    return _only_calls(place, COLLECTS)


def _only_calls(place: Place, names: Container[str]) -> bool:
    """Whether nothing is done behind a test, nor in its place, but calls by these names."""
    return any(
        type(part) is IF
        and not part.orelse
        and part.body
        and all(type(one) is RUN and last_name(one.value) in names for one in part.body)
        for part in place.tests()
    )


def skipped(place: Place) -> bool:
    """A test for whether anything is there leads out, or to what is done with what is there: `if m.any(): x[m] = y`."""
    counts = place.world.places.tables["manners"]["counts"]
    asked = {why.text.rpartition(".")[2] for why in place.causes[:COMPARED]}  # `n = mask.sum()`, `if n == 0`
    return any(
        type(part) is IF
        and ((leaves(part.body) and _nothing(part.test)) or (selects(part) and not _nothing(part.test)))
        and any(name in counts for name in (*asked, *[last_name(one) for one in walk(part.test)]))
        for part in place.tests()
    )


def _nothing(test: Node) -> bool:
    """Whether a test holds where there is nothing: `not mask.any()`, `n == 0`, `mask.sum() < 1`."""
    if type(test) is not DO:
        return False
    inner, held = test.args[0], test.what == "truth"
    if type(inner) is not DO or len(inner.args) != 2 or type(inner.args[1]) is not CONST:
        return test.what == "not"
    number = inner.args[1].value
    empty = (inner.what in ("==", "<=") and number == 0) or (inner.what == "<" and number == 1)
    some = (inner.what in ("!=", ">") and number == 0) or (inner.what == ">=" and number == 1)
    return empty if held else some


def selects(test: core.If) -> bool:
    """Whether what a test asks about picks elements behind it, and nothing is done instead."""
    if test.orelse or any(type(part) is LEAVE for part in walk(test.body)):
        return False
    names = {part.id for part in walk(test.test) if type(part) is NAME}
    keys = [part.key for part in walk(test.body) if type(part) is INDEX]
    return any(type(part) is NAME and part.id in names for key in keys for part in (key, *getattr(key, "items", ())))


def leaves(body: tuple[Node, ...]) -> bool:
    return len(body) == 1 and type(body[0]) is LEAVE and body[0].what != "raise"


def asked(place: Place) -> bool:
    """It is made a yes or no of Python's, to be handed on."""
    return place.sighting.op == "builtins.bool"


def repeated(place: Place) -> bool:
    """It is the test of a loop, or of what ends one."""
    return any(type(part) is LOOP or (type(part) is IF and ends_loop(part.body)) for part in place.tests())


def ends_loop(body: tuple[Node, ...]) -> bool:
    return len(body) == 1 and type(body[0]) is LEAVE and body[0].what == "break"


def branched(place: Place) -> bool:
    """It is asked in the test of a branch."""
    return any(type(part) is IF for part in place.tests())
