"""An attribute of which nobody knows what it holds, computed element by element with what a function built on the host,
in, where that must be out: on the host, too, `data.color + torch.randn(n, 3)`."""

from __future__ import annotations

from syncguard.infer.branches.subjects import path_of
from syncguard.infer.domain.sureness import built_on_host
from syncguard.infer.domain.values import Tensor, Unknown, Value
from syncguard.infer.expressions.beside_host import MOVES, READS, is_here
from syncguard.infer.routine import Frame
from syncguard.infer.sightings import Sighting
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL
from syncguard.read.walk import mentions, walk


def note(host: Tensor, other: Value, node: Node, frame: Frame) -> None:
    """Note the attribute, if the tensor beside it was built here, of some dimensions, and nothing in the function moves
    what has the attribute."""
    if type(other) is not Unknown or type(node) is not ATTR or not node.path:
        return
    if frame.quiet or frame.context.off or frame.context.failing:
        return
    if built_on_host(host) and is_here(host, frame) and not _moved(node.path.partition(".")[0], frame):
        frame.beside_names.add(node.path)


def reads_it(sighting: Sighting, frame: Frame) -> bool:
    """Whether a wait is for what is computed from such an attribute alone."""
    if sighting.hazard not in READS or sighting.operand is None:
        return False
    found = [part for part in walk(frame.routine.node.body) if part.at == sighting.operand]
    return bool(found) and _of_these(found[0], frame.beside_names)


def _moved(name: str, frame: Frame) -> bool:
    calls = [part.fn for part in walk(frame.routine.node.body) if type(part) is CALL and type(part.fn) is ATTR]
    return any(fn.name in MOVES and mentions(fn, name) for fn in calls if type(fn) is ATTR)


def _of_these(node: Node, names: set[str]) -> bool:
    """Whether an expression is computed from nothing but what has one of these names, and numbers."""
    match node:
        case core.Const():
            return True
        case core.Name() | core.Attr() if path_of(node) in names:
            return True
        case core.Do(args=args):
            known = [_of_these(arg, names) for arg in args]
            return all(known)
        case core.Call(fn=core.Attr(of=of), args=args):
            known = [_of_these(arg, names) for arg in args]
            return _of_these(of, names) and all(known)
        case core.Index(of=of):
            return _of_these(of, names)
    return False
