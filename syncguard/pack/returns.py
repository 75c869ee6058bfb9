"""A `returns` expression -> Result: what a call gives back, in the words of the op rows."""

from __future__ import annotations

import re

import msgspec

CONDITIONS = frozenset(
    "missing none some mean given alone tensor number data host true false not_false mask zero_dim integers slice_bound"
    " host_index to_host to_device pinned pageable zero_dim_target dense surely_dense evaluating built"
    " data_or_unknown listed mask_beside single of_host host_values device_values host_number proven"
    " zero_dim_mask host_mask many long compared singular sparse by_columns not_bfloat16 negative uncoalesced"
    " by_rows oblong large no_range".split()
)
DEPENDS = {  # conditions that no reader of the source knows of, and what they ask for
    **dict.fromkeys("many long oblong large".split(), "sizes"),
    **dict.fromkeys("sparse by_columns by_rows".split(), "layout"),
}
KINDS = frozenset(
    "tensor int float bool str number none size device dtype type array self argument each brought unknown new"
    " module".split()
)
FLAGS = {
    **dict.fromkeys("bool int float complex promote count".split(), "dtype"),
    **dict.fromkeys("0d 1d 2d reduce drop more broadcast samerank nested written".split(), "rank"),
    **dict.fromkeys("host pinned device factory like kwarg together".split(), "place"),
}
PLACED = ("tensor", "new", "unknown", "self", "brought", "device")
Conditions = tuple[tuple[str, str], ...]


class Result(msgspec.Struct, frozen=True):
    """A kind, the flags of a tensor, the class of an instance, and the named or numbered parts of a container."""

    kind: str
    dtype: str = ""
    rank: str = ""
    place: str = ""
    parts: tuple[tuple[str, Result], ...] = ()
    of: str = ""


def depends_on(when: Conditions) -> str:
    """What only a run knows of some conditions: sizes, or the layout; "" where the source may tell."""
    return next((DEPENDS[condition] for condition, _ in when if condition in DEPENDS), "")


def results(text: str) -> tuple[tuple[Conditions, Result], ...]:
    """The alternatives, of which the first whose conditions hold applies; the last has none. ValueError: what is wrong.

    One alternative: tensor [bool|int|float|complex|promote|count]
    [0d|1d|2d|reduce|drop|more|broadcast|samerank|nested|written] [host|pinned|device|factory|like|kwarg]
    · int float bool str number none size device dtype type array self each brought unknown module
    · new [host|device|factory] [class] (an instance of that class, else of the one of the row's name; factory: its
    tensors are made of the arguments)
    · unknown host, unknown device: nobody knows what, but every tensor in it is there; unknown like: where the first
    argument is
    · argument input: what is given under that name
    · self host, self kwarg: the first argument, moved to the host, or to where device= says
    · tuple(a, b) · list(a) · named(values=a) · dict(params=a), which may hold more
    · dict(*=a), of any keys
    promote: the common dtype of all arguments, Python numbers included
    type: the name of the first tensor's type, which says its place and dtype
    count: the first tensor's dtype, but int for a bool
    each: a list of the tensors that are given, of any shape
    brought: what is given, one or several; a loader in it brings its batches to the device itself
    brought host: the same, with a loader that does not
    device host: the CPU
    samerank, drop, more: as many dimensions as the first tensor, one less, one more
    reduce, drop: less by those that dim= names, which keepdim= keeps; without dim= all of them, or one
    broadcast: as many dimensions as the tensor that has most
    nested: as many as the list of data= has lists in lists
    written: as many as the text of equation= names behind its arrow
    Several: `int if given dim; size`, `list(tensor int 1d) if alone condition; tensor promote`.
    """
    found: list[tuple[Conditions, Result]] = []
    for alternative in text.split(";"):
        shape, _, test = alternative.partition(" if ")
        tokens = re.findall(r"[\w.]+|\S", shape)
        parsed = _expression(tokens)
        if tokens:
            raise ValueError(f"unexpected `{tokens[0]}` in `{text}`")
        found.append((tuple(_condition(part) for part in test.split(",")) if test else (), parsed))
    if found[-1][0] or any(not conditions for conditions, _ in found[:-1]):
        raise ValueError("the last result alone has no conditions")
    return tuple(found)


def _condition(text: str) -> tuple[str, str]:
    name, _, args = text.strip().partition(" ")
    if name not in CONDITIONS or not args:
        raise ValueError(f"unknown condition `{text.strip()}`")
    return name, args


def _expression(tokens: list[str]) -> Result:
    """Take one expression off the tokens."""
    kind = tokens.pop(0) if tokens else ""
    if kind in ("tuple", "list", "named", "dict"):
        return Result(kind, parts=_parts(kind, tokens))
    if kind not in KINDS:
        raise ValueError(f"unknown result `{kind}`")
    flags: dict[str, str] = {}
    of = ""
    while kind in PLACED and tokens and tokens[0] in FLAGS:
        group = FLAGS[tokens[0]]
        if kind == "new" and group != "place":
            raise ValueError(f"an instance is not `{tokens[0]}`")
        if kind == "unknown" and tokens[0] not in ("host", "device", "like"):
            raise ValueError(f"what is unknown may be on the host or the device, not `{tokens[0]}`")
        if kind in ("brought", "device") and tokens[0] != "host":
            raise ValueError(f"`{kind}` may be on the host, not `{tokens[0]}`")
        if kind == "self" and tokens[0] not in ("host", "device", "kwarg"):
            raise ValueError(f"what is given back may be moved, not `{tokens[0]}`")
        if group in flags:
            raise ValueError(f"`{tokens[0]}` contradicts `{flags[group]}`")
        flags[group] = tokens.pop(0)
    if tokens and ((kind == "new" and "." in tokens[0]) or (kind == "argument" and tokens[0].isidentifier())):
        of = tokens.pop(0)
    return Result(kind, flags.get("dtype", ""), flags.get("rank", ""), flags.get("place", ""), of=of)


def _parts(kind: str, tokens: list[str]) -> tuple[tuple[str, Result], ...]:
    parts: list[tuple[str, Result]] = []
    separator = "("
    while separator != ")":
        if tokens[:1] != [separator]:
            raise ValueError(f"`{separator}` expected in {kind}(...)")
        tokens.pop(0)
        name = ""
        if kind in ("named", "dict"):
            name, equals = (tokens.pop(0), tokens.pop(0)) if len(tokens) > 1 else ("", "")
            if equals != "=" or not (name.isidentifier() or (kind == "dict" and name == "*")):
                raise ValueError(f"{kind}(...) takes name=result")
        parts.append((name, _expression(tokens)))
        separator = ")" if tokens[:1] == [")"] else ","
    tokens.pop(0)
    if kind == "list" and len(parts) != 1:
        raise ValueError("list(...) takes one result")
    return tuple(parts)
