"""A call that makes a tensor of what may be one already in, whether it stays on the host where that is none, out."""

from __future__ import annotations

from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.subjects import path_of
from syncguard.infer.domain.values import Const
from syncguard.infer.operations.targets import device_of
from syncguard.infer.routine import Frame
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, CONST, FUNCTION, NAME


def stays(at: At, frame: Frame) -> bool:
    """Whether the device that a call asks for is the one of what it is given, and the host where that has none:
    `torch.as_tensor(x, device=x.device if isinstance(x, torch.Tensor) else "cpu")`."""
    call = frame.given[0]
    if type(call) is not CALL or call.at != at or not call.args:
        return False
    asked = [value for key, value in call.keywords if key == "device"]
    subject = path_of(call.args[0])
    if not asked or not subject:
        return False
    arms = [arm for value in _values(asked[0], frame) for arm in _arms(value)]
    others = [arm for arm in arms if not _of(arm, subject)]
    return 0 < len(others) < len(arms) and all(_host(arm, frame) for arm in others)


def _values(asked: Node, frame: Frame) -> list[Node]:
    """All that the function may give a name; none where a caller may do so too."""
    if type(asked) is not NAME:
        return [asked]
    node, parts = frame.routine.node, binders(frame.routine).get(asked.id, ())
    if type(node) is not FUNCTION or asked.id in [param.name for param in node.params]:
        return []
    values = [part.value for part in parts if type(part) is BIND and part.value is not None]
    return values if len(values) == len(parts) else []


def _arms(value: Node) -> list[Node]:
    return [value.yes, value.no] if type(value) is CHOOSE else [value]


def _of(arm: Node, subject: str) -> bool:
    return type(arm) is ATTR and arm.name == "device" and path_of(arm.of) == subject


def _host(arm: Node, frame: Frame) -> bool:
    """Whether a device that is written out is the host, or none: `"cpu"`, `torch.device("cpu")`, None."""
    if type(arm) is CALL and len(arm.args) == 1 and type(arm.fn) is ATTR and arm.fn.name == "device":
        arm = arm.args[0]
    if type(arm) is CONST:
        return arm.value is None or device_of(Const(arm.value)) == "host"
    return type(arm) is NAME and device_of(frame.lookup(arm.id)) == "host"
