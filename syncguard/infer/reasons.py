"""What a function gave one caller in, and what two callers passed; the same with the reasons of the other one out."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.values import LINKS, Host, Seq, Table, Tensor, Union, Unknown, Value, Why

Swaps = dict[int, Why]  # by the identity of the first caller's reason, the other's


def retold(value: Value, first: dict[str, Value], now: dict[str, Value]) -> Value:
    """The value as it would be for who calls now; both callers passed what the function cannot tell apart."""
    swaps: Swaps = {}
    for name, passed in first.items():
        other = now.get(name)
        if other is not None and other is not passed:
            for old, new in _pairs(passed, other):
                if old is not new:
                    swaps[id(old)] = new
    return _retold(value, swaps) if swaps else value


def _pairs(a: Value, b: Value) -> Iterator[tuple[Why, Why]]:
    """The reasons that stand at one place in two values of one shape."""
    if type(a) is not type(b) or a is b:
        return
    old, new = _reason(a), _reason(b)
    if old is not None and new is not None:
        yield old, new
        return
    for left, right in zip(_parts(a), _parts(b), strict=False):
        yield from _pairs(left, right)


def _reason(value: Value) -> Why | None:
    match value:
        case Tensor():
            return value.why
        case Unknown():
            return value.weak or value.batch
        case Host():
            return value.read
    return None


def _parts(value: Value) -> tuple[Value, ...]:
    match value:
        case Seq():
            return value.items if value.items is not None else (value.element,)
        case Table():
            return (value.element, *value.items.values())
        case Union():
            return value.options
    return ()


def _retold(value: Value, swaps: Swaps) -> Value:
    match value:
        case Tensor():
            why = _swapped(value.why, swaps)
            return value if why is value.why else value.but(why=why)
        case Unknown():
            weak, batch = _swapped(value.weak, swaps), _swapped(value.batch, swaps)
            return value if weak is value.weak and batch is value.batch else Unknown(weak, batch, value.part)
        case Host():
            read = _swapped(value.read, swaps)
            return value if read is value.read else Host(value.kind, read)
        case Seq() if value.items is not None:
            items = tuple([_retold(item, swaps) for item in value.items])
            alike = all(map(_is, items, value.items))
            return value if alike else Seq(value.kind, items, names=value.names)
        case Seq():
            element = _retold(value.element, swaps)
            return value if element is value.element else Seq(value.kind, None, element, value.names)
        case Table():
            element = _retold(value.element, swaps)
            held = {key: _retold(item, swaps) for key, item in value.items.items()}
            alike = element is value.element and all(map(_is, held.values(), value.items.values()))
            return value if alike else Table(held, element, value.keys)
        case Union():
            options = tuple([_retold(option, swaps) for option in value.options])
            return value if all(map(_is, options, value.options)) else Union(options, value.wide)
    return value


def _is(a: Value, b: Value) -> bool:
    return a is b


def _swapped(why: Why | None, swaps: Swaps) -> Why | None:
    """A chain with the end that leads on to the first caller led on to the other."""
    links: list[Why] = []
    link = why
    while link is not None and len(links) < LINKS:
        found = swaps.get(id(link))
        if found is not None:
            for kept in reversed(links):
                left = kept.left
                found = Why(kept.text, kept.at, found, kept.path)
                found.left = left
            return found
        links.append(link)
        link = link.parent
    return why
