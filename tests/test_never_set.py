"""What an object does only where its constructor is told so is as seldom as that, where nothing that makes one says so
and it is there for nobody else."""

import pytest
from packaged import found

PARTS = """
import torch


{above}
class Sine(torch.nn.Module):
    def __init__(self, rate, pulse=False, remap=None):
        super(Sine, self).__init__()
        self.pulse, self.rate = pulse, rate
        self.remap = remap

    def forward(self, x):
        if {test}:
            return self.pulses(x)
        return x

    def pulses(self, x: torch.Tensor):
        return x[x > 0]
{more}
"""
NET = """
import torch
from .parts import Sine


class Net(torch.nn.Module):
    def __init__(self, deep=False, **rest):
        super().__init__()
        self.sine = {made}

    def forward(self, x):
        return self.sine(x)
"""
SAID = "but nothing that makes `Sine` sets `pulse`"


def told(made: str = "Sine(3)", test: str = "self.pulse", above: str = "", more: str = "", **others: str) -> str:
    files = {
        "pkg/__init__.py": others.pop("init", ""),
        "pkg/parts.py": PARTS.format(test=test, above=above, more=more),
        "pkg/net.py": NET.format(made=made),
        **{name if "." in name else name.replace("__", "/") + ".py": text for name, text in others.items()},
    }
    finding = found(files)["pkg/parts.py"]
    return finding.hot_path[-1].text if finding.heat == "amortized" else finding.heat


@pytest.mark.parametrize(
    "made",
    ["Sine(3)", "Sine(3, False)", "Sine(rate=3, pulse=False)", "Sine(3) if deep else Sine(4, remap=deep)"],
)
def test_what_nothing_sets_is_seldom(made: str) -> None:
    assert told(made) == SAID


def test_what_is_none_unless_it_is_given() -> None:
    assert told("Sine(3, remap=None)", "self.remap is not None") == "but nothing that makes `Sine` sets `remap`"


def test_its_own_file_may_make_it() -> None:
    assert told(more="\n\ndef made():\n    return Sine(2)\n") == SAID


@pytest.mark.parametrize(
    "made",
    ["Sine(3, True)", "Sine(3, deep)", "Sine(3, pulse=deep)", "Sine(3, **rest)", "Sine(*rest)", "(deep or Sine)(3)",
     "Sine(3) if deep else Sine(3, True)"],
)  # fmt: skip
def test_what_may_be_set_is_an_option(made: str) -> None:
    assert told(made) == "hot"


@pytest.mark.parametrize(
    "more",
    [
        {"init": "from .parts import Sine\n"},
        {"above": "__all__ = ['Sine']\n"},
        {"above": "@torch.jit.script\n"},
        {"more": "\n\ndef made(pulse):\n    return Sine(2, pulse)\n"},
        {"more": "\n\nclass Pulse(Sine):\n    pass\n"},
        {"more": "\n    @classmethod\n    def of(cls, **given):\n        return cls(**given)\n"},
        {"pkg__other": "from .parts import Sine\n\nMADE = {'sine': Sine}\n"},
        {"pkg__other": "from . import parts\n\nmade = parts.Sine(3, True)\n"},
        {"pkg/made.yaml": "sine:\n  _target_: pkg.parts.Sine\n  pulse: true\n"},
    ],
)
def test_what_others_may_make_is_an_option(more: dict[str, str]) -> None:
    assert told(**more) == "hot"


def test_what_else_must_be_set_is_an_option_as_before() -> None:
    assert told(test="self.rate > 3") == "hot"
    assert told(test="not self.pulse") == "hot"


OPS = "import torch\n\n\ndef pulses(x: torch.Tensor):\n    return x[x > 0]\n"
CALLS = PARTS.replace("return self.pulses(x)", "return pulses(x)").replace("return x[x > 0]", "return x")


@pytest.mark.parametrize(
    ("made", "heat"), [("Sine(3)", "amortized"), ("Sine(3, True)", "hot"), ("Sine(3, deep)", "hot")]
)
def test_what_it_alone_calls_in_another_file(made: str, heat: str) -> None:
    parts = CALLS.format(test="self.pulse", above="from .ops import pulses\n", more="")
    files = {"pkg/__init__.py": "", "pkg/ops.py": OPS, "pkg/parts.py": parts, "pkg/net.py": NET.format(made=made)}
    assert found(files)["pkg/ops.py"].heat == heat


TOP = "from .net import Net\n\n\ndef made():\n    return Net({given})\n"
DEEP = PARTS.format(test="x.dim() > 1", above="", more="")


@pytest.mark.parametrize(
    ("given", "init", "heat"),
    [
        ("", "", "amortized"),
        ("deep=False", "", "amortized"),
        ("True", "", "hot"),
        ("", "from .parts import Sine\n", "hot"),
        ("", "from .net import Net\n", "hot"),
    ],
)
def test_what_is_made_for_what_nothing_sets(given: str, init: str, heat: str) -> None:
    net = NET.format(made="Sine(3) if deep else None").replace(", **rest", "")
    files = {"pkg/__init__.py": init, "pkg/parts.py": DEEP, "pkg/net.py": net, "pkg/top.py": TOP.format(given=given)}
    assert found(files)["pkg/parts.py"].heat == heat


@pytest.mark.parametrize(
    ("line", "heat"),
    [
        ("net.sine.pulse = True", "hot"),
        ("setattr(net.sine, 'pulse', True)", "hot"),
        ("for one in net.modules(): one.pulse = True", "hot"),
        ("net.sine.pulse, net.sine.rate = True, 2", "hot"),
        ("net.sine.pulse |= self.deep", "hot"),
        ("setattr(\n        net.sine,\n        'pulse',\n        True,\n    )", "hot"),
        ("for name in ('pulse', 'rate'):\n        setattr(net.sine, name, True)", "hot"),
        ("net.sine.__dict__.update(pulse=True)", "hot"),
        ("vars(net.sine)['pulse'] = True", "hot"),
        ("print(net.sine.pulse, end='')", SAID),
        ("assert net.sine.pulse <= self.deep", SAID),
        ("return net.sine.pulse == True", SAID),
        ("self.pulse = True", SAID),  # of another object
        ("print('.pulse')", SAID),
    ],
)
def test_what_another_file_gives_an_object_is_set(line: str, heat: str) -> None:
    assert told(pkg__use=f"from .net import Net\n\n\ndef use(self, net: Net):\n    {line}\n") == heat


@pytest.mark.parametrize(
    "other",
    [
        "for key, value in rest.items():\n        setattr(net, key, value)",
        "net.__dict__.update(rest)",
        "vars(net.sine).update(rest)",
        "net = type(net)(3, True)",
        "net = net.__class__(3, True)",
    ],
)
def test_what_is_set_by_names_that_are_made_up_may_be(other: str) -> None:
    more = f"from .parts import Sine\n\n\ndef fill(net: Sine, **rest):\n    {other}\n    return net\n"
    assert told(pkg__other=more) == "hot"
    assert told(pkg__other=more.replace(other, "setattr(net, 'kind', rest)")) == SAID
