"""A class or a function of a package in, what other files than its own may do with it out: whether it is there for
others, and what they give its objects, or ask them for."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping
from typing import Final

from syncguard.across.imported_names import sets, taken_whole
from syncguard.across.texts import Files, module_name, packages
from syncguard.across.turned_outside import UNSEEN, is_set
from syncguard.across.unreferenced import is_handed_on
from syncguard.judge.around.called import Where
from syncguard.judge.options.listed import only_looked_into
from syncguard.pack.places import Places
from syncguard.terms import Fact

CODE: Final = (".py", ".pyx", ".ipynb")


def is_for_others(where: Where, calls: Container[str], files: Files, places: Places) -> bool:
    """Whether a class is there for others, as its file says, or an `__init__.py` around it, or stands in no package; or
    whether a file names it of which nobody knows what it calls: a configuration."""
    path, name = where
    if _is_listed(where, files) or not unseen_outside({where: Fact("", 0)}, files):
        return True
    naming = files.naming({name}, files.home(path))[name]
    return any(one not in calls and not places.is_test(one) and sets(name, one, files) for one in naming)


def _is_listed(where: Where, files: Files) -> bool:
    """Whether a file lists a name of its own among those that are there for others."""
    listed = files.listed(where[0])
    return f"'{where[1]}'" in listed or f'"{where[1]}"' in listed


def may_have_others(where: Where, files: Files) -> bool:
    """The same, or whether another one takes all that it has, or its own file does more with it than to call it."""
    module = module_name(where[0])
    naming = files.naming({module}, files.home(where[0]))[module]
    return _is_listed(where, files) or taken_whole(where[0], naming, files) or is_handed_on(where, naming, files)


def is_set_outside(where: Where, name: str, files: Files) -> bool:
    """Whether another file of the package gives something an attribute of this name: `net.sine.pulse = True`, alone or
    among others, or by its name; or one that names its class sets names that are made up, or makes another of it."""
    path, owner = where
    naming = files.naming({name, owner}, files.home(path))
    others = [one for one in naming[owner] if one != path]
    return is_set(name, [one for one in naming[name] if one != path], files) or any(
        files.has(one, UNSEEN) for one in others
    )


def may_grow(where: Where, name: str, files: Files, places: Places) -> bool:
    """Whether a file of the package, but for tests, does more with an attribute of this name than to look into it."""
    having = {where[0], *files.naming({name}, files.home(where[0]))[name]}
    return any(
        one.endswith(CODE) and not places.is_test(one) and not only_looked_into(name, files.code(one)) for one in having
    )


def is_asked_outside(where: Where, name: str, files: Files, places: Places) -> bool:
    """Whether another file of the package, but for tests, has the name of a class and this one, in its code."""
    path, owner = where
    naming = files.naming({name, owner}, files.home(path))
    both = {*naming[name]} & {*naming[owner]} - {path}
    return any(re.search(rf"\b{name}\b", files.code(one)) for one in both if not places.is_test(one))


def unseen_outside(classes: Mapping[Where, Fact], files: Files) -> dict[Where, Fact]:
    """Those of these classes that no `__init__.py` around them brings in for others."""
    inits = {
        where: [os.path.join(one, "__init__.py") for one in packages(os.path.dirname(where[0]))] for where in classes
    }
    return {
        where: classes[where]
        for where, around in inits.items()
        if around and not any(files.names(init, where[1]) for init in around)
    }
