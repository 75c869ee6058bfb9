"""One of several that have a name is an option as a text is one, however it is asked for."""

from __future__ import annotations

import pytest

from tests.test_opted import told

NET = """
    from enum import Enum, auto


    class Mode({base}):
        FAST = {fast}
        SLOW = {slow}

        @classmethod
        def from_str(cls, text):
            return cls(text.lower())


    class Net(torch.nn.Module):
        def __init__(self, mode={default}):
            super().__init__()
            self.mode = {kept}

        def forward(self, x, mode={default}):
            if {test}:
                return x.sum().item()
            return x
    """
OPTION = "only where `{}` holds; by default `{}` is `{}`"


def options(
    test: str, default: str = '"fast"', kept: str = "Mode(mode)", base: str = "str, Enum", values: str = '"fast" "slow"'
) -> list[str]:
    fast, slow = values.split()
    (found,) = told(NET.format(base=base, fast=fast, slow=slow, default=default, kept=kept, test=test))
    return found


@pytest.mark.parametrize("test", ["self.mode == Mode.SLOW", "self.mode is Mode.SLOW", "self.mode != Mode.FAST"])
@pytest.mark.parametrize("kept", ["Mode(mode)", "Mode.from_str(str(mode))", "Mode[mode.upper()]"])
def test_what_a_text_stands_for_is_known(test: str, kept: str) -> None:
    assert options(test, kept=kept) == [OPTION.format(test, "self.mode", "Mode.FAST")]


@pytest.mark.parametrize("values", ['"fast" "slow"', "1 2", "auto() auto()"])
def test_so_is_one_that_is_named(values: str) -> None:
    for test in ("self.mode is Mode.SLOW", "self.mode in (Mode.SLOW,)"):
        shown = options(test, default="Mode.FAST", kept="mode", base="Enum", values=values)
        assert shown == [OPTION.format(test, "self.mode", "Mode.FAST")]


def test_a_text_is_compared_with_what_it_spells() -> None:
    assert options("mode == Mode.SLOW") == [OPTION.format("mode == Mode.SLOW", "mode", '"fast"')]
    assert options("self.mode.value == 'slow'") == [
        OPTION.format("self.mode.value == 'slow'", "self.mode", "Mode.FAST")
    ]


@pytest.mark.parametrize(
    "test",
    [
        "self.mode == Mode.FAST",
        "self.mode is not Mode.SLOW",
        "mode == Mode.FAST",
        "self.mode in (Mode.FAST, Mode.SLOW)",
        "self.mode is not None",
        "self.mode",
        "Mode.FAST == Mode.FAST",
    ],
)
def test_what_is_so_by_default_is_none(test: str) -> None:
    assert options(test) == []


def test_what_is_none_of_these_tells_nothing() -> None:
    assert options("self.mode == Mode.SLOW", default='"other"') == []
    assert options("self.mode == Mode.SLOW", base="Kinds") == []
