"""What one call passes to a function of another file decides what is tested there, for this call alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.read.project import forget

MAKE = """\
import numpy
import torch


def made(value, dtype=None):
    if value is None:
        return None
    if isinstance(value, (torch.nn.Parameter, torch.Tensor)):
        if dtype is None:
            return value
        return value.type(dtype)
    if isinstance(value, list) and all(isinstance(one, numpy.ndarray) for one in value):
        value = numpy.array(value)
    if isinstance(value, (float, int, list, tuple, numpy.ndarray)):
        return torch.tensor(value)


def positions(pos):
    if isinstance(pos, int):
        pos = torch.arange(pos)
    if isinstance(pos, numpy.ndarray):
        pos = torch.from_numpy(pos)
    return pos.float() * torch.ones(2, device=pos.device)[:, None]


def update(value, new, inertia=0.0):
    if inertia == 0.0:
        value[...] = new
"""


def waits(folder: Path, body: str) -> list[tuple[str, int, str]]:
    """Where a program that imports these waits: file, line and code."""
    forget()
    (folder / "make.py").write_text(MAKE)
    path = folder / "use.py"
    path.write_text("import torch\nfrom make import made, positions, update\n\n\n" + body)
    paths = [str(path), str(folder / "make.py")]
    found = pipeline.check(paths, Config(cache=False, heat="all")).findings
    return [(Path(one.site.path).name, one.site.line, one.code) for one in found]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        # The rank and the dtype of what is passed are those of what comes back.
        ("rows[made(torch.arange(len(rows), device=rows.device))[0]]", ["SG208"]),
        ("rows[made(rows > 0)]", ["SG102"]),
        # A number makes a tensor on the host, a list of two one of several.
        ("made(0.5).item()", []),
        ("rows[made([0, 1])]", ["SG307"]),
        # None gives None.
        ("print(made(None))", []),
    ],
)
def test_what_a_call_gives_back_is_what_its_arguments_decide(tmp_path: Path, statement: str, found: list[str]) -> None:
    body = f"def f(rows: torch.Tensor):\n    for _ in range(3):\n        {statement}\n"
    assert [code for name, _, code in waits(tmp_path, body) if name == "use.py"] == found


def test_a_table_that_is_built_of_a_number_is_on_the_host(tmp_path: Path) -> None:
    body = """
class Rotary(torch.nn.Module):
    def __init__(self, length: int):
        super().__init__()
        self.table = positions(length)

    def forward(self, x: torch.Tensor):
        return x * self.table.to(x.device)
"""
    assert [code for _, _, code in waits(tmp_path, body)] == ["SG304"]


def test_a_buffer_of_a_base_class_is_passed(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text("""\
import torch
from make import made


class Base(torch.nn.Module):
    def __init__(self, inertia=0.0):
        super().__init__()
        self.register_buffer("inertia", made(inertia))
""")
    body = """
from base import Base


class Net(Base):
    def forward(self, x: torch.Tensor):
        for _ in range(3):
            update(x, x + 1, self.inertia)
        return x
"""
    assert ("make.py", 27, "SG204") in waits(tmp_path, body)


OWN = """
def pair(size):
    if isinstance(size, torch.Tensor):
        return (size / 2).ceil()
    return int(size) // 2


def deep(x: torch.Tensor, size: torch.Tensor):
    for _ in range(3):
        y = torch.nn.functional.pad(x, (pair(x.shape[0]), pair(x.shape[0])))
        y = torch.zeros(pair({size}), device=x.device)
    return y
"""


@pytest.mark.parametrize(("size", "found"), [("size", ["SG108"]), ("x.shape[1]", [])])
def test_a_function_of_the_same_file_gives_each_its_own(tmp_path: Path, size: str, found: list[str]) -> None:
    assert [code for _, _, code in waits(tmp_path, OWN.format(size=size))] == found


ARMS = """\
import numpy as np
import torch

try:
    import torch as backend
except ImportError:
    backend = None

Data = np.ndarray | torch.Tensor


def has_kind(x):
    return isinstance(x, torch.Tensor)


def has_torch(x):
    if backend is None:
        return False
    import torch

    return isinstance(x, torch.Tensor)


def has_rows(x):
    return len(x) > 3


def plain(x: Data):
    if isinstance(x, torch.Tensor):
        return x.flip(0)
    return np.flip(x)


def asked(x: Data) -> Data:
    if has_kind(x):
        return x.flip(0)
    elif isinstance(x, np.ndarray):
        return np.flip(x)
    raise ValueError


def guarded(x):
    if has_torch(x):
        return x.flip(0)
    return np.flip(x)


def unasked(x: Data):
    if has_rows(x):
        return torch.flip(x, (0,))
    return np.flip(x)


def torched(x):
    if not torch.is_tensor(x):
        return np.flip(x)
    return x.flip(0)


def full(x: torch.Tensor, size: int | torch.Tensor, other: int | torch.Tensor):
    x = x + 1
    if isinstance(size, torch.Tensor):
        return x * size * other
    return torch.zeros(size, device=x.device) + torch.zeros(other, device=x.device)
"""


def armed(folder: Path, body: str) -> list[str]:
    """The codes of where a program that imports these waits, in any of both files."""
    forget()
    (folder / "arms.py").write_text(ARMS)
    path = folder / "use.py"
    path.write_text(f"import numpy as np\nimport torch\nimport arms\n\n\n{body}")
    found = pipeline.check([str(path), str(folder / "arms.py")], Config(cache=False, heat="all")).findings
    return [f"{Path(one.site.path).stem}:{one.code}" for one in found]


@pytest.mark.parametrize("function", ["plain", "asked", "guarded", "torched"])
@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("x", ["use:SG204"]),
        ('outputs["boxes"].flatten(0, 1)', ["use:SG204"]),
        ("np.ones(3)", []),
        ("x.cpu().numpy()", ["use:SG202"]),
        ("something", []),
    ],
)
def test_a_tensor_takes_the_arm_of_tensors(tmp_path: Path, function: str, given: str, found: list[str]) -> None:
    body = f"""\
from library import something


class Net(torch.nn.Module):
    def forward(self, outputs, x: torch.Tensor):
        if arms.{function}({given}).all():
            return x
        return x + 1
"""
    assert armed(tmp_path, body) == found


def test_what_asks_something_else_tells_no_arm(tmp_path: Path) -> None:
    body = "def f(x: torch.Tensor):\n    if arms.unasked(x).all():\n        return 1\n"
    assert armed(tmp_path, body) == []


@pytest.mark.parametrize(("size", "found"), [("x.amax()", []), ("x.dim()", ["arms:SG108"])])
def test_a_tensor_takes_no_arm_of_numbers(tmp_path: Path, size: str, found: list[str]) -> None:
    body = f"""\
def f(x: torch.Tensor):
    for _ in range(3):
        x = arms.full(x, {size}, x.amin())
    return x
"""
    assert armed(tmp_path, body) == found


@pytest.mark.parametrize("function", ["plain", "asked", "guarded"])
@pytest.mark.parametrize(
    ("given", "found"),
    [("x", ["SG204"]), ('outputs["boxes"].flatten(0, 1)', ["SG204"]), ("np.ones(3)", []), ("something", [])],
)
def test_so_it_does_where_its_own_file_gives_it(tmp_path: Path, function: str, given: str, found: list[str]) -> None:
    body = f"""\
{ARMS}

from library import something


class Net(torch.nn.Module):
    def forward(self, outputs, x: torch.Tensor):
        if {function}({given}).all():
            return x
        return x + 1
"""
    path = tmp_path / "arms.py"
    path.write_text(body)
    assert [one.code for one in pipeline.check([str(path)], Config(cache=False, heat="all")).findings] == found


REPEATED = """\
import numbers
import torch


def repeated(value, length):
    if isinstance(value, torch.Tensor):
        return value.repeat(length)
    if isinstance(value, list):
        return value * length
    return [value] * length


class Net(torch.nn.Module):
    def __init__(self, ratios: {declared} = 0.5):
        super().__init__()
        self.ratios = repeated(ratios, 3)

    def forward(self, x: torch.Tensor):
        print(self.ratios)
        return x
"""


@pytest.mark.parametrize(
    ("declared", "found"),
    [("float | list[float]", []), ("float | None", []), ("torch.Tensor", ["SG206"])],
)
def test_one_of_several_kinds_takes_no_arm_of_others(tmp_path: Path, declared: str, found: list[str]) -> None:
    path = tmp_path / "net.py"
    path.write_text(REPEATED.format(declared=declared))
    assert [one.code for one in pipeline.check([str(path)], Config(cache=False, heat="all")).findings] == found


EITHER = """\
import numpy as np
import torch


def slope(x: np.ndarray | torch.Tensor, as_array: bool = False):
    if as_array:
        x = torch.tensor(x, device="cuda")
    return x * 2


def step(x: torch.Tensor):
    return slope(x)
"""


def test_what_its_own_file_gives_a_tensor_others_may_give_an_array(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(EITHER)
    assert [one.code for one in pipeline.check([str(path)], Config(cache=False, heat="all")).findings] == ["SG302"]


READ = """
def scaled(x: torch.Tensor, other: torch.Tensor | float, cap: float):
    n = {first}
    {more}
    if {test}:
        return torch.tensor(cap, device=n.device)
    return cap
"""


@pytest.mark.parametrize("first", ["x.sum().item()", "float(x.sum())", "int(x.max())", "x.item() + 1"])
@pytest.mark.parametrize(
    "test", ["torch.is_tensor(n)", "isinstance(n, torch.Tensor)", "x.is_cuda and torch.is_tensor(n)"]
)
def test_a_number_that_was_read_is_no_tensor(tmp_path: Path, first: str, test: str) -> None:
    found = waits(tmp_path, READ.format(first=first, test=test, more="pass"))
    assert "SG302" not in [code for _, _, code in found]


@pytest.mark.parametrize(
    ("first", "more", "test"),
    [
        ("x.sum()", "pass", "torch.is_tensor(n)"),
        ("x.item()", "if cap > 1: n = x", "torch.is_tensor(n)"),
        ("x.item()", "n = other", "torch.is_tensor(n)"),
        ("x.item()", "for n in (n, x): print(cap)", "torch.is_tensor(n)"),
        ("x.item()", "pass", "not torch.is_tensor(n)"),
        ("x.item()", "pass", "cap > 1 or torch.is_tensor(n)"),
    ],
)
def test_what_may_be_one_by_then_may_be_asked_for_it(tmp_path: Path, first: str, more: str, test: str) -> None:
    found = waits(tmp_path, READ.format(first=first, test=test, more=more))
    assert "SG302" in [code for _, _, code in found]
