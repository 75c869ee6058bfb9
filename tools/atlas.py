"""evidence/ and rules/ops -> rules/measured.json, docs/atlas.html and a list of docs/unseen-on-a-device.md.

`--check`: only say what is stale.
"""

from __future__ import annotations

import html
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from marked import between

from syncguard import pack
from syncguard.pack.rows import STATES, state
from syncguard.show.explain import later, when
from syncguard.terms import SETUP, Op, Wait

ROOT = Path(__file__).parent.parent
DRY = "dry run"
ROWS = ("doctor", "questions")  # the parts whose calls are calls of rows
UNSEEN = ROOT / "docs" / "unseen-on-a-device.md"
PAGE = (Path(__file__).parent / "atlas.html").read_text("utf-8")


def main() -> int:
    """Write what is stale, or say it."""
    check = "--check" in sys.argv
    stale = []
    for path, made in (
        (ROOT / "rules" / "measured.json", measured_text),
        (ROOT / "docs" / "atlas.html", atlas),
        (UNSEEN, unseen),
    ):
        text = made()
        if not path.is_file() or path.read_text("utf-8") != text:
            stale.append(path)
            if not check:
                path.write_text(text, "utf-8")
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'stale; run `make docs`' if check else 'written'}")
    return 1 if stale and check else 0


def measured_text() -> str:
    """rules/measured.json: a line for each row and each device on which calls of it were made."""
    lines = [f"{json.dumps(row)}: {json.dumps(found)}" for row, found in sorted(measured(ROOT / "evidence").items())]
    return "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"


def measured(folder: Path) -> dict[str, list[dict[str, str]]]:
    """What every evidence file says of every row, the newest first; of a dry run nothing."""
    found: dict[str, list[dict[str, str]]] = {}
    rules = pack.load()
    for path in sorted(folder.glob("*-torch*.json")):
        evidence = json.loads(path.read_text("utf-8"))
        machine = evidence["machine"]
        if machine["device"] == DRY:
            continue
        made = [call for part in ROWS for call in evidence["parts"].get(part, {"results": []})["results"]]
        for row, calls in _by_row(made).items():
            waited = sum(call["found"]["waited"] for call in calls)
            against = sum(call["said"] is not None and call["said"] != call["found"]["waited"] for call in calls)
            note = f"waited in {waited} of {len(calls)} calls" + (f", {against} against the row" if against else "")
            line = {key: machine[key] for key in ("device", "torch", "date")}
            if not waited and row in rules.ops and any(real(wait, rules) for wait in rules.ops[row].waits):
                line["state"] = "tried"  # no call was one that waits
            found.setdefault(row, []).append({**line, "at": f"evidence/{path.name}", "note": note})
    return {row: sorted(lines, key=lambda line: line["date"], reverse=True) for row, lines in found.items()}


def real(wait: Wait, rules: pack.Pack) -> bool:
    """Whether a call waits, and not only that something else would be better."""
    return wait.hazard == SETUP or rules.by_hazard(wait.hazard).level != "advice"


def _by_row(results: list[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for call in results:
        if call.get("found", {}).get("waited") is not None:
            found.setdefault(call["row"], []).append(call)
    return found


def atlas() -> str:
    """docs/atlas.html."""
    rules = pack.load()
    names: dict[str, list[str]] = {}
    for name in rules.ops:
        names.setdefault(rules.row_of(name), []).append(name)
    ops = {name: rules.ops[name] for name in sorted(names, key=str.lower)}
    counts = {one: sum(state(op.evidence) == one for op in ops.values()) for one in STATES}
    said = "How: " + ", ".join(f"{count} {one}" for one, count in counts.items() if count) + "."
    devices = sorted(
        {f"{e['device']}, torch {e['torch']}" for op in ops.values() for e in op.evidence if "device" in e}
    )
    where = f"Measured on {'; '.join(devices)}." if devices else "No device has been measured yet."
    rows = [row_of(op, [n for n in names[name] if n != name], rules) for name, op in ops.items()]
    return PAGE.format(count=len(ops), states=said, measured=where, rows="\n".join(rows))


def row_of(op: Op, others: list[str], rules: pack.Pack) -> str:
    """A row of the page."""
    named = ", ".join(f'<span id="{html.escape(name)}">{html.escape(name)}</span>' for name in sorted(others))
    also = f"<br><small>{named}</small>" if others else ""
    ways = [f"{when(wait, op)}{f': {wait.how}' if wait.how else ''}" for wait in op.waits if real(wait, rules)]
    ways += [f"in backward {later(wait, op)}" for wait in op.backward]
    ways += [f"advice, not a wait: {when(wait, op)}" for wait in op.waits if not real(wait, rules)]
    told = "<br>".join(map(_code, ways if any(real(wait, rules) for wait in op.waits) else ["never", *ways]))
    versions = [f"since torch {op.since}" if op.since else "", f"until torch {op.until}" if op.until else ""]
    versions_text = ", ".join(text for text in versions if text)
    codes = sorted({rule.code for rule in rules.judged(op).values()})
    known = state(op.evidence)
    proof = "; ".join(_proof(item) for item in op.evidence if item["state"] in (known, "tried"))
    caveat = f"<br><small>{_code(op.caveat)}</small>" if op.caveat else ""
    how = f"<br><small>{_code(op.mechanism)}</small>" if op.mechanism else ""
    name = html.escape(op.name)
    cells = {
        "waits": told + (f"<br><small>{versions_text}</small>" if versions_text else "") + how,
        "rule": "<br>".join(codes),
        "known": f'<span class="{known}">{known}</span><br><small>{html.escape(proof)}</small>',
        "instead": f"{_code(op.alternative)}{caveat}",
    }
    rest = "".join(f'<td data-label="{label}">{cell}</td>' if cell else "<td></td>" for label, cell in cells.items())
    return f'<tr id="{name}"><th scope="row"><a href="#{name}"><code>{name}</code></a>{also}</th>{rest}</tr>'


def unseen() -> str:
    """docs/unseen-on-a-device.md with its list of rows: how many were never measured, and those that few can try."""
    rules = pack.load()
    ops = {rules.row_of(name): rules.ops[rules.row_of(name)] for name in rules.ops}
    never = sum(state(op.evidence) != "measured" for op in ops.values())
    tried = sum(any(item["state"] == "tried" for item in op.evidence) for op in ops.values())
    reasons: dict[str, list[str]] = {}
    for name, op in sorted(ops.items(), key=lambda item: item[0].lower()):
        if op.untried and state(op.evidence) != "measured":
            reasons.setdefault(op.untried, []).append(name)
    count = sum(map(len, reasons.values()))
    lines = [
        f"{never} of {len(ops)} rows have been measured on no device, {tried} of them although calls were made on one:",
        "none of these waited. `syncguard doctor` makes calls of",
        f"{len(ops) - count} anywhere; {count} it cannot try on the machine that tests SyncGuard:",
        "", "| why | rows |", "|---|---|",
        *(f"| {why} | {', '.join(f'`{name}`' for name in names)} |" for why, names in sorted(reasons.items())),
    ]  # fmt: skip
    told = "\n".join(lines)
    return between(UNSEEN.read_text("utf-8"), "rows", f"{told}\n")


def _proof(item: Mapping[str, Any]) -> str:
    if item["state"] in ("measured", "tried"):
        return f"{item['device']}, torch {item['torch']}, {item['date']}: {item.get('note', '')}".rstrip(": ")
    return f"torch {item['torch']}: {item['at']}" if item.get("torch") else str(item["at"])


def _code(text: str) -> str:
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    for n, piece in enumerate(html.escape(text, quote=False).split("`")):
        yield f"<code>{piece}</code>" if n % 2 else piece


if __name__ == "__main__":
    sys.exit(main())
