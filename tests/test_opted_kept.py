"""What a constructor is given, though few give it, and keeps: a wait for that says what must be given."""

from __future__ import annotations

import pytest

from tests.test_opted import told

LOSS = """
    def as_row(x):
        return torch.tensor(x)


    class Loss(torch.nn.Module):
        def __init__(self, weight: list[float] | None = None, scale=None, given: list[float] = (), mask=None):
            super().__init__()
            {kept}

        def forward(self, x, y):
            loss = torch.nn.functional.mse_loss(x, y)
            if {test}:
                loss = loss * self.kept.to(x.device)
            return loss
    """
CHOICE = "self.kept = as_row(weight) if weight is not None else None"


@pytest.mark.parametrize(
    "kept",
    [
        CHOICE,
        "self.kept = None if weight is None else as_row(weight)",
        "self.kept = weight if weight is None else as_row(weight)",
        "if weight is not None: weight = as_row(weight)\n            self.kept = weight",
        "if weight is not None: self.kept = as_row(weight)\n            else: self.kept = None",
    ],
)
@pytest.mark.parametrize("test", ["self.kept is not None", "not self.kept is None"])
def test_what_is_there_only_where_it_is_given_says_so(kept: str, test: str) -> None:
    assert told(LOSS.format(kept=kept, test=test)) == [["only where `weight` is given"]]


@pytest.mark.parametrize(
    ("kept", "test"),
    [
        (CHOICE, "self.kept is None or x.dim() > 1"),
        ("self.kept = as_row(weight) if weight is not None else as_row([1.0])", "self.kept is not None"),
        ("self.kept = as_row(mask) if mask is not None else None", "self.kept is not None"),  # most give it
        ("self.kept = as_row(given) if len(given) else None", "self.kept is not None"),
        (CHOICE + "\n            if unseen(): self.kept = as_row([1.0])", "self.kept is not None"),
    ],
)
def test_what_is_there_all_the_same_says_nothing(kept: str, test: str) -> None:
    assert told(LOSS.format(kept=kept, test=test)) == [[]]


def test_what_another_method_makes_is_there_without_it() -> None:
    later = "\n        def fill(self):\n            self.kept = as_row([1.0])\n"
    assert told(LOSS.format(kept=CHOICE, test="self.kept is not None") + later) == [[]]


@pytest.mark.parametrize(
    ("method", "named"),
    [
        ("def fold(self, exact: bool = False):\n            self.exact = exact", True),
        ("def fold(self, exact: bool = True):\n            self.exact = exact", False),
        ("def fold(self, exact):\n            self.exact = exact", False),
        ("def fold(self, exact: bool = False):\n            self.exact = True", False),
    ],
)
def test_an_attribute_that_is_off_and_that_a_method_takes_as_off_is_a_switch(method: str, named: bool) -> None:
    text = f"""
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.exact = False

        {method}

        def forward(self, x):
            if self.exact:
                return x.sum().item()
    """
    told_of = "only where `self.exact` holds; by default `self.exact` is `False`"
    assert told(text) == [[told_of] if named else []]


@pytest.mark.parametrize(
    ("bind", "named"),
    [
        ("rows, columns, exact = *x.shape, self.exact", True),
        ("exact, *sizes = self.exact, *x.shape", False),
        ("exact, rows, columns = self.exact, *x.shape", True),
        ("rows, exact, columns = *x.shape, self.exact", False),
        ("rows, columns, exact, more = *x.shape, self.exact", False),
        ("rows, columns, exact, more = *x.shape, self.exact, *x.shape", False),
    ],
)
def test_what_stands_behind_a_shape_counts_from_the_end(bind: str, named: bool) -> None:
    text = f"""
    class Net(torch.nn.Module):
        def __init__(self, exact=False):
            super().__init__()
            self.exact = exact

        def forward(self, x):
            {bind}
            if exact:
                return x.sum().item()
    """
    (options,) = told(text)
    assert bool(options) is named


@pytest.mark.parametrize(
    ("before", "between", "behind", "named"),
    [
        ("kept = self.exact", "self.exact = False", "self.exact = kept", True),
        ("kept, n = self.exact, 2", "self.exact = False", "self.exact = kept", False),  # not looked for
        ("kept = self.exact", "self.exact = True", "self.exact = kept", False),
        ("kept = unseen()", "self.exact = False", "self.exact = kept", False),
        ("kept = self.exact", "kept = unseen()", "self.exact = kept", False),
        ("kept = self.exact", "self.exact = kept", "self.exact = True", False),
    ],
)
def test_what_a_method_puts_back_is_what_it_was(before: str, between: str, behind: str, named: bool) -> None:
    text = f"""
    class Net(torch.nn.Module):
        def __init__(self, **kwargs):
            super().__init__()
            self.exact = kwargs.pop("exact", False)

        def forward(self, x):
            {before}
            {between}
            y = self.work(x)
            {behind}
            if self.exact:
                return self.read(y)

        def work(self, x):
            return x + 1

        def read(self, x):
            return x.sum().item()
    """
    (options,) = told(text)
    assert bool(options) is named


@pytest.mark.parametrize("bind", ["", "self.count = 1", "self.count, n = 1, 2", "self[0] = 1"])
def test_what_is_defined_in_a_method_and_sets_an_attribute_asks_the_same_object(bind: str) -> None:
    text = f"""
    class Net(torch.nn.Module):
        def __init__(self, exact=False):
            super().__init__()
            self.exact = exact

        def forward(self, x):
            def read(x):
                {bind or "pass"}
                if self.exact:
                    return x.sum().item()

            return read(x)
    """
    assert told(text) == [["only where `self.exact` holds; by default `self.exact` is `False`"]]


PIPELINE = """
    class Pipeline:
        {maker}

        @property
        def guides(self):
            return self._scale > 1.0

        {more}

        def __call__(self, x, scale{default}, twice: bool = False):
            self._scale = {kept}
            if {test}:
                return x.sum().item()
            return 0
    """


@pytest.mark.parametrize(
    ("test", "default", "expected"),
    [
        ("not self.guides", ": float = 4.0", ["`not self.guides` holds; by default `scale` is `4.0`"]),
        ("self.guides", ": float = 1.0", ["`self.guides` holds; by default `scale` is `1.0`"]),
        ("self._scale == 0", "=1", ["`self._scale == 0` holds; by default `scale` is `1`"]),
        ("self.guides", ": float = 4.0", []),
        ("self.guides", "", []),
    ],
)
def test_what_a_method_alone_gives_its_object_is_what_it_is_given(test: str, default: str, expected: list[str]) -> None:
    text = PIPELINE.format(test=test, default=default, maker="", kept="scale", more="")
    [options] = told(text)
    assert [one.replace("`self.guides` does not hold", "`not self.guides` holds") for one in options] == [
        f"only where {one}" for one in expected
    ]


@pytest.mark.parametrize(
    ("maker", "kept", "more"),
    [
        ("def __init__(self):\n            self._scale = 0.0", "scale", ""),
        ("", "scale", "def guide(self):\n            self._scale = 0.5"),
        ("", "max(scale, x.shape[0])", ""),
        ("_scale: float = 0.0", "scale", ""),
        ("", "scale", "def load(self, state):\n            self.__dict__.update(state)"),
        ("", "scale", "def load(self, key, value):\n            setattr(self, key, value)"),
        ("", "scale", "def __getattr__(self, name):\n            return 0.5"),
    ],
)
def test_what_may_be_given_by_others_too_is_no_option(maker: str, kept: str, more: str) -> None:
    assert told(PIPELINE.format(test="not self.guides", default="=4.0", maker=maker, kept=kept, more=more)) == [[]]


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("class Base:\n        _scale = 4.0\n\n    class Pipeline(Base):", ""),
        ("class Pipeline:", "\n\n    class Other(Pipeline):\n        _scale = 0.5\n"),
        (
            "class Pipeline:",
            "\n\n    def use(pipe: Pipeline, x):\n        pipe._scale = 4.0\n        return pipe(x, 2.0)\n",
        ),
    ],
)
def test_nor_is_what_a_class_around_it_gives(above: str, below: str) -> None:
    text = PIPELINE.format(test="not self.guides", default="=4.0", maker="", kept="scale", more="")
    assert told(text.replace("class Pipeline:", above) + below) == [[]]


MADE_HERE = """
    from dataclasses import dataclass


    @dataclass
    class Options:
        temperature: float = 0.0


    class Greedy:
        def __init__(self, temperature: float):
            self.temperature = temperature

        def update(self, x: torch.Tensor):
            if self.temperature == 0:
                return x
            return x.sum().item()


    def build(options: Options, how):
        return {made}
    """


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            "Greedy(options.temperature)",
            ["only where `self.temperature == 0` does not hold; by default `self.temperature` is `0.0`"],
        ),
        ("Greedy(options.temperature) if how else Greedy(0.5)", []),
        ("Greedy(0.0)", []),
        ("Greedy(how)", []),
        ("Greedy(*how)", []),
    ],
)
def test_what_a_file_gives_a_constructor_that_must_be_given_it(made: str, expected: list[str]) -> None:
    assert told(MADE_HERE.format(made=made)) == [expected]


FILLED = """
    class Block(torch.nn.Module):
        kind = 1

        def __init__(self, size):
            super().__init__()
            self.size = size
            self.spread = None
            {more}

        def forward(self, x):
            if self.spread is not None:
                return self.spread(x, int(x.max()))
            return x

        {method}
    """
NOTHING = ["only where `self.spread is not None` holds; by default `self.spread` is `None`"]


@pytest.mark.parametrize(
    ("more", "method", "options"),
    [
        ("pass", "kept = 2", NOTHING),
        ("pass", "def fill(self, spread):\n            self.spread = spread", []),
        ("self.__dict__.update(size)", "kept = 2", []),
        ("pass", "spread = torch.ones(3)", []),
    ],
)
def test_what_its_file_leaves_empty_another_one_must_fill(more: str, method: str, options: list[str]) -> None:
    assert told(FILLED.format(more=more, method=method))[0] == options


READ = """
    def read(weights):
        \"\"\"What is in a file, or given.\"\"\"
        if {test}:
            weights = torch.load(weights)
        return {back}


    class Loss(torch.nn.Module):
        def __init__(self, weights=None):
            super().__init__()
            self.weights = read(weights)

        def forward(self, x):
            if self.weights is not None:
                return x * x.new_tensor(self.weights)
            return x
    """


@pytest.mark.parametrize(
    ("test", "back", "named"),
    [
        ("isinstance(weights, str)", "weights", True),
        ("weights is not None and weights", "weights", True),
        ("weights", "weights", True),
        ("weights is None", "weights", False),
        ("isinstance(weights, (str, type(None)))", "weights", False),
        ("isinstance(weights, str)", "weights or [1.0]", False),
    ],
)
def test_what_is_given_back_as_it_is_where_it_is_none(test: str, back: str, named: bool) -> None:
    option = "only where `self.weights is not None` holds; by default `self.weights` is `None`"
    assert told(READ.format(test=test, back=back))[-1] == ([option] if named else [])
