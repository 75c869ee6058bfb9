"""The calls of several files in, the functions out that only processes without a GPU call."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from syncguard.judge.around.called import Function, Mention, Where
from syncguard.terms import Fact

Mentions = Callable[[str, Iterable[str]], Iterable[Mention]]
"""Where the code of a project around some files, but for its tests, names a method, as far as it is asked for."""


def gpuless(files: dict[str, tuple[Function, ...]], asked: Iterable[Where], mentions: Mentions) -> dict[Where, Fact]:
    """The functions that only processes without a GPU call, by a call that shows it. Of methods those are looked at
    that matter for what is asked about."""
    if not any(f.gpuless for found in files.values() for f in found):
        return {}
    known = Processes(files)
    found = known.spread(sorted(known.there))
    methods = known.methods({*asked})
    while methods:
        more = known.named(methods, mentions)
        if not more:
            break
        found |= more
        found |= known.spread(sorted(more))
        methods = {where: f for where, f in methods.items() if where not in known.there}
    return found


class Processes:
    """The functions of several files, and which of them are known to run where no GPU is seen."""

    def __init__(self, files: dict[str, tuple[Function, ...]]) -> None:
        self.functions = {(path, f.name): f for path, found in files.items() for f in found}
        self.there = {where for where, function in self.functions.items() if function.gpuless}
        self.alike: dict[Where, list[Where]] = {}  # those that are called for one another
        self.callers: dict[Where, list[tuple[Where, int]]] = {}
        self.inside: dict[str, list[tuple[Where, Function]]] = {}  # of a file
        self.kin = {(one, other) for f in self.functions.values() for one in f.kin for other in f.kin}
        for where, function in sorted(self.functions.items()):
            self.inside.setdefault(where[0], []).append((where, function))
            self.alike.setdefault(self.kind(where), []).append(where)
            for call in function.calls:
                self.callers.setdefault(self.kind((call.path, call.name)), []).append((where, call.line))

    def kind(self, where: Where) -> Where:
        """What stands for a function and all that are kept beside it."""
        keeper = self.functions[where].keeper if where in self.functions else ""
        return (where[0], f"@{keeper}") if keeper else where

    def spread(self, begun: Iterable[Where]) -> dict[Where, Fact]:
        """What these call, and nobody but such."""
        found: dict[Where, Fact] = {}
        queue = deque(begun)
        while queue:
            for call in self.functions[queue.popleft()].calls:
                kind = self.kind((call.path, call.name))
                these = [where for where in self.alike.get(kind, ()) if where not in self.there]
                if not these or not all(_closed(self.functions[where]) for where in these):
                    continue
                if all(caller in self.there or caller in these for caller, _ in self.callers[kind]):
                    caller, line = next(one for one in self.callers[kind] if one[0] in self.there)
                    found |= dict.fromkeys(these, _shown(caller, line))
                    self.there.update(these)
                    queue.extend(these)
        return found

    def methods(self, asked: set[Where]) -> dict[Where, Function]:
        """The methods that only their names bring in, and that are asked about or call what is."""
        queue = deque(asked)
        while queue:
            for caller, _ in self.callers.get(self.kind(queue.popleft()), ()):
                if caller not in asked:
                    asked.add(caller)
                    queue.append(caller)
        every = ((where, self.functions[where]) for where in sorted(asked) if where in self.functions)
        return {where: f for where, f in every if self._by_name(where, f)}

    def _by_name(self, where: Where, function: Function) -> bool:
        """Whether only who names a method may call it, as far as it is not known to run there; Python names some."""
        return bool(function.kin) and where not in self.there and not _last(where).startswith("__") and _slow(function)

    def named(self, methods: Mapping[Where, Function], mentions: Mentions) -> dict[Where, Fact]:
        """Those of these methods that code names nowhere but there, and calls there, or may."""
        called = {name: shown for where in sorted(self.there) for name, shown in self._called(where)}
        there = sorted({path for path, _ in self.there})
        found = {}
        for where, function in methods.items():
            name = _last(where)
            shown = next((called[one] for above in function.kin if (one := f"{above}.{name}") in called), None)
            every = mentions(name, there)
            shown = shown or next((fact for one in every for fact in self._names(one, name)), None)
            if shown is not None and all(self._allows(where, one) for one in every):
                found[where] = shown
        self.there.update(found)
        return found

    def _allows(self, where: Where, mention: Mention) -> bool:
        """Whether a method runs where this names it, and nowhere else, or this is about another one."""
        around = [*self._around(mention)]
        if any(one == where or one in self.there for one, _ in around):
            return True
        own, others = self.functions[where].kin[0], [f.kin[0] for _, f in around if f.kin]
        return mention.own and bool(others) and not any((own, other) in self.kin for other in others)

    def _names(self, mention: Mention, name: str) -> Iterator[Fact]:
        """What names a method there, of an object of which nobody knows what it is."""
        for where, function in self._around(mention):
            calls = [
                call for call in function.calls if call.line == mention.line and _last((call.path, call.name)) == name
            ]
            if where in self.there and not (mention.own or calls):
                yield _shown(where, mention.line)

    def _called(self, where: Where) -> Iterator[tuple[str, Fact]]:
        """What a function calls, by the name of a class and a method."""
        for call in self.functions[where].calls:
            yield call.name, _shown(where, call.line)

    def _around(self, mention: Mention) -> Iterator[tuple[Where, Function]]:
        """The functions that this stands in."""
        for where, function in self.inside.get(mention.path, ()):
            if function.lines[0] <= mention.line <= function.lines[1]:
                yield where, function


def _shown(caller: Where, line: int) -> Fact:
    return Fact(f"but only for processes that see no GPU, as `{caller[1]}`", line, caller[0])


def _last(where: Where) -> str:
    return where[1].rpartition(".")[2]


def _closed(function: Function) -> bool:
    return _slow(function) and (not function.open or bool(function.keeper))


def _slow(function: Function) -> bool:
    return function.heat in ("unknown", "cold")
