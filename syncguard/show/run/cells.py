"""The rows of a record -> the table of the page: its columns, and each row as cells with their text, order and bar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syncguard.record import Record
from syncguard.show.look import printable
from syncguard.show.run.rows import GROUPS, Row, brief, entrances, milliseconds, number, ranks, span

TONES = {
    "host-bound": "bad", "true-dependency": "fair", "gpu-bound": "calm",
    "confirmed": "bad", "missed alarm": "odd", "false alarm": "calm", "untested": "calm",
    "depends on sizes": "calm", "depends on layout": "calm",
}  # fmt: skip


def columns(found: tuple[Row, ...], record: Record, timed: bool) -> list[dict[str, Any]]:
    """The columns in which something stands."""
    every = [
        ("line", "line", "line", True),
        ("bubble", "bubble", "cost", any(row.bubble is not None for row in found)),
        ("wait", "wait", "cost", any(row.waited is not None for row in found)),
        ("often", "a step" if record.steps.counted else "times", "number" if timed else "cost", True),
        ("rule", "rule", "code", True),
        ("verdict", "verdict", "word", any(row.wait.verdict for row in found)),
        ("check", "check", "word", any(row.wait.static for row in found)),
        ("ranks", "ranks", "plain", record.world > 1 and any(row.wait.ranks for row in found)),
        ("when", "when", "plain", len({row.group for row in found}) > 1),
    ]
    return [{"key": key, "title": title, "kind": kind} for key, title, kind, there in every if there]


def leading(heads: list[dict[str, Any]]) -> int:
    return next(n for key in ("bubble", "wait", "often") for n, c in enumerate(heads) if c["key"] == key)


def line(row: Row, scales: Mapping[str, float], heads: list[dict[str, Any]], record: Record) -> dict[str, Any]:
    """A row of the table."""
    wait, place = row.wait, row.place
    often = number(row.often) if row.moment in ("step", "run") else f"{wait.count:,} in all"
    texts = {
        "line": (brief(place), f"{place.path}:{place.line:09}"),
        "bubble": (time_of(row.bubble), row.bubble),
        "wait": (time_of(row.waited), row.waited),
        "often": (often, row.often if row.moment in ("step", "run") else wait.count * 1e-9),
        "rule": (wait.code or "none", wait.code),
        "verdict": (wait.verdict, wait.verdict),
        "check": (wait.static.replace("-", " "), wait.static),
        "ranks": (ranks(wait, record.world), ranks(wait, record.world)),
        "when": (when_of(row), row.group),
    }
    values = {"bubble": row.bubble, "wait": row.waited, "often": row.often}
    cells = []
    for column in heads:
        text, sort = texts[column["key"]]
        bar = 0.0
        if column["kind"] == "cost" and row.group in ("step", "run"):
            most = scales[column["key"]]
            bar = round(100 * (values[column["key"]] or 0.0) / most, 1) if most else 0.0
        tone = TONES.get(text, "")
        sort = "" if sort is None else sort
        cells.append(
            {"key": column["key"], "kind": column["kind"], "text": text, "sort": sort, "bar": bar, "tone": tone}
        )
    source = printable(span(place)) if place.source else wait.op
    return {"number": row.number, "group": row.group, "cells": cells, "source": source, "aside": aside(row)}


def when_of(row: Row) -> str:
    return row.wait.allowed or (GROUPS[row.group].lower() if row.group in ("first", "setup") else "")


def aside(row: Row) -> str:
    led = f"from {printable(entrances(row.wait))}" if row.wait.entrances else ""
    return ", ".join(text for text in ("in backward" if row.wait.phase == "backward" else "", led) if text)


def scales_of(found: tuple[Row, ...]) -> dict[str, float]:
    """The longest bar of each column; bubbles and waits share a scale, so that they can be compared."""
    often = [row for row in found if row.group in ("step", "run")]
    longest = max((max(row.bubble or 0.0, row.waited or 0.0) for row in often), default=0.0)
    return {"bubble": longest, "wait": longest, "often": max((row.often for row in often), default=0.0)}


def time_of(value: float | None) -> str:
    return milliseconds(value).replace("us", "µs")
