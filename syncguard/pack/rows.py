"""rules/ops/*.toml of one pack -> its rows as plain data; refuses what is incomplete."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from syncguard.pack.returns import CONDITIONS, results

ROW_KEYS = frozenset(
    "also args returns writes waits backward aten mechanism alternative caveat untried since until evidence".split()
)
WAIT_KEYS = frozenset("hazard when on of since until mode how".split())
TEXTS = ("returns", "aten", "mechanism", "alternative", "caveat", "untried")
EVIDENCE_KEYS = frozenset("state torch at note device date".split())
STATES, PLACES = ("measured", "source", "doc", "claimed", "tried"), ("argument", "self", "result", "factory", "always")
WRITTEN = re.compile(r"\w+( if \w+)?")
VERSION = re.compile(r"\d+\.\d+(\.\d+)?")


def read(folder: Path) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """The rows, the other names that they go by, and the file of each name. ValueError: what is wrong, and where."""
    import tomllib

    rows: dict[str, Any] = {}
    also: dict[str, str] = {}
    sites: dict[str, str] = {}
    for path in sorted((folder / "ops").glob("*.toml")):
        site = "/".join(path.parts[-3:])
        try:
            table = tomllib.loads(path.read_text("utf-8"))
        except ValueError as fault:
            raise ValueError(f"{site}: {fault}") from None
        for name, row in table.items():
            wrong = _fault(row)
            for spelling in (name, *(row.get("also", ()) if not wrong else ())):
                wrong = wrong or (f"`{spelling}` has a row already, in {sites[spelling]}" if spelling in sites else "")
                sites[spelling] = site
            if wrong:
                raise ValueError(f"{site}: [{name}] {wrong}")
            rows[name] = row
            also |= dict.fromkeys(row.get("also", ()), name)
    for name, lines in _measured(folder / "measured.json").items():
        if name in rows:  # a row that has gone was measured for nothing
            rows[name] = rows[name] | {"evidence": [*lines, *rows[name]["evidence"]]}
    return rows, also, sites


def state(evidence: Sequence[Mapping[str, Any]]) -> str:
    """The strongest state of some evidence: measured, source, doc, claimed; tried, where a device was only asked what
    does not wait."""
    return min((item["state"] for item in evidence), key=STATES.index, default="claimed")


def _measured(path: Path) -> dict[str, list[dict[str, Any]]]:
    """What tools/atlas.py took from evidence/: for each row the lines of the devices on which it was measured."""
    if not path.is_file():
        return {}
    try:
        table = json.loads(path.read_text("utf-8"))
        return {name: [{"state": "measured", **line} for line in lines] for name, lines in table.items()}
    except (ValueError, TypeError, AttributeError) as fault:
        raise ValueError(f"{path.name}: {fault}; write it again with tools/atlas.py") from None


def _fault(row: Any) -> str:
    """What is wrong with a row, in a few words."""
    if not isinstance(row, dict):
        return "is not a table; put the dotted name in quotes"
    checks = [f"unknown key `{key}`" for key in row if key not in ROW_KEYS]
    checks += [f"`{key}` is not a list of names" for key in ("also", "args", "writes") if not _names(row.get(key, []))]
    checks += [f"`{key}` is not a text" for key in TEXTS if not isinstance(row.get(key, ""), str)]
    evidence = row.get("evidence")
    if not evidence or not _tables(evidence):
        checks.append("no evidence")
    elif any(set(item) - EVIDENCE_KEYS or item.get("state") not in STATES or not item.get("at") for item in evidence):
        checks.append(f"evidence needs `at` and a state ({', '.join(STATES)})")
    if not checks and not all(map(WRITTEN.fullmatch, row.get("writes", ()))):
        checks.append("`writes` takes `argument` or `argument if option`")
    if not checks and "returns" in row:
        try:
            results(row["returns"])
        except ValueError as fault:
            checks.append(f"returns: {fault}")
    if not checks:
        for key in ("waits", "backward"):
            waits = row.get(key, [])
            checks += (
                [_wait_fault(wait, row.get("args", [])) for wait in waits]
                if _tables(waits)
                else [f"`{key}` is not a list of tables"]
            )
    return next((fault for fault in (*checks, _version_fault(row)) if fault), "")


def _wait_fault(wait: dict[str, Any], args: list[str]) -> str:
    checks = [f"unknown key `{key}` in waits" for key in wait if key not in WAIT_KEYS]
    checks += [] if isinstance(wait.get("hazard"), str) else ["a wait names no hazard"]
    checks += [] if wait.get("on", "argument") in PLACES else [f"unknown place `{wait['on']}`"]
    checks += [] if isinstance(wait.get("of", ""), str) else ["`of` is not the name of an argument"]
    checks += [] if isinstance(wait.get("how", ""), str) else ["`how` is not a text"]
    checks += [] if isinstance(wait.get("mode", True), bool) else ["`mode` is true or false"]
    known = {arg.lstrip("*") for arg in args}
    when = wait.get("when", {})
    for condition, names in when.items() if isinstance(when, dict) else [("", when)]:
        if condition not in CONDITIONS:
            checks.append(f"unknown condition `{condition or names}`")
        elif not all(isinstance(part, str) for part in every(names)):
            checks.append(f"condition `{condition}` takes argument names")
        else:  # of `self.fused` the argument is `self`
            heads = [(name, name.partition(".")[0]) for part in every(names) for name in part.split("|")]
            checks += [f"no argument `{name}` in args" for name, head in heads if head not in known]
    if not checks and wait.get("of"):
        checks = [f"no argument `{name}` in args" for name in wait["of"].split("|") if name not in known]
    return next((fault for fault in (*checks, _version_fault(wait)) if fault), "")


def every(names: Any) -> list[Any]:
    """The names that a condition is asked of: those of each part of a list."""
    return names if isinstance(names, list) else [names]


def _version_fault(table: dict[str, Any]) -> str:
    for key in ("since", "until"):
        if key in table and not (isinstance(table[key], str) and VERSION.fullmatch(table[key])):
            return f'`{key}` is not a version such as "2.6"'
    numbers = [tuple(map(int, table[key].split("."))) for key in ("since", "until") if table.get(key)]
    return "`since` is not before `until`" if len(numbers) == 2 and numbers[0] >= numbers[1] else ""


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
