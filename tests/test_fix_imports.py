"""What a fix leaves without a use is no longer imported; what others may take from the file is."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from fixing import rewritten

from syncguard.fix.apply import applied
from syncguard.fix.imports import unneeded

BODY = "def f(x: torch.Tensor):\n    if (x < 0).any():\n        raise Bad('negative')\n    return x\n"


def test_an_import_goes_with_its_last_use():
    after = rewritten(f"import torch\n\nfrom errors import Bad\n\n\n{BODY}", unsafe=True)
    assert after is not None
    assert after.startswith("import torch\n\n\ndef f(")
    twice = f"import torch\nfrom errors import Bad\n\n\n{BODY}\n\n{BODY.replace('def f', 'def g')}"
    assert "Bad" not in (rewritten(twice, unsafe=True) or "Bad")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from e import Bad, Good", "from e import Good"),
        ("from e import Good, Bad", "from e import Good"),
        ("from e import Good, Bad as B, Bad", "from e import Good"),
        ("from e import (\n    Bad,\n    Good,\n)", "from e import (\n    Good,\n)"),
        ("from e import (Good,\n               Bad)", "from e import (Good)"),
        ("from e import (Good, Bad as B,\n               Bad,\n)", "from e import (Good,\n)"),
        ("from e import (\n    Good,\n    Bad as B,\n    Bad\n)", "from e import (\n    Good\n)"),
        ("from e import Größe, Bad as B, Good, Bad", "from e import Größe, Good"),
        ("import Bad", ""),
        ("import a.b as Bad", ""),
    ],
)
def test_only_what_is_not_used_goes(before, after):
    was = f"{before}\nuse(Bad, B, Good)\n" if " B" in before else f"{before}\nuse(Bad, Good)\n"
    now = f"{before}\nuse(Good)\n"
    text = applied(now, unneeded("a.py", was, now, ()))
    assert text == (f"{after}\nuse(Good)\n" if after else "use(Good)\n")


@pytest.mark.parametrize(
    "head",
    [
        "from e import Bad  # noqa: F401",
        "from e import Bad; x = 1",
        "try:\n    from e import Bad\nexcept ImportError:\n    Bad = None",
        "from e import Bad\n__all__ = ['Bad']",
        "from e import Bad\nBad = Bad or None",
        "import Bad.worse",
        "from e import *",
        "from e import Bad as Bad",
        "from e import Bad\nx = []  # type: list[Bad]",
        'from e import Bad\n\n\ndef f():\n    """Do.\n\n    >>> f() is Bad\n    """\n',
        "from e import Bad\nx = eval(y)",
        "from e import Bad\nx = globals()[y]",
        "from __future__ import annotations as Bad",
    ],
)
def test_what_may_be_needed_stays(head):
    was, now = f"{head}\nuse(Bad)\n", f"{head}\nuse()\n"
    assert unneeded("a.py", was, now, ()) == ()


def test_what_others_take_stays():
    was, now = "from e import Bad\nuse(Bad)\n", "from e import Bad\nuse()\n"
    assert unneeded("pack/a.py", was, now, ["from pack.a import Bad\n"]) == ()
    star = ["from .a import *\n", "from pack import Bad\n"]
    assert unneeded("pack/a.py", was, now, star) == ()
    assert unneeded("pack/a.py", was, now, star[1:])
    assert unneeded("pack/__init__.py", was, now, ()) == ()
    assert unneeded("pack/a.py", was, now, ["from pack.b import Bad\n"])


def test_a_name_in_a_description_is_no_use():
    text = '"""Of Bad."""\nfrom e import Bad\n\n\ndef f():\n    """Raise Bad."""\n'
    assert unneeded("a.py", f"{text}    raise Bad\n", f"{text}    return 1\n", ())
