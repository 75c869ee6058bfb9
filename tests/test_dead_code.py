"""What nothing calls but what nothing calls itself: it is said so, and what is left over takes along what it calls."""

from __future__ import annotations

import pytest
from packaged import found

LOW = "import torch\n\n\ndef low(x: torch.Tensor) -> list:\n    return x.unique().tolist()\n"
OPS = "from pkg.low import low\n\n\n" + "".join(f"def op{n}(x):\n    return x\n\n\n" for n in range(3))
TOP = "def top(x):\n    return low(x)\n"
TAKEN = "from pkg.ops import op0, op1, op2\n"
HERE = {"pkg/__init__.py": "", "pkg/load.py": "", "pkg/low.py": LOW, "pkg/ops.py": OPS + TOP, "pkg/fit.py": TAKEN}
SAID = "only `top` leads to it, and nothing in its package names `top` yet"


def told(more: dict[str, str], asked: str = "") -> tuple[str, str]:
    """The heat of what is found in the function that is called, and what is said of it."""
    finding = found({**HERE, **more}, *([asked] if asked else []))["pkg/low.py"]
    assert finding.function == "low"
    return finding.heat, " ".join([fact.text for fact in finding.hot_path])


def test_what_is_left_over_takes_along_what_it_alone_calls():
    assert told({}) == ("cold", f"{SAID}, but others of that file")


def test_through_several_calls():
    between = "def middle(x):\n    return low(x)\n\n\n" + TOP.replace("low", "middle")
    assert told({"pkg/ops.py": OPS + between}) == ("cold", f"{SAID}, but others of that file")


def test_functions_that_call_one_another():
    both = "def other(x):\n    return low(x) if x else again(x)\n\n\ndef again(x):\n    return other(x)\n\n\n"
    heat, said = told({"pkg/ops.py": OPS + both + TOP.replace("low", "other")})
    assert (heat, said) == ("unknown", "")  # `again` calls `other`, and nothing says that nothing calls it


def test_what_may_be_there_for_others_is_shown_and_says_so():
    assert told({"pkg/fit.py": "from pkg.ops import op0\n"}) == ("unknown", SAID)


@pytest.mark.parametrize(
    "more",
    [
        {"pkg/use.py": "from pkg.low import low\n"},  # it may call it unseen
        {"pkg/use.py": "from pkg import ops\n\nfor n in range(9):\n    ops.top(n)\n"},
        {"pkg/use.py": "from pkg.low import low\n\n\ndef use(x):\n    return low(x)\n", "train.py": "pkg.use.use()\n"},
        {"pkg/__init__.py": "from .low import low\n\n__all__ = ['low']\n"},
    ],
)
def test_nothing_is_said_of_what_something_else_may_call(more):
    assert told(more) == ("unknown", "")


def test_what_a_hot_function_calls_is_hot():
    net = "import torch\nfrom pkg.low import low\n\n\nclass Net(torch.nn.Module):\n"
    assert told({"pkg/net.py": net + "    def forward(self, x):\n        return low(x)\n"})[0] == "hot"
