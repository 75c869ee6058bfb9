"""A test of the kind of device that something is on in, how it comes out on a GPU out; None of another test."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.subjects import path_of, value_at
from syncguard.infer.domain.values import Named, Tensor, Unknown
from syncguard.infer.operations.targets import device_of
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CONST, DO, NAME, SEQ

GPU: Final = "cuda"


def on_gpu(inner: Node, frame: Frame) -> bool | None:
    """Whether the test holds of what is on a GPU."""
    if type(inner) is ATTR:
        kind = inner.name.removeprefix("is_")
        known = inner.name != kind and _known(kind, frame)
        return kind == GPU if known and type(value_at(inner.of, frame)) in (Tensor, Unknown) else None
    if type(inner) is DO:
        return _compared(inner, frame)
    if type(inner) is not CALL:
        return None
    match inner:
        case core.Call(fn=core.Attr(of=of, name="startswith"), args=(prefix,)):
            word = word_of(prefix, frame)
            return word == GPU if word and is_device(of, frame) else None
    return None


def _compared(inner: core.Do, frame: Frame) -> bool | None:
    match inner:
        case core.Do(what="==" | "!=" as what, args=(left, right)):
            asked, word = (left, word_of(right, frame)) if is_device(left, frame) else (right, word_of(left, frame))
            return (word == GPU) is (what == "==") if word and is_device(asked, frame) else _ordinal(inner)
        case core.Do(what="in" | "not in" as what, args=(left, right)):
            holds = what == "in"
            if type(right) is SEQ:
                words = [word_of(part, frame) for part in right.items]
                return (GPU in words) is holds if any(words) and is_device(left, frame) else None
            word = word_of(left, frame)
            return (word == GPU) is holds if word and is_device(right, frame) else None
    return _ordinal(inner)


def _ordinal(inner: core.Do) -> bool | None:
    """`x.get_device() < 0` and `x.get_device() == -1` ask for what is on no GPU."""
    match inner:
        case core.Do(what="<" | ">=" as what, args=(core.Call(fn=core.Attr(name="get_device")), core.Const(value=0))):
            return what == ">="
        case core.Do(
            what="==" | "!=" as what,
            args=(core.Call(fn=core.Attr(name="get_device")), core.Do(what="neg", args=(core.Const(value=1),))),
        ):
            return what == "!="
    return None


def is_device(node: Node, frame: Frame) -> bool:
    """Whether this is a device, its kind, or either as a text."""
    if type(node) is CALL and type(node.fn) is NAME and node.fn.id == "str" and len(node.args) == 1:
        return is_device(node.args[0], frame)
    if type(node) is ATTR and node.name in ("type", "device"):
        return True
    path = path_of(node).rpartition(".")[2]
    return bool(path) and any(frame.world.places.is_("names", named, path) for named in ("devices", "accelerators"))


def word_of(node: Node, frame: Frame) -> str:
    """'cpu', 'cuda' or another that we know, when the expression names a device."""
    if type(node) is CONST and isinstance(node.value, str):
        word = node.value.partition(":")[0]
        return word if _known(word, frame) else ""
    if type(node) is CALL and len(node.args) == 1 and type(node.args[0]) is CONST:
        made = value_at(node.fn, frame) if type(node.fn) in (NAME, ATTR) else None
        return word_of(node.args[0], frame) if type(made) is Named and made.name == "torch.device" else ""
    named = value_at(node, frame) if type(node) is NAME else None
    return "cpu" if named is not None and type(named) is not Tensor and device_of(named) == "host" else ""


def _known(kind: str, frame: Frame) -> bool:
    return kind in ("cpu", GPU) or frame.world.places.is_("names", "other_devices", kind)
