"""Reads in, a name for the number of each out: `x.max().item()` is `x_max`, `{"loss": a.item()}` is `loss`."""

from __future__ import annotations

from functools import reduce
from keyword import iskeyword

import libcst as cst

from syncguard.fix.names import spare
from syncguard.fix.reads import Read
from syncguard.fix.region import Region
from syncguard.fix.shapes import subscript

LONGEST = 30
# What tells nothing of a number.
SILENT = ("detach", "float", "double", "clone", "to", "cpu", "squeeze", "view", "reshape", "flatten", "contiguous")


def named(found: list[Read], region: Region) -> list[str]:
    """A name for each number, from what it is for, else from what is read."""
    told = [words(one, region) for one in found]
    names: list[str] = []
    for n, choice in enumerate(told, 1):
        alone = [word for word in choice if sum(word in other for other in told) == 1]
        word = _short((alone or choice)[0])
        if not word.isidentifier() or iskeyword(word):
            word = f"number_{n}"
        either = (word,) if word.endswith("_value") else (word, f"{word}_value")
        word = spare(region, found[0].whole, *either)
        names.append(word if word not in names else spare(region, found[0].whole, f"{word}_{n}"))
    return names


def words(read: Read, region: Region) -> list[str]:
    """What a number could be called, the shortest first: by the key or parameter that it is for, else what is read."""
    held = region.parent(read.whole)
    key: cst.BaseExpression | None = None
    match held:
        case cst.Arg(keyword=cst.Name(value=name)):
            return [name]
        case cst.DictElement(key=key):
            pass
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)]):
            key = subscript(target)
    if isinstance(key, cst.SimpleString):
        parts = str(key.evaluated_value).lower().split("/")
        return ["_".join(parts[n:]) for n in range(len(parts) - 1, -1, -1)]
    word = label(read.tensor)
    return [f"{word}_value" if isinstance(read.tensor, cst.Name | cst.Attribute) and word else word]


def _short(word: str) -> str:
    """The last parts of a word that is too long."""
    while len(word) > LONGEST and "_" in word:
        word = word.partition("_")[2]
    return word if len(word) <= LONGEST else ""


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
