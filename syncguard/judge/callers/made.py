"""The classes that the functions of several files name in, the options out that all these places stand behind: what
stands in the methods of such a class waits only where an object of it is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from syncguard.judge.around.called import Called, Function, Where
from syncguard.judge.heat.warmth import ON_HOST
from syncguard.judge.options.built import MADE
from syncguard.judge.options.common import either, question_of, shared_by_all, told_by
from syncguard.judge.options.making import ANYWHERE
from syncguard.judge.options.opted import ONLY, SEEN_MADE
from syncguard.terms import Fact, Finding

Options = Mapping[Where, tuple[Fact, ...]]
Namers = Mapping[Where, list[tuple[Where, Called]]]  # who names each class, and how
Makers = list[tuple[Where, tuple[Fact, ...]]]  # what names a class, and the options that it does so behind


def made_behind(named: Namers, asked: Iterable[Where]) -> dict[Where, tuple[Fact, ...]]:
    """The options of the classes that other files than their own name, of those that hold one of the functions that are
    asked about, or make such a class: none of one that somebody makes whatever is set. What makes one may be called for
    much else: the options of that are none of the class."""
    todo = [where for where in map(class_of, asked) if where[1]]
    makers: dict[Where, Makers] = {}
    while todo:
        where = todo.pop()
        if where[1] and where not in makers:
            every = (*named.get(where, ()), *named.get((ANYWHERE, where[1]), ()))
            makers[where] = [(maker, one.options) for maker, one in every]
            todo += [class_of(maker) for maker, _ in makers[where]]
    elsewhere = [where for where, some in makers.items() if any(maker[0] != where[0] for maker, _ in some)]
    return _settled(dict.fromkeys(elsewhere, ()), makers)


def made_on_host(files: Mapping[str, tuple[Function, ...]], named: Namers, asked: Iterable[Where]) -> dict[Where, Fact]:
    """The classes, of those that hold one of the functions that are asked about, that nothing but functions makes whose
    tensors are on the host, by one of these: a part of what prepares data."""
    there = {(path, f.name): f for path, functions in files.items() for f in functions if f.host and f.makes}
    made = {(one.path, one.name) for f in there.values() for one in f.makes}
    classes = {where for where in map(class_of, asked) if where in made}
    found: dict[Where, Fact] = {}
    for where in classes:
        makers = [maker for maker, _ in named[where] if class_of(maker) != where]
        if all(maker in there for maker in makers) and (ANYWHERE, where[1]) not in named:
            path, name = min(makers)
            line = next(one.line for one in there[path, name].makes if (one.path, one.name) == where)
            found[where] = Fact(f"made only in `{name}`, {ON_HOST}", line, path)
    return found


def with_options(finding: Finding, where: Where, behind: Options, made: Options) -> Finding:
    """A finding with the options that all calls of its function stand behind, before its own, and those of whatever
    makes objects of its class."""
    above, makers = behind.get(where, ()), made.get(class_of(where))
    if outer := _around(where, behind):
        had = {question_of(bare(fact)) for fact in (*above, *finding.options)}
        above = (*[fact for fact in outer if question_of(bare(fact)) not in had], *above)
    if makers is not None:  # the own file of a class does not say it all
        above = (*makers, *[one for one in above if not one.text.startswith(MADE)])
    above = tuple([one for one in above if not told_by(one, finding.options)])
    options = tuple({fact.text: fact for fact in (*above, *finding.options)}.values())
    return replace(finding, options=options) if above else finding


def _around(where: Where, behind: Options) -> tuple[Fact, ...]:
    """What those stand behind that a function is defined in: it is only there where these are called."""
    path, name = where
    outer = name.rpartition(".")[0]
    return (*_around((path, outer), behind), *behind.get((path, outer), ())) if outer else ()


def class_of(where: Where) -> Where:
    """The class that a method stands in."""
    return where[0], where[1].rpartition(".")[0].partition(".")[0]


def namers(files: Mapping[str, tuple[Function, ...]]) -> Namers:
    """Who names each class, and how."""
    found: dict[Where, list[tuple[Where, Called]]] = {}
    for path, functions in sorted(files.items()):
        for function in functions:
            for one in function.makes:
                found.setdefault((one.path, one.name), []).append(((path, function.name), one))
    return found


def _settled(found: dict[Where, tuple[Fact, ...]], makers: Mapping[Where, Makers]) -> dict[Where, tuple[Fact, ...]]:
    """What all makers of each share, with what the classes of these stand behind."""

    def around(maker: Where, options: tuple[Fact, ...]) -> tuple[Fact, ...]:
        above = (*found.get(class_of(maker), ()), *options)
        return tuple([replace(fact, text=bare(fact), path=fact.path or maker[0]) for fact in above])

    changed = True
    while changed:
        changed = False
        for where in found:
            shared = shared_by_all(around(*maker) for maker in makers[where])
            if len(shared) > len(found[where]):
                found[where], changed = tuple([replace(one, text=f"{SEEN_MADE}{one.text}") for one in shared]), True
    for where in found:
        one_of = either([around(*maker) for maker in makers[where]]) if not found[where] else ()
        found[where] = found[where] or tuple([replace(one, text=f"{SEEN_MADE}{one.text}") for one in one_of])
    return found


def bare(fact: Fact) -> str:
    """What an option asks for, without where it is seen to do so."""
    before, only, test = fact.text.partition(ONLY)
    return f"{only}{test}" if only else before
