"""A method that its class only hands about stands behind what all the places do that name it."""

from __future__ import annotations

import pytest

from tests.test_opted import told

NET = """
    class Net(torch.nn.Module):
        def __init__(self, exact=False):
            super().__init__()
            self.exact = exact
            {chosen}

        def _picked(self):
            if self.exact:
                return self._slow
            return self._fast

        def _slow(self, x: torch.Tensor):
            return x / float(x.max())

        def _fast(self, x):
            return x

        def forward(self, x):
            return self.attend(x)
    """
SELF = ["in this file named only where `self.exact` holds; by default `self.exact` is `False`"]
OWN = ["in this file named only where `exact` holds; by default `exact` is `False`"]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("self.attend = self._picked()", SELF),
        ("self.attend = self._slow", []),
        ("self.attend = getattr(self, '_slow')", []),
    ],
)
def test_what_is_given_back_behind_an_option(chosen: str, expected: list[str]) -> None:
    assert told(NET.format(chosen=chosen)) == [expected]


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("self.attend = self._slow if exact else self._fast", OWN),
        ("self.attend = self._fast if not exact else self._slow", OWN),
        ("self.attend = self._fast if exact else self._slow", []),
        ("self.attend = self._slow if exact else self._fast\n            self._slow(torch.ones(3))", []),
        ("self.attend = {True: self._slow, False: self._fast}[exact]", []),
    ],
)
def test_what_a_constructor_picks(chosen: str, expected: list[str]) -> None:
    text = NET.replace("return self._slow\n", "return self._fast\n")
    assert told(text.format(chosen=chosen)) == [expected]
