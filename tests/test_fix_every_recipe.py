"""Every recipe on a program of its own: the same values, gradients and effects, and simulated the wait is gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import on_cpu  # noqa: E402
from fixing import findings, fixes, rewritten, same  # noqa: E402
from tensors import tensors  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.fix.apply import applied  # noqa: E402
from syncguard.fix.recipe import recipe  # noqa: E402
from syncguard.observe.simulate import Seen, Simulation  # noqa: E402
from syncguard.terms import SETUP  # noqa: E402

PACK = pack.load()
HEAD = "import torch\nimport torch.nn.functional as F\n\n\ndef f(x: torch.Tensor, y: torch.Tensor):\n"
FINITE = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0)
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


@dataclass(frozen=True)
class Case:
    """A program with a function `f` of two tensors, the tier of its fix, and what it is tried on.

    `left` is how many waits a run with the arguments of `simulated` has after the fix.
    """

    body: str
    tier: str
    shapes: st.SearchStrategy[list[int]]
    other: Callable[[list[int]], list[int]] = list
    dtypes: tuple[Any, ...] = tuple(DTYPES)
    numbers: tuple[float, ...] | None = None
    grad: bool = True
    exact: bool = True
    left: int = 0
    head: str = HEAD
    usable: Callable[[Any, Any], bool] = lambda x, y: True
    compared: bool = True

    @property
    def program(self) -> str:
        return self.head + self.body


ANY = st.lists(st.integers(0, 3), max_size=3)
ROWS = st.lists(st.integers(0, 3), min_size=2, max_size=2)
SOME = st.lists(st.integers(1, 3), min_size=1, max_size=2)
SINGLE = (torch.float32, torch.float64)
FIRST: Callable[[list[int]], list[int]] = lambda shape: shape[:1]  # noqa: E731
CASES = {
    "slice-index": Case("    return x[:, [-1]] * y[[0], :1]\n", "safe", st.just([3, 2])),
    "index-there": Case("    return x[torch.arange(x.size(0)), 0] * 2, y\n", "safe", st.just([3, 2])),
    "accumulate-on-device": Case(
        "    total = 0.0\n    for row in x:\n        total += row.mean().item()\n    return total\n",
        "safe",
        ROWS,
        left=1,
    ),
    "assert-async": Case(
        "    if (x < 0).any():\n        raise RuntimeError('negative')\n    return x * y\n", "unsafe", ANY
    ),
    "build-on-device": Case("    return torch.arange(x.size(0)).to(x.device), x * 2\n", "safe", ROWS),
    "cache-copy": Case(
        "    table = Table()\n    return table.scaled(x), table.scaled(y)\n",
        "display",
        SOME,
        head="""\
import torch


class Table:
    def __init__(self):
        self.scale = torch.full((), 2.0)
        self._scale_on = {}

    def scaled(self, x: torch.Tensor):
        return x * self.scale.to(x.device)


def f(x: torch.Tensor, y: torch.Tensor):
""",
        left=1,
    ),
    "clamp-guard": Case(
        "    k = (y > 0).sum()\n    z = x * 1\n    if k > 0:\n        z = z / k\n    return z\n",
        "unsafe",
        ANY,
    ),
    "clamp-number": Case("    return x.sum() / max(1, (y > 0).sum())\n", "unsafe", ANY),
    "class-count": Case(
        "    best = x.argmax(dim=-1)\n    return F.one_hot(best) * y\n",
        "unsafe",
        st.just([2, 3]),
        numbers=(0.0, 1.0, 2.0, 3.0),
        grad=False,
        usable=lambda x, y: int(x.argmax(dim=-1).max()) == 2,
    ),
    "copy-together": Case("    a, b = x.cpu(), y.cpu()\n    return a, b\n", "display", ANY, left=1),
    "ex-form": Case(
        "    return torch.linalg.inv(x + 9 * torch.eye(x.size(-1), dtype=x.dtype, device=x.device))\n",
        "unsafe",
        st.integers(0, 3).map(lambda n: [n, n]),
        dtypes=SINGLE,
        numbers=FINITE,
    ),
    "feed-tensor": Case("    return x / (y.sum().item() + 1)\n", "unsafe", ANY, dtypes=SINGLE, exact=False),
    "fill-rows": Case(
        "    n, z = lengths(y)[: x.size(0)], wide(x)\n"
        "    for i in range(z.size(0)):\n        z[i, : n[i]] = 0.0\n    return z\n",
        "unsafe",
        ROWS,
        head="""\
import torch


def lengths(y: torch.Tensor):
    return torch.cat((y.nan_to_num().flatten().clamp(0, 9).long(), torch.zeros(9, dtype=torch.long, device=y.device)))


def wide(x: torch.Tensor):
    return x.reshape(x.size(0), -1, 1).flatten(1) * 1 if x.numel() else x.new_zeros(0, 1)


def f(x: torch.Tensor, y: torch.Tensor):
""",
    ),
    "fill-on-device": Case("    return x * torch.tensor(0.5, device=x.device)\n", "safe", ANY),
    "hoist-read": Case(
        "    found = []\n    for row in x:\n        found.append((len(row), y.tolist()))\n    return found\n",
        "unsafe",
        ROWS,
        left=1,
    ),
    "ignore-index": Case(
        """\
    target = (y * 3).long().clamp(0, 2).flatten()
    scores = x.reshape(-1, 1).expand(-1, 3) * torch.arange(3.0, dtype=x.dtype, device=x.device)
    m = target != 0
    return F.cross_entropy(scores[m], target[m])
""",
        "unsafe",
        ANY,
        dtypes=SINGLE,
        numbers=FINITE,
        exact=False,
    ),
    "index-select": Case("    i = y.flatten().argmax().item()\n    return x.flatten()[i] * 2\n", "unsafe", SOME),
    "keep-tensor": Case(
        """\
    seen = torch.zeros(x.size(0), device=x.device, dtype=x.dtype)
    for i, row in enumerate(x):
        seen[i] = row.sum().item()
    return seen
""",
        "safe",
        ROWS,
        grad=False,
    ),
    "known-size": Case(
        """\
    counts = (y > 0).long()
    rows = x.repeat_interleave(counts, dim=0)
    return torch.arange(counts.sum(), device=x.device), rows
""",
        "safe",
        ROWS,
        other=FIRST,
        left=1,
    ),
    "mask-once": Case(
        "    m = (y > 0).flatten(0)\n    return x.flatten()[m], y.flatten()[m] * 2\n", "unsafe", ANY, left=1
    ),
    "masked-reduction": Case(
        "    m = x > 0\n    return x[m].sum(), x[m].mean()\n", "unsafe", ANY, dtypes=SINGLE, numbers=FINITE, exact=False
    ),
    "maximum": Case(
        "    return max(x.sum(), y.sum())\n",
        "unsafe",
        ANY,
        numbers=FINITE,
        # Of equal ones Python takes the first, and all of the gradient with it.
        usable=lambda x, y: bool(x.sum() != y.sum()),
    ),
    "output-size": Case(
        """\
    m = x > 0
    kept = y[m]
    rows = torch.arange(x.size(0), device=x.device).repeat_interleave(m.sum(dim=1))
    return rows, kept
""",
        "safe",
        ROWS,
        left=1,
    ),
    "pin-data": Case("    return x * torch.tensor([1.0, 2.0, 0.5], device=x.device).sum()\n", "safe", ANY),
    "pin-pair": Case(
        """\
    total = torch.zeros(3, device="cuda")
    loader = DataLoader(TensorDataset(torch.ones(4, 3)), batch_size=2, pin_memory=True)
    for (batch,) in loader:
        moved = batch.to("cuda")
        total += moved.sum(dim=0)
    return total, x + y
""",
        "unsafe",
        ANY,
        head=HEAD.replace("\n\n\n", "\nfrom torch.utils.data import DataLoader, TensorDataset\n\n\n", 1),
    ),
    "read-together": Case(
        "    return {'low': y.mean().item(), 'high': y.norm().item(), 'x': x}\n", "safe", ANY, left=1
    ),
    "read-ahead": Case(
        "    n = x.nan_to_num().long()\n    a = n.sum().item()\n    b = list(y.shape)\n"
        "    b.append(n.abs().sum().item())\n    return a, b\n",
        "safe",
        ANY,
        left=1,
    ),
    "index-once": Case(
        "    x, y = x.flatten(), y.flatten()\n    i = torch.arange(len(x)).flip(0)\n    return x[i] * 2, y[i]\n",
        "unsafe",
        ANY,
        left=1,
    ),
    "read-once": Case(
        "    n = x.nan_to_num().long().abs().sum()\n    if n > 5:\n        y = y * 2\n"
        "    return y, len(f'{n}'), n.item(), x.flatten()[:n]\n",
        "safe",
        ANY,
        left=1,
    ),
    "read-at-gate": Case(
        "    found = []\n    for step in range(4):\n        total = (x * y).sum()\n        number = total.item()\n"
        "        if step % 4 == 3:\n            found.append(number)\n    return found\n",
        "safe",
        ANY,
        left=1,
    ),
    "scatter-count": Case(
        "    n = y.nan_to_num().abs().clamp(max=8).long().flatten()\n    return torch.bincount(n, minlength=9), x\n",
        "unsafe",
        ANY,
    ),
    "skip-validation": Case(
        "    return Normal(x, y.abs() + 1).rsample(), Normal(0.0, 1.0).log_prob(x)\n",
        "unsafe",
        ANY,
        dtypes=SINGLE,
        numbers=FINITE,
        head=HEAD.replace("\n\n\n", "\nfrom torch.distributions import Normal\n\n\n", 1),
    ),
    "sort-and-count": Case(
        "    return x.unique().numel(), y * 2\n", "unsafe", ANY, numbers=FINITE, grad=False, exact=False
    ),
    "time-by-events": Case(
        """\
    seconds = 0.0
    model = torch.nn.Linear(3, 2).to("cuda")
    for row in x:
        start = time.perf_counter()
        model(row).sum().backward()
        torch.cuda.synchronize()
        seconds += time.perf_counter() - start
    return seconds
""",
        "unsafe",
        ROWS,
        head="import time\n" + HEAD,
        left=1,
        compared=False,
    ),
    "unwrap-guard": Case(
        "    m = y > 0\n    z = x * 1\n    if m.any():\n        z[m] = 0.0\n    return z\n", "unsafe", ANY
    ),
    "where-assign": Case("    z = x * 1\n    m = z > 0.25\n    z[m] = y[m] * 2 - 1\n    return z\n", "safe", ANY),
    "where-choose": Case("    return x * 2 if y.sum() > 0 else x * 3\n", "unsafe", ANY, numbers=FINITE),
    "where-return": Case(
        "    if not (y > 0).any():\n        return x.sum() * 0.0\n    z = x * 2\n    return z.sum()\n",
        "unsafe",
        ANY,
        numbers=FINITE,
    ),
}


def after(name: str) -> str:
    """The program after its fixes; of a recipe that only shows them, after the ones that are shown."""
    case = CASES[name]
    if case.tier == "display":
        return applied(case.program, [edit for fix in fixes(case.program, name)[:1] for edit in fix.edits])
    made = rewritten(case.program, name, unsafe=case.tier == "unsafe")
    assert made is not None, "nothing is offered"
    return made


AFTER: dict[str, str] = {}


def changed(name: str) -> str:
    return AFTER.get(name) or AFTER.setdefault(name, after(name))


def test_every_recipe_is_here() -> None:
    folder = Path(recipe.__code__.co_filename).parent / "recipes"
    there = {path.stem.replace("_", "-") for path in folder.glob("*.py") if path.stem != "__init__"}
    assert set(CASES) == there


@pytest.mark.parametrize("name", CASES)
def test_the_tier_is_what_it_is_said_to_be(name: str) -> None:
    first = [finding.fix for finding in findings(CASES[name].program) if finding.fix is not None]
    found = [fix for one in first for fix in (one, one.bolder) if fix is not None and fix.recipe == name]
    assert {fix.tier for fix in found} == {CASES[name].tier}
    assert changed(name) != CASES[name].program


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].compared])
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_gives_the_same(name: str, data: st.DataObject) -> None:
    """Values, dtypes, shapes, gradients of both orders, and what happens to the arguments; what shares memory, too."""
    case = CASES[name]
    shape = data.draw(case.shapes)
    dtype = data.draw(st.sampled_from(case.dtypes))
    grad = case.grad and data.draw(st.booleans())
    # A gradient through infinity is NaN on one side and 0 on the other where a fix says so.
    numbers = case.numbers if case.numbers is not None or case.tier == "safe" or not grad else FINITE
    x = data.draw(tensors(shape, dtype, grad, numbers=numbers))
    y = data.draw(tensors(case.other(shape), dtype, numbers=numbers))
    assume(case.usable(x().detach(), y()))
    with on_cpu.without_device():
        same(
            case.program,
            changed(name).replace("torch.cuda.is_available()", "False"),
            lambda: (x(), y()),
            exact=case.exact,
            aliases=case.tier == "safe",
        )


@pytest.mark.parametrize("name", CASES)
def test_simulated_the_wait_is_gone(name: str) -> None:
    case = CASES[name]
    before, now = simulated(case.program), simulated(changed(name))
    assert before[0], "there is a wait"
    assert now[0] == case.left < before[0]
    if case.compared:
        torch.testing.assert_close(now[1], before[1])


def simulated(program: str) -> tuple[int, Any]:
    """How often a program waits, but for setup, on a simulated device, and what it gives, on the host."""
    told: list[Seen] = []
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(program, "program.py", "exec"), space)
    torch.manual_seed(0)
    with Simulation(PACK, told.append):
        x = torch.tensor([[0.5, 1.0, 2.0], [3.0, 0.25, 1.5], [1.0, 2.0, 4.0]], device="cuda")
        y = torch.tensor([[1.0, 3.0, 2.0], [0.5, 1.0, 0.0], [2.0, 1.0, 5.0]], device="cuda")
        told.clear()
        given = space["f"](x, y[:, 0] if "counts" in program else y)
        count = sum(seen.hazard != SETUP for seen in told)
        given = host(given)
    return count, given


def host(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu().tolist()
    if isinstance(value, dict):
        return {key: host(inner) for key, inner in value.items()}
    return [host(inner) for inner in value] if isinstance(value, (list, tuple)) else value
