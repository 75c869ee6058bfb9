"""A callee and its arguments in, the value of the call out: torch, the project, builtins, or somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncguard.infer.branches.stepping import is_loader, trains_by
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.building import built_on_host_by
from syncguard.infer.domain.contents import any_on_device, fetched
from syncguard.infer.domain.lattice import join, join_all
from syncguard.infer.domain.reasons import anew
from syncguard.infer.domain.sureness import LIKELY, POSSIBLE, built_on_host
from syncguard.infer.domain.values import (
    BROUGHT,
    NONE,
    UNKNOWN,
    Bound,
    Call,
    Callback,
    ClassOf,
    Const,
    Given,
    Host,
    Instance,
    Named,
    Seq,
    Table,
    Tensor,
    Unknown,
    Value,
    batch_of,
    is_array,
    options,
)
from syncguard.infer.expressions import containers, methods, unknowns
from syncguard.infer.expressions.collated import collated
from syncguard.infer.expressions.demanded import made_array
from syncguard.infer.expressions.libraries import constructed, imported
from syncguard.infer.expressions.named import name_given
from syncguard.infer.functions import promises
from syncguard.infer.functions.parameters import by_class
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.arguments import pins
from syncguard.infer.operations.kin import from_tensors, made_of
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import CALL, NAME
from syncguard.terms import Op

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo

DECLARED: Final = ("parameter", "annotation", "docstring")  # what tells of what is given
Keywords = dict[str, Value]
Nodes = tuple[Node, ...]


def invoke(fn: Value, args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """Call a value."""
    match fn:
        case Bound():
            return method(fn.of, fn.name, args, keywords, at, nodes, frame)
        case Named():
            if fn.given is not None:
                args, keywords = _after(fn.given, args, keywords)
                nodes = (*(core.Const(None, at) for _ in fn.given[0]), *nodes)
            return imported(fn.name, args, keywords, at, nodes, frame)
        case Call():
            if fn.given is not None:
                args, keywords = _after(fn.given, args, keywords)
            return frame.world.call(fn.routine, fn.receiver, args, keywords, at, frame)
        case ClassOf():
            return frame.world.construct(fn.info, args, keywords, at, frame)
        case Callback():
            return promises.instantiated(anew(fn.gives), [*args, *keywords.values()])
        case Instance():
            return of_instance(fn, args, keywords, at, nodes, frame)
        case Tensor() if fn.device == "host" and not fn.sure:
            return Unknown(batch=frame.why("loaded", at, fn.why))  # a method that no row tells of
        case Unknown():
            asked = batch_of(fn) is not None and not args and not keywords
            if asked:
                return fn
            listed = each(args) if of_model(at, frame) else []
            made = from_tensors([fn, *args, *keywords.values(), *listed], at, frame)
            return Unknown(batch=fn.batch) if made is UNKNOWN and fetched(fn) else made  # a model of the host
    limit = frame.limit
    frame.sometimes += 1
    if array_or_tensor([option.of for option in options(fn) if type(option) is Bound]):
        frame.limit = POSSIBLE  # both have the method, and an array's does not wait
    known = any(type(option) is Call for option in options(fn))  # then a name alone tells nothing more
    found = [
        invoke(option, args, keywords, at, _written(option, args, nodes), frame)
        for option in options(fn)
        if option is not fn
        and option is not NONE
        and not (known and type(option) is Bound and option.name in frame.world.sole)
    ]
    frame.limit = limit
    frame.sometimes -= 1
    return join_all([value for value in found if value is not UNKNOWN] or [UNKNOWN])


def _after(given: Given, args: list[Value], keywords: Keywords) -> tuple[list[Value], Keywords]:
    """The arguments of a call behind those that were given beforehand."""
    return [*given[0], *args], {**dict(given[1]), **keywords}


def _written(fn: Value, args: list[Value], nodes: Nodes) -> Nodes:
    """Where the arguments stand: what is no method here has no receiver, though another option may have one."""
    return nodes if type(fn) is Bound or len(nodes) == len(args) else nodes[1:]


def has_parameters(fn: Value) -> bool:
    """Whether this is a function of the project, or a class: each argument is for a parameter of its own."""
    return type(fn) in (Call, ClassOf) or (type(fn) is Bound and type(fn.of) is ClassOf)


def array_or_tensor(values: list[Value]) -> bool:
    return any(map(is_array, values)) and any(type(value) in (Tensor, Unknown) for value in values)


def of_instance(fn: Instance, args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """Call an instance: a module runs its forward."""
    world = frame.world
    if fn.info is not None:
        for name in ("forward", "__call__") if fn.info.is_module else ("__call__",):
            member = fn.info.find(name)
            if member is not None and type(member[0]) is Call:
                return world.call(member[0].routine, fn, args, keywords, at, frame)
        return (
            submodule(args, keywords, at, frame)
            if fn.info.is_module
            else from_tensors([*args, *keywords.values()], at, frame)
        )
    op = world.op(f"{fn.name}.forward") or world.op(f"{fn.name}.__call__")
    result: Value = UNKNOWN
    if op is not None:
        result = apply(frame, op, at, [fn, *args], keywords, ((nodes[0] if nodes else None), *nodes))  # type: ignore[arg-type]
    if result is UNKNOWN and world.is_module_class(fn.name):
        result = beside(fn, args, at, frame)
    return submodule(args, keywords, at, frame) if result is UNKNOWN else result


def of_model(at: At, frame: Frame) -> bool:
    """Whether what is called is named as a model is."""
    call = frame.given[0]
    named = type(call) is CALL and call.at == at
    return named and type(call) is CALL and frame.world.places.is_("names", "models", last_name(call.fn))


def each(values: list[Value]) -> list[Value]:
    """What lists hold that a call is given: `model([image.to(device) for image in images])`."""
    lists = [option for value in values for option in options(value) if type(option) is Seq and option.items is None]
    return [one.element for one in lists]


def beside(fn: Instance, args: list[Value], at: At, frame: Frame) -> Value:
    """What a module of a library makes where it was put on the host, or of a tensor that was built there: else one or
    the other would have to be moved first."""
    if fn.device == "host" and not any_on_device(args):
        return Unknown(batch=frame.why("placed", at))
    built = next((value for value in args if type(value) is Tensor and built_on_host(value)), None)
    if built is None or any_on_device(args):
        return UNKNOWN
    why = frame.why("module", at, built.why)
    why.built = True
    return Tensor(device="host", sure=False, why=why)


def submodule(args: list[Value], keywords: Keywords, at: At, frame: Frame) -> Value:
    """A module that we have not read, given tensors, gives tensors."""
    parent = from_tensors([*args, *keywords.values()], at, frame)
    if type(parent) is Unknown and parent.weak:
        return Tensor(sure=False, why=frame.why("module", at, parent.weak.parent))
    return parent


def applied(info: ClassInfo, args: list[Value], keywords: Keywords, at: At, frame: Frame) -> Value:
    """`apply` of a torch.autograd.Function: it runs its forward, which gives tensors."""
    member = info.find("forward")
    found: Value = UNKNOWN
    if member is not None and type(member[0]) is Call:
        context = [] if info.find("setup_context") else [Instance(info)]
        of = ClassOf(info) if by_class(member[0].routine.node) else None
        found = frame.world.call(member[0].routine, of, [*context, *args], keywords, at, frame)
    return submodule(args, keywords, at, frame) if type(found) is Unknown else found


def method(of: Value, name: str, args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame) -> Value:
    """Call a method of something that is not of the project."""
    world = frame.world
    if name in world.sole and not _told(of, name, frame) and (sole := world.op(world.sole[name])) is not None:
        limit, frame.limit = frame.limit, min(frame.limit, LIKELY)
        found = apply(frame, sole, at, [of, *args], keywords, nodes)
        frame.limit = limit
        return found
    match of:
        case Tensor():
            op = world.op(f"torch.Tensor.{name}")
            made_array(of, name, args, keywords, nodes, at, frame)
            if op is not None and not args and (handed_back(of, op, frame) or as_it_came(of, op, frame)):
                of = of.but(device="assumed")
            if op is None:
                return Host("array") if world.places.is_("names", "array_methods", name) else Unknown(of.why)
            return apply(frame, op, at, [of, *args], keywords, nodes)
        case Named():
            return imported(f"{of.name}.{name}", args, keywords, at, nodes[1:], frame)
        case Instance(info=None):
            op = world.op(f"{of.name}.{name}")
            if op is not None:
                found = containers.given(of, name, args, apply(frame, op, at, [of, *args], keywords, nodes), frame)
                return moved(of, found, nodes, frame) if world.is_module_class(of.name) else found
            library = world.host_library(of.name)
            trains_by(f"{of.name}.{name}", at, frame)
            return Host(library) if library else given_out(of, name, args, keywords, at, frame)
        case ClassOf(info=info):
            return applied(info, args, keywords, at, frame)
        case Instance(info=info) if info is not None:
            return inherited(of, info, name, args, keywords, at, nodes, frame)
        case Seq():
            return methods.sequence_method(of, name, args, keywords, at, nodes, frame)
        case Table():
            return methods.table_method(of, name, args)
        case Const() | Host():
            return methods.host_method(of, name, args, keywords, at, nodes, frame)
        case Unknown():
            return unknowns.method(of, name, args, keywords, at, nodes, frame)
    return made_of([*args, *keywords.values()], at, frame)


def given_out(of: Instance, name: str, args: list[Value], keywords: Keywords, at: At, frame: Frame) -> Value:
    """What an unknown method of a library's object makes; of a wrapped loader, its batches: `loader.load_data()`."""
    if not args and of.name == frame.world.loader.name and frame.world.places.is_("names", "loads", name):
        return of
    return made_of([*args, *keywords.values()], at, frame)


def _told(of: Value, name: str, frame: Frame) -> bool:
    """Whether what has a method is known to have it by itself, or to have none."""
    return of is NONE or (type(of) is Instance and of.info is None and frame.world.op(f"{of.name}.{name}") is not None)


def handed_back(of: Tensor, op: Op, frame: Frame) -> bool:
    """Whether a function of what prepares data fetches what it is given: that is what a model gave, and no item."""
    if not frame.routine.host or of.why is None or of.device != "host" or "host" not in op.returns.split():
        return False
    places, name = frame.world.places, frame.routine.name
    items = places.is_("host", "item_methods", name) or places.is_("host", "functions", name)
    return not items and of.why.root.text in DECLARED


def as_it_came(of: Tensor, op: Op, frame: Frame) -> bool:
    """Whether what was made of nobody knows what is brought to the host: that is what a tensor of the device needs, and
    nothing that was made here."""
    root = of.why.root if of.why is not None else None
    if (
        root is None
        or root.built
        or of.device != "host"
        or not frame.world.places.is_("factories", "converts", root.text)
    ):
        return False
    return op.returns.startswith("tensor") and "host" in op.returns.split()


def moved(of: Instance, found: Value, nodes: Nodes, frame: Frame) -> Value:
    """What a method of a module gives: where it is the module, put elsewhere, so is what its name stands for."""
    name = nodes[0].id if nodes and type(nodes[0]) is NAME else ""
    if type(found) is Instance and found.device != of.device and found.info is of.info and frame.env.get(name) is of:
        frame.env[name] = found
    return found


def inherited(
    of: Instance, info: ClassInfo, name: str, args: list[Value], keywords: Keywords, at: At, nodes: Nodes, frame: Frame
) -> Value:
    """A method that a class of the project has from an imported one, or that was not found at first."""
    world = frame.world
    if name in world.registrars and args and len(nodes) > 1 and (made := name_given(args[0], nodes[1], frame)):
        return world.register(info, made, args, keywords, at, frame)
    for base in info.libraries():
        op = world.op(f"{base}.{name}")
        if op is not None:
            return moved(of, apply(frame, op, at, [of, *args], keywords, nodes), nodes, frame)
        if name == "__init__" and constructed(base, args, keywords, at, nodes[1:], frame, info):
            return NONE
    if name in ("_replace", "_asdict") and (parts := info.parts()) is not None:
        return world.copied(of, keywords, frame) if name == "_replace" else Table(dict(zip(info.fields(), parts)))
    member = info.find(name, of.name == "super")
    if member is not None and type(member[0]) is Call:
        return world.call(member[0].routine, Instance(info), args, keywords, at, frame)
    for base in info.libraries():
        trains_by(f"{base}.{name}", at, frame)
    if name in ("get", "pop") and args and type(args[0]) is Const and isinstance(args[0].value, str):
        held = info.held(args[0].value, frame.routine)  # of a TypedDict
        if held is not None:
            return join(held, args[1] if len(args) > 1 else NONE)
    return made_of([*args, *keywords.values()], at, frame)


def _begun(loader: Instance, at: At, frame: Frame) -> None:
    """What a pass over a loader costs before it gives anything: it draws a seed. One of a class of its own that begins
    otherwise says so there."""
    if loader.info is not None and loader.info.find("__iter__") is not None:
        return
    home = frame.home
    if frame is home.frame and home.own and built_on_host_by(at, home.core.body, frame.world.places):
        return
    for name in loader.info.external() if loader.info is not None else (loader.name,):
        op = frame.world.op(f"{name}.__iter__")
        if op is not None and op.waits:
            apply(frame, op, at, [loader], {}, ())


def iterate(of: Instance, at: At, frame: Frame) -> Value:
    """What iterating over an instance gives: by its own methods, batches of a DataLoader, parameters of a module."""
    world = frame.world
    if is_loader(of, frame):
        _begun(of, at, frame)
    if BROUGHT in of.settings and is_loader(of, frame):
        frame.home.moves_batches = True
        return Unknown(frame.why("brought batch", at))
    if of.info is not None:
        for name in ("__iter__", "__getitem__"):
            member = of.info.find(name)
            if member is not None and type(member[0]) is Call:
                found = world.call(member[0].routine, of, [], {}, at, frame)
                return (
                    join_all([v.element if type(v) is Seq else UNKNOWN for v in options(found)])
                    if name == "__iter__"
                    else found
                )
    if is_loader(of, frame):
        if (made := collated(of, at, frame)) is not None:
            return made
        if world.default_device == "assumed":
            return Unknown(frame.why("made batch", at))
        pinned = pins(of.settings.get("pin_memory"))
        return Unknown(batch=frame.why("pinned batch" if pinned else "batch", at))
    inside = containers.modules_in(of, frame)
    if type(inside) is Seq and containers.tells(inside.element):
        return inside.element
    op = world.op(f"{of.name}.__iter__") if of.info is None else None
    if op is not None:
        found = apply(frame, op, at, [of], {}, ())
        return found.element if type(found) is Seq else found
    return UNKNOWN
