"""A function that other files make hot, and what a wait in it needs to be given, in, the path out that leads by a call
which gives it: others make nothing of the wait hot."""

from __future__ import annotations

import msgspec

from syncguard.judge.called import Needs, Where
from syncguard.judge.entries import Entries, Hot
from syncguard.terms import Fact


class There(msgspec.Struct):
    """The calls of several files, and what may run at every step though nothing is known to have it do so."""

    entries: Entries
    hot: Hot
    doubted: frozenset[Where]

    def to(self, where: Where, needs: Needs) -> tuple[Fact, ...]:
        """The path to a place of a function that other files make hot; () where no call that is known to be made at
        every step gives what it needs."""
        known = self.hot.get(where, ())
        if not (known and needs):
            return known
        ways = [*self.entries.ways(where, needs)]
        return known if known in ways else min(ways, key=len, default=())

    def may_be(self, where: Where, needs: Needs) -> bool:
        """Whether a call of which nobody knows how often it is made gives what a place needs, where hot ones do not."""
        known = self.hot.get(where, ())
        if not known or not needs or self.to(where, needs):
            return where in self.doubted
        return any(not call.rare for _, _, call in self.entries.giving(where, needs))
