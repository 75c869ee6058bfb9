"""A call that says by what it gives that it does not come to a wait makes that no hotter, through however many calls;
the wait says what it asks for."""

import pytest
from packaged import found

OPS = """
import torch


def scatter(x: torch.Tensor, index: torch.Tensor, size: int | None = None, kind: str = "sum"):
    if {test}:
        return x.sum() * index.max().item()
    return x


def mean(x, index, size=None):
    total = scatter(x, index, size)
    size = total.size(0)
    return total / scatter(torch.ones(3), index, size)
"""
NET = """
import torch
from .ops import mean, scatter


class Net(torch.nn.Module):
    def forward(self, x, index, size: int, given=None):
        n = x.shape[0]
        for step in range(size):
            x = {call}
        return x
"""
NONE = "only where `size is None` holds"
KIND = 'only where `kind != "sum"` holds'


def told(call: str, test: str = "size is None") -> tuple[str, list[str]]:
    files = {"pkg/__init__.py": "", "pkg/ops.py": OPS.format(test=test), "pkg/net.py": NET.format(call=call)}
    finding = found(files)["pkg/ops.py"]
    return finding.heat, [fact.text for fact in finding.options]


@pytest.mark.parametrize(
    "call",
    [
        "scatter(x, index, 3)",
        "scatter(x, index, size)",
        "scatter(x, index, size=n)",
        "scatter(x, index, size=step)",
        "scatter(x, index, len(x), **given)",
        "mean(x, index, n)",
        "mean(x, index, size=x.size(0))",
    ],
)
def test_a_number_is_never_none(call: str) -> None:
    assert told(call) == ("unknown", [NONE])


@pytest.mark.parametrize(
    "call",
    [
        "scatter(x, index)",
        "scatter(x, index, None)",
        "scatter(x, index, given)",
        "scatter(x, index, **given)",
        "scatter(*given, size)",
        "scatter(x, index, n) + scatter(x, index, given)",
        "mean(x, index)",
        "mean(x, index, given)",
        "mean(x, index, n) + scatter(x, index)",
    ],
)
def test_what_may_be_none_may_lead_there(call: str) -> None:
    assert told(call)[0] == "hot"


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("scatter(x, index, kind='mean')", "hot"),
        ("scatter(x, index, kind=given)", "hot"),
        ("scatter(x, index, 3, 'sum')", "amortized"),
    ],
)
def test_what_is_written_out_is_compared(call: str, heat: str) -> None:
    assert told(call, "kind != 'sum'")[0] == heat
    assert told("scatter(x, index, kind='max')", "kind == 'mean'")[0] == "amortized"


ONE_HOT = """
import torch


def one_hot(x: torch.Tensor, size: int | None = None):
    if size is None:
        size = int(x.max()) + 1
    return torch.zeros(x.size(0), size).scatter_(1, x, 1.0)
"""
INNER = """

def inner(x, size=None):
    return one_hot(x, size)
"""
USES = """
from .ops import {names}


def loss(x, y, size=None):
    return {call} - y
"""


def nowhere(call: str, more: str = "", init: str = "", ops: str = "") -> tuple[str, list[str]]:
    names = ", ".join(name for name in ("inner", "one_hot") if name in call)
    uses = USES.format(call=call, names=names) + more
    files = {"pkg/__init__.py": init, "pkg/ops.py": ONE_HOT + ops, "pkg/loss.py": uses}
    finding = found(files)["pkg/ops.py"]
    return finding.heat, [fact.text for fact in (*finding.hot_path, *finding.options)]


@pytest.mark.parametrize(
    ("call", "ops"),
    [
        ("one_hot(x, 3)", ""),
        ("one_hot(x, max(2, y.shape[1]))", ""),
        ("one_hot(x, size=len(y)) + one_hot(y, 2)", ""),
        ("sum([one_hot(one, 7) for one in x])", ""),
        ("inner(x, y.size(0))", INNER),
        ("inner(x, y.size(0)) + one_hot(y, 2)", INNER),
    ],
)
def test_where_all_calls_give_otherwise_nothing_leads(call: str, ops: str) -> None:
    told = "as far as we see, `size is None` holds for none of its calls"
    assert nowhere(call, ops=ops) == ("cold", [told])


@pytest.mark.parametrize(
    ("call", "more", "init", "options"),
    [
        ("one_hot(x, 3)", "", "from .ops import one_hot\n", [NONE]),  # it is there for others
        ("one_hot(x, 3)", "", "from .ops import *\n", [NONE]),
        ("one_hot(x, 3)", "\n\nRULES = {'one': one_hot}\n", "", [NONE]),
        ("one_hot(x, 3) + one_hot(x)", "", "", []),
        ("one_hot(x, size)", "", "", []),
        ("one_hot(x, 3)", "\n\ndef other(x):\n    return one_hot(x)\n", "", []),
        ("one_hot(x, min(x))", "", "", []),
    ],
)
def test_who_else_calls_may_lead_there(call: str, more: str, init: str, options: list[str]) -> None:
    assert nowhere(call, more, init) == ("unknown", options)


@pytest.mark.parametrize(
    "ops",
    [
        "\n\nclass Encoder:\n    encode = staticmethod(one_hot)\n",
        "\n\ndef encoded(x, encode=one_hot):\n    return encode(x)\n",
        "\n\ndef each(xs):\n    return torch.vmap(one_hot)(xs)\n",
        "\n\ndef by(name, x):\n    return globals()[name](x)\n",
    ],
)
def test_what_its_own_file_hands_on_may_be_called_by_others(ops: str) -> None:
    assert nowhere("one_hot(x, 3)", ops=ops) == ("unknown", [NONE])


@pytest.mark.parametrize("asks", ["getattr(ops, cfg.encoder)(x)", "vars(ops)[cfg.encoder](x)"])
def test_what_is_asked_for_by_a_made_up_name_may_be_called_so(asks: str) -> None:
    more = f"\n\nfrom . import ops\n\n\ndef other(x, cfg):\n    return {asks}\n"
    assert nowhere("one_hot(x, 3)", more) == ("unknown", [NONE])


def test_what_its_file_lists_is_there_for_others() -> None:
    assert nowhere("one_hot(x, 3)", ops="\n\n__all__ = ['one_hot']\n") == ("unknown", [NONE])


@pytest.mark.parametrize("init", ["", "from .ops import inner\n"])
def test_who_hands_it_on_may_be_called_by_others(init: str) -> None:
    assert nowhere("inner(x, 3)", init=init, ops=INNER)[0] == ("unknown" if init else "cold")


READ = """
import torch


class Steps:
    def fraction(self, at: int | torch.Tensor):
        {keep}
        return int(at) / 10
"""
LOOP = """
import torch
from .steps import Steps


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = Steps()

    def forward(self, x, at, first: int = 0):
        for n in range(10):
            x = x * self.steps.fraction({given})
        return x
"""


@pytest.mark.parametrize(
    ("given", "keep", "expected"),
    [
        ("n", "pass", ("unknown", ["only where `at` is a tensor"])),
        ("at=n", "pass", ("unknown", ["only where `at` is a tensor"])),
        ("3", "pass", ("unknown", ["only where `at` is a tensor"])),
        ("first", "pass", ("unknown", ["only where `at` is a tensor"])),
        ("at", "pass", ("hot", [])),
        ("at[n]", "pass", ("hot", [])),
        ("at - 1", "pass", ("hot", [])),
        ("n - 1", "pass", ("unknown", ["only where `at` is a tensor"])),
        ("n", "at = torch.as_tensor(at, device='cuda')", ("hot", [])),
    ],
)
def test_a_number_is_no_tensor(given: str, keep: str, expected: tuple[str, list[str]]) -> None:
    files = {"pkg/__init__.py": "", "pkg/steps.py": READ.format(keep=keep), "pkg/net.py": LOOP.format(given=given)}
    finding = found(files)["pkg/steps.py"]
    assert (finding.heat, [fact.text for fact in finding.options]) == expected


METERS = """
import torch


class Meters:
    def __init__(self):
        self.meters = {}

    def update(self, **values):
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.item()
            self.meters[name] = value
"""
TRAINING = """
import torch
from .meters import Meters


def train(net, optimizer, batches, rest):
    meters = Meters()
    for x in batches:
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        shown = loss.item()
        {update}
"""


@pytest.mark.parametrize(
    ("update", "heat"),
    [
        ("meters.update(loss=loss.item())", "amortized"),
        ("meters.update(loss=shown, rate=optimizer.param_groups[0]['lr'])", "amortized"),
        ("meters.update(loss=float(loss)); meters.update(n=len(batches))", "amortized"),
        ("meters.update(loss=loss)", "hot"),
        ("meters.update(loss=loss.item()); meters.update(rate=rest.rate)", "hot"),
        ("meters.update(loss=shown, **rest)", "hot"),
        ("meters.update(first=optimizer.param_groups[0]['params'])", "hot"),
    ],
)
def test_numbers_under_any_names_are_no_tensors(update: str, heat: str) -> None:
    files = {"pkg/__init__.py": "", "pkg/meters.py": METERS, "pkg/train.py": TRAINING.format(update=update)}
    assert found(files)["pkg/meters.py"].heat == heat


@pytest.mark.parametrize(
    "changed",
    [
        METERS.replace("        for", "        values['size'] = self.size\n        for"),
        METERS.replace("        for", "        values = values or self.meters\n        for"),
        METERS.replace("        for", "        self.fill(values)\n        for"),
        METERS.replace("            if", "            value = self.read(value)\n            if"),
    ],
)
def test_what_is_put_among_them_may_be_one(changed: str) -> None:
    training = TRAINING.format(update="meters.update(loss=loss.item())")
    files = {"pkg/__init__.py": "", "pkg/meters.py": changed, "pkg/train.py": training}
    assert found(files)["pkg/meters.py"].heat == "hot"
