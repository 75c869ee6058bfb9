"""The arguments of a call and the rule for the dtype of its result in, that dtype's class out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.sureness import MASKS
from syncguard.infer.domain.values import Host, Named, Tensor, Union, Value, options
from syncguard.infer.operations.arguments import Arguments
from syncguard.infer.operations.promotion import promoted
from syncguard.infer.operations.targets import tensor_type

BUILTINS: Final = {f"builtins.{name}": name for name in ("bool", "int", "float", "complex")}
KINDS: Final = ("dtype", "type:")  # what begins the kind of a dtype


def dtype_by(rule: str, args: Arguments, first: Tensor | None) -> str:
    """The dtype class of a result, by what the call is given and the rule of its row; '' where that is not known."""
    for name, value in args.named.items():  # `x.to(torch.bool)` gives it where a device may stand as well
        if type(value) is Tensor and name == "device":
            return value.dtype  # `x.to(y)`
        if type(value) is not Host and type(value) is not Named and type(value) is not Union:
            continue
        named = dtype_of(value)
        if named:
            return named
        if any(type(option) is Host and option.kind.startswith(KINDS) for option in options(value)):
            return ""
    match rule:
        case "promote":
            return promoted(args)
        case "count":
            return "" if first is None else "int" if first.dtype in MASKS or first.dtype == "int" else first.dtype
        case "":
            return first.dtype if first is not None else ""
    return rule


def dtype_of(value: Value) -> str:
    """The class of a dtype argument: `torch.bool` and `bool` are bool, `torch.int64` int; '' if one of several."""
    found = ""
    for option in options(value):
        named = ""
        if type(option) is Host and option.kind.startswith(KINDS):
            named = option.kind.rpartition(":")[2].removeprefix("named mask").removeprefix("dtype")
        elif type(option) is Named:
            typed = tensor_type(option.name)
            if not typed and option.name not in BUILTINS:
                continue
            named = typed[1] if typed else BUILTINS[option.name]
        else:
            continue
        if not named or (found and named != found):
            return ""
        found = named
    return found
