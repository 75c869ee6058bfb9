"""What a flag that an instance keeps, and that is turned for good, lets run once."""

from __future__ import annotations

import textwrap

import pytest
from checked import findings

HEAD = """
import torch
from torch import nn


"""


def heats(text: str) -> list[str]:
    return [finding.heat for finding in findings(textwrap.dedent(text), HEAD) if "x.max()" in finding.message]


@pytest.mark.parametrize(
    ("made", "turned", "heat"),
    [
        ("self.ready = False", "self.ready = True", "amortized"),
        ("self.ready = 0", "self.ready = 1", "amortized"),
        ('self.register_buffer("ready", torch.tensor(False))', "self.ready.fill_(True)", "amortized"),
        ('self.register_buffer("ready", torch.Tensor([0]))', "self.ready.data.copy_(torch.Tensor([1]))", "amortized"),
        ("self.ready = False", "self.ready = bool(x.numel())", "hot"),
        ("self.ready = False", "self.ready = False", "hot"),
        ("self.ready = False", "self.done = True", "hot"),
        ("self.ready = False", "if x.numel() > 9:\n            return x\n        self.ready = True", "hot"),
        ("self.ready = False", "self.ready = True\n        self.ready, self.x = False, 1", "hot"),
        (
            'self.register_buffer("ready", torch.tensor(False))',
            "self.ready.fill_(1)\n        self.ready.zero_()",
            "hot",
        ),
        ("self.ready = False", "try:\n            self.ready = True\n        except OSError:\n            pass", "hot"),
        ("self.ready = False", 'self.ready = True\n        setattr(self, "ready", False)', "hot"),
        ("self.ready = False", "if x.numel():\n            self.ready = True", "hot"),
        ("self.ready = False", "self.ready = True\n        self.ready = False", "hot"),
    ],
)
def test_the_method_leaves_early_once_the_flag_is_turned(made: str, turned: str, heat: str) -> None:
    text = """
        class Codes(nn.Module):
            def __init__(self):
                super().__init__()
                {}

            def forward(self, x: torch.Tensor):
                if self.ready:
                    return x
                print(x.max().item())
                {}
                return x
        """
    assert heats(text.format(made, turned.replace("\n", "\n        "))) == [heat]


@pytest.mark.parametrize(
    ("test", "turned", "heat"),
    [
        ("not self.ready", "self.ready = True", "amortized"),
        ("self.training and not self.ready", "self.ready = True", "amortized"),
        ("not bool(self.ready)", "self.ready.fill_(1)", "amortized"),
        ("self.ready.item() == 0", "self.ready.fill_(1)", "amortized"),
        ("self.ready == False", "self.ready = True", "amortized"),
        ("not self.ready", "self._turn()", "amortized"),
        ("not self.ready", "self._turn_back()", "hot"),
        ("self.ready", "self.ready = True", "hot"),
    ],
)
def test_what_stands_behind_the_flag_runs_once(test: str, turned: str, heat: str) -> None:
    text = """
        class Codes(nn.Module):
            def __init__(self, ready):
                super().__init__()
                self.ready = ready

            def _turn(self):
                self.ready = True

            def forward(self, x: torch.Tensor):
                if {}:
                    print(x.max().item())
                    {}
                return x
        """
    assert heats(text.format(test, turned)) == [heat]


def test_what_another_method_turns_back_begins_anew() -> None:
    text = """
        class Codes(nn.Module):
            def __init__(self):
                super().__init__()
                self.ready = False

            def unlock(self):
                self.ready = False

            def forward(self, x: torch.Tensor):
                if not self.ready:
                    print(x.max().item())
                    self.ready = True
                return x
        """
    assert heats(text) == ["hot"]


def test_what_may_live_for_one_call_runs_once_for_each() -> None:
    text = """
        class Codes:
            def __init__(self):
                self.ready = False

            def read(self, x: torch.Tensor):
                if not self.ready:
                    print(x.max().item())
                    self.ready = True
                return x
        """
    assert heats(text) == ["unknown"]


@pytest.mark.parametrize(
    ("name", "heat"), [("enable_graphs", "amortized"), ("load_image", "hot"), ("begin", "hot"), ("reset", "hot")]
)
def test_what_is_setup_by_its_name_may_turn_it_back(name: str, heat: str) -> None:
    text = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.records = False

            def {name}(self):
                self.records = True

            def forward(self, x: torch.Tensor):
                if self.records:
                    print(x.max().item())
                    self.records = False
                return x
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("test", "made", "heat"),
    [
        ("self.table.shape[0] != x.shape[0]", "self.table = self.build(x.shape[0])", "amortized"),
        ("not self.table.size(0) == x.shape[0]", "self.table = self.build(x.shape[0])", "amortized"),
        ("self.table.shape[0] != x.shape[0]", "self.table = self.build(x.shape[0]) * x", "hot"),
        ("self.table.shape[0] == x.shape[0]", "self.table = self.build(x.shape[0])", "hot"),
        ("self.table.shape[0] != x.shape[0]", "table = self.build(x.shape[0])", "hot"),
        ("self.count != x.shape[0]", "self.table = self.build(x.shape[0])", "hot"),
    ],
)
def test_what_is_kept_is_made_anew_for_another_size(test: str, made: str, heat: str) -> None:
    text = f"""
        class Turned(nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.count = torch.arange(4), 4

            def forward(self, x: torch.Tensor):
                if {test}:
                    {made.replace("self.build(x.shape[0])", "torch.arange(x.shape[0]).to(x.device)")}
                return x * self.table
        """
    told = [one.heat for one in findings(textwrap.dedent(text), HEAD) if one.code == "SG304"]
    assert told == [heat]


@pytest.mark.parametrize(
    ("said", "heat"), [("'{ready}'.format(**self.__dict__)", "amortized"), ("self.__dict__.update(ready=False)", "hot")]
)
def test_to_show_all_that_it_has_turns_no_flag(said: str, heat: str) -> None:
    text = f"""
        class Codes(nn.Module):
            def __init__(self):
                super().__init__()
                self.ready = False

            def extra_repr(self):
                return {said}

            def forward(self, x: torch.Tensor):
                if not self.ready:
                    print(x.max().item())
                    self.ready = True
                return x
        """
    assert heats(text) == [heat]
