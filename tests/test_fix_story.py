"""The story: `check --fix --unsafe-fixes` makes of examples/segmentation_loss.py what its fixed twin is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from syncguard.cli.main import run  # noqa: E402

EXAMPLES = Path(__file__).parent.parent / "examples"


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory) -> ModuleType:
    path = tmp_path_factory.mktemp("story") / "rewritten.py"
    path.write_text((EXAMPLES / "segmentation_loss.py").read_text())
    assert run(["check", "--fix", "--unsafe-fixes", "--heat", "all", str(path)]) == 0, "nothing is left to find"
    return module(path)


def batch(number: int, classes: int, dtype: Any) -> tuple[Any, Any]:
    """The first batch has one label only, the second nothing but background; the others are random."""
    torch.manual_seed(number)
    logits = 3 * torch.randn(2, classes, 6, 5, dtype=dtype)
    labels = torch.randint(0, classes, (2, 6, 5))
    kinds = {0: torch.full_like(labels, 7), 1: torch.zeros_like(labels)}
    shown = torch.rand(labels.shape) < torch.rand(())
    return logits, kinds.get(number, torch.where(shown, labels, 0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("twin", ["segmentation_loss", "segmentation_loss_fixed"])
def test_the_same_loss_and_gradients(rewritten, twin, dtype):
    other = module(EXAMPLES / f"{twin}.py")
    for number in range(50):
        logits, labels = batch(number, other.CLASSES, dtype)
        seen = []
        for one in (rewritten, other):
            scores = logits.clone().requires_grad_()
            loss = one.foreground_loss(scores, labels)
            assert (loss.dtype, loss.shape) == (dtype, ())
            loss.backward()
            seen.append((loss.detach(), scores.grad))
        for a, b in zip(*seen):
            torch.testing.assert_close(a, b, rtol=2e-6, atol=1e-7)
