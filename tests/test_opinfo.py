"""Torch's own OpInfo samples, run simulated: they wait as their rows predict, and compute what a plain CPU computes.

The default run takes every STRIDE-th operator and at most MOST samples of a dtype; `-m slow` takes all operators, and
`python tools/opinfo.py` every sample too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch.testing._internal needs it")
pytest.importorskip("numpy")

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tools")]

import alike  # noqa: E402
import opinfo  # noqa: E402

from syncguard import pack  # noqa: E402

PACK = pack.load()
STRIDE, MOST = 23, 40
EVERY = opinfo.operators()
OPERATORS = [
    pytest.param(op, id=opinfo.label(op), marks=() if n % STRIDE == 0 else pytest.mark.slow)
    for n, op in enumerate(EVERY)
]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.filterwarnings("ignore")
def test_samples_wait_as_their_rows_say(op: Any) -> None:
    found = opinfo.tell(op, PACK, MOST)
    assert found.tried
    assert found.wrong == {}


def test_a_row_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle is not blind: a wait that no row predicts, a value that differs, a result of the host."""
    op = next(op for op in EVERY if op.name == "nonzero")
    monkeypatch.setattr(opinfo.Spy, "predict", lambda *_: set())
    monkeypatch.setattr(opinfo, "elsewhere", lambda *_: iter(["a result is on cpu"]))
    monkeypatch.setattr(alike, "same", lambda *_: False)
    found = opinfo.tell(op, PACK, 1)
    assert "torch.nonzero: predicted [], seen ['nonzero']" in found.wrong
    assert "a result is on cpu" in found.wrong
    assert "float32 sample 0: a value on the CPU, a value simulated" in found.wrong


def test_operators_that_kill_their_process_cost_only_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = subprocess.run

    def dying(command: list[str], **options: Any) -> Any:
        if command[-1] == "abs":
            return subprocess.CompletedProcess(command, -11, '{"begun": "abs"}\n', "free(): invalid pointer")
        return plain(command, **options)

    monkeypatch.setattr(opinfo, "BATCH", 1)
    monkeypatch.setattr(opinfo.subprocess, "run", dying)
    first, second = opinfo.told(["abs", "sgn"], 1)
    assert first.wrong == {"the process died with -11: 'free(): invalid pointer'": 1}
    assert (second.op, second.wrong, second.calls > 0) == ("sgn", {}, True)


def test_explanations_are_of_operators_that_there_are() -> None:
    names = {op.name for op in EVERY}
    for table in ("uncompared", "uncalled"):
        assert set(opinfo.KNOWN[table]) <= names
