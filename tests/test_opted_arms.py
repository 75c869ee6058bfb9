"""What the arms of a constructor, a property or a function leave a name with is what the option says that chooses."""

from __future__ import annotations

import pytest

from tests.test_opted import told

HEADS = """
    class Config:
        def __init__(self, loss="mse", seconds=None, exact=False, other=False):
            self.loss = loss
            self.seconds = seconds
            self.exact = exact
            self.other = other

        @property
        def length(self):
            \"\"\"Samples in a chunk.\"\"\"
            if self.seconds is None:
                return None
            return int(self.seconds * 16000)

        @property
        def wide(self):
            wide = self.exact
            return wide


    class Head(torch.nn.Module):
        def __init__(self, config: Config, quant=False, force="none"):
            super().__init__()
            self.config = config
            if config.loss == "mse":
                self.out = None
            elif config.loss == "nll":
                self.out = build(config)
            else:
                raise ValueError(config.loss)
            self.quant = quant
            if force in ("norm", "all"):
                self.quant = False
            self.slow = quant
            if unseen():
                self.slow = False
            self.deep = quant
            if unseen():
                self.deep = True
            for name in ("a", "b"):
                self.turned = quant
            self.turned = quant
            self.ready = None
            if unseen():
                self.ready = build(config)
            self.lin = torch.nn.Linear(3, 3)

        def forward(self, x, edits=None, more: str = "", **kwargs):
            x = self.lin(x)
            {before}
            if {test}:
                return x.sum().item()
            return x
    """
TWICE = "use = self.quant\n            if more:\n                use = True"
ARMS = "if edits:\n{0}use = True\n{1}elif more:\n{0}use = True\n{1}else:\n{0}use = False".format(16 * " ", 12 * " ")


@pytest.mark.parametrize(
    ("before", "test", "default"),
    [
        ("pass", "self.out", "`self.out` is `None`"),
        ("pass", "self.quant", "`self.quant` is `False`"),
        ("pass", "self.slow", "`self.slow` is `False`"),
        ("pass", "self.config.length is not None", "`self.seconds` is `None`"),
        ("length = self.config.length", "length is not None", "`self.seconds` is `None`"),
        (ARMS, "use", '`edits` is `None` and `more` is `""`'),
        (TWICE, "use", '`more` is `""` and `self.quant` is `False`'),
    ],
)  # fmt: skip
def test_what_arms_leave_is_as_the_option_says(before: str, test: str, default: str) -> None:
    options = told(HEADS.replace("{before}", before).replace("{test}", test))
    assert options == [[f"only where `{test}` holds; by default {default}"]]


@pytest.mark.parametrize(
    ("before", "test"),
    [
        ("pass", "self.deep"),  # nobody sees which arm is taken
        ("pass", "self.turned"),  # a loop binds it too
        ("pass", "self.ready"),  # what is kept for itself
        ("pass", "self.config.wide"),  # not by tests alone
        ("use = False\n            if x.is_cuda:\n                use = True", "use"),
        ("if more:\n                use = True", "use"),
        (f"{ARMS}\n            use = x.is_cuda", "use"),
    ],
)
def test_what_else_decides_is_no_option(before: str, test: str) -> None:
    assert told(HEADS.replace("{before}", before).replace("{test}", test)) == [[]]


@pytest.mark.parametrize(
    ("before", "test", "said"),
    [
        ("use = False\n            if edits:\n                use = True", "use", "`edits` holds"),
        ("use = x * 2 if edits else None", "use is not None", "`edits` holds"),
        ("use = None if not edits else x * 2", "use is not None", "`edits` holds"),
    ],
)
def test_what_a_name_was_bound_behind_is_told_for_it(before: str, test: str, said: str) -> None:
    options = told(HEADS.replace("{before}", before).replace("{test}", test))
    assert options == [[f"only where {said}; by default `edits` is `None`"]]


@pytest.mark.parametrize(
    ("test", "options"),
    [
        ("kwargs.get('mode') == 'paged'", ["only where `kwargs.get('mode') == 'paged'` holds"]),
        ("kwargs['mode'] == 'paged'", ["only where `kwargs['mode'] == 'paged'` holds"]),
        ("kwargs.get('mask') is not None", []),
        ("self.names.get('mode') == 'paged'", []),
    ],
)
def test_a_text_among_the_other_arguments_is_a_choice(test: str, options: list[str]) -> None:
    assert told(HEADS.replace("{before}", "pass").replace("{test}", test)) == [options]


EXACT = "`self.exact` holds; by default `self.exact` is `False`"
FUNCTION = """
    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round() * _largest(x)

        @staticmethod
        def backward(ctx, g):
            return g


    def _largest(x):
        return x.max().item()


    class Act(torch.nn.Module):
        def __init__(self, exact=False):
            super().__init__()
            self.exact = exact
            {kept}

        def forward(self, x: torch.Tensor):
            if not self.exact:
                return x
            return {call}
    """


@pytest.mark.parametrize(
    ("kept", "call", "options"),
    [
        ("pass", "Round.apply(x)", [EXACT]),
        ("self.round = Round.apply", "Round.apply(x)", []),  # whoever calls that
        ("pass", "Round.apply(x) if x.is_cuda else Round.apply(-x)", [EXACT]),
    ],
)  # fmt: skip
def test_the_forward_of_a_function_stands_behind_what_applies_it(kept: str, call: str, options: list[str]) -> None:
    found = told(FUNCTION.replace("{kept}", kept).replace("{call}", call))
    assert found == [[f"in this file called only where {option}" for option in options]]


SHARDED = """
    if {test}:

        def gather(x: torch.Tensor):
            return x.sum().item()


        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x.max().item()
    """


@pytest.mark.parametrize(
    ("test", "options"),
    [
        ("is_sharded_enabled()", ["only where `is_sharded_enabled()` holds"]),
        ("not is_sharded_enabled()", []),
        ("is_scipy_available()", []),
        ("torch.is_grad_enabled()", []),  # as it is while a program trains
    ],
)
def test_what_is_defined_behind_a_setting_has_it(test: str, options: list[str]) -> None:
    assert told(SHARDED.replace("{test}", test)) == [options, options]


def test_a_setting_that_the_declared_class_has_not_is_one_of_another() -> None:
    text = """
        class Args:
            def __init__(self, other=False):
                self.other = other


        class Trainer:
            def __init__(self, args: Args):
                self.args = args

            def step(self, x: torch.Tensor, inputs, only=False):
                if not self.args.generate or only:
                    return x
                decode = inputs["x"] if "inputs" in self.args.metrics else None
                if decode is not None:
                    return x.sum().item()
        """
    behind = ["only where `self.args.generate` holds", 'only where `"inputs" in self.args.metrics` holds']
    assert told(text) == [behind]


LAST = """
    class Net(torch.nn.Module):
        def __init__(self, last="zero"):
            super().__init__()
            self.last = last

        def forward(self, x):
            {first}
            if self.last == "mean":
                end = x.mean()
            elif self.last == "zero":
                end = 0
            else:
                end = {other}
            return torch.full((1,), fill_value=end, device=x.device)
    """
MEAN = 'only where `self.last == "mean"` holds; by default `self.last` is `"zero"`'


@pytest.mark.parametrize(
    ("first", "other", "options"),
    [
        ("end = None", "1", [MEAN]),
        ("end = None", "x.amax()", []),
        ("end = x.amin()", "1", []),
        ("for end in x: pass", "1", []),
        ("pass", "1", [MEAN]),
    ],
)
def test_what_one_arm_binds_to_a_tensor_and_all_others_to_a_constant_asks_for_that_arm(
    first: str, other: str, options: list[str]
) -> None:
    assert told(LAST.format(first=first, other=other)) == [options]


REORDER = """
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, reorder=False):
            if reorder:
                {name} = x.sort().values
            {other}
            return {name}.sum().item()
    """


@pytest.mark.parametrize(
    ("name", "other", "options"),
    [("x", "pass", []), ("y", "if not reorder: y = x", []), ("self.y", "pass", [])],
)
def test_what_may_come_another_way_asks_for_no_arm(name: str, other: str, options: list[str]) -> None:
    assert told(REORDER.format(name=name, other=other)) == [options]


def test_what_comes_in_two_ways_asks_for_none_of_what_stands_behind_one() -> None:
    text = """
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, sample=False):
            if sample:
                probs = x.softmax(-1)
                token = probs.multinomial(1)
            else:
                token = x.argmax(-1)
            return token.item()
    """
    assert told(text) == [[]]


NAMED = "in this file named only where "
EITHER = f'{NAMED}`self.loss == "nll"` holds or `self.loss == "mse"` does not hold; by default `self.loss` is `"mse"`'
KINDS = """
    def nll(dist: torch.distributions.Normal, y: torch.Tensor):
        return -dist.log_prob(y).sum().item()

    class Net(torch.nn.Module):
        def __init__(self, loss="mse"):
            super().__init__()
            self.loss = loss

        def forward(self, x, dist: torch.distributions.Normal):
            if self.loss == "mse":
                loss = torch.nn.functional.mse_loss
            elif self.loss == "nll":
                loss = nll
            {more}
            return loss(dist, x)
    """


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ("", ['in this file named only where `self.loss == "nll"` holds; by default `self.loss` is `"mse"`']),
        ("else: loss = nll", [EITHER]),
        ("if x.ndim == 2: loss = nll", []),
        ("KEPT = 1", ['in this file named only where `self.loss == "nll"` holds; by default `self.loss` is `"mse"`']),
    ],
)
def test_a_function_that_is_named_behind_an_option_alone_has_it(more: str, options: list[str]) -> None:
    assert {tuple(one) for one in told(KINDS.format(more=more))} == {tuple(options)}


def test_what_such_a_function_calls_has_it_too() -> None:
    text = KINDS.format(more="").replace(".sum().item()", ".sum()").replace("return -dist", "return spread(-dist")
    text = text.replace(".log_prob(y).sum()", ".log_prob(y))")
    text = text.replace("    def nll", "    def spread(x):\n        return x.sum().item()\n\n    def nll", 1)
    option = '`self.loss == "nll"` holds; by default `self.loss` is `"mse"`'
    assert told(text) == [[f"in this file called only where {option}"], [f"in this file named only where {option}"]]


def test_a_decorator_that_keeps_a_function_names_it() -> None:
    text = KINDS.format(more="").replace("def nll(", "@kept\n    def nll(")
    assert {tuple(one) for one in told(text)} == {()}


@pytest.mark.parametrize(
    ("kind", "default", "named"),
    [
        ("BatchSizes", "0", False),  # how many there are in a batch
        ("BatchSizes", "0.0", True),
        ("SamplingParams", "0", True),
        ("Settings", "0", True),
        ("BatchSizes", "1", True),
    ],
)
def test_a_field_that_counts_is_no_setting(kind: str, default: str, named: bool) -> None:
    text = f"""
        from dataclasses import dataclass

        @dataclass
        class {kind}:
            rows: float = {default}

        def step(x: torch.Tensor, given: {kind}):
            if given.rows != {default}:
                return x.sum().item()
        """
    option = f"only where `given.rows != {default}` holds; by default `given.rows` is `{default}`"
    assert told(text) == [[option] if named else []]


@pytest.mark.parametrize(
    "second", ["elif mode == 'slow':", "else:\n        if mode == 'slow':\n            return x\n    if 0:"]
)
def test_what_follows_arms_that_leave_stands_behind_all_of_their_tests(second: str) -> None:
    text = f"""
def step(x: torch.Tensor, beta=0, mode="slow"):
    if beta == 0:
        return x
    {second}
        return x + 1
    return x.sum().item()
"""
    first = "only where `beta == 0` does not hold; by default `beta` is `0`"
    then = "only where `mode == 'slow'` does not hold; by default `mode` is `\"slow\"`"
    assert told(text) == [[first, then]]
    assert told(text.replace("return x\n", "x = x * 2\n", 1)) == [[]]


@pytest.mark.parametrize(
    ("waits", "option"),
    [
        ("bool((self.exact and x != 0).any())", "only where `self.exact` holds"),
        ("bool((not self.exact and x != 0).any())", ""),
        ("bool((x.is_cuda and self.exact and x + 1).sum())", "only where `self.exact` holds"),
        ("(self.loose or x + 1).sum().item()", "only where `self.loose` does not hold"),
        ("(self.exact or x + 1).sum().item()", ""),
        ("(self.exact and x + 1 or x).sum().item()", ""),
        ("(self.exact and self.loose, x.sum().item())", ""),
    ],
)
def test_what_and_gives_is_there_where_all_before_it_holds(waits: str, option: str) -> None:
    text = """
class Net(torch.nn.Module):
    def __init__(self, exact=False, loose=True):
        super().__init__()
        self.exact = exact
        self.loose = loose

    def forward(self, x):
        return {}
"""
    (options,) = told(text.format(waits))
    assert [one.partition(";")[0] for one in options] == ([option] if option else [])


@pytest.mark.parametrize(("used", "option"), [("turned", True), ("at", False)])
def test_what_has_another_name_by_then_may_have_come_another_way(used: str, option: bool) -> None:
    text = f"""
class Solver:
    def __init__(self, deep=False):
        self.deep = deep
        self.kept = 0

    def step(self, x: torch.Tensor):
        at = self.kept
        turned = 0
        if self.deep:
            turned = x.cumsum(0)
            at = turned
        if bool({used}):
            return x
        self.kept = at
"""
    options = told(text)
    assert (
        options == [["only where `self.deep` holds; by default `self.deep` is `False`"]] if option else not any(options)
    )
