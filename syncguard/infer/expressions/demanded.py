"""A tensor that a function makes an array of as it is in, where it must be out: on the host, or torch would raise. What
the function reads of it besides waits for nothing."""

from __future__ import annotations

from syncguard.infer.branches.subjects import path_of
from syncguard.infer.domain.values import Tensor, Value
from syncguard.infer.expressions.beside_host import READS, casts, stays, straight
from syncguard.infer.expressions.beside_unknown import reads_it
from syncguard.infer.routine import Frame
from syncguard.infer.sightings import Sighting
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, TRY
from syncguard.read.walk import around, mentions, walk


def demand(of: Value, node: Node | None, at: At, frame: Frame) -> None:
    """Note where a tensor comes from of which an array is made: `x.numpy()`, `np.asarray(x)`. Where the user says that
    all is on the device, this tells nothing of where it is."""
    if frame.world.all_there:
        return
    if type(of) is not Tensor or of.device != "assumed" or of.why is None or of.why.root.text == "annotation":
        return
    if frame.quiet or frame.context.off or frame.context.failing or type(frame.routine.node) is not FUNCTION:
        return
    origin = straight(of.why, frame)
    if origin is not None and not _fetched(node, frame) and not _tried(at, frame):
        frame.demanded.append((origin, frame.context.tests))


def made_array(
    of: Tensor, name: str, args: list[Value], keywords: dict[str, Value], nodes: tuple[Node, ...], at: At, frame: Frame
) -> None:
    """The same of a method that is called: `x.numpy()`."""
    if name in frame.world.places.tables["host"]["demands"] and not (args or keywords):
        demand(of, nodes[0] if nodes else None, at, frame)


def needless(sighting: Sighting, frame: Frame) -> bool:
    """Whether a wait would be for what was found to be on the host: it is computed with what is, or an array is made of
    it wherever the function comes to that place."""
    if stays(sighting, frame) or (frame.beside_names and reads_it(sighting, frame)):
        return True
    if sighting.hazard not in READS or sighting.why is None:
        return False
    origin, tests = straight(sighting.why, frame), sighting.context.tests
    return any(one == origin and all(test in tests for test in behind) for one, behind in frame.demanded)


def _fetched(node: Node | None, frame: Frame) -> bool:
    """Whether the function may bring what has this name to the host before: `if x.is_cuda: x = x.cpu()`."""
    names = {path_of(part).partition(".")[0] for part in walk(node)} - {""} if node is not None else {""}
    moves = (*frame.world.places.tables["manners"]["moves"], "cpu")
    calls = [part for part in walk(frame.routine.node.body) if type(part) is CALL and type(part.fn) is ATTR]
    moved = [part for part in calls if type(part.fn) is ATTR and part.fn.name in moves]
    return not names or any(mentions(part.fn, name) and not casts(part) for part in moved for name in names)


def _tried(at: At, frame: Frame) -> bool:
    """Whether a failure is met where this stands."""
    tries = [part for part in walk(frame.routine.node.body) if type(part) is TRY and part.handlers]
    return any(around(one.at, at) for part in tries for one in part.body)
