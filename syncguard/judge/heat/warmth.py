"""How often a routine runs, with the path that shows it; and what a path says of its callers."""

from __future__ import annotations

import msgspec

from syncguard.judge.heat.beside import BESIDE
from syncguard.terms import Fact, Heat

SELDOM = "in its file called only by what runs seldom"
BY_NAME = "by its name what runs seldom, unless another file calls it at every step"
AROUND = "in its file called only now and then, or around loops that take the steps"
BETWEEN = "ends a phase, unless another file calls it at every step"
LOADS = "in a function that reads a checkpoint whenever it is called, unless another file calls it at every step"
MAKES = "where parameters of a model are made, unless another file calls it at every step"
WRITES = "in a function that writes a file whenever it is called, unless another file calls it at every step"
FITS = "in a method that fits what others then use, unless another file calls it at every step"
ASKED = "in a function named for the wait, which its callers ask for, unless another file calls it at every step"
SUMS_UP = "by its name and those beside it, unless another file calls it at every step"
CROSSES = "what is prepared of texts or images crosses once, unless another file calls it at every step"
STARTED = "which a person starts"
ONCE = "which runs once"
NOW_AND_THEN = ("but only around ", "but only now and then ")
SLOWER = ("amortized", "cold")
UNASKED = "but only where an option is set that is off by default"
UNNAMED = "in a private module that nothing in its package names"
ASTRAY = "in a module that nothing in its package names, as it names nearly all others"
UNIMPORTED = "in a module that nothing in its project imports"
UNUSED = "nothing in its project names"
UNMADE = "nothing can be made of "
TEMPLATE = "in a template that nothing imports"
UNCALLED = "in a function of its package's own that nothing there names"
ON_HOST = "whose tensors are on the host"
IF_HOT = "no hazard unless another file calls it at every step"


class Warmth(msgspec.Struct, frozen=True):
    """How often a routine runs, and the path that shows it."""

    heat: Heat
    path: tuple[Fact, ...] = ()
    epochal: bool = False  # amortized as it runs once in an epoch: its loops may run long

    @property
    def here(self) -> bool:
        """Whether it runs seldom for its callers in its own file alone: others may tell more."""
        return self.heat in SLOWER and for_callers(self.path)


def for_callers(path: tuple[Fact, ...]) -> bool:
    """Whether a path to what runs seldom says that it does as far as its own file tells."""
    return for_hot_code(path) or any(
        fact.text in (SELDOM, BY_NAME, AROUND, BETWEEN, LOADS, MAKES, WRITES, FITS, ASKED, SUMS_UP, CROSSES)
        or fact.text in BESIDE
        for fact in path
    )


def sums_up(path: tuple[Fact, ...]) -> Fact | None:
    """What a path says of a metric that is asked once for all that it was given, at its method."""
    return next((fact for fact in path if fact.text == SUMS_UP), None)


def for_host(path: tuple[Fact, ...]) -> bool:
    """Whether a path says that a function is called for what is on the host."""
    return any(fact.text.endswith(ON_HOST) for fact in path)


def for_start(path: tuple[Fact, ...]) -> bool:
    """Whether a path says that a function is called once for what a person starts: its loops may turn often."""
    return any(fact.text.endswith((STARTED, ONCE)) for fact in path)


def is_dead(text: str) -> bool:
    """Whether this says of what stands in an application that nothing there calls it, so that nobody does."""
    return UNUSED in text


def is_unmade(text: str) -> bool:
    """Whether this says of a method that no object has it."""
    return text.startswith(UNMADE)


def of_a_run(path: tuple[Fact, ...]) -> bool:
    """Whether a path leads through what runs steps, or starts it: to what is called once for these."""
    return for_start(path) or any(fact.text.startswith(NOW_AND_THEN) for fact in path)


def by_name(path: tuple[Fact, ...]) -> bool:
    """Whether a path says that nothing but a name tells how often something runs."""
    return any(fact.text == BY_NAME for fact in path)


def for_hot_code(path: tuple[Fact, ...]) -> bool:
    """Whether a path says that a place is no hazard until another file makes it hot."""
    return any(fact.text == IF_HOT for fact in path)
