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
BOUND = "boxes is None:\n        boxes = x + 1\n    elif len(x) > len(boxes)"


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
        ("return select(x)", BOUND, False),
        ("return select(x, boxes)", BOUND, True),
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
    assert told("return select(x)", given="x, x.boxes") == ("unknown", [])
    assert told("return select(x)", "exact", given="x, exact=True") == ("unknown", [])  # though it is off by default
    assert told("return select(x)", "exact", given="x, x.boxes")[0] == "amortized"
    assert told("return select(x)", given="x")[0] == "unknown"
    assert told("return select(x, boxes)", given="x")[0] == "hot"


def test_what_its_own_file_hands_on_counts() -> None:
    more = "\n\ndef pick(x, boxes):\n    return select(x, boxes)\n"
    call = "from .ops import pick\n\n        return pick(select(x), boxes)"
    assert told(call, more=more)[0] == "hot"
    assert told("return select(x)", more=more) == ("unknown", [])
    assert told("return select(x)", more=more.replace("def pick", "def save_pick"))[0] == "cold"


INNER = """
from .ops import select


def inner(x, boxes=None, exact=False):
    {test}
        x = select(x, x, True)
    return x
"""
OUTER = """
import torch
from .inner import inner


class Net(torch.nn.Module):
    def forward(self, x, boxes=None):
        return inner({given})
"""


def by_two(given, test="if boxes is not None:", more=""):
    files = {"pkg/__init__.py": "", "pkg/ops.py": OPS.format(test=GIVEN, more="")}
    files |= {"pkg/inner.py": INNER.format(test=test) + more, "pkg/outer.py": OUTER.format(given=given)}
    finding = found(files)["pkg/ops.py"]
    return finding.heat, [fact.line for fact in finding.hot_path if fact.text.startswith("calls")]


@pytest.mark.parametrize("given", ["x, boxes", "x, boxes=x", "*x", "x, self.boxes, True"])
def test_a_call_is_reached_by_one_that_gives_what_it_needs(given: str) -> None:
    assert by_two(given) == ("hot", [8, 7])


@pytest.mark.parametrize("given", ["x", "x, None", "x, exact=True"])
def test_a_call_that_needs_more_than_it_is_given_is_not_reached(given: str) -> None:
    assert by_two(given) == ("unknown", [])  # others may ask for it at every step
    assert by_two(given, "if boxes is not None or exact:")[0] == ("hot" if "exact" in given else "unknown")
    assert by_two(given, "for _ in range(2):") == ("hot", [8, 7])


def test_what_another_function_gives_on_the_way_counts() -> None:
    outer = "\n\ndef outer(x, boxes=None):\n    return inner(x, boxes)\n"
    assert by_two("x", more=outer)[0] == "unknown"
    files = {"pkg/__init__.py": "", "pkg/ops.py": OPS.format(test=GIVEN, more="")}
    files |= {"pkg/inner.py": INNER.format(test="if boxes is not None:") + outer}
    for given, heat in (("x", "unknown"), ("x, None", "unknown"), ("x, x", "hot"), ("x, boxes", "hot")):
        text = OUTER.format(given=given).replace("inner", "outer").replace(".outer", ".inner")
        assert found({**files, "pkg/outer.py": text})["pkg/ops.py"].heat == heat
    text = OUTER.format(given="x").replace("inner", "outer").replace(".outer", ".inner")
    files["pkg/inner.py"] = files["pkg/inner.py"].replace("outer(x, boxes=None)", "outer(x, boxes=3)")
    assert found({**files, "pkg/outer.py": text})["pkg/ops.py"].heat == "hot"


def test_what_calls_itself_may_give_it() -> None:
    more = "\n\nclass Wide:\n    pass\n"
    itself = "    if x.shape[0] > 1:\n        x = select(x, {given})\n    return x\n"
    for given, heat in (("x", "hot"), ("boxes=x[0]", "hot"), ("boxes", "unknown"), ("None, exact", "unknown")):
        text = OPS.format(test=GIVEN, more=more).replace("    return x\n", itself.format(given=given))
        files = {"pkg/__init__.py": "", "pkg/ops.py": text, "pkg/net.py": NET.format(call="return select(x)")}
        assert found(files)["pkg/ops.py"].heat == heat


@pytest.mark.parametrize(
    ("second", "first", "heat"),
    [
        ("select(x, exact=True, **rest)", "select(x, **rest)", "amortized"),
        ("select(x, exact=True, **other)", "select(x, **rest)", "hot"),
        ("select(x, boxes=x, **rest)", "select(x, **rest)", "hot"),
        ("select(x, exact=True, **rest)", "select(x, exact=self.exact, **rest)", "hot"),
        ("select(x, exact=True, **rest)", "select(*x, **rest)", "hot"),
    ],
)
def test_a_dict_does_not_hold_what_another_call_gives_beside_it(second: str, first: str, heat: str) -> None:
    call = f"return {first}\n\n    def save_best(self, x, rest, other):\n        return {second}"
    assert told(call, "exact")[0] == heat


@pytest.mark.parametrize(
    ("rest", "heat"),
    [
        ('rest = {"exact": False, "size": x}', "amortized"),
        ('rest = {"size": x}', "amortized"),
        ('rest = {"exact": False}\n        rest = {k: v for k, v in rest.items() if k in self.names}', "amortized"),
        ('rest = {"exact": True}\n        rest = {k: v for k, v in rest.items() if k in self.names}', "hot"),
        ('rest = {"exact": False}\n        rest = {k: self.get(k) for k, v in rest.items()}', "hot"),
        ('rest = {"exact": False}\n        rest["exact"] = self.exact', "hot"),
        ('rest = {"exact": False}\n        rest.update(self.more)', "hot"),
        ('rest = {"exact": False, **self.more}', "hot"),
        ('rest = {"exact": False}\n        fill(rest)', "hot"),
        ("rest = self.rest", "hot"),
    ],
)
def test_a_dict_that_is_written_down_holds_what_it_says(rest: str, heat: str) -> None:
    assert told(f"{rest}\n        return select(x, **rest)", "exact")[0] == heat


KERNEL = """
import torch


class Kernel(torch.nn.Module):
    @property
    def scale(self):
        return self.raw.exp()

    @scale.setter
    def scale(self, value: torch.Tensor):
        self._set_scale(value)

    def _set_scale(self, value: torch.Tensor):
        if torch.isfinite(value).all():
            self.raw.data = value
"""
ARC = """
from .kernel import Kernel


class Arc(Kernel):
    def forward(self, x):
        return x / self.scale
"""


def test_what_asks_for_a_property_does_not_set_it() -> None:
    finding = found({"pkg/__init__.py": "", "pkg/kernel.py": KERNEL, "pkg/arc.py": ARC})["pkg/kernel.py"]
    assert finding.heat == "unknown"


SCHEDULE = """
import torch


class Schedule:
    def set_steps(self, n, device=None):
        self.times = torch.arange(n, device=device)

    def add_noise(self, x: torch.Tensor, noise: torch.Tensor, t: torch.Tensor):
        times = self.times.to(x.device)
        return x + noise * (times == t).nonzero()[0]
"""
DRAW = """
import numpy as np
import torch
from .schedule import Schedule


class Draw:
    def __init__(self, unet, schedule: Schedule):
        self.unet, self.schedule = unet, schedule

    def draw(self, x, noise):
        for t in self.schedule.times:
            x = self.unet(x, t)
            y = self.schedule.add_noise({given})
        return x
"""


def test_the_path_is_that_of_what_is_not_on_the_host() -> None:
    exported = "torch.from_numpy(x), torch.from_numpy(noise), torch.from_numpy(np.array([t]))"
    files = {"pkg/__init__.py": "", "pkg/schedule.py": SCHEDULE, "pkg/exported.py": DRAW.format(given=exported)}
    assert found(files)["pkg/schedule.py"].hot_path[0].path.endswith("exported.py")
    files["pkg/other.py"] = DRAW.format(given="x, noise, torch.tensor([t])")
    finding = found(files)["pkg/schedule.py"]
    assert finding.heat == "hot"
    assert finding.hot_path[0].path.endswith("other.py")


CHAIN = """
import torch

from .deep import deep


def run(x: torch.Tensor, label: bool = True, pocket: bool = False, **more):
    if pocket:
        {asserts}
        return deep(x)
    return x
"""
DEEP = "import torch\n\n\ndef deep(x: torch.Tensor):\n    return x.sum().item()\n"
FITS = """
import torch
from .chain import run


class Net(torch.nn.Module):
    def forward(self, x, cfg):
        {call}

    def {other}(self, x, cfg):
        return run(x, label=False, pocket=True)


net = Net()
"""


@pytest.mark.parametrize(
    ("asserts", "call", "other", "expected"),
    [
        ("assert not label", "return run(x, label=True, **cfg)", "measure", ("unknown", "")),
        ("assert not label", "return run(x, label=True, **cfg)", "validation_step", ("hot", "validation_step")),
        ("if label:\n            raise ValueError", "return run(x, label=True, **cfg)", "measure", ("unknown", "")),
        ("assert not label", "return run(x, label=False, **cfg)", "measure", ("hot", "forward")),
        ("assert label", "return run(x, label=True, **cfg)", "measure", ("hot", "forward")),
        ("label = False\n        assert not label", "return run(x, label=True, **cfg)", "measure", ("hot", "forward")),
        ("pass", "return run(x, label=True, **cfg)", "measure", ("hot", "forward")),
    ],
)
def test_a_call_does_not_lead_beyond_what_is_asserted_of_what_it_gives(
    asserts: str, call: str, other: str, expected: tuple[str, str]
) -> None:
    files = {"pkg/__init__.py": "", "pkg/chain.py": CHAIN.format(asserts=asserts), "pkg/deep.py": DEEP}
    finding = found({**files, "pkg/net.py": FITS.format(call=call, other=other)})["pkg/deep.py"]
    first = finding.hot_path[0].text.partition("`")[2].partition("`")[0] if finding.heat == "hot" else ""
    assert (finding.heat, first.rpartition(".")[2]) == expected


METRICS = """
import torch
from .deep import deep


class Task(torch.nn.Module):
    def training_step(self, batch):
        return self._log(batch{first})

    def validation_step(self, batch):
        return self._log(batch{second})

    def _log(self, batch, train=True):
        return self._metrics(batch, whole={given})

    def _metrics(self, batch, whole=False):
        if whole:
            return deep(batch)
        return batch
"""


@pytest.mark.parametrize(
    ("given", "first", "second", "expected"),
    [
        ("not train", "", ", train=False", "validation_step"),
        ("(not train)", ", train=False", "", "training_step"),
        ("not train", "", ", False", "validation_step"),
        ("train is False", "", ", train=batch.train", "validation_step"),
        ("batch.whole", "", ", train=False", "training_step"),
        ("not train or batch.whole", "", ", train=False", "training_step"),
    ],
)
def test_what_is_made_of_what_a_call_gives_leads_there(given: str, first: str, second: str, expected: str) -> None:
    files = {"pkg/__init__.py": "", "pkg/deep.py": DEEP}
    net = METRICS.format(given=given, first=first, second=second)
    finding = found({**files, "pkg/net.py": net})["pkg/deep.py"]
    assert finding.heat == "hot"
    assert finding.hot_path[0].text.startswith(f"`Task.{expected}`")


OF_MODULE = """
import torch
from . import deep


class Net(torch.nn.Module):
    def forward(self, x):
        return {call}
"""
LIMITED = """
import torch


def deep(x: torch.Tensor, limit: float = 0.0):
    if limit > 0:
        return x.max().item()
    return x


class Part:
    def deep(self, x: torch.Tensor, limit: float = 0.0):
        return deep(x, limit)
"""


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("deep.deep(x * 2)", "amortized"),
        ("deep.deep(x, 2.0)", "hot"),
        ("deep.Part().deep(x * 2)", "amortized"),
        ("deep.Part().deep(x, 2.0)", "hot"),
        ("deep.Part.deep(deep.Part(), x, 2.0)", "hot"),
    ],
)
def test_a_function_of_a_module_is_given_what_is_written_first(call: str, heat: str) -> None:
    files = {"pkg/__init__.py": "", "pkg/deep.py": LIMITED, "pkg/net.py": OF_MODULE.format(call=call)}
    assert found(files)["pkg/deep.py"].heat == heat


KINDS = """
import torch


def skips(x: torch.Tensor) -> bool:
    return bool((x > 0).all())


def whole(x, exact: bool = False):
    if exact and skips(x):
        return None
    return x.exp()


def parts(x, exact: bool = False, **rest):
    return whole(x, exact=exact, **rest)


KINDS = {{"whole": whole, "parts": parts}}


def first(x, kind: str):
    pick = KINDS[kind]
    return pick(x)


def second(x, kind: str):
    pick = KINDS[kind]
    return pick(x, {given})
"""
NETS = """
import torch
from .ops import first, second


class Net(torch.nn.Module):
    def forward(self, x):
        return {call}
"""


@pytest.mark.parametrize(
    ("call", "given", "hot"),
    [
        ("first(x, 'whole')", "exact=True", False),
        ("second(x, 'whole')", "exact=False", False),
        ("second(x, 'whole')", "exact=True", True),
        ("second(x, 'whole')", "**x", True),
        ("second(first(x, 'whole'), 'whole')", "exact=True", True),
    ],
)
def test_what_a_table_gives_is_called_with_what_is_written(call: str, given: str, hot: bool) -> None:
    files = {"pkg/__init__.py": "", "pkg/ops.py": KINDS.format(given=given), "pkg/net.py": NETS.format(call=call)}
    (finding,) = [one for path, one in found(files).items() if path == "pkg/ops.py"]
    assert [fact.text.partition("only")[2] for fact in finding.options] == [
        " where `exact` holds; by default `exact` is `False`"
    ]
    assert (finding.heat == "hot") is hot
    assert not hot or "second" in finding.hot_path[1].text


def test_of_several_calls_of_one_function_those_lead_there_that_give_it() -> None:
    assert told("y = select(x)\n        return select(y, boxes)") == ("hot", [9])
    assert told("y = select(x, boxes)\n        return select(y)") == ("hot", [8])
    assert told("y = select(x)\n        return select(y, None)")[0] == "unknown"
    assert told("y = select(x, 1)\n        return select(y)", "boxes is None") == ("hot", [9])


CALLED = """
import torch


class Select:
    def __call__(self, x: torch.Tensor, low=None, high=None, limit: float = -1.0):
        if {test}:
            return x.sum().item()
        return x
"""
CALLING = """
import torch
from .ops import Select


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.select = Select()

    def forward(self, x, low, high):
        return self.select(x{given})
"""


@pytest.mark.parametrize(
    ("test", "given", "hot"),
    [
        ("limit > 0", "", False),
        ("limit > 0", ", limit=0.5", True),
        ("limit < 0", "", True),
        ("low is not None", "", False),
        ("low is not None", ", low", True),
        ("low is not None and high is not None", ", low", False),
        ("low is not None and high is not None", ", high=high", False),
        ("low is not None and high is not None", ", low, high", True),
    ],
)
def test_what_an_object_is_called_with_counts(test: str, given: str, hot: bool) -> None:
    files = {"pkg/__init__.py": "", "pkg/ops.py": CALLED.format(test=test), "pkg/net.py": CALLING.format(given=given)}
    assert (found(files)["pkg/ops.py"].heat == "hot") is hot
