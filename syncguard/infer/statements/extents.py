"""What several names are unpacked from in, whether its name says that these are sizes out: `h, w = x_size`."""

from __future__ import annotations

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.values import UNKNOWN, Host, Value
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, NAME


def as_sizes(value: Value, target: core.Seq, source: Node | None, frame: Frame) -> Value:
    """What is unpacked: sizes, where nothing but its name tells what it is, and nothing asks one of them for what a
    tensor has."""
    if value is not UNKNOWN or (type(source) is not NAME and type(source) is not ATTR):
        return value
    if not frame.world.places.is_("names", "extents", last_name(source)):
        return value
    each = [item.id for item in target.items if type(item) is NAME]
    if len(each) < len(target.items):
        return value
    asked = any(use.endswith("()") and use[:-2] in frame.world.tensor_names for one in each for use in frame.uses(one))
    return value if asked else Host("shape")
