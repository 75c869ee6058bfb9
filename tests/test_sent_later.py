"""What is moved to the device later is on the host before, in whatever other file is given it until then."""

import pytest
from packaged import found

SPLIT = """
import torch


def lengths(batch, longest):
    seen = batch["mask"].sum(dim=1)
    assert longest >= max(seen)
    return seen.sum().item()
"""
PREPARE = """
from .split import lengths


def prepare(data, longest=4):
    rows = data["rows"]
    total = lengths(data, longest)
    return [data[row] for row in rows], total
"""
ENGINE = """
import torch
from .prepare import prepare

device = torch.device("cuda")


class Engine:
    def __init__(self, net: torch.nn.Module):
        self.net = net

    def run(self, data):
        count = data["mask"].sum()
        {before}batches, total = prepare(data=data)
        {moved}
        return [self.net(batch["x"]) for batch in batches]
"""
MOVED = 'mask = data["mask"].to(device)'


def heat(moved=MOVED, before="", **more):
    files = {
        "pkg/__init__.py": "",
        "pkg/split.py": SPLIT,
        "pkg/prepare.py": PREPARE,
        "pkg/engine.py": ENGINE.format(moved=moved, before=before),
    }
    finding = found({**files, **{f"pkg/{name}.py": text for name, text in more.items()}})["pkg/split.py"]
    return finding.heat, [fact.text for fact in finding.hot_path]


OTHER = "from .split import lengths\n\n\nclass Other:\n    def other(self, batch):\n        return lengths(batch, 4)\n"
UNUSED = "from .split import lengths\n\n\ndef unused(batch):\n    return lengths(batch, 4)\n"


def test_what_is_moved_later_is_on_the_host():
    assert heat() == ("cold", ["`data` is on the host: it is moved to the device later"])


@pytest.mark.parametrize("given", ["torch.randn(4, 8, device=net.device)", "next(loader).to(device)"])
def test_what_is_moved_where_it_is_may_be_there_before(given):
    train = (
        f"from .engine import Engine, device\nimport torch\n\n\ndef train(net, loader):\n    Engine(net).run({given})\n"
    )
    assert heat(train=train)[0] == "unknown"


@pytest.mark.parametrize(
    ("moved", "before", "more"),
    [
        ("pass", "", {}),
        (MOVED, "if count is None: data = self.fresh()\n        ", {}),
        (MOVED, f"{MOVED}\n        data = data.to(device)\n        ", {}),
        (MOVED, "", {"other": OTHER}),
        (MOVED, "", {"other": "from .split import lengths\n\n\nHOOKS = [lengths]\n"}),
        (MOVED, "", {"__init__": "from .split import lengths\n"}),
    ],
)
def test_others_may_have_it_on_the_device(moved, before, more):
    assert heat(moved, before, **more)[0] == "unknown"


def test_a_function_that_nobody_calls_gives_nothing():
    assert heat(other=UNUSED)[0] == "cold"


TRAIN = """
from .engine import Engine
from .split import lengths


class Worker:
    def __init__(self, net):
        self.engine = Engine(net)

    def train(self, data):
        longest = lengths(data, 8)
        {then}self.engine.run(data)
"""


@pytest.mark.parametrize(("then", "expected"), [("", "cold"), ("if longest: ", "unknown"), ("# ", "unknown")])
def test_what_hands_it_on_to_be_moved_has_it_on_the_host(then, expected):
    assert heat(train=TRAIN.format(then=then))[0] == expected


@pytest.mark.parametrize(
    "rows", ["[row for row in row]", "[a for a in b for b in a]", "[[row for row in row] for row in data]"]
)
def test_a_name_that_is_taken_of_itself_ends(rows):
    helper = "def longest(rows):\n    return max(rows)\n\n\n"
    text = f"import torch\n\n\n{helper}def prepare(data, row, a, b):\n    return longest({rows}), data.max().item()\n"
    assert found({"pkg/__init__.py": "", "pkg/rows.py": text})["pkg/rows.py"].code == "SG201"


def test_sizes_of_what_is_on_the_host_are_sent_all_the_same():
    core = "import torch\n\n\ndef padded(net, rows):\n    return torch.tensor([len(rows), *[x.shape[0] for x in rows]]"
    call = "padded(net, [torch.ones(n) for n in data])"
    run = f"import torch\nfrom .core import padded\n\n\ndef run(net, data):\n    return {call}\n"
    files = {"pkg/__init__.py": "", "pkg/run.py": run, "pkg/core.py": f"{core}, device=net.device)\n"}
    assert found(files)["pkg/core.py"].heat == "unknown"


AGENT = """
import torch


class Agent:
    def __init__(self, device):
        self.device = device
        self.net = torch.nn.Linear(4, 2).to(device)

    def act(self, seen):
        x = torch.tensor(seen, dtype=torch.float32, device=self.device)
        return self.net(x).argmax().item()
"""
PLAY = """
import numpy as np
import torch
from .agent import Agent


def play(steps):
    agent = Agent("cuda" if torch.cuda.is_available() else "cpu")
    for _ in range(steps):
        agent.act(np.zeros(4))
"""


@pytest.mark.parametrize(("old", "new"), [("", ""), ("self.net(x).argmax().item()", "self.net(x)")])
def test_what_is_built_of_it_is_where_it_is_asked_for_and_sent_there(old, new):
    files = {"pkg/__init__.py": "", "pkg/agent.py": AGENT.replace(old, new), "pkg/play.py": PLAY}
    assert found(files)["pkg/agent.py"].heat == "unknown"


KEPT = """
import torch
from safetensors import safe_open


def rows(path, names, device):
    with safe_open(path, framework="pt", device=device) as kept:
        for name in names:
            yield kept.get_tensor(name).max().item()
"""
STEPS = """
import torch
from .kept import rows


def train(net, opt, loader):
    for x in loader:
        net(x).mean().backward()
        opt.step()
        print(list(rows("x", {names}, {device})))
"""


@pytest.mark.parametrize(("names", "device"), [("['a']", "'cuda'"), ("list('ab')", "x.device")])
def test_a_text_is_nowhere(names, device):
    files = {"pkg/__init__.py": "", "pkg/kept.py": KEPT, "pkg/train.py": STEPS.format(names=names, device=device)}
    assert found(files)["pkg/kept.py"].heat == "hot"
