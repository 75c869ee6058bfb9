"""The top level of a file in, whether it says that what names no device is built on one from there on out:
`torch.set_default_device("cuda")`."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.pack.places import Places
from syncguard.read.core import At, Call, Node
from syncguard.read.tags import ATTR, CALL, CLASS, CONST, FUNCTION
from syncguard.read.walk import walk

HOST: Final = "cpu"
DEVICE: Final = "cuda"


def builds_on_device(body: tuple[Node, ...], places: Places) -> bool:
    """Whether a statement that is no function's or class's says so, be it behind a test."""
    return any(_is_device(call.args[0], last_name(call.fn).endswith("device")) for call in _setters(body, places))


def built_on_host_by(at: At, body: tuple[Node, ...], places: Places) -> bool:
    """Whether the last of these above a line takes it back: `torch.set_default_device("cpu")`."""
    above = [call for call in _setters(body, places) if call.at < at]
    return bool(above) and not _is_device(above[-1].args[0], last_name(above[-1].fn).endswith("device"))


def _setters(body: tuple[Node, ...], places: Places) -> list[Call]:
    return [
        part
        for statement in body
        if type(statement) is not FUNCTION and type(statement) is not CLASS
        for part in walk(statement)
        if type(part) is CALL and part.args and places.is_("names", "default_setters", last_name(part.fn))
    ]


def _is_device(told: Node, device: bool) -> bool:
    """Whether this is a device, or the type of tensors of one: a device that has no name here may be any."""
    words = [part.value for part in walk(told) if type(part) is CONST and isinstance(part.value, str)]
    words += [part.path for part in walk(told) if type(part) is ATTR]
    return any(DEVICE in word for word in words) or (device and not any(HOST in word for word in words))
