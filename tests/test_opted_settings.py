"""Settings of which nobody sees the default, around a wait: what asks for them is told, without one."""

from __future__ import annotations

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config

HEAD = "import argparse\nimport torch\n\n\n"


USES = "def uses_extra(config):\n    return config.extra or getattr(config, 'more', False)\n\n\n"
USES += "def lacks_extra(config):\n    return not config.extra\n\n\n"


def told(text: str) -> list[list[str]]:
    config = Config(heat="all", confidence="possible", stdin_filename="example.py")
    found = pipeline.check(["-"], config, HEAD + USES + textwrap.dedent(text)).findings
    return [[fact.text for fact in finding.options] for finding in found]


NET = """
    class Net(torch.nn.Module):
        def __init__(self, config, kind, exact: bool):
            super().__init__()
            self.config = config
            self.kind = kind
            self.exact = exact
            self.deep = config.deep
            self.loud = config.get("loud", False)

        def forward(self, x, cfg, batch, how: str, sure: bool, which):
            named, given = cfg.method, batch.label
            if {test}:
                return x.sum().item()
            return x
    """


@pytest.mark.parametrize(
    "test",
    [
        "cfg.use_extra",
        "self.config.use_extra",
        "cfg.model.use_extra",
        "cfg['use_extra']",
        "'extra' in cfg",
        "cfg.extra is not None",
        "cfg.mode == 'a'",
        "cfg.mode in ('a', 'b')",
        "cfg.weight > 0",
        "cfg.weight != 0",
        "cfg.every != 1",
        "cfg.every == 4",
        "cfg.exact == True",
        "cfg.exact is True",
        "cfg.method in [Method.FAST]",
        "self.deep",
        "self.kind == 'a'",
        "self.exact",
        "how == 'a'",
        "which == 'a'",
        "cfg.a or cfg.b",
        "cfg.router.mode != 'disabled'",
        "named.lower() == 'a'",
        "cfg.mode.startswith('a')",
        "how.endswith('_a')",
        "run_args.exact",
        "run_args['exact']",
        "which.conf.exact",
        "'extra' in inspect.signature(self.net.forward).parameters",
        "'extra' in set(signature(which).parameters.keys())",
        "uses_extra(cfg)",
        "not not cfg.use_extra",
    ],
)
def test_what_asks_for_a_setting_is_told(test: str) -> None:
    assert told(NET.format(test=test)) == [[f"only where `{test.replace('not not ', '')}` holds"]]


@pytest.mark.parametrize(
    ("test", "default"),
    [
        ("cfg.get('extra', False)", "`extra` is `False`"),
        ("cfg.get('extra', None) is not None", "`extra` is `None`"),
        ("cfg.get('extra') is not None", "`extra` is `None`"),
        ("batch.get('extra', False)", "`extra` is `False`"),
        ("getattr(cfg, 'extra', False)", "`extra` is `False`"),
        ("cfg.get('mode', 'a') == 'b'", '`mode` is `"a"`'),
        ("cfg.get('mode', 'a').startswith('b')", '`mode` is `"a"`'),
        ("self.loud", "`self.loud` is `False`"),
        ("look_up(batch, 'extra', default=False)", "`extra` is `False`"),
        ("torch.look_up(data=batch, key='extra', default=False)", "`extra` is `False`"),
        ("look_up('extra', default=False)", "`extra` is `False`"),
        ("look_up(cfg, 'mode', default='a') == 'b'", '`mode` is `"a"`'),
    ],
)
def test_what_is_asked_for_with_a_default_has_it(test: str, default: str) -> None:
    assert told(NET.format(test=test)) == [[f"only where `{test}` holds; by default {default}"]]


@pytest.mark.parametrize(
    "test",
    [
        "not cfg.use_extra",  # nothing needs to be set
        "cfg.mode != 'a'",
        "cfg.extra is None",
        "lacks_extra(cfg)",
        "given.lower() == 'a'",
        "given.startswith('a')",
        "not cfg.mode.startswith('a')",
        "named.lower() != 'a'",
        "uses_extra(batch, cfg)",
        "'extra' not in inspect.signature(self.net.forward).parameters",
        "'extra' in self.net.parameters",
        "cfg.weight == 0",
        "cfg.every == 1",
        "cfg.exact == False",
        "cfg.mode not in ('a', 'b')",
        "cfg.a or x.dim() > 1",
        "batch.extra is not None",  # data
        "batch['extra'] is not None",
        "batch.get('extra', None) is not None",
        "batch.get('extra', 3) > 2",
        "look_up(batch, 'extra', default=3) > 2",
        "look_up(batch, 'extra', default=None) is not None",
        "look_up(batch, 'extra', default=True)",
        "look_up(batch, extra, default=False)",
        "look_up('extra', False)",
        "x.device.type == 'cuda'",
        "which",
        "sure",  # it may tell of the data, as whether they are the last
        "which != ''",
        "cfg.training",
        "cfg.get('extra', True)",
        "cfg.sizes[0] > 1",
    ],
)
def test_what_needs_nothing_to_be_set_or_asks_for_data_is_not_told(test: str) -> None:
    assert told(NET.format(test=test)) == [[]]


@pytest.mark.parametrize("base", ["other.Base", "Base"])
@pytest.mark.parametrize("name", ["config", "_cfg"])
def test_what_a_class_above_keeps_of_its_configuration_is_a_setting(base: str, name: str) -> None:
    text = f"""
        import other
        from there import Base

        class Net({base}):
            def __init__(self, config):
                super().__init__(config)

            def forward(self, x):
                if self.{name}.use_extra:
                    return x.sum().item()
        """
    assert told(text) == [[f"only where `self.{name}.use_extra` holds"]]


def test_what_stands_in_a_list_has_its_class() -> None:
    text = """
        class Settings:
            def __init__(self, kind="fast"):
                self.kind = kind

        class Loss:
            settings: Settings

            @staticmethod
            def build(every: list["Loss"], x: torch.Tensor):
                settings = every[0].settings
                if settings.kind == "slow":
                    return x.sum().item()
        """
    assert told(text) == [['only where `settings.kind == "slow"` holds; by default `settings.kind` is `"fast"`']]


@pytest.mark.parametrize(
    ("more", "option"),
    [
        ("self.loud = self.deep and step % 3 == 0", True),
        ("self.loud = False", True),
        ("self.loud |= step", False),
        ("self.loud = True", False),
        ("self.loud = step > 3", False),
    ],
)
def test_what_is_off_or_as_a_setting_says_is_a_setting(more: str, option: bool) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def __init__(self, config):
                super().__init__()
                self.deep = config.deep
                self.loud = config.deep

            def forward(self, x, step: int):
                {more}
                if self.loud:
                    return x.sum().item()
        """
    assert told(text) == [["only where `self.loud` holds"] if option else []]


def test_what_the_file_sets_or_must_be_is_not_told() -> None:
    text = """
        def step(x: torch.Tensor, cfg):
            {before}
            if cfg.use_extra:
                return x.sum().item()
            {after}
        """
    assert told(text.format(before="cfg.use_extra = True", after="return 0")) == [[]]
    assert told(text.format(before="cfg.use_extra = cfg.more", after="return 0")) == [
        ["only where `cfg.use_extra` holds"]
    ]
    assert told(text.format(before="", after="else:\n                raise ValueError")) == [[]]


def test_the_last_of_several_choices_is_one_of_them() -> None:
    text = """
        def step(x: torch.Tensor, mode):
            if mode == "fast":
                {}
            elif mode == "slow":
                return x.sum().item()
            else:
                raise ValueError(mode)
        """
    assert told(text.format("return x")) == [['only where `mode == "slow"` holds']]
    assert told(text.format("raise KeyError")) == [[]]


def test_a_private_function_is_told_of_what_its_callers_pass() -> None:
    text = """
        def _read(x: torch.Tensor, flag):
            if flag:
                return x.sum().item()

        def step(x: torch.Tensor, cfg):
            return _read(x, cfg.use_extra){more}
        """
    assert told(text.format(more="")) == [["only where `flag` holds"]]
    assert told(text.format(more=" or _read(x, True)")) == [[]]


PARSED = """
    parser = argparse.ArgumentParser()
    parser.add_argument("--use-amp", action="store_true")
    parser.add_argument("--no-check", dest="check", action="store_false")
    parser.add_argument("-m", "--mode", type=str, default="fast", help="how")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--twice", default=1)
    args = parser.parse_args()

    def step(x: torch.Tensor, {params}):
        if {test}:
            return x.sum().item()
    """


@pytest.mark.parametrize("params", ["y", "args"])
@pytest.mark.parametrize(
    ("test", "rest"),
    [
        ("args.use_amp", [" holds; by default `args.use_amp` is `False`"]),
        ("not args.check", [" does not hold; by default `args.check` is `True`"]),
        ('args.mode == "slow"', [' holds; by default `args.mode` is `"fast"`']),
        ("args.twice", [" holds"]),
        ("args.check", []),
        ('args.mode == "fast"', []),
    ],
)
def test_what_a_script_is_given_is_what_its_parser_says(params: str, test: str, rest: list[str]) -> None:
    options = [f"only where `{test.replace('not ', '')}`{text}" for text in rest]
    assert told(PARSED.format(params=params, test=test)) == [options]


KEPT = """
    LOSSES = {{}}

    def register_loss(key, more=None):
        def keep(function):
            LOSSES[key] = function
            return function
        return keep

    {first}
    def slow(x: torch.Tensor):
        return x.sum().item()

    {second}
    def fast(x: torch.Tensor):
        return _read(x)

    def _read(x: torch.Tensor):
        for _ in range(3):
            x = x + 1
        return x.max().item()
    """


def test_what_is_kept_under_a_key_is_told_of_it() -> None:
    of = "only where `{}` is asked for, as `{}` keeps it"
    text = KEPT.format(first='@register_loss("slow")', second='@register_loss("fast", more=1)')
    keys = [of.format(f'"{key}"', "register_loss") for key in ("slow", "fast")]
    assert told(text) == [[keys[0]], [keys[1]]]
    text = KEPT.format(first="@Losses.register(Name.SLOW)", second="@Losses.register(Name.FAST)")
    assert told(text)[0] == [of.format("Name.SLOW", "register")]


def test_what_is_kept_under_a_key_and_called_by_its_name_too_is_told_of_its_own() -> None:
    text = KEPT.format(first='@register_loss("slow")', second='@register_loss("fast")').replace(
        "_read(x)\n", "slow(x)\n", 1
    )
    assert told(text)[0] == ['only where `"slow"` is asked for, as `register_loss` keeps it']


@pytest.mark.parametrize(
    ("first", "key"),
    [
        ('@register_loss(Settings(names=["slow", "exact"], top=True))', '["slow", "exact"]'),
        ('@register_loss(Settings("slow"))', '"slow"'),
        ("@register_loss(Settings(top=True))", ""),
        ("@register_loss(Settings(names))", ""),
        ("@register_loss(Settings())", ""),
    ],
)
def test_what_describes_a_function_may_name_it_first(first: str, key: str) -> None:
    text = KEPT.format(first=first, second='@register_loss(Settings(names=["fast"]))')
    assert told(text)[0] == ([f"only where `{key}` is asked for, as `register_loss` keeps it"] if key else [])


@pytest.mark.parametrize(
    ("decorator", "key"), [('@Engines.register("slow")', '"slow"'), ("@dataclass", ""), ("@Engines.register", "")]
)
def test_the_methods_of_a_class_that_is_kept_under_a_key_are_told_of_it(decorator: str, key: str) -> None:
    text = f"""
        {decorator}
        class Slow:
            def read(self, x: torch.Tensor):
                return x.sum().item()
        """
    assert told(text) == [[f"only where `{key}` is asked for, as `register` keeps it"] if key else []]


OFF = "only where `{0}` holds; by default `{0}` is `False`"


@pytest.mark.parametrize(
    ("default", "sets", "option"),
    [
        ("False", "self.config.exact = False", OFF.format("self.config.exact")),
        ("True", "self.config.exact = False", ""),
        ("False", "self.config.exact = True", ""),
        ("False", "self.config.exact = size > 3", ""),
    ],
)  # fmt: skip
def test_a_switch_that_its_file_only_turns_off_is_off(default: str, sets: str, option: str) -> None:
    text = f"""
        from dataclasses import dataclass

        @dataclass
        class Config:
            exact: bool = {default}

        class Net(torch.nn.Module):
            def __init__(self, config: Config, size: int):
                super().__init__()
                self.config = config
                {sets}

            def forward(self, x):
                if self.config.exact:
                    return x.sum().item()
                return x
        """
    assert told(text) == [[option] if option else []]


@pytest.mark.parametrize(
    ("default", "told_of"),
    [
        ("self.config.exact", [f"{OFF.format('exact')} and `self.config.exact` is `False`"]),
        ("False", [OFF.format("exact")]),
        ("self.size", []),
        ("self.config.size", []),
    ],
)  # fmt: skip
def test_what_is_looked_up_has_the_default_of_the_setting_that_stands_in(default: str, told_of: list[str]) -> None:
    text = f"""
        from dataclasses import dataclass

        @dataclass
        class Config:
            exact: bool = False
            size: int = 0

        class Net(torch.nn.Module):
            def __init__(self, config: Config, size: int):
                super().__init__()
                self.config, self.size = config, size

            def forward(self, batch, x: torch.Tensor):
                exact = look_up(batch, key="exact", default={default})
                if exact:
                    return x.sum().item()
                return x
        """
    assert told(text) == [told_of]


@pytest.mark.parametrize("first", ["", "@register_loss", "@torch.library.register_fake('a::b')", "@keep('slow')"])
def test_what_has_no_key_or_is_alone_is_not_told_of_one(first: str) -> None:
    assert told(KEPT.format(first=first, second=""))[0] == []
    assert told(KEPT.format(first="@register_loss('slow')", second=""))[0] == []


MADE = """
    class Slow(torch.nn.Module):
        def forward(self, x):
            return self._read(x)

        def _read(self, x):
            for _ in range(3):
                x = x + 1
            return x.sum().item()

        @classmethod
        def again(cls):
            return Slow()

    class Net(torch.nn.Module):
        inner: Slow

        def __init__(self, config, fine=False):
            super().__init__()
            {made}
            self.kept = isinstance(self.inner, Slow)
    {more}
    """


@pytest.mark.parametrize(
    ("made", "more", "option"),
    [
        ("self.inner = Slow() if config.slow else None", "", "`config.slow` holds"),
        ("how = config.how\n            if how == 'a':\n                self.inner = Slow()", "", "`how == 'a'` holds"),
        ("self.inner = Slow() if fine else None", "", "`fine` holds; by default `fine` is `False`"),
        ("self.inner = Slow()", "", ""),
        ("self.inner = Slow() if config.slow else Slow()", "", ""),
        ("self.inner = Slow() if config.slow else None", "KINDS = {'slow': Slow}", ""),
        ("self.inner = Slow() if config.slow else None", "class Slower(Slow):\n        pass", ""),
        ("self.inner = Slow() if config.dim() > 1 else None", "", ""),
        ("self.inner = None", "", ""),
        ("self.inner = None", "import os\n    if os.environ.get('FAST') == '1':\n        Slow = Net", ""),
    ],
)  # fmt: skip
def test_what_is_made_for_a_setting_alone_is_told_of_it(made: str, more: str, option: str) -> None:
    options = [f"in this file made only where {option}"] if option else []
    assert told(MADE.format(made=made, more=more)) == [options]


AGENT = """
    class Agent:
        def __init__(self, net, report, weight):
            self.net = net
            self.report = report
            self.weight = weight

        def update(self, x):
            loss = self.net(x).sum() * self.weight
            loss.backward()
            if {test}:
                return loss.item()
            return self.rest(loss)

        def rest(self, loss):
            return None if not self.report else loss.detach()
    """


@pytest.mark.parametrize(
    ("test", "options"),
    [
        ("self.report", ["only where `self.report` holds"]),
        ("not self.report", []),
        ("self.weight", []),  # of which more is asked
    ],
)
def test_what_a_class_only_ever_tests_is_a_setting(test: str, options: list[str]) -> None:
    assert told(AGENT.format(test=test)) == [options]


def test_what_a_script_makes_for_a_setting_alone_is_told_of_it() -> None:
    text = """
        parser = argparse.ArgumentParser()
        parser.add_argument("--exact", action="store_true")
        args = parser.parse_args()
        probe = None
        if args.exact:
            probe = torch.rand(2, device="cuda")
        for n in range(2):
            if probe is not None:
                print(probe.sum().item())
        """
    assert told(text) == [["only where `args.exact` holds"]]


OF_CALL = """
    class Pipe:
        def __call__(self, x: torch.Tensor, norm: bool = False, other: bool = False):
            {before}
            for step in range(9):
                if self._norm and x.norm().item() > 3:
                    x = x / 2
            {behind}
            return x
    """


@pytest.mark.parametrize(
    ("before", "behind", "options"),
    [
        ("self._norm = norm", "", ["only where `self._norm` holds; by default `norm` is `False`"]),
        ("self._norm = norm", "self._norm = None", ["only where `self._norm` holds; by default `norm` is `False`"]),
        ("self._norm = x.dim() > 1", "", []),
        ("self._norm = norm; self._norm = other or x.is_cuda", "", []),
        ("if x.is_cuda: self._norm = norm", "", []),
        ("pass", "self._norm = norm", []),
    ],
)
def test_what_a_method_keeps_of_its_own_option_is_one(before: str, behind: str, options: list[str]) -> None:
    assert told(OF_CALL.format(before=before, behind=behind)) == [options]


@pytest.mark.parametrize(
    ("bound", "test", "option"),
    [
        ('Requirement("torch<2.6")', "OLD", "only where `OLD` holds"),
        ('Requirement("torch>=2.6")', "OLD", None),
        ('Requirement("torchvision<0.2")', "OLD", None),
        ('parse(torch.__version__) < parse("2.6")', "OLD", "only where `OLD` holds"),
        ('parse(torch.__version__) < parse("2.6")', "not OLD", None),
        ('parse(torch.__version__) >= parse("2.6")', "not OLD", "only where `OLD` does not hold"),
        ('parse(torch.__version__) >= parse("2.6")', "OLD", None),
    ],
)
def test_what_only_an_older_torch_needs_says_so(bound: str, test: str, option: str | None) -> None:
    text = f"""
        from packaging.version import parse
        from requirements import Requirement

        OLD = {bound}


        def total(x: torch.Tensor):
            if {test}:
                return x.sum().item()
        """
    assert told(text) == [[option] if option else []]


CHECKED = """
    def checked(x, mode, deep):
        if mode is None:
            mode = "fast" if x.dim() > 1 else "slow"
        return x, mode, deep


    class MODES:
        fast, slow = "fast", "slow"


    def step(x: torch.Tensor, mode=None, deep=False, training=None):
        {call}
        if {test}:
            return x.sum().item()
        return x
    """
CHECK = "x, mode, deep = checked(x, mode, deep)"


@pytest.mark.parametrize("test", ['mode == "slow"', 'mode != "default"', "mode == MODES.slow", 'mode in ("a", "b")'])
def test_what_comes_back_from_a_call_that_it_is_given_to_is_a_choice(test: str) -> None:
    assert told(CHECKED.format(call=CHECK, test=test)) == [[f"only where `{test}` holds"]]


@pytest.mark.parametrize(
    ("call", "test"),
    [
        (CHECK, 'mode != "slow"'),
        (CHECK, 'mode == "default"'),
        (CHECK, "mode == x.mode"),
        (CHECK, "mode == FLAGS.slow"),  # two settings that must be alike
        (CHECK, "mode == F.slow"),
        (CHECK, "deep"),
        ("x, mode = checked(x, deep)", 'mode == "slow"'),
        ("x, training = checked(x, training)", 'training == "slow"'),
    ],
)
def test_what_does_not_come_back_or_is_no_choice_says_nothing(call: str, test: str) -> None:
    assert told(CHECKED.format(call=call, test=test)) == [[]]


@pytest.mark.parametrize(
    ("test", "option"),
    [
        ("self.cfg.gates[which]", True),
        ("self.cfg['gates'][0]", True),
        ("self.cfg.gates[0] > 0", False),
        ("self.cfg.gates[0] == 'slow'", True),
        ("self.cfg.gates['kind'] != 'default'", True),
        ("self.cfg.gates['kind'] == 'default'", False),
        ("not self.cfg.gates[0]", False),
        ("args[0]", False),
        ("self.gates[0]", False),
        ("self.schedule", True),
        ("self.schedule is not None", True),
        ("self.how", False),
        ("self.what", True),
        ("self.rate", False),
    ],
)
def test_an_item_of_a_setting_and_what_it_makes_ask_for_it(test: str, option: bool) -> None:
    text = f"""
    class Agent:
        def __init__(self, cfg, how, gates):
            self.cfg = cfg
            self.gates = gates
            self.schedule = self.cfg.schedules[0]
            if self.schedule is not None:
                self.schedule = self.cfg.schedules[0](self)
            self.how = cfg.name if how else "a"
            self.what = cfg.name if how else cfg.other
            self.rate = cfg.build(self)[0]

        def update(self, x: torch.Tensor, which, args):
            if {test}:
                return x.sum().item()
    """
    assert told(text) == [[f"only where `{test}` holds"] if option else []]


@pytest.mark.parametrize(("default", "option"), [("None", True), ("()", False), ("'slow'", False)])
def test_a_field_that_its_class_makes_more_of_asks_for_it_if_it_is_off_at_first(default: str, option: bool) -> None:
    text = f"""
    import dataclasses

    @dataclasses.dataclass
    class Config:
        schedule: object = {default}

        def expand(self):
            if not isinstance(self.schedule, list):
                self.schedule = [self.schedule]

    class Agent:
        def __init__(self, cfg: Config):
            self.cfg = cfg

        def update(self, x: torch.Tensor):
            if self.cfg.schedule[0]:
                return x.sum().item()
    """
    assert told(text) == [["only where `self.cfg.schedule[0]` holds"] if option else []]


@pytest.mark.parametrize(
    ("test", "option"),
    [
        ("loss.reduction == 'none'", True),
        ("self.loss.reduction in ('none', 'sum')", True),
        ("how == 'none'", True),
        ("loss.reduction != 'mean'", False),
        ("loss.reduction", False),
        ("x.device.type == 'cuda'", False),
        ("loss.name == 'slow'", False),
        ("self.method == 'slow'", False),
        ("loss.backend == 'slow'", False),
    ],
)
def test_an_attribute_that_says_which_of_several_is_compared_with_a_text(test: str, option: bool) -> None:
    text = f"""
    class Net:
        def __init__(self, loss):
            self.loss = loss
            self.method = "fast"

        def step(self, x: torch.Tensor, loss):
            how = loss.reduction
            if {test}:
                return x.sum().item()

        def change(self, loss, backend):
            loss.backend = backend
            self.method = "slow" if backend else "fast"
    """
    assert told(text) == [[f"only where `{test}` holds"] if option else []]


CONFIGURED = """
    class Rounds(torch.nn.Module):
        def configure(self, bits, {given}):
            self.bits = bits
            self.search = {kept}
        {more}

        def forward(self, x):
            if self.search:
                return x.sum().item()
            return x
    """


@pytest.mark.parametrize(
    ("given", "kept", "more", "expected"),
    [
        ("search=False", "search", "", "only where `self.search` holds; by default `self.search` is `False`"),
        ("search=True", "search", "", ""),
        ("search=False", "search", "def again(self, x): self.search = x > 0", ""),  # two set it
        ("search=False", "not search", "", ""),
    ],
)
def test_what_one_method_alone_sets_to_what_is_off_by_default_is_an_option(
    given: str, kept: str, more: str, expected: str
) -> None:
    (found,) = told(CONFIGURED.replace("{given}", given).replace("{kept}", kept).replace("{more}", more))
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("other", "told_of"),
    [('"eager"', True), ('"eager" if wide else "sdpa"', True), ("how(wide)", False)],
)
def test_a_text_that_is_compared_with_another_is_no_way_to_it(other: str, told_of: bool) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def __init__(self, config, how=None):
                super().__init__()
                wide = config.wide
                chosen = config.attention
                if wide is not None:
                    chosen = {other}
                self.chosen = chosen

            def forward(self, x: torch.Tensor):
                if self.chosen == "flash":
                    return x.sum().item()
                return x
        """
    assert told(text) == [['only where `self.chosen == "flash"` holds'] if told_of else []]


WAYS = """
    class Agent:
        def __init__(self, cfg):
            self.cfg = cfg

        def act(self, x: torch.Tensor, plain=False):
            {way}
            return x.cpu()

        def plan(self, x):
            return x
    """


@pytest.mark.parametrize(
    ("way", "options"),
    [
        ("if self.cfg.plans:\n                return self.plan(x)", ["only where `self.cfg.plans` does not hold"]),
        ("if self.cfg.plans:\n                x = x + 1\n                return self.plan(x)",
         ["only where `self.cfg.plans` does not hold"]),
        ("if self.cfg.plans:\n                return x", []),
        ("if self.cfg.plans:\n                return", []),
        ("if self.cfg.plans:\n                x = self.plan(x)", []),
        ("if self.cfg.training:\n                return self.plan(x)", []),
    ],
)  # fmt: skip
def test_one_of_two_ways_of_a_function(way: str, options: list[str]) -> None:
    assert told(WAYS.format(way=way)) == [options]


ENGINE = """
    class Engine:
        def build(self, net):
            try:
                self.takes = "extra" in signature(net.forward).parameters
            except TypeError:
                self.takes = {otherwise}

        def step(self, x: torch.Tensor):
            takes = {takes}
            if takes:
                return x.sum().item()
    """


@pytest.mark.parametrize(
    ("takes", "otherwise", "named"),
    [
        ("self.takes", "False", True),
        ("getattr(self, 'takes', False)", "False", True),
        ("getattr(self, 'takes')", "False", False),
        ("getattr(self, 'takes', True)", "False", False),
        ("self.takes", "net.training", False),
    ],
)
def test_what_an_object_keeps_of_what_is_asked_is_told(takes: str, otherwise: str, named: bool) -> None:
    assert told(ENGINE.format(takes=takes, otherwise=otherwise)) == [["only where `takes` holds"] if named else []]


MIXIN = """
    class Guided{bases}:
        {before}

        def scale(self, t: torch.Tensor):
            if self.adapts:
                return t.sum().item()

        @property
        def adapts(self) -> bool:
            return self._scale > 0 and len(self.layers) > 0
    """


@pytest.mark.parametrize(
    ("bases", "before", "named"),
    [
        ("", "steps = 3", True),
        ("(Base)", "steps = 3", False),
        ("", "def __init__(self, parts): self.parts = parts", False),
        ("", "def start(self, n): self._scale = n", False),
    ],
)
def test_what_only_those_can_give_that_take_a_class_in_is_told(bases: str, before: str, named: bool) -> None:
    assert told(MIXIN.format(bases=bases, before=before)) == [["only where `self.adapts` holds"] if named else []]
