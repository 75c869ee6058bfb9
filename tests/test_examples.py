"""The programs in examples/: they run, their marks are what `check` finds, and the fixed twin equals its original."""

import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
BATCHES = 50

programs = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def marks(path: Path) -> set[tuple[int, str]]:
    """The findings that the program promises: line and code."""
    found = set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for codes in re.findall(r"# sync: (SG\d{3}(?:, SG\d{3})*)", line):
            found |= {(number, code) for code in codes.split(", ")}
    return found


def module(name: str):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def batch(torch, number: int, classes: int):
    """The first batch has one label only, the second nothing but background; the others are random."""
    torch.manual_seed(number)
    logits = 3 * torch.randn(2, classes, 6, 5, dtype=torch.float64)
    labels = torch.randint(0, classes, (2, 6, 5))
    kinds = {0: torch.full_like(labels, 7), 1: torch.zeros_like(labels)}
    shown = torch.rand(labels.shape) < torch.rand(())
    return logits, kinds.get(number, torch.where(shown, labels, 0))


@programs
def test_runs_to_its_end_on_a_cpu(path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(sys, "argv", [path.name, "--device", "cpu"])
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("number", range(BATCHES))
def test_twins_give_the_same_loss_and_gradient(number):
    torch = pytest.importorskip("torch")
    original, fixed = module("segmentation_loss"), module("segmentation_loss_fixed")
    logits, labels = batch(torch, number, original.CLASSES)
    seen = []
    for twin in (original, fixed):
        scores = logits.clone().requires_grad_()
        loss = twin.foreground_loss(scores, labels)
        loss.backward()
        seen.append((loss.detach(), scores.grad))
    for one, other in zip(*seen):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@programs
def test_check_finds_exactly_the_marks(path):
    from msgspec.structs import replace

    from syncguard.config import Config
    from syncguard.pipeline import check

    report = check([str(path)], replace(Config(), heat="all"))
    assert {(finding.site.line, finding.code) for finding in report.findings} == marks(path)


def test_readme_table_lists_the_marks():
    table = (EXAMPLES / "README.md").read_text()
    rows = re.findall(r"^\| \[(\w+\.py)\]\((\w+\.py)\) \| (\d+) \|([ SG\d]*)\|$", table, re.MULTILINE)
    promised = {path.name: (len(marks(path)), {code for _, code in marks(path)}) for path in PROGRAMS}
    assert {name: (int(count), set(codes.split())) for name, _, count, codes in rows} == promised
    assert all(name == link for name, link, _, _ in rows)
