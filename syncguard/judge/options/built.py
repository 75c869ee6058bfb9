"""A class of a file in, or a function that it hands about, the options out without which the file names it nowhere:
what stands in its methods waits only where such an object is made."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.ungiven import calls_of, handed_about, lines_of, only_bound, private
from syncguard.infer.classes import ClassInfo
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Asked, Context
from syncguard.infer.tell import Texts
from syncguard.judge.around.calling import Callers
from syncguard.judge.around.naming import Naming, lines_with, namings
from syncguard.judge.options.common import common
from syncguard.judge.options.opted import NAMED, opted
from syncguard.read.tags import CONST, FUNCTION
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

    def of_method(self, routine: Routine) -> tuple[Fact, ...]:
        """The same of a method that its file never calls by its name: `self.attend = self.exact if exact else
        self.fast`."""
        home, path = self.callers.home, _handed(routine)
        told = self._of(path, NAMED) if path and routine.home is home else ()
        every = (self.named or {}).get(path, ())
        return told if len(every) == len(lines_of(routine.name, home)) else ()

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
    methods = {one.name: _handed(one) for one in home.routines if one.owner is not None}
    texts = {part.value for part in home.pieces if type(part) is CONST} if any(methods.values()) else set()
    names |= {path for name, path in methods.items() if name not in texts} - {""}
    return namings(home, names, lines_with({name.rpartition(".")[2] for name in names}, home))


def _handed(routine: Routine) -> str:
    """A method as its class asks for it, where it does nothing but hand it about; '' of any other."""
    node, home = routine.node, routine.home
    if type(node) is not FUNCTION or not node.params or node.decorators or not private(routine) or routine.closure:
        return ""
    named = lines_of(node.name, home) and not calls_of(node.name, home) and node.name in handed_about(home)
    return f"{node.params[0].name}.{node.name}" if named else ""
