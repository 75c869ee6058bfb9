"""The story page: without evidence it says so, with it come tables, plots and what they mean.

All numbers are invented.
"""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tools")]

import plots  # noqa: E402
import story_page  # noqa: E402

SIZES = ((2, 32), (8, 256), (256, 256))


def row(work: str, size: tuple[int, int], twin: str, host: float, step: float, used: float, waits: int = 0) -> dict:
    return {"work": work, "batch": size[0], "side": size[1], "twin": twin, "host_ms": host, "device_ms": step,
            "step_ms": step, "steps": 200, "utilised": used, "waits": waits, "predicted_ms": step}  # fmt: skip


def invented() -> list[dict]:
    """Small sizes gain, the published one does not: its device has work all the time."""
    rows = []
    for work in ("step", "loss"):
        for size, before, after in zip(SIZES, (3.0, 6.0, 600.0), (1.0, 4.0, 598.0)):
            rows.append(row(work, size, "before", before, before, 0.4 if before < 100 else 0.99, 4))
            rows.append(row(work, size, "after", 0.9, after, 0.95))
    return rows


@pytest.fixture
def made(tmp_path):
    """docs/ and evidence/ of a made-up device; nothing of it is in the repository."""

    def make(rows: list[dict], device: str = "A Made-up GPU") -> dict[str, str]:
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "evidence").mkdir(exist_ok=True)
        (tmp_path / "docs" / "story.md").write_text((ROOT / "docs" / "story.md").read_text("utf-8"))
        machine = {
            "device": device,
            "torch": "2.13.0",
            "cuda": "13.0",
            "python": "3.11",
            "system": "-",
            "date": "2026-11-21",
        }
        part = {"seconds": 1.0, "complete": True, "results": rows}
        evidence = {"version": 1, "machine": machine, "parts": {"story": part}}
        (tmp_path / "evidence" / "a-made-up-gpu-torch2.13.0.json").write_text(json.dumps(evidence))
        return {path.name: text for path, text in story_page.pages(tmp_path / "docs", tmp_path / "evidence").items()}

    return make


def test_without_evidence_the_page_says_so(tmp_path):
    (tmp_path / "story.md").write_text((ROOT / "docs" / "story.md").read_text("utf-8"))
    found = story_page.pages(tmp_path, tmp_path)
    assert list(found) == [tmp_path / "story.md"]
    assert "Nothing has been measured: no GPU was at hand" in found[tmp_path / "story.md"]


def test_the_pictures_beside_the_page_are_those_of_the_evidence():
    """A plot without evidence would be folklore."""
    wanted = {path.name for path in story_page.pages(ROOT / "docs", ROOT / "evidence") if path.suffix == ".svg"}
    assert {path.name for path in (ROOT / "docs").glob("story-*.svg")} == wanted


def test_a_dry_run_is_not_told(made):
    assert list(made(invented(), device="dry run")) == ["story.md"]


def test_the_tables_have_every_size_and_both_twins(made):
    page = made(invented())["story.md"]
    assert "### A Made-up GPU, torch 2.13.0, 2026-11-21" in page
    lines = [line for line in page.splitlines() if line.startswith("| 8 x 256 |")]
    assert lines[0] == "| 8 x 256 | before | 6 | 6 | 6 | 1,333 | 40 % | 4 | 6 |"
    assert lines[1] == "| 8 x 256 | after | 0.9 | 4 | 4 | 2,000 | 95 % | 0 |  |"
    assert len(lines) == 4  # a step, and the loss alone
    assert "Nothing has been measured" not in page


def test_where_the_gpu_is_the_limit_the_text_says_so(made):
    page = made(invented())["story.md"]
    (line, _) = [line for line in page.splitlines() if line.startswith("* 256 x 256")]
    assert "**no gain, the GPU is the limit**, which had work 99 % of the time before" in line
    assert "from 600 ms to 598 ms; the host's clock would have said 667 times as fast" in line
    (line, _) = [line for line in page.splitlines() if line.startswith("* 2 x 32")]
    assert line == (
        "* 2 x 32: a step went from 3 ms to 1 ms, 3 times as fast; the host's clock would have said 3.33 times as fast."
    )


@pytest.mark.parametrize(
    ("before", "after", "used", "said"),
    [(10.0, 12.0, 0.5, "**slower**"), (10.0, 9.9, 0.5, "no gain: a step went from 10 ms to 9.9 ms, and the GPU")],
)
def test_no_gain_and_a_loss_are_told(made, before, after, used, said):
    rows = [row("step", SIZES[0], "before", before, before, used, 4), row("step", SIZES[0], "after", 0.5, after, 0.9)]
    assert said in made(rows)["story.md"]


def test_a_size_that_failed_is_told_and_not_drawn(made):
    failed = {"work": "step", "batch": 256, "side": 256, "twin": "before", "fault": "out of memory"}
    found = made([row("step", SIZES[0], "before", 3, 3, 0.5, 4), row("step", SIZES[0], "after", 1, 1, 0.5), failed])
    assert "| 256 x 256 | before | out of memory |" in found["story.md"]
    assert "* 256 x 256: not compared (before: out of memory)." in found["story.md"]
    assert "256 x 256 3" not in found["story-a-made-up-gpu-torch2.13.0-step.svg"]


def test_the_plots_have_four_quantities_two_twins_and_their_numbers_in_words(made):
    found = made(invented())
    assert sorted(name for name in found if name.endswith(".svg")) == [
        "story-a-made-up-gpu-torch2.13.0-loss.svg", "story-a-made-up-gpu-torch2.13.0-step.svg",
    ]  # fmt: skip
    tree = ET.fromstring(found["story-a-made-up-gpu-torch2.13.0-step.svg"])
    space = {"s": "http://www.w3.org/2000/svg"}
    titles = [text.text for text in tree.iterfind(".//s:text[@class='title']", space)]
    assert [title.split(",")[0] for title in titles] == [
        "host time of a step", "device time of a step", "throughput over many steps", "device in use",
    ]  # fmt: skip
    assert len(tree.findall(".//s:g//s:circle", space)) == 4 * 2 * 3
    said = tree.find("s:desc", space).text
    assert "before: 2 x 32 3, 8 x 256 6, 256 x 256 600" in said
    assert "story-a-made-up-gpu-torch2.13.0-step.svg)" in found["story.md"]


def test_larger_is_higher_and_nothing_leaves_its_panel():
    panel = plots.Panel("p", ((0.5, 40.0, None, 1e5), (None, None, None, None)))
    points = re.findall(r'circle class="s0" cx="([\d.]+)" cy="([\d.]+)"', "\n".join(plots.drawn(panel, "abcd")))
    heights = [float(y) for _, y in points]
    assert heights == sorted(heights, reverse=True)
    assert all(plots.TOP <= y <= plots.HIGH - plots.BOTTOM for y in heights)
    lines = "\n".join(plots.drawn(panel, "abcd"))
    assert lines.count("<path") == 1, "the line is broken where a number is missing"


@pytest.mark.parametrize("values", [(), (0.0,), (3.0,), (1e-4, 1e6)])
def test_every_scale_has_room(values):
    for log in (True, False):
        ticks = plots.scale(values, plots.Panel("p", (), log))
        assert ticks == sorted(set(ticks))
        assert len(ticks) > 1


def test_text_is_escaped():
    assert "<b>" not in plots.plot("<b>", ["<b>"], ["one"], [plots.Panel("<b>", ((1.0,),))])


def test_savings_are_told_as_shares_of_the_step() -> None:
    row = {"asking": "at the end", "width": 64, "waits": 1.0, "with_ms": 2.0, "without_ms": 1.5, "window_ms": 4.0}
    lines = [*story_page.savings([row | {"predicted_ms": 3.2}, row])]
    assert lines[-3] == "| at the end | 64 | 1 | 2 | 1.5 | 25 % | 20 % |"
    assert lines[-2] == "| at the end | 64 | 1 | 2 | 1.5 | 25 % |  |"
    assert [*story_page.savings([])] == []
    slower = "\n".join(story_page.savings([row | {"without_ms": 2.2}]))
    assert "took 10 % longer" in slower
    assert "longer" not in "\n".join(lines)


def test_nothing_is_predicted_that_takes_longer_than_it_took() -> None:
    row = {"step_ms": 10.0, "window_ms": 20.0}
    assert story_page.predicted(row | {"predicted_ms": 18.0}) == 9.0
    assert story_page.predicted(row | {"predicted_ms": 21.0}) is None
    assert story_page.predicted({"step_ms": 10.0, "predicted_ms": 9.0}) == 9.0
