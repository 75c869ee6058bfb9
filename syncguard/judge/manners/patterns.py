"""A sighting and what surrounds it in, its hazard as a person would name it out; '' where it is no hazard here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import lines_of
from syncguard.infer.domain.contents import tensors_in
from syncguard.infer.domain.values import Why, came_from_device
from syncguard.infer.functions.wrappers import thin
from syncguard.infer.home import Home
from syncguard.infer.parts import WORDS
from syncguard.infer.project import World
from syncguard.infer.routine import Routine
from syncguard.infer.sightings import Sighting
from syncguard.judge.manners.learnt import learns
from syncguard.judge.manners.moving import copied_again, made_there
from syncguard.judge.manners.written import in_bfloat16, stays, with_itself
from syncguard.read import core
from syncguard.read.core import At
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION
from syncguard.read.walk import walk
from syncguard.terms import BACKWARD, SETUP, UPLOAD, Heat

VALIDATION: Final = WORDS[0]
NEAR: Final = 3  # lines between a synchronize and the clock that it is for


def hazard_of(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """The hazard of a sighting, looked at in its place."""
    if sighting.hazard.startswith(BACKWARD):
        return sighting.hazard if learns(sighting, routine, world) else ""
    refine = REFINE.get(sighting.hazard)
    return sighting.hazard if refine is None else refine(sighting, routine, world, heat)


def moved(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """A copy to the device: of what came from there, or of what could have been built there."""
    why = sighting.why
    if came_from_device(why):
        return "host-round-trip"
    root = None if why is None else why.root
    built = world.places.tables["factories"]["built"]
    if any(one is not None and one.text in built and one.at not in routine.filled for one in (root, _made(why, world))):
        return "built-on-host"
    return sighting.hazard


def _made(why: Why | None, world: World) -> Why | None:
    """What a tensor was made by, that views of it are passed over: `torch.arange(n.max())` of `.. [None]`, whatever its
    size was computed of."""
    while why is not None and why.text.rpartition(".")[2] in world.places.tables["views"]["names"]:
        why = why.parent
    return why


def fetched(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """What a function writes, of what it is given, into a tensor that it makes on the host is there already for all
    that it tells, unless it names a device: `found = torch.zeros(n); found[0] = x.sum()`. A model would be on one, but
    for one that is made there, and moved nowhere, before it is saved, or is made and brought there at once."""
    if made_there(sighting, routine, world):
        return ""
    if world.places.is_("manners", "saves", sighting.op.rpartition(".")[2]) and stays(sighting, routine, world):
        return ""
    if heat == "hot" or routine.owner is not None or not world.places.is_("manners", "written", sighting.op):
        return sighting.hazard
    root = None if sighting.why is None else sighting.why.root
    given = root is not None and (root.text == "parameter" or root.text.partition(":")[0] == "use")
    node = routine.node
    if (
        not given
        or type(node) is not FUNCTION
        or any(world.places.is_("names", "devices", p.name) for p in node.params)
    ):
        return sighting.hazard
    moves = ("device", *world.places.tables["manners"]["moves"])
    pieces = walk(node.body)
    names = any(type(part) is ATTR and part.name in moves for part in pieces)
    calls = [part for part in pieces if type(part) is CALL]
    names = names or any(key in ("device", "pin_memory") for call in calls for key, _ in call.keywords)
    there = any(tensor.device == "device" for seen in routine.seen.values() for tensor in tensors_in(seen))
    return sighting.hazard if names or there else ""


def synchronized(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """An explicit synchronize beside a clock is there to time, one behind several copies that do not block lands them,
    one where a graph is captured or memory is given back is asked for, as is what a short function of that name is
    called for, and one in a file of benchmarks; outside of steps that is all that it does."""
    line = sighting.at[0]
    if world.places.measures(routine.home.path):
        return ""
    if any(abs(line - clock) <= NEAR for clock in routine.clocks):
        return "timing-by-synchronize" if heat in ("hot", "amortized") else ""
    if heat != "hot" and (
        lands(sighting, routine)
        or captures(sighting, routine, world)
        or frees(sighting, routine)
        or renames(sighting, routine)
    ):
        return ""
    measures = (
        bool(routine.clocks)
        or world.places.is_("cold", "measuring", routine.name)
        or (routine.owner is not None and world.places.is_("cold", "measuring_classes", routine.owner.name))
    )
    return "" if measures and heat != "hot" else sighting.hazard


def lands(sighting: Sighting, routine: Routine) -> bool:
    """Whether several copies were started above a wait that nothing else has waited for: one in a loop is several."""
    line, loops = sighting.at[0], len(sighting.context.loops)
    last = max((s.at[0] for s in routine.sightings.values() if s.hazard == "synchronize" and s.at[0] < line), default=0)
    return sum(1 + (around > loops) for copy, around in routine.copies.items() if last < copy < line) > 1


def captures(sighting: Sighting, routine: Routine, world: World) -> bool:
    """Whether a graph is captured behind this, or as often, which takes a wait of its own; its replays take none."""
    ops = world.places.tables["cold"]["captures"]
    loops = {step.node.at for step in sighting.context.loops}
    return any(
        other.op in ops and (sighting.at < other.at or loops <= {step.node.at for step in other.context.loops})
        for other in routine.sightings.values()
    )


def frees(sighting: Sighting, routine: Routine) -> bool:
    """Whether memory is given back beside this."""
    line = sighting.at[0]
    others = routine.sightings.values()
    return any(other.hazard == "empty-cache" and abs(other.at[0] - line) <= NEAR for other in others)


def renames(sighting: Sighting, routine: Routine) -> bool:
    """Whether a short function is another name for this, and left to other files: they are told at their calls."""
    named = sighting.op.rpartition(".")[2] in routine.name and not routine.readers
    return named and not sighting.context.loops and thin(routine)


def repeated(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """Freeing the cache matters where it happens again and again, not where it answers a failure."""
    return sighting.hazard if (sighting.context.loops or heat == "hot") and not sighting.context.failing else ""


def debugging(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """A switch behind a flag was not left on."""
    return "" if sighting.context.gate else sighting.hazard


def validated(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """Validation can be switched off for the whole program, by whatever is imported."""
    if says(routine.home, "validation_off", world):
        return ""
    for home in world.first(routine.home, VALIDATION, routine):
        if says(home, "validation_off", world):
            return ""
    return sighting.hazard


def says(home: Home, what: str, world: World) -> bool:
    """Whether a file calls or sets what these patterns tell of."""
    return any(world.places.is_("advice", what, name) for name in home.called)


def loaded(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """A DataLoader that does not pin matters where its batches are moved, and more than the first is taken, or that
    again and again; its file moves none of one that it only keeps."""
    if sighting.op not in world.places.tables["hot"]["loop_iterables"]:
        return sighting.hazard
    if not routine.home.moves_batches or _left(sighting.at, routine):
        return ""
    calls = (part for part in walk(routine.node.body) if type(part) is CALL)
    again = heat == "hot" or sighting.context.loops
    return sighting.hazard if again or not any(_first_of(call, sighting.at) for call in calls) else ""


def _left(at: At, routine: Routine) -> bool:
    """Whether what stands there is kept by an attribute that the file has no name for anywhere else."""
    for part in walk(routine.node.body):
        if type(part) is not BIND or not any(one.at == at for one in walk(part.value)):
            continue
        target = part.targets[0]
        if type(target) is ATTR and target.path.startswith("self."):
            return len(lines_of(target.name, routine.home)) == 1 and not any(map(_made_up, routine.home.pieces))
    return False


def _made_up(part: core.Node) -> bool:
    """Whether this asks for an attribute by a name that is not written there."""
    return (
        type(part) is CALL
        and last_name(part.fn) == "getattr"
        and len(part.args) > 1
        and type(part.args[1]) is not CONST
    )


def _first_of(call: core.Call, at: At) -> bool:
    """Whether this is `next(iter(...))` of what stands there."""
    inner: core.Node = call
    for name in ("next", "iter"):
        if type(inner) is not CALL or last_name(inner.fn) != name or not inner.args:
            return False
        inner = inner.args[0]
    return inner.at == at


def unprecise(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """Matmul precision matters where a model is trained and nobody set it."""
    home = routine.home
    return sighting.hazard if home.steps and not says(home, "precision", world) else ""


def compared(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """Of a tensor and itself the host knows that they are equal, where a row says that only other memory is asked."""
    op = world.op(sighting.op)
    asks = op is not None and any(condition == "compared" for wait in op.waits for condition, _ in wait.when)
    return "" if asks and with_itself(sighting, routine) else sighting.hazard


def read_inside(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """A call that reads what is of another dtype reads nothing of what is written to be of the right one."""
    return "" if in_bfloat16(sighting, routine, world) else sighting.hazard


def set_up(sighting: Sighting, routine: Routine, world: World, heat: Heat) -> str:
    """To move a module is setup, but for a step that does it each time, and copies what it moves."""
    moves = sighting.op.rpartition(".")[2] in world.places.tables["manners"]["moves"]
    return UPLOAD if heat == "hot" and moves and copied_again(sighting, routine, world.places) else SETUP


REFINE: Final[dict[str, Callable[[Sighting, Routine, World, Heat], str]]] = {
    "copy-to-host": fetched, UPLOAD: moved, "synchronize": synchronized, "empty-cache": repeated,
    "unpinned-loader": loaded, "matmul-precision": unprecise, "debugging-on": debugging,
    "distribution-validation": validated, SETUP: set_up, "tensor-equality": compared, "hidden-read": read_inside,
}  # fmt: skip
