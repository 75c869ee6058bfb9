"""What a finding says is waited for, where the tensor is inside of what is passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard.config import Config
from syncguard.pipeline import check
from syncguard.terms import Finding


def only(path: Path, text: str) -> Finding:
    """The one finding in a file of this text."""
    path.write_text(text)
    (finding,) = check([str(path)], Config(cache=False, heat="all")).findings
    return finding


SAVES = """
import torch


def save(x: torch.Tensor, name: str):
    y = x.relu()
    kept = {"name": name, "parts": [{"y": y}]}
    torch.save(%s, name)
"""


@pytest.mark.parametrize(
    ("passed", "named"),
    [
        ("y", "y"),
        ("kept", "kept"),
        ("{'y': y}", "{'y': y}"),
        ("[name, kept]", "kept"),
        ("(name, [1, y])", "y"),
    ],
)
def test_the_argument_that_holds_the_tensor_is_named(tmp_path: Path, passed: str, named: str) -> None:
    finding = only(tmp_path / "save.py", SAVES % passed)
    assert finding.code == "SG202"
    assert f"copies `{named}` to the host" in finding.message
    assert [fact.text for fact in finding.because][-1] == "`x.relu()` is the result of `torch.Tensor.relu`"


SIZES = """
import torch


def sized(x: torch.Tensor, n: torch.Tensor, parts: dict[str, torch.Tensor]):
    y = x.relu()
    return %s
"""


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("y.view(1, n)", "n"),
        ("y.expand(-1, n.sum(), 3)", "n.sum()"),
        ("y.reshape((2, n))", "n"),
        ("torch.zeros(2, n, device=y.device)", "n"),
        ("torch.full(size=(2, n), fill_value=1)", "n"),
        ('torch.split(parts["x"], parts["n"].sum())', 'parts["n"].sum()'),
        ('torch.split(parts["x"], [parts["n"].sum(), 2])', 'parts["n"].sum()'),
    ],
)
def test_the_size_that_is_a_tensor_is_named(tmp_path: Path, call: str, named: str) -> None:
    finding = only(tmp_path / "sized.py", SIZES % call)
    assert finding.code == "SG108"
    assert f"to tell `{named}`," in finding.message


PICKS = """
import torch


class Net(torch.nn.Module):
    def forward(self, x, mask, counts, order):
        y, keep, places = x.relu(), mask > 0, order.long()
        return %s
"""


@pytest.mark.parametrize(
    ("call", "message", "reason"),
    [
        ("torch.masked_select(y, keep)", "nonzero elements of `keep`", "`mask > 0` is the result of"),
        ("y.masked_select(mask=keep)", "nonzero elements of `keep`", "`mask > 0` is the result of"),
        ("torch.masked_select(input=y, mask=keep)", "nonzero elements of `keep`", "`mask > 0` is the result of"),
        ("torch.masked_select(y, self.keep)", "nonzero elements of `self.keep`", "`self.keep` is given to"),
        ("torch.nonzero(input=keep)", "nonzero elements of `keep`", "`mask > 0` is the result of"),
        ("y.add(y, alpha=counts.max())", "to compute `counts.max()`", "`counts.max()` is the result of"),
        ("torch.searchsorted(y, y, sorter=places)", "inside the call", "`order.long()` is the result of"),
    ],
)
def test_what_decides_is_named(tmp_path: Path, call: str, message: str, reason: str) -> None:
    finding = only(tmp_path / "picks.py", PICKS % call)
    assert message in finding.message
    assert [fact.text for fact in finding.because][-1].startswith(reason)
