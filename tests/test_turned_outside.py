"""What a class has for all is an option, off unless a file of its package sets it by the name of the class."""

import pytest
from packaged import found

FLAGS = """
class Flags:
    exact = False
    quick: bool = True
    mode = "fast"
    kind = None

    @classmethod
    def load(cls):
        {load}
"""
NET = """
import torch
from .flags import Flags


def score(x: torch.Tensor):
    if {test}:
        return x.sum().item()
    return 0
"""


def told(test: str, more: str = "", load: str = "pass") -> tuple[str, list[str]]:
    files = {"pkg/__init__.py": "", "pkg/flags.py": FLAGS.format(load=load), "pkg/net.py": NET.format(test=test)}
    finding = found(files | ({"pkg/main.py": more} if more else {}))["pkg/net.py"]
    return finding.heat, [fact.text for fact in finding.options]


@pytest.mark.parametrize(
    ("test", "option"),
    [
        ("Flags.exact", "`Flags.exact` holds; by default `Flags.exact` is `False`"),
        ("not Flags.quick", "`Flags.quick` does not hold; by default `Flags.quick` is `True`"),
        ("Flags.mode == 'slow'", "`Flags.mode == 'slow'` holds; by default `Flags.mode` is `\"fast\"`"),
    ],
)
def test_what_a_class_has_for_all_is_an_option(test: str, option: str) -> None:
    assert told(test) == ("amortized", [f"only where {option}"])


@pytest.mark.parametrize("test", ["Flags.quick", "Flags.mode == 'fast'", "Flags.kind is None", "not Flags.exact"])
def test_what_is_so_unless_it_is_set_is_none(test: str) -> None:
    assert told(test) == ("unknown", [])


@pytest.mark.parametrize("load", ["cls.exact = True", "Flags.exact = bool(cls)"])
def test_what_its_own_file_sets_has_no_default(load: str) -> None:
    assert told("Flags.exact", load=load) == ("unknown", ["only where `Flags.exact` holds"])


@pytest.mark.parametrize(
    ("more", "heat"),
    [
        ("from .flags import Flags\n\n\ndef main(args):\n    Flags.exact = args.exact\n", "unknown"),
        ("from . import flags\n\n\ndef main(args):\n    setattr(flags.Flags, args.name, True)\n", "unknown"),
        ("from .flags import Flags as F\n\n\ndef main(args):\n    F.exact = args.exact\n", "unknown"),
        ("from . import flags\n\nopts = flags.Flags\nopts.exact = True\n", "unknown"),
        ("from .flags import Flags\n\nFlags.exact, Flags.quick = True, False\n", "unknown"),
        ("from .flags import Flags\n\nFlags.exact |= len(__name__) > 3\n", "unknown"),
        ("from .flags import Flags\n\nFlags.exact: bool = True\n", "unknown"),
        ("from .flags import Flags\n\n\ndef main(parser):\n    parser.parse_args(namespace=Flags)\n", "unknown"),
        ("from .flags import Flags\n\n\ndef main(fill, args):\n    fill(Flags, args)\n", "unknown"),
        ("from .flags import Flags\n\n\ndef main():\n    return Flags.exact == 1\n", "amortized"),
        ("from .flags import Flags\n\n\ndef main():\n    return Flags()\n", "amortized"),
        ("from .flags import Flags\n\n\ndef main(args):\n    Flags.quick = args.quick\n", "amortized"),
    ],
)
def test_what_another_file_sets_may_be_on(more: str, heat: str) -> None:
    default = "; by default `Flags.exact` is `False`"
    assert told("Flags.exact", more) == (heat, [f"only where `Flags.exact` holds{default}"])


def test_what_its_own_file_gives_a_class_by_name_may_be_on() -> None:
    heat, _ = told("Flags.exact", load="setattr(cls, cls.__name__, True)")
    assert heat == "unknown"


def test_a_class_has_any_name() -> None:
    flags = FLAGS.format(load="pass").replace("class Flags", "class flags")
    net = NET.format(test="flags.exact").replace("Flags", "flags")
    main = "from .flags import flags\n\n\ndef main(args):\n    flags.exact = args.exact\n"
    files = {"pkg/__init__.py": "", "pkg/flags.py": flags, "pkg/net.py": net}
    assert found(files)["pkg/net.py"].heat == "amortized"
    assert found(files | {"pkg/main.py": main})["pkg/net.py"].heat == "unknown"


FILLED = """
import os


def filled(cls):
    for name in os.environ:
        {way}
    return cls


class Kind(type):
    def {asks}(cls, name):
        return bool(os.environ.get(name))


class Base:
    def {made}(cls):
        {way}
"""


@pytest.mark.parametrize(
    ("head", "told_by"),
    [
        ("@filled\nclass Flags:", {"way": "setattr(cls, name, True)"}),
        ("class Flags(metaclass=Kind):", {"asks": "__getattribute__"}),
        ("class Flags(Base):", {"made": "__init_subclass__"}),
    ],
)
def test_what_a_class_is_filled_by_may_turn_it_on(head: str, told_by: dict[str, str]) -> None:
    def heat(**parts: str) -> str:
        deco = FILLED.format(**{"way": "print(cls)", "asks": "asked", "made": "made", **parts})
        flags = "from .deco import Base, Kind, filled\n\n\n" + FLAGS.format(load="pass").replace("class Flags:", head)
        files = {"pkg/__init__.py": "", "pkg/flags.py": flags, "pkg/net.py": NET.format(test="Flags.exact")}
        return found({**files, "pkg/deco.py": deco})["pkg/net.py"].heat

    assert heat() == "amortized"
    assert heat(**told_by) == "unknown"
