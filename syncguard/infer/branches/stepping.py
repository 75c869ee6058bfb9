"""A loop in, why each of its turns is a step, and which loop around it takes many of them out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.feeding import feeds_itself
from syncguard.infer.branches.retries import retries
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.domain.values import UNKNOWN, Instance, Value, options
from syncguard.infer.routine import Frame
from syncguard.infer.sightings import Step
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, LOOP, NAME, RUN, WITH
from syncguard.read.walk import walk

FEEDS: Final = "the loop feeds"
CAPTURED: Final = "a CUDA graph captures what stands here"


def step_reason(node: core.Loop, iterated: Value, frame: Frame) -> str:
    """Why a loop runs once per training or inference step; '' for an ordinary loop."""
    if retries(node):
        return ""
    called = node.calls & frame.world.places.loop_calls
    if called:
        return f"the loop calls `{min(called)}`"
    places = frame.world.places
    if any(is_loader(option, frame) for option in options(iterated)):
        return "the loop iterates over a DataLoader"
    if node.iterable is not None:
        for name in _names_in(node.iterable, frame):
            if places.is_("hot", "loop_names", name.lower()) and not _in_turn(node, name.lower(), frame):
                return f"the loop iterates over `{name}`"
    return f"{FEEDS} `{model}` with what came of it" if (model := feeds_itself(node, frame)) else ""


def _in_turn(node: core.Loop, name: str, frame: Frame) -> bool:
    """Whether a loop over several loaders, by the name of what it goes through, goes through one in each turn."""
    if not frame.world.places.is_("names", "several_loaders", name):
        return False
    return any(type(part) is LOOP and part.iterable and loads(part, UNKNOWN, frame) for part in walk(node.body))


def waits_for_people(node: core.Loop, frame: Frame) -> str:
    """The gate of a loop each turn of which waits for somebody to go on: `cv2.waitKey(0)`, `plt.show()`."""
    pauses = frame.world.places.tables["gates"]["pauses"]
    if all(pause.rpartition(".")[2] not in node.calls for pause in pauses):
        return ""
    part = pause(node.body, pauses)
    return f"as often as somebody goes on, at line {part.at[0]}" if part is not None else ""


def pause(body: tuple[Node, ...], pauses: tuple[str, ...]) -> Node | None:
    """The statement of a block that waits for somebody to go on."""
    todo = [*body]
    while todo:
        part = todo.pop(0)
        if type(part) is WITH:
            todo[:0] = part.body
        call = part.value if type(part) is RUN or type(part) is BIND else None
        while type(call) is CALL and type(call.fn) is ATTR and type(call.fn.of) is CALL:  # `input("> ").strip()`
            call = call.fn.of
        if type(call) is CALL and called_path(call) in pauses and not _goes_on(call):
            return part
    return None


def called_path(call: core.Call) -> str:
    """The name that is called, as it is written."""
    return call.fn.path if type(call.fn) is ATTR else last_name(call.fn)


def _goes_on(call: core.Call) -> bool:
    """Whether a call waits no longer than it is told: `cv2.waitKey(1)`, `plt.show(block=False)`."""
    first = call.args[0] if call.args else None
    blocks = next((value for key, value in call.keywords if key == "block"), None)
    if type(blocks) is CONST and blocks.value is False:
        return True
    return type(first) is CONST and type(first.value) is int and first.value > 0


def epochs(step: Step, iterated: Value, frame: Frame) -> None:
    """Note where each turn of a loop is a step of its own, and the loop of epochs around one over a loader: what stands
    there runs once in many steps. A turn that only adds up gradients is no step, nor is one for each optimizer."""
    node, places = step.node, frame.world.places
    if type(node) is not LOOP or not step.reason:
        return
    around = frame.context.loops[-1] if frame.context.loops else None
    if step.reason.startswith(FEEDS):
        frame.routine.steps = node.at[0]
        if around is not None and not around.reason:
            around.steps = node.at[0]
        return
    drawn = loads(node, iterated, frame)
    whole = any(call in node.calls for call in places.tables["hot"]["loop_steps"]) and bool(node.calls & places.passes)
    many = node.iterable is None or counts(node.iterable, frame)
    takes = node.calls.issuperset(places.tables["hot"]["loop_takes"])  # each turn, and clears the gradients
    anew = takes and around is not None and type(around.node) is LOOP and _trains_anew(around.node, node, frame)
    many = many or anew or (takes and around is not None and type(around.node) is LOOP and by_epoch(around.node, frame))
    if not (drawn or (whole and many)):  # of `for x in batches` there may be one, or those of a step
        return
    frame.routine.steps = node.at[0]
    outer = around.node if around is not None else None
    if around is None or type(outer) is not LOOP:
        return
    trained = drawn and around.reason and node.calls & places.passes
    if not (trained or anew or by_epoch(outer, frame)):
        return
    if not (loads(outer, UNKNOWN, frame) or _steps_besides(outer.body, node, frame)):
        around.steps = node.at[0]


def trains_by(name: str, at: At, frame: Frame) -> None:
    """Note where a method of a library takes the steps of a whole training: `trainer.train()`."""
    if not frame.world.places.is_("hot", "runs", name) or any(step.reason for step in frame.context.loops):
        return
    frame.routine.steps = frame.routine.steps or at[0]
    for step in frame.context.loops:
        step.steps = step.steps or at[0]


def _trains_anew(outer: core.Loop, inner: core.Loop, frame: Frame) -> bool:
    """Whether each turn of a loop makes an optimizer for the inner loop, which is a training of its own."""
    made = (call for part in outer.body if part is not inner for call in walk(part) if type(call) is CALL)
    return any(
        frame.world.places.is_("hot", "optimizers", frame.world.decorator_name(call.fn, frame))
        for call in made
        if type(call.fn) is ATTR or type(call.fn) is NAME
    )


def by_epoch(node: core.Loop, frame: Frame) -> bool:
    """Whether a loop says that its turns are epochs: `for epoch in range(n)`, `for _ in range(opt.num_epochs)`."""
    parts = [part for part in (node.target, node.iterable) if part is not None]
    return any(frame.world.places.is_("hot", "loop_epochs", name.lower()) for name in _said(tuple(parts)))


def counts(iterable: Node, frame: Frame) -> bool:
    """Whether what is iterated over counts to as many steps as a training takes: `range(first, opt.iterations + 1)`."""
    return any(frame.world.places.is_("hot", "loop_counts", name) for name in _said(iterable))


def _said(part: Node | tuple[Node, ...]) -> list[str]:
    """The names that stand in a piece, or in pieces, each without what it is asked of."""
    return [last_name(one) for one in walk(part) if type(one) is NAME or type(one) is ATTR]


def loads(node: core.Loop, iterated: Value, frame: Frame) -> bool:
    """Whether a loop takes batches from a loader."""
    if any(is_loader(option, frame) for option in options(iterated)):
        return True
    names = _names_in(node.iterable, frame) if node.iterable is not None else ()
    return any(frame.world.places.is_("names", "loaders", name.lower()) for name in names)


def is_loader(value: Value, frame: Frame) -> bool:
    """Whether this is a DataLoader, or of a class of the project that descends from it."""
    if type(value) is not Instance:
        return False
    names = value.info.external() if value.info is not None else (value.name,)
    return any(frame.world.places.is_("hot", "loop_iterables", name) for name in names)


def _steps_besides(body: tuple[Node, ...], inner: core.Loop, frame: Frame) -> bool:
    """Whether a body calls what makes a step outside of this inner loop: to clear gradients around a loop that takes
    the steps itself makes none."""
    hot = frame.world.places.tables["hot"]
    takes = not inner.calls.isdisjoint(hot["loop_takes"])
    inside = {id(part) for part in walk(inner)}
    called = {last_name(part.fn) for part in walk(body) if type(part) is CALL and id(part) not in inside}
    makes = called & frame.world.places.loop_calls
    return bool(makes.difference(hot["loop_clears"]) if takes else makes)


def _names_in(node: Node, frame: Frame) -> list[str]:
    """The names of what is iterated over, as it is written, and of what was wrapped before: `bar = tqdm(loader)`."""
    if type(node) is CALL:
        found = [name for arg in node.args for name in _names_in(arg, frame)]
        return [*found, node.fn.name] if type(node.fn) is ATTR else found
    name = last_name(node)
    return [name, *(_wrapped(frame).get(name, ()) if type(node) is NAME else ())] if name else []


def looped(frame: Frame) -> frozenset[str]:
    """The names that this function loops over, by themselves or numbered."""
    written = frame.routine.written
    if written.looped is None:
        loops = [part.iterable for part in walk(frame.routine.node.body) if type(part) is LOOP and part.iterable]
        over = [part for node in loops for part in (node.args if type(node) is CALL else (node,))]
        written.looped = frozenset(part.id for part in over if type(part) is NAME)
    return written.looped


def _wrapped(frame: Frame) -> dict[str, tuple[str, ...]]:
    """The names that are given to the call whose result a name holds in this function."""
    written = frame.routine.written
    if written.wrapped is None:
        written.wrapped = {}
        for part in walk(frame.routine.node.body):
            if type(part) is BIND and type(part.value) is CALL:
                given = tuple(filter(None, map(last_name, part.value.args)))
                for target in part.targets:
                    if type(target) is NAME:  # `bar = enumerate(loader)`, and later `bar = tqdm(bar)`
                        written.wrapped[target.id] = (*written.wrapped.get(target.id, ()), *given)
    return written.wrapped
