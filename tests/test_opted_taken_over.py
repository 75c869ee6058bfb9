"""What a constructor makes an attribute of each of its settings of is an option as they are."""

from __future__ import annotations

import pytest

from tests.test_opted import told

NET = """
    from dataclasses import dataclass


    @dataclass
    class Settings:
        deep: bool = False
        wide: bool = True


    class Base(torch.nn.Module):
        def __init__(self, config{declared}):
            super().__init__()
            self.config = config
            {loop}


    class Net(Base):
        {more}

        def forward(self, x):
            x = torch.nn.functional.relu(x)
            if {test}:
                return x.sum().item()
            return x
    """
EACH = "for key in config: setattr(self, key, config[key])"


def of(test: str, loop: str = EACH, declared: str = ": Settings", more: str = "pass") -> list[list[str]]:
    return told(NET.format(test=test, loop=loop, declared=declared, more=more))


@pytest.mark.parametrize(
    "loop",
    [
        EACH,
        "for key in self.config: setattr(self, key, self.config[key])",
        "for key, value in config.items(): setattr(self, key, value)",
        "for key, value in vars(config).items(): setattr(self, key, value)",
        "for key, value in config.__dict__.items(): setattr(self, key, value)",
    ],
)
def test_each_setting_that_is_made_an_attribute_is_an_option(loop: str) -> None:
    holder = "self.config" if "self.config" in loop else "config"
    assert of("self.deep", loop) == [[f"only where `self.deep` holds; by default `{holder}.deep` is `False`"]]
    assert of("self.wide", loop) == [[]]


def test_of_settings_that_nobody_sees_no_default_is_told() -> None:
    assert of("self.deep", declared="") == [["only where `self.deep` holds"]]
    assert of("not self.deep", declared="") == [[]]


@pytest.mark.parametrize(
    ("loop", "more"),
    [
        ("for key in config: setattr(self, key, other[key])", "pass"),
        ("for key in config: setattr(other, key, config[key])", "pass"),
        ("for key, value in config.items(): setattr(self, value, key)", "pass"),
        (EACH, "def turn(self):\n            self.deep = x"),
    ],
)
def test_what_is_made_of_something_else_is_none(loop: str, more: str) -> None:
    assert of("self.deep", loop, more=more) == [[]]


OPTIMIZER = """
    from others import Optimizer


    class Paged({base}):
        def __init__(self, params, lr=0.1, paged=False):
            {handed}

        def step(self):
            if self.paged:
                torch.cuda.synchronize()
    """


@pytest.mark.parametrize(
    ("base", "handed", "expected"),
    [
        ("Optimizer", "super().__init__(params, lr, paged=paged)", True),
        ("Optimizer", "super().__init__(params, lr, paged)", True),
        ("Optimizer", "Optimizer.__init__(self, params, paged=paged)", True),
        ("Optimizer", "super().__init__(params, lr)", False),
        ("object", "super().__init__(params, paged=True)", False),
    ],
)
def test_what_is_handed_under_its_name_to_a_class_that_nobody_sees(base: str, handed: str, expected: bool) -> None:
    said = ["only where `self.paged` holds; by default `paged` is `False`"] if expected else []
    assert told(OPTIMIZER.format(base=base, handed=handed)) == [said]
