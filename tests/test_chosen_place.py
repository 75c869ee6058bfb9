"""What moves its argument only where it is asked to gives each caller what that one asks for."""

from __future__ import annotations

import pytest
from packaged import found

from syncguard import pipeline
from syncguard.config import Config

MOVES = """import torch


def either(x, on):
    return x.cuda() if on else x


def branch(x, on: bool = False):
    if on:
        x = x.cuda()
    return x


def early(x, *, on=False):
    if not on:
        return x
    return x.to("cuda")


def made(n: int, on=False):
    t = torch.zeros(n)
    return t.cuda() if on else t


def put(x, place):
    return x.to(place)
"""
READS = """

def read(n: int, on: bool, m: torch.Tensor):
    x = {call}
    if x.sum() > 0:
        return n


def other(n: int):
    return {other}
"""
CALLS = [
    ("either(torch.zeros(n), True)", "likely"),
    ("either(torch.zeros(n), on)", "possible"),
    ("either(torch.zeros(n), False)", ""),
    ("branch(torch.zeros(n), on=True)", "likely"),
    ("branch(torch.zeros(n), False)", ""),
    ("branch(torch.zeros(n))", ""),
    ("early(torch.zeros(n), on=True)", "certain"),
    ("early(torch.zeros(n))", ""),
    ("put(torch.zeros(n), m.device)", "likely"),
    ("put(torch.zeros(n), 'cpu')", ""),
]


@pytest.mark.parametrize(("call", "sure"), [*CALLS, ("made(n, True)", "likely"), ("made(n)", "")])
@pytest.mark.parametrize(
    "other", ["n", "either(torch.zeros(n), n > 3), branch(torch.zeros(n), True), made(n, on=True)"]
)
def test_what_each_call_asks_for(call: str, sure: str, other: str) -> None:
    text = MOVES + READS.format(call=call, other=other)
    waits = pipeline.check(["-"], Config(heat="all", confidence="possible"), text).findings
    assert [one.confidence for one in waits if one.function == "read"] == ([sure] if sure else [])


@pytest.mark.parametrize(("call", "sure"), [call for call in CALLS if call[1] != "possible"])
def test_what_each_call_of_another_file_asks_for(call: str, sure: str) -> None:
    read = "import torch\nfrom .moves import early, either, branch, put\n" + READS.format(call=call, other="n")
    files = {"pkg/__init__.py": "", "pkg/moves.py": MOVES, "pkg/read.py": read}
    assert ("pkg/read.py" in found(files)) == bool(sure)
