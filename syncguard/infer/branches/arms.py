"""A test in, what its arms bound out: the same question asked again finds it as that answer left it."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.undoes import LESS, MORE
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.lattice import same
from syncguard.infer.domain.values import Call, Tensor, Union, Value
from syncguard.infer.routine import UNUSED, Env, Frame, Routine, of_part
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CONST, DO, FUNCTION, NAME, SEQ
from syncguard.read.walk import bound_in, walk

OPPOSITE: Final = {"is not": "is", "!=": "==", "not in": "in", ">=": "<", "<=": ">"}  # what each of these denies
ASKED: Final = frozenset([*OPPOSITE, *OPPOSITE.values()])
KIND: Final = "isinstance"
CHANGES: Final = frozenset(  # methods after which the same question may have another answer
    [f"{name}()" for name in (*MORE, *LESS, "setdefault", "resize_", "squeeze_", "unsqueeze_")]
)


def remember(node: core.If, yes: Env, no: Env, frame: Frame) -> None:
    """Keep what either arm of a test bound, where that is not the same, and neither changes the answer."""
    question, outcome = _told(node.test)
    if not question:
        return
    names = [name for name, value in frame.env.items() if _several(value, yes.get(name), no.get(name))]
    apart = [name for name in names if name in yes and name in no and not of_part(name)]
    if apart and all(_lasts(word, node, frame) for word in _words(question)):
        told, other = (yes, no) if outcome else (no, yes)
        both = {name: frame.env[name] for name in apart}
        frame.arms[question] = ({name: told[name] for name in apart}, {name: other[name] for name in apart}, both)


def _several(value: Value, yes: Value | None, no: Value | None) -> bool:
    """Whether a name may hold one of two things, or one arm puts on the host what it holds."""
    return yes is not no and (type(value) is Union or _there(yes) is not _there(no))


def _there(value: Value | None) -> bool:
    return type(value) is Tensor and not value.on_device


def _lasts(word: str, node: core.If, frame: Frame) -> bool:
    """Whether what a question is about is the same until it is asked again, as far as names tell: no arm binds it, nor
    a function in this one, nobody changes it in place, and no other method gives it to the object."""
    root, _, rest = word.partition(".")
    arms = (*node.body, *node.orelse)
    if any(bound in (word, root) for bound in map(_word, bound_in(arms))):
        return False
    routine = frame.routine
    if not rest:
        theirs = root in _inner(routine) or root in routine.home.core.rebound  # which any function that is called binds
        return not theirs and frame.uses(root).isdisjoint(CHANGES)
    if not steady(word, routine):
        return False
    owner = routine.owner
    if root != "self" or owner is None or "." in rest:
        holders = [word[:end] for end, letter in enumerate(word) if letter == "."]
        used = [use for holder in holders for use in frame.uses(holder)]
        return not any(use.startswith("(") or use.endswith("()") for use in used)
    kept = all(one.name == "__init__" for one in frame.world.storing(owner, rest))
    return kept and frame.uses(word).isdisjoint(CHANGES) and not _turned(rest, owner, frame)


def _turned(name: str, owner: ClassInfo, frame: Frame) -> bool:
    """Whether a function, or a method of the same object that it calls, turns the mode that an attribute tells."""
    places, mine = frame.world.places, frame.uses("self")
    if not places.is_("names", "modes", name):
        return False
    turns = frozenset([f"{method}()" for method in places.tables["names"]["mode_methods"]])
    called = [owner.find(use[:-2]) for use in mine if use.endswith("()")]
    routines = [one[0].routine for one in called if one is not None and type(one[0]) is Call]
    others = [one.node.uses.get("self", UNUSED) for one in routines if type(one.node) is FUNCTION]
    for one in routines:
        if not one.home.own:
            frame.routine.uses[one.home.path, one.qualname] = None
    return any(not turns.isdisjoint(uses) for uses in (mine, *others))


def _inner(routine: Routine) -> frozenset[str]:
    """The names that functions in this one bind: they may be its own."""
    written = routine.written
    if written.inner is None:
        functions = [part for part in walk(routine.node.body) if type(part) is FUNCTION]
        written.inner = frozenset([_word(one) for part in functions for one in bound_in(part.body)])
    return written.inner


def recalled(inner: Node, outcome: bool, frame: Frame) -> Env:
    """What an outcome of this test says of names that the same question bound before, and that hold it still."""
    question, true = _question(inner)
    known = frame.arms.get(question)
    if known is None:
        question, true = _implied(inner, outcome)
        known = frame.arms.get(question)
    if known is None:
        return {}
    yes, no, both = known
    arm = yes if true is outcome else no
    held = {name: value for name in both if (value := frame.env.get(name)) is not None}
    return {name: arm[name] for name, value in held.items() if same(value, both[name])}


def _implied(inner: Node, outcome: bool) -> tuple[str, bool]:
    """The question whose answer follows: what is False does not hold, though what does not hold may be None."""
    match inner:
        case core.Do(what="is" | "==", args=(of, core.Const(value=bool(said)))) if outcome:
            return _word(of), said
        case core.Do(what="is not" | "!=", args=(of, core.Const(value=bool(said)))) if not outcome:
            return _word(of), not said
    return "", True


def forget(name: str, frame: Frame) -> None:
    """A name is bound anew: no arm of an earlier test tells what it holds, and who asks about it asks anew."""
    under = f"{name}."
    for question, (yes, no, both) in list(frame.arms.items()):
        if any(word == name or word.startswith(under) for word in _words(question)):
            del frame.arms[question]
        elif name in both:
            frame.arms[question] = (yes, no, {other: value for other, value in both.items() if other != name})


def turned(node: core.Loop, frame: Frame) -> None:
    """What the body of a loop binds, a later turn of it finds bound."""
    for name in {one.id for one in bound_in(node.body) if type(one) is NAME}:
        forget(name, frame)


def _told(test: Node) -> tuple[str, bool]:
    """The question that a test asks alone, and the answer to it where the test holds."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _question(inner)
        case core.Do(what="not", args=(inner,)):
            question, outcome = _told(inner) if type(inner) is DO else _question(inner)
            return question, not outcome
    return "", True


def _question(inner: Node) -> tuple[str, bool]:
    """What is asked, a word to a line; nothing where the answer may be another one the next time."""
    match inner:
        case core.Name() | core.Attr():
            return _word(inner), True
        case core.Do(what=what, args=(left, right)) if what in ASKED:
            asked, other = _word(left), _word(right)
            if what.endswith("in") and type(right) is not SEQ:
                return "", True  # what a container holds may be more the next time
            text = f"{asked}\n={OPPOSITE.get(what, what)}\n{other}" if asked and other else ""
            return text, what not in OPPOSITE
        case core.Call(fn=fn, args=(of, kinds)) if type(fn) is NAME and fn.id == KIND:
            asked, other = _word(of), _word(kinds)
            return f"{asked}\n={KIND}\n{other}" if asked and other else "", True
    return "", True


def _word(node: Node) -> str:
    """A name, a dotted one, a number or text, or several of these, as they are written."""
    if type(node) is NAME:
        return node.id
    if type(node) is ATTR:
        return node.path
    if type(node) is CONST:
        return f"={node.value!r}"
    if type(node) is SEQ:
        words = [_word(item) for item in node.items]
        return "\n".join(words) if all(words) else ""
    return ""


def _words(question: str) -> list[str]:
    """The names that a question is about."""
    return [word for word in question.split("\n") if not word.startswith("=")]


def steady(path: str, routine: Routine) -> bool:
    """Whether a function binds a name, or an attribute, nowhere but in its signature."""
    node, written = routine.node, routine.written
    if type(node) is not FUNCTION:
        return False
    if written.binds is None:
        written.binds = frozenset([_word(one) for one in bound_in(node.body)])
    return path not in written.binds
