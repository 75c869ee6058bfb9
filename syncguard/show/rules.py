"""The rules as a table for people, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from syncguard.show.look import Look
from syncguard.terms import Rule


def table(rules: Iterable[Rule], look: Look) -> Iterator[str]:
    """A line for each rule: code, name, level, what it breaks, the recipe that rewrites it."""
    rows = [("CODE", "NAME", "LEVEL", "BREAKS", "FIX"), *map(_row, rules)]
    wide = [max(len(row[n]) for row in rows) for n in range(5)]
    for n, row in enumerate(rows):
        cells = [f"{text:<{width}}" for text, width in zip(row, wide)]
        style = "dim" if n == 0 else "head"
        yield "  ".join([look.paint(style, cells[0]), *cells[1:]]).rstrip()


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
        }
        for rule in rules
    ]
    return json.dumps(rows, indent=2)


def _row(rule: Rule) -> tuple[str, str, str, str, str]:
    level = rule.level if rule.default else f"{rule.level}, off"
    return rule.code, rule.name, level, ", ".join(rule.breaks), ", ".join(rule.fix)
