"""The arguments of a call in, the dtype class and the rank of what is made of them out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import SHAPES, Const, Host, Seq, Tensor, Value, options
from syncguard.infer.operations.arguments import Arguments

ORDER: Final = {"bool": 0, "named mask": 0, "int": 1, "float": 2, "number": 3, "complex": 4}  # "number": any but bool
CLASSES: Final = {"bool": "bool", "int": "int", "size": "int", "float": "float", "complex": "complex"}
NUMBERS: Final = (*CLASSES, "number")
# What is asked of the result, or chooses among its elements, and is none of them.
FLAGS: Final = ("requires_grad", "pin_memory", "keepdim", "condition")


def promoted(args: Arguments) -> str:
    """The common dtype class of all arguments, Python numbers included: what is not known and meets a number is one."""
    best, unknown = "", False
    for name, value in (*args.named.items(), *[("", value) for value in args.rest]):
        if name in FLAGS:
            continue
        listed = name == "data" and type(value) is Seq
        here = ""
        for option in options(value):
            dtype = elements(option) if listed else class_of(option)
            if dtype == "" and listed:
                return ""
            if dtype == "" and type(option) is Tensor:
                unknown, here = True, ""
                break
            here = larger(here, dtype)
        best = larger(best, here)
    return best if not unknown else larger("number", best) if ORDER.get(best, 0) else ""


def larger(one: str, other: str) -> str:
    """Of two classes of dtype that to which the other is converted; of equal ones the first."""
    if one == "" or other == "":
        return one or other
    return other if ORDER.get(other, 0) > ORDER.get(one, 0) else one


def class_of(value: Value) -> str:
    """The dtype class of a tensor or a number; '' of anything else."""
    if type(value) is Tensor:
        return value.dtype
    return CLASSES.get(number(value), "")


def number(value: Value) -> str:
    """The kind of a value on the host: of a literal its type."""
    if type(value) is Const:
        return type(value.value).__name__
    return value.kind if type(value) is Host else ""


def elements(value: Value) -> str:
    """The common dtype class of what a list of lists holds; '' where something in it is not known."""
    if type(value) is not Seq:
        return class_of(value)
    best = ""
    for item in options(value.element) if value.items is None else value.items:
        for option in options(item):
            dtype = elements(option)
            if dtype == "":
                return ""
            best = larger(best, dtype)
    return best


def nested(value: Value) -> int:
    """How many dimensions a tensor has that is made of a list of lists; -1 where that is not known."""
    if type(value) is Tensor:
        return value.rank
    if type(value) is Seq and value.kind in ("list", "tuple"):
        inner = {nested(option) for option in options(value.element)} if value.items != () else {-1}
        deepest = inner.pop()
        return -1 if inner or deepest < 0 else deepest + 1
    kind = number(value)
    return 1 if kind in SHAPES else 0 if kind in NUMBERS else -1
