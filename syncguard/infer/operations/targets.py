"""An argument in, the device that it names out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import ACCELERATORS, Const, Host, Instance, Named, Tensor, Value, options


def place_of(asked: Value) -> str:
    """The device that an argument names, which may be one of several: 'assumed' where a setting chooses among them."""
    places = {place for option in options(asked) if (place := device_of(option))}
    if len(places) == 1 and not any(type(option) is Host and option.kind == "device" for option in options(asked)):
        return places.pop()
    return "mixed" if "mixed" in places else "assumed" if places else ""


def left_on_host(value: Value) -> bool:
    """Whether an argument names a device that is the CPU where a caller names none."""
    return type(value) is Host and value.kind == LEFT_ON_HOST


def device_of(value: Value) -> str:
    """The device that a value names: a string, a torch.device, a tensor to follow, an ordinal."""
    match value:
        case Const(value=str() as text):
            return named(text)
        case Const(value=bool()):
            return ""
        case Const(value=int()) | Host(kind="int"):
            return "device"
        case Host():
            word, _, there = value.kind.partition(":")
            return there.partition(":")[0] if word in ("device", "type") else ""
        case Tensor():
            return value.device
        case Instance():
            return value.device if value.name == "torch.device" else ""
        case Named():
            typed = tensor_type(value.name)
            return typed[0] if typed else ""
    return ""


def names_one(value: Value) -> bool:
    """Whether a value is a device, or its name, and one that a caller chose: no tensor to follow, no number."""
    chosen = type(value) is Host or type(value) is Instance or (type(value) is Const and type(value.value) is str)
    return chosen and device_of(value) in ("host", "device") and not (type(value) is Host and value.kind == "int")


def names_host(value: Value) -> bool:
    """Whether a value is the CPU, or its name, and a caller chose it."""
    return names_one(value) and device_of(value) == "host"


def named(text: str) -> str:
    """The device that a text names: "cpu", "cuda:1", "torch.cuda.FloatTensor"."""
    if (typed := tensor_type(text)) is not None:
        return typed[0]
    if text.startswith("cpu"):
        return "host"
    return "device" if text.partition(":")[0] in ACCELERATORS else ""


def begun(text: Value) -> Value:
    """What a text becomes that goes on with something: `"cuda:" + str(rank)` and `"cuda:%d" % rank` name a device."""
    word, colon, rest = text.value.partition(":") if type(text) is Const and type(text.value) is str else ("", "", "")
    return Host("device:device") if colon and word in ACCELERATORS and rest in ORDINALS else Host("str")


def tensor_type(name: str) -> tuple[str, str] | None:
    """The device and dtype class that an old tensor type names: `torch.LongTensor` is on the host."""
    if not name.startswith("torch.") or not name.endswith("Tensor"):
        return None
    kind = TYPES.get(name.removesuffix("Tensor").rpartition(".")[2])
    return None if kind is None else ("device" if name.startswith("torch.cuda.") else "host", kind)


LEFT_ON_HOST: Final = "device:assumed:host"
ORDINALS: Final = ("", "%d", "%i", "%s", "{}")  # what stands for the number of a device
MEMORYLESS: Final = "meta"  # the device whose tensors hold nothing: nobody waits for them
TYPES: Final = {
    "Float": "float", "Double": "float", "Half": "float", "BFloat16": "float", "Long": "int", "Int": "int",
    "Short": "int", "Byte": "int", "Char": "int", "Bool": "bool",
}  # fmt: skip
