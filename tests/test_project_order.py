"""What is believed of a class of another file does not depend on the files that were looked at before."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from syncguard.config import Config
from syncguard.examine.examine import Examiner
from syncguard.examined import Examined
from syncguard.read.project import forget
from syncguard.read.source import read

FILES = {
    "p/__init__.py": "",
    "p/base.py": """\
class Config:
    def __init__(self, size: int = 3):
        self.size = size
""",
    "p/resize.py": """\
from p.base import Config


class Model:
    def __init__(self):
        self.config = Config()

    def grow(self, n):
        self.config.size = n
        self.grown = n
""",
    "p/first.py": """\
from p.resize import Model


def f(m: Model):
    return m.grown
""",
    "p/second.py": """\
import torch
from p.base import Config


class Net(torch.nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.size = config.size

    def forward(self, x: torch.Tensor):
        return x + torch.arange(self.size).to(x.device)
""",
}


def examined(order: list[str]) -> Examined:
    """What is found in the last of these files, read one after another."""
    examiner = Examiner(replace(Config(), heat="all", cache=False))
    return [examiner.examine(read(path)) for path in order][-1]


def test_what_a_method_of_another_class_assigns_is_not_left_to_who_comes_after(tmp_path, monkeypatch):
    """`first` makes `grow` known, which assigns to the configuration that `second` counts on."""
    monkeypatch.chdir(tmp_path)
    forget()
    Path("p").mkdir()
    for path, text in FILES.items():
        Path(path).write_text(text)
    found = []
    for order in (["p/second.py"], ["p/first.py", "p/second.py"]):
        examiner = Examiner(replace(Config(), heat="all", cache=False), frozenset(order))
        last = [examiner.examine(read(path)) for path in order][-1]
        found.append([(f.code, f.fix.recipe, f.fix.tier) for f in last.findings if f.fix is not None])
    assert found == [[("SG304", "build-on-device", "safe")]] * 2


def test_all_that_is_imported_in_a_circle_of_files_is_there_whichever_was_read_first(tmp_path, monkeypatch):
    """`q` takes everything from `q.graphs`, which takes `q`: Python always begins with the package, and we anywhere."""
    monkeypatch.chdir(tmp_path)
    forget()
    Path("q").mkdir()
    Path("q/__init__.py").write_text("from .graphs import *\nfrom . import later\n")
    Path("q/graphs.py").write_text(
        "import torch\nimport q\n__all__ = ['Graph', 'ones']\n\n\nclass Graph(q.later.Base):\n    pass\n\n\n"
        "def ones(n):\n    return torch.ones(n, device='cuda')\n\n\n"
        "def hidden(n):\n    return torch.ones(n, device='cuda')\n"
    )
    Path("q/later.py").write_text("class Base:\n    pass\n")
    Path("q/use.py").write_text(
        "from q import ones\nimport q\n\n\ndef f():\n    print(ones(3).item())\n    print(q.hidden(3).item())\n"
    )
    found = []
    for order in (["q/use.py"], ["q/__init__.py", "q/use.py"], ["q/graphs.py", "q/use.py"]):
        last = examined(order)
        found.append([(f.site.line, f.code, f.confidence) for f in last.findings])
    assert found == [[(6, "SG201", "certain")]] * 3


def test_the_reasons_are_those_of_who_calls_though_another_passed_one_thing_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    forget()
    Path("r").mkdir()
    Path("r/__init__.py").write_text("")
    Path("r/ops.py").write_text("def first(a, b):\n    for _ in range(3):\n        a = a + 1\n    return a.sum()\n")
    begin = "import torch\nfrom r.ops import first\n\n"
    Path("r/one.py").write_text(f"{begin}x = torch.ones(3, device='cuda')\nfirst(x, x)\ny = first(x, x).item()\n")
    Path("r/two.py").write_text(
        f"{begin}a = torch.ones(3, device='cuda')\nb = torch.zeros(3, device='cuda')\ny = first(a, b).item()\n"
    )
    found = []
    for order in (["r/two.py"], ["r/one.py", "r/two.py"]):
        last = examined(order)
        found.append([[fact.text for fact in finding.because] for finding in last.findings])
    assert found[0] == found[1]
    assert found[0][0][0].startswith("`torch.ones(")


def test_a_package_that_takes_back_what_an_old_name_of_a_module_took_from_it_keeps_its_own(tmp_path, monkeypatch):
    """`s.old` once was where `pool` stood: it imports it from `s`, and `s` imports everything from it."""
    monkeypatch.chdir(tmp_path)
    forget()
    Path("s").mkdir()
    Path("s/__init__.py").write_text("from .pool import *\nfrom .old import *\n")
    Path("s/pool.py").write_text("import torch\n\n\ndef pool(n):\n    return torch.ones(n, device='cuda')\n")
    Path("s/old.py").write_text("from s import pool\n\nold = pool\n")
    Path("s/use.py").write_text("from s import pool\n\n\ndef f():\n    return pool(3).item()\n")
    found = []
    for order in (["s/use.py"], ["s/__init__.py", "s/use.py"], ["s/old.py", "s/use.py"], ["s/pool.py", "s/use.py"]):
        last = examined(order)
        found.append([(f.site.line, f.code, f.confidence) for f in last.findings])
    assert found == [[(5, "SG201", "certain")]] * 4


def test_a_dict_that_one_method_empties_and_another_declares_has_the_keys_that_are_declared(tmp_path, monkeypatch):
    """Which of the two methods is looked at first hangs on who asks for what before."""
    monkeypatch.chdir(tmp_path)
    forget()
    Path("v").mkdir()
    Path("v/__init__.py").write_text("")
    parts = [
        "    def __init__(self):\n        self.calls: dict[torch.Tensor, int] = {}\n        self.made = 1\n",
        "    def forget(self):\n        self.calls = {}\n        self.gone = 1\n",
    ]
    for name, methods in (("first", parts), ("last", parts[::-1])):
        Path(f"v/{name}.py").write_text("import torch\n\n\nclass Routine:\n" + "\n".join(methods))
        Path(f"v/of_{name}.py").write_text(
            f"from v.{name} import Routine\n\n\ndef f(r: Routine):\n    for callee in r.calls:\n"
            "        print(callee.item())\n"
        )
    found = [[(f.site.line, f.code) for f in examined([f"v/of_{name}.py"]).findings] for name in ("first", "last")]
    assert found == [[(6, "SG201")]] * 2
