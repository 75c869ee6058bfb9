"""What is computed element by element with what a function built on the host in, where that must be out: on the host,
too, or torch would raise. The function waits for nothing that comes of it."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.sureness import built_on_host
from syncguard.infer.domain.values import LINKS, Tensor, Why
from syncguard.infer.routine import Frame, Rooted
from syncguard.infer.sightings import Sighting
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CALL, DO, FUNCTION
from syncguard.read.walk import walk

READS: Final = frozenset((
    "item", "copy-to-host", "python-number", "tensor-as-condition", "tensor-as-loop-bound", "print-tensor",
    "tensor-equality", "zero-dim-index", "accumulated-read", "nonzero", "mask-read", "mask-write", "unique",
    "repeat-interleave", "one-hot", "bincount", "tensor-as-size", "hidden-read", "linalg-check",
))  # fmt: skip
CASTS: Final = ("dtype", "copy", "memory_format")
MOVES: Final = ("to", "cuda", "cpu", "type", "new", "tensor", "as_tensor", "asarray", "type_as", "copy_", "set_")


def beside(a: Tensor, b: Tensor, nodes: tuple[Node, ...], frame: Frame) -> None:
    """Note where the one comes from whose place nobody tells, if the other was built here, of some dimensions."""
    if frame.quiet or frame.context.off or frame.context.failing or len(nodes) != 2:
        return
    for host, other, node in ((a, b, nodes[1]), (b, a, nodes[0])):
        if other.device == "assumed" and built_on_host(host) and is_here(host, frame):
            frame.beside_host.update(
                [origin for one in _made_of(other, node, frame) if (origin := straight(one, frame))]
            )


def _made_of(other: Tensor, node: Node, frame: Frame) -> list[Why]:
    """Why we know of a tensor; of what a function made of its parameter, of what that is given, if of one tensor."""
    if other.why is None or type(node) is not CALL or _inside(other.why.root, frame) or not straight(other.why, frame):
        return [other.why] if other.why is not None else []
    from syncguard.infer.expressions.evaluate import quiet_value

    given = [quiet_value(arg, frame) for arg in (*node.args, *[value for _, value in node.keywords])]
    tensors = [value for value in given if type(value) is Tensor]
    told = other.why.root.text == "parameter" and len(tensors) == 1 and tensors[0].device == "assumed"
    return [why for tensor in tensors if (why := tensor.why) is not None] if told else [other.why]


def stays(sighting: Sighting, frame: Frame) -> bool:
    """Whether a wait would be for what was found to be on the host."""
    return sighting.hazard in READS and sighting.why is not None and straight(sighting.why, frame) in frame.beside_host


def straight(why: Why, frame: Frame) -> Rooted | None:
    """Where a chain of reasons begins, if nothing on the way from there may have moved it."""
    links = 0
    while why.parent is not None:
        last = why.text.rpartition(".")[2]
        moved = last in MOVES or last.startswith("new_") or last.endswith("_like")
        moved = moved and not (last == "to" and _casts_at(why.at, frame))
        if (
            moved
            or not (why.text.startswith("torch.") or why.text == "iterate")
            or why.there is not None
            or links > LINKS
        ):
            return None
        why, links = why.parent, links + 1
    return (why.path, why.at, why.text)


def casts(call: core.Call) -> bool:
    """Whether a call by the name of a move only changes the type: `x.to(dtype=torch.float32)`."""
    return not call.args and bool(call.keywords) and all(key in CASTS for key, _ in call.keywords)


def _casts_at(at: At, frame: Frame) -> bool:
    return any(type(part) is CALL and part.at == at and casts(part) for part in walk(frame.routine.node.body))


def is_here(host: Tensor, frame: Frame) -> bool:
    """Whether a tensor was built in this function, and has dimensions: only without any it goes with every other."""
    if host.why is None or not _inside(host.why.root, frame):
        return False
    return host.rank > 0 or (host.rank < 0 and _sized(host.why.root.at, frame))


def _inside(root: Why, frame: Frame) -> bool:
    """Whether a chain of reasons begins in this function."""
    node = frame.routine.node
    within = type(node) is FUNCTION and node.at[0] <= root.at[0] and root.at[2] <= node.at[2]
    return within and root.path == frame.home.path


def _sized(at: At, frame: Frame) -> bool:
    """Whether a factory is given a size, and others after it: `torch.zeros(1, *shape)`."""
    made = next((part for part in walk(frame.routine.node.body) if type(part) is CALL and part.at == at), None)
    stars = sum(type(arg) is DO and arg.what == "*" for arg in made.args) if made is not None else 0
    return made is not None and 0 < stars < len(made.args)
