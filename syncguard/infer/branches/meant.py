"""A name that a test asks for in, the test that it holds the outcome of out: `often = step % 10 == 0`, `if often:`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from syncguard.infer.routine import Frame, Routine
from syncguard.read import core
from syncguard.read.core import COMPARISONS, At, Node
from syncguard.read.tags import BIND, CONST, DO, EITHER, FUNCTION, IF, LEAVE, MODULE, NAME, RUN
from syncguard.read.walk import around, binds, everything, loops_around, targets, walk


class Held(NamedTuple):
    """A test that a name holds the outcome of, and where what it asks is bound anew behind it."""

    test: Node
    anew: tuple[At, ...]


LARGEST: Final = 64  # names that a test asks for: each is looked at for all that it stands for
TESTS: Final = frozenset((*COMPARISONS, "is", "is not", "in", "not in"))


def meant(name: core.Name, frame: Frame, then: bool = False) -> Node | None:
    """The test, where the function or else its file binds the name once, to nothing but a test, and what that asks is
    not bound anew between the two; or whatever is bound, where it counts what the outcome was `then`."""
    routine = frame.routine
    node, top = routine.node, routine.home.top
    if type(node) is FUNCTION and name.id in [param.name for param in node.params]:
        return None
    found = _test(name.id, routine)
    if found is None and top is not None and top is not routine and name.id not in binders(routine):
        routine, found = top, _test(name.id, top)
    if found is None or found.test.at >= name.at:
        return None
    stays = not found.anew or (routine is frame.routine and _stays(found, name.at, routine, then))
    return found.test if stays else None


def left_at(name: core.Name, frame: Frame) -> bool | None:
    """The yes or no that a function binds a name to, and never anything else: `merge = False`."""
    routine = frame.routine
    node = routine.node
    if type(node) is not FUNCTION or routine.closure or name.id in routine.home.core.rebound:
        return None  # a name of a function around this one may be bound out there
    bound = binders(routine).get(name.id, ())
    if len(bound) != 1 or name.id in [param.name for param in node.params]:
        return None
    bind = bound[0]
    if type(bind) is not BIND or len(bind.targets) > 1 or type(bind.targets[0]) is not NAME or bind.at >= name.at:
        return None
    said = bind.value.value if type(bind.value) is CONST else None
    return said if isinstance(said, bool) else None


def _stays(held: Held, asked: At, routine: Routine, then: bool) -> bool:
    """Whether nothing that a test speaks of is bound anew before a place of the same function: further up, or further
    down in a loop that comes back to the place without asking again."""
    loops = [loop.at for loop in loops_around(body_of(routine), asked)]
    stale = [loop for loop in loops if not around(loop, held.test.at)]
    return all((then or at > asked) and not any(around(loop, at) for loop in stale) for at in held.anew)


def binders(routine: Routine) -> dict[str, tuple[Node, ...]]:
    """The statements that bind each name, those of functions inside a function too, for they may bind it from there;
    what functions declare `global` is bound by the file once more."""
    written = routine.written
    if written.binders is None:
        node = routine.node
        found: dict[str, list[Node]] = {name: [node] for name in routine.home.core.rebound if node is routine.home.core}
        for part in walk(node.body) if type(node) is MODULE else everything(node.body):
            if binds(part):
                for name in _named(targets(part)):
                    found.setdefault(name, []).append(part)
        written.binders = {name: tuple(parts) for name, parts in found.items()}
    return written.binders


def once(name: str, frame: Frame) -> bool:
    """Whether a function binds a name in one place alone: all its uses are of what it is given there."""
    node = frame.routine.node
    given = type(node) is FUNCTION and any(param.name == name for param in node.params)
    return not given and len(binders(frame.routine).get(name, ())) == 1


def as_given(name: str, at: At, frame: Frame) -> bool:
    """Whether a parameter still holds what it was given, at a place."""
    bound = binders(frame.routine).get(name, ())
    if bound and frame.context.loops:
        return False
    before = [part.at for part in bound if part.at < at and not around(part.at, at)]
    return not before or all(_otherwise(one, at, frame.routine) for one in before)


def _otherwise(first: At, then: At, routine: Routine) -> bool:
    """Whether two places stand in the two arms of one `if`."""
    branches = [part for part in walk(body_of(routine)) if type(part) is IF and around(part.at, then)]
    return any(_within(part.body, first) and _within(part.orelse, then) for part in branches)


def _within(block: tuple[Node, ...], at: At) -> bool:
    return bool(block) and around((*block[0].at[:2], *block[-1].at[2:]), at)


def _named(aims: tuple[Node, ...]) -> Iterable[str]:
    """The names in targets, each once."""
    aim = aims[0] if len(aims) == 1 else None
    if type(aim) is NAME:
        return (aim.id,)
    return {part.id for aim in aims for part in walk(aim) if type(part) is NAME}


def _test(name: str, routine: Routine) -> Held | None:
    """The test that a name of a function holds the outcome of."""
    known = routine.written.meant
    if name not in known:
        parts = binders(routine).get(name, ())
        known[name] = None  # while we look at what that asks
        held = _held(name, parts[0], routine) if len(parts) == 1 else None
        known[name] = held if held is not None and _size(held.test, routine) <= LARGEST else None
    return known[name]


def _size(test: Node, routine: Routine) -> int:
    """How many names a test asks for, each with all that it stands for itself."""
    sizes, size = routine.written.meanings, 0
    for part in walk(test):
        if type(part) is NAME:
            held = _test(part.id, routine)
            if held is not None and id(held.test) not in sizes:
                sizes[id(held.test)] = 1  # while we look: it may ask for itself
                sizes[id(held.test)] = _size(held.test, routine)
            size += 1 if held is None else sizes[id(held.test)]
    return size


def _held(name: str, bind: Node, routine: Routine) -> Held | None:
    """What a name is bound to, if that is a test, and where the function itself binds anew what that asks."""
    if type(bind) is not BIND or len(bind.targets) > 1 or bind.value is None:
        return None
    test = as_test(bind.value)
    if type(bind.targets[0]) is not NAME or test is None or name in routine.home.core.rebound:
        return None
    asked = {one.id for one in walk(test) if type(one) is NAME}
    anew = [part for other in asked for part in binders(routine).get(other, ()) if part.at >= bind.at]
    if anew:
        own = {id(part) for part in walk(body_of(routine))}
        if any(id(part) not in own for part in anew):
            return None  # by a function inside, whenever that is called
    return Held(test, tuple([part.at for part in anew]))


def body_of(routine: Routine) -> tuple[Node, ...]:
    """The statements of a function, or of a file."""
    node = routine.node
    return node.body if type(node) is FUNCTION or type(node) is MODULE else ()


def answer(node: Node) -> Node | None:
    """What a function of one line gives back, its docstring aside."""
    if type(node) is not FUNCTION:
        return None
    body = [part for part in node.body if not (type(part) is RUN and type(part.value) is CONST)]
    last = body[0] if len(body) == 1 else None
    return last.value if type(last) is LEAVE and last.what == "return" else None


def plainly(test: Node, outcome: bool) -> tuple[Node, bool]:
    """A test and how it comes out, without `not`."""
    while type(test) is DO and (test.what == "not" or test.what == "truth"):
        outcome = outcome is not (test.what == "not")
        test = test.args[0]
    return test, outcome


def leads(test: Node, asked: At, outcome: bool) -> bool:
    """Whether a test holds where a part of it, which stands there, comes out so."""
    inner, holds = plainly(test, True)
    if inner.at == asked:
        return holds is outcome
    parts = inner.operands if type(inner) is EITHER else ()
    part = next((one for one in parts if around(one.at, asked)), None)
    return (outcome if part is None else leads(part, asked, outcome)) is holds


def necessary(test: Node, outcome: bool) -> Iterator[tuple[Node, bool]]:
    """The parts of a test that must each come out so, for it to come out so."""
    test, outcome = plainly(test, outcome)
    if type(test) is EITHER and (test.what == "and") is outcome:
        for operand in test.operands:
            yield from necessary(operand, outcome)
    else:
        yield test, outcome


def ruled_out(test: Node, outcome: bool, holds: Callable[[Node], bool | None]) -> bool:
    """Whether a test cannot come out so, by how what it is made of comes out: None of what is not known."""
    match test:
        case core.Do(what="truth" | "not" as what, args=(inner,)):
            return ruled_out(inner, outcome is (what == "truth"), holds)
        case core.Either(what=what, operands=operands):
            found = [ruled_out(operand, outcome, holds) for operand in operands]
            return any(found) if (what == "and") is outcome else all(found)
    told = holds(test)
    return told is not None and told is not outcome


def as_test(value: Node) -> Node | None:
    """What is assigned, or given back, as a test of it."""
    match value:
        case core.Either(operands=operands):
            last = as_test(operands[-1]) or core.Do("truth", (operands[-1],), operands[-1].at)
            return core.Either(value.what, (*operands[:-1], last), value.at)
        case core.Do(what="not" | "truth"):
            return value
        case core.Do(what=what) if what in TESTS:
            return core.Do("truth", (value,), value.at)
        case core.Call(fn=core.Name(id="bool"), args=(asked,), keywords=()):
            return as_test(asked)
        case core.Call():
            return core.Do("truth", (value,), value.at)
        case core.Choose(yes=core.Const(value=True), no=core.Const(value=False)):
            return value.test
        case core.Choose(yes=core.Const(value=False), no=core.Const(value=True)):
            return core.Do("not", (value.test,), value.at)
        case core.Attr(name=name) if name.startswith("is_"):
            return core.Do("truth", (value,), value.at)
    return None
