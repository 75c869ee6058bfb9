"""Options that stand apart from the wait: in who calls its function, in what is known by use, in the names between, in
the environment; and what has no default, the precision of numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from test_opted import told

from syncguard import pipeline
from syncguard.config import Config
from syncguard.read.project import forget

CALLED = """
    class Net(torch.nn.Module):
        def forward(self, x, mode="fast", check=False):
            if check:
                self._first(x, mode)

        def _first(self, x, mode):
            {first}

        def _second(self, x, kind):
            if kind == "slow":
                return x.sum().item()
    """
CHECK = "only where `check` holds; by default `check` is `False`"
SLOW = 'only where `kind == "slow"` holds; by default `kind` is `"{}"`'


def test_what_calls_the_caller_counts_and_what_it_passes_on() -> None:
    (options,) = told(CALLED.format(first="return self._second(x, mode)"))
    assert options == [CHECK, SLOW.format("fast")]


@pytest.mark.parametrize(
    ("first", "options"),
    [
        ("return self._second(x, 'quick')", [CHECK, SLOW.format("quick")]),
        ("return self._second(x, x.kind)", [CHECK]),
        ("return self._second(x, 'slow')", [CHECK]),
        ("return self._second(x, *mode)", [CHECK]),
        ("return self._second(x, kind=mode) or self._second(x, 'slow')", [CHECK]),
        ("return map(self._second, x)", [f"as far as we see called {CHECK}"]),
        ("return x._second(x, mode)", [f"as far as we see called {CHECK}"]),
    ],
)
def test_every_call_must_tell(first: str, options: list[str]) -> None:
    assert told(CALLED.format(first=first)) == [options]


STATIC = """
    class Net(torch.nn.Module):
        def forward(self, x, mode="fast", size="large"):
            {call}

        {decorator}
        def _read({receiver}x: torch.Tensor, size, kind):
            if kind == "slow":
                return x.sum().item()
    """


@pytest.mark.parametrize(
    ("call", "decorator", "receiver"),
    [
        ("self._read(x, size, mode)", "", "self, "),
        ("Net._read(self, x, size, mode)", "", "self, "),
        ("Net._read(x, size, mode)", "@staticmethod", ""),
        ("self._read(x, size, mode)", "@staticmethod", ""),
        ("self._read(x, kind=mode, size=size)", "@classmethod", "cls, "),
    ],
)
def test_a_receiver_takes_a_place_where_there_is_one(call: str, decorator: str, receiver: str) -> None:
    text = STATIC.format(call=call, decorator=decorator, receiver=receiver)
    assert told(text) == [[SLOW.format("fast")]]


def test_a_function_that_calls_itself_stands_behind_what_others_pass() -> None:
    text = """
        def _walk(x: torch.Tensor, deep):
            if deep:
                _walk(x, deep)
                return x.sum().item()

        def _turn(x: torch.Tensor):
            return _back(x) or x.max().item()

        def _back(x: torch.Tensor):
            return _turn(x)

        def step(x: torch.Tensor, deep=False):
            _walk(x, deep)
            if deep:
                _back(x)
        """
    option = "only where `deep` holds; by default `deep` is `False`"
    assert told(text) == [[option], [option]]


MADE = """
    class Block(torch.nn.Module):
        def __init__(self, size, causal=False):
            super().__init__()
            self.causal = causal

        def forward(self, x):
            if self.causal:
                return x.sum().item()

    def both():
        return {both}
    """


def test_what_the_file_itself_sets_is_no_option() -> None:
    causal = "only where `self.causal` holds; by default `self.causal` is `False`"
    assert told(MADE.format(both="Block(3), Block(4, causal=causal)")) == [[causal]]
    assert told(MADE.format(both="Block(3), Block(4, False)")) == [[causal]]
    assert told(MADE.format(both="Block(3), Block(4, causal=True)")) == [[]]
    assert told(MADE.format(both="Block(3), Block(4, True)")) == [[]]
    assert told(MADE.format(both="Block(3)") + "    block = both()\n    block.causal = True\n") == [[]]


@pytest.mark.parametrize("param", ["cache: Cache | None", "labels: list[dict] | None", "attention_mask"])
def test_data_that_is_not_given_is_no_option(param: str) -> None:
    name = param.partition(":")[0]
    body = f"if {name} is not None:\n        return x.sum().item()"
    cache = "class Cache:\n    def __init__(self):\n        self.kept = []\n"
    assert told(f"{cache}def step(x: torch.Tensor, {param} = None):\n    {body}\n") == [[]]


LEFT_OUT = """
    class Net(torch.nn.Module):
        def {name}(self, x: torch.Tensor, step: torch.Tensor | int, kind, mask=None,
            flags: torch.Tensor | None = None, dtype=None, size: int = 3):
            {before}
            if {test}:
                return x.sum().item()
            return x
    """


@pytest.mark.parametrize(
    ("before", "test", "said"),
    [
        ("pass", "mask is None", "`mask` is not given"),
        ("pass", "not (mask is not None)", "`mask` is not given"),
        ("pass", "mask is None and size > 2", "`mask` is not given"),
        ("pass", "flags is None", "`flags` is not given"),
        ("if mask is not None: mask = mask == 1", "mask is None", "`mask` is not given"),
        ("pass", "not torch.is_tensor(step)", "`step` is no tensor"),
        ("pass", "kind is None", "`kind` is None"),
        ("deep = False\n            if flags is not None: deep = True", "deep", "`flags` is given"),
        ("deep = False\n            if mask is not None: deep = True", "deep", ""),  # as most calls do
        ("deep = False\n            if flags is not None: deep = x.dim() > 2", "deep", "`flags` is given"),
        ("deep = flags is None\n            if flags is not None: deep = True", "deep", ""),
        ("steps = step", "not isinstance(steps, torch.Tensor)", "`step` is no tensor"),
        ("x = x * 2 if flags is None else x", "flags is None", "`flags` is not given"),
        ("pass", "mask is not None", ""),  # as most calls do
        ("pass", "flags is not None", "`flags` is given"),
        ("pass", "dtype is None", ""),  # no data
        ("if mask is None: mask = x > 0", "mask is None", ""),
        ("mask = self.masked(x)", "mask is None", ""),
        ("pass", "mask is None or size > 2", ""),
    ],
)
def test_a_wait_says_what_must_be_left_out_or_given(before: str, test: str, said: str) -> None:
    text = LEFT_OUT.format(name="forward", before=before, test=test)
    assert told(text) == [[f"only where {said}"] if said else []]


def test_of_a_private_method_those_who_call_it_say_what_is_given() -> None:
    assert told(LEFT_OUT.format(name="_step", before="pass", test="mask is None")) == [[]]


@pytest.mark.parametrize("param", ["streamer: Cache", "stop_ids: list[int]", "mask_kind: str", "input_size: int"])
def test_a_setting_that_is_not_given_is_an_option(param: str) -> None:
    name = param.partition(":")[0]
    cache = "class Cache:\n    def __init__(self):\n        self.kept = []\n"
    body = f"if {name} is not None:\n        return x.sum().item()"
    option = f"only where `{name} is not None` holds; by default `{name}` is `None`"
    assert told(f"{cache}def step(x: torch.Tensor, {param} | None = None):\n    {body}\n") == [[option]]


def test_who_is_called_by_what_others_may_call_stands_behind_it_here() -> None:
    text = """
        def step(x: torch.Tensor, deep=False):
            if deep:
                _one(x)
                open_one(x)

        def open_one(x: torch.Tensor):
            return _one(x) or _two(x)

        def _one(x: torch.Tensor):
            return _two(x)

        def _two(x: torch.Tensor):
            _one(x)
            return x.sum().item()
        """
    assert told(text) == [["in this file called only where `deep` holds; by default `deep` is `False`"]]


def test_of_what_is_handed_round_in_circles_nobody_knows_the_default() -> None:
    text = """
        def _walk(x: torch.Tensor, config, deep):
            if config.exact:
                return x.sum().item()
            if deep:
                return _turn(x, config.inner, deep)

        def _turn(x: torch.Tensor, config, deep):
            config = config
            return _walk(x, config.inner, deep) or _walk(x, config.outer, deep)
        """
    assert told(text) == [["only where `config.exact` holds"]]


def test_what_a_base_class_of_another_name_may_call_is_not_known() -> None:
    text = """
        class Base(torch.nn.Module):
            def forward(self, x, check=False):
                self._read(x)

        class Net(Base):
            def forward(self, x, check=False):
                if check:
                    self._read(x)

            def _read(self, x):
                return x.sum().item()
        """
    assert told(text) == [[]]


@pytest.mark.parametrize(
    ("before", "test", "default"),
    [
        ("use = mode == 'slow'", "use", '`mode` is `"fast"`'),
        ("use = check and x.is_cuda", "use", "`check` is `False`"),
        ("check = check or self.check", "check", "`check` is `False` and `self.check` is `False`"),
        (
            "if limit is None:\n                limit = self.limit",
            "limit > 0",
            "`limit` is `None` and `self.limit` is `0`",
        ),
        ("use = bool(check)", "use", "`check` is `False`"),
        ("use = x.is_cuda and not x.is_cpu and check", "use", "`check` is `False`"),
        ("use = kwargs.get('exact', False)", "use", "`exact` is `False`"),
        ("use = self", "use.check", "`use.check` is `False`"),
        ("use, most = check and x.is_cuda, 4", "use", "`check` is `False`"),
    ],
)
def test_a_name_between_stands_for_what_it_is_bound_to(before: str, test: str, default: str) -> None:
    text = f"""
    class Net(torch.nn.Module):
        def __init__(self, check=False, limit=0):
            super().__init__()
            self.check, self.kept = 0, 0
            self.check = check
            self.limit = limit

        def forward(self, x, mode="fast", check=False, limit=None, **kwargs):
            {before}
            if {test}:
                return x.sum().item()
    """.replace("self.check, self.kept = 0, 0\n            ", "")
    assert told(text) == [[f"only where `{test}` holds; by default {default}"]]


@pytest.mark.parametrize(
    "before",
    [
        "use = False",  # no option: the same for all
        "use = check\n            use |= x.is_cuda",
        "for use in range(3):\n                pass",
        "use = x.is_cuda",
        "use, other = x.is_cuda, check",
        "use, *other = check, check, check",
    ],
)
def test_a_name_that_is_bound_twice_or_to_data_is_none(before: str) -> None:
    text = f"""
        def step(x: torch.Tensor, check=False):
            {before}
            if use:
                return x.sum().item()
        """
    assert told(text) == [[]]


KNOWN = """
    class Net(torch.nn.Module):
        @kept
        def __init__(self, size: int, force: bool = False, rank: int | None = None):
            super().__init__()

        {more}

    class Pipe:
        def __init__(self, net: Net):
            {keeps}

        def read(self, x: torch.Tensor):
            if {test}:
                return x.sum().item()
    """


@pytest.mark.parametrize("keeps", ["self.net = net", "self.register(net=net)", "self.all = [net]; self.keep(net=net)"])
@pytest.mark.parametrize(("test", "default"), [("{}.force", "False"), ("{}.rank is not None", "None")])
def test_what_a_constructor_is_given_is_kept_under_a_name(keeps: str, test: str, default: str) -> None:
    of = "self.net.config"
    options = [f"only where `{test.format(of)}` holds; by default `{test.format(of).split()[0]}` is `{default}`"]
    assert told(KNOWN.format(keeps=keeps, test=test.format(of), more="")) == [options]


@pytest.mark.parametrize("test", ["self.net.config.size", "self.net.config.other", "self.net.settings.force"])
def test_what_has_no_default_or_another_name_is_no_option(test: str) -> None:
    assert told(KNOWN.format(keeps="self.net = net", test=test, more="")) == [[]]


def test_a_class_that_says_itself_what_its_configuration_is_is_believed() -> None:
    more = "def __post_init__(self):\n            self.config = Other(True)"
    other = "class Other:\n        def __init__(self, force=True):\n            self.force = force\n"
    text = f"    {other}{KNOWN}"
    assert told(text.format(keeps="self.net = net", test="self.net.config.force", more=more)) == [[]]


def test_what_a_class_below_gives_the_constructor_counts() -> None:
    text = """
        class Base(torch.nn.Module):
            def __init__(self, check=False, exact=False, **rest):
                super().__init__()
                self.check = check
                self.exact = exact

        class Net(Base):
            def __init__(self, exact=False, **rest):
                super().__init__(check=True, exact=exact, **rest)

            def forward(self, x):
                if self.check:
                    x.sum().item()
                if self.exact:
                    return x.max().item()
        """
    assert told(text) == [[], ["only where `self.exact` holds; by default `self.exact` is `False`"]]


def test_the_class_below_counts_where_one_above_it_is_declared() -> None:
    text = """
        class Settings:
            def __init__(self, **rest):
                self.rest = rest

        class Mine(Settings):
            def __init__(self, exact=False, **rest):
                super().__init__(**rest)
                self.exact = exact

        class Base(torch.nn.Module):
            def __init__(self, config: Settings):
                super().__init__()
                self.config = config

        class Net(Base):
            config: Mine

            def forward(self, x):
                return _read(x, self.config)

        def _read(x: torch.Tensor, config):
            if config.exact:
                return x.sum().item()
        """
    assert told(text) == [["only where `config.exact` holds; by default `config.exact` is `False`"]]


SWITCH = """
    class Tiles:
        def enable_tiles(self, tiles=True):
            self.tiles = tiles

        def clear(self):
            self.tiles = False

    class Net(torch.nn.Module, Tiles):
        def __init__(self):
            super().__init__()
            self.tiles = False
            self.other = False

        def {mark}(self):
            self.other = True

        @property
        def tiled(self):
            return self.tiles

        def forward(self, x):
            if {test}:
                return x.sum().item()
    """
TILES = "only where `{}` holds; by default `self.tiles` is `False`"


def test_a_switch_that_methods_turn_is_an_option() -> None:
    assert told(SWITCH.format(mark="mark", test="self.tiles")) == [[TILES.format("self.tiles")]]
    assert told(SWITCH.format(mark="mark", test="self.tiled")) == [[TILES.format("self.tiled")]]
    assert told(SWITCH.format(mark="mark", test="self.other")) == [[]]  # an object that keeps a note
    other = "only where `self.other` holds; by default `self.other` is `False`"
    assert told(SWITCH.format(mark="disable_it", test="self.other")) == [[other]]


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("x.dtype == torch.float16", True),
        ("x.dtype in (torch.float16, torch.bfloat16)", True),
        ("x.dtype != torch.float32", True),
        ("torch.float16 == x.dtype", True),
        ("is_fp16_enabled()", True),
        ("torch.is_autocast_enabled()", True),
        ("is_big()", False),
        ("x.dtype == torch.float32", False),
        ("x.dtype != torch.float16", False),
        ("x.dtype == torch.long", False),
        ("x.dtype == other", False),
    ],
)
def test_a_test_of_precision_has_no_default(test: str, holds: bool) -> None:
    text = f"def step(x: torch.Tensor, other):\n    if {test} and (x > 0).any():\n        return 1\n"
    assert told(text) == [[f"only where `{test}` holds"] if holds else []]


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("x.is_sparse", True),
        ("x.is_complex()", True),
        ("torch.is_complex(x)", True),
        ("x.layout == torch.sparse_coo", True),
        ("x.layout != torch.strided", True),
        ("x.layout in (torch.sparse_csr, torch.sparse_csc)", True),
        ("not x.is_sparse", False),
        ("x.layout == torch.strided", False),
        ("x.layout != torch.sparse_coo", False),
        ("x.layout == other.layout", False),
        ("x.is_contiguous()", False),
        ("x.is_floating_point()", False),
    ],
)
def test_a_test_for_a_kind_that_few_tensors_are_has_no_default(test: str, holds: bool) -> None:
    text = f"def step(x: torch.Tensor, other):\n    if {test} and (x > 0).any():\n        return 1\n"
    assert told(text) == [[f"only where `{test}` holds"] if holds else []]


def test_a_function_that_is_called_for_such_a_kind_alone_says_so_too() -> None:
    text = """
        def step(x: torch.Tensor, y: torch.Tensor):
            return _rows(x) if x.is_sparse else x + {other}


        def _rows(x):
            return x.coalesce().sum().item()
        """
    told_of = ["only where `x.is_sparse` holds"]
    assert told(text.format(other="1")) == [told_of, told_of]
    assert told(text.format(other="_rows(y)")) == [[], []]


@pytest.mark.parametrize(
    ("test", "default"),
    [
        ("DEBUG", "`DEBUG` is `False`"),
        ('os.environ.get("CHECK", "0") == "1"', '`CHECK` is `"0"`'),
        ('os.getenv("CHECK")', "`CHECK` is not set"),
        ('"CHECK" in os.environ', "`CHECK` is not set"),
        ('int(os.environ.get("CHECK", 0)) > 0', "`CHECK` is `0`"),
        ('os.environ.get("CHECK", "no").lower() in ("yes", "on")', '`CHECK` is `"no"`'),
        ("ASKED", '`ASKED` is `False` and `CHECK` is `""`'),
        ("is_asked()", '`CHECK` is `"0"`'),
        ("is_asked_twice()", '`CHECK` is `"0"`'),
    ],
)
def test_constants_and_the_environment_are_options(test: str, default: str) -> None:
    head = "import os\nDEBUG = False\nASKED = os.environ.get('CHECK', '') == '1'\nTWICE = 0\nTWICE = 1\n"
    head += "KEY = 'CHECK'\n\n@functools.cache\ndef is_asked():\n    return os.getenv(KEY, '0').lower() in {'1'}\n\n"
    head += "def is_asked_twice():\n    return is_asked() and os.getenv('TWICE', '0') == '1'\n\n"
    text = f"import functools\n{head}def step(x: torch.Tensor):\n    if {test}:\n        return x.sum().item()\n"
    assert told(text) == [[f"only where `{test}` holds; by default {default}"]]


@pytest.mark.parametrize("test", ["TWICE", "os.environ['CHECK']", "'CHECK' not in os.environ", "os.environ.get(NAME)"])
def test_what_is_bound_twice_or_has_no_default_is_none(test: str) -> None:
    head = "import os\nTWICE = 0\nTWICE = False\nNAME = str(os)\n"
    text = f"{head}def step(x: torch.Tensor):\n    if {test}:\n        return x.sum().item()\n"
    assert told(text) == [[]]


HELP = """\
import torch


def show(x: torch.Tensor, flag=False):
    if flag:
        return check(x)


def check(x: torch.Tensor):
    for _ in range(3):
        if x.sum() > 0:
            return 1


class Settings:
    def __init__(self, exact=False):
        self.exact = exact
"""
USER = """\
import torch
from . import help


def step(x: torch.Tensor, settings: help.Settings):
    if settings.exact:
        return x.max().item()
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    forget()
    Path("pyproject.toml").touch()
    Path("p").mkdir()
    for name, text in {"__init__": "", "help": HELP, "user": USER}.items():
        Path(f"p/{name}.py").write_text(text)
    return tmp_path


def options(*paths: str, cache: bool = True) -> dict[str, list[str]]:
    forget()
    report = pipeline.check(paths, Config(cache=cache, heat="all", jobs=1))
    return {f.site.path.rpartition("/")[2]: [fact.text for fact in f.options] for f in report.findings}


@pytest.mark.parametrize(
    ("brought_in", "asked"), [("from .traced import is_on", "is_on()"), ("from . import traced", "traced.is_on()")]
)
def test_what_a_function_of_another_file_asks_the_environment_is_an_option(
    project: Path, brought_in: str, asked: str
) -> None:
    Path("p/traced.py").write_text("import os\n\ndef is_on():\n    return os.getenv('TRACED', '0') == '1'\n")
    user = f"import torch\n{brought_in}\n\ndef step(x: torch.Tensor):\n    if not {asked} or len(x) > 9:\n"
    Path("p/user.py").write_text(f"{user}        return None\n    return x.max().item()\n")
    expected = {"user.py": [f'only where `{asked}` holds; by default `TRACED` is `"0"`']}
    assert options("p/user.py") == expected
    Path("p/traced.py").write_text("import os\n\ndef is_on():\n    return os.getenv('TRACED', '1') == '1'\n")
    assert options("p/user.py") == {"user.py": []}


def test_methods_that_hand_on_to_one_another_are_asked_once() -> None:
    """Else it would take hours: each of them may be any of the others."""
    one = """
    class {name}(Trainer):
        def _epoch(self, loader, index):
            return super()._epoch(loader, index)
    """
    text = """
    import torch

    class Trainer:
        def _epoch(self, loader, index):
            if loader.shuffle == index:
                return torch.ones(3, device="cuda").sum().item()

        def fit(self, loader, index=0):
            return self._epoch(loader, index)
    """
    assert told(text + "".join(one.format(name=f"Trainer{n}") for n in range(18))) == [[]]


LATER = """
    class Net(torch.nn.Module):
        def __init__(self, size=0):
            super().__init__()
            self.size = size

        def forward(self, x):
            size = self.size
            {head}
                if size > 0:
                    found = x.sum().item()
                    {tail}
            {behind}
            return x
    """


@pytest.mark.parametrize(
    ("head", "tail", "behind", "told_of"),
    [
        ("if True:", "size = 0", "", True),
        ("if True:", "pass", "size = x.shape[0]", True),
        ("for _ in range(3):", "size = 0", "", False),
        ("for _ in range(3):", "pass", "size = 1", True),
        ("while x.shape[0]:", "size += 1", "", False),
        ("if x.shape:", "size = len(x)", "for size in x.shape: pass", True),
    ],
)
def test_what_binds_a_name_behind_the_test_does_not_count(head: str, tail: str, behind: str, told_of: bool) -> None:
    option = "only where `size > 0` holds; by default `self.size` is `0`"
    text = LATER.format(head=head, tail=tail, behind=behind)
    assert told(text) == [[option] if told_of else []]


HERE = "in this file called only where `flag` holds; by default `flag` is `False`"
EXACT = "only where `settings.exact` holds; by default `settings.exact` is `False`"


def test_a_call_of_another_file_takes_the_option_away(project: Path) -> None:
    assert options("p") == {"help.py": [HERE], "user.py": [EXACT]}
    assert options("p/help.py") == {"help.py": [HERE]}
    Path("p/user.py").write_text(USER + "\n\ndef other(x: torch.Tensor):\n    return help.check(x)\n")
    for cache in (False, True, True):
        assert options("p", cache=cache) == {"help.py": [], "user.py": [EXACT]}
    assert options("p/help.py") == {"help.py": []}  # as is remembered
    assert options("p/user.py", "p/help.py") == options("p/help.py", "p/user.py")


SEEN = "as far as we see called "
READ = """import torch


def read(x: torch.Tensor):
    return deep(x)


def deep(x: torch.Tensor):
    for row in x.unbind():
        while row.shape[0] > 3:
            row = row[::2]
        if row.min().item():
            return row
    return None
"""
ASKING = """import torch
from p.reader import read


class Net(torch.nn.Module):
    def __init__(self, size=0):
        super().__init__()
        self.size = size

    def forward(self, x{taken}):
        {before}
        {call}
"""
SIZE = f"{SEEN}only where `self.size > 0` holds; by default `self.size` is `0`"


@pytest.mark.parametrize(
    ("taken", "before", "call", "told_of"),
    [
        ("", "", "if self.size > 0: read(x)", [SIZE]),
        ("", "if self.size > 0: read(x)", "if self.size > 0: read(x)", [SIZE]),
        ("", "read(x)", "if self.size > 0: read(x)", []),
        ("", "", "self._read(x)\n\n    def _read(self, x):\n        if self.size > 0:\n            read(x)", [SIZE]),
        (
            "",
            "",
            "if self.size > 0: self._read(x)\n\n    def _read(self, x):\n        read(x)",
            [SIZE],
        ),
    ],
)
def test_what_another_file_asks_for_is_told(
    project: Path, taken: str, before: str, call: str, told_of: list[str]
) -> None:
    Path("p/reader.py").write_text(READ)
    Path("p/user.py").write_text(ASKING.format(taken=taken, before=before, call=call))
    for cache in (False, True, True):
        assert options("p/reader.py", "p/user.py", cache=cache) == {"reader.py": told_of}
    assert options("p/user.py", "p/reader.py") == {"reader.py": told_of}
    Path("p/more.py").write_text("import torch\nfrom p.reader import deep\n\ndef other(x):\n    return deep(x)\n")
    assert options("p") == {"help.py": [HERE], "reader.py": []}


@pytest.mark.parametrize(
    ("names", "left"), [("first, second", True), ("first", False), ("first, second, other", False)]
)
def test_who_is_left_over_says_nothing_of_what_it_calls(project: Path, names: str, left: bool) -> None:
    Path("p/reader.py").write_text(READ)
    asking = ASKING.format(taken="", before="", call="if self.size > 0: read(x)")
    Path("p/user.py").write_text(f"{asking}\n\nfrom p.more import {names}\n\nALL = {names}\n")
    more = "from p.reader import deep\n\n\ndef first(): ...\n\n\ndef second(): ...\n\n\n"
    Path("p/more.py").write_text(f"{more}def other(x):\n    return deep(x)\n")
    assert options("p")["reader.py"] == ([SIZE] if left else [])


@pytest.mark.parametrize(("call", "but"), [("if self.size > 0: Reader().read(x)", True), ("Reader().read(x)", False)])
def test_a_path_from_another_file_says_what_it_goes_behind(project: Path, call: str, but: bool) -> None:
    method = "class Reader:\n    def read(self, x: torch.Tensor):\n        return deep(x)"
    Path("p/reader.py").write_text(READ.replace("def read(x: torch.Tensor):\n    return deep(x)", method))
    asking = ASKING.replace("import read", "import Reader")
    Path("p/user.py").write_text(asking.format(taken="", before="", call=call))
    found = [f for f in pipeline.check(["p"], Config(cache=False)).findings if f.site.path.endswith("reader.py")]
    texts = [fact.text for fact in found[0].hot_path]
    assert found[0].heat == "hot"
    assert (SIZE.replace(SEEN, "but ") in texts) is but


def test_what_its_own_file_asks_for_is_told_before_what_others_ask_for(project: Path) -> None:
    own = "only where `often` holds; by default `often` is `False`"
    read = READ.replace(
        "(x: torch.Tensor):\n    return deep(x)", "(x, often=False):\n    if often:\n        return deep(x)"
    )
    Path("p/reader.py").write_text(read)
    asking = {"taken": "", "before": "", "call": "if self.size > 0: read(x, True)"}
    Path("p/user.py").write_text(ASKING.format(**asking))
    for cache in (False, True, True):
        assert options("p/reader.py", "p/user.py", cache=cache) == {"reader.py": [f"in this file called {own}", SIZE]}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("exact=False", "exact=True", []),
        ("self.exact = exact", "self.exact = exact or bool(exact)", [EXACT]),
        ("self.exact = exact", "self.exact = False", []),
        ("exact=False):", "exact=None):", [EXACT.replace("False", "None")]),
        ("exact=False):", "\n        exact=bool()\n    ):", []),
    ],
)
def test_what_changes_in_another_file_is_seen(project: Path, old: str, new: str, expected: list[str]) -> None:
    assert options("p")["user.py"] == [EXACT]
    Path("p/help.py").write_text(HELP.replace(old, new))
    assert options("p/user.py")["user.py"] == expected
    assert options("p", cache=False)["user.py"] == expected


def test_a_report_tells_of_the_callers_line(project: Path, ran: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = ran("check", "--isolated", "--no-cache", "--heat", "all", "-o", "full", "p/help.py")
    assert f"= option line 5 {HERE}" in " ".join(out.split())


LED = """
class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        extra = {first}
        if self.config.deep:
            extra = x * 2
        {more}
        if {test}:
            extra = extra + 1
            return extra.sum().item()
"""


@pytest.mark.parametrize(
    ("first", "more", "test", "holds"),
    [
        ("None", "", "extra is not None", True),
        ("None", "", "extra is not None and x.dim() > 1", True),
        ("x", "", "extra is not None", False),
        ("None", "extra = x", "extra is not None", False),
        ("None", "if x.dim() > 1: extra = x", "extra is not None", False),
        (
            "None",
            "if self.config.deep: extra = x",
            "extra is not None",
            False,
        ),
        ("None", "", "extra is None or x.dim() > 1", False),
    ],
)
def test_what_is_there_only_behind_an_option_asks_for_it(first: str, more: str, test: str, holds: bool) -> None:
    option = ["only where `self.config.deep` holds"] if holds else []
    assert told(LED.format(first=first, more=more, test=test)) == [option]


def test_a_case_is_told_with_what_is_matched() -> None:
    text = """
def step(x: torch.Tensor, config):
    match config.mode:
        case "fast":
            return x
        case "slow":
            return x.sum().item()
        case _:
            raise ValueError
"""
    assert told(text) == [['only where `config.mode == "slow"` holds']]


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        (
            "torch.are_deterministic_algorithms_enabled()",
            ["only where `slow` holds; by default `torch.are_deterministic_algorithms_enabled()` is `False`"],
        ),
        ("torch.is_grad_enabled()", []),
        ("torch.are_deterministic_algorithms_enabled() or x.is_cuda", []),
    ],
)
def test_a_setting_of_torch_is_an_option(asked: str, options: list[str]) -> None:
    text = f"""
    def added(x: torch.Tensor):
        slow = {asked}
        return x.cpu().cumsum(0) if slow else x.cumsum(0)
    """
    assert told(text) == [options]


@pytest.mark.parametrize(
    ("call", "name", "options"),
    [
        ("self.finish(x, stamps)", "finish", ["only where `stamps` holds"]),
        ("self.finish(x, True)", "finish", []),
        ("self.finish(x, x.is_cuda)", "finish", []),
        ("self.finish(x, stamps) or self.finish(x, True)", "finish", []),
        ("other.finish(x, stamps)", "finish", []),
        ("self.forward(x, stamps)", "forward", []),
    ],
)
def test_what_a_method_must_be_given_is_asked_for_where_its_object_gives_none(
    call: str, name: str, options: list[str]
) -> None:
    text = f"""
        class Speech(torch.nn.Module):
            def run(self, x: torch.Tensor, other=None, stamps=None):
                return {call}

            def {name}(self, x: torch.Tensor, stamps):
                if stamps:
                    return x.sum().item()
        """
    assert told(text) == [options]


def test_what_a_function_must_be_given_is_what_anybody_gives() -> None:
    text = """
        def score(x: torch.Tensor, classes):
            return _score(x, classes)


        def _score(x: torch.Tensor, classes):
            if classes is not None:
                return x.sum().item()


        def any_score(x: torch.Tensor, classes=None):
            return score(x, classes)
        """
    assert told(text) == [[]]


@pytest.mark.parametrize(
    ("test", "options"),
    [("if n > 1: ", ["in this file called only where `n > 1` holds; by default `n` is `1`"]), ("", [])],
)
def test_what_is_defined_in_a_function_has_its_options(test: str, options: list[str]) -> None:
    text = f"""
        def run(x: torch.Tensor, n=1):
            {test}x = align(x, minimize)
            return x


        def align(x: torch.Tensor, minimize):
            def cost():
                return x.sum().item()

            best = minimize(cost)
            return best, cost()
        """
    assert told(text) == [options]


@pytest.mark.parametrize(
    "kept", ["return cost", "return wrapped(cost)", "x.cost = cost", "x.cost = wrapped(cost)", "x.register_hook(cost)"]
)
def test_what_a_function_hands_out_is_there_only_if_that_was_called(kept: str) -> None:
    text = f"""
        def run(x: torch.Tensor, n=1):
            if n > 1: align(x)
            return x


        def align(x: torch.Tensor):
            def cost():
                return x.sum().item()

            {kept}
        """
    assert told(text) == [["in this file called only where `n > 1` holds; by default `n` is `1`"]]


OUTER = """import torch


def patch(module, exact=False):
    if exact:
        wrap(module)


def wrap(module):
    def forward(x: torch.Tensor):
        return x * x.max().item()

    module.forward = forward
"""


@pytest.mark.parametrize(
    ("call", "told_of"),
    [
        ("patch(module)", ["in this file called only where `exact` holds; by default `exact` is `False`"]),
        ("wrap(module)", []),
    ],
)
def test_what_another_file_calls_unasked_makes_what_is_defined_in_it(
    project: Path, call: str, told_of: list[str]
) -> None:
    Path("p/outer.py").write_text(OUTER)
    Path("p/user.py").write_text(f"from p.outer import patch, wrap\n\n\ndef use(module):\n    return {call}\n")
    for cache in (False, True, True):
        assert options("p/outer.py", "p/user.py", cache=cache) == {"outer.py": told_of}


@pytest.mark.parametrize(
    ("declared", "options"),
    [("float | torch.Tensor", ["only where `step` is no tensor"]), ("float", []), ("list[float]", [])],
)
@pytest.mark.parametrize("bound", ["made", "step"])
def test_what_wraps_an_argument_waits_where_that_is_no_tensor(bound: str, declared: str, options: list[str]) -> None:
    text = """
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, step: DECLARED):
            BOUND = torch.as_tensor(step, device=x.device)
            return x + BOUND
    """
    assert told(text.replace("DECLARED", declared).replace("BOUND", bound)) == [options]


@pytest.mark.parametrize(
    ("call", "options"),
    [
        ("self._scaled(x, step)", ["only where `step` is no tensor"]),
        ("self._scaled(x, step=step)", ["only where `step` is no tensor"]),
        ("self._scaled(x, 0.5)", []),
        ("self._scaled(x, step) + self._scaled(x, 0.5)", []),
    ],
)
def test_what_a_private_function_wraps_is_what_its_calls_hand_on(call: str, options: list[str]) -> None:
    text = """
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, step: float | torch.Tensor):
            return CALL

        def _scaled(self, x: torch.Tensor, step):
            step = torch.as_tensor(step, device=x.device)
            return x * step
    """
    assert told(text.replace("CALL", call)) == [options]
