"""An op's row and the arguments of one call in, the value of the call out; the waits that it causes go to the frame."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.contents import arrived, fetched, tensors_in, without
from syncguard.infer.domain.sureness import CERTAIN, LIKELY, MASKS, NO, POSSIBLE, tensor_sureness
from syncguard.infer.domain.values import (
    UNKNOWN,
    Const,
    Host,
    Instance,
    Seq,
    Tensor,
    Union,
    Unknown,
    Value,
    Why,
    is_array,
    options,
)
from syncguard.infer.domain.within import inside
from syncguard.infer.moved_once import moved_once
from syncguard.infer.operations.arguments import Arguments, as_if_tensor
from syncguard.infer.operations.conditions import sureness
from syncguard.infer.operations.devices import kept_on_host, place_asked
from syncguard.infer.operations.indices import index_parts, picks_from_host
from syncguard.infer.operations.kin import as_tensor
from syncguard.infer.operations.placed import asked_before, place_given, placed_by
from syncguard.infer.operations.results import operands, result_of
from syncguard.infer.operations.totals import added_up
from syncguard.infer.routine import Frame
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, CALL, DO, INDEX, NAME, SEQ
from syncguard.terms import BACKWARD, UPLOAD, Op, Wait

SIZE: Final = "tensor-as-size"
COUNTS: Final = ("int", "size", "shape", "number")  # what a tensor tells of its shape
READS: Final = frozenset(
    ("item", "python-number", "tensor-as-condition", "copy-to-host", "print-tensor", "tensor-equality")
)


def apply(
    frame: Frame, op: Op, at: At, args: list[Value], keywords: dict[str, Value], nodes: tuple[Node, ...]
) -> Value:
    """Run one torch callable over abstract arguments."""
    if Instance in map(type, args):
        shows = op.name.startswith("builtins.") and any(wait.hazard == "print-tensor" for wait in op.waits)
        args = [as_tensor(value, "__repr__" if shows else "") for value in args]
    if op.waits and args and nodes and type(args[0]) is Unknown:
        args = [_asked(op, args[0], nodes[0], frame, len(args) == 1), *args[1:]]
    arguments = Arguments(op.args, args, keywords, frame.world.default_device)
    tensors = operands(arguments)
    data = _data(op, arguments, tensors)
    placing = data or tensors
    why = frame.why(op.name, at, _cause([] if _takes_arrays(op) else placing, args))
    result = _told(op, arguments, placing, why) if op.returns else frame.world.silent(placing, why)
    if not tensors and type(result) is Tensor and _on_host(result, args, arguments, frame):
        result = result.but(device="host")
    if type(result) is Tensor and result.rank >= 0 and _several(nodes):
        result = result.but(rank=-1)  # `torch.ones(*shape)`
    if any(tensor.on_device and tensor.device != "mixed" for tensor in data) and not _takes_host(op, args):
        why.left = (
            result.device == "host" if type(result) is Tensor else type(result) is Host and result.kind == "array"
        )
    why.put = _put(result, placing)
    if op.name in frame.world.queries:
        _landed(frame)
    fetched = type(result) is Host and result.kind == "array" and arguments.get("force") is None
    if nodes and fetched and not frame.world.all_there:
        if args and type(args[0]) is Tensor and args[0].device == "assumed":
            _shown(frame, nodes[0])
        _fetched(frame, nodes[0])
    written = by_keyword(at, frame)
    why.only = placed_by(op, arguments, result, placing, nodes, written, frame)
    likely = arguments.if_tensors()
    first = args if likely is arguments else [as_if_tensor(value) for value in args[:1]]
    sures = [_sure(wait, op, at, likely, first, result, frame) for wait in op.waits]
    for n, wait in enumerate(op.waits):
        sure = sures[n]
        surest = [i for i, one in enumerate(op.waits) if one.hazard == wait.hazard and sures[i] >= sure] if sure else []
        if surest[:1] == [n]:  # what waits in several ways is told once, as it surely does
            operand, reason = _operand(wait, op, arguments, args, nodes, written)
            if operand is None and nodes and op.args[:1] == ("self",):
                operand = nodes[0]
            picked, also = _picked(wait, op, arguments, nodes, frame)
            asked = place_given(wait, op, nodes, written, frame) or asked_before(reason, frame)
            before = frame.surround(test=asked) if asked is not None else frame.context
            frame.sight(at, op.name, wait.hazard, picked or operand, reason or why, sure, also, tuple(surest))
            frame.context = before
            if wait.hazard == "synchronize":
                _landed(frame)
    _later(op, at, arguments, nodes, frame)
    if any(tensor.pending for tensor in tensors):
        _stale(frame, op, at, args, result, nodes)
    return _pending(result, arguments, tensors, why, op.name.rpartition(".")[2] in frame.world.views)


def _later(op: Op, at: At, arguments: Arguments, nodes: tuple[Node, ...], frame: Frame) -> None:
    """The waits of the backward of this call: of what is on the device, and of a kind that has gradients."""
    for wait in op.backward:
        name = wait.of or next(iter(arguments.named), "")
        sure = sureness(wait.when, arguments) if frame.world.in_version(wait.since, wait.until) else NO
        learnt = _learnt(arguments.get(name) or UNKNOWN) if sure else None
        if learnt is not None:
            place = op.args.index(name) if name in op.args else len(nodes)
            picked, also = _picked(wait, op, arguments, nodes, frame)
            operand = picked or (nodes[place] if place < len(nodes) else None)
            frame.sight(at, op.name, BACKWARD + wait.hazard, operand, learnt.why, min(sure, LIKELY), also)


def _learnt(value: Value) -> Tensor | None:
    """What gradients may go through of a value."""
    for option in options(value):
        if type(option) is Tensor and option.on_device and option.dtype not in WHOLE_NUMBERS:
            return option
    return None


def _told(op: Op, arguments: Arguments, placing: list[Tensor], why: Why) -> Value:
    """What a row says that a call gives back; what the host knows of a tensor, as its size, is not read from it."""
    result = result_of(op.name, op.returns, arguments, placing, why)
    known = type(result) is Host and result.kind in COUNTS and not op.waits
    return Host(result.kind) if type(result) is Host and known else result


def _takes_host(op: Op, args: list[Value]) -> bool:
    """Whether this copies only what is in a list to the host: a tensor itself has to be there, as an array is."""
    if _takes_arrays(op):
        return True
    copies = [wait for wait in op.waits if wait.hazard == "copy-to-host"]
    whole = bool(args) and type(args[0]) is Tensor
    return whole and bool(copies) and all("listed" in [key for key, _ in wait.when] for wait in copies)


def _takes_arrays(op: Op) -> bool:
    """Whether what this is given is an array, whatever it was taken for: nothing on the device shows what it makes."""
    return op.args[:1] == ("ndarray",)


def _put(result: Value, placing: list[Tensor]) -> bool:
    """Whether what was on the host is on the device now."""
    put = bool(placing) and type(result) is Tensor and result.on_device
    return put and not any(tensor.on_device for tensor in placing)


def _on_host(made: Tensor, args: list[Value], arguments: Arguments, frame: Frame) -> bool:
    """Whether what is made of no tensor that is known is on the host: in a function of the host, or of what was put
    there, unless it is asked for elsewhere."""
    if frame.routine.host and arguments.default_device == "host" and arguments.get("device") is None:
        return True
    return made.device == "assumed" and any(map(fetched, args)) and not place_asked(arguments)


def _data(op: Op, arguments: Arguments, tensors: list[Tensor]) -> list[Tensor]:
    """The operands that are no sizes, which are read as numbers: those tell where the result is."""
    named = [
        name for wait in op.waits if wait.hazard == SIZE for told, name in wait.when if told in ("tensor", "listed")
    ]
    sizes = [arguments.named.get(name) for names in named for name in names.split("|")]
    read = [tensor for value in sizes if value is not None for tensor in tensors_in(value)]
    return [tensor for tensor in tensors if not any(tensor is one for one in read)] if read else tensors


def _asked(op: Op, value: Unknown, node: Node, frame: Frame, alone: bool) -> Value:
    """The first argument of a function of torch that takes nothing but a tensor there; of `torch.where(c, a, b)` the
    other two tell where it runs."""
    method = op.name.rpartition(".")[0].rpartition(".")[2][:1].isupper()  # of a stream, a tensor, a distribution
    function = frame.world.computing(op.name) and not method
    if not function or not (frame.world.asks_tensor(op) or (alone and op.args[:1] == ("condition",))):
        return value
    if value.batch is not None:
        return Tensor(device="host", sure=False, why=value.batch) if fetched(value) else value
    why = frame.why(f"passed:{op.name}", node.at, value.weak)
    return Tensor(device=frame.world.place(frame.routine), sure=False, why=why)


def _cause(tensors: list[Tensor], args: list[Value]) -> Why | None:
    """Why we know of the first tensor on the device, else of the first tensor, else of an array that was read."""
    first: Why | None = None
    for tensor in tensors:
        if tensor.why is not None:
            if tensor.on_device:
                return tensor.why
            first = first or tensor.why
    if first is None:
        for value in args:
            if type(value) is Host and value.kind == "array" and value.read is not None:
                return value.read
    return first


def _several(nodes: tuple[Node, ...]) -> bool:
    """Whether a starred argument stands for nobody knows how many."""
    stars = [id(node) for node in nodes if type(node) is DO and node.what == "*"]
    return len(set(stars)) == len(stars) > 0


def _of_data(wait: Wait, op: Op, at: At, arguments: Arguments, result: Value, frame: Frame) -> Value:
    """What a call makes of data, where it may be given a tensor instead: that one's device is not where data goes."""
    name = next((name for condition, name in wait.when if condition in ("data", "data_or_unknown")), "")
    given = arguments.named.get(name)
    if type(given) is not Union or not any(type(option) is Tensor for option in given.options):
        return result
    if frame.world.stays(at, frame):
        return Host("number")
    arguments.named[name] = without(given, lambda option: type(option) is Tensor)
    found = result_of(op.name, op.returns, arguments, operands(arguments), frame.why(op.name, (0, 0, 0, 0)))
    arguments.named[name] = given
    return found


def _sure(wait: Wait, op: Op, at: At, arguments: Arguments, args: list[Value], result: Value, frame: Frame) -> int:
    if not frame.world.in_version(wait.since, wait.until):
        return NO
    sure = sureness(wait.when, arguments)
    if sure == NO and wait.hazard == TO_HOST and _kept(wait, at, arguments, frame):
        sure = LIKELY
    if sure == POSSIBLE and wait.hazard == UPLOAD and _arrives(wait, at, arguments, frame):
        sure = LIKELY
    if sure == NO or wait.on == "always":
        return sure
    if wait.on == "self":
        there = tensor_sureness(args[0]) if args else NO
        if args and type(args[0]) is Instance and args[0].device != "host":
            there = LIKELY  # an object whose state is on the device
    elif wait.on == "factory":
        there = {"assumed": LIKELY, "device": CERTAIN}.get(arguments.default_device, NO)
    elif wait.on == "result":
        there = tensor_sureness(_of_data(wait, op, at, arguments, result, frame))
    else:
        there = max((tensor_sureness(value) for value in arguments.values()), default=NO)
    return min(sure, there)


def _kept(wait: Wait, at: At, arguments: Arguments, frame: Frame) -> bool:
    """Whether this goes to a device that is the CPU unless a caller names another, and is added up there."""
    asked = next((names for condition, names in wait.when if condition == "to_host"), "")
    if not asked or kept_on_host(arguments, asked) is None:
        return False
    others = tuple([one for one in wait.when if one[0] != "to_host"])
    return sureness(others, arguments) != NO and added_up(at, frame)


def _arrives(wait: Wait, at: At, arguments: Arguments, frame: Frame) -> bool:
    """Whether this brings what an object has made on the host to the device, and nothing else does."""
    others = tuple([one for one in wait.when if one[0] != "pageable"])
    return sureness(others, arguments) > POSSIBLE and moved_once(at, frame.routine, frame.world)


TO_HOST: Final = "copy-to-host"  # the hazard of a copy
ON_HOST: Final = frozenset(
    ("pageable", "pinned", "host", "host_number")
)  # conditions that point at a culprit on the host
PICKED: Final = ("host_index", "host_mask")  # conditions that ask for parts of an index
WHOLE_NUMBERS: Final = ("int", *MASKS)  # what has no gradients
OF: Final = "of"  # no condition: the row names it
INDEXED: Final = {"mask", "zero_dim", "zero_dim_mask", "slice_bound", "integers"}
POINTED: Final = ON_HOST | {OF, "tensor", "single", "listed"} | INDEXED


def by_keyword(at: At, frame: Frame) -> dict[str, Node]:
    """Where the arguments by keyword of the call at this place are written."""
    call = frame.given[0]
    return dict(call.keywords) if type(call) is CALL and call.at == at else {}


def _operand(
    wait: Wait,
    op: Op,
    arguments: Arguments,
    args: list[Value],
    nodes: tuple[Node, ...],
    keywords: dict[str, Node],
) -> tuple[Node | None, Why | None]:
    """The argument that the wait is for, and why we think that it is on the device."""
    for condition, names in (*([(OF, wait.of)] if wait.of else ()), *wait.when):
        if condition in POINTED:
            for name in names.split("|"):
                value = arguments.get(name)
                if value is None or (condition != OF and not sureness(((condition, name),), arguments)):
                    continue
                place = op.args.index(name) if name in op.args else 0  # one tensor may be given under two names
                for part in (value,) if name in keywords else _parts(value, args):
                    own = zip(args[place:], nodes[place:], strict=False)
                    node = next((node for arg, node in own if arg is part), keywords.get(name))
                    found = inside(part, node, condition not in ON_HOST)
                    if found is not None:
                        return found
                    if condition == OF and node is not None:
                        return node, None
    pairs = list(zip(args, nodes, strict=False))
    pairs += [(arguments.named[name], node) for name, node in keywords.items() if name in arguments.named]
    if (spread := keywords.get("")) is not None:  # `**logs`
        given = {*op.args[: len(args)], *keywords}
        pairs += [(value, spread) for name, value in arguments.named.items() if name not in given]
    for device in (True, False):
        for value, node in pairs:
            found = inside(value, node, device)
            if found is not None:
                return found
    return None, None


def _picked(
    wait: Wait, op: Op, arguments: Arguments, nodes: tuple[Node, ...], frame: Frame
) -> tuple[Node | None, Why | None]:
    """The part of an index that is on the host, or the device that is named, and why we think so."""
    for condition, name in wait.when:
        left = kept_on_host(arguments, name) if condition == "to_host" else None
        if left is not None:
            return None, left.read
        place = op.args.index(name) if condition in PICKED and name in op.args else len(nodes)
        if place < len(nodes):
            parts, node = index_parts(arguments.get(name)), nodes[place]
            items = node.items if type(node) is SEQ and node.kind == "tuple" else ()
            written = items if len(items) == len(parts) else (node,) * len(parts)
            for part, own in zip(parts, written):
                if picks_from_host(part, len(parts) > 1):
                    found = inside(part, own, False)
                    return own, found[1] if found is not None else _unmoved(part, own.at, frame)
    return None, None


def _unmoved(part: Value, at: At, frame: Frame) -> Why | None:
    """Why a part of an index is on the host that is no tensor."""
    kinds = {"listed" if type(option) is Seq else "array" if is_array(option) else "" for option in options(part)}
    return frame.why(kinds.pop(), at) if len(kinds) == 1 and "" not in kinds else None


def _parts(value: Value, args: list[Value]) -> tuple[Value, ...]:
    """An argument; of a starred parameter, all that it takes: `x.view(n, m)`."""
    if type(value) is Seq and value.items and not any(arg is value for arg in args):
        return value.items
    return (value,)


def _pending(result: Value, arguments: Arguments, tensors: list[Tensor], why: Why, view: bool) -> Value:
    """A copy to the host that was not waited for may be read too early, and so may a view of it."""
    if type(result) is not Tensor or result.device != "host":
        return result
    asked = arguments.get("non_blocking")
    if type(asked) is Const and asked.value is True and any(t.on_device for t in tensors):
        return result.but(pending=why)
    pending = next((t.pending for t in tensors if t.pending), None) if view else None
    return result if pending is None else result.but(pending=pending)


def _stale(frame: Frame, op: Op, at: At, args: list[Value], result: Value, nodes: tuple[Node, ...]) -> None:
    """Reading a copy that is still under way, or computing with it on the host, gives what was there before."""
    if op.name.rpartition(".")[2] in frame.world.views:
        return  # a view shares the memory; it is not read yet
    if type(result) is Tensor and result.on_device:
        return  # the stream keeps the order
    if not any(wait.hazard in READS for wait in op.waits) and not (type(result) is Tensor and result.device == "host"):
        return
    for value, node in zip(args, nodes, strict=False):
        for option in options(value):
            if type(option) is Tensor and option.pending is not None:
                frame.sight(at, op.name, "stale-read", node, option.pending, LIKELY)


def _fetched(frame: Frame, node: Node) -> None:
    """An array can be had of a tensor on the host alone, so that is where the tensor is from here on."""
    while type(node) is CALL and type(node.fn) is ATTR and node.fn.name in frame.world.views:
        node = node.fn.of
    held = frame.env.get(node.id) if type(node) is NAME else None
    if type(node) is NAME and type(held) is Tensor and held.device == "assumed":
        frame.env[node.id] = held.but(device="host")


def _shown(frame: Frame, node: Node) -> None:
    """An array can be had of a tensor on the host alone, so what it was picked from was there: `x[mask].numpy()`."""
    views = frame.world.views
    while True:
        for key in [key for key in frame.routine.sightings if key[0] == node.at]:
            del frame.routine.sightings[key]
            frame.paid = {waited: at for waited, at in frame.paid.items() if at != node.at}  # nothing is left of it
        if type(node) is CALL and type(node.fn) is ATTR and node.fn.name in views:
            node = node.fn.of
        elif type(node) is INDEX or (type(node) is ATTR and node.name in views):
            node = node.of
        else:
            return


def _landed(frame: Frame) -> None:
    """After a synchronize, every copy that was under way has arrived."""
    for name, value in list(frame.env.items()):
        landed = arrived(value)
        if landed is not value:
            frame.env[name] = landed
