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


def fetched(x, host):
    return x.cpu() if host else x


def kept(x: torch.Tensor, host: bool = True):
    x = x * 2
    return x.cpu() if host else x
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
    ("fetched(m, True)", ""),
    ("fetched(m, False)", "likely"),
    ("fetched(m, host=on)", "likely"),
    ("kept(m)", ""),
    ("kept(m, False)", "likely"),
]


@pytest.mark.parametrize(("call", "sure"), [*CALLS, ("made(n, True)", "likely"), ("made(n)", "")])
@pytest.mark.parametrize(
    "other", ["n", "either(torch.zeros(n), n > 3), branch(torch.zeros(n), True), made(n, on=True)"]
)
def test_what_each_call_asks_for(call: str, sure: str, other: str) -> None:
    text = MOVES + READS.format(call=call, other=other)
    waits = pipeline.check(["-"], Config(heat="all", confidence="possible"), text).findings
    told = [one.confidence for one in waits if one.function == "read" and one.code == "SG204"]
    assert told == ([sure] if sure else [])


@pytest.mark.parametrize(("call", "sure"), [call for call in CALLS if "on)" not in call[0]])
def test_what_each_call_of_another_file_asks_for(call: str, sure: str) -> None:
    read = "import torch\nfrom .moves import *\n" + READS.format(call=call, other="n")
    files = {"pkg/__init__.py": "", "pkg/moves.py": MOVES, "pkg/read.py": read}
    waits = found(files).get("pkg/read.py")
    assert (waits is not None and waits.code == "SG204") == bool(sure)
