"""What a function gave one caller in, and what two callers passed; the same with the reasons of the other one out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from syncguard.infer.domain.values import LINKS, Host, Seq, Table, Tensor, Union, Unknown, Value, Why

Swaps = dict[int, Why]  # by the identity of the first caller's reason, the other's
Change = Callable[[Why | None], Why | None]


def retold(value: Value, first: dict[str, Value], now: dict[str, Value]) -> Value:
    """The value as it would be for who calls now; both callers passed what the function cannot tell apart."""
    swaps = swaps_of(first, now)
    return _changed(value, lambda why: swapped(why, swaps)) if swaps else value


def apart(given: dict[str, Value]) -> dict[str, Value]:
    """What a call passes, no two things for one and the same reason: then what comes of each can be told apart."""
    seen: set[int] = set()

    def own(why: Why | None) -> Why | None:
        if why is None or id(why) not in seen:
            seen.add(id(why))
            return why
        return _copied(why)

    return {name: _changed(value, own) for name, value in given.items()}


def anew(value: Value) -> Value:
    """The same of another call: what waits for the one has not waited for the other."""
    return _changed(value, lambda why: None if why is None else _copied(why))


def _copied(why: Why) -> Why:
    found = Why(why.text, why.at, why.parent, why.path)
    found.left, found.put, found.built = why.left, why.put, why.built
    return found


def because_of(value: Value, why: Why) -> Value:
    """The value for this reason, whatever the ones were for which it is known."""
    return _changed(value, lambda known: None if known is None else why)


def swaps_of(first: dict[str, Value], now: dict[str, Value]) -> Swaps:
    """The reasons of what one caller passed, and in their place those of what another one does."""
    swaps: Swaps = {}
    for name, passed in first.items():
        other = now.get(name)
        if other is not None and other is not passed:
            for old, new in _pairs(passed, other):
                if old is not new:
                    swaps[id(old)] = new
    return swaps


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


def _changed(value: Value, change: Change) -> Value:
    """A value with other reasons; itself where none of them is another one."""
    match value:
        case Tensor():
            why = change(value.why)
            return value if why is value.why else value.but(why=why)
        case Unknown():
            weak, batch = change(value.weak), change(value.batch)
            return value if weak is value.weak and batch is value.batch else Unknown(weak, batch, value.part)
        case Host():
            read = change(value.read)
            return value if read is value.read else Host(value.kind, read, value.one_row)
        case Seq() if value.items is not None:
            items = tuple([_changed(item, change) for item in value.items])
            alike = all(map(_is, items, value.items))
            return value if alike else Seq(value.kind, items, names=value.names)
        case Seq():
            element, first = _changed(value.element, change), tuple([_changed(item, change) for item in value.first])
            alike = element is value.element and all(map(_is, first, value.first))
            return value if alike else Seq(value.kind, None, element, value.names, first)
        case Table():
            element = _changed(value.element, change)
            held = {key: _changed(item, change) for key, item in value.items.items()}
            alike = element is value.element and all(map(_is, held.values(), value.items.values()))
            return value if alike else Table(held, element, value.keys)
        case Union():
            options = tuple([_changed(option, change) for option in value.options])
            return value if all(map(_is, options, value.options)) else Union(options, value.wide)
    return value


def _is(a: Value, b: Value) -> bool:
    return a is b


def swapped(why: Why | None, swaps: Swaps) -> Why | None:
    """A chain with the end that leads on to the first caller led on to the other."""
    links: list[Why] = []
    link = why
    while link is not None and len(links) < LINKS:
        found = swaps.get(id(link))
        if found is not None:
            for kept in reversed(links):
                left, there = kept.left, kept.there
                found = Why(kept.text, kept.at, found, kept.path)
                found.left, found.there = left, there
            return found
        links.append(link)
        link = link.parent
    return why
