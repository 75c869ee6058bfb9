"""A move to a device in, the device as an argument out: `.cuda()` is `device="cuda"`."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.region import Region
from syncguard.infer.values import Const, Host


def moved(node: cst.CSTNode, region: Region, known: Known) -> tuple[cst.Call, str] | None:
    """The call whose result `.to(device)` or `.cuda()` moves, and the device as text."""
    match node:
        case cst.Call(
            func=cst.Attribute(value=cst.Call() as made, attr=cst.Name(value="cuda" | "to" as how)), args=args
        ):
            pass
        case _:
            return None
    rest = [arg for arg in args if arg.keyword is None or arg.keyword.value not in ("non_blocking", "copy")]
    if how == "cuda":
        return (made, '"cuda"') if not rest else None
    if len(rest) != 1 or rest[0].star or (rest[0].keyword is not None and rest[0].keyword.value != "device"):
        return None
    target = rest[0].value
    return (made, region.code(target)) if rest[0].keyword is not None or device(target, known) else None


def device(node: cst.BaseExpression, known: Known) -> bool:
    """Whether an expression is a device for sure, and no dtype or tensor."""
    if isinstance(node, cst.SimpleString):
        return True
    if isinstance(node, cst.Attribute) and node.attr.value == "device":
        return True
    value = known.value(node)
    return (type(value) is Host and value.kind == "device") or (type(value) is Const and type(value.value) is str)


def sure(node: cst.BaseExpression, known: Known) -> bool:
    """Whether an expression is a device for sure, and not None either: a literal, `torch.device(...)`, a tensor's."""
    if isinstance(node, cst.SimpleString):
        return True
    if isinstance(node, cst.Call):
        return known.callee(node) == "torch.device"
    return isinstance(node, cst.Attribute) and node.attr.value == "device" and known.tensor(node.value) is not None


def keywords(call: cst.Call, names: tuple[str, ...]) -> dict[str, cst.BaseExpression] | None:
    """The keyword arguments of a call; None where there are others than these."""
    found = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    starred = any(arg.star for arg in call.args)
    return None if starred or found.keys() - set(names) else found
