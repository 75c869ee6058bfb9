"""An option of an object that another file is seen to give otherwise than it is by default is one that somebody asks
for."""

import pytest
from packaged import found

NET = """
import torch


class Base:
    def __init__(self, rate, exact=False):
        self.exact = exact
        self._scale = 1.0

    def over(self, x, scale=1.0):
        self._scale = scale
        return x

    def exactly(self):
        return self.exact

    def pick(self, x: torch.Tensor, deep=False):
        if {test}:
            return x[x > 0]
        return x
"""
GUIDE = NET.replace("        self._scale = 1.0\n", "")
USES = "from .net import Base\n\n\ndef main(x, scale):\n    net = {made}\n    {sets}\n    return net\n"
HEIR = "from .net import Base\n\n\nclass Net(Base):\n    {has}\n"
INIT = "def __init__(self):\n        "


def heat(test: str, more: str, net: str = NET) -> str:
    finding = found({"pkg/__init__.py": "", "pkg/net.py": net.format(test=test), "pkg/more.py": more})["pkg/net.py"]
    assert finding.options
    assert all("; by default" in fact.text for fact in finding.options)
    return finding.heat


@pytest.mark.parametrize(
    ("made", "sets", "heats"),
    [
        ("Base(1, True)", "pass", "unknown"),
        ("Base(1, exact=True)", "pass", "unknown"),
        ("Base(1, *scale, True)", "pass", "amortized"),
        ("Base(1, False)", "pass", "amortized"),
        ("Base(True)", "pass", "amortized"),
        ("Base(1)", "net.exact = True", "unknown"),
        ("Base(1)", "net.exact = scale", "unknown"),
        ("Base(1)", "net.other = True", "amortized"),
        ("Base(1)", "print(net.exact == True)", "amortized"),
    ],
)
def test_who_makes_or_sets_it_asks_for_it(made: str, sets: str, heats: str) -> None:
    assert heat("self.exact", USES.format(made=made, sets=sets)) == heats


@pytest.mark.parametrize(
    ("sets", "heats"),
    [
        ("def main(it, guide):\n    it.net.guide = guide\n", "unknown"),
        ("class Other:\n    def __init__(self, it, guide):\n        self.guide = it.net.guide = guide\n", "unknown"),
        ("class Other:\n    def __init__(self, guide):\n        self.guide = guide\n", "amortized"),
        ("def main(it, guide):\n    return it.net.guide == guide\n", "amortized"),
    ],
)
def test_what_a_constructor_leaves_at_none_is_there_to_be_set(sets: str, heats: str) -> None:
    net = NET.replace("self._scale = 1.0", "self.guide = None")
    assert heat("self.guide is not None", sets, net.replace("self._scale = scale", "pass")) == heats


@pytest.mark.parametrize(
    ("has", "heats"),
    [
        (INIT + "super().__init__(2, True)", "unknown"),
        (INIT + "super().__init__(2)", "amortized"),
        (INIT + "super().__init__(2)\n        self.exact = True", "unknown"),
        ("def exactly(self):\n        return True", "unknown"),
        ("def other(self):\n        return True", "amortized"),
    ],
)
def test_who_descends_from_its_class_may(has: str, heats: str) -> None:
    assert heat("self.exactly()", HEIR.format(has=has)) == heats
    assert heat("self.exactly()", "", NET + "\n" + HEIR.format(has=has).partition("\n")[2]) == heats


def test_what_one_method_gives_may_be_given_from_without() -> None:
    sets = USES.format(made="Base(1)", sets="net._scale = scale")
    assert heat("self._scale > 1.0", sets, GUIDE) == "unknown"
    unnamed = "def main(net, scale):\n    net._scale = scale\n"
    assert heat("self._scale > 1.0", unnamed, GUIDE) == "unknown"
    other = "class Other:\n    def __init__(self):\n        self._scale = 2\n"
    assert heat("self._scale > 1.0", unnamed + other, GUIDE) == "amortized"


@pytest.mark.parametrize(("call", "heats"), [("x, True", "unknown"), ("x, deep=True", "unknown"), ("x", "amortized")])
def test_what_a_class_above_asks_for(call: str, heats: str) -> None:
    above = f"class Above:\n    def run(self, x):\n        return self.pick({call})\n"
    net = NET.replace("class Base:", "class Base(Above):").replace(
        "import torch", "import torch\nfrom .more import Above"
    )
    assert heat("deep", above, net) == heats


def test_what_must_be_given_has_no_default() -> None:
    options = "class Options:\n    rate: float = 0.0\n\n\n"
    net = f"""
import torch
from dataclasses import dataclass


@dataclass
{options}class Greedy:
    def __init__(self, rate):
        self.rate = rate

    def pick(self, x: torch.Tensor):
        if self.rate > 0:
            return x[x > 0]
        return x


def make(options: Options):
    return Greedy(options.rate)
"""
    main = "from .net import Greedy\n\n\ndef main(x):\n    return Greedy({}).pick(x)\n"

    def told(given: str) -> tuple[str, list[str]]:
        finding = found({"pkg/__init__.py": "", "pkg/net.py": net, "pkg/main.py": main.format(given)})["pkg/net.py"]
        return finding.heat, [fact.text for fact in finding.options]

    assert told("0.7") == ("unknown", ["only where `self.rate > 0` holds"])
    assert told("0.0") == ("amortized", ["only where `self.rate > 0` holds; by default `self.rate` is `0.0`"])
