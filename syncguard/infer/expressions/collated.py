"""A loader in, the object of the project out that its function makes of the rows of each batch, where the class of that
moves it without a wait: what the loader gave would wait where it is moved."""

from __future__ import annotations

from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import UNKNOWN, Call, Instance
from syncguard.infer.expressions import calls
from syncguard.infer.operations.arguments import pins
from syncguard.infer.routine import Frame
from syncguard.read.core import At, Node
from syncguard.read.tags import CALL, CONST, FUNCTION, NAME
from syncguard.read.walk import walk


def collated(loader: Instance, at: At, frame: Frame) -> Instance | None:
    """What a loader gives, of a class of the project: on the host, with all that it holds."""
    collate = loader.settings.get("collate_fn")
    if type(collate) is not Call and not (type(collate) is Instance and collate.info is not None):
        return None
    frame.quiet += 1
    frame.again += 1
    found = calls.invoke(collate, [UNKNOWN], {}, at, (), frame)
    frame.again -= 1
    frame.quiet -= 1
    if type(found) is not Instance or found.info is None or found.info.is_module:
        return None
    if not any(_moves(found.info, name) for name in frame.world.places.tables["manners"]["moves"]):
        return None
    if found.info.find("pin_memory") is not None and not pins(loader.settings.get("pin_memory")):
        frame.home.moves_batches = True
    return Instance(found.info, found.name, "host", found.settings)


def _moves(info: ClassInfo, name: str) -> bool:
    """Whether a method of a class's own moves what an object holds, and asks not to wait: `self.x.to(device,
    non_blocking=True)`."""
    member = info.members.get(name)
    node = member.routine.node if type(member) is Call else None
    if type(node) is not FUNCTION:
        return False
    told = {param.name for param in node.params if type(param.default) is CONST and not param.default.value}
    asked = [dict(part.keywords).get("non_blocking") for part in walk(node.body) if type(part) is CALL]
    return any(one is not None and not _waits(one, told) for one in asked)


def _waits(asked: Node, told: set[str]) -> bool:
    """Whether this is no, or a name that stands for no unless the caller says otherwise."""
    return (type(asked) is CONST and not asked.value) or (type(asked) is NAME and asked.id in told)
