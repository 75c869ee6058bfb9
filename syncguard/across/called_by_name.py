"""Functions in, the options out that all which asks for them by their name stands behind, whoever it is asked of; and
of what a class has, by the name of the attribute that its makers keep it under."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from syncguard.across.mentions import Mentions
from syncguard.across.texts import Files, spots
from syncguard.judge.around.called import Function, Mention, Where, innermost, last_part
from syncguard.judge.around.chosen import IN_FILE
from syncguard.judge.around.keeping import ADDS
from syncguard.judge.callers.entries import SEEN, Callers, Entry
from syncguard.judge.callers.made import Namers, bare, class_of
from syncguard.judge.options.common import common
from syncguard.judge.options.making import ANYWHERE
from syncguard.pack.places import Places
from syncguard.terms import Fact

MOST: Final = 12  # places that ask for a name, and files that have it
DEEPEST: Final = 6  # functions that ask for one another

Calls = Mapping[str, tuple[Function, ...]]
Options = Mapping[Where, tuple[Fact, ...]]


class CalledByName:
    """What stands behind options wherever it is asked for, worked out for who is asked about."""

    def __init__(
        self,
        asked: Iterable[Where],
        calls: Calls,
        callers: Callers,
        makers: Namers,
        behind: Options,
        mentions: Mentions,
        files: Files,
        places: Places,
    ) -> None:
        self._callers = callers
        self._calls, self._behind, self._files, self._mentions = calls, behind, files, mentions
        self._functions = {(path, f.name): f for path, functions in calls.items() for f in functions}
        self._makers = makers
        self._met: dict[tuple[str, str], list[Mention] | None] = {}  # where a package names something, if not often
        self._told: dict[tuple[Where, int], tuple[Fact, ...]] = {}
        self._plain: dict[Where, bool] = {}  # classes
        todo = {*asked}
        for _ in range(DEEPEST):  # each file is looked at once for all that are as many calls away
            todo = self._meet(todo, places)

    def of(self, where: Where) -> tuple[Fact, ...]:
        """These options of a function; none where something may ask for it whatever is set."""
        return tuple([replace(fact, text=f"{SEEN}{fact.text}") for fact in self._of(where, 0)])

    def _meet(self, asked: Iterable[Where], places: Places) -> set[Where]:
        """Look up where some functions are asked for; the functions out that ask for them."""
        wanted: dict[str, set[str]] = {}
        found: set[Where] = set()
        for where in asked:
            found.update(caller for caller, _, _ in self._entries(where))
            wanted.setdefault(self._files.home(where[0]), set()).update(self._own_name(where) | self._kept(where)[0])
        for package, names in wanted.items():
            having = self._files.naming(names, package)
            for name in sorted(names):
                if (package, name) in self._met:
                    continue
                paths = [path for path in having[name] if not places.is_test(path)]
                every = self._met[package, name] = self._every(name, paths) if len(paths) <= MOST else None
                around = [(one.path, innermost(self._calls.get(one.path, ()), one.line)) for one in every or ()]
                found |= {(path, function.name) for path, function in around if function is not None}
        return found

    def _every(self, name: str, paths: list[str]) -> list[Mention] | None:
        """The places in some files that name this; None where there are too many, or one may be reached whatever is
        set."""
        found: list[Mention] = []
        for one in self._mentions.within(paths, name):
            found.append(one)
            if len(found) > MOST or not one.line or innermost(self._calls.get(one.path, ()), one.line) is None:
                return None
        return found

    def _of(self, where: Where, away: int) -> tuple[Fact, ...]:
        """These options of a function that is so many calls away from who is asked about: no more than is looked up for
        that one, whoever else is asked about."""
        if away == DEEPEST:
            return ()
        key = where, away
        if key not in self._told:
            told = self._by(self._own_name(where), where, class_of(where), away)
            told = told or self._by(*self._kept(where), away)
            self._told[key] = told or self._by_calls(where, away)
        return self._told[key]

    def _own_name(self, where: Where) -> frozenset[str]:
        function, method = self._functions.get(where), class_of(where)[1] == where[1].rpartition(".")[0] != ""
        return frozenset([last_part(where[1])] if method and function is not None and function.by_name else [])

    def _kept(self, where: Where) -> tuple[frozenset[str], Where, Where]:
        """The names under which those who make objects of a method's class keep them, and one of these."""
        owner = class_of(where)
        makers = self._makers.get(owner, ()) if owner[1] and (ANYWHERE, owner[1]) not in self._makers else ()
        names = frozenset([one.kept for _, one in makers])
        holders = {class_of(maker) for maker, _ in makers}
        if "" in names or len(holders) != 1:
            return frozenset(), where, owner
        return names, where, holders.pop()

    def _by(self, names: frozenset[str], where: Where, holder: Where, away: int) -> tuple[Fact, ...]:
        """What all stands behind that asks for one of these names, as far as the object of a class, or anything, may
        have it."""
        every: list[tuple[Fact, ...]] = []
        for name in names:
            met = self._met.get((self._files.home(where[0]), name))
            if met is None:
                return ()
            around = [self._around(mention, name, where, holder, away) for mention in met]
            every += [told for told in around if told is not None]
        return common(every)

    def _entries(self, where: Where) -> list[Entry]:
        """The calls of a function that nobody has a name for but who calls it, and that is no method."""
        function = self._functions.get(where)
        if (
            function is None
            or class_of(where)[1]
            or not function.named
            or function.keeper
            or function.heat != "unknown"
        ):
            return []
        return [entry for entry in self._callers.get(where, ()) if entry[0] != where]

    def _by_calls(self, where: Where, away: int) -> tuple[Fact, ...]:
        """What all calls of such a function stand behind."""
        return common([self._behind_all(caller, call.options, away) for caller, _, call in self._entries(where)])

    def _behind_all(self, asking: Where, own: tuple[Fact, ...], away: int) -> tuple[Fact, ...]:
        """What a place in a function stands behind that itself has some options."""
        outer = [fact for fact in self._behind.get(asking, ()) if not fact.text.startswith(IN_FILE)]
        outer = outer or [*(self._of(asking, away + 1) if not own else ())]
        return tuple([_plain(fact, asking[0]) for fact in (*outer, *own)])

    def _around(self, at: Mention, name: str, where: Where, holder: Where, away: int) -> tuple[Fact, ...] | None:
        """What a place stands behind; () of one that may be reached whatever is set, None where another is meant."""
        function = innermost(self._calls.get(at.path, ()), at.line)
        if function is None or not at.line:
            return ()
        asking = (at.path, function.name)
        if last_part(function.name) == name or self._binds(at, name) or self._of_another(at, class_of(asking), holder):
            return None
        own = next((one.options for one in function.asking if one.name == name), ())
        return self._behind_all(asking, own, away)

    def _binds(self, at: Mention, name: str) -> bool:
        """Whether a line gives an object something of this name, or adds something to that."""
        line = self._files.text(at.path).split("\n")[at.line - 1]
        like = rf"\.{name}(?:\s*(?::[^=]*)?\+?=(?!=)|\.(?:{'|'.join(ADDS)})\()"
        return re.search(like, line) is not None and line.count(f".{name}") == 1

    def _of_another(self, at: Mention, asking: Where, holder: Where) -> bool:
        """Whether an object is asked for what its own class has, which has nothing to do with another one."""
        if not at.own or asking == holder or not asking[1] or not holder[1]:
            return False
        return self._is_plain(asking) and self._is_plain(holder)

    def _is_plain(self, owner: Where) -> bool:
        """Whether a class descends from nothing, or from what all modules do."""
        if owner not in self._plain:
            text, begun = self._files.text(owner[0]), f"class {owner[1]}"
            like = re.compile(rf"{begun}\s*(?:\(\s*(?:(?:torch\.)?nn\.Module|object)?\s*\))?\s*:")
            starts = [at for at in spots(text, begun) if not text[text.rfind("\n", 0, at) + 1 : at].strip()]
            self._plain[owner] = any(like.match(text, at) for at in starts)
        return self._plain[owner]


def _plain(fact: Fact, path: str) -> Fact:
    """An option as another file says it."""
    return replace(fact, text=bare(fact), path=fact.path or path)
