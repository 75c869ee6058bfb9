"""A function of a file in, the options out without which no call of it in that file is reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from syncguard.infer.branches.ungiven import private
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Context
from syncguard.infer.tell import Texts
from syncguard.judge.around.calling import Callers, Made, called_as
from syncguard.judge.around.chosen import IN_FILE, kept
from syncguard.judge.defaults.defaults import outer_of
from syncguard.judge.heat.warmth import Warmth
from syncguard.judge.options.built import MADE, Built
from syncguard.judge.options.common import either
from syncguard.judge.options.opted import NAMED, opted
from syncguard.pack.places import Places
from syncguard.read.tags import FUNCTION
from syncguard.terms import Fact

HERE: Final = f"{IN_FILE}called "
HOT: Final = f"{IN_FILE}hot "
FORWARDS: Final = ("forward", "__call__")  # what calls a module comes to these
Known = dict[str, Fact]  # options, by what is said of them


class Behind(msgspec.Struct):
    """The options of the functions of a file, by name: a call may run any function that has the name."""

    callers: Callers
    world: World
    text_of: Texts
    warmth: Mapping[Routine, Warmth]
    known: dict[str, Known] = {}
    classes: Built | None = None

    def of(self, routine: Routine) -> tuple[Fact, ...]:
        """What every call of a function in its file stands behind, and what that stands behind in turn; what is defined
        in a function, whoever calls it, stands behind the same. Of one that others may call from elsewhere it is said
        that this holds in this file. Of one that is hot, the calls that are hot count alone, and it is said so."""
        outer = outer_of(routine)
        built = self.of(outer) if outer is not None else self._built(routine)
        if not self._called(routine):
            return built
        name = called_as(routine)
        if name not in self.known:
            self._settle(name)
        own = self.known[name]
        return (*[fact for fact in built if bare(fact) not in own], *own.values())

    def _built(self, routine: Routine) -> tuple[Fact, ...]:
        """What the file asks for wherever it makes the object of a method, or names a function that it hands about."""
        if self.classes is None:
            self.classes = Built(self.callers, self.world, self.text_of)
        if routine.owner is None:
            return self.classes.of_function(routine)
        return (*self.classes.of(routine.owner), *self.classes.of_method(routine))

    def around(self, routine: Routine, context: Context) -> tuple[Fact, ...]:
        """What a place stands behind in its function."""
        return opted(context, routine, self.callers, self.world, self.text_of)

    def _called(self, routine: Routine) -> bool:
        """Whether a function is run by those who call it by its name, and by nobody else that we would see."""
        node, owner = routine.node, routine.owner
        if type(node) is not FUNCTION or kept(routine):
            return False
        if (name := called_as(routine)) != routine.name:
            return bool(self.callers.named(name))
        if runs_itself(routine, self.world.places) and not self._chosen_by_forward(routine):
            return False
        above = owner is not None and any(not one.home.own and node.name in one.members for one in owner.mro)
        return not above and bool(self.callers.named(node.name))

    def _chosen_by_forward(self, routine: Routine) -> bool:
        """Whether a method is a way in which the forward of its own class goes, `forward_frozen`: no module calls it of
        itself."""
        name, owner, places = routine.name, routine.owner, self.world.places
        if owner is None or name in FORWARDS or not places.is_("hot", "module_methods", name):
            return False
        others = places.each_step(name) or places.each_step(f"{owner.name}.{name}")
        return not others and any(one.caller.owner is owner for one in self.callers.named(name))

    def _settle(self, name: str) -> None:
        """Work a name out with all that lead to it: what a function stands behind is what all its callers share."""
        calls: dict[str, list[tuple[Known, Routine]]] = {}
        open_names: set[str] = set()
        hot_names: set[str] = set()
        todo = [name]
        while todo:
            asked = todo.pop()
            made = [one for one in self.callers.named(asked) if called_as(one.caller) != asked]
            hot = [one for one in made if self._is_hot(one)]
            if hot and len(hot) < len(made):
                made = hot
                hot_names.add(asked)
            calls[asked] = [({**self._made(one.caller, asked), **self._around(one)}, one.caller) for one in made]
            open_names |= {asked} if not all(private(one) for one in self._all(asked)) else set()
            leading = {called_as(caller) for _, caller in calls[asked] if self._called(caller)}
            todo += sorted(leading - calls.keys() - self.known.keys() - {*todo})
        said = {asked: HOT if asked in hot_names else HERE if asked in open_names else "" for asked in calls}
        found: dict[str, Known | None] = {**self.known, **dict.fromkeys(calls)}  # None: whatever there is
        changed = True
        while changed:
            changed = False
            for asked, every in calls.items():
                now = self._shared(every, found, said[asked])
                if now is not None and now != found[asked]:
                    found[asked], changed = now, True
        for asked, every in calls.items():
            told = either([tuple(around.values()) for around, _ in every]) if not found[asked] else ()
            one_of = {fact.text: replace(fact, text=f"{said[asked]}{fact.text}") for fact in told}
            self.known[asked] = found[asked] or one_of

    def _made(self, caller: Routine, asked: str) -> Known:
        """What the file asks for wherever it makes an object of the class that a call stands in, of another one, or
        names the function that it stands in, and hands that about."""
        owner = caller.owner
        if owner is not None and owner.find(asked) is not None:
            return {}
        made = {bare(fact): fact for fact in self._built(caller)}
        return {text: replace(fact, text=f"{HERE}{text}") for text, fact in made.items()}

    def _is_hot(self, made: Made) -> bool:
        return not made.context.rare and self.warmth[made.caller].heat == "hot"

    def _all(self, name: str) -> list[Routine]:
        return [one for one in self.callers.home.routines if called_as(one) == name]

    def _around(self, made: Made) -> Known:
        return {fact.text.removeprefix(IN_FILE): fact for fact in self.around(made.caller, made.context)}

    def _shared(self, every: list[tuple[Known, Routine]], found: dict[str, Known | None], where: str) -> Known | None:
        """What all calls stand behind; None where none of them is known yet."""
        known: list[Known] = []
        for around, caller in every:
            above = found.get(called_as(caller), {}) if self._called(caller) else {}
            if above is not None:
                known.append({**above, **around})
        shared: Known = {}
        for text, fact in known[0].items() if known else ():
            facts = [one[text] for one in known if text in one]
            if len(facts) == len(known):
                said = [where, *[one.text.removesuffix(text) for one in facts]]
                first = HOT if HOT in said else next(filter(None, said), "")
                shared[text] = replace(fact, text=f"{first}{text}")
        return shared if known else None


def bare(fact: Fact) -> str:
    """What an option asks for, whatever is made or named only there."""
    return fact.text.removeprefix(MADE).removeprefix(NAMED)


def runs_itself(routine: Routine, places: Places) -> bool:
    """Whether what calls a function does not name it: a protocol of Python, a step of training."""
    name, owner = routine.name, routine.owner
    dotted = f"{owner.name}.{name}" if owner is not None else name
    if owner is None:  # its name may say that it runs at every step, but somebody has to call it
        return name.endswith("__")
    hot = places.each_step(name) or places.each_step(dotted)
    return hot or name.endswith("__") or places.is_("hot", "module_methods", name)
