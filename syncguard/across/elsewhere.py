"""What was found in each of several files in, the same out as all of them together say how often it runs, and behind
which options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import replace

from syncguard.across.called_by_name import CalledByName
from syncguard.across.copies import copied
from syncguard.across.dead_code import DeadCode, dead_code, is_left
from syncguard.across.dynamic_names import DynamicNames
from syncguard.across.given_outside import given_outside, must_be_given
from syncguard.across.hierarchy import Hierarchy
from syncguard.across.mentions import Mentions
from syncguard.across.once_per_generation import OncePerGeneration
from syncguard.across.resets import KEEPS, Resets
from syncguard.across.seldom_called import SeldomCalled, Told
from syncguard.across.stepwise import Stepwise
from syncguard.across.templates import Templates
from syncguard.across.texts import Files
from syncguard.across.turned_outside import turned_outside
from syncguard.across.uncalled import uncalled
from syncguard.across.unimported import unimported
from syncguard.across.unreferenced import astray, left_to, lonely, unreferenced_functions, unreferenced_modules
from syncguard.across.used_outside import (
    is_asked_outside,
    is_for_others,
    is_set_outside,
    may_grow,
    may_have_others,
    unseen_outside,
)
from syncguard.examined import Examined
from syncguard.judge.around.called import Ask, Function, Gift, Needs, Where, in_loop, innermost, last_part
from syncguard.judge.brought import as_brought
from syncguard.judge.callers.entries import Callers, Entries, bare, doubted
from syncguard.judge.callers.gated import gated
from syncguard.judge.callers.giving import Given
from syncguard.judge.callers.idle import idle
from syncguard.judge.callers.led_there import There
from syncguard.judge.callers.made import bare as plain
from syncguard.judge.callers.made import class_of, made_behind, made_on_host, namers, with_options
from syncguard.judge.callers.never_set import Left, around, left_by_makers, unless_made_so
from syncguard.judge.callers.processes import gpuless
from syncguard.judge.callers.reach import behind
from syncguard.judge.callers.sent import Sent
from syncguard.judge.callers.supposed import unless_given
from syncguard.judge.heat.warmth import (
    ASTRAY,
    SLOWER,
    UNASKED,
    UNCALLED,
    UNIMPORTED,
    UNNAMED,
    for_callers,
    for_host,
    for_hot_code,
    for_start,
    is_dead,
    of_a_run,
    sums_up,
)
from syncguard.judge.options.common import question_of
from syncguard.judge.options.made_with import made_with, unless_made_with
from syncguard.judge.options.opted import BY_DEFAULT, off_by_default
from syncguard.pack.places import Places
from syncguard.terms import Fact, Finding

GIVEN: Final = "` is not None"
SENDS: Final = ("copy-to-device", "host-data", "built-on-host", "host-index")  # rules of what goes to the device
Calls = Mapping[str, tuple[Function, ...]]
Paths = Mapping[Where, tuple[Fact, ...]]


class Elsewhere(msgspec.Struct, frozen=True):
    """What files say of the functions of others."""

    calls: Calls  # of each file
    hot: Paths  # what another file makes hot, with the path that shows it
    there: There  # that path, by calls that give what a place needs
    given: Given  # what functions are given by default
    hosted: Mapping[Where, Fact]  # what only setup calls, or processes without a GPU, by a call that shows it
    rare: Paths  # what steps of other files call now and then
    seldom_called: Mapping[Where, Told]  # what a package calls in nothing but what runs seldom
    steps_beside: Callable[[Where, int], int]  # the line beside a place where its function calls what takes the steps
    options: Paths  # that all calls of a function stand behind
    called_by_name: CalledByName  # the options of what is asked for by its name
    made_for: Paths  # that other files make its class for
    taken_over: Callable[[Where], bool]  # whether a class that descends from that of a method has the same method
    made_there: Mapping[Where, Fact]  # classes that nothing makes but what has its tensors on the host
    unimported: frozenset[str]  # modules that nothing in their applications brings in
    unused: Mapping[str, str]  # files that nothing in their packages names, and what is said of them
    sent: Sent  # what functions are given on the host
    unreferenced: frozenset[Where]  # private functions that nothing in their packages names
    dead_code: DeadCode  # those that nothing calls yet, or only such
    made: Templates
    unmade: Mapping[Where, str]  # methods whose class nothing names
    once: Mapping[Where, Told]  # modules that run once in a generation
    gifts: Callable[[Where], tuple[Gift, ...]]  # what all give that make objects of a class
    left: Left  # what is never set of the objects that these files make
    for_others: Callable[[Where], bool]  # whether a class is said to be there for others
    set_outside: Callable[[Where, str], bool]  # whether another file gives an object of it such an attribute
    grown: Callable[[Where, str], bool]  # whether a file may put more into such an attribute
    asks_for: Callable[[Where, str], bool]  # whether another file that names a class has this name as well
    turned: Callable[[Fact, Where, str], bool]  # whether a file sets an option, of a class or of a method of it
    demanded: Callable[[Fact, Where], bool]  # whether an option has no default, and a file gives it
    alone: Callable[[Collection[Where]], bool]  # whether nobody may call one of these functions but those that do
    resets: Callable[[Where, int], bool]  # whether another file empties at every step what a place fills
    asked_each_step: Callable[[str, str], bool]  # whether a step in a file's package asks something for a method
    copied: Callable[[str], str]  # what is said of a file that a run has left among its logs
    places: Places

    def told(self, findings: Sequence[Finding], one: Examined) -> list[Finding]:
        """Findings of a file, but for those that are no hazard unless something makes them hot."""
        waits = [finding for finding in findings if finding.op]
        said = [finding for finding in findings if not finding.op]  # of the file itself
        warm = [self._asked(self._imported(self._told(finding, one), one.note.path), one) for finding in waits]
        told = [self.made.told(finding, one.note.path) for finding in warm if not for_hot_code(finding.hot_path)]
        return [*said, *told]

    def _imported(self, finding: Finding, path: str) -> Finding:
        """A finding of a module that nothing brings in, as one of what nobody runs."""
        lost = path in self.unimported and _is_warm(finding)
        return replace(finding, heat="cold", hot_path=(Fact(UNIMPORTED, 0),)) if lost else finding

    def _asked(self, finding: Finding, one: Examined) -> Finding:
        """A finding with the options of all that asks for its function by a name; they make nothing rarer, for who has
        the object may ask for it."""
        if not _is_warm(finding) or not finding.function:
            return finding
        had = {question_of(plain(fact)) for fact in finding.options}
        told = self.called_by_name.of((one.note.path, finding.function))
        more = [fact for fact in told if question_of(plain(fact)) not in had]
        return replace(finding, options=(*more, *finding.options)) if more else finding

    def _told(self, finding: Finding, one: Examined) -> Finding:
        path, where = one.note.path, (one.note.path, finding.function)
        if (made := self.made_there.get(class_of(where))) is not None and finding.name not in SENDS:
            return replace(finding, heat="cold", hot_path=(made,))
        if archived := self.copied(path):
            return replace(finding, heat="cold", hot_path=(Fact(archived, 0),))
        place = finding.site.line, finding.site.column
        finding = self._anew(finding, where)
        if (sent := self.sent.told(where, place, one.rests.get(place, ()))) is not None:
            return replace(finding, heat="cold", hot_path=(sent,))
        needs, asks = one.needs.get(place, ()), one.wants.get(place, ())
        finding = self._warmed(self._asking(finding, where, asks), where, needs, asks)
        finding = as_brought(finding, self.calls, self.hot)
        finding = self._unless_set(self._by_none(finding)) if not self.there.may_be(where, needs, asks) else finding
        if where in self.unmade and _by_its_class(finding, where):
            if is_dead(self.unmade[where]):
                return replace(finding, heat="cold", hot_path=(Fact(self.unmade[where], 0),))
            finding = replace(finding, hot_path=(*finding.hot_path, Fact(f"but {self.unmade[where]}", 0)))
        if where in self.once and _by_itself(finding):
            heat, way = self.once[where]
            finding = replace(finding, heat=heat, hot_path=way)
        finding = unless_made_so(unless_given(finding), self.calls, self.left, self.for_others, self.set_outside)
        if made_so := one.kept.get(place, ()):
            own = class_of(where)
            gifts = self.gifts(own)
            finding = unless_made_with(
                finding, own, made_so, gifts, self.for_others, self.set_outside, self._asked_outside, self.grown
            )
        if finding.heat != "unknown":
            return finding
        if (barred := self.given.nowhere(where, asks, self.alone)) is not None:
            return replace(finding, heat="cold", hot_path=(barred,))
        if more := untold(finding, self.given.refused(where, asks)):
            finding = replace(finding, options=(*more, *finding.options))
        if path in self.unused or where in self.unreferenced:
            return replace(finding, heat="cold", hot_path=(Fact(self.unused.get(path, UNCALLED), 0),))
        if where in self.dead_code.left_over:
            return replace(finding, heat="cold", hot_path=(Fact(self.dead_code.left_over[where], 0),))
        told = self.dead_code.told.get(where)  # it may be unused, or there for others
        return replace(finding, hot_path=(Fact(told, 0),)) if told else finding

    def _anew(self, finding: Finding, where: Where) -> Finding:
        """A finding of what runs once, as one of what other files have run for each step."""
        if finding.hot_path[1:] and finding.hot_path[-1].text in KEEPS and self.resets(where, finding.site.line):
            return replace(finding, heat="hot", hot_path=finding.hot_path[:-1])
        if (summed := sums_up(finding.hot_path)) is not None:
            method = innermost(self.calls.get(summed.path, ()), summed.line)
            if method is not None and self.asked_each_step(last_part(method.name), summed.path):
                return replace(finding, heat="unknown", hot_path=())
        return finding

    def _asked_outside(self, finding: Finding, line: int) -> bool:
        """Whether another file that names the class of a finding may ask an object of it for the method that the
        finding stands in, or the one around a line."""
        path, own = finding.site.path, class_of((finding.site.path, finding.function))
        asking = innermost(self.calls.get(path, ()), line)
        names = [finding.function] if asking is None else [finding.function, asking.name]
        return any(self.asks_for(own, last_part(name)) for name in names)

    def _asking(self, finding: Finding, where: Where, asks: tuple[Ask, ...]) -> Finding:
        """A finding with the options that other files say it stands behind."""
        kept = self.given.still(where, finding.options, self.places) if finding.options else ()
        told = tuple(self.given.options(where, asks))
        if told and kept:  # what is said with its default says more
            surer = {question_of(bare(one)) for one in told if BY_DEFAULT in one.text}
            kept = tuple([one for one in kept if not (one.text.endswith(GIVEN) and question_of(one.text) in surer)])
        more = untold(replace(finding, options=kept), told)
        if more or kept != finding.options:
            finding = replace(finding, options=(*more, *kept))
        made = self.made_for
        if made.get(class_of(where)) and self.taken_over(where):  # whoever makes those makes its objects, too
            made = {class_of(where): ()}
        return with_options(finding, where, self.options, made)

    def _warmed(self, finding: Finding, where: Where, needs: Needs, asks: tuple[Ask, ...]) -> Finding:
        """A finding in a function of which other files say how often it runs, as far as they give what it needs."""
        if not _may_be_told(finding):
            return finding
        if where in self.rare:
            known = finding.heat != "unknown"
            return finding if known else replace(finding, heat="amortized", hot_path=self.rare[where])
        if where in self.hosted:
            return replace(finding, heat="cold", hot_path=(self.hosted[where],))
        if way := self.there.to(where, needs, asks):
            return replace(finding, heat="hot", hot_path=way)
        if more := untold(finding, self.there.refused(where, needs, asks)):
            finding = replace(finding, options=(*more, *finding.options))
        if where in self.seldom_called and finding.heat == "unknown":
            heat, way = self.seldom_called[where]
            sends = finding.name in SENDS and for_host(way)  # to the device, whoever has it do so
            lasts = finding.name in self.places.tables["hot"]["settings"]  # what is set up once is met at every step
            often = for_start(way) and self._turns(where, finding.site.line)
            return finding if sends or often or (lasts and of_a_run(way)) else replace(finding, heat=heat, hot_path=way)
        return self._around_steps(finding, where)

    def _around_steps(self, finding: Finding, where: Where) -> Finding:
        """A finding beside a call of another file's loop of steps, as one of what runs once for many."""
        if finding.heat != "unknown" or finding.name in self.places.tables["hot"]["settings"]:
            return finding
        line = self.steps_beside(where, finding.site.line)
        if not line:
            return finding
        around = Fact(f"but only around line {line}, which takes the steps", finding.site.line)
        return replace(finding, heat="amortized", hot_path=(around,))

    def _by_none(self, finding: Finding) -> Finding:
        """A finding whose options say nothing of a default that is none."""
        if not _is_warm(finding) or not any(map(off_by_default, finding.options)):
            return finding
        told = [
            off_by_default(one) and self.demanded(one, around(one, finding, self.calls)[0]) for one in finding.options
        ]
        if not any(told):
            return finding
        kept = [
            replace(one, text=one.text.partition(BY_DEFAULT)[0]) if no else one
            for one, no in zip(finding.options, told)
        ]
        return replace(finding, options=tuple(kept))

    def _unless_set(self, finding: Finding) -> Finding:
        """A finding where nobody is known to set the option that it needs, and nothing to run it at every step, as one
        of what runs now and then."""
        off = [one for one in finding.options if off_by_default(one)] if finding.heat == "unknown" else []
        if not off or all(self.turned(one, *around(one, finding, self.calls)) for one in off):
            return finding
        return replace(finding, heat="amortized", hot_path=(Fact(UNASKED, 0),))

    def _turns(self, where: Where, line: int) -> bool:
        """Whether a line of a function stands in a loop of it that may turn often, or the function in another one, from
        which it may be called so."""
        every = {one.name: one for one in self.calls.get(where[0], ())}
        outer = where[1].rpartition(".")[0]
        return in_loop(every[where[1]], line) or (outer != "" and outer in every)


def elsewhere(
    examined: Sequence[Examined],
    calls: dict[str, tuple[Function, ...]],
    callers: Callers,
    hot: Paths,
    made: Templates,
    files: Files,
    places: Places,
) -> Elsewhere:
    """What these files say of one another's functions, and what those say that are not examined but remembered."""
    unsure = frozenset(_holding(examined, _may_be_told))
    mentions = Mentions(files, places)
    hierarchy, dynamic_names = Hierarchy(files, places), DynamicNames(files, places)
    apart = gpuless(calls, unsure, mentions)

    def left(where: Where) -> bool:
        return is_left(where, calls, callers, dynamic_names, files, places)

    private, seldom = idle(calls, callers, hot, places)
    known = left_to(unsure, callers, seldom, files, places)
    hosted = {**private, **{where: seldom[where] for where in known}, **apart}
    rare = gated(calls, callers, hot, hosted)
    rare = {where: rare[where] for where in left_to(unsure, callers, rare, files, places)}
    asked = frozenset(_holding(examined, _is_unknown))
    unknown = [
        (path, f) for path in {path for path, _ in asked} for f in calls.get(path, ()) if (path, f.name) in asked
    ]
    alone = [(path, f.name) for path, f in unknown if f.alone]
    holding = frozenset(_holding(examined, lambda _: True))
    options = behind(calls, callers, apart, lru_cache(maxsize=None)(left))
    makers = namers(calls)
    seldom_called = SeldomCalled(calls, hot, dynamic_names, files, places)
    stepwise = Stepwise(calls, callers, files, places)
    once = OncePerGeneration(
        {*_holding(examined, _by_itself)}, calls, seldom_called, hierarchy, dynamic_names, files, places
    )

    def apart_from(functions: Collection[Where]) -> bool:
        return lonely(functions, callers, files, places)

    return Elsewhere(
        calls,
        hot,
        There(Entries(callers, hot), hot, doubted(calls, hot)),
        Given(callers, calls),
        hosted,
        rare,
        seldom_called=seldom_called.of(asked, once.callers),
        once=once.told(),
        steps_beside=seldom_called.steps_beside,
        options=options,
        called_by_name=CalledByName(
            _holding(examined, _may_count), calls, callers, makers, options, mentions, files, places
        ),
        made_there=unseen_outside(made_on_host(calls, makers, holding), files),
        made_for=made_behind(makers, holding),
        taken_over=hierarchy.takes_over,
        unimported=unimported({path for path, _ in _holding(examined, _is_warm)}, files, places),
        unused=_unused({path for path, _ in asked}, dynamic_names, files, places),
        sent=Sent(calls, callers, apart_from),
        turned=lambda option, owner, method: (
            turned_outside(option, owner[0], files) or given_outside(option, owner, method, files, hierarchy)
        ),
        demanded=lambda option, owner: must_be_given(option, owner, files, hierarchy),
        alone=lambda every: apart_from(every) and not any(may_have_others(one, files) for one in every),
        unreferenced=frozenset(
            [where for where in unreferenced_functions(alone, files, places) if not dynamic_names.may_fetch(where)]
        ),
        dead_code=dead_code(asked, calls, callers, hot, dynamic_names, files, places),
        made=made,
        unmade=uncalled(_by_class(examined, calls), (), files, places),
        gifts=lambda where: made_with(where, makers),
        left=left_by_makers(makers),
        for_others=lambda where: is_for_others(where, calls, files, places),
        set_outside=lambda where, name: is_set_outside(where, name, files),
        grown=lambda where, name: may_grow(where, name, files, places),
        asks_for=lambda where, name: is_asked_outside(where, name, files, places),
        resets=Resets(calls, stepwise, hierarchy, files).at,
        asked_each_step=stepwise.asks,
        copied=lru_cache(maxsize=None)(lambda path: copied(path, files, places)),
        places=places,
    )


def _is_warm(finding: Finding) -> bool:
    return finding.heat in ("hot", "unknown")


def _unused(asked: set[str], dynamic_names: DynamicNames, files: Files, places: Places) -> dict[str, str]:
    """Those of some files that nothing in their packages names, with what is said of them."""
    public, private = astray(asked, files, places), unreferenced_modules(asked, files, places)
    found = {**dict.fromkeys(public, ASTRAY), **dict.fromkeys(private, UNNAMED)}
    return {path: told for path, told in found.items() if not dynamic_names.brings(path)}


def _by_class(examined: Sequence[Examined], calls: Calls) -> Iterator[tuple[str, Function]]:
    """The methods that hold a finding which nothing but their own class makes hot."""
    asked = {
        (one.note.path, finding.function)
        for one in examined
        for finding in (*one.findings, *one.allowed)
        if _by_its_class(finding, (one.note.path, finding.function))
    }
    for path in {path for path, _ in asked}:
        yield from [(path, f) for f in calls.get(path, ()) if (path, f.name) in asked]


def _by_its_class(finding: Finding, where: Where) -> bool:
    """Whether a finding is hot as its class has a method that runs at every step."""
    first = finding.hot_path[0].text if finding.heat == "hot" and finding.hot_path else ""
    return first.startswith(f"`{class_of(where)[1]}.") and first.endswith("` runs at every step")


def _by_itself(finding: Finding) -> bool:
    """Whether a finding stands in a method that runs at every step, and is hot by nothing else."""
    first = finding.hot_path[0].text if finding.heat == "hot" and len(finding.hot_path) == 1 else ""
    return first == f"`{finding.function}` runs at every step"


def _holding(examined: Sequence[Examined], asked: Callable[[Finding], bool]) -> Iterator[Where]:
    """The functions that hold a finding which is asked for."""
    for one in examined:
        yield from [(one.note.path, finding.function) for finding in (*one.findings, *one.allowed) if asked(finding)]


def _is_unknown(finding: Finding) -> bool:
    return finding.heat == "unknown"


def _may_count(finding: Finding) -> bool:
    """Whether this may run often, as far as its own file says."""
    return finding.heat == "hot" or _may_be_told(finding)


def _may_be_told(finding: Finding) -> bool:
    """Whether another file may say how often this runs."""
    return _is_unknown(finding) or (finding.heat in SLOWER and for_callers(finding.hot_path))


def untold(finding: Finding, options: Iterable[Fact]) -> list[Fact]:
    """Those of some options that a finding does not tell itself."""
    had = {question_of(bare(fact)) for fact in finding.options}
    return [fact for fact in options if question_of(bare(fact)) not in had]
