"""Options that a question of None in a function, a loop over what may be empty, or a number out of a hat stands for."""

from __future__ import annotations

import pytest
from test_opted import told

NET = """
    import random

    def exists(value):
        return value is not None

    class Net(torch.nn.Module):
        def __init__(self, chance: float = 0.0, rules=None, steps=(), **kwargs):
            self.chance, self.rules, self.steps = chance, rules or [], [1, 2]
            part = kwargs.get("part", None)
            if part is not None:
                part, more = self.build(part)
            self.part = part

        def forward(self, x: torch.Tensor, end=None, extra=None, size: int = 1):
            {head}
                x = x + x.sum().item()
            return x
    """


@pytest.mark.parametrize(
    ("head", "options"),
    [
        ("if exists(end):", ["only where `exists(end)` holds; by default `end` is `None`"]),
        ("if x.ndim == 2 and exists(end):", ["only where `exists(end)` holds; by default `end` is `None`"]),
        ("if not exists(end):", []),
        (
            "if random.random() < self.chance:",
            ["only where `random.random() < self.chance` holds; by default `self.chance` is `0.0`"],
        ),
        ("if random.random() > self.chance:", []),
        ("if random.random() < 0.5:", []),
        ("for rule in self.rules:", ["only where `self.rules` holds; by default `self.rules` is `()`"]),
        ("for i, rule in enumerate(self.rules):", ["only where `self.rules` holds; by default `self.rules` is `()`"]),
        ("for i, rule in zip(x, self.rules):", ["only where `self.rules` holds; by default `self.rules` is `()`"]),
        ("for step in self.steps:", []),
        ("for rule in extra or []:", ["only where `extra or []` holds; by default `extra` is `None`"]),
        ("for rule in extra:", []),  # None cannot be gone through
        ("for one in range(size):", []),
        ("if self.part is not None:", ["only where `self.part is not None` holds; by default `self.part` is `None`"]),
        ("if self.part is None:", []),
    ],
)
def test_what_must_be_set_is_named(head: str, options: list[str]) -> None:
    assert told(NET.format(head=head)) == [options]


LOOPED = "only where `self.rules` holds; by default `self.rules` is `()`"


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (("for rule in self.rules: print(x.max())", "print(x.min())"), [[LOOPED], []]),
        (("print(x.min())", "for rule in self.rules: print(x.max())"), [[], [LOOPED]]),
        (("for rule in self.steps: print(x.max())", "for rule in self.rules: print(x.min())"), [[], [LOOPED]]),
    ],
)
def test_what_stands_beside_a_loop_asks_for_nothing_to_go_through(body: tuple[str, str], options: list[object]) -> None:
    first, second = body
    text = NET.replace("{head}\n                x = x + x.sum().item()", f"{first}\n            {second}")
    assert told(text) == options


def test_a_key_of_several_texts_is_told_whole() -> None:
    text = """
        @tables.register("models", "Fast")
        class Fast(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x.sum().item()
        """
    assert told(text) == [['only where `"models", "Fast"` is asked for, as `register` keeps it']]


def test_a_function_named_for_a_step_is_run_by_those_who_call_it() -> None:
    text = """
        def sample_normal(mean: torch.Tensor):
            return mean.sum().item()

        class Net(torch.nn.Module):
            def forward(self, x, random=False):
                return sample_normal(x) if random else x
        """
    assert told(text) == [["in this file called only where `random` holds; by default `random` is `False`"]]


@pytest.mark.parametrize("before", ["y, z = None, None", "y = z = None", "y = None"])
def test_what_is_bound_with_others_is_there_only_where_it_is_bound(before: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor, more=False):
                {before}
                if more:
                    y, z = self.parts(x)
                if y is not None:
                    return x.sum().item()
        """
    assert told(text) == [["only where `more` holds; by default `more` is `False`"]]


LENGTHS = """
    class Net(torch.nn.Module):
        def __init__(self, points=(), seen=None, kept=(), names: list[str] | None = None):
            super().__init__()
            self.points = points
            self.seen = [] if seen is None else seen
            self.kept = kept
            self.names = [] if names is None else names
            self.cache = []

        def keep(self, x):
            self.seen.append(x)
            self.cache.append(x)

        def forward(self, x, masks=(), rules=()):
            x = torch.nn.functional.relu(x)
            if {test}:
                return x.sum().item()
            return x
    """


@pytest.mark.parametrize(
    ("test", "default"),
    [
        ("len(self.points) > 0", "`self.points` is `()`"),
        ("len(self.points)", "`self.points` is `()`"),
        ("len(self.names) != 0", "`self.names` is `()`"),
        ("len(rules) >= 1", "`rules` is `()`"),
    ],
)
def test_how_many_there_are_is_asked_of_what_is_empty_by_default(test: str, default: str) -> None:
    assert told(LENGTHS.format(test=test)) == [[f"only where `{test}` holds; by default {default}"]]


@pytest.mark.parametrize(
    "test", ["len(self.points) == 0", "len(self.seen) > 3", "len(self.cache) > 3", "len(masks) > 0", "len(x) > 0"]
)
def test_what_is_filled_later_or_data_is_no_option(test: str) -> None:
    assert told(LENGTHS.format(test=test)) == [[]]


BATCHES = """
    def evaluate(model, loader: torch.utils.data.DataLoader, args, exact=False, most=None):
        for i, x in enumerate(loader):
            y = model(x)
            print(y.sum().item())
            {ends}
    """


@pytest.mark.parametrize(
    ("ends", "options"),
    [
        ("if not args.exact: break", ["only where `args.exact` holds"]),
        ("if not args.exact: return {}", ["only where `args.exact` holds"]),
        ("if not exact: break", ["only where `exact` holds; by default `exact` is `False`"]),
        ("if args.exact: break", []),
        ("if exact: break", []),
        ("if not args.exact: continue", []),
        ("if most is not None and i > most: break", []),
        ("if i > 3: break", []),
    ],
)
def test_a_loop_that_ends_in_its_first_turn_goes_on_where_an_option_is_set(ends: str, options: list[str]) -> None:
    assert told(BATCHES.format(ends=ends)) == [options]
