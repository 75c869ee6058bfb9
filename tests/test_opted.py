"""Options that are off by default, around a wait: each finding names those without which it is not reached."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.terms import Finding

HEAD = "import torch\n\n\n"


def found(text: str) -> list[Finding]:
    config = Config(heat="all", confidence="possible", stdin_filename="example.py")
    return list(pipeline.check(["-"], config, HEAD + textwrap.dedent(text)).findings)


def told(text: str) -> list[list[str]]:
    return [[fact.text for fact in finding.options] for finding in found(text)]


def of_test(signature: str, test: str, other: bool = False) -> list[str]:
    """What is told of a wait in the arm of a test."""
    body = f"if {test}:\n        {'return' if other else 'return x.sum().item()'}"
    rest = "return x.sum().item()" if other else "return 0"
    return told(f"def step(x: torch.Tensor, {signature}):\n    {body}\n    {rest}\n")[0]


@pytest.mark.parametrize("signature", ["training=False", "is_training: bool = False"])
def test_a_mode_of_training_is_no_option(signature: str) -> None:
    assert of_test(signature, signature.partition("=")[0].partition(":")[0]) == []


@pytest.mark.parametrize(
    ("signature", "test", "option"),
    [
        ("flag=False", "flag", "only where `flag` holds; by default `flag` is `False`"),
        ("flag: bool = True", "not flag", "only where `flag` does not hold; by default `flag` is `True`"),
        ("kind='pil'", "kind == 'np'", """only where `kind == 'np'` holds; by default `kind` is `"pil"`"""),
        ("kind='pil'", "kind in ('a', 'b')", """only where `kind in ('a', 'b')` holds; by default `kind` is `"pil"`"""),
        ("eta=0.0", "eta > 0", "only where `eta > 0` holds; by default `eta` is `0.0`"),
        ("*, n=1", "n != 1", "only where `n != 1` holds; by default `n` is `1`"),
        ("flag=None", "flag", "only where `flag` holds; by default `flag` is `None`"),
        ("mode=None", "mode is not None", "only where `mode is not None` holds; by default `mode` is `None`"),
        ("mode: str | None = None", "mode == 'a'", "only where `mode == 'a'` holds; by default `mode` is `None`"),
        ("flag=False", "flag and x.is_cuda", "only where `flag` holds; by default `flag` is `False`"),
        ("a=False, b=0", "a or b", "only where `a or b` holds; by default `a` is `False` and `b` is `0`"),
    ],
)  # fmt: skip
def test_an_option_that_is_off_by_default_is_named(signature: str, test: str, option: str) -> None:
    assert of_test(signature, test) == [option]


@pytest.mark.parametrize(
    ("signature", "test"),
    [
        ("flag=True", "flag"),
        ("flag", "flag"),
        ("mask: torch.Tensor | None = None", "mask is not None"),  # data, and no option
        ("kind='pil'", "kind == 'pil'"),
        ("kind='pil'", "kind < 3"),
        ("a=False, b=True", "a or b"),
        ("kind=None", "kind > 3"),
        ("flag=DEFAULT", "flag"),
        ("flag=False", "x.dim() > 1"),
    ],
)
def test_what_is_on_by_default_or_not_known_is_no_option(signature: str, test: str) -> None:
    assert of_test(signature, test) == []


def test_what_follows_an_arm_that_leaves_has_the_option_too() -> None:
    assert of_test("flag=True", "flag", other=True) == ["only where `flag` does not hold; by default `flag` is `True`"]


@pytest.mark.parametrize("test", ["flag is None", "flag is None or x.dim() > 2", "not flag"])
def test_what_must_be_set_is_no_option(test: str) -> None:
    text = """
        def step(x: torch.Tensor, flag=None):
            if {test}:
                {leave}
            return x.sum().item()
        """
    assert told(text.format(test=test, leave="raise ValueError")) == [[]]
    assert told(text.format(test=test, leave="return None")) != [[]]


def test_two_options_that_must_be_alike_are_none() -> None:
    assert of_test("a=3, b=4", "a == b") == []
    assert of_test("a=3, b=4", "a > b") == ["only where `a > b` holds; by default `a` is `3` and `b` is `4`"]


def test_options_are_named_from_without() -> None:
    options = told(
        """
        def step(x: torch.Tensor, a=False, b=False):
            if a:
                if x.dim() > 1 and a:
                    return x.max().item() if b else 0
        """
    )
    assert options == [
        ["only where `a` holds; by default `a` is `False`", "only where `b` holds; by default `b` is `False`"]
    ]


@pytest.mark.parametrize("default", ["False", "None"])
def test_a_parameter_that_the_function_sets_is_no_option(default: str) -> None:
    text = f"""
        def step(x: torch.Tensor, flag={default}):
            flag = flag or x.is_cuda
            if flag:
                return x.sum().item()
        """
    assert told(text) == [[]]


def test_what_may_be_a_tensor_is_no_option_that_is_off() -> None:
    text = """
        class Net(torch.nn.Module):
            def __init__(self, scale=None, stream=None):
                super().__init__()
                self.scale, self.kept = torch.ones(3), {kept}
                self.scale = scale
                self.stream = stream

            def forward(self, x):
                if self.{name} is not None:
                    return x.sum().item()

        Net(torch.ones(3, device="cuda"), 3)

        def step(x: torch.Tensor, mask=None):
            if mask is not None:
                return (x * mask).sum().item()

        step(torch.ones(3, device="cuda"), torch.ones(3, device="cuda"))
        """
    (option,), none = told(text.format(name="stream", kept="None"))
    assert option == "only where `self.stream is not None` holds; by default `self.stream` is `None`"
    assert (none, told(text.format(name="scale", kept="None"))) == ([], [["only where `scale` is given"], []])


def test_a_parameter_that_every_call_sets_otherwise_is_no_option() -> None:
    text = """
        def _read(x: torch.Tensor, flag=False):
            if flag:
                return x.sum().item()

        def step(x: torch.Tensor):
            return _read(x, flag={flag})
        """
    assert told(text.format(flag=True)) == [[]]
    assert told(text.format(flag="x.is_cuda")) == [["only where `flag` holds; by default `flag` is `False`"]]


CLASS = """
        class Net(torch.nn.Module):
            def __init__(self, check=False, **settings):
                super().__init__()
                self.check = check
                self.spec = settings.pop("spec", False)
                self.ready = False
                self.none = settings.get("none")
                self.first, self.twin = 1.0, check
                self.last, self.done = settings.get("last", True), False
                self.rest, *self.others = check, check

            def forward(self, x):
                if {test}:
                    return x.sum().item()
        """


@pytest.mark.parametrize("name", ["check", "spec", "twin"])
def test_what_the_constructor_takes_is_an_option(name: str) -> None:
    text = f"only where `self.{name}` holds; by default `self.{name}` is `False`"
    assert told(CLASS.format(test=f"self.{name}")) == [[text]]
    (options,) = told(CLASS.format(test=f'getattr(self, "{name}", True)'))
    assert options == [f'only where `getattr(self, "{name}", True)` holds; by default `self.{name}` is `False`']


@pytest.mark.parametrize("name", ["ready", "none", "training", "last", "done", "others"])
def test_what_an_object_keeps_for_itself_is_no_option(name: str) -> None:
    assert told(CLASS.format(test=f"self.{name}")) == [[]]


def test_a_field_of_a_configuration_is_an_option() -> None:
    options = told(
        """
        from dataclasses import dataclass, field

        @dataclass
        class Base:
            mode: str = "fast"

        @dataclass
        class Settings(Base):
            exact: bool = False
            steps: int | None = None
            deep: bool = field(default=False, metadata={"help": "slow"})
            wide: bool = field(metadata={"help": "slow"}, default_factory=bool)

        class Net(torch.nn.Module):
            settings: Settings

            def forward(self, x, given: Settings):
                if self.settings.exact:
                    x.sum().item()
                if given.mode == "slow":
                    (x + 1).sum().item()
                if given.steps:
                    (x + 2).sum().item()
                if given.deep:
                    (x + 3).sum().item()
                if given.wide:
                    (x + 4).sum().item()
        """
    )
    assert options == [
        ["only where `self.settings.exact` holds; by default `self.settings.exact` is `False`"],
        ['only where `given.mode == "slow"` holds; by default `given.mode` is `"fast"`'],
        ["only where `given.steps` holds; by default `given.steps` is `None`"],
        ["only where `given.deep` holds; by default `given.deep` is `False`"],
        [],
    ]


def test_what_a_class_declares_for_those_below_it_is_no_option() -> None:
    options = told(
        """
        class Base(torch.nn.Module):
            exact: bool = False

            def forward(self, x):
                if self.exact:
                    return x.sum().item()
        """
    )
    assert options == [[]]


def test_a_private_function_has_the_options_that_all_its_calls_share() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x, a=False, b=False):
                if a:
                    self.{name}(x)
                if {other}:
                    self.{name}(x)

            def {name}(self, x):
                return x.sum().item()
        """
    option = "only where `a` holds; by default `a` is `False`"
    assert told(text.format(name="_read", other="a and b")) == [[option]]
    assert told(text.format(name="_read", other="a")) == [[option]]
    either = "only where `a` holds or `b` holds; by default `a` is `False` and `b` is `False`"
    assert told(text.format(name="_read", other="b")) == [[either]]
    assert told(text.format(name="read", other="b")) == [[f"in this file called {either}"]]
    assert told(text.format(name="read", other="x.ndim == 2")) == [[]]
    assert told(text.format(name="read", other="a")) == [[f"in this file called {option}"]]  # others may call it
    assert told(text.format(name="forward_read", other="a")) == [[f"in this file called {option}"]]
    assert told(text.format(name="train_step", other="a")) == [[]]  # and this one is called by another name


def test_the_heat_is_what_it_would_be_without_the_option() -> None:
    (finding,) = found(CLASS.format(test="self.check"))
    assert finding.heat == "hot"


def test_every_report_that_says_why_names_the_option(tmp_path: Path, ran: Callable[..., tuple[int, str, str]]) -> None:
    path = tmp_path / "step.py"
    path.write_text(f"{HEAD}def step(x: torch.Tensor, flag=False):\n    if flag:\n        return x.sum().item()\n")
    said = "only where `flag` holds; by default `flag` is `False`"
    for form in ("full", "junit", "sarif", "rdjson"):
        _, out, _ = ran("check", "--isolated", "--no-cache", "--heat", "all", "-o", form, str(path))
        assert said in out, form
    _, out, _ = ran("check", "--isolated", "--no-cache", "--heat", "all", "-o", "json", str(path))
    (finding,) = json.loads(out)["findings"]
    assert finding["options"] == [{"path": str(path), "line": 5, "text": said}]


def test_options_in_a_notebook_stand_in_their_cells(tmp_path: Path, ran: Callable[..., tuple[int, str, str]]) -> None:
    text = ["import torch\n", "def step(x: torch.Tensor, flag=False):\n", "    if flag:\n", "        x.sum().item()\n"]
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}]
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    _, out, _ = ran("check", "--isolated", "--no-cache", "--heat", "all", "-o", "json", str(path))
    (finding,) = json.loads(out)["findings"]
    assert (finding["options"][0]["path"], finding["options"][0]["line"]) == (f"{path}:cell 1", 3)


@pytest.mark.parametrize(
    ("signature", "caller", "heat"),
    [
        ("flag=False", "", "amortized"),
        ("flag", "", "unknown"),  # nobody sees what it is by default
        ("flag=True", "", "unknown"),
        ("flag=False", "class Net(torch.nn.Module):\n    def forward(self, x):\n        return step(x)\n", "amortized"),
        ("flag=False", "class Net(torch.nn.Module):\n    def forward(self, x):\n        return step(x, True)\n", "hot"),
    ],
)
def test_what_nobody_asks_for_is_left_out(signature: str, caller: str, heat: str) -> None:
    (finding,) = found(
        f"def step(x: torch.Tensor, {signature}):\n    if flag:\n        print(x.sum().item())\n\n\n{caller}"
    )
    assert finding.heat == heat


@pytest.mark.parametrize(
    ("kept", "options"),
    [
        ("self._level = level", ["only where `self._level > 0` holds; by default `level` is `0.0`"]),
        ("self._level = level or 0.0", ["only where `self._level > 0` holds; by default `level` is `0.0`"]),
        ("self._level = 1.0", []),
        ("self._level = x.shape[0]", []),
        ("if x.is_cuda:\n            self._level = level", []),
        ("self._level = level\n        self._level = 2.0", []),
        ("self._level = level\n        self._level += 1.0", []),
    ],
)
def test_an_attribute_is_what_the_method_itself_has_set_it_to(kept: str, options: list[str]) -> None:
    text = f"""
class Sampler:
    def __call__(self, x: torch.Tensor, level=0.0):
        {kept}
        if self._level > 0:
            return x.sum().item()
"""
    assert told(text) == [options]


def test_what_is_left_out_is_counted(tmp_path: Path, ran: Callable[..., tuple[int, str, str]]) -> None:
    path = tmp_path / "step.py"
    path.write_text(f"{HEAD}def step(x: torch.Tensor, flag=False):\n    if flag:\n        return x.sum().item()\n")
    counted = "1 left out that run seldom (--heat all) (1 file read; 1 function, 0 hot)"
    code, out, _ = ran("check", "--isolated", "--no-cache", str(path))
    assert (code, out.strip()) == (0, f"No findings, {counted}")
    _, out, _ = ran("check", "--isolated", "--no-cache", "--confidence", "certain", str(path))
    assert "left out" not in out
    _, out, _ = ran("check", "--isolated", "--no-cache", "--heat", "all", "--confidence", "certain", str(path))
    assert out.startswith("No findings, 1 that are only likely (--confidence likely) (")
    _, out, _ = ran("check", "--isolated", "--no-cache", "--heat", "all", "-o", "json", str(path))
    assert json.loads(out)["summary"]["left_out"] == 0
