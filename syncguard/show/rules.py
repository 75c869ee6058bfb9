"""The rules as a table for people, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from syncguard.show.look import Look, wrapped
from syncguard.terms import Rule

NARROWEST = 20  # columns that the last one keeps


def table(rules: Iterable[Rule], look: Look) -> Iterator[str]:
    """A line for each rule: code, name, level, what it breaks, the recipes that rewrite it, which may take more."""
    rows = [("CODE", "NAME", "LEVEL", "BREAKS", "FIX"), *map(_row, rules)]
    wide = [max(len(row[n]) for row in rows) for n in range(4)]
    margin = sum(wide) + 2 * len(wide)
    for n, row in enumerate(rows):
        cells = [f"{text:<{width}}" for text, width in zip(row, wide)]
        style = "dim" if n == 0 else "head"
        first, *more = wrapped(row[4], max(look.width - margin, NARROWEST)) if row[4] else [""]
        yield "  ".join([look.paint(style, cells[0]), *cells[1:], first]).rstrip()
        yield from (" " * margin + line for line in more)


def as_json(rules: Iterable[Rule]) -> str:
    """A list of objects."""
    rows = [
        {
            "code": rule.code,
            "name": rule.name,
            "level": rule.level,
            "default": rule.default,
            "hazards": list(rule.hazards),
            "breaks": list(rule.breaks),
            "fix": list(rule.fix),
            "message": rule.message,
            "hint": rule.hint,
            "hints": dict(rule.hints),
        }
        for rule in rules
    ]
    return json.dumps(rows, indent=2)


def _row(rule: Rule) -> tuple[str, str, str, str, str]:
    level = rule.level if rule.default else f"{rule.level}, off"
    return rule.code, rule.name, level, ", ".join(rule.breaks), ", ".join(rule.fix)
