"""A function in, whether it does whenever it is called what is seldom done out: it writes a file, reads a checkpoint,
makes parameters, rewrites the graph of a model."""

from __future__ import annotations

from collections.abc import Iterator

from syncguard.infer.branches.meant import plainly
from syncguard.infer.branches.stepping import called_path
from syncguard.infer.branches.subjects import last_name, path_of
from syncguard.infer.domain.values import Named
from syncguard.infer.routine import Routine
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, COMP, CONST, FUNCTION, IF, LEAVE, LOOP, NAME, RUN, WITH
from syncguard.read.walk import around, walk


def writes(routine: Routine, places: Places) -> bool:
    """Whether each call of a function writes a file, and no memory: `np.savez(path, x)`, `with open(path, "w"):`,
    behind no test and in no loop."""
    if uses(routine, places.memories):
        return False
    each = [*_each(routine)] if type(routine.node) is FUNCTION and not routine.node.decorators else []
    contexts = [context for part in each if type(part) is WITH for context, _ in part.items]
    return any(type(one) is CALL and _opens(one) for one in contexts) or any(
        type(run) is RUN and places.is_("cold", "writers", called_path(call)) for run, call in _each_call(routine)
    )


def _opens(call: core.Call) -> bool:
    """Whether this opens a new file to write into: `open(path, "w")`, `path.open("wb")`."""
    if last_name(call.fn) != "open":
        return False
    modes = [value for name, value in call.keywords if name == "mode"] or call.args[1 if type(call.fn) is NAME else 0 :]
    mode = modes[0] if modes else None
    return type(mode) is CONST and type(mode.value) is str and mode.value[:1] in ("w", "x")


def loads(routine: Routine, places: Places) -> bool:
    """Whether each call of a function reads a checkpoint, or several: `state = torch.load(path)`; what gives one of
    many samples may read a file for each."""
    if places.is_("host", "item_methods", routine.name) or places.is_("cold", "readers_of_each", routine.name):
        return False
    return any(places.is_("cold", "readers", called_path(call)) for _, call in _each_call(routine, looped=True))


def keeps_files(routine: Routine, places: Places) -> bool:
    """Whether a function reads a checkpoint, but where it has not got it yet, or writes a file, and no memory."""
    parts = walk(routine.node.body)
    first = [part for part in parts if type(part) is IF and _lacks(plainly(part.test, True)[0])]
    at_first = {id(part) for one in first for part in walk(one.body)}
    calls = [called_path(part) for part in parts if type(part) is CALL and id(part) not in at_first]
    if any(places.is_("cold", "readers", path) for path in calls):
        return True
    written = any(places.is_("cold", "writers", path) or places.is_("cold", "keepers", path) for path in calls)
    return written and not uses(routine, places.memories)


def _lacks(test: Node) -> bool:
    """Whether this asks if an object has not got something yet: `self.net is None`."""
    match test:
        case core.Do(what="is", args=(core.Attr(), core.Const(value=None))):
            return True
    return False


def makes_parameters(at: At, routine: Routine, places: Places) -> bool:
    """Whether a place of a function is never reached without parameters being made, or set to what they are at first:
    `weight = nn.Parameter(x)`. No optimizer knows of these yet."""
    node = routine.node
    block = node.body if type(node) is FUNCTION else ()
    while block:
        if any(_makes_one(part.value, places) for part in _said(block)):
            return True
        block = next((arm for part in block for arm in _arms(part) if any(around(one.at, at) for one in arm)), ())
    return False


def _makes_one(value: Node | None, places: Places) -> bool:
    """Whether a value is made so, or what a method makes of a parameter: `nn.Parameter(x).cpu()`."""
    if type(value) is CALL and places.is_("cold", "parameters", called_path(value)):
        return True
    while type(value) is CALL and type(value.fn) is ATTR:
        value = value.fn.of
        if type(value) is CALL and places.is_("cold", "parameter", called_path(value)):
            return True
    return False


def _said(block: tuple[Node, ...]) -> Iterator[core.Run | core.Bind | core.Leave]:
    for part in block:
        if type(part) is RUN or type(part) is BIND or type(part) is LEAVE:
            yield part


def _arms(part: Node) -> tuple[tuple[Node, ...], ...]:
    if type(part) is IF:
        return part.body, part.orelse
    return (part.body,) if type(part) is WITH or type(part) is LOOP else ()


def rewrites_graph(routine: Routine, places: Places) -> bool:
    """Whether a function is given the graph of a model, or has one compiled anew: `graph_module.recompile()`."""
    node = routine.node
    if type(node) is not FUNCTION:
        return False
    if any(param.annotation is not None and _of_graph(param.annotation, routine, places) for param in node.params):
        return True
    return uses(routine, places.rewrites)


def _of_graph(annotation: Node, routine: Routine, places: Places) -> bool:
    """Whether something is declared to be a graph of torch.fx, or a part of one."""
    if type(annotation) is CONST:
        return isinstance(annotation.value, str) and places.is_("cold", "graphs", annotation.value)
    root, _, rest = path_of(annotation).partition(".")
    held = routine.home.env.get(root)
    named = f"{held.name}.{rest}".rstrip(".") if type(held) is Named else ""
    return places.is_("cold", "graphs", named or last_name(annotation))


def uses(routine: Routine, names: frozenset[str]) -> bool:
    """Whether a function names one of these, as its calls are told."""
    node = routine.node
    return type(node) is FUNCTION and not all(names.isdisjoint(asked) for asked in node.uses.values())


def _each_call(routine: Routine, looped: bool = False) -> Iterator[tuple[Node, core.Call]]:
    """The statements of a function that stand behind no test, and in no loop unless these are asked for as well, and
    the calls that they make."""
    for part in _each(routine, looped):
        value = part.value if type(part) is RUN or type(part) is BIND or type(part) is LEAVE else None
        each = value.body if looped and type(value) is COMP else (value,)
        for call in each:
            if type(call) is CALL:
                yield part, call


def _each(routine: Routine, looped: bool = False) -> Iterator[Node]:
    """These statements."""
    node = routine.node
    todo = [*node.body] if type(node) is FUNCTION else []
    while todo:
        part = todo.pop()
        if type(part) is WITH or (looped and type(part) is LOOP):
            todo += part.body
        yield part
