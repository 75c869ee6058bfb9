"""The calls of several files in, the functions out that another file makes hot, with the path that shows it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping

from msgspec.structs import replace

from syncguard.judge.around.called import Called, Function, Where
from syncguard.judge.around.chosen import by_key
from syncguard.judge.callers.entries import SEEN, THERE, Callers, Entries, bare, by_call
from syncguard.judge.callers.made import bare as plain
from syncguard.judge.options.built import MADE
from syncguard.judge.options.common import shared_by_all, test_of
from syncguard.terms import Fact


def reached(files: dict[str, tuple[Function, ...]], callers: Callers) -> dict[Where, tuple[Fact, ...]]:
    """The functions of unknown heat that another file makes hot: the shortest path to each, by a call that gives more
    than what is on the host if there is one, and where each goes behind an option, one that says so."""
    cold = {(path, f.name): f for path, found in files.items() for f in found if f.heat == "unknown" or f.here}
    found: dict[Where, tuple[Fact, ...]] = {}
    entries = Entries(callers, found)
    instead = overriding(cold)

    def follow(
        path: str, function: Function, hot: tuple[Fact, ...] | None, free: bool, whatever: bool
    ) -> Iterator[Where]:
        for call in function.calls:
            if call.rare or (hot is None and not call.step) or (call.there and not whatever):
                continue
            where = (call.path, call.name)
            if where in found or where not in cold or (free and (call.options or function.options)):
                continue
            asks = call.asks if function.heat != "hot" and not call.step else ()
            way = entries.way((path, function.name), call.needs, asks=asks) if call.needs or asks else hot or ()
            if way is None:
                late.append((path, function, hot))
                continue
            found[where] = by_call(path, function, call, way)
            yield where
            for one, own in asked_below(where, call.of, cold, instead) if call.of else ():
                if one not in found:
                    told = Fact(f"calls `{own.name}`", own.line, where[0])
                    found[one] = (*found[where], told, Fact(f"`{one[1]}` overrides it", cold[one].lines[0], one[0]))
                    yield one

    calling = [(path, f) for path, functions in sorted(files.items()) for f in functions if _leads(f)]
    late: list[tuple[str, Function, tuple[Fact, ...] | None]] = []  # what is given too little as yet
    for free, whatever in ((True, False), (True, True), (False, True)):
        queue = deque(found)
        for path, function in calling:
            if function.heat == "hot" and not (free and function.options):
                more = [one for one in instead.get((path, function.name), ()) if one not in found]
                found |= {one: above(function, path, one, cold[one]) for one in more}
                queue.extend(more)
        for path, function in calling:
            queue.extend(follow(path, function, function.path if function.heat == "hot" else None, free, whatever))
        while queue:
            where = queue.popleft()
            queue.extend(follow(where[0], cold[where], found[where], free, whatever))
            if late and not queue:
                again, late = late, []
                queue.extend([where for one in again for where in follow(*one, free, whatever)])
    return found


def overriding(functions: Mapping[Where, Function]) -> dict[Where, list[Where]]:
    """What an object of a class below has in the place of a method, by that: what asks for it there, it has as well."""
    found: dict[Where, list[Where]] = {}
    for where, function in functions.items():
        for one in function.over:
            found.setdefault(one, []).append(where)
    return found


def asked_below(
    where: Where, of: tuple[Where, ...], functions: Mapping[Where, Function], instead: Mapping[Where, list[Where]]
) -> Iterator[tuple[Where, Called]]:
    """What objects of a class have in the place of the methods that a method of a class above asks them for, and the
    call of each there."""
    owner = where[1].rpartition(".")[0]
    todo, seen = [where], {where}
    while todo:
        one = todo.pop()
        for call in functions[one].calls if one in functions else ():
            asked = (call.path, call.name)
            if (
                call.rare
                or call.options
                or asked in seen
                or asked[0] != where[0]
                or asked[1].rpartition(".")[0] != owner
            ):
                continue
            seen.add(asked)
            mine = [has for has in instead.get(asked, ()) if (has[0], has[1].rpartition(".")[0]) in of]
            if mine:
                yield mine[0], call
            else:
                todo.append(asked)


def above(function: Function, path: str, where: Where, own: Function) -> tuple[Fact, ...]:
    """The path to what overrides a hot method of a file."""
    hot = [replace(fact, path=fact.path or path) for fact in function.path]
    return (*hot, Fact(f"`{where[1]}` overrides `{function.name}`", own.lines[0], where[0]))


def _leads(function: Function) -> bool:
    """Whether a function makes what it calls hot by itself."""
    return function.heat == "hot" or any(call.step for call in function.calls)


def behind(
    files: dict[str, tuple[Function, ...]],
    callers: Callers,
    gpuless: Container[Where] = frozenset(),
    left: Callable[[Where], bool] = lambda where: False,
) -> dict[Where, tuple[Fact, ...]]:
    """The functions that stand behind options in their own file, and behind the same wherever another one calls them
    that is known. Those that only processes without a GPU call wait for none, whatever they call."""
    found = {(path, f.name): f.options for path, functions in files.items() for f in functions if f.options}
    asked: dict[Where, set[str]] = {}  # what all calls from other files stand behind
    for where in {one for known in found for one in _around(known)}:
        for caller, function, call in callers.get(where, ()):
            if caller[0] != where[0]:
                texts = {bare(fact) for fact in (*function.options, *call.options)}
                asked.setdefault(where, texts).intersection_update(texts)
    for where, told in [*found.items()]:
        lifts = [asked[one] for one in _around(where) if one in asked]
        if kept := tuple([fact for fact in told if _by_class(fact) or all(bare(fact) in texts for texts in lifts)]):
            found[where] = kept
        else:
            del found[where]
    elsewhere = _from_elsewhere(files, callers, found, gpuless, left)
    return {where: _together(found.get(where, ()), elsewhere.get(where, ())) for where in {**found, **elsewhere}}


def _by_class(option: Fact) -> bool:
    """Whether an option is that of all that makes a class: who calls a method has an object already."""
    return option.text.startswith(MADE)


def _around(where: Where) -> Iterator[Where]:
    """A function, and those that it is defined in."""
    path, name = where
    while name:
        yield path, name
        name = name.rpartition(".")[0]


def _together(own: tuple[Fact, ...], elsewhere: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """What a function stands behind in its file, and what else all calls that are known share."""
    told = {test_of(bare(fact)) for fact in own}
    return (*own, *[fact for fact in elsewhere if test_of(bare(fact)) not in told])


Calls = list[tuple[Where, tuple[Fact, ...]]]  # who calls, and the options that the calls stand behind


def _from_elsewhere(
    files: dict[str, tuple[Function, ...]],
    callers: Callers,
    own: dict[Where, tuple[Fact, ...]],
    gpuless: Container[Where],
    left: Callable[[Where], bool],
) -> dict[Where, tuple[Fact, ...]]:
    """What all calls that are known share, of the functions that nothing but these makes hot."""
    follows = ((path, f) for path, functions in files.items() for f in functions if f.heat == "unknown" and f.named)
    followed = {(path, f.name): f for path, f in follows if not f.keeper}
    made: dict[Where, Calls] = {}
    apart: dict[Where, Calls] = {}  # the calls by processes without a GPU
    idle: set[Where] = set()  # what nobody else calls
    there: set[Where] = set()  # what such a process may lead to
    for where, function in followed.items():
        entries = callers.get(where, [])
        if not function.open and all(caller == where for caller, _, _ in entries):
            idle.add(where)
        for caller, by, call in entries:
            kind = apart if by.gpuless or caller in gpuless else made
            kind.setdefault(where, []).append((caller, call.options))
    found: dict[Where, tuple[Fact, ...]] = {}

    def around(caller: Where, options: tuple[Fact, ...]) -> Iterator[Fact]:
        """What a call stands behind, as another file says it."""
        yield from _plain(_together(own.get(caller, ()), found.get(caller, ())), caller[0])
        for fact in options:
            yield replace(fact, path=fact.path or caller[0])

    def shared_by(calls: Calls) -> tuple[Fact, ...]:
        if not all(options or caller in own or caller in found for caller, options in calls):
            return ()
        return shared_by_all(tuple(around(*call)) for call in calls)

    def shared_by_used(calls: Calls) -> tuple[Fact, ...]:
        """The same but for the calls by what nobody calls yet: who does may ask for it otherwise, but for a key, unless
        that is there for nobody."""
        lone = [caller for caller, _ in calls if caller in idle]
        used = [call for call in calls if call[0] not in idle] if lone else []
        shared = shared_by(used) if used else ()
        return shared if shared and all(map(left, lone)) else tuple([fact for fact in shared if by_key(fact)])

    changed = True
    while changed:
        changed = False
        for where, calls in {**apart, **made}.items():
            shared = shared_by(calls) or shared_by_used(calls)
            if len(shared) > len(found.get(where, ())):
                if (where in apart and where in made) or any(caller in there for caller, _ in calls):
                    there.add(where)
                said = THERE if where in there else SEEN
                found[where], changed = tuple([replace(fact, text=f"{said}{fact.text}") for fact in shared]), True
    return found


def _plain(facts: tuple[Fact, ...], path: str) -> Iterator[Fact]:
    """The same as its callers' callers say it."""
    for fact in facts:
        yield replace(fact, text=plain(fact), path=fact.path or path)
