"""An argument in, the device that it names out."""

from __future__ import annotations

from syncguard.infer.values import (
    Const,
    Host,
    Instance,
    Named,
    Tensor,
    Value,
)


def device_of(value: Value) -> str:
    """The device that a value names: a string, a torch.device, a tensor to follow, an ordinal."""
    match value:
        case Const():
            if isinstance(value.value, str):
                typed = tensor_type(value.value)
                return (
                    typed[0]
                    if typed
                    else (
                        "host"
                        if value.value.startswith("cpu")
                        else "device"
                        if value.value.split(":")[0] in ("cuda", "xpu", "hip", "npu", "mps", "hpu")
                        else ""
                    )
                )
            return ""
        case Host():
            return (
                value.kind.partition("device:")[2]
                if value.kind.startswith("device")
                else value.kind.split(":")[1]
                if value.kind.startswith("type:")
                else "assumed"
                if value.read is None and value.kind == "ordinal"
                else ""
            )
        case Tensor():
            return value.device
        case Instance():
            return value.device if value.name == "torch.device" else ""
        case Named():
            typed = tensor_type(value.name)
            return typed[0] if typed else ""
    return ""


def tensor_type(name: str) -> tuple[str, str] | None:
    """The device and dtype class that an old tensor type names: `torch.LongTensor` is on the host."""
    if not name.startswith("torch.") or not name.endswith("Tensor"):
        return None
    kind = TYPES.get(name.removesuffix("Tensor").rpartition(".")[2])
    return None if kind is None else ("device" if name.startswith("torch.cuda.") else "host", kind)


TYPES = {
    "Float": "float", "Double": "float", "Half": "float", "BFloat16": "float", "Long": "int", "Int": "int",
    "Short": "int", "Byte": "int", "Char": "int", "Bool": "bool",
}  # fmt: skip
