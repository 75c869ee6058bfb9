"""What an object keeps from its first step on is made at every step where another file empties it there."""

import pytest
from packaged import found

KEPT = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None
        self.first = True

    def forward(self, x: torch.Tensor):
        {test}:
            {turns}
            self.count = x.sum().item()
        return x * self.count
"""
TABLE = {"test": "if self.table is None", "turns": "self.table = 2 * x"}
FLAG = {"test": "if self.first", "turns": "self.first = False"}
TRAIN = """
from .net import Net


def train(net: {of}, loader, optimizer):
    {before}
    for x in loader:
        {each}
        net(x).sum().backward()
        optimizer.step()
    {behind}
"""
HEIR = """
from .net import Net


class Below(Net):
    def {name}(self, x):
        {does}
        return super().forward(x)
"""


def heat(kept: dict[str, str], other: str) -> str:
    return found({"pkg/__init__.py": "", "pkg/net.py": KEPT.format(**kept), "pkg/other.py": other})["pkg/net.py"].heat


@pytest.mark.parametrize(
    ("kept", "empties", "other"), [(TABLE, "table = None", "rows = None"), (FLAG, "first = True", "last = True")]
)
def test_what_is_put_back_at_every_step_is_made_there(kept: dict[str, str], empties: str, other: str) -> None:
    parts = {"of": "Net", "before": "pass", "each": "pass", "behind": "pass"}
    net = f"net.{empties}"
    assert heat(kept, TRAIN.format(**parts | {"each": net})) == "hot"
    assert heat(kept, TRAIN.format(**parts | {"each": f"net.{other}"})) == "amortized"
    assert heat(kept, TRAIN.format(**parts | {"each": f"if x is None:\n            {net}"})) == "amortized"
    assert heat(kept, TRAIN.format(**parts | {"before": net})) == "amortized"
    assert heat(kept, TRAIN.format(**parts | {"behind": net})) == "amortized"
    assert heat(kept, HEIR.format(name="forward", does=f"self.{empties}")) == "hot"
    assert heat(kept, HEIR.format(name="forward", does=f"self.{other}")) == "amortized"
    assert heat(kept, HEIR.format(name="load", does=f"self.{empties}")) == "amortized"


def test_a_helper_of_the_loop_puts_it_back() -> None:
    helper = (
        "def anew(net):\n    net.first = True\n\n\ndef other(net):\n    if net.late:\n        net.first = True\n\n\n"
    )
    parts = {"of": "Net", "before": "pass", "behind": "pass"}
    for each, told in (
        ("anew(net)", "hot"),
        ("other(net)", "amortized"),
        ("if x is None:\n            anew(net)", "amortized"),
    ):
        assert heat(FLAG, TRAIN.format(**parts | {"each": each}).replace("def train", helper + "def train")) == told
    text = TRAIN.format(**parts | {"each": "anew(net)"}).replace(
        "from .net import Net", "from .net import Net\nfrom .anew import anew"
    )
    files = {"pkg/__init__.py": "", "pkg/net.py": KEPT.format(**FLAG), "pkg/other.py": text}
    files["pkg/anew.py"] = f"from .net import Net\n\n\n{helper}"
    assert found(files)["pkg/net.py"].heat == "hot"


@pytest.mark.parametrize("kept", [TABLE, FLAG])
def test_what_each_step_makes_anew_keeps_nothing(kept: dict[str, str]) -> None:
    parts = {"of": "object", "before": "pass", "each": "pass", "behind": "pass"}
    made = "own = Net()"
    assert heat(kept, TRAIN.format(**parts | {"each": made})) == "hot"
    long = TRAIN.replace("for x in loader:", "for x in tqdm(\n            loader, desc='train'\n    ):")
    assert heat(kept, long.format(**parts | {"each": made})) == "hot"
    assert heat(kept, long.format(**parts | {"each": f"if x is None:\n            {made}"})) == "amortized"
    assert heat(kept, TRAIN.format(**parts | {"before": made})) == "amortized"
    assert heat(kept, TRAIN.format(**parts | {"each": f"if x is None:\n            {made}"})) == "amortized"
    above = HEIR.replace("class Below(Net)", "class Above(nn.Module)").replace(
        "from .net", "from torch import nn\nfrom .net"
    )
    assert heat(kept, above.format(name="forward", does="self.own = Net()")) == "hot"
    assert heat(kept, above.format(name="build", does="self.own = Net()")) == "amortized"
    assert heat(kept, above.format(name="forward", does="if x is None:\n            self.own = Net()")) == "amortized"


HELPED = """
from torch import nn
from .net import Net


class Above(nn.Module):
    def forward(self, x):
        {calls}
        return x

    def _under(self, x):
        {does}
        return own(x)
"""


@pytest.mark.parametrize(
    ("calls", "does", "told"),
    [
        ("x = self._under(x)", "own = Net()", "hot"),
        ("with off(): x = self._under(x)", "own = Net()", "hot"),
        ("x = self._under(x)", "if x: own = Net()", "amortized"),
        ("if x is None: x = self._under(x)", "own = Net()", "amortized"),
        ("x = self._under(x)", "if self.own: return self.own(x)\n        own = self.own = Net()", "amortized"),
        ("x = self._under(x)", "if self.own:\n            return x\n        own = Net()", "amortized"),
    ],
)
def test_what_a_helper_of_a_step_makes_anew(calls: str, does: str, told: str) -> None:
    assert heat(TABLE, HELPED.format(calls=calls, does=does)) == told


@pytest.mark.parametrize(
    ("each", "told"),
    [
        ("own, other = Net(), None", "hot"),
        ("own: Net = Net()", "hot"),
        ("own = [Net() for _ in range(2)]", "hot"),
        ("own = Sequential(Net())", "hot"),
        ("with off():\n            own = Net()", "hot"),
        ("own = Net(x.get(1) or 2, (3 if x else 4))", "hot"),
        ("for _ in x:\n            own = Net()", "hot"),
        ("while x:\n            own = Net()", "amortized"),
        ("own = own or Net()", "amortized"),
        ("own = Net() if x is None else own", "amortized"),
        ("own = kept.setdefault(1, Net())", "amortized"),
        ("own = other.Net()", "amortized"),
        ('"""\n        own = Net()\n        """', "amortized"),
    ],
)
def test_a_line_that_may_make_another_one(each: str, told: str) -> None:
    parts = {"of": "object", "before": "pass", "each": each, "behind": "pass"}
    assert heat(TABLE, TRAIN.format(**parts)) == told
    renamed = TRAIN.format(**parts).replace("Net(", "Own(").replace("import Net", "import Net as Own")
    assert heat(TABLE, renamed) == told
    assert heat(TABLE, TRAIN.format(**parts).replace("from .net", "from elsewhere")) == "amortized"


AROUND = """
from .net import Net


def train(loader, optimizer):
    for fold in range(5):
        {fold}
        for epoch in range(3):
            {epoch}
            for x in loader:
                {each}
                net(x).sum().backward()
                optimizer.step()
"""


@pytest.mark.parametrize(("at", "told"), [("fold", "amortized"), ("epoch", "amortized"), ("each", "hot")])
def test_a_loop_around_that_of_the_steps_takes_none(at: str, told: str) -> None:
    text = AROUND.format(**{"fold": "pass", "epoch": "pass", "each": "pass", at: "net = Net()"})
    assert heat(TABLE, text) == told
    assert heat(TABLE, text.replace("in loader:", "in tqdm(\n                loader\n            ):")) == told


GENERATES = """
import torch
from torch import nn
from .net import Net


class Speaker(nn.Module):
    @torch.no_grad()
    def generate(self, ids, n):
        own = Net()
        for _ in range(n):
            out = own(self.of(ids))
            ids = torch.cat([ids, out], 0)
        return ids


def speak(speaker: Speaker, loader):
    for x in loader:
        speaker.generate(x, 100)
"""


def test_what_a_generation_makes_before_its_loop_lasts_for_it() -> None:
    assert heat(TABLE, GENERATES) == "amortized"


def test_what_nothing_in_its_application_names_makes_nothing() -> None:
    bench = "from net import Net\n\n\ndef bench(loader):\n    for x in loader:\n        own = Net()\n        own(x)\n"
    train = TRAIN.replace(".net", "net").format(of="Net", before="pass", each="pass", behind="pass")
    files = {"README.md": "", "requirements.txt": "torch", "net.py": KEPT.format(**TABLE), "other.py": ""}
    files["train.py"] = f"import argparse\n{train}\n\nif __name__ == '__main__':\n    train(Net(), [], None)\n"
    assert found({**files, "bench.py": bench})["net.py"].heat == "amortized"
    assert found({**files, "bench.py": bench + "\n\nbench([])\n"})["net.py"].heat == "hot"


def test_what_is_emptied_by_made_up_names_is_emptied() -> None:
    text = (
        KEPT.format(**TABLE)
        + """
    def clear(self):
        for name in ("table", "count"):
            setattr(self, {key}, None)


def train(net: Net, loader, optimizer):
    for x in loader:
        net.clear()
        net(x).sum().backward()
        optimizer.step()
"""
    )
    for key, told in (("name", "hot"), ("'other'", "amortized")):
        assert found({"pkg/__init__.py": "", "pkg/net.py": text.replace("{key}", key)})["pkg/net.py"].heat == told


def test_another_class_of_that_name_is_another_one() -> None:
    parts = {"of": "object", "before": "pass", "each": "own = Net()", "behind": "pass"}
    files = {f"{one}/net.py": KEPT.format(**TABLE) for one in ("near", "far")}
    files |= {"README.md": "", "setup.py": "", "near/train.py": TRAIN.format(**parts), "near/__init__.py": ""}
    files["far/__init__.py"] = files["__init__.py"] = ""
    told = found(files)
    assert (told["near/net.py"].heat, told["far/net.py"].heat) == ("hot", "amortized")


METER = """
import torch


class Meter:
    def __init__(self):
        self.base = None

    def __call__(self, loss: torch.Tensor):
        if self.base is None:
            self.base = loss.item()
        return self.base


def train(net, optimizer, loader):
    {before}
    for x in loader:
        {each}
        loss = net(x).sum()
        loss.backward()
        optimizer.step()
        meter(loss)
"""


def test_it_is_so_in_one_file() -> None:
    for before, each, told in (("pass", "meter = Meter()", "hot"), ("meter = Meter()", "pass", "amortized")):
        text = METER.format(before=before, each=each)
        assert found({"pkg/__init__.py": "", "pkg/meter.py": text})["pkg/meter.py"].heat == told


STEPS = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None
        self.last = 0
        self.register_buffer("mask", torch.zeros({first}))

    def forward(self, x: torch.Tensor, t: int):
        n = x.shape[1]
        if {test}:
            self.table = self.mask = torch.ones({size}, n, device=x.device) * x.sum().item()
            self.last = t
        return x * self.table


@torch.no_grad()
def sample(net: Net, x):
    for {turn} in range(1000):
        y = net(x, t)
        x = {makes}
    return x
"""


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({}, "hot"),
        ({"turn": "n"}, "amortized"),
        ({"test": "self.table is None or self.last != n"}, "amortized"),
        ({"test": "self.mask.shape[0] < n"}, "amortized"),
        ({"test": "self.mask.shape[0] < n", "makes": "torch.cat([x, y], 1)"}, "hot"),
        ({"test": "self.mask.shape[0] < n", "makes": "torch.cat([x, y], 1)", "first": "2048, 2048"}, "amortized"),
        ({"test": "self.mask.shape[0] < n", "makes": "torch.cat([x, y], 1)", "size": "2 * n"}, "amortized"),
        ({"test": "self.mask.size(0) != x.size(1)", "makes": "torch.cat([x, y], 1)", "first": "1, 1"}, "hot"),
        ({"test": "self.table is None or self.table.shape[0] < n", "makes": "torch.cat([x, y], 1)"}, "hot"),
        ({"test": "self.table is None or self.table.shape[0] != n", "makes": "torch.cat([x, y], 1)"}, "hot"),
        ({"test": "self.table is None or self.table.shape[0] != n"}, "amortized"),
        ({"test": "self.table is None or self.table.shape[0] != x.size(0)", "makes": "torch.cat([x, y])"}, "amortized"),
    ],
)
def test_what_is_another_one_in_each_turn_is_built_there(parts: dict[str, str], told: str) -> None:
    usual = {"test": "self.table is None or self.last != t", "turn": "t", "makes": "y", "first": "0, 0", "size": "n"}
    files = {"pkg/__init__.py": "", "pkg/net.py": STEPS.format(**usual | parts)}
    assert found(files)["pkg/net.py"].heat == told
