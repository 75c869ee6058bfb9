"""A routine in, whether it runs once or seldom for what it is out: a script, setup, a test, an interface, an export."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import handed_about, private
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.contents import tensors_in
from syncguard.infer.domain.values import Const, Host, Named, options
from syncguard.infer.functions.learnt import as_script
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Sighting
from syncguard.judge.around.calling import callers_of, is_open
from syncguard.judge.heat.done import rewrites_graph, uses
from syncguard.judge.heat.few import small
from syncguard.judge.heat.remade import made_anew
from syncguard.judge.heat.stands_in import stands_in
from syncguard.pack.places import Places, matches
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, CLASS, CONST, FUNCTION, IF, LEAVE, LOOP, NAME, RUN, SEQ
from syncguard.read.walk import around, bound_in, walk

EQUALS: Final = ("__eq__", "__ne__")
HANDED: Final = 4  # fewer are not all that a module hands to a hook


def programs(routines: Sequence[Routine], places: Places) -> None:
    """Mark the functions that a script alone calls, once, with nothing but its settings, or that are its own: they do
    its work; and trials that nobody calls."""
    callers = callers_of(routines)
    alone = [routine for routine in routines if routine.owner is None and not routine.closure]
    todo = [one for one in alone if _takes_settings_alone(one, places) or _is_own(one, places)]
    found = True
    while found:
        found = False
        for routine in todo:
            once = [script(caller, places) and not context.loops for caller, _, context in callers.get(routine, ())]
            if (once or trial(routine, places)) and all(once) and not routine.program:
                routine.program = found = True
    for routine in routines:
        calls = callers.get(routine, ()) if not routine.program and _loops(routine, places) else ()
        called = [_works(caller, places) and not context.loops for caller, _, context in calls]
        routine.errand = bool(called) and all(called)


def _loops(routine: Routine, places: Places) -> bool:
    """Whether a function has a loop of its own that may run long, and its file does nothing but call it."""
    node = routine.node
    if type(node) is not FUNCTION or is_open(routine, places) or node.name in handed_about(routine.home):
        return False
    return any(type(part) is LOOP and not small(part) for part in node.body)


def _works(routine: Routine, places: Places) -> bool:
    """Whether a function does what people start a script for, and tries nothing on what it draws, as what stands below
    the functions of a library may."""
    node = routine.node
    if type(node) is not FUNCTION or not script(routine, places):
        return False
    calls = (last_name(part.fn) for part in walk(node.body) if type(part) is CALL)
    return not any(places.is_("cold", "drawing", name) for name in calls)


def _is_own(routine: Routine, places: Places) -> bool:
    """Whether nobody but its file has a name for a function, which does nothing with it but call it."""
    return private(routine) and not places.seldom(routine.name) and routine.name not in handed_about(routine.home)


def _takes_settings_alone(routine: Routine, places: Places) -> bool:
    node = routine.node
    if type(node) is not FUNCTION or routine.closure or places.seldom(routine.name):
        return False
    given = [param.name.lower() for param in node.params if param.default is None]
    return all(places.is_("names", "settings", name) for name in given)


def trial(routine: Routine, places: Places) -> bool:
    """Whether a function tries what stands beside it, on what it draws: `test2()`, and no evaluation of a model."""
    node = routine.node
    if type(node) is not FUNCTION or routine.owner is not None or routine.closure or node.params:
        return False
    calls = (last_name(part.fn) for part in walk(node.body) if type(part) is CALL)
    return places.is_("cold", "trials", routine.name) and any(places.is_("cold", "drawing", name) for name in calls)


def tries_itself(routine: Routine, places: Places) -> bool:
    """Whether a file that is started tries what stands in it, on what it makes up: `net(torch.zeros(1, 3))`."""
    node = routine.node
    if type(node) is FUNCTION or not any(type(part) is FUNCTION or type(part) is CLASS for part in node.body):
        return False
    started = [part for part in node.body if type(part) is IF and as_script(part.test)]
    parts = [part for one in started for part in walk(one.body)]
    if any(places.is_("hot", "loop_names", last_name(part).lower()) for part in parts if type(part) in (NAME, ATTR)):
        return False
    calls = [part for part in parts if type(part) is CALL]
    return any(places.is_("cold", "drawing", last_name(call.fn)) or _made_up(call, places) for call in calls)


def _made_up(call: core.Call, places: Places) -> bool:
    """Whether a call fills a tensor of a size that is written out: `torch.ones(2, 3)`."""
    sizes = [part for arg in call.args for part in (arg.items if type(arg) is SEQ else (arg,))]
    return places.is_("cold", "filling", last_name(call.fn)) and bool(sizes) and all(type(n) is CONST for n in sizes)


def takes_no_steps(routine: Routine, places: Places) -> bool:
    """Whether the loops of a function take no steps, whatever they call: those of tests, and of a trial that goes
    through no loader."""
    if test_file(routine, places):
        return True
    node = routine.node
    if type(node) is not FUNCTION or not trial(routine, places):
        return False
    named = (last_name(part).lower() for part in walk(node.body) if type(part) is NAME or type(part) is ATTR)
    return not any(places.is_("hot", "loop_names", name) for name in named)


def script(routine: Routine, places: Places) -> bool:
    """The top level of a file, its `main` and what does its work, a command, and what has a process join others: they
    run once, and tell nothing of how often what they call runs."""
    node = routine.node
    if (
        type(node) is not FUNCTION
        or routine.program
        or (routine.name == "main" and routine.owner is None and not routine.closure)
        or (node.decorators and any(places.is_("cold", "commands", last_name(part)) for part in node.decorators))
    ):
        return True
    return uses(routine, places.joins)


def started(routine: Routine, places: Places) -> bool:
    """Whether a person starts a function: a command, or what a file calls that is run by itself."""
    node, top = routine.node, routine.home.top
    if type(node) is not FUNCTION or routine.owner is not None or routine.closure:
        return False
    if places.is_("cold", "starters", routine.given_to) or any(
        places.is_("cold", "commands", last_name(part)) for part in node.decorators
    ):
        return True
    tests = [part for part in top.node.body if type(part) is IF and as_script(part.test)] if top is not None else []
    parts = [part for one in tests for part in walk(one.body)]
    return any(type(part) is CALL and last_name(part.fn) == node.name for part in parts)


def is_cold(
    routine: Routine, places: Places, cold: tuple[str, ...], remade: Container[ClassInfo] = frozenset()
) -> bool:
    """Setup, saving and loading, tests, the top level of a file: it runs once or seldom."""
    return named_so(routine, places, remade) or is_cold_anyway(routine, places, cold)


def named_so(routine: Routine, places: Places, remade: Container[ClassInfo] = frozenset()) -> bool:
    """Whether its name says that it runs seldom, as far as nobody is known to call it at every step."""
    return places.seldom(routine.name) and not (
        made_anew(routine, places, remade) or logarithm(routine) or readies(routine, places) or _of_each(routine)
    )


def doubted(routine: Routine, places: Places) -> bool:
    """Whether its name may be that of what runs at every step, if another file calls it there."""
    return places.is_("cold", "doubted", routine.name)


def is_cold_anyway(routine: Routine, places: Places, cold: tuple[str, ...]) -> bool:
    """Whether more than its name says so."""
    if script(routine, places):
        return True
    name = routine.name
    dotted = f"{routine.owner.name}.{name}" if routine.owner is not None else name
    return (
        (bool(routine.host) and not places.is_("host", "functions", name))  # what makes a batch runs for each
        or places.is_("cold", "checks", routine.given_to)
        or places.is_("cold", "tracers", routine.given_to)
        or matches(cold, name)
        or matches(cold, dotted)
        or test_file(routine, places)
        or exported(routine, places)
        or undone(routine, places)
        or clicked(routine, places)
        or makes_groups(routine, places)
        or in_a_try(routine, places)
        or loads_state(routine, places)
        or rewrites_graph(routine, places)
        or put_for(routine, places)
        or moves_model(routine, places)
    )


def moves_model(routine: Routine, places: Places) -> bool:
    """Whether a method has a model, with what it keeps, moved or cast, as a module's own by that name."""
    owner = routine.owner
    return owner is not None and owner.is_module and places.is_("cold", "module_moves", routine.name)


def put_for(routine: Routine, places: Places) -> bool:
    """Whether a function stands in for a method that runs seldom: `Layer.load_weights = load_quantized`."""
    last = stands_in(routine).rpartition(".")[2]
    return bool(last) and places.seldom(last)


def in_a_try(routine: Routine, places: Places) -> bool:
    """Whether a function is defined in one that tries what stands beside it."""
    return bool(routine.closure) and any(places.is_("cold", "tries", name) for name in routine.qualname.split(".")[:-1])


def loads_state(routine: Routine, places: Places) -> bool:
    """Whether a function takes what a module hands to its hooks as it is loaded, whatever its name."""
    node = routine.node
    if type(node) is not FUNCTION or len(node.params) < HANDED:
        return False
    return any(places.is_("cold", "load_hooks", param.name) for param in node.params)


def makes_groups(routine: Routine, places: Places) -> bool:
    """Whether it makes groups of processes; its loops may run long, as those of a script."""
    return uses(routine, places.groups)


def ends_phase(sighting: Sighting, routine: Routine, places: Places) -> bool:
    """Whether memory is given back here, or this is a barrier in a function that has no tensors exchanged, which are in
    order without it; in a loop, beside another one of which each turn has one."""
    loops = sighting.context.loops
    if any(one.reason for one in loops) or (loops and not _beside_loop(loops[-1].node, sighting.at)):
        return False
    if places.is_("cold", "releases", sighting.op):
        return True
    return places.is_("cold", "barriers", sighting.op) and not uses(routine, places.collectives)


def _beside_loop(node: Node, at: At) -> bool:
    """Whether a loop holds another one, apart from a place in it."""
    inner = [part for part in walk(node.body) if type(part) is LOOP] if type(node) is LOOP else []
    return any(not around(part.at, at) for part in inner)


def logarithm(routine: Routine) -> bool:
    """Whether what is named like a report gives a tensor, and not only back: then it computes one."""
    named = routine.name.lstrip("_").startswith("log_")
    return named and routine.returned is not None and bool(tensors_in(routine.returned)) and not _gives_back(routine)


def _of_each(routine: Routine) -> bool:
    """Whether what is named like a comparison of two objects compares the elements of what they hold, and does not say
    of the whole that it is not equal."""
    if routine.name not in EQUALS or routine.returned is None or not tensors_in(routine.returned):
        return False
    told = options(routine.returned)
    return not any(
        (type(one) is Const and type(one.value) is bool) or (type(one) is Host and one.kind == "bool") for one in told
    )


def readies(routine: Routine, places: Places) -> bool:
    """Whether what is named like setup is given what a step brings: `init_state(model, input_ids)`."""
    node = routine.node
    if type(node) is not FUNCTION or not places.is_("cold", "readying", routine.name):
        return False
    return any(places.is_("cold", "brought", param.name) for param in node.params)


def _gives_back(routine: Routine) -> bool:
    """Whether a function gives nothing but what it was given, as it was: `return loss`."""
    node = routine.node
    if type(node) is not FUNCTION:
        return False
    bound = {part.id for part in bound_in(node.body) if type(part) is NAME}
    given = {param.name for param in node.params} - bound
    leaves = (part for part in walk(node.body) if type(part) is LEAVE and part.what == "return")
    return all(type(leave.value) is NAME and leave.value.id in given for leave in leaves)


def clicked(routine: Routine, places: Places) -> bool:
    """Whether a function stands in a file that makes an interface for people, or is what a command starts: it runs when
    one of them asks for it."""
    if places.is_("cold", "starters", routine.given_to):
        return True
    home, owner = routine.home, routine.owner
    if home.interface is None:
        libraries = (held.name.partition(".")[0] for held in home.env.values() if type(held) is Named)
        home.interface = any(places.is_("cold", "interfaces", library) for library in libraries)
    return home.interface and not (owner is not None and owner.is_module)


def undone(routine: Routine, places: Places) -> bool:
    """Whether what a method does to the weights is done once, until another method of its class undoes it."""
    owner, name = routine.owner, routine.name.removeprefix("un")
    return owner is not None and places.is_("cold", "undone", name) and owner.find(f"un{name}") is not None


def exported(routine: Routine, places: Places) -> bool:
    """Whether a class is made to be exported: its methods are traced once, or check what was. A base that is
    exportable tells no such thing (`class Speech(Model, Exportable)`): what is trained can be exported as well."""
    owner = routine.owner
    return owner is not None and (
        places.is_("cold", "exportable", owner.name)
        or (owner.is_module and places.is_("cold", "export_modules", owner.name))
        or any(places.is_("cold", "exporters", info.name) for info in owner.mro)
    )


def deprecated(routine: Routine, places: Places) -> bool:
    """Whether a function says, whenever it is called, that it should not be."""
    node = routine.node
    if type(node) is not FUNCTION:
        return False
    runs = [part.value for part in node.body if type(part) is RUN]
    return any(_deprecates(part, places) for part in runs) or any(
        places.is_("cold", "deprecators", last_name(part)) for part in node.decorators
    )


def _deprecates(call: core.Node, places: Places) -> bool:
    if type(call) is not CALL:
        return False
    kinds = (*call.args[1:2], *[value for name, value in call.keywords if name == "category"])
    return places.is_("cold", "deprecators", last_name(call.fn)) or any(
        places.is_("cold", "deprecations", last_name(kind)) for kind in kinds
    )


def test_file(routine: Routine, places: Places) -> bool:
    return places.is_test(routine.home.path)
