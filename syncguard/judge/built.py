"""A class of a file in, or a function that it hands about, the options out without which the file names it nowhere:
what stands in its methods waits only where such an object is made."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.ungiven import calls_of, lines_of, only_bound
from syncguard.infer.classes import ClassInfo
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Asked, Context
from syncguard.infer.tell import Texts
from syncguard.judge.calling import Callers
from syncguard.judge.common import common
from syncguard.judge.naming import Naming, lines_with, namings
from syncguard.judge.opted import NAMED, opted
from syncguard.read.tags import FUNCTION
from syncguard.terms import Fact

MADE: Final = "in this file made "


class Built(msgspec.Struct):
    """Where a file names its classes and functions, worked out when it is first asked for."""

    callers: Callers
    world: World
    text_of: Texts
    named: dict[str, list[Naming]] | None = None
    known: dict[str, tuple[Fact, ...]] = {}

    def of(self, info: ClassInfo) -> tuple[Fact, ...]:
        """What every place stands behind that names a class for what it is, and not to ask for it."""
        return self._of(info.name, MADE) if info.home is self.callers.home else ()

    def of_function(self, routine: Routine) -> tuple[Fact, ...]:
        """The same of a function that its file hands about, and may call by another name: `loss = nll`."""
        home = self.callers.home
        node = routine.node
        plain = routine.owner is None and not routine.closure and routine.home is home
        plain = plain and type(node) is FUNCTION and only_bound(node)
        if not plain or calls_of(routine.name, home) or not lines_of(routine.name, home):
            return ()
        return self._of(routine.name, NAMED)

    def _of(self, name: str, says: str) -> tuple[Fact, ...]:
        if self.named is None:
            self.named = _named(self.callers.home)
        if name not in self.known:
            every = self.named.get(name, ())
            shared = common([self._around(routine, tests) for routine, tests, _ in every])
            self.known[name] = tuple([replace(fact, text=f"{says}{fact.text}") for fact in shared])
        return self.known[name]

    def _around(self, routine: Routine | None, tests: tuple[Asked, ...]) -> tuple[Fact, ...]:
        if routine is None or not tests:
            return ()
        return opted(Context(tests=tests), routine, self.callers, self.world, self.text_of)


def _named(home: Home) -> dict[str, list[Naming]]:
    """Where a file names its classes and functions."""
    names = {info.name for info in home.classes}
    names |= {one.name for one in home.routines if one.owner is None and not one.closure}
    return namings(home, names, lines_with(names, home))
