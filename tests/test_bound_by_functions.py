"""What functions bind for their file, asked about at its top level."""

from __future__ import annotations

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config

HELD = """
    import torch

    table = None


    def keep(x):
        global table
        table = x


    {test}
        print(torch.ones(3, device="cuda").sum().item())
"""


@pytest.mark.parametrize(
    "test", ["if table is None:", "if table is not None:", "for one in table or ():", "if not table:"]
)
def test_a_file_may_ask_for_what_its_functions_bind(test: str) -> None:
    text = textwrap.dedent(HELD.format(test=test))
    report = pipeline.check(["-"], Config(cache=False, heat="all"), text)
    assert not report.faults
    assert [finding.code for finding in report.findings] == ["SG201"]
