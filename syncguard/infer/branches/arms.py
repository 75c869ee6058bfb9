"""A test of a flag in, what its arms bound out: another test of the same flag finds it as that arm left it."""

from __future__ import annotations

from syncguard.infer.domain.lattice import same
from syncguard.infer.domain.values import Union
from syncguard.infer.routine import Env, Frame, Routine, of_part
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, DO, FUNCTION, NAME
from syncguard.read.walk import bound_in


def remember(test: Node, yes: Env, no: Env, frame: Frame) -> None:
    """Keep what either arm of a test of a flag bound, where that is not the same."""
    path, outcome = _flag(test)
    if not path:
        return
    names = [name for name, value in frame.env.items() if type(value) is Union and yes.get(name) is not no.get(name)]
    apart = [name for name in names if name in yes and name in no and not of_part(name)]
    if apart and steady(path, frame.routine):
        told, other = (yes, no) if outcome else (no, yes)
        both = {name: frame.env[name] for name in apart}
        frame.arms[path] = ({name: told[name] for name in apart}, {name: other[name] for name in apart}, both)


def recalled(inner: Node, outcome: bool, frame: Frame) -> Env:
    """What an outcome of this test says of names that an earlier test of the flag bound, and that hold it still."""
    path, true = _asked(inner)
    known = frame.arms.get(path)
    if known is None:
        return {}
    yes, no, both = known
    arm = yes if true is outcome else no
    held = {name: value for name in both if (value := frame.env.get(name)) is not None}
    return {name: arm[name] for name, value in held.items() if same(value, both[name])}


def forget(name: str, frame: Frame) -> None:
    """A name is bound anew: no arm of an earlier test tells what it holds."""
    for path, (yes, no, both) in frame.arms.items():
        if name in both:
            frame.arms[path] = (yes, no, {other: value for other, value in both.items() if other != name})


def turned(node: core.Loop, frame: Frame) -> None:
    """What the body of a loop binds, a later turn of it finds bound."""
    for name in {one.id for one in bound_in(node.body) if type(one) is NAME}:
        forget(name, frame)


def _flag(test: Node) -> tuple[str, bool]:
    """The flag that a test asks for alone, and what it is where the test holds."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _asked(inner)
        case core.Do(what="not", args=(inner,)):
            path, outcome = _flag(inner) if type(inner) is DO else _asked(inner)
            return path, not outcome
    return "", True


def _asked(inner: Node) -> tuple[str, bool]:
    match inner:
        case core.Name(id=name):
            return name, True
        case core.Attr(path=path):
            return path, True
        case core.Do(what="is" | "is not" | "==" | "!=" as what, args=(of, core.Const(value=bool(said)))):
            path = _asked(of)[0] if type(of) in (NAME, ATTR) else ""
            return path, said is (what in ("is", "=="))
    return "", True


def steady(path: str, routine: Routine) -> bool:
    """Whether a function binds a flag nowhere but in its signature."""
    node, written = routine.node, routine.written
    if type(node) is not FUNCTION:
        return False
    if written.binds is None:
        written.binds = frozenset([_asked(one)[0] for one in bound_in(node.body)])
    return path not in written.binds
