"""A device that a call leaves out is the CPU, also where the function stands in another file."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from checked import codes
from orders import in_any_order
from packaged import found as found_in

from syncguard import pipeline
from syncguard.config import Config

SIZES = """import torch
from typing import List, Optional

def to_tensor(x: List[int], device: {kind} = None) -> torch.Tensor:
    if torch.jit.is_tracing():
        return torch.stack(x).to(device=device)
    return torch.as_tensor(x, device=device)
"""
NET = """import torch
from .sizes import to_tensor

class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        sizes = to_tensor([x.shape[-2], x.shape[-1]]{given})
        return x * sizes.max().item()
"""


@pytest.mark.parametrize("kind", ["Optional[torch.device]", "torch.device | None", "object"])
@pytest.mark.parametrize(("given", "waits"), [("", False), (", device=None", False), (", device=x.device", True)])
def test_what_a_function_makes_that_is_told_no_device(tmp_path: Path, kind: str, given: str, waits: bool) -> None:
    files = {"__init__": "", "sizes": SIZES.format(kind=kind), "net": NET.format(given=given)}
    there = [place for place in in_any_order(tmp_path, files) if place[0] == "net.py"]
    assert there == ([("net.py", 7, "SG201")] if waits else [])


@pytest.mark.parametrize(("given", "waits"), [("", False), (", None", False), (", x.device", True)])
def test_a_function_of_a_module_is_given_what_is_written_first(tmp_path: Path, given: str, waits: bool) -> None:
    net = NET.replace("from .sizes import to_tensor", "from . import sizes as shapes")
    net = net.replace("to_tensor(", "shapes.to_tensor(").format(given=given)
    files = {"__init__": "", "sizes": SIZES.format(kind="object"), "net": net}
    there = [place for place in in_any_order(tmp_path, files) if place[0] == "net.py"]
    assert there == ([("net.py", 7, "SG201")] if waits else [])


@pytest.mark.parametrize(("default", "sure"), [("cpu", "possible"), ("cuda", "likely")])
def test_what_is_kept_where_a_parameter_says_may_be_there(default: str, sure: str) -> None:
    text = """import torch

class Mean:
    def __init__(self, device="cpu"):
        self.device = torch.device(device)
        self.total = torch.zeros((), device=self.device)

    def update(self, x: torch.Tensor):
        self.total = self.total + x.sum().to(self.device)

    def compute(self):
        return self.total.item()
"""
    config = Config(heat="all", confidence="possible", default_device=default)
    found = pipeline.check(["-"], config, text).findings
    assert [one.confidence for one in found if one.code == "SG201"] == [sure]


@pytest.mark.parametrize(
    ("device", "found"),
    [("str(x.device)", ["SG204"]), ("x.device", ["SG204"]), ("str(torch.device('cpu'))", []), ("name", [])],
)
def test_the_text_of_a_device_names_it(device: str, found: list[str]) -> None:
    text = f"""
        import torch

        def build(n: int, device: torch.device | str = "cpu"):
            return torch.ones(n).bool().to(device)

        def check(x: torch.Tensor, name: str):
            assert build(3, {device}).any()
        """
    assert [code for code in codes(text) if code == "SG204"] == found


@pytest.mark.parametrize(("given", "waits"), [("", False), (", device=None", False), (", device=x.device", True)])
def test_a_device_that_is_left_out_and_handed_on(given: str, waits: bool) -> None:
    text = f"""
        import torch
        from typing import Optional

        def ramp(n: int, device: Optional[torch.device] = None) -> torch.Tensor:
            return torch.exp(torch.arange(n, device=device) / n)

        def window(n: int, device: Optional[torch.device] = None) -> torch.Tensor:
            slope = ramp(n, device)
            return torch.outer(slope, slope)

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x * window(5{given}).max().item()
        """
    assert ("SG201" in codes(text)) == waits


ROTARY = """import torch
from torch import nn

def waves(dim: int, device=None):
    steps = torch.arange(0, dim, 2) / dim
    return steps.to(device), 1.0

class Rotary(nn.Module):
    def __init__(self, dim: int, device=None):
        super().__init__()
        self.dim = dim
        freqs, self.scale = waves(dim, device)
        self.register_buffer("freqs", freqs)

    def forward(self, x: torch.Tensor):
        freqs, scale = waves(self.dim{given})
        return x * scale
"""
GIVEN = "only where `device is not None` holds; by default `device` is `None`"


ASKED = "only where `device is not None` holds"  # and somebody is seen to ask


@pytest.mark.parametrize(
    ("given", "heat", "option"),
    [("", "amortized", GIVEN), (", device=None", "amortized", GIVEN), (", x.device", "hot", ASKED)],
)
def test_what_goes_nowhere_unless_a_call_says_where(given: str, heat: str, option: str) -> None:
    found = pipeline.check(["-"], Config(heat="all"), ROTARY.format(given=given)).findings
    assert [(one.code, one.heat, [fact.text for fact in one.options]) for one in found] == [("SG304", heat, [option])]


@pytest.mark.parametrize(
    ("given", "heat", "options"),
    [
        ("make(3, x.device)", "unknown", []),
        ("make(3, x.device) + make(4)", "unknown", [ASKED]),
        ("make(3, None)", "amortized", [GIVEN]),
        ("make(3, place)", "amortized", [GIVEN]),
    ],
)
def test_a_call_of_which_nobody_knows_how_often_it_is_made_may_say_where(
    given: str, heat: str, options: list[str]
) -> None:
    text = f"""
        import torch

        def make(n: int, device=None):
            return torch.tensor([n, 1], device=device)

        def scaled(x: torch.Tensor, place=None):
            return x * ({given})
        """
    found = pipeline.check(["-"], Config(heat="all"), textwrap.dedent(text)).findings
    assert [(one.heat, [fact.text for fact in one.options]) for one in found] == [(heat, options)]


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("t = torch.tensor(xs, device=device)\n    return t.max()", [GIVEN, GIVEN]),
        ("t = torch.ones(3, device=device) * 2\n    return t.max()", [GIVEN]),
        ("t = torch.tensor(xs).to(device)\n    return t.max()", [GIVEN, GIVEN]),
        ("t = torch.ones(3, device=device)\n    return (t + x).max()", []),
        ("t = torch.ones(3, device=device).to(x.device)\n    return t.max()", []),
        ("t = x.to(device)\n    return t.max()", []),
        ("t = torch.ones(3, device=device) if xs else x\n    return t.max()", []),
        ("t = x if xs else torch.ones(3, device=device)\n    return t.max()", []),
        ("t = torch.ones(3, device=x.device)\n    return t.max()", []),
    ],
)
def test_what_follows_from_it_names_the_same_option(body: str, options: list[str]) -> None:
    text = f"import torch\n\ndef top(xs: list[int], x: torch.Tensor, device=None):\n    {body}.item()\n"
    told = pipeline.check(["-"], Config(heat="all"), text).findings
    assert [fact.text for one in told for fact in one.options] == options


MADE = "import torch\n\n\ndef make(n: int, device=None):\n    return torch.ones(n, device=device).sum().item()\n"
CALLS = """import torch
from .made import make


def scaled(x: torch.Tensor, place=None):
    return {call}


def other(x: torch.Tensor):
    return {other}
"""


@pytest.mark.parametrize(
    ("call", "other", "options"),
    [
        ("make(3, x.device)", "make(4, device=x.device)", []),
        ("make(3, x.device)", "make(4)", [ASKED]),
        ("make(3, place)", "make(4)", [GIVEN]),
        ("x", "x", [GIVEN]),
    ],
)
def test_what_all_files_give_is_no_option(call: str, other: str, options: list[str]) -> None:
    files = {"pkg/__init__.py": "", "pkg/made.py": MADE, "pkg/calls.py": CALLS.format(call=call, other=other)}
    assert [fact.text for fact in found_in(files)["pkg/made.py"].options] == options


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("return torch.tensor([n, 1], device=device)", [GIVEN]),
        ("return torch.as_tensor([n, 1], None, device)", [GIVEN]),
        ("return torch.ones(n).to(device, torch.float16)", [GIVEN]),
        ("return x.new_tensor([n, 1], device=device)", []),
        ("return torch.ones(n).cuda(device)", []),
        ("device = device or x.device\n        return torch.ones(n).to(device)", []),
    ],
)
def test_only_where_none_is_no_place(body: str, options: list[str]) -> None:
    text = f"""
        import torch

        def make(n: int, x: torch.Tensor, device=None):
            {body.replace("        return", "            return")}
        """
    found = pipeline.check(["-"], Config(heat="all"), textwrap.dedent(text)).findings
    assert [[fact.text for fact in one.options] for one in found] == [options]


def test_where_all_that_is_built_is_on_the_device() -> None:
    text = "import torch\n\ndef make(n: int, device=None):\n    return torch.tensor([n, 1], device=device)\n"
    found = pipeline.check(["-"], Config(heat="all", default_device="cuda"), text).findings
    assert [one.options for one in found] == [()]


WIDE = """import torch

def widened(x: torch.Tensor) -> torch.Tensor:
    more = torch.zeros(x.shape[-1] + 1, dtype=x.dtype, device=x.device)
    more[1:] = x
    return more
"""
DRAWN = """import torch
from .wide import widened

def drawn(bounds: torch.Tensor, net: torch.nn.Module, near: bool):
    here, there = torch.rand(3), torch.rand(3, device=bounds.device) * bounds
    x = {given}
    return {made}.cpu()
"""


@pytest.mark.parametrize(
    ("given", "made", "waits"),
    [
        ("there if near else here", "widened(x)", False),
        ("there", "widened(x)", True),
        ("here", "widened(x)", False),
        ("there if near else here", "(widened(x) + bounds)", True),
        ("there if near else here", "net(x)", True),  # its parameters are where it was put
    ],
)
def test_what_a_function_makes_of_what_is_on_the_host_by_some_paths(
    tmp_path: Path, given: str, made: str, waits: bool
) -> None:
    files = {"__init__": "", "wide": WIDE, "drawn": DRAWN.format(given=given, made=made)}
    assert in_any_order(tmp_path, files) == ([("drawn.py", 7, "SG202")] if waits else [])
