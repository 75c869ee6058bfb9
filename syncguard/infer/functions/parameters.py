"""A routine in, what its parameters hold out: annotations, defaults, use in the body, and what callers pass."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.above import asked_above
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.branches.ungiven import calls_of, private
from syncguard.infer.domain.contents import tensor_in
from syncguard.infer.domain.lattice import join
from syncguard.infer.domain.sureness import exact_kind
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Call,
    ClassOf,
    Const,
    Host,
    Instance,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    constant,
    kind_of,
    options,
)
from syncguard.infer.functions.batches import batch, evaluation, of_batch, of_evaluation
from syncguard.infer.functions.brought import before, brought
from syncguard.infer.functions.counted import but_counts, counted
from syncguard.infer.functions.declared import annotated
from syncguard.infer.functions.dtypes import dtype_given
from syncguard.infer.functions.hosts import keeps_data
from syncguard.infer.functions.inward import made_inward
from syncguard.infer.functions.numbers import asks_kind, is_data, made_tensor, tested
from syncguard.infer.functions.overriding import overriding
from syncguard.infer.functions.refined import counts, refined
from syncguard.infer.operations.targets import LEFT_ON_HOST, device_of, names_one
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Param
from syncguard.read.tags import BIND, CONST, FUNCTION, INDEX, NAME
from syncguard.read.walk import mentions, walk

CONTAINER: Final = frozenset(
    ("[key]", "items", "keys", "get", "pop", "append", "extend")
)  # what a dict or list is asked for, and no tensor
COUNTED: Final = frozenset(("(0len", "(0sum"))  # a tensor is asked for its shape and its sum


def bind(frame: Frame, node: core.Function) -> None:
    """Put the parameters into a fresh frame."""
    from syncguard.infer.statements.naming import hinted

    routine = frame.routine
    context = int(by_class(node)) if _differentiates(frame) else -1
    moved = brought(routine, frame.world)
    for position, param in enumerate(node.params):
        if position == context and routine.owner is not None:
            frame.env[param.name] = Instance(routine.owner)  # what forward puts on ctx, backward reads there
            continue
        if position == 0 and routine.owner is not None and param.name in ("self", "cls", "mcs"):
            is_class = param.name != "self" or by_class(node)
            owner = routine.actual or routine.owner
            there = "host" if frame.world.place(routine) == "host" and keeps_data(owner, frame.world) else "assumed"
            frame.env[param.name] = ClassOf(owner) if is_class else Instance(owner, device=there, settings=routine.kept)
            continue
        held = _others(frame, param) if param.kind == "**" else value(frame, param, position)
        if param.name in moved:
            held = before(held, param.name, routine, frame.world)
        frame.env[param.name] = hinted(param.name, held, frame)


def _others(frame: Frame, param: Param) -> Value:
    """What is passed by names that no parameter has: in a run for one call, what that passes; else what all calls do
    that the file makes, as far as they say under which names."""
    seen = frame.routine.seen.get(param.name)
    if type(seen) is not Table or not (frame.routine.aside or (frame.home.own and seen.element is UNKNOWN)):
        return Table({}, UNKNOWN)
    return seen


def _text(declared: Value) -> bool:
    """Whether a text is declared, or None: `device: str | None` names one."""
    kinds = [option for option in options(declared) if option is not NONE]
    return bool(kinds) and all(type(kind) is Host and kind.kind == "str" for kind in kinds)


def _differentiates(frame: Frame) -> bool:
    """Whether this is the forward or backward of a torch.autograd.Function, with the context first."""
    routine, owner = frame.routine, frame.routine.owner
    if owner is None or not owner.is_function or not frame.world.places.is_("hot", "function_methods", routine.name):
        return False
    return routine.name != "forward" or owner.find("setup_context") is None


def by_class(node: core.Node) -> bool:
    """Whether a function is a method of its class, which is given that before all else."""
    return type(node) is FUNCTION and any(type(one) is NAME and one.id == "classmethod" for one in node.decorators)


def value(frame: Frame, param: Param, position: int) -> Value:
    """What a parameter may hold."""
    routine, world = frame.routine, frame.world
    seen = _with_default(routine.seen.get(param.name), frame, param)
    elsewhere = routine.host and routine.aside and type(seen) is Tensor and seen.on_device
    place = "assumed" if elsewhere else world.place(routine)
    declared = annotated(frame, param, place)
    if _loader(frame, param):
        declared = UNKNOWN  # all that it says is what a loader is for
    if param.kind == "*":
        return _several(frame, param, position, declared, seen)
    if world.places.is_("names", "devices", param.name):
        there = _device(frame, param, declared, seen)
        if there is not None:
            return there
    if declared is not UNKNOWN:
        declared = _filled(declared, seen, frame, param, position)
        return _chosen(declared, seen) if routine.aside else _settled(declared, seen, frame, param)
    if world.places.is_("names", "dtypes", param.name):
        return dtype_given(param, seen, routine)
    if routine.aside and seen is not None and (exact_kind(seen) or _hosted(seen)):
        return seen  # this call passes it: neither a default nor its uses tell more
    default = param.default
    if type(default) is CONST and default.value is not None:
        known: Value = Host(kind_of(constant(default.value)))
        return known if seen is None else join(known, seen)
    found = _documented(frame, param, place) if param.told is not None else _by_use(frame, param, position)
    if found is UNKNOWN and not _typed(param):
        found = overriding(frame, param, position, place)
    if found is UNKNOWN and seen is None:
        found = _by_all_uses(frame, param, place)
    if default is not None and type(default) is CONST:
        found = join(found, NONE)
    if seen is None:
        return found
    if found is UNKNOWN or all(type(option) in (Host, Const) for option in options(seen)):
        return seen
    return _both(seen, found, frame, param)


def _filled(declared: Value, seen: Value | None, frame: Frame, param: Param, position: int) -> Value:
    """What is only declared to be a dict, in a step also a list (`batch: dict`): it holds what it would undeclared."""
    if seen is not None:
        return declared  # callers tell
    bare = type(declared) is Table and not declared.items and declared.element is UNKNOWN
    listed = type(declared) is Seq and declared.items is None and declared.element is UNKNOWN
    if not bare and not (listed and of_batch(frame.routine.node, param, position, frame.world.places)):
        return declared
    held = _forwarded(frame, param, position)
    if type(held) is not Unknown or held.weak is None:
        return held if type(held) is Table and bare else declared
    if type(declared) is Seq:
        return Seq(declared.kind, None, held)
    return Table({}, held, declared.keys) if type(declared) is Table else declared


def _both(seen: Value, found: Value, frame: Frame, param: Param) -> Value:
    """What calls give, and what its uses tell besides."""
    if type(found) is Unknown:
        return seen
    passed = tensor_in(seen)
    if type(found) is Tensor and passed is not None:  # that it is a tensor is no news: of which kind, callers tell
        found = found.but(dtype=found.dtype or passed.dtype, rank=found.rank if found.rank >= 0 else passed.rank)
    both = join(seen, found)
    there = _hosted(seen) and (_closed(frame, param) or made_inward(seen, found, param.name, frame))
    return both.but(device="host") if there and type(both) is Tensor else both


def _closed(frame: Frame, param: Param) -> bool:
    """Whether each call in the file gives a parameter of a private function something that is known, and there are no
    others."""
    routine, node = frame.routine, frame.routine.node
    own = frame.home.own and not routine.aside and private(routine) and not asked_above(routine)
    told = own and param.default is None and param.name not in routine.vague
    return told and type(node) is FUNCTION and bool(calls_of(node.name, frame.home))


def _hosted(seen: Value) -> bool:
    """Whether this is a tensor on the host, if it is one."""
    return type(seen) is Tensor and not seen.on_device and not seen.either


def _settled(declared: Value, seen: Value | None, frame: Frame, param: Param) -> Value:
    """What is declared, as all callers settle it: where each gives a number or a shape, it is no tensor."""
    counted = seen is not None and type(declared) is Tensor and counts(seen) and _closed(frame, param)
    return seen if counted and seen is not None else refined(declared, seen)


def _chosen(declared: Value, seen: Value | None) -> Value:
    """What a parameter holds in a call that may choose a device: that one, whatever others may choose."""
    return seen if seen is not None and names_one(seen) else refined(declared, seen, by_one=True)


def _device(frame: Frame, param: Param, declared: Value, seen: Value | None) -> Value | None:
    """The device that a parameter by such a name holds, as callers name it, or that it has by default; None where what
    is declared says more."""
    if seen is NONE and frame.routine.aside:
        return NONE  # this call leaves it out
    told = seen is not None and any(device_of(option) for option in options(seen))
    if not told and device_of(_default(param, frame)) == "host":
        return Host(LEFT_ON_HOST, frame.why("left on host", param.at))
    if declared is not UNKNOWN and not _text(declared):
        return None
    return seen if told else Host("device:assumed")


def _with_default(seen: Value | None, frame: Frame, param: Param) -> Value | None:
    """What callers were seen to pass; who leaves out a parameter that has a function for its default passes
    that: `transform=lambda loss: loss.item()`. A file that itself chooses no device leaves it open to others."""
    if seen is not None:
        seen = but_counts(seen, param.name, frame.routine, frame.world.places)
    if seen is NONE and not (frame.routine.aside or private(frame.routine)):
        return None if frame.world.places.is_("names", "devices", param.name) else seen
    if type(param.default) is not FUNCTION or (frame.routine.aside and seen is not None):
        return seen
    default = _default(param, frame)
    return seen if type(default) is not Call else default if seen is None else join(seen, default)


def _default(param: Param, frame: Frame) -> Value:
    """What a parameter holds where nobody gives it anything."""
    from syncguard.infer.expressions.evaluate import value_of

    return UNKNOWN if param.default is None else value_of(param.default, Frame(frame.world, frame.routine, {}))


def _documented(frame: Frame, param: Param, place: str) -> Value:
    """What the docstring says; it is not checked by anybody, so it is no proof."""
    if _typed(param):
        return UNKNOWN
    return Tensor(param.told or "", place, param.rank, sure=False, why=frame.why("docstring", param.at))


def _by_use(frame: Frame, param: Param, position: int) -> Value:
    """What its uses, or its place in a module's forward, tell of a parameter whose type nobody declared."""
    if _typed(param) and not _loader(frame, param):
        return UNKNOWN
    if of_evaluation(param, frame):
        return evaluation(param, frame)
    if frame.world.places.is_("names", "lists", param.name) and not _asked_as_tensor(frame, param):
        return Seq("list", None)
    found = frame.world.evidence(param.name, param.name, frame, param.at)
    if type(found) is Tensor and asks_kind(frame, param.name):
        return _forwarded(frame, param, position)  # what it is asked for is asked where it is known to be a tensor
    if found is None or (type(found) is Tensor and _replaced(frame, param)):
        return _forwarded(frame, param, position)
    return found


def _by_all_uses(frame: Frame, param: Param, place: str) -> Value:
    """What no use tells alone may follow from two: something that has a shape and `.dim()` is a tensor, unless a caller
    that we see passes something else."""
    world, uses = frame.world, frame.routine.node.uses.get(param.name, frozenset())
    if not uses or _typed(param) or _replaced(frame, param) or asks_kind(frame, param.name):
        return UNKNOWN
    if made_tensor(param.name, frame):
        return UNKNOWN
    shared, given = uses & world.together, world.computes(uses, frame)
    if "[,]" in uses and uses & world.sized and world.only_torch(frame):  # `x[:, :n]`, and `x.shape`
        return Tensor(device=place, sure=False, why=frame.why("torch only", param.at))
    if not given and not (len(shared) > 1 or (shared and uses & world.shaped)):
        return UNKNOWN
    told = given or f"use:{min(shared).removesuffix('()')}"
    return Tensor(device=place, sure=False, why=frame.why(told, param.at))


def _asked_as_tensor(frame: Frame, param: Param) -> bool:
    """Whether a parameter is asked for what only a tensor has."""
    node = frame.routine.node
    uses = node.uses.get(param.name, frozenset()) if type(node) is FUNCTION else frozenset()
    return "[,]" in uses or not uses.isdisjoint(frame.world.tensor_names)


def _replaced(frame: Frame, param: Param) -> bool:
    """Whether the name is given something else in the body, so that its uses do not tell what was passed."""
    node = frame.routine.node
    if param.default is not None or type(node) is not FUNCTION:
        return False
    written = frame.routine.written
    if written.replaced is None:
        written.replaced = frozenset(
            target.id
            for part in walk(node.body)
            if type(part) is BIND
            for target in part.targets
            if type(target) is NAME and not mentions(part.value, target.id)
        )
    return param.name in written.replaced


def _typed(param: Param) -> bool:
    """Whether the author said what a parameter is: then how it is used proves nothing more."""
    return param.annotation is not None and last_name(param.annotation) not in ("Any", "object")


def _loader(frame: Frame, param: Param) -> bool:
    """Whether a parameter that is called a loader is declared to be something to iterate over, and nothing else."""
    annotation = param.annotation
    of = annotation.of if type(annotation) is INDEX else annotation
    iterated = of is not None and last_name(of) in ("Iterable", "Iterator")
    return iterated and frame.world.places.is_("names", "loaders", param.name)


def _forwarded(frame: Frame, param: Param, position: int) -> Value:
    """A parameter of a module's forward holds a tensor if it is used as more than a flag."""
    routine = frame.routine
    node = routine.node
    if routine.owner is not None and of_batch(node, param, position, frame.world.places):
        return batch(param, frame)
    if routine.owner is None or type(node) is not FUNCTION:
        return UNKNOWN
    module = routine.owner.is_module and frame.world.places.is_("hot", "module_methods", routine.name)
    if not module and (not _differentiates(frame) or _replaced(frame, param)):
        return UNKNOWN
    uses = node.uses.get(param.name, frozenset())
    if "[name]" in uses:
        return UNKNOWN  # `getattr(self, f"head_{task}")`: no tensor is spelled
    if uses & (CONTAINER | COUNTED) or uses & frame.world.keepers:
        return Unknown(frame.why("forward", param.at))
    places = frame.world.places
    if is_data(node, param.name, frame):
        return UNKNOWN
    if param.name in counted(routine, places) or places.is_("names", "tables", param.name):
        return UNKNOWN
    called = any(use.endswith("()") and use[:-2] in frame.world.tensor_names for use in uses)
    if places.is_("names", "numbers", param.name) and not called:
        return UNKNOWN
    # What a forward calls, and the forward of an autograd.Function, take flags and sizes too.
    given = (
        param.default is None
        and routine.name in ("forward", "__call__", "backward")
        and (module or routine.name == "backward")
    )
    ranged = "[,]" in uses  # `labels[..., 1:]`
    if ranged or not uses.isdisjoint(frame.world.tensor_names):
        given = True
    elif given or any(use.startswith("(0self.") for use in uses):
        given = not tested(node, param.name)
    if given:
        return Tensor(device=frame.world.place(routine), sure=False, why=frame.why("forward", param.at))
    return UNKNOWN


def _several(frame: Frame, param: Param, position: int, declared: Value, seen: Value | None) -> Value:
    """What `*inputs` holds: all as declared, or each what callers give; of a module's forward nobody knows which."""
    if declared is not UNKNOWN:
        return Seq("tuple", None, declared)
    each = _forwarded(frame, param, position)
    return seen if type(seen) is Seq else Seq("tuple", None, Unknown(each.why) if type(each) is Tensor else each)
