"""What only a torch before 2.0 comes to, nobody runs."""

from __future__ import annotations

import pytest

from syncguard import pipeline
from syncguard.config import Config

CODE = """
import torch
from packaging import version

HERE = {test}


class Net(torch.nn.Module):
    def forward(self, x):
        if HERE:
            return x.nonzero()
        return x + 1
"""


def waits(test: str) -> bool:
    findings = [
        pipeline.check(["-"], Config(heat="all", cache=False), CODE.format(test=test)).findings,
        pipeline.check(["-"], Config(heat="all", cache=False), CODE.replace("if HERE", f"if {test}")).findings,
    ]
    told = {tuple(finding.code for finding in found) for found in findings}
    assert len(told) == 1
    return told == {("SG101",)}


@pytest.mark.parametrize(
    "test",
    [
        'version.parse(torch.__version__) < version.parse("1.8.0")',
        'not version.parse(torch.__version__) >= version.parse("1.8.0")',
        'torch.__version__ <= "1.13"',
        'version.parse("1.13") > version.parse(torch.__version__)',
        "int(torch.__version__.split('.')[0]) < 2",
        "tuple(map(int, torch.__version__.split('.')[:2])) < (1, 8)",
        'version.parse(torch.__version__) == version.parse("1.8")',
        'version.parse(torch.__version__) < version.parse("2.0")',
    ],
)
def test_an_arm_for_a_torch_before_2_is_silent(test):
    assert not waits(test)


@pytest.mark.parametrize(
    "test",
    [
        'version.parse(torch.__version__) >= version.parse("1.8.0")',
        'version.parse(torch.__version__) < version.parse("2.4")',
        'version.parse(torch.__version__) >= version.parse("2.4")',
        'version.parse(torch.__version__) != version.parse("1.8")',
        'version.parse(torch.__version__) > version.parse("99.0")',
        'version.parse(numpy.__version__) < version.parse("1.8.0")',
        "int(torch.__version__.split('.')[1]) < 12",
        "torch.__version__ < LIMIT",
    ],
)
def test_an_arm_that_somebody_may_come_to_is_told(test):
    assert waits(test)
