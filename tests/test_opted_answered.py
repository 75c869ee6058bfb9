"""Options that a call asks for, `settings.exact.on()`, and functions that a table keeps under a key."""

from __future__ import annotations

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config

HEAD = "import torch\nfrom . import settings\n\n\n"


def told(text: str) -> list[tuple[str, list[str]]]:
    """The heat of each wait, and what is told of its options."""
    config = Config(heat="all", confidence="possible", stdin_filename="example.py")
    findings = pipeline.check(["-"], config, HEAD + textwrap.dedent(text)).findings
    return [(finding.heat, [fact.text for fact in finding.options]) for finding in findings]


CLASSES = """
    class _flag:
        _default = False
        _state = None

        @classmethod
        def is_default(cls):
            return cls._state is None

        @classmethod
        def on(cls):
            if cls.is_default():
                return cls._default
            return cls._state

        @classmethod
        def off(cls):
            return not cls.on()

        @classmethod
        def drawn(cls):
            return torch.rand(1).item() > 0.5

    class checks(_flag):
        _default = True

    class policy:
        _global = "ignore"

        @classmethod
        def value(cls):
            "What it is."
            return cls._global

    def step(x: torch.Tensor, config):
        if {test}:
            return x.sum().item()
        return 0.0

    {more}
    """
MASKED = 'only where `policy.value() == "mask"` holds; by default `policy.value()` is `"ignore"`'
OFF = "only where `{}` holds; by default `{}` is `{}`"


@pytest.mark.parametrize(
    ("test", "more", "heat", "options"),
    [
        ("_flag.on()", "", "amortized", [OFF.format("_flag.on()", "_flag.on()", "False")]),
        ("checks.off()", "", "amortized", [OFF.format("checks.off()", "checks.off()", "False")]),
        ("checks.on()", "", "unknown", []),
        ("_flag.off()", "", "unknown", []),
        ("_flag.on(1)", "", "unknown", []),
        ("_flag.drawn()", "", "unknown", []),
        ("_flag.on()", "_flag._default = True", "unknown", []),
        ('policy.value() == "mask"', "", "amortized", [MASKED]),
        ('policy.value() == "ignore"', "", "unknown", []),
        ("settings.exact.on()", "", "unknown", ["only where `settings.exact.on()` holds"]),
        ('config.mode() == "fast"', "", "unknown", ['only where `config.mode() == "fast"` holds']),
        ("settings.exact.on(x)", "", "unknown", []),
        ("other.exact.on()", "", "unknown", []),
    ],
)  # fmt: skip
def test_what_a_class_answers_unless_it_is_set_is_an_option(
    test: str, more: str, heat: str, options: list[str]
) -> None:
    found = [one for one in told(CLASSES.format(test=test, more=more)) if not one[1] or "drawn" not in one[1][0]]
    assert found[-1] == (heat, options)


TABLE = """
    def _slow(x: torch.Tensor):
        return x.sum().item()

    def fast(x: torch.Tensor):
        return _read(x)

    def _read(x: torch.Tensor):
        for _ in range(3):
            x = x + 1
        return x.max().item()

    RULES = {{{table}}}

    def step(x: torch.Tensor, kind):
        return {call}
    """
ASKED = 'only where `"{}"` is asked for, as `RULES` keeps it'
KINDS = [
    "only where `Kind.SLOW` is asked for, as `RULES` keeps it",
    "only where `Kind.FAST` is asked for, as `RULES` keeps it",
]
SLOW, FAST = [ASKED.format("slow")], ["in this file " + ASKED.format("fast")]


@pytest.mark.parametrize(
    ("table", "call", "options"),
    [
        ('"slow": _slow, "fast": fast', "RULES[kind](x)", [SLOW, FAST]),
        ('"slow": _slow, "fast": fast', "_slow(x)", [[], FAST]),
        ('"slow": _slow', "RULES[kind](fast(x))", [[], []]),
        ('"slow": _slow, "sluggish": _slow, "fast": fast', "RULES[kind](x)", [[], FAST]),
        ('"slow": _slow, "fast": 1', "RULES[kind](x)", [[], []]),
        ('slow: _slow, "fast": fast', "RULES[kind](x)", [[], []]),
        ("Kind.SLOW: _slow, Kind.FAST: fast", "RULES[kind](x)", [KINDS[:1], [f"in this file {KINDS[1]}"]]),
        ("kind.slow: _slow, kind.fast: fast", "RULES[kind](x)", [[], []]),
    ],
)  # fmt: skip
def test_what_a_table_keeps_under_a_key_is_told_of_it(table: str, call: str, options: list[list[str]]) -> None:
    assert [one for _, one in told(TABLE.format(table=table, call=call))] == options


WITHIN = TABLE.replace("\n    RULES = {{{table}}}\n", "").replace(
    "return {call}", 'rules = {{"slow": _slow, "fast": fast}}\n        {call}'
)


@pytest.mark.parametrize(
    ("call", "picked"),
    [
        ("return rules[kind](x)", True),
        ("rule = rules.get(kind)\n        return rule(x)", True),
        ("return rules[kind](x) if kind in rules else None", True),
        ("return pick('solve', rules, kind)(x)", True),
        ("return pick(rules, x)", False),
        ("return [rule(x) for rule in rules.values()]", False),
        ("for one in rules:\n            x = rules[one](x)", False),
        ("return rules", False),
    ],
)
def test_of_a_table_in_a_function_one_is_picked(call: str, picked: bool) -> None:
    slow, fast = ([one.replace("RULES", "rules") for one in every] if picked else [] for every in (SLOW, FAST))
    assert [one for _, one in told(WITHIN.format(call=call))] == [slow, fast]


OWN = """
    class Loss(torch.nn.Module):
        def forward(self, x: torch.Tensor):
            return sum(self.one(x, kind) for kind in self.kinds)

        def one(self, x, kind):
            losses = {{"peak": self.peak, "mean": self._mean}}
            {call}

        def peak(self, x: torch.Tensor):
            return largest(x)

        def _mean(self, x: torch.Tensor):
            return x.mean().item()

    def largest(x):
        return x.max().item()
    """
PEAK, MEAN = (f'only where `"{key}"` is asked for, as `losses` keeps it' for key in ("peak", "mean"))


@pytest.mark.parametrize(
    ("call", "picked"),
    [
        ("return losses[kind](x)", True),
        ("return losses[kind](x) if kind in losses else x", True),
        ("return self._mean(x) + losses[kind](x)", None),
        ("return sum(one(x) for one in losses.values())", False),
    ],
)
def test_of_a_table_of_methods_one_is_picked(call: str, picked: bool | None) -> None:
    mean = [MEAN] if picked else []
    peak = [f"in this file called {PEAK}"] if picked is not False else []
    assert [one for _, one in told(OWN.format(call=call))] == [mean, peak]


SWITCHED = """
    class trace:
        _on = False

        @classmethod
        def on(cls):
            return cls._on

        @classmethod
        def enable(cls):
            cls._on = True

        @classmethod
        def disable(cls):
            cls._on = False

    class checks:
        _on = False

        @classmethod
        def on(cls):
            return cls._on

        @classmethod
        def turn(cls, to):
            cls._on = to

        def __init__(self, to=True):
            self.to = to

        def __enter__(self):
            self.turn(self.to)

        def __exit__(self, *_):
            self.turn(False)

    def step(x: torch.Tensor):
        if {test}:
            return x.sum().item()
        return 0.0

    def main(x):
        {more}
    """


@pytest.mark.parametrize(
    ("test", "more", "heat"),
    [
        ("trace.on()", "pass", "amortized"),
        ("trace.on()", "trace.disable()", "amortized"),
        ("trace.on()", "trace.enable()", "unknown"),
        ("checks.on()", "pass", "amortized"),
        ("checks.on()", "with checks():\n            pass", "unknown"),
        ("checks.on()", "with checks(False):\n            pass", "amortized"),
        ("checks.on()", "with trace():\n            pass", "amortized"),
    ],
)
def test_what_the_file_turns_on_is_no_option(test: str, more: str, heat: str) -> None:
    assert told(SWITCHED.format(test=test, more=more))[-1][0] == heat


FALLS = """
    def exists(val):
        return val is not None

    def default(val, d):
        {body}

    class Net(torch.nn.Module):
        def __init__(self, steps=None, width=None):
            super().__init__()
            self.steps = default(steps, {other})

        def prepare(self, betas):
            self.shortens = self.steps > 1

        def forward(self, x: torch.Tensor):
            if {test}:
                return x.sum().item()
            return x
    """
IFS = "if exists(val):\n            return val\n        return d() if callable(d) else d"


@pytest.mark.parametrize(
    ("body", "other", "test", "named"),
    [
        (IFS, "1", "self.steps > 1", "only where `self.steps > 1` holds; by default `self.steps` is `1`"),
        ("return val if val is not None else d", "1", "self.steps > 1", "only where `self.steps > 1` holds"),
        ("return d if val is None else val", "1", "self.steps > 1", "only where `self.steps > 1` holds"),
        (IFS, "1", "self.shortens", "only where `self.shortens` holds"),
        (IFS, "4", "self.steps > 1", ""),
        (IFS, "width", "self.steps > 1", ""),
        ("return d if exists(val) else val", "1", "self.steps > 1", ""),
        ("return val if exists(val) else d + 1", "1", "self.steps > 1", ""),
    ],
)
def test_what_falls_back_to_something_else_is_that_by_default(body: str, other: str, test: str, named: str) -> None:
    found = told(FALLS.format(body=body, other=other, test=test))
    assert [text.startswith(named) if named else text for _, options in found for text in options] == (
        [True] if named else []
    )
