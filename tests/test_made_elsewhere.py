"""A class that is made only behind an option in other files of its project says so in its methods."""

import pytest
from packaged import found

PARTS = """
import torch


class Slow(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x.sum().item()
{more}
"""
NET = """
import torch
{brings}


class Net(torch.nn.Module):
    def __init__(self, config, fine=False):
        super().__init__()
        {made}

    def forward(self, x):
        return self.inner(x)
{more}
"""
SET = "self.inner = Slow() if config.slow else None"
SLOW = "as far as we see made only where `config.slow` holds"
FINE = "as far as we see made only where `fine` holds; by default `fine` is `False`"
ONE_OF = "as far as we see made only where `cfg.slow` holds or `config.slow` holds"
OTHER_OF = "as far as we see made only where `config.slow` holds or `config.fast` holds"
BRINGS = "from .parts import Slow"


def options(made, brings=BRINGS, more="", parts="", **others):
    files = {
        "pkg/__init__.py": others.pop("init", ""),
        "pkg/parts.py": PARTS.format(more=parts),
        "pkg/net.py": NET.format(brings=brings, made=made, more=more),
        **{name.replace("__", "/") + ".py": text for name, text in others.items()},
    }
    finding = found(files)["pkg/parts.py"]
    return finding.heat, [fact.text for fact in finding.options]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (SET, [SLOW]),
        ("if fine:\n            self.inner = Slow()", [FINE]),
        ("kind = Slow if fine else torch.nn.Linear\n        self.inner = kind()", [FINE]),
        ("self.inner = Slow() if fine or config.slow else None\n        self.is_slow = isinstance(self.inner, Slow)",
         ["as far as we see made only where `fine or config.slow` holds"]),
        ("self.inner = Slow()", []),
        ("self.inner = Slow() if config.slow else Slow()", []),
        ("self.inner = {'slow': Slow, 'fast': torch.nn.Linear}[config.kind]()", []),
        ("self.inner = None if fine else Slow()", []),
    ],
)  # fmt: skip
def test_every_place_that_names_it_counts(made: str, expected: list[str]) -> None:
    assert options(made)[1] == expected


@pytest.mark.parametrize(
    ("brings", "made"),
    [
        ("from pkg.parts import Slow", SET),
        ("from . import parts", "self.inner = parts.Slow() if config.slow else None"),
        ("import pkg.parts", "self.inner = pkg.parts.Slow() if config.slow else None"),
        ("from .parts import *", SET),
        ("from .parts import Slow as Part", "self.inner = Part() if config.slow else None"),
        ("", "from .parts import Slow\n        self.inner = Slow() if config.slow else None"),
        ("", "if config.slow:\n            from .parts import Slow\n            self.inner = Slow()"),
    ],
)
def test_a_class_made_by_another_name_has_the_option_too(brings: str, made: str) -> None:
    assert options(made, brings)[1] == [SLOW]
    again = f"{brings}\nKINDS = [{made.rpartition('= ')[2].partition('(')[0]}]" if brings else ""
    assert options(made, again)[1] == ([] if brings else [SLOW])


@pytest.mark.parametrize(
    "init",
    [
        "from .parts import Slow\n",
        "def __getattr__(name):\n    from .parts import Slow\n\n    return Slow if name == 'Slow' else None\n",
    ],
)
def test_from_where_a_package_has_it(init: str) -> None:
    assert options(SET, init=init)[1] == [SLOW]
    assert options(SET, "from . import Slow", init="from .parts import Slow\n")[1] == [SLOW]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"pkg__more": "from .parts import Slow\n\n\ndef build():\n    return Slow()\n"}, []),
        ({"pkg__more": "from .parts import Slow\n\n\nclass Slower(Slow):\n    pass\n"}, []),
        ({"pkg__more": "from .parts import Slow\n\n\ndef is_slow(x: Slow):\n    return isinstance(x, Slow)\n"}, [SLOW]),
        ({"tests__test_parts": "from pkg.parts import Slow\n\n\ndef test_slow():\n    assert Slow()\n"}, [SLOW]),
        ({"pkg__more": "from .parts import Slow\n\n\ndef build(cfg):\n    Slow() if cfg.slow else 0\n"}, [ONE_OF]),
        ({"parts": "def build(config):\n    return Slow() if config.fast else None\n"}, [OTHER_OF]),
        ({"parts": "def build(config):\n    return Slow() if config.slow else None\n"}, [SLOW]),
    ],
)  # fmt: skip
def test_other_files_and_its_own(others: dict[str, str], expected: list[str]) -> None:
    assert options(SET, **others)[1] == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("if not fine:\n            return\n        self.inner = Slow()", [FINE]),
        ("if not fine:\n            raise ValueError\n        self.inner = Slow()", []),
        ("if fine:\n            return\n        self.inner = Slow()", []),
        (
            "for kind in config:\n            if not fine:\n                continue\n            self.inner = Slow()",
            [FINE],
        ),
    ],
)
def test_what_was_passed_on_the_way_counts(made: str, expected: list[str]) -> None:
    shown = [text.replace("`not fine` does not hold", "`fine` holds") for text in options(made)[1]]
    assert shown == expected


def test_what_its_own_file_says_does_not_hold_elsewhere() -> None:
    own = "\n\ndef build(config):\n    return Slow() if config.slow else None\n"
    assert options("self.inner = Slow()", parts=own)[1] == []


def test_what_makes_what_makes_it() -> None:
    net = "if fine:\n            self.inner = Between()"
    between = "from .parts import Slow\n\n\nclass Between:\n    def __init__(self):\n        self.inner = Slow()\n"
    assert options(net, "from .between import Between", pkg__between=between)[1] == [FINE]


def test_others_may_make_it_as_they_please() -> None:
    parts = "\n    def score(self, x: torch.Tensor):\n        return x.max().item()\n"
    files = {"pkg/__init__.py": "", "pkg/parts.py": f"import torch\n\n\nclass Slow:{parts}"}
    net = NET.format(brings=BRINGS, made="self.inner = Slow() if fine else None", more="")
    finding = found({**files, "pkg/net.py": net})["pkg/parts.py"]
    assert (finding.heat, [fact.text for fact in finding.options]) == ("unknown", [FINE])


BUILDS = """


def build(args):
    if args.kind == "quick":
        return torch.nn.Linear(2, 2)
    elif args.kind == "slow":
        return Slow()
    raise NotImplementedError
"""


def test_who_calls_what_another_file_has_made_asks_for_nothing() -> None:
    made = "self.inner = build(config)"
    expected = ['in this file made only where `args.kind == "slow"` holds']
    assert options(made, "from .parts import build", parts=BUILDS) == ("hot", expected)
    asks = BUILDS.replace("Slow()", "Slow() if args.deep else Slow()")
    assert options(made, "from .parts import build", parts=asks) == ("hot", expected)
    assert options(made, "from .parts import Slow, build", more="OTHER = Slow()", parts=BUILDS) == ("hot", [])


SCORES = """
import torch


class Trainer:
    def __init__(self, model):
        self.model = model

    def score(self, x: torch.Tensor):
        return x.sum().item()
"""
HEIR = """
from trainer.trainer import Trainer


class Fine(Trainer):
    def __init__(self, **kwargs):
        super(Fine, self).__init__(**kwargs)

    def {method}(self, x):
        return x
"""
CHOOSES = """
import argparse
from trainer.fine import Fine
from trainer.trainer import Trainer


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="fine")
    return parser.parse_args()


def choose(args, model):
    if args.kind == None:
        trainer = Trainer
    elif args.kind == "fine":
        trainer = Fine
    return trainer(model=model)


if __name__ == "__main__":
    choose(parse(), 1)
"""
PLAIN = 'as far as we see made only where `args.kind == None` holds; by default `args.kind` is `"fine"`'


@pytest.mark.parametrize(
    ("method", "expected"),
    [("other", []), ("score", [PLAIN])],
)
def test_who_makes_an_heir_runs_the_method_that_it_takes_over(method, expected):
    fine = HEIR.format(method=method)
    files = {"README.md": "", "trainer/trainer.py": SCORES, "trainer/fine.py": fine, "train.py": CHOOSES}
    assert [fact.text for fact in found(files)["trainer/trainer.py"].options] == expected
