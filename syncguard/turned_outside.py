"""An option in, whether a file of its package sets it that a class has for all out: `Flags.exact = args.exact`."""

from __future__ import annotations

import re
from typing import Final

from syncguard.judge.opted import BY_DEFAULT
from syncguard.terms import Fact
from syncguard.texts import Files, outermost

OF_CLASS: Final = re.compile(r"`(?:\w+\.)*([A-Z]\w*)\.(\w+)` is ")


def turned_outside(option: Fact, path: str, files: Files) -> bool:
    """Whether one of the classes that an option of a file hangs on is given it by its name somewhere."""
    _, _, default = option.text.partition(BY_DEFAULT)
    return any(_is_set(owner, name, path, files) for owner, name in OF_CLASS.findall(default))


def _is_set(owner: str, name: str, path: str, files: Files) -> bool:
    like = re.compile(rf"\b{owner}\.{name} *=(?!=)|\bsetattr\(\s*(?:\w+\.)*{owner}\b")
    return any(files.has(one, like) for one in files.naming({owner}, outermost(path))[owner])
