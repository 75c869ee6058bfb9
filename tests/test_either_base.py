"""A class whose base is one of several, as where an import may fail: each may be the one."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config

EITHER = """import torch
from torch import Tensor, nn

class Base({above}):
    def __init__(self):
        super().__init__()
        self.top = {top}

try:
    from elsewhere import Mixin

    class Either(Base, Mixin):
        pass

except ImportError:

    class Either(Base):
        pass

class Layer(Either):
    def loud(self, x: Tensor):
        if x.sum() > 0:
            return x
        return x if self.top > 0 else -x
"""


def lines(folder: Path, source: str) -> list[int]:
    file = folder / "layer.py"
    file.write_text(source)
    report = pipeline.check([str(file)], Config(heat="all", cache=False, jobs=1))
    return [finding.site.line for finding in report.findings]


@pytest.mark.parametrize(
    ("above", "top", "found"),
    [
        ("nn.Module", "nn.Parameter(torch.ones(()))", [22, 24]),
        ("nn.Module", "1.0", [22]),
        ("object", "torch.ones((), device='cuda')", [22, 24]),
    ],
)
def test_what_both_have_is_had(tmp_path: Path, above: str, top: str, found: list[int]) -> None:
    assert lines(tmp_path, EITHER.format(above=above, top=top)) == found


CHOSEN = """import torch
from torch import Tensor
from torch.distributions import Distribution, constraints

class Plain:
    def __init__(self, shape, validate_args=None):
        self.shape = shape

if hasattr(torch, "xpu"):
    Above = {one}
else:
    Above = {other}

class Delta(Above):
    arg_constraints = {{"v": constraints.real}}

    def __init__(self, v: Tensor, validate_args=None):
        self.v = v
        super().__init__(v.shape, validate_args=validate_args)
"""


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [("Distribution", "Distribution", [19]), ("Plain", "Distribution", []), ("Plain", "Plain", [])],
)
def test_the_first_that_has_a_method_is_asked(tmp_path: Path, one: str, other: str, found: list[int]) -> None:
    assert lines(tmp_path, CHOSEN.format(one=one, other=other)) == found
