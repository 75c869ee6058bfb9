"""What runs the first time alone: behind a flag that a method turns, and where an optimizer has nothing for a parameter
yet."""

from __future__ import annotations

import pytest
from checked import findings
from packaged import found

HEAD = "import torch\n\n\n"
FLAG = """
class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drawn = False

    def forward(self, x):
        if not self.drawn:
            self.spread = x.std().item()
            {leaves}
        {turns}
        return x / self.spread
{more}
"""


@pytest.mark.parametrize(
    ("turns", "more", "heat"),
    [
        ("self.drawn = True", "", "amortized"),
        ("if x.is_cuda: self.drawn = True", "", "hot"),
        ("self.seen = True", "", "hot"),
        ("self.drawn = False", "", "hot"),
        ("self.drawn = True", "\n    def again(self):\n        self.drawn = False\n", "hot"),
        ("self.drawn = True", "\n\ndef again(loss):\n    loss.drawn = False\n", "hot"),
    ],
)
def test_a_flag_that_is_turned_once(turns: str, more: str, heat: str) -> None:
    assert [one.heat for one in findings(FLAG.format(turns=turns, more=more, leaves="pass"), HEAD)] == [heat]
    left = FLAG.format(turns=turns, more=more, leaves="return x")
    assert [one.heat for one in findings(left, HEAD)] == ["hot"]


STEP = """
class Ours({base}):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                {test}
                    size = torch.norm(p)
                    {puts}["size"] = size.item()
"""


@pytest.mark.parametrize(
    ("base", "test", "puts", "heat"),
    [
        ("torch.optim.Optimizer", 'if "size" not in state:', "state", "amortized"),
        ("torch.optim.Optimizer", 'if "size" not in state:', "group", "hot"),
        ("torch.optim.Optimizer", 'if "size" in state:', "state", "hot"),
        ("torch.optim.Optimizer", 'if "other" not in state:', "state", "hot"),
        ("torch.nn.Linear", 'if "size" not in state:', "state", "unknown"),
    ],
)
def test_what_an_optimizer_lacks_for_a_parameter(base: str, test: str, puts: str, heat: str) -> None:
    assert [one.heat for one in findings(STEP.format(base=base, test=test, puts=puts), HEAD)] == [heat]


MOST = """
class Ours(torch.optim.Optimizer):
    def step(self):
        for p in self.all():
            most = self.most.get(id(p))
            if most is None:
                {puts}[id(p)] = most = torch.norm(p).item()
"""


@pytest.mark.parametrize(("puts", "heat"), [("self.most", "amortized"), ("self.others", "hot")])
def test_what_it_is_asked_for_by_parameter(puts: str, heat: str) -> None:
    assert [one.heat for one in findings(MOST.format(puts=puts), HEAD)] == [heat]


GATED = """
class Masked(torch.optim.Optimizer):
    def step(self):
        {calls}

    def redraw(self, mask):
        return torch.norm(mask).item()
"""


@pytest.mark.parametrize(
    ("calls", "heat"),
    [("if (self.total + 1) % self.gap == 0: self.redraw(self.mask)", "amortized"), ("self.redraw(self.mask)", "hot")],
)
def test_what_a_step_of_an_optimizer_calls_now_and_then(calls: str, heat: str) -> None:
    assert [one.heat for one in findings(GATED.format(calls=calls), HEAD)] == [heat]


GRID = """
class Grid(torch.nn.Module):
    def update_now_and_then(self, step: int, n: int = 16):
        {calls}

    def _update(self):
        return self._sample(4)

    def _sample(self, n: int):
        return torch.norm(self.weight).item()
{more}
"""


@pytest.mark.parametrize(
    ("calls", "more", "heat"),
    [
        ("if step % n == 0: self._update()", "", "amortized"),
        ("self._update()", "", "hot"),
        ("if step % n == 0: self._update()", "\n    def forward(self, x):\n        self._sample(2)\n", "hot"),
        ("if step % n == 0: self._update()", "\n    def table(self):\n        return [self._sample]\n", "hot"),
    ],
)
def test_a_private_method_behind_gates_alone_is_no_step_by_its_name(calls: str, more: str, heat: str) -> None:
    assert [one.heat for one in findings(GRID.format(calls=calls, more=more), HEAD)] == [heat]


BUFFER = """
class {head}:
    def each(self, step, x):
        {calls}

    def keep(self, x):
        print(torch.norm(x).item())
{more}
"""
EVERY = "if step % self.n == 0: self.keep(x)"


@pytest.mark.parametrize(
    ("head", "calls", "more", "heat"),
    [
        ("Kept", EVERY, "", "amortized"),
        ("Kept", "self.keep(x)", "", "unknown"),
        ("Kept", EVERY, "\n    def other(self, x):\n        self.keep(x)\n", "unknown"),
        ("Kept(library.Base)", EVERY, "", "unknown"),  # which may ask for it
    ],
)
def test_a_public_method_that_its_file_calls_behind_gates(head: str, calls: str, more: str, heat: str) -> None:
    text = BUFFER.format(head=head, calls=calls, more=more)
    assert [one.heat for one in findings(text, f"import library\n{HEAD}")] == [heat]


@pytest.mark.parametrize(
    ("more", "heat"),
    [
        ("", "amortized"),
        ("\n    def mark(self, x):\n        self.keep(x)\n", "unknown"),  # others may call that
        ("\n    def _mark(self, x):\n        self.keep(x)\n", "unknown"),
        ("\n    def mark(self, x):\n        self.keep(x)\n\n\ndef marked(x):\n    Kept().mark(x)\n", "unknown"),
    ],
)
def test_a_private_method_that_public_ones_ask_for_as_well(more: str, heat: str) -> None:
    text = BUFFER.format(head="Kept", calls=EVERY, more=more).replace("keep(", "_keep(")
    assert [one.heat for one in findings(text, HEAD)] == [heat]


WRAPS = """
import torch.distributed as dist


class Group:
    def {name}(self, x):
        {calls}
"""


@pytest.mark.parametrize(
    ("name", "calls", "heat"),
    [
        ("all_gather_object", "dist.all_gather_object(x, self.x)", "cold"),
        ("_all_gather_object", "dist.all_gather_object(x, self.x)", "cold"),
        ("tell", "dist.all_gather_object(x, self.x)", "unknown"),
        (
            "all_gather_object",
            "dist.all_gather_object(x, self.x)\n\n\ndef run(x):\n    Group().all_gather_object(x)",
            "unknown",
        ),
        ("all_gather_object", "for one in x: dist.all_gather_object(one, self.x)", "unknown"),
    ],
)
def test_a_function_named_for_its_wait_is_asked_for_it(name: str, calls: str, heat: str) -> None:
    assert [one.heat for one in findings(WRAPS.format(name=name, calls=calls), HEAD)] == [heat]
    step = f"\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        Group().{name}(x)\n"
    assert [one.heat for one in findings(WRAPS.format(name=name, calls=calls) + step, HEAD)] == ["hot"]


def test_a_metric_that_only_adds_up_at_each_step_is_computed_at_the_end() -> None:
    text = """
from {library} import Metric


class Ours(Metric):
    def compute(self):
        return torch.norm(self.total).item()
"""
    assert [one.heat for one in findings(text.format(library="torcheval.metrics"), HEAD)] == ["amortized"]
    assert [one.heat for one in findings(text.format(library="others.metrics"), HEAD)] == ["unknown"]


def test_a_turn_that_has_a_whole_epoch_run_is_no_step() -> None:
    text = """
from training import {trains}


def main(args):
    for epoch in range(args.epochs):
        {trains}(epoch)
        print(torch.ones(3, device="cuda").sum().item())


if __name__ == "__main__":
    main(None)
"""
    assert [one.heat for one in findings(text.format(trains="train_one_epoch"), HEAD)] == ["cold"]
    assert [one.heat for one in findings(text.format(trains="advance"), HEAD)] == ["unknown"]


KEPT = """
class Ranks:
    def __init__(self, {given}):
        self.given = {given}
        self.kept = None
{more}
    def first(self, x: torch.Tensor):
        if self.kept is None or self.size is None:
            self.make(x)
        return self.kept

    def make(self, x: torch.Tensor):
        self.kept = x.max().item()
        self.size = x.min().tolist()
"""
BACK = "\n    def reverse_transform(self, x):\n        return x * self.kept\n"


@pytest.mark.parametrize(
    ("given", "more", "heat"),
    [
        ("model", "", "amortized"),
        ("old_model", "", "amortized"),
        ("size", BACK, "amortized"),
        ("size", "", "unknown"),  # an object that is made of each batch builds it for each
        ("model_input", "", "unknown"),
        ("model", "\n    def reset(self):\n        self.kept = None\n", "unknown"),
    ],
)
def test_what_is_made_for_a_model(given: str, more: str, heat: str) -> None:
    assert {one.heat for one in findings(KEPT.format(given=given, more=more), HEAD)} == {heat}


SCHEDULE = """
class Schedule:
    def __init__(self):
        self.place = None
{begins}
    @property
    def at(self):
        return self.place

    def {name}(self, n, device):
        self.times = torch.arange(n, device=device)
        self.place = None
{more}
    def step(self, x, t):
        if self.{kept} is None:
            self.place = (self.times == t).nonzero()[0].item()
        self.place += 1
        return x


def sample(net, schedule: Schedule, x):
    schedule.{name}(9, "cuda")
    for t in schedule.times:
        x = schedule.step(net(x, t), t)
    return x
"""
LETS_GO = "\n    def turn(self):\n        self.place = None\n"


@pytest.mark.parametrize(
    ("name", "kept", "begins", "more", "heat"),
    [
        ("set_timesteps", "place", "", "", "amortized"),
        ("set_timesteps", "at", "", "", "amortized"),  # what a property gives
        ("set_timesteps", "times", "", "", "hot"),  # what is built there is something else
        ("turn_to", "place", "", "", "hot"),
        ("load_frame", "place", "", "", "hot"),  # there is another one in each turn
        ("set_timesteps", "place", "", LETS_GO, "hot"),
        ("set_timesteps", "place", "        self.set_timesteps(1, None)\n", "", "hot"),
    ],
)
def test_what_setup_has_forget_what_it_keeps(name: str, kept: str, begins: str, more: str, heat: str) -> None:
    text = SCHEDULE.format(name=name, kept=kept, begins=begins, more=more)
    assert {one.heat for one in findings(text, HEAD)} == {heat}


def test_what_a_loop_has_forget_it_is_filled_in_each_turn() -> None:
    each = "\n\ndef each(schedule: Schedule, xs):\n    for x in xs:\n        schedule.set_timesteps(3, x.device)\n"
    text = SCHEDULE.format(name="set_timesteps", kept="place", begins="", more="") + each
    assert {one.heat for one in findings(text, HEAD)} == {"hot"}


METRIC = """
class Mean{base}:
    def reset(self):
        self.sum = 0.0

    def {takes}(self, x: torch.Tensor):
        self.sum += x.mean()

    def compute(self{given}):
        return rounded(torch.sqrt(self.sum))


def rounded(x: torch.Tensor):
    return round(x.item(), 3)
"""


@pytest.mark.parametrize(
    ("base", "takes", "given", "heat"),
    [
        ("", "update", "", "amortized"),
        ("", "update", ", digits=3", "amortized"),
        ("", "add", "", "unknown"),
        ("", "update", ", error", "unknown"),  # what computes with each of these
        ("(torch.nn.Module)", "update", "", "unknown"),
        ("(lib.Metric)", "update", "", "unknown"),
    ],
)
def test_what_a_metric_sums_up(base: str, takes: str, given: str, heat: str) -> None:
    text = METRIC.format(base=base, takes=takes, given=given)
    assert [one.heat for one in findings(text, HEAD)] == [heat]


HALVES = """
class Distance(lib.Metric):
    def update(self, x: torch.Tensor, real: bool{default}):
        if {test}:
            self.real{adds}
        else:
            self.{other}{adds}

    def compute(self):
        return rounded(torch.cat(self.real).sum(){sums})


def rounded(x: torch.Tensor):
    return round(x.item(), 3)
"""


@pytest.mark.parametrize(
    ("settings", "heat"),
    [
        ({}, "amortized"),
        ({"adds": " += x.sum()"}, "amortized"),
        ({"test": "not real"}, "amortized"),
        ({"default": " = True"}, "unknown"),
        ({"test": "x.ndim > 2"}, "unknown"),
        ({"other": "real"}, "unknown"),
        ({"sums": ""}, "unknown"),
    ],
)
def test_what_a_metric_sums_up_of_two_halves_no_batch_has(settings: dict[str, str], heat: str) -> None:
    usual = {"default": "", "test": "real", "adds": ".append(x)", "other": "fake"}
    told = {"sums": " + torch.cat(self.fake).sum()", **usual, **settings}
    assert [one.heat for one in findings(HALVES.format(**told), HEAD)] == [heat]


def test_what_a_metric_sums_up_at_every_step_of_another_file() -> None:
    loop = """
from .metric import Mean


def train(net, loader, optimizer):
    mean = Mean()
    for x in loader:
        net(x).sum().backward()
        optimizer.step()
        mean.update(x)
        {}print(mean.compute())
"""
    metric = HEAD + METRIC.format(base="", takes="update", given="")

    def heat(before: str) -> str:
        files = {"pkg/__init__.py": "", "pkg/metric.py": metric, "pkg/train.py": loop.format(before)}
        return found(files)["pkg/metric.py"].heat

    assert heat("") == "hot"
    assert heat("if len(loader) == 0:\n            ") == "amortized"
    loop = loop.replace("mean = Mean()", "means = build(optimizer)")
    assert heat("mean = means[0]\n        ") == "unknown"
    assert heat("for mean in means:\n            ") == "unknown"
    assert heat("if len(loader) == 0:\n            ") == "amortized"


def test_the_first_turn_of_what_another_file_unrolls_in_its_steps() -> None:
    roll = """
def unroll(model, x, n):
    for i in range(n):
        x = model(x)
        if i == 0:
            x = x * x.max().item()
    return x
"""
    train = """
import torch
from .roll import unroll


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


def train(data, optimizer):
    net = Net().cuda()
    for x, y in torch.utils.data.DataLoader(data):
        unroll(net, x.cuda(), 9).sum().backward()
        optimizer.step()
"""
    files = {"pkg/__init__.py": "", "pkg/roll.py": roll, "pkg/train.py": train}
    assert found(files)["pkg/roll.py"].heat == "hot"


@pytest.mark.parametrize(
    ("base", "moves", "heat"),
    [
        ("(torch.nn.Module)", "to", "cold"),
        ("(torch.nn.Module)", "_apply", "cold"),
        ("(torch.nn.Module)", "put", "unknown"),
        ("", "to", "unknown"),  # of a batch
    ],
)
def test_a_module_is_moved_seldom(base: str, moves: str, heat: str) -> None:
    text = f"""
class Net{base}:
    def {moves}(self, device):
        self.made = self._made(torch.zeros(3, device="cuda"))
        return self

    def _made(self, x):
        return x.sum().item()
"""
    assert [one.heat for one in findings(text, HEAD)] == [heat]
    step = "\n\nclass Other(torch.nn.Module):\n    def forward(self, x):\n        Net().{}(x.device)\n"
    assert [one.heat for one in findings(text + step.format(moves), HEAD)] == ["hot"]


FITS = """
class Scale{base}:
    def fit(self, x: torch.Tensor, rows):
        {loop}
            self.kept = x.max().item()
        {more}

    def {uses}(self, x):
        return x / self.kept
"""


@pytest.mark.parametrize(
    ("base", "loop", "more", "uses", "heat"),
    [
        ("", "if rows:", "", "transform", "cold"),
        ("", "for n in range(x.shape[1]):", "", "apply", "cold"),
        ("", "for n in range(x.size(1)):", "", "predict", "cold"),
        ("", "for n in range(x.shape[0]):", "", "predict", "unknown"),  # it may run long
        ("", "for n in rows:", "", "predict", "unknown"),
        ("", "if rows:", "", "other", "unknown"),
        ("", "if rows:", "x.sum().backward(); rows.step()", "transform", "hot"),
    ],
)
def test_what_others_then_use_is_fitted_once(base: str, loop: str, more: str, uses: str, heat: str) -> None:
    text = FITS.format(base=base, loop=loop, more=more or "return self", uses=uses)
    assert [one.heat for one in findings(text, HEAD)] == [heat]
    if heat == "cold":
        step = "\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        Scale().fit(x, [])\n"
        assert [one.heat for one in findings(text + step, HEAD)] == ["hot"]


def test_the_columns_of_an_evaluation_are_few() -> None:
    text = """
class RowEvaluator:
    def evaluate(self, x: torch.Tensor, seen: torch.Tensor):
        for n in {rows}:
            print(x[:, n].sum().item())
"""
    heats = [[one.heat for one in findings(text.format(rows=rows), HEAD)] for rows in ("range(x.shape[1])", "seen")]
    assert heats == [["amortized"], ["unknown"]]


@pytest.mark.parametrize(
    ("name", "base", "heat"),
    [
        ("set_timesteps", "", "cold"),
        ("right_inverse", "", "cold"),
        ("from_prequantized", "", "cold"),
        ("commit", "LoadPlanner", "cold"),
        ("commit", "Planner", "unknown"),
    ],
)
def test_named_for_what_runs_seldom(name: str, base: str, heat: str) -> None:
    text = f"class Our{base}:\n    def {name}(self, x: torch.Tensor):\n        return x.sum().item()\n"
    assert [one.heat for one in findings(text, HEAD)] == [heat]


@pytest.mark.parametrize(("other", "heat"), [("return False", "cold"), ("return NotImplemented", "unknown")])
def test_a_comparison_that_says_no_of_the_whole_is_none_of_the_elements(other: str, heat: str) -> None:
    text = f"""
class State:
    def __init__(self, x: torch.Tensor):
        self.x = x

    def __eq__(self, other):
        if not isinstance(other, State):
            {other}
        if self.x.sum() > 3:
            return self.x == other.x
        return self.x.abs() == other.x
"""
    assert [one.heat for one in findings(text, HEAD)] == [heat]
