"""The sentences of README that evidence makes."""

import json
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / "tools")]

import known  # noqa: E402

PAGE = "before\n<!-- known -->\nold\n<!-- /known -->\nafter\n"
MACHINE = {"device": "NVIDIA Z1", "torch": "2.11.0", "date": "2026-01-01"}


def page(folder: Path, parts: dict, machine: dict = MACHINE) -> str:
    results = {name: {"results": rows} for name, rows in parts.items()}
    (folder / "z1-torch2.11.0.json").write_text(json.dumps({"machine": machine, "parts": results}))
    return known.told(PAGE, folder)


def test_without_evidence_nothing_is_said(tmp_path):
    assert known.told(PAGE, tmp_path) == "before\n<!-- known -->\n<!-- /known -->\nafter\n"
    assert page(tmp_path, {}) == known.told(PAGE, tmp_path / "none")
    asked = [{"said": True, "found": {"waited": True}}]
    assert "calls" not in page(tmp_path, {"doctor": asked}, MACHINE | {"device": "dry run"})


@pytest.mark.parametrize(
    ("part", "rows", "said"),
    [
        (
            "doctor",
            [{"said": True, "found": {"waited": True}}, {"said": True, "found": {"waited": False}}],
            "the table of operations says of\n  1 what the clock found",
        ),
        (
            "doctor",
            [{"said": True, "found": {"waited": True}}, {"said": None, "found": {"waited": True}}],
            "of 1 calls that were made while",
        ),
        (
            "libraries",
            [{"said": 4, "lines": 3, "only_said": [0], "only_found": [0, 0]}, {"package": "p"}],
            "of 6 lines",
        ),
        (
            "libraries",
            [
                {"package": "p", "waited": 5, "named": 4, "unasked": 3, "shown": [3, 1]},
                {"package": "q", "waited": 1, "named": 1, "unasked": 0, "shown": [0, 0]},
            ],
            "3 of them in its default report; of 3 findings of that report at lines that ran,\n  2",
        ),
        (
            "fixes",
            [{"before_held_ms": 6, "after_held_ms": 2, "equal": True}, {"fault": "no"}],
            "tenth, 0 for more, the others as long: in the median 3 times less",
        ),
        ("fixes", [{"before_held_ms": 6, "after_held_ms": 2, "equal": False}], "0 of 1 programs gave the same"),
    ],
)
def test_each_part_is_summed_up(tmp_path, part, rows, said):
    text = page(tmp_path, {part: rows})
    assert said in text
    assert "NVIDIA Z1 with torch 2.11.0 (2026-01-01)" in text


def test_the_loss_is_timed_by_steps_and_by_the_stopwatch(tmp_path):
    row = {"work": "loss", "batch": 256, "side": 256}
    before, after = row | {"twin": "before", "step_ms": 8.0, "host_ms": 8.0}, row | {"twin": "after", "step_ms": 2.0}
    steps = [one | {"work": "step", "step_ms": ms} for one, ms in ((before, 9.0), (after, 6.0))]
    text = page(tmp_path, {"story": [before, after | {"host_ms": 0.5}, *steps]})
    assert "is 4.0 times as fast; a whole training step is\n  1.5 times as fast" in text
    assert "would say 16 times" in text
    failed = row | {"twin": "after", "fault": "out of memory"}
    assert "stopwatch" not in page(tmp_path, {"story": [before, failed, *steps]})
