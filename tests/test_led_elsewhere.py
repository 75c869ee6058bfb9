"""A wait that only some calls lead to is no hotter than those of them that other files make."""

import pytest
from packaged import found

OPS = """
import torch


def select(x: torch.Tensor, boxes: torch.Tensor | None = None, exact: bool = False):
    if {test}:
        return x.sum().item()
    return x
{more}
"""
NET = """
import torch
from .ops import select


class Net(torch.nn.Module):
    def forward(self, x, boxes=None):
        {call}
"""
OTHER = "from .ops import select\n\n\ndef other(x):\n    return select({given})\n"
GIVEN = "boxes is not None"


def told(call, test=GIVEN, more="", given=""):
    files = {"pkg/__init__.py": "", "pkg/ops.py": OPS.format(test=test, more=more), "pkg/net.py": NET.format(call=call)}
    files |= {"pkg/other.py": OTHER.format(given=given)} if given else {}
    finding = found(files)["pkg/ops.py"]
    return finding.heat, [fact.line for fact in finding.hot_path][1:]


@pytest.mark.parametrize(
    ("call", "test", "hot"),
    [
        ("return select(x, boxes)", GIVEN, True),
        ("return select(x, boxes=boxes)", GIVEN, True),
        ("return select(x)", GIVEN, False),
        ("return select(x, None)", GIVEN, False),
        ("return select(x, exact=True)", GIVEN, False),
        ("return select(x, exact=True)", "exact", True),
        ("return select(x, exact=False)", "exact", False),
        ("return select(x, exact=self.exact)", "exact", True),
        ("return select(x)", "boxes is None", True),
        ("return select(*x)", GIVEN, True),
        ("return select(x, **boxes)", GIVEN, True),
        ("return map(select, x)", GIVEN, True),
        ("return torch.nn.Sequential(select)(x)", GIVEN, False),
    ],
)
def test_a_call_that_leaves_out_what_the_line_needs_makes_it_no_hotter(call: str, test: str, hot: bool) -> None:
    assert (told(call, test)[0] == "hot") is hot


def test_what_nobody_gives_is_as_it_is_for_others() -> None:
    assert told("return select(x)")[0] == "unknown"
    assert told("return select(x)", "exact")[0] == "amortized"


def test_the_path_leads_by_a_call_that_gives_it() -> None:
    call = "x = self.first(x)\n        return select(x, boxes)\n\n    def first(self, x):\n        return select(x)"
    assert told(call) == ("hot", [9])
    assert told(call.replace("(x)", "(x, boxes)", 2))[0] == "hot"


def test_who_gives_it_may_do_so_at_every_step() -> None:
    assert told("return select(x)", given="x, x.boxes")[0] == "hot"
    assert told("return select(x)", given="x")[0] == "unknown"
    assert told("return select(x, boxes)", given="x")[0] == "hot"


def test_what_its_own_file_hands_on_counts() -> None:
    more = "\n\ndef pick(x, boxes):\n    return select(x, boxes)\n"
    call = "from .ops import pick\n\n        return pick(select(x), boxes)"
    assert told(call, more=more)[0] == "hot"
    assert told("return select(x)", more=more)[0] == "hot"
    assert told("return select(x)", more=more.replace("def pick", "def save_pick"))[0] == "cold"
