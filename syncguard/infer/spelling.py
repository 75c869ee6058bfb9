"""The name of an attribute as it is made up in, `kind + "_seen"`, the texts that it begins and ends with out."""

from __future__ import annotations

import re
from typing import Final

from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import CONST, DO

ANYTHING: Final = "*"  # what stands for the rest: no name of an attribute has one
FIELD: Final = re.compile(
    r"%\(\w+\)[sd]|%[sdi]|\{[^{}]*\}"
)  # what `"%s_seen" % kind` and `"{}_seen".format(kind)` fill
LEAST: Final = 3  # letters that tell a name from any other


def spelled(node: Node) -> str:
    """Such a name with `*` for what is put in; a name that is written out as it is, and '' of one that may be any."""
    texts = _texts(node)
    if texts is None:
        return ""
    begins, ends = texts
    if begins == ends and (type(node) is CONST or (type(node) is DO and node.what == "join" and len(node.args) == 1)):
        return begins
    return f"{begins}{ANYTHING}{ends}" if len(begins) + len(ends) >= LEAST else ""


def is_made_up(name: str) -> bool:
    """Whether such a name stands for several."""
    return ANYTHING in name


def fits(made: str, name: str) -> bool:
    """Whether a name may be what a made-up name comes to, or another made-up one."""
    begins, _, ends = made.partition(ANYTHING)
    if not is_made_up(name):
        return len(name) >= len(begins) + len(ends) and name.startswith(begins) and name.endswith(ends)
    first, _, last = name.partition(ANYTHING)
    starts = begins.startswith(first) or first.startswith(begins)
    return starts and (ends.endswith(last) or last.endswith(ends))


def _texts(node: Node) -> tuple[str, str] | None:
    """What a text begins and ends with, as far as it is written; None of what is no text."""
    match node:
        case core.Const(value=str() as text):
            return text, text
        case core.Do(what="+", args=(left, right)):
            return _begin(left), _end(right)
        case core.Do(what="join", args=(only,)):
            return _texts(only)
        case core.Do(what="join", args=parts) if parts:
            return _begin(parts[0]), _end(parts[-1])
        case core.Do(what="%", args=(core.Const(value=str() as text), _)):
            return _around(text)
        case core.Call(fn=core.Attr(of=core.Const(value=str() as text), name="format")):
            return _around(text)
    return None


def _begin(node: Node) -> str:
    texts = _texts(node)
    return texts[0] if texts is not None else ""


def _end(node: Node) -> str:
    texts = _texts(node)
    return texts[1] if texts is not None else ""


def _around(text: str) -> tuple[str, str] | None:
    """What stands before the first field of a text, and behind the last one."""
    fields = [*FIELD.finditer(text)]
    return (text[: fields[0].start()], text[fields[-1].end() :]) if fields else None
