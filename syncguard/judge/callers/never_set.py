"""A finding behind options of an object in, out as one of what runs seldom where nothing that makes such an object sets
them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from syncguard.judge.around.called import Function, Where, innermost, last_part
from syncguard.judge.callers.entries import SEEN, THERE, bare
from syncguard.judge.callers.made import Namers, class_of
from syncguard.judge.options.built import MADE
from syncguard.judge.options.making import ANYWHERE
from syncguard.judge.options.opted import BY_DEFAULT, NAMED, ONLY, SEEN_MADE
from syncguard.terms import Fact, Finding

OPTION: Final = re.compile(r"`([^`]+)` is ")
OWN: Final = "self."

Left = Mapping[Where, frozenset[str]]


def left_by_makers(named: Namers) -> dict[Where, frozenset[str]]:
    """The arguments that all who make objects of a class leave at their defaults."""
    every = {where: [frozenset(one.left) for _, one in makers] for where, makers in named.items()}
    found = {where: frozenset.intersection(*left) for where, left in every.items() if all(left)}
    return {where: left for where, left in found.items() if left and (ANYWHERE, where[1]) not in named}


def unless_made_so(
    finding: Finding,
    files: Mapping[str, tuple[Function, ...]],
    left: Left,
    for_others: Callable[[Where], bool],
    set_outside: Callable[[Where, str], bool],
) -> Finding:
    """The finding, as often as it was said to run unless it needs what no object is made with, nor given by another
    file, of a class that is there for nobody else."""
    if finding.heat not in ("hot", "unknown"):
        return finding
    own = class_of((finding.site.path, finding.function))
    for fact in finding.options:
        where, within = around(fact, finding, files)
        names = _asked(fact, within) if where in left else []
        if fact.text.startswith((MADE, SEEN_MADE)) and (not own[1] or for_others(own)):
            continue  # who has the class may make it as they please
        if not names or not all(name in left[where] for name in names) or for_others(where):
            continue
        if not any(set_outside(where, name) for name in names):
            told = f"but nothing that makes `{where[1]}` sets `{names[0]}`"
            return replace(finding, heat="amortized", hot_path=(*finding.hot_path, Fact(told, 0)))
    return finding


def around(fact: Fact, finding: Finding, files: Mapping[str, tuple[Function, ...]]) -> tuple[Where, str]:
    """The class in which an option is asked for, and the method."""
    path = fact.path or finding.site.path
    function = innermost(files.get(path, ()), fact.line)
    return (class_of((path, function.name)), last_part(function.name)) if function is not None else (("", ""), "")


def _asked(fact: Fact, within: str) -> list[str]:
    """The arguments of the constructor that an option hangs on; none where it hangs on something else."""
    text = bare(fact).removeprefix(MADE).removeprefix(SEEN_MADE).removeprefix(NAMED)
    test, by_default, default = text.partition(BY_DEFAULT)
    names = OPTION.findall(default)
    own = [name.startswith(OWN) or (within == "__init__" and name.isidentifier()) for name in names]
    if not (by_default and test.startswith(ONLY) and all(own)):
        return []
    if fact.text.startswith((SEEN, THERE)) and not all(name in test for name in names):
        return []  # who calls it has these
    return [name.removeprefix(OWN).lstrip("_") for name in names]
