"""Reads in, a name for the number of each out: `x.max().item()` is `x_max`, `{"loss": a.item()}` is `loss`."""

from __future__ import annotations

from functools import reduce
from keyword import iskeyword

import libcst as cst

from syncguard.fix.names import spare
from syncguard.fix.reads import Read
from syncguard.fix.region import Region

LONGEST = 30
# What tells nothing of a number.
SILENT = ("detach", "float", "double", "clone", "to", "cpu", "squeeze", "view", "reshape", "flatten", "contiguous")


def named(found: list[Read], region: Region) -> list[str]:
    """A name for each number, from what it is for, else from what is read."""
    names: list[str] = []
    for n, one in enumerate(found, 1):
        held = region.parent(one.whole)
        if isinstance(held, cst.DictElement) and isinstance(held.key, cst.SimpleString):
            word = str(held.key.evaluated_value).rpartition("/")[2].lower()
        elif isinstance(held, cst.Arg) and held.keyword is not None:
            word = held.keyword.value
        else:
            word = label(one.tensor)
            word = f"{word}_value" if isinstance(one.tensor, cst.Name | cst.Attribute) and word else word
        if not word.isidentifier() or iskeyword(word) or len(word) > LONGEST:
            word = f"number_{n}"
        words = (word,) if word.endswith("_value") else (word, f"{word}_value")
        word = spare(region, found[0].whole, *words)
        names.append(word if word not in names else spare(region, found[0].whole, f"{word}_{n}"))
    return names


def label(node: cst.BaseExpression) -> str:
    """A word for an expression; '' where it is no name, attribute, element or call of one."""
    match node:
        case cst.Name(value=name):
            return name if name not in ("self", "cls") else ""
        case cst.Attribute(attr=cst.Name(value=name)):
            return name
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            return str(key.evaluated_value).lower()
        case cst.Subscript(value=of, slice=keys):
            return reduce(_joined, filter(None, map(_place, keys)), label(of))
        case cst.Call(func=cst.Attribute(value=cst.Name(value="torch"), attr=cst.Name(value=name)), args=[first, *_]):
            return _joined(label(first.value), name)
        case cst.Call(func=cst.Attribute(value=of, attr=cst.Name(value=name))):
            return label(of) if name in SILENT else _joined(label(of), name)
        case cst.Call(func=cst.Name(value=name)):
            return name
        case cst.BinaryOperation(left=left):
            return label(left)
    return ""


def _place(part: cst.SubscriptElement) -> str:
    """A word for a place in a row; '' where it is no number or variable."""
    match part.slice:
        case cst.Index(value=cst.Integer(value=word) | cst.Name(value=word)) if word not in ("None", "True", "False"):
            return word
        case cst.Index(value=cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=number))):
            return "last" if number == "1" else f"last_{number}"
    return ""


def _joined(one: str, other: str) -> str:
    return f"{one}_{other.strip('_')}" if one else other.strip("_")
