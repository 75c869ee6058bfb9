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


ASKED = """
    class Net(torch.nn.Module):
        def __init__(self, deep=False, wide=True):
            super().__init__()
            self.deep = deep
            self.wide = wide

        def mixes(self):
            "Whether it does."
            return self.deep and not self.wide

        def counts(self):
            return self.count % 2 == 0 and self.deep

        def either(self):
            if self.wide:
                return self.mixes()
            return False

        def known(self):
            return False

        def again(self):
            return self.again()

        def forward(self, x: torch.Tensor):
            if {test}:
                return x.sum().item()
            return x
    """


@pytest.mark.parametrize(
    ("test", "by"),
    [
        ("self.mixes()", "`self.deep` is `False`"),
        ("self.either()", "`self.wide` is `True` and `self.deep` is `False`"),
        ("self.counts()", "`self.deep` is `False`"),
        ("not self.mixes()", ""),
        ("self.known()", ""),  # what is below may say otherwise
        ("self.again()", ""),
        ("self.mixes(x)", ""),
    ],
)
def test_a_method_that_only_asks_for_options_asks_for_these(test: str, by: str) -> None:
    found = told(ASKED.format(test=test))[0]
    assert [one.partition("; by default ")[2] for one in found] == ([by] if by else [])


WAYS = """
    class Net(torch.nn.Module):
        def __init__(self, frozen=False):
            super().__init__()
            self.frozen = frozen

        def forward(self, x):
            if self.frozen:
                return self.{name}(x)
            return x * 2

        def {name}(self, x: torch.Tensor):
            return x.sum().item()
    """


@pytest.mark.parametrize("name", ["forward_frozen", "_forward_once"])
def test_a_way_of_the_forward_is_called_by_the_forward_alone(name: str) -> None:
    said = "only where `self.frozen` holds; by default `self.frozen` is `False`"
    private = name.startswith("_")
    assert told(WAYS.format(name=name)) == [[said if private else f"in this file called {said}"]]


MADE = """
    class Cache:
        def pick(self, x: torch.Tensor, which):
            return x[which].sum().item()

    class Beam:
        def __init__(self, cache: Cache):
            self.cache = cache

        def update(self, x):
            return self.cache.pick(x, 0)

    def run(x, cache: Cache, beams=None):
        if beams is not None:
            return Beam(cache).update(x)
        {other}
    """


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("return x", ["in this file called only where `beams is not None` holds; by default `beams` is `None`"]),
        ("return Beam(cache).update(x)", []),
        ("return cache.pick(x, 1)", []),
    ],
)
def test_what_a_class_that_is_made_behind_an_option_calls(other: str, expected: list[str]) -> None:
    assert told(MADE.format(other=other)) == [expected]
