"""`torch.tensor(0.0, device=d)` -> `torch.zeros((), device=d)`: filled in on the device, nothing is sent."""

from __future__ import annotations

import math

import libcst as cst

from syncguard.fix.devices import keywords, moved
from syncguard.fix.names import defined
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Finding

MAKERS = ("torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor")
# What gives a Python number whatever it is given, and one that is whole.
NUMBERS = ("builtins.int", "builtins.bool", "builtins.len")
# Numbers beyond what a float32 holds `torch.tensor` makes infinite, and `torch.full` refuses.
LARGEST = 3.4028234663852886e38
SIZES = ("size", "numel", "dim")
NAMED: dict[complex, str] = {0: "zeros", 1: "ones"}


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """One number, or a list of one and the same."""
    to = moved(node, region, known)
    call, device = to if to is not None else (node, "")
    if not isinstance(call, cst.Call) or not call.args or call.args[0].keyword is not None:
        return None
    settings = keywords(call, ("dtype", "device", "requires_grad"))
    if settings is None or any(arg.keyword is None for arg in call.args[1:]) or (device and "device" in settings):
        return None
    if "requires_grad" in settings and device:
        return None  # what was moved is no leaf
    data = call.args[0].value
    several = repeated(data, known)
    found = several or filled(data, known)
    if found is None:
        return None
    shape, value = found
    text = region.code(value)
    name = known.callee(call)
    typed = dtyped(settings.get("dtype"), region, known)
    sure = proven(value, region, known, 4) or bounded(value, settings.get("dtype"), region, known)
    said = f"fills `{text}` in on the device: it must be the Python number that it is said to be"
    if several is not None and isinstance(data, cst.BinaryOperation):
        # Of no elements it is a float32 where no dtype is given, and a count below 0 is none.
        typed = typed or isinstance(literal(value), float)
        counts = isinstance(defined(region, data.right), cst.Call | cst.Subscript)
        sure = sure and typed and counts and proven(data.right, region, known, 4)
        said += ", and so must the count; of no elements the dtype may be another"
    if not sure and name == "torch.as_tensor":
        return None  # it may be a tensor already
    if name == "torch.Tensor.new_tensor" and isinstance(call.func, cst.Attribute):
        held = known.tensor(call.func.value)
        exact = isinstance(value, cst.Integer) or (held is not None and held.dtype == "float")
        maker = NAMED.get(number) if (number := literal(value)) is not None else None
        made = region.swap(call.func.attr, f"new_{maker or 'full'}") if exact else None
        given = shape if maker else f"{shape}, {text}"
    elif name in MAKERS and known.torch():
        number = literal(value)
        if name in MAKERS[2:]:
            if not shape.strip("()") or "dtype" in settings or number is None or isinstance(number, complex):
                return None  # torch.Tensor(3) makes three elements
            text = str(float(number))
        plain = typed or isinstance(number, float) or name in MAKERS[2:]
        maker = NAMED.get(number) if plain and number is not None else None
        made = region.swap(call.func, f"{known.torch()}.{maker or 'full'}")
        given = shape if maker else f"{shape}, {text}"
    else:
        return None
    if made is None:
        return None
    edits = [made, region.swap(call.args[0], given)]
    if device and isinstance(node, cst.Call):
        edits += [region.argue(call, f"device={device}"), region.cut(node)]
    if sure:
        return Proposal("safe", "fills the number in on the device", tuple(edits))
    return Proposal("unsafe", said, tuple(edits))


def dtyped(dtype: cst.BaseExpression | None, region: Region, known: Known) -> bool:
    """Whether a dtype is one for sure, and not None, with which the number tells: `torch.int64`, `x.dtype`, `bool`."""
    made = defined(region, dtype) if dtype is not None else None
    return isinstance(made, cst.Name | cst.Attribute) and known.callee(made) != ""


def repeated(data: cst.BaseExpression, known: Known) -> tuple[str, cst.BaseExpression] | None:
    """The shape of what `[number] * n` makes, and the number."""
    match data:
        case cst.BinaryOperation(left=cst.List(elements=[cst.Element(value=value)]), operator=cst.Multiply()):
            count = data.right
        case _:
            return None
    if known.number(count) not in ("int", "size") or (not known.number(value) and literal(value) is None):
        return None
    return f"({known.region.code(count)},)", value


def proven(node: cst.BaseExpression, region: Region, known: Known, depth: int) -> bool:
    """Whether an expression is a Python number for sure, not only because it is declared or used as one, and one that
    every float can hold."""
    number = literal(node)
    if number is not None or not known.number(node):
        held = isinstance(number, float | complex) or (number is not None and -(2**63) <= number < 2**63)
        return number is not None and held and (abs(number) <= LARGEST or abs(number) == math.inf)
    match node:
        case cst.Name():
            made = defined(region, node)
            return depth > 0 and made is not node and proven(made, region, known, depth - 1)
        case cst.UnaryOperation(expression=inner):
            return proven(inner, region, known, depth - 1)
        case cst.IfExp(body=left, orelse=right):
            return proven(left, region, known, depth - 1) and proven(right, region, known, depth - 1)
        case cst.BinaryOperation(operator=cst.Power(), left=left, right=right):
            exponent = literal(right)  # of a size the third power may be beyond every float
            return isinstance(exponent, int | float) and abs(exponent) <= 2 and proven(left, region, known, depth - 1)
        case cst.BinaryOperation(left=left, right=right):
            return proven(left, region, known, depth - 1) and proven(right, region, known, depth - 1)
        case cst.Call():
            callee = known.callee(node)
            if callee == "builtins.float" and len(node.args) == 1:
                inner = node.args[0].value
                if isinstance(inner, cst.SimpleString):
                    return "".join(str(inner.evaluated_value).split()).lstrip("+-").lower() in (
                        "nan",
                        "inf",
                        "infinity",
                    )
                return proven(inner, region, known, depth)
            if callee == "torch.Tensor.item" and known.number(node) in ("int", "bool"):
                return True
            last = callee.rpartition(".")[2]
            sized = callee.startswith("torch.Tensor.") and last in SIZES
            return callee in NUMBERS or (sized and (last != "size" or bool(node.args)))
        case cst.Attribute(value=of, attr=cst.Name(value="ndim")):
            return known.tensor(of) is not None
        case cst.Subscript(value=cst.Attribute(value=of, attr=cst.Name(value="shape"))):
            return known.tensor(of) is not None
    return False


def bounded(node: cst.BaseExpression, dtype: cst.BaseExpression | None, region: Region, known: Known) -> bool:
    """Whether an expression is a limit of a dtype that the tensor can hold: small, or of its own dtype."""
    found = _limit(node, known)
    if found is None:
        return False
    own = dtype is not None and region.code(dtype) == region.code(found[1])
    return own or found[0] in ("eps", "tiny", "smallest_normal")


def _limit(node: cst.BaseExpression, known: Known) -> tuple[str, cst.BaseExpression] | None:
    """`torch.finfo(dtype).min`: which limit, of what."""
    match node:
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return _limit(inner, known)
        case cst.Attribute(value=cst.Call(args=[cst.Arg(value=of)]) as limits, attr=cst.Name(value=name)):
            return (name, of) if known.callee(limits) in ("torch.finfo", "torch.iinfo") else None
    return None


def filled(data: cst.BaseExpression, known: Known) -> tuple[str, cst.BaseExpression] | None:
    """The shape of what is made, and the number that all of it is."""
    sizes: list[int] = []
    while isinstance(data, cst.List | cst.Tuple):
        items = [element.value for element in data.elements if isinstance(element, cst.Element)]
        if not items or len(items) != len(data.elements) or not all(item.deep_equals(items[0]) for item in items):
            return None
        sizes.append(len(items))
        data = items[0]
    if not known.number(data) and literal(data) is None and _limit(data, known) is None:
        return None
    if sizes and literal(data) is None and any(size > 1 for size in sizes) and not isinstance(data, cst.Name):
        return None
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})", data


def literal(node: cst.BaseExpression) -> int | float | complex | bool | None:
    """The number that is written out."""
    if isinstance(node, cst.Integer | cst.Float | cst.Imaginary):
        return node.evaluated_value
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = literal(node.expression)
        return -inner if inner is not None else None
    return {"True": True, "False": False}.get(node.value) if isinstance(node, cst.Name) else None
