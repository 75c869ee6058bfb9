"""A method that its package calls nowhere but in what runs seldom does so too, whatever it is asked of."""

import pytest
from packaged import heats

PARTS = """
import torch


class Parts:
    def put(self, weight: torch.Tensor):
        self.kept = weight.cpu()

    def told(self, weight: torch.Tensor):
        return self.first(weight)

    def first(self, weight: torch.Tensor):
        return weight[0].item()
"""
LAYER = """
class Layer:
    def merge(self, weights):
        for weight in weights:
            self.parts.put(weight)

    def unmerge(self, weight):
        self.parts.put(weight)
"""
FILES = {"pkg/__init__.py": "", "pkg/parts.py": PARTS, "pkg/layer.py": LAYER}


def heat(**more):
    return heats({**FILES, **{name.replace("__", "/") + ".py": text for name, text in more.items()}})["pkg/parts.py"]


def only(body):
    """The heat of the one wait that is left beside `put`."""
    parts = PARTS.replace("self.kept = weight.cpu()", "self.kept = weight")
    return heat(pkg__parts=parts, pkg__layer=body)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"tests__test_parts": "def often(parts, x):\n    parts.put(x)\n"},
        {"pkg__other": "def put(x):\n    return put(x)\n"},  # a function of that name
        {"pkg__other": '"""Somebody calls parts.put(x)."""\n\n\ndef often():\n    # parts.put(x)\n    return 0\n'},
    ],
)
def test_what_is_merged_alone(more):
    files = {"pkg__parts": PARTS.replace("weight[0].item()", "weight[0]"), **more}
    assert heat(**files) == "cold"


@pytest.mark.parametrize(
    "text",
    [
        "def often(parts, x):\n    parts.put(x)\n",
        "def handed(parts, pool, x):\n    pool.map(parts.put, x)\n",
        "def load(parts, pool):\n    pool.register(parts.put)\n",
        'CALLED = "put"\n',
        "class Other:\n    each = put\n",
        "for x in range(9):\n    parts.put(x)\n",
    ],
)
def test_what_others_may_ask_for(text):
    assert heat(pkg__parts=PARTS.replace("weight[0].item()", "weight[0]"), pkg__other=text) == "unknown"


def test_what_leads_there():
    assert only("def load(parts, x):\n    return parts.told(x)\n") == "cold"
    assert only("def often(parts, x):\n    return parts.told(x)\n") == "unknown"


def test_a_gate_is_no_setup():
    body = """
import torch


class Layer(torch.nn.Module):
    def forward(self, x):
        if self.merged:
            self.unmerge(x)
        return x

    def merge(self, x):
        self.merged = True

    def unmerge(self, x):
        self.merged = False
        self.parts.told(x)
"""
    assert only(body) == "amortized"


@pytest.mark.parametrize(
    "decorated", ["@click.command()\ndef run", "def main", "@deprecated('use told')\ndef run", "def test_run"]
)
def test_who_else_runs_seldom_says_nothing_of_others(decorated):
    body = f"import click\nfrom typing_extensions import deprecated\n\n\n{decorated}(parts, x):\n    parts.told(x)\n"
    assert only(body) == "unknown"


def test_a_library_may_call_it():
    parts = PARTS.replace("class Parts:", "from lib import Base\n\n\nclass Parts(Base):")
    assert heat(pkg__parts=parts.replace("weight[0].item()", "weight[0]")) == "unknown"


SUMS = "import torch\n\n\ndef total(x: torch.Tensor):\n    return x.sum().item()\n"
KEEPS = "from .sums import total\n\n\nclass Kept:\n    def load(self, x):\n        self.x = total(x)\n"


def test_what_a_part_of_a_package_brings_in():
    files = {"pkg/ops/__init__.py": "from .sums import total\n\n__all__ = ['total']\n"}
    base = {"pkg/__init__.py": "", "pkg/ops/sums.py": SUMS, "pkg/ops/kept.py": KEEPS}
    assert heats({**base, **files})["pkg/ops/sums.py"] == "cold"
    assert heats({**base, **files, "pkg/__init__.py": "from .ops import total\n"})["pkg/ops/sums.py"] == "unknown"
    assert heats({**base, **files, "pkg/more.py": "from .ops import total\n"})["pkg/ops/sums.py"] == "unknown"


NESTED = """
import torch


class Tree:
    def counted(self, x: torch.Tensor):
        def visit(x):
            return x.sum().item()

        {gives}
"""


@pytest.mark.parametrize(("gives", "heat"), [("return visit(x)", "cold"), ("return visit", "unknown")])
def test_what_is_defined_there(gives, heat):
    asks = "class Data:\n    def setup(self, x):\n        self.n = self.tree.counted(x)\n"
    files = {"pkg/__init__.py": "", "pkg/tree.py": NESTED.format(gives=gives), "pkg/data.py": asks}
    assert heats(files)["pkg/tree.py"] == heat
    files["pkg/data.py"] = asks.replace("setup", "often")
    assert heats(files)["pkg/tree.py"] == "unknown"


@pytest.mark.parametrize(
    ("caller", "heat"),
    [
        ("class Other:\n    def __init__(self, x):\n        self.told(x)\n", "unknown"),  # its own
        (
            "from .parts import Parts\n\n\nclass Other(Parts):\n    def __init__(self, x):\n        self.told(x)\n",
            "cold",
        ),
        ("class Other:\n    def __init__(self, parts, x):\n        parts.told(x)\n", "cold"),
    ],
)
def test_what_another_class_asks_itself_for_is_its_own(caller, heat):
    assert only(caller) == heat


@pytest.mark.parametrize(("base", "heat"), [("(torch.nn.Module)", "cold"), ("", "unknown")])
def test_who_moves_a_module(base, heat):
    assert only(f"import torch\n\n\nclass Net{base}:\n    def to(self, x):\n        self.parts.told(x)\n") == heat


CHAIN = """
import torch


def _picked(mask: torch.Tensor):
    return torch.where(mask)[0]


def _sparse(x: torch.Tensor):
    return x[_picked(x > 0)]


def {name}(x: torch.Tensor):
    return _sparse(x)
"""
CORE = {"pkg/__init__.py": "", **{f"pkg/{name}.py": "" for name in ("fit", "load", "more")}}


@pytest.mark.parametrize(
    ("name", "fit", "heat"),
    [
        ("_dense", "", "cold"),
        ("_dense", "from .core import _dense\n\n\ndef run(x):\n    return _dense(x)\n", "unknown"),
        ("_dense", "from .core import _sparse\n\n\ndef run(x):\n    return _sparse(x)\n", "unknown"),
        ("dense", "", "unknown"),  # others may take it
        ("_dense", "from .core import _picked\n\nRULES = [_picked]\n", "unknown"),
    ],
)
def test_what_private_functions_call_that_nothing_names(name, fit, heat):
    assert heats({**CORE, "pkg/core.py": CHAIN.format(name=name), "pkg/fit.py": fit})["pkg/core.py"] == heat


LOADED = """
import torch


class Labels:
    def made(self, x: torch.Tensor):
        return {wait}
"""
COLLATE = """
class Batches:
    def collate_fn(self, batch):
        return self.labels.made(batch)
"""


@pytest.mark.parametrize(
    ("wait", "more", "heat"),
    [
        ("x.max().item()", "", "cold"),
        ("torch.tensor([1], device='cuda')", "", "unknown"),  # whoever has it do so
        ("x.max().item()", "\n\ndef predict(labels, x):\n    return labels.made(x)\n", "unknown"),
        (
            "x.max().item()",
            "\n\ndef collate(labels, x):\n    return labels.made(\n        x.cuda()\n    )\n",
            "unknown",
        ),
        ("x.max().item()", "\n\nMADE = [Batches().labels.made]\n", "unknown"),
    ],
)
def test_what_only_a_collate_function_calls_has_its_tensors_on_the_host(wait, more, heat):
    files = {**CORE, "pkg/core.py": LOADED.format(wait=wait), "pkg/load.py": COLLATE + more}
    assert heats(files)["pkg/core.py"] == heat


SAMPLE = """
class Sampler:
    def run(self, model, x):
        {before}
        for t in self.times:
            x = model(x, t)
            {inside}
        for part in x:
            {behind}
        return x
"""


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ({"before": "self.parts.put(x)"}, "amortized"),
        ({"behind": "self.parts.put(part)"}, "amortized"),
        ({"before": "self.parts.put(x)", "behind": "self.parts.put(part)"}, "amortized"),
        ({"before": "self.parts.put(x)", "inside": "self.parts.put(x)"}, "unknown"),
        ({"before": "while self.parts.put(x): x = x[1:]"}, "unknown"),  # it may turn often
        ({"before": "model = self.parts.put"}, "unknown"),
        ({"before": "self.parts.put(x)  # put, as each step does"}, "amortized"),
    ],
)
def test_around_the_loop_of_the_steps(lines, told):
    parts = PARTS.replace("weight[0].item()", "weight[0]")
    text = SAMPLE.format(**{"before": "pass", "inside": "pass", "behind": "pass", **lines})
    assert heat(pkg__parts=parts, pkg__layer=text) == told


SCRIPT = """
import pkg.parts


def main():
    {call}
    for _ in range(99):
        {inside}


def work(x):
    {work}
    for row in x:
        {row}


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ({"call": "pkg.parts.total(given)"}, "cold"),
        ({"inside": "pkg.parts.total(given)"}, "unknown"),
        ({"call": "work(given)", "work": "pkg.parts.total(x)"}, "cold"),
        ({"call": "work(given)", "row": "pkg.parts.total(row)"}, "unknown"),
        ({"inside": "work(given)", "work": "pkg.parts.total(x)"}, "unknown"),
        ({"work": "pkg.parts.total(x)"}, "unknown"),
        ({"call": "pkg.parts.total(given)", "work": "pkg.parts.total(x)"}, "unknown"),
    ],
)
@pytest.mark.parametrize("loop", [False, True])
def test_what_a_person_starts_calls_it_once(lines, told, loop):
    body = "for row in x:\n        print(row.item())" if loop else "print(x.item())"
    parts = f"import torch\n\n\ndef total(x: torch.Tensor):\n    {body}\n"
    names = ("call", "inside", "work", "row")
    text = SCRIPT.format(**{**dict.fromkeys(names, "pass"), **lines})
    files = {"pkg/__init__.py": "", "pkg/parts.py": parts, "pkg/run.py": text}
    assert heats(files)["pkg/parts.py"] == ("unknown" if loop else told)
    nobody = text[: text.index("\n\nif")]  # others may start it as often as they will
    assert heats({**files, "pkg/run.py": nobody})["pkg/parts.py"] == "unknown"
    sweep = "from pkg.run import main\n\n\ndef sweep(n):\n    for _ in range(n):\n        main()\n"
    assert heats({**files, "pkg/sweep.py": sweep})["pkg/parts.py"] == "unknown"


LOADER = """
import torch
from torch.utils.data import DataLoader


def features(model, data):
    found = []
    loader = DataLoader(data)
    for x in loader:
        found.append(model(x.cuda()))
    return found
"""


@pytest.mark.parametrize(
    "body", ["features(model, data)", "for x in model:\n        model(x)\n    features(model, data)"]
)
def test_what_takes_the_steps_is_not_called_around_them(body):
    files = {"pkg/__init__.py": "", "pkg/core.py": LOADER, "pkg/run.py": "", "pkg/all.py": ""}
    text = f"from pkg.core import features\n\n\ndef every(model, data):\n    {body}\n"
    assert heats({**files, "pkg/run.py": text})["pkg/core.py"] in ("hot", "unknown")
    main = text.replace("def every(model, data)", "def main(model, data)")
    assert heats({**files, "pkg/run.py": main})["pkg/core.py"] in ("hot", "unknown")


BLOCK = """
from diffusers import ModularPipelineBlocks


class Encode(ModularPipelineBlocks):
    def __call__(self, components, state):
        {body}
        return components, state
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("self.parts.put(state)", "amortized"),
        ("for part in state: self.parts.put(part)", "unknown"),
        ("for part in state:\n            self.parts.put(part)", "unknown"),
        ("if state:\n            self.parts.put(state)", "amortized"),
    ],
)
def test_in_what_runs_once_in_a_generation(body, told):
    parts = PARTS.replace("weight[0].item()", "weight[0]")
    assert heat(pkg__parts=parts, pkg__layer=BLOCK.format(body=body)) == told


SPLIT = """
import torch


def rolled(model, x: torch.Tensor, n):
    for _ in range(n):
        x = model(x)
    for part in x:
        print(part.sum().item())
    return x


def every(model, x: torch.Tensor, n):
    for k in range(n):
        rolled(model, x, k)
"""


def test_what_is_called_around_its_own_steps_takes_them():
    files = {
        "pkg/__init__.py": "",
        "pkg/core.py": SPLIT[: SPLIT.index("def every")],
        "pkg/fit.py": "",
        "pkg/all.py": "",
    }
    many = "from pkg.core import rolled\n\n\n" + SPLIT[SPLIT.index("def every") :].replace(": torch.Tensor", "")
    assert heats({**files, "pkg/fit.py": many})["pkg/core.py"] == heats(files)["pkg/core.py"]


STEPS = """
import torch


def denoise(model, x: torch.Tensor, times):
    for t in times:
        x = model(x, t)
    return x
"""
TURNS = """
from fire import Fire

from pkg.steps import denoise


def main(model, parts, xs):
    {before}
    for x in xs:
        {inside}
        {calls}
        for row in x:
            {row}


{starts}
"""


@pytest.mark.parametrize("starts", ["Fire(main)", "if __name__ == '__main__':\n    main()"])
@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ({"inside": "total(x)"}, "amortized"),
        ({"inside": "if x:\n            total(x)"}, "amortized"),
        ({"inside": "total(x)", "calls": "if x:\n            denoise(model, x, 9)"}, "unknown"),
        ({"row": "total(row)"}, "unknown"),
        ({"inside": "total(x)", "calls": "print(x)"}, "unknown"),
        ({"inside": "for part in x:\n            total(part)"}, "unknown"),
    ],
)
def test_around_what_takes_the_steps_in_another_file(lines, told, starts):
    names = ("before", "inside", "row")
    text = TURNS.format(**{**dict.fromkeys(names, "pass"), "calls": "denoise(model, x, 9)", **lines, "starts": starts})
    parts = "import torch\n\n\ndef total(x: torch.Tensor):\n    print(x.item())\n"
    files = {"pkg/__init__.py": "", "pkg/parts.py": parts, "pkg/steps.py": STEPS}
    run = text.replace("from pkg", "from pkg.parts import total\nfrom pkg", 1)
    assert heats({**files, "pkg/run.py": run})["pkg/parts.py"] == told


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        ("walk(net, n - 1)", "unknown"),
        ("net.walk(net, n - 1)", "cold"),
        ("print(n)", "cold"),
    ],
)
def test_what_calls_itself_runs_more_than_once(calls, told):
    parts = f"""
import torch


def walk(net, n):
    x = net(torch.ones(3, device="cuda"))
    {calls}
    return x.item()
"""
    run = """
from fire import Fire

from pkg.parts import walk


def main(net):
    walk(net, 100)


Fire(main)
"""
    files = {"pkg/__init__.py": "", "pkg/parts.py": parts, "pkg/run.py": run}
    assert heats(files)["pkg/parts.py"] == told


SHOWN = """
import torch


class Average:
    def __init__(self, net):
        self.net = net

    def distance(self, net):
        return sum((a - b).pow(2).sum() for a, b in zip(self.net.parameters(), net.parameters())).item()
"""
MADE = "net, loader, opt = torch.nn.Linear(3, 3), torch.load('data.pt'), torch.load('opt.pt')"
SHOWS = """
from .average import Average


def train(net: torch.nn.Linear, loader, opt):
    average = Average(net)
    for step, x in enumerate(loader):
        net(x).sum().backward()
        opt.step()
        {line}
"""


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("if step % 100 == 0: print(average.distance(net))", "amortized"),
        ("if step % 100 == 0: print(average.distance)", "unknown"),
        ("print(average.distance(net))", "hot"),
    ],
)
def test_what_another_file_calls_at_some_steps(line, told):
    files = {"pkg/__init__.py": "", "pkg/average.py": SHOWN, "pkg/run.py": f"import torch\n{SHOWS.format(line=line)}"}
    assert heats(files)["pkg/average.py"] == told
    started = SHOWS.format(line=line).replace("train(net: torch.nn.Linear, loader, opt):", "main():\n    " + MADE)
    files["pkg/run.py"] = f"import torch\n{started}\n\nif __name__ == '__main__':\n    main()\n"
    assert heats(files)["pkg/average.py"] == told
