"""A function that other files make hot, and what a wait in it needs to be given, in, the path out that leads by a call
which gives it: others make nothing of the wait hot."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from syncguard.judge.around.called import Ask, Needs, Where
from syncguard.judge.callers.entries import DEEPEST, Entries, Hot, handed_needs
from syncguard.judge.callers.giving import as_asked
from syncguard.judge.options.denied import denied
from syncguard.terms import Fact


class There(msgspec.Struct):
    """The calls of several files, and what may run at every step though nothing is known to have it do so."""

    entries: Entries
    hot: Hot
    doubted: frozenset[Where]

    def to(self, where: Where, needs: Needs, asks: tuple[Ask, ...] = ()) -> tuple[Fact, ...]:
        """The path to a place of a function that other files make hot; () where no call that is known to be made at
        every step gives what it needs, or what is asked for."""
        known = self.hot.get(where, ())
        if not (known and (needs or asks)):
            return known
        ways = [*self.entries.ways(where, needs, asks=asks)]
        return known if known in ways else min(ways, key=len, default=())

    def refused(self, where: Where, needs: Needs, asks: tuple[Ask, ...]) -> Iterator[Fact]:
        """What is asked for that the calls say they do not give which are known to be made at every step."""
        if asks and self.to(where, needs) and not self.to(where, needs, asks):
            alone = [ask for ask in asks if not self.to(where, needs, (ask,))]
            for ask in alone or asks:
                if alone or any(denied(call, (ask,)) for _, _, call in self.entries.giving(where, needs)):
                    yield Fact(as_asked(ask), ask.line)

    def may_be(self, where: Where, needs: Needs, asks: tuple[Ask, ...] = ()) -> bool:
        """Whether a call of which nobody knows how often it is made gives what a place needs, where hot ones do not."""
        known = self.hot.get(where, ())
        if not known or not (needs or asks) or self.to(where, needs, asks):
            return where in self.doubted
        return self._may_give(where, needs, asks, 0)

    def _may_give(self, where: Where, needs: Needs, asks: tuple[Ask, ...], deep: int) -> bool:
        """Whether a call is known that gives what is needed, or hands on what one does that gives it there."""
        for caller, _, call in self.entries.giving(where, needs, asks) if deep < DEEPEST else ():
            above = (*handed_needs(call, needs),)
            if not call.rare and (not above or self._may_give(caller, above, (), deep + 1)):
                return True
        return False
