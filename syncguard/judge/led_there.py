"""A function that other files make hot, and what a wait in it needs to be given, in, the path out that leads by a call
which gives it: others make nothing of the wait hot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from syncguard.judge.called import Called, Function, Where
from syncguard.judge.reach import by_call
from syncguard.terms import Fact

Hot = Mapping[Where, tuple[Fact, ...]]
Needs = tuple[tuple[str, ...], ...]  # groups of parameters, of each of which a call must give one


class There(msgspec.Struct):
    """The calls of several files, by what they call, put in order when they are first asked for."""

    files: Mapping[str, tuple[Function, ...]]
    hot: Hot
    callers: dict[Where, list[tuple[Where, Function, Called]]] | None = None

    def to(self, where: Where, needs: Needs) -> tuple[Fact, ...]:
        """The path to a place of a function that other files make hot; () where no call that is known gives what it
        needs, but for such as are made now and then."""
        known = self.hot.get(where, ())
        if not (known and needs):
            return known
        calls = self._of(where)
        leading = [one for one in calls if not any(_leaves(one[2], names) for names in needs)]
        often = [one for one in leading if not one[2].rare]
        ways = [*self._ways(often)]
        if len(leading) == len(calls) or known in ways or (often and not ways):  # who knows how often that is made?
            return known
        return min(ways, key=len, default=())

    def _ways(self, calls: list[tuple[Where, Function, Called]]) -> Iterator[tuple[Fact, ...]]:
        for caller, function, call in calls:
            above = function.path if function.heat == "hot" else self.hot.get(caller, ())
            if call.step or above:
                yield by_call(caller[0], function, call, above)

    def _of(self, where: Where) -> list[tuple[Where, Function, Called]]:
        if self.callers is None:
            self.callers = {}
            for path, functions in sorted(self.files.items()):
                for function in functions:
                    for call in function.calls:
                        if (call.path, call.name) in self.hot:
                            self.callers.setdefault((call.path, call.name), []).append(
                                ((path, function.name), function, call)
                            )
        return self.callers.get(where, [])


def _leaves(call: Called, names: tuple[str, ...]) -> bool:
    """Whether a call gives none of these."""
    return all(name in call.left for name in names)
