"""A flag of a file in, whether it is off unless somebody calls a function that sets it out: `def configure(check):`,
`global CHECK`, `CHECK = check`."""

from __future__ import annotations

from syncguard.infer.branches.arms import steady
from syncguard.infer.branches.meant import binders
from syncguard.infer.branches.ungiven import lines_of
from syncguard.infer.home import Home
from syncguard.infer.routine import Routine
from syncguard.judge.around.bound import bound_to
from syncguard.judge.defaults.carried import carried
from syncguard.pack.places import Places
from syncguard.read.core import Node
from syncguard.read.tags import CONST, FUNCTION, NAME


def off_until_set(name: str, home: Home, places: Places) -> Node | None:
    """The False that the top level binds a name to, where all else that binds it are functions which the file leaves
    for others to call, and which set what they are told."""
    top = home.top
    binds = binders(top).get(name, ()) if top is not None and name in home.core.rebound else ()
    first = [bind for bind in binds if bind is not home.core]
    value = bound_to(first[0], name) if len(first) == 1 else None
    if not _is_off(value):
        return None
    setters = [one for one in home.routines if not one.closure and name in binders(one)]
    setting = [one for one in setters if not all(_is_off(bound) for bound in _bound(name, one))]
    told = all(_told(bound, one, places) for one in setting for bound in _bound(name, one))
    return value if setting and told and all(_for_others(one, setters) for one in setting) else None


def _bound(name: str, routine: Routine) -> list[Node | None]:
    """What a function binds a name to; None where that is for the run to say."""
    return [bound_to(part, name) for part in binders(routine)[name]]


def _is_off(value: Node | None) -> bool:
    return type(value) is CONST and value.value is False


def _told(value: Node | None, routine: Routine, places: Places) -> bool:
    """Whether this is what a function is told by who calls it, or by the settings, or on in what is there to turn it
    on."""
    if type(value) is CONST:
        return _is_off(value) or places.is_("names", "switches", routine.name)
    if type(value) is NAME:
        params = routine.node.params if type(routine.node) is FUNCTION else ()
        return steady(value.id, routine) and any(param.name == value.id for param in params)
    return value is not None and carried(value, lambda of: places.is_("names", "settings", of.lower()))


def _for_others(routine: Routine, setters: list[Routine]) -> bool:
    """Whether a file names a function nowhere but in those that set the same."""
    spans = [one.node.at for one in setters if type(one.node) is FUNCTION]
    return all(any(at[0] <= line <= at[2] for at in spans) for line in lines_of(routine.name, routine.home))
