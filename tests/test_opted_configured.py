"""A flag of a file that is off until somebody calls a function that sets it is an option."""

from __future__ import annotations

import pytest

from tests.test_opted import told

FILE = """
    CHECK = False


    {setter}


    def step(x: torch.Tensor):
        if CHECK:
            return x.sum().item()
        return x
    """


def of(setter: str) -> list[list[str]]:
    return told(FILE.format(setter=setter.replace("\n", "\n    ")))


TOLD = "def configure(check):\n    global CHECK\n    CHECK = check"
CONFIGURE = (
    "def configure(check=None):\n    global CHECK\n    reset()\n    if check is not None:\n        CHECK = check"
)
ENABLE = "def enable_checks():\n    global CHECK\n    CHECK = True"
USE = "\n\n\ndef use_all():\n    global CHECK\n    enable_checks()\n    CHECK = True"
RESET = "\n\n\ndef reset():\n    global CHECK\n    CHECK = False"


@pytest.mark.parametrize(
    "setter",
    [
        TOLD,
        CONFIGURE + RESET,
        "def prepare(config):\n    global CHECK\n    CHECK = config.check",
        "def prepare(config):\n    global CHECK\n    CHECK = config.get('check', False)",
        ENABLE,
        ENABLE + USE,
    ],
)
def test_what_is_off_until_somebody_sets_it_is_an_option(setter: str) -> None:
    assert of(setter) == [["only where `CHECK` holds; by default `CHECK` is `False`"]]


@pytest.mark.parametrize(
    "setter",
    [
        "def begin():\n    global CHECK\n    CHECK = True",  # which may be called by all
        TOLD + "\n\n\nconfigure(True)",
        TOLD + "\n\n\ndef run(x):\n    configure(x.shape[0] > 1)",
        "def configure(check):\n    global CHECK\n    check = check or seen()\n    CHECK = check",
        "def configure(check):\n    global CHECK\n    CHECK = find(check)",
        TOLD + "\n\n\ndef begin():\n    global CHECK\n    CHECK = True",
        "def turn():\n    global CHECK\n    CHECK |= True",
        TOLD + "\n\n\nif torch.cuda.is_available():\n    CHECK = True",
        "def reset():\n    global CHECK\n    CHECK = False",
    ],
)
def test_what_the_file_may_set_itself_is_none(setter: str) -> None:
    assert of(setter) == [[]]


def test_what_is_on_at_first_is_none() -> None:
    on = FILE.replace("CHECK = False\n", "CHECK = True\n", 1)
    assert told(on.format(setter="def configure(check):\n        global CHECK\n        CHECK = check")) == [[]]
