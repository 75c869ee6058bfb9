"""A move to a device in, the device as an argument out: `.cuda()` is `device="cuda"`."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.names import defined
from syncguard.fix.reads import postfix
from syncguard.fix.region import Region
from syncguard.infer.domain.values import Const, Host


def moved(node: cst.CSTNode, region: Region, known: Known) -> tuple[cst.Call, str] | None:
    """The call whose result `.to(device)` or `.cuda()` moves, and the device as text."""
    found = sent(node, region, known)
    return (found[0], region.code(found[1])) if found is not None else None


def sent(node: cst.CSTNode, region: Region, known: Known) -> tuple[cst.Call, cst.BaseExpression] | None:
    """The call whose result `.to(device)` or `.cuda()` moves, and the device."""
    match node:
        case cst.Call(
            func=cst.Attribute(value=cst.Call() as made, attr=cst.Name(value="cuda" | "to" as how)), args=args
        ):
            pass
        case _:
            return None
    rest = [arg for arg in args if arg.keyword is None or arg.keyword.value not in ("non_blocking", "copy")]
    if how == "cuda":
        return (made, cst.SimpleString('"cuda"')) if not rest else None
    if len(rest) != 1 or rest[0].star or (rest[0].keyword is not None and rest[0].keyword.value != "device"):
        return None
    target = rest[0].value
    named = device(target, known) or device(defined(region, target), known)
    return (made, target) if rest[0].keyword is not None or named else None


def cuda(where: cst.BaseExpression, region: Region, known: Known) -> str:
    """The test, as text, whether a device is one of CUDA, true or false whatever it names: only there is memory pinned
    and a copy not waited for. A worker that only knows the host would open the GPU to pin, and a forked one fails."""
    match where:
        case cst.Attribute(value=of, attr=cst.Name(value="device")) if known.tensor(of) is not None and known.pure(of):
            return f"{postfix(of, region)}.is_cuda"
        case cst.SimpleString():
            return str(str(where.evaluated_value).startswith("cuda"))
        case cst.Call(args=[cst.Arg(value=cst.SimpleString() as name), *_]) if known.callee(where) == "torch.device":
            return cuda(name, region, known)
        case cst.Call() if known.callee(where) == "torch.cuda.current_device":
            return "True"
        case cst.Name() if (made := defined(region, where)) is not where and sure(made, known):
            text = cuda(made, region, known)
            return text if text in ("True", "False") else f'{where.value}.type == "cuda"'
        case cst.Name(value=last) | cst.Attribute(attr=cst.Name(value=last)):
            text = f'"cuda" in str({region.code(where)})'
            named = device(where, known) or known.world.places.is_("names", "devices", last.lower())
            return text if named else f"isinstance({region.code(where)}, int) or {text}"  # a rank is a device, too
    return f"{known.torch()}.cuda.is_available()"


def device(node: cst.BaseExpression, known: Known) -> bool:
    """Whether an expression is a device for sure, and no dtype or tensor."""
    if isinstance(node, cst.SimpleString):
        return True
    if isinstance(node, cst.Attribute) and node.attr.value == "device":
        return True
    value = known.value(node)
    if type(value) is Host:
        kind, told, _ = value.kind.partition(":")  # "device:assumed" is some device
        return kind in ("device", "type") and (not told or bound(node, known))
    return type(value) is Const and type(value.value) is str


def bound(node: cst.BaseExpression, known: Known) -> bool:
    """Whether an expression is a variable that is not left to a default, which may be None."""
    if not isinstance(node, cst.Name):
        return isinstance(node, cst.Attribute)
    parents = [known.region.parent(name) for name in known.region.names.get(node.value, ())]
    return not any(isinstance(held, cst.Param) and held.default is not None for held in parents)


def sure(node: cst.BaseExpression, known: Known) -> bool:
    """Whether an expression is a device for sure, and not None either: a literal, `torch.device(...)`, a tensor's."""
    if isinstance(node, cst.SimpleString):
        return True
    if isinstance(node, cst.Call):
        return known.callee(node) in ("torch.device", "torch.cuda.current_device")
    return isinstance(node, cst.Attribute) and node.attr.value == "device" and known.tensor(node.value) is not None


def keywords(call: cst.Call, names: tuple[str, ...]) -> dict[str, cst.BaseExpression] | None:
    """The keyword arguments of a call; None where there are others than these."""
    found = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    starred = any(arg.star for arg in call.args)
    return None if starred or found.keys() - set(names) else found
