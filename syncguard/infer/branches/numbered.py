"""A count in, whether it is the number of a part of what each step goes through, so that none of them runs seldom for
it: of a layer, `for i, layer in enumerate(self.layers): if i % 4 == 0`, or of what a step adds up gradients of."""

from __future__ import annotations

from syncguard.infer.branches.rhythm import number_of, turned
from syncguard.infer.branches.stepping import loads
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.values import UNKNOWN
from syncguard.infer.routine import Frame
from syncguard.infer.stores import CONSTRUCTORS
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, FUNCTION, LOOP, NAME
from syncguard.read.walk import walk


def counts_parts(node: Node, frame: Frame) -> bool:
    """Whether a count is that of the turns of a loop that takes no step, or is what its constructor alone has given a
    module: its place among others."""
    node = number_of(node)
    if type(node) is NAME and (_of_a_step(node.id, frame) or _within_step(node.id, frame)):
        return True
    owner = frame.routine.owner
    if owner is None or not owner.is_module:
        return False
    forward = frame.world.places.is_("hot", "module_methods", frame.routine.name)
    if type(node) is NAME:
        return forward and any(not loop.reason and node.id in turned(loop.node) for loop in frame.context.loops)
    if type(node) is not ATTR or node.path != f"self.{node.name}" or not (forward or _is_property(frame)):
        return False
    storing = {one.name for info in owner.mro for one in frame.world.storing(info, node.name)}
    return bool(storing) and storing <= CONSTRUCTORS


def _is_property(frame: Frame) -> bool:
    node = frame.routine.node
    return type(node) is FUNCTION and any(type(one) is NAME and one.id == "property" for one in node.decorators)


def _within_step(name: str, frame: Frame) -> bool:
    """Whether a name counts the turns of a loop that takes no step, in one each turn of which is a step."""
    loops = frame.context.loops
    number = next((number for number, loop in enumerate(loops) if name in turned(loop.node)), 0)
    return bool(number) and not loops[number].reason and any(one.reason and not one.steps for one in loops[:number])


def _of_a_step(name: str, frame: Frame) -> bool:
    """Whether a name counts the turns of a loop each of which adds up gradients, for a step that the loop around it
    takes, or the function."""
    loops, places = frame.context.loops, frame.world.places
    inner = loops[-1].node if loops else None
    outer = loops[-2].node if len(loops) > 1 else frame.routine.node
    if type(inner) is not LOOP or type(outer) not in (LOOP, FUNCTION) or name not in turned(inner):
        return False
    hot = places.tables["hot"]
    takes = [one for one in hot["loop_takes"] if one not in hot["loop_clears"]]
    if not inner.calls & places.passes or not inner.calls.isdisjoint(takes) or loads(inner, UNKNOWN, frame):
        return False
    within = {id(part) for part in walk(inner)}
    called = [last_name(part.fn) for part in walk(outer.body) if type(part) is CALL and id(part) not in within]
    return any(one in takes for one in called)
