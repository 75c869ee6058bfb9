"""What a method that is told a device leaves in the attributes of its object, for the function that calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked import codes
from orders import in_any_order

CLOCK = """import torch

class Clock:
    def __init__(self, n: int):
        self.times = torch.arange(n)
        self.start(n, {made})

    def start(self, n: int, device: str | torch.device | None = None, shift: float = 0.0):
        self.times = torch.linspace(1, 0, n).to(device)
        {between}
        self.weights = (self.times + shift).to("cpu")
"""
RUN = """import torch
from .clock import Clock

class Run:
    def __init__(self, clock: {kind}):
        self.clock = clock

    def run(self, n: int, device: torch.device, **given):
        self.clock.start({call})
        {then}
        self.kept = self.clock.times[1:]
        return [int(t) for t in self.clock.times]

    def later(self):
        return {{int(t) for t in self.kept}}
"""


def found(
    folder: Path, call: str, then: str = "pass", kind: str = "Clock", between: str = "pass"
) -> list[tuple[int, str]]:
    files = {
        "__init__": "",
        "clock": CLOCK.format(made="None", between=between),
        "run": RUN.format(call=call, then=then, kind=kind),
    }
    return [(line, code) for name, line, code in in_any_order(folder, files) if name == "run.py"]


READS = [(12, "SG203"), (15, "SG203")]


@pytest.mark.parametrize(
    ("call", "reads"),
    [
        ("n", []),
        ("n, None", []),
        ("n, device=None", []),
        ("n, shift=0.5", []),
        ("n, 'cpu'", []),
        ("n, device", READS),
        ("n, device='cuda'", READS),
        ("n, **given", READS),
    ],
)
def test_a_method_of_another_file_leaves_its_tensors_where_the_call_says(
    tmp_path: Path, call: str, reads: list[tuple[int, str]]
) -> None:
    assert found(tmp_path, call) == reads


@pytest.mark.parametrize(
    ("then", "reads"),
    [
        ("self.clock.start(n, device)", READS),
        ("if n > 3: self.clock.start(n, device)", []),  # possible, no more
        ("if n > 3: self.clock.start(2 * n)", []),
        ("self.clock = Clock(n)", READS),
        ("print(self.clock.weights)", []),
    ],
)
def test_what_was_left_may_be_replaced_or_moved_before_it_is_read(
    tmp_path: Path, then: str, reads: list[tuple[int, str]]
) -> None:
    assert found(tmp_path, "n", then) == reads


@pytest.mark.parametrize(("call", "reads"), [("n", []), ("n, device", READS)])
def test_where_it_may_return_early(tmp_path: Path, call: str, reads: list[tuple[int, str]]) -> None:
    assert found(tmp_path, call, between="if n > 3: return") == reads


def test_what_is_left_of_what_may_be_of_two_classes(tmp_path: Path) -> None:
    assert found(tmp_path, "n", kind="Clock | tuple[Clock, dict]") == []
    assert found(tmp_path, "n", kind="Clock | int | str") == []


@pytest.mark.parametrize(("call", "reads"), [("n", []), ("n, device", ["SG203"]), ("n, device=x.device", ["SG203"])])
def test_a_method_of_this_file_leaves_its_tensors_where_the_call_says(call: str, reads: list[str]) -> None:
    text = f"""
    def run(clock: Clock, n: int, device, x: torch.Tensor):
        clock.start({call})
        return int(clock.times[0])
    """
    head = CLOCK.format(made="None", between="pass")
    assert [code for code in codes(text, head) if code == "SG203"] == reads


@pytest.mark.parametrize("made", ["None", "device=None"])
def test_a_file_that_chooses_no_device_leaves_it_to_others(made: str) -> None:
    text = """
        def sent(self, x: torch.Tensor):
            return self.times.to(x.device)
    """
    assert codes(text, CLOCK.format(made=made, between="pass")) == ["SG304", "SG202"]


def test_a_private_method_is_told_what_its_file_tells_it() -> None:
    text = CLOCK.format(made="None", between="pass").replace("start", "_start") + "        return int(self.times[0])\n"
    assert codes(text) == []


ROWS = """
@dataclasses.dataclass
class Parts:
    ends: torch.Tensor

class Rows(torch.utils.data.Dataset):
    def __init__(self, parts: Parts{told}):
        self.parts = parts

    def __getitem__(self, at: int):
        return self.parts.ends[at]

def read(parts: Parts):
    return Rows(parts{given}).parts.ends.max().item()
"""


@pytest.mark.parametrize(
    ("told", "given", "reads"),
    [("", "", []), (", device=None", ", device='cuda'", ["SG201"]), (", **kw", "", ["SG201"])],
)
def test_what_keeps_data_for_a_loader_has_it_on_the_host(told: str, given: str, reads: list[str]) -> None:
    assert codes(ROWS.format(told=told, given=given), "import dataclasses\nimport torch\n") == reads


SCHED = """
    class Sched:
        def __init__(self, n: int):
            self.steps = torch.arange(n)

        def set_steps(self, n: int, device=None):
            self.steps = torch.arange(n).to(device)

    def other(s: Sched):
        s.set_steps(5, "cuda")

    def asks(s: Sched):
        return s.steps.shape

    class Pipe:
        def __init__(self, s: Sched):
            self.s = s

        def prepare(self, device):
            self.s.set_steps(3, device)

        def look(self):
            return asks(self.s)

        def run(self, n, device):
            self.s.set_steps(n)
            {then}
            return int(self.s.steps[0])
    """


@pytest.mark.parametrize(
    ("then", "waits"),
    [
        ("pass", False),
        ("self.look()", False),
        ("asks(self.s)", False),
        ("other(self.s)", True),
        ("self.prepare(device)", True),
        ("t = self.s; t.set_steps(n, 'cuda')", True),
        ("f = self.s.set_steps; f(n, device)", True),
        ("unknown(self.s)", True),
    ],
)
def test_who_else_gets_the_object_may_leave_something_else_there(then: str, waits: bool) -> None:
    assert ("SG203" in codes(SCHED.format(then=then), "import torch\n")) is waits


def test_a_loop_leads_back_from_what_is_left_behind_it() -> None:
    text = """
    class Sched:
        def set_steps(self, n: int, device=None):
            self.steps = torch.arange(n).to(device)

    def run(s: Sched, n, x: torch.Tensor):
        s.set_steps(n)
        for _ in range(n):
            int(s.steps[0])
            s.set_steps(n, x.device)
    """
    assert "SG203" in codes(text, "import torch\n")
