"""Waits that sizes or layouts decide: a run says so of them, and that `check` does not read these."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import warm

pytest.importorskip("torch")

PROGRAM = """\
import torch
many = torch.arange(100000, device="cuda")
rows = torch.rand(8, 8, device="cuda").to_sparse()
torch.isin(many, many[:20000])
torch.linalg.lu_factor_ex(torch.rand(4, 6, device="cuda"))
torch.empty(1 << 20).to("cuda", non_blocking=True)
torch.empty(1 << 20).to("cuda")
torch.index_select(rows, 0, many[:4])
many.sum().item()
"""


def test_a_run_tells_what_only_sizes_or_layouts_decide(tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text(PROGRAM)
    words = ("run", "--device", "simulate", "--check", "--fail-on", "missed", "--save", "run.json", "sizes.py")
    code, _, err = warm.ran(tmp_path, "-m", "syncguard", *words)
    assert code == 0, err
    waits = json.loads((tmp_path / "run.json").read_text())["waits"]
    said = {one["place"]["line"]: one["static"] for one in waits if one["place"]["line"] > 3}
    sizes, layout = "depends-on-sizes", "depends-on-layout"
    assert said == {4: sizes, 5: sizes, 6: sizes, 7: "confirmed", 8: layout, 9: "confirmed"}
    assert "4 waits depend on sizes or layouts, which `check` does not read." in " ".join(err.split())
