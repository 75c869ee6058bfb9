"""A wait that a call in another file brings about is as warm as that call, whatever else makes its function hot."""

import pytest
from packaged import found

ASKED = "def asked(x):\n    for _ in range(3):\n        if x > 3:\n            return 1\n    return 0\n"
STEP = """
import torch
from .ops import asked


class Step(torch.nn.Module):
    def forward(self, n):
        return asked(3)
"""
USES = """
import torch
from .ops import asked


{around}
"""
NET = """class Net(torch.nn.Module):
    def __init__(self, deep=False):
        super().__init__()
        self.deep = deep

    def forward(self, x: torch.Tensor):
        {before}asked({given})
"""
ASKS = """def asks(x: torch.Tensor):
    for step in range(x.shape[0]):
        {now}asked(x.amax())
"""
RUNS = """def runs(net: torch.nn.Module, x: torch.Tensor, n: int):
    if n > 4:
        return asked(2)
    for _ in range(n):
        x = net(x)
        asked(x.amax())
    return x
"""
DEEP = "only where `self.deep` holds; by default `self.deep` is `False`"


def of_call(around):
    files = {
        "pkg/__init__.py": "",
        "pkg/ops.py": ASKED,
        "pkg/astep.py": STEP,
        "pkg/uses.py": USES.format(around=around),
    }
    finding = found(files)["pkg/ops.py"]
    return finding.heat, [fact.text for fact in finding.hot_path], [fact.text for fact in finding.options]


@pytest.mark.parametrize(
    ("around", "heat"),
    [
        (NET.format(before="", given="x.amax()"), "hot"),
        (ASKS.format(now=""), "unknown"),
        (ASKS.format(now="if step % 10 == 0: "), "amortized"),
    ],
)  # fmt: skip
def test_it_is_as_warm_as_the_call(around, heat):
    told, path, _ = of_call(around)
    assert told == heat
    if heat == "hot":
        assert path == ["`Net.forward` runs at every step", "`asked(x.amax())` passes it on"]


def test_a_call_in_the_loop_of_the_steps_runs_at_every_step():
    told, path, _ = of_call(RUNS)
    assert (told, path[-1]) == ("hot", "`asked(x.amax())` passes it on")
    assert path[0].startswith("the loop")


@pytest.mark.parametrize(
    ("before", "given", "options"),
    [
        ("if self.deep: ", "x.amax()", [DEEP]),
        ("y = None\n        if self.deep: y = torch.ones((), device=x.device)\n        ", "y", [DEEP]),
        ("y = x.amin()\n        if self.deep: y = torch.ones((), device=x.device)\n        ", "y", []),
    ],
)
def test_the_options_of_the_call_are_named(before, given, options):
    assert of_call(NET.format(before=before, given=given))[2] == options


def test_another_call_that_asks_for_nothing_lifts_them():
    net = NET.format(before="if self.deep: ", given="x.amax()") + "        asked(x.amin())\n"
    assert of_call(net)[2] == []
    other = NET.replace("class Net", "class Other").format(before="", given="x.amin()")
    assert of_call(NET.format(before="if self.deep: ", given="x.amax()") + "\n\n" + other)[2] == []
