"""A call in a loop in, whether each turn has a model compute by it, some calls away, without gradients: then the loop
generates."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import ME, last_name, path_of, value_at
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import Frame, Routine
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CALL, FUNCTION, NAME
from syncguard.read.walk import looped, walk

DEEPEST: Final = 3  # calls to a model that `x = self.step(x)` leads to


def generates(node: Node, places: Places) -> bool:
    """Whether a function computes no gradients: `@torch.no_grad()`."""
    if type(node) is not FUNCTION:
        return False
    return any(places.is_("hot", "gradless", last_name(one)) for one in node.decorators)


def has_model_run(fn: Node, frame: Frame) -> bool:
    """Whether what is called is a method, or a function, that gives a model what it is given."""
    called = value_at(fn, frame) if path_of(fn) else None
    if type(called) is not Call or called.routine is frame.routine:
        return False
    return _runs(called.routine, frame.world.places, DEEPEST)


def _runs(routine: Routine, places: Places, deep: int) -> bool:
    """Whether a function does so once: what loops over it generates by itself."""
    node = routine.node
    given = {param.name for param in node.params} - {*ME} if type(node) is FUNCTION else set()
    inner = looped(node.body) if given else set()
    calls = [part for part in walk(node.body) if type(part) is CALL and id(part) not in inner] if given else []
    fed = [call for call in calls if _takes(call, given)]
    named = {call.fn.id for call in fed if type(call.fn) is NAME}
    own = [part for part in node.body if type(part) is FUNCTION and part.name in named] if named else []
    within = [part for one in own for part in walk(one.body) if type(part) is CALL]
    if any(places.is_("hot", "generators", last_name(call.fn)) for call in (*fed, *within)):
        return True
    return deep > 0 and any(_runs(method, places, deep - 1) for call in fed for method in _own(call.fn, routine))


def _takes(call: core.Call, given: set[str]) -> bool:
    """Whether a call is given one of these, or a part of it."""
    parts = (*call.args, *[value for _, value in call.keywords])
    return not given.isdisjoint([path_of(part).partition(".")[0] for part in walk(parts)])


def _own(fn: Node, routine: Routine) -> list[Routine]:
    """The method of the same object that is called."""
    path = path_of(fn)
    member = routine.owner.find(last_name(fn)) if routine.owner is not None and path.startswith("self.") else None
    method = member[0].routine if member is not None and type(member[0]) is Call else None
    return [method] if method is not None and method is not routine and path == f"self.{method.name}" else []
