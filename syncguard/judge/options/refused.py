"""A place in a function in, what it asks for that some calls of the function say they do not give out: to be told of a
place to which those lead that are made at every step, but for this."""

from __future__ import annotations

from syncguard.infer.branches.asking import spelled_out
from syncguard.infer.branches.meant import necessary
from syncguard.infer.branches.ungiven import tells_none
from syncguard.infer.sightings import Asked
from syncguard.infer.tell import Texts, snippet
from syncguard.judge.defaults.defaults import Place
from syncguard.judge.options.barred import barred_from
from syncguard.judge.options.opted import ONLY, only_where
from syncguard.read.core import Node
from syncguard.read.tags import NAME
from syncguard.read.walk import walk
from syncguard.terms import Fact


def refused(place: Place, tests: tuple[Asked, ...], text_of: Texts) -> tuple[Fact, ...]:
    """These of some tests, each as it must come out."""
    told: list[Fact] = []
    for test, outcome in tests:
        for part, wanted in necessary(spelled_out(test, place.frame), outcome):
            if barred_from(place, ((part, wanted),)):
                told.append(Fact(_said(part, wanted, place, text_of), part.at[0]))
    return tuple(told)


def _said(test: Node, outcome: bool, place: Place, text_of: Texts) -> str:
    names = [part.id for part in walk(test) if type(part) is NAME and tells_none(test, outcome, part.id)]
    if names:
        return f"{ONLY}`{names[0]}` is not given"
    return only_where(snippet(test.at, text_of(place.routine.home.path)), outcome, "")
