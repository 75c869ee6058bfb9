"""Findings that were read by hand: what is kept of them, and what the page says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from syncguard import pack

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
KEPT = sorted((ROOT / "evidence" / "readings").glob("*.json"))
WHOLE = {"package", "version", "path", "line", "code", "heat", "confidence", "verdict", "why"}


def finding(verdict: str, heat: str = "hot", code: str = "SG101", line: int = 1) -> dict[str, Any]:
    place = {"package": "nets", "version": "1.0", "path": "nets/loss.py", "line": line}
    return {**place, "code": code, "heat": heat, "confidence": "likely", "verdict": verdict, "why": "`a*b` of *two*."}


def page(folder: Path, *readings: tuple[str, list[dict[str, Any]]]) -> str:
    import readings_page

    (folder / "readings").mkdir()
    (folder / readings_page.PAGE).write_text("Before.\n<!-- read -->\nold\n<!-- /read -->\nAfter.\n")
    for name, found in readings:
        kept = {"title": name, "date": "2026-01-02", "version": "0.1.0", "drawn": "By chance.", "findings": found}
        (folder / "readings" / f"{name}.json").write_text(json.dumps(kept))
    return readings_page.pages(folder, folder)[folder / readings_page.PAGE]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_each_verdict_is_whole(path):
    kept = json.loads(path.read_text("utf-8"))
    codes = {rule.code for rule in pack.load(()).rules}
    assert kept.keys() == {"title", "date", "version", "drawn", "findings"}
    assert path.name.startswith(kept["date"])
    for one in kept["findings"]:
        assert one.keys() == WHOLE
        assert one["code"] in codes
        assert one["verdict"] in ("right", "borderline", "wrong")
        assert one["heat"] in ("hot", "unknown")
        assert one["why"].strip()
        assert not Path(one["path"]).is_absolute()
    places = [(one["package"], one["path"], one["line"], one["code"]) for one in kept["findings"]]
    assert places == sorted(places)


def test_a_reading_is_counted_by_heat_and_by_rule(tmp_path):
    found = [finding("right"), finding("right", "unknown", "SG201"), finding("wrong", "unknown", "SG201", 7)]
    text = page(tmp_path, ("first", [*found, finding("borderline", line=9)]))
    assert text.startswith("Before.\n<!-- read -->\n")
    assert text.endswith("<!-- /read -->\nAfter.\n")
    assert "old" not in text
    assert "**2 of 4 are right, 1 wrong, 1 borderline.**" in text
    assert "| hot | 1 | 1 | 0 | 50 % |" in text
    assert "| of unknown heat | 1 | 0 | 1 | 50 % |" in text
    assert "| SG2xx | 1 | 0 | 1 | 50 % |" in text
    assert "| all | 2 | 1 | 1 | 50 % |" in text
    assert "- nets 1.0, `nets/loss.py:7`, SG201: `a*b` of \\*two\\*." in text
    assert "`nets/loss.py:1`" not in text


def test_the_newest_readings_come_first_and_only_they_are_listed(tmp_path):
    text = page(tmp_path, *((name, [finding("wrong", line=n)]) for n, name in enumerate("abcd", 1)))
    assert text.index("## d") < text.index("## c") < text.index("## b") < text.index("## a")
    assert [f"loss.py:{n}" in text for n in (4, 3, 2, 1)] == [True, True, True, False]


def test_nothing_read_is_said(tmp_path):
    assert "Nothing has been read yet." in page(tmp_path)
