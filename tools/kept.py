"""The sums of what other people's programs do on the simulated device <-> docs/suites.json."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any

KEPT = Path(__file__).resolve().parents[1] / "docs" / "suites.json"


def keep(name: str, versions: dict[str, str], command: str, parts: dict[str, Any], file: Path = KEPT) -> None:
    """Put the sums of a package's parts in the place of those that were there."""
    kept = json.loads(file.read_text()) if file.exists() else {}
    before = kept.get(name, {}).get("parts", {})
    kept[name] = {
        **versions,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": machine(),
        "command": command,
        "parts": dict(sorted({**before, **parts}.items())),
    }
    file.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


def machine() -> str:
    """What kind of machine this is."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} cores"
