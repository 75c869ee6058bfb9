"""The arguments of a call in, the device of what it makes out."""

from __future__ import annotations

from syncguard.infer.domain.values import NONE, UNKNOWN, Const, Host, Instance, Tensor, Unknown, Value, options
from syncguard.infer.operations.arguments import Arguments
from syncguard.infer.operations.targets import MEMORYLESS, device_of, left_on_host, place_of


def device_made(rule: str, args: Arguments, tensors: list[Tensor]) -> str:
    if rule in ("host", "pinned"):
        return "host"
    asked = args.get("device")
    dtype = args.get("dtype")
    if asked is None and dtype is not None and any(type(o) is not Tensor and device_of(o) for o in options(dtype)):
        asked = dtype  # `x.type(torch.LongTensor)`
    if asked is not None:
        if left_on_host(asked) and args.default_device in ("host", "mixed"):
            return "mixed"  # unless the user says that all is on the device
        if place := place_of(asked):
            return place
        if any(type(option) is Host and option.kind == "device" for option in options(asked)):
            return "assumed"  # some device, we cannot tell which
    if rule == "factory":
        return _made(asked, args)
    if rule == "device":
        return "assumed"
    if not tensors and rule == "":
        held = next((value.device for value in args.values() if type(value) is Instance), "")
        if held:
            return held
    if not tensors and rule == "" and args.default_device == "host" and args.numbers():
        return "mixed"  # `torch.div(3, 2)` is on the host, unless what is declared a number is none
    if rule == "like" and not tensors:
        like = first_of(args)
        if type(like) is Instance and like.settings.get("device") is not None:
            return like.device  # it was made for that
        return "assumed" if type(like) is Unknown and like.weak is not None else args.default_device
    place = common_device(tensors[:1] if rule == "like" else tensors, "assumed")
    # Whatever device it is, both paths are there now.
    return "assumed" if place == "mixed" and type(asked) is Unknown else place


def _made(asked: Value | None, args: Arguments) -> str:
    """Where a factory builds that is asked for no device by name."""
    filled = args.get("out")
    if filled is not None and filled is not NONE:
        return filled.device if type(filled) is Tensor else "assumed"  # `torch.arange(n, out=x.new())`
    if asked is not None and asked is not NONE:
        return "host" if type(asked) is Const and asked.value == MEMORYLESS else "assumed"
    drawn = args.get("generator")
    if type(drawn) is Instance and drawn.device == "host":
        return "host"  # numbers are drawn where their generator is: for elsewhere it is refused
    copied = [option.device for option in options(args.get("data") or UNKNOWN) if type(option) is Tensor]
    if not copied and args.open and args.default_device == "host":
        return "mixed"  # `**kwargs` may name a device
    return copied[0] if copied else args.default_device


def common_device(tensors: list[Tensor], default: str) -> str:
    """Where an operation on these runs: a 0-d host operand follows the others."""
    devices = {tensor.device for tensor in tensors}
    if not devices:
        return default
    for device in ("device", "assumed", "mixed"):
        if device in devices:
            return device
    return "host"


def object_made(place: str, args: Arguments) -> str:
    """Where an object is that is made of no tensors: what is on the host by default may be asked for elsewhere."""
    asked = args.get("device")
    if place == "host" and asked is not None and asked is not NONE:
        return place_of(asked) or "assumed"
    if place == "host":
        return place
    return args.default_device if place == "factory" else "assumed"


def device_named(args: Arguments, tensors: list[Tensor]) -> Value:
    """The device that a call makes of what it is given: `torch.device(device)`, or where a tensor is."""
    if tensors:
        return Host(f"device:{tensors[0].device}")
    left = next(filter(left_on_host, args.values()), None)
    return left or Host(f"device:{next((d for value in args.values() if (d := device_of(value))), 'assumed')}")


def kept_on_host(args: Arguments, names: str) -> Host | None:
    """The device that is asked for, where it is the CPU unless a caller names another."""
    given = (args.get(name) for name in names.split("|"))
    return next((value for value in given if type(value) is Host and left_on_host(value)), None)


def place_asked(args: Arguments) -> bool:
    """Whether a call says where something is to be."""
    asked = args.get("device")
    return asked is not None and asked is not NONE


def first_of(args: Arguments) -> Value:
    """The first argument of a call, or what its method is called on."""
    return next(iter(args.named.values()), UNKNOWN)
