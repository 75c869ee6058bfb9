"""Targets and values in, the frame's variables bound: assignments, unpacking, and containers changed in place."""

from __future__ import annotations

from syncguard.infer.branches.arms import forget
from syncguard.infer.branches.failures import complains
from syncguard.infer.branches.stepping import looped
from syncguard.infer.branches.subjects import alike, item_path
from syncguard.infer.classes import class_of
from syncguard.infer.domain.contents import tensor_in
from syncguard.infer.domain.reasons import because_of
from syncguard.infer.domain.sureness import CERTAIN, MASKS
from syncguard.infer.domain.values import (
    NONE,
    TO_COME,
    UNKNOWN,
    Const,
    Host,
    Instance,
    Named,
    Seq,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    Why,
    batch_of,
    came_from_device,
    is_array,
    options,
)
from syncguard.infer.expressions import methods
from syncguard.infer.expressions.containers import modules_in
from syncguard.infer.expressions.elements import element_of
from syncguard.infer.expressions.evaluate import quiet_value, value_of
from syncguard.infer.expressions.libraries import done
from syncguard.infer.expressions.masks import foreseen, mask, picks
from syncguard.infer.expressions.operate import binary
from syncguard.infer.expressions.subscript import picked_there, read_index
from syncguard.infer.functions.annotations import promised
from syncguard.infer.operations.apply import apply
from syncguard.infer.operations.indices import index_parts, one_element
from syncguard.infer.operations.kin import as_tensor, operand
from syncguard.infer.routine import Env, Frame
from syncguard.infer.statements.collected import accumulated, stays
from syncguard.infer.statements.declaring import announce, promise
from syncguard.infer.statements.effects import fetched, moved_parts, proved
from syncguard.infer.statements.extents import as_sizes
from syncguard.infer.statements.filling import fills_alone
from syncguard.infer.statements.fleeting import fleeting
from syncguard.infer.statements.holders import container_in, filled, hold, holding, texts_of, under_key
from syncguard.infer.statements.naming import told
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CONST, DO, INDEX, NAME, SEQ


def store(target: Node, value: Value, frame: Frame, source: Node | None = None) -> None:
    """Bind a value to a target; `source` is the expression that it is the value of, where there is one."""
    match target:
        case core.Name(id=name):
            if value is NONE and name in frame.home.core.rebound and frame.routine is frame.home.top:
                # A function will put there what it is.
                device = frame.world.places.is_("names", "devices", name)
                value = Host("device:assumed") if device else UNKNOWN
            value = told(name, name, foreseen(name, value, source, frame), target.at, frame)
            if name in frame.dotted:
                outdate(name, frame)
            frame.env[name] = value
            hold(name, value, source, frame)
            if frame.arms:
                forget(name, frame)
            if frame.failed:
                frame.failed.pop(name, None)
        case core.Attr():
            of = value_of(target.of, frame)
            value = told(target.path, target.name, value, target.at, frame)
            if target.path:
                frame.dotted.add(target.path.partition(".")[0])
                outdate(target.path, frame)
                frame.env[target.path] = value
            for option in options(of):
                if type(option) is Named:
                    done(f"{option.name}.{target.name}={value.value if type(value) is Const else ''}", frame)
                elif (info := class_of(option)) is not None and target.at not in fleeting(frame.routine):
                    frame.world.learn(info, target.name, value, frame)
        case core.Seq():
            unpack(target, value, frame, source)
        case core.Index():
            write(target, value, frame, source or target)


def outdate(name: str, frame: Frame) -> None:
    """A name or an attribute is bound anew: what is known of its attributes and items, and of items under it, is of
    what it was."""
    known = {key for key in frame.env if key.startswith((f"{name}.", f"{name}[")) or key.endswith(f"[{name}]")}
    if known:
        frame.env = {key: held for key, held in frame.env.items() if key not in known}


def unpack(target: core.Seq, value: Value, frame: Frame, source: Node | None) -> None:
    wanted = target.items
    value = as_sizes(value, target, source, frame)
    if type(value) is Tensor and not value.sure and value.why is not None and is_part(value.why.parent):
        value = Unknown(value.why)  # `edges, size = part.to(device)`: so it is no tensor, but a container of them
    starred = next((i for i, part in enumerate(wanted) if type(part) is DO), -1)
    exact = None
    for option in options(value):
        parts = option.items if type(option) is Seq else _parts(option)
        if parts is not None and (len(parts) == len(wanted) or (starred >= 0 and len(parts) >= len(wanted) - 1)):
            exact = parts
    if exact is None and starred < 0 and type(source) is SEQ:
        exact = spread(source, len(wanted), frame)
    if exact is None:
        element = element_of(value, target.at, frame)
        exact = tuple([Seq("list", None, element) if i == starred else element for i in range(len(wanted))])
    elif starred >= 0:
        end = len(exact) - (len(wanted) - 1 - starred)
        exact = (*exact[:starred], Seq("list", exact[starred:end]), *exact[end:])
    aligned = type(source) is SEQ and len(source.items) == len(wanted) and starred < 0
    sources = source.items if type(source) is SEQ and aligned else None
    for i, part in enumerate(wanted):
        inner = part.args[0] if type(part) is DO and i == starred else part
        store(inner, exact[i], frame, sources[i] if sources else None)


def spread(source: core.Seq, wanted: int, frame: Frame) -> tuple[Value, ...] | None:
    """The items of a display that takes up nobody knows how many of one thing, where so many are unpacked: the first
    two of three in `*x.shape, y` are sizes."""
    stars = [i for i, part in enumerate(source.items) if type(part) is DO and part.what == "*"]
    several = wanted - len(source.items) + 1
    if len(stars) != 1 or several < 0:
        return None
    at, values = stars[0], [quiet_value(part, frame) for part in source.items]
    return (*values[:at], *[element_of(values[at], source.at, frame)] * several, *values[at + 1 :])


def is_part(why: Why | None) -> bool:
    """Whether this is the reason of what a loader gave, as it came."""
    return why is not None and why.text in ("batch", "pinned batch")


def _prepared(value: Value) -> bool:
    """Whether this is all that was prepared of texts or images at once: what holds its tensors moves them."""
    return type(value) is Unknown and not value.part and value.batch is not None and value.batch.text == "prepared"


def _parts(value: Value) -> tuple[Value, ...] | None:
    return value.info.parts() if type(value) is Instance and value.info is not None else None


def write(target: core.Index, value: Value, frame: Frame, source: Node) -> None:
    """`of[key] = value`."""
    of, key = value_of(target.of, frame), value_of(target.key, frame)
    path = item_path(target)
    known = path in frame.env and tensor_in(of) is None
    beside = _under_other_texts(target, path, frame)
    before = _without(target, of, frame)
    refresh(target.of, frame)
    frame.env.update(beside)
    for option in options(of):
        option = as_tensor(option, "__setitem__")
        match option:
            case Tensor():
                setitem(target, option, mask(option, key, target.key, frame), value, frame, source)
            case Named(name=name) if (
                type(key) is Const and f"{name}.{key.value}" in frame.world.places.tables["debugging"]["environ"]
            ):
                if not (type(value) is Const and value.value in ("0", 0, "")):
                    frame.sight(target.at, name, "debugging-on", None, None, CERTAIN)
            case Host(kind="array"):
                tensor = tensor_in(value)
                if tensor is not None and tensor.on_device and one_element(key) and not _alongside(of, value):
                    apply(frame, frame.world.row("torch.Tensor.__float__"), target.at, [value], {}, (source,))
            case Seq():
                read_index(key, target, frame)
                rebind(target.of, filled(option, key, value, texts_of(target.key, frame)), frame)
            case Table():
                rebind(target.of, filled(before or option, key, value, texts_of(target.key, frame)), frame)
                _keep_without(target, before, value, frame)
            case Instance(info=None) if (inside := modules_in(option, frame)) is not None:
                rebind(target.of, option.holding(filled(inside, key, value)), frame)
            case Unknown():
                tensor = tensor_in(key)
                if picks(option, key, target.key, frame):
                    was = Tensor(sure=False, why=option.weak)
                    setitem(target, was, mask(was, key, target.key, frame), operand(value), frame, source)
                elif tensor is not None and tensor.on_device and tensor_in(value) is not None:
                    of = Tensor(device=tensor.device, sure=False, why=tensor.why)
                    setitem(target, of, key, value, frame, source)
    if known or (type(of) is Unknown and type(target.key) is CONST and path and _is_there(value)):
        frame.env[path] = value
        frame.dotted.add(path.partition("[")[0])


def _without(target: core.Index, of: Value, frame: Frame) -> Table | None:
    """A dict as it is without what was put under a name before, `r[k] = total(x[k])`, where that is replaced now:
    `r[k] = r[k].item()`."""
    if type(of) is not Table or type(target.of) is not NAME or type(target.key) is not NAME:
        return None
    held = frame.env.get(_place_of_rest(target.of.id, target.key.id))
    return held if type(held) is Table else of


def _keep_without(target: core.Index, rest: Table | None, value: Value, frame: Frame) -> None:
    """Note what a dict is without what it is given now, if that may be replaced: a tensor."""
    if rest is not None and tensor_in(value) is not None and type(target.of) is NAME and type(target.key) is NAME:
        frame.env[_place_of_rest(target.of.id, target.key.id)] = rest
        frame.dotted.update((target.of.id, target.key.id))


def _place_of_rest(name: str, key: str) -> str:
    """Where a frame has what a dict holds under other keys than this: it is outdated with both names."""
    return f"{name}[]-[{key}]"


def _under_other_texts(target: core.Index, path: str, frame: Frame) -> Env:
    """What is known of other items of a dict where one is set: each text is a place of its own."""
    if type(target.of) is not NAME or type(target.key) is not CONST or target.of.id not in frame.dotted:
        return {}
    texts = f'{target.of.id}["'
    return {name: held for name, held in frame.env.items() if name.startswith(texts) and name != path}


def _is_there(value: Value) -> bool:
    """Whether this is a tensor of the device, or was computed from some: `batch["mask"] = batch["mask"].cuda()`."""
    return value.on_device if type(value) is Tensor else type(value) is Unknown and value.weak is not None


def _alongside(of: Value, value: Value) -> bool:
    """Whether both may be an array and both a tensor: `make(4)[0, 0] = make(1)`, of one library at a time."""
    return type(of) is Union and any(map(is_array, options(value)))


def setitem(target: core.Index, of: Tensor, key: Value, value: Value, frame: Frame, source: Node) -> None:
    """`of[key] = value` for a tensor."""
    if not of.on_device and of.why is not None and brought(value, frame):
        frame.routine.filled.add(of.why.root.at)
    if type(value) is Unknown and any(type(part) is Tensor and part.dtype in MASKS for part in index_parts(key)):
        value = operand(value)  # what is made of tensors fills a part that nobody knows the size of: a tensor
    picked_there(of, target.key, frame)
    row = frame.world.row("torch.Tensor.__setitem__")
    apply(frame, row, target.at, [of, key, value], {}, (target.of, target.key, source))


def brought(value: Value, frame: Frame) -> bool:
    """Whether a value is an array that the code did not build from nothing, or a number of one."""
    if type(value) is Host and value.kind == "number":
        return True
    tensor = tensor_in(value)
    if tensor is None:
        return any(map(is_array, options(value)))
    return (
        came_from_device(tensor.why)
        or tensor.why is None
        or tensor.why.root.text not in frame.world.places.tables["factories"]["built"]
    )


def refresh(node: Node, frame: Frame) -> None:
    """Something is changed in place: what is known of its items is of what they were."""
    if type(node) is NAME and node.id in frame.dotted:
        frame.env = {key: held for key, held in frame.env.items() if not key.startswith(f"{node.id}[")}


def rebind(node: Node, value: Value, frame: Frame) -> None:
    """A container that was changed in place is held by the same name, and where that name took it from."""
    refresh(node, frame)
    if type(node) is NAME and node.id in frame.env:
        frame.env[node.id] = value
        source = frame.taken.get(node.id)
        if source is not None:
            rebind(source, value, frame)
    elif type(node) is ATTR:
        store(node, value, frame)
    elif type(node) is CALL:
        source = under_key(node)
        if source is not node:
            rebind(source, value, frame)
    elif type(node) is INDEX:
        holder = quiet_value(node.of, frame)
        of = container_in(holder, frame)
        if of is not None:
            grown = filled(of, quiet_value(node.key, frame), value, texts_of(node.key, frame))
            rebind(node.of, holding(holder, grown), frame)


def bind(node: core.Bind, frame: Frame) -> None:
    seen = len(frame.emitted)
    value = value_of(node.value, frame) if node.value is not None else UNKNOWN
    if (
        frame.context.loops
        and type(node.value) is DO
        and node.value.what == "+"
        and any(alike(node.targets[0], side) for side in node.value.args)
        and not stays(value)
    ):
        accumulated(
            frame, seen, node.targets[0], [side for side in node.value.args if not alike(node.targets[0], side)]
        )
    if node.annotation is not None:
        declared = promised(node.annotation, frame, frame.world.place(frame.routine))
        if node.value is None or (type(value) is Unknown and value.batch is None and declared is not UNKNOWN):
            value = declared
        elif (type(value) is Seq and value.items == () and type(declared) is Seq) or (
            type(value) is Table and not value.items and type(declared) is Table
        ):
            local = type(node.targets[0]) is NAME and fills_alone(node.targets[0].id, frame)
            made = type(value) is Table and value.element is not UNKNOWN  # by what fills it: `defaultdict(...)`
            first = value if local and made else declared
            value = because_of(first, frame.why(TO_COME, node.annotation.at)) if local else declared
        elif type(declared) is Tensor and type(value) is Unknown and value.batch is not None:
            value = declared.but(device="host", why=value.batch, pinned=value.pinned)
        elif type(declared) is Tensor and type(value) is Union:
            value = tensor_in(value) or value
        target = node.targets[0]
        if node.value is None and type(target) is NAME and target.id in frame.env:
            return
        if node.value is None and type(target) is ATTR:
            announce(target, declared, frame)
            return
        if value is NONE and declared is not UNKNOWN and type(target) is ATTR:
            promise(target, declared, frame)
    if value is UNKNOWN and around_loader(node, frame):
        value = frame.world.loader
    for target in node.targets:
        store(target, value, frame, node.value)


def around_loader(node: core.Bind, frame: Frame) -> bool:
    """Whether what nobody knows is given a loader and looped over: `bar = self.progress(loader)` gives its batches."""
    target, made = node.targets[0], node.value
    if type(target) is not NAME or type(made) is not CALL or target.id not in looped(frame):
        return False
    loader = frame.world.loader
    given = [quiet_value(arg, frame) for arg in made.args]
    return any(type(one) is Instance and one.name == loader.name for value in given for one in options(value))


def update(node: core.Update, frame: Frame) -> None:
    seen = len(frame.emitted)
    current = value_of(node.target, frame)
    value = value_of(node.value, frame)
    result = binary(node.what, current, value, node.at, (node.target, node.value), frame)
    if node.what in ("+", "-", "*x") and frame.context.loops and not (stays(current) or stays(value)):
        accumulated(frame, seen, node.target, [node.value])
    if type(current) is Tensor and current.device in ("host", "mixed") and type(result) is Tensor:
        result = result.but(device=current.device)  # in place: it stays where it is
    store(node.target, result, frame)


def effect(node: core.Run, frame: Frame) -> None:
    """An expression statement; `xs.append(v)` changes what `xs` holds."""
    call = node.value
    seen = len(frame.emitted)
    frame.unused = call.at
    fn = call.fn if type(call) is CALL and type(call.fn) is ATTR else None
    held = quiet_value(fn.of, frame) if fn is not None and fn.name in frame.world.moving else None
    batch = held is not None and (is_part(batch_of(held)) or _prepared(held))
    moved = fn is not None and type(held) is Unknown and not batch and moves_modules(fn.name, frame)
    surrounding = frame.surround(failing=True) if complains(call, frame) else frame.context
    frame.quiet += moved
    result = value_of(call, frame)
    given = frame.given
    frame.quiet -= moved
    frame.context = surrounding
    for path, there in moved_parts(node, frame).items():
        frame.env[path] = there
        if "." in path or "[" in path:
            frame.dotted.add(path.partition("[")[0].partition(".")[0])
    if fn is None or type(call) is not CALL:
        return
    proved(fn, frame)
    fetched(fn, frame)
    if type(result) is Tensor and result.pending and fn.name.endswith("_"):
        rebind(fn.of, result, frame)  # an in-place copy that is still under way
    if batch and type(result) is Unknown and result.weak is not None:
        # What a loader gives, or a tokenizer, moves its tensors in place, if nobody takes what `to` gives.
        rebind(fn.of, result, frame)
    if moved and held is UNKNOWN and type(result) is Instance and type(fn.of) is NAME and not frame.context.tests:
        rebind(fn.of, result, frame)  # `net.cpu()`
    if fn.name in methods.MUTATORS:
        holder = quiet_value(fn.of, frame)
        container = container_in(holder, frame)
        if container is not None and given[0] is call:
            _, args, keywords = given
            if fn.name == "append" and frame.context.loops and not any(map(stays, args)):
                accumulated(frame, seen, fn.of, (*call.args, *[value for _, value in call.keywords]))
            grown = methods.grown(container, fn.name, args, keywords, node.at, frame)
            rebind(fn.of, holding(holder, grown), frame)


def moves_modules(name: str, frame: Frame) -> bool:
    """Whether a method is called for its effect where nobody takes what it gives: a module moves in place, a tensor
    gives a copy that nobody would drop."""
    return name == "to" or name in frame.world.family
