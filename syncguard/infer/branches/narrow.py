"""A test and its outcome in, what it tells of the variables out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from syncguard.infer.branches.arms import recalled
from syncguard.infer.branches.keyed import beside
from syncguard.infer.branches.meant import answer, meant
from syncguard.infer.branches.ranks import of_rank, ranked
from syncguard.infer.branches.receivers import kept_on_host
from syncguard.infer.domain.contents import without
from syncguard.infer.domain.lattice import join_all
from syncguard.infer.domain.sureness import MASKS, number_sureness
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Call,
    ClassOf,
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
    is_array,
    options,
)
from syncguard.infer.routine import Frame, of_part
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, CALL, CONST, DO, EITHER, FUNCTION, INDEX, LET, NAME, SEQ

EQUAL: Final = ("is", "is not", "==", "!=")


def path_of(node: Node) -> str:
    """The name or dotted path that narrowing can speak of, or ''."""
    if type(node) is NAME:
        return node.id
    if type(node) is ATTR:
        return node.path
    if type(node) is INDEX:
        return _key_path(node)
    return node.target.id if type(node) is LET and type(node.target) is NAME else ""


def item_path(node: core.Index) -> str:
    """The same of an item under a name: `batch[key]`."""
    return f"{node.of.id}[{node.key.id}]" if type(node.of) is NAME and type(node.key) is NAME else ""


def _key_path(node: core.Index) -> str:
    """The same of what a dict holds under a text that is written out, `state["step`, or under a name."""
    if type(node.key) is NAME:
        return item_path(node)
    named = type(node.of) is NAME or type(node.of) is ATTR
    if not named or type(node.key) is not CONST or not isinstance(node.key.value, str):
        return ""
    holder = path_of(node.of)
    return f'{holder}["{node.key.value}' if holder else ""


def narrowed(test: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    """The variables about which the test's outcome tells something, with what they are then; of a part of one, noted to
    be forgotten when the variable is bound again."""
    told = _told(test, outcome, frame)
    for path in told:
        if of_part(path):
            holder, _, key = path.partition("[")
            frame.dotted.update((holder.partition(".")[0], key.removesuffix("]")))
    if not any('["' in path for path in told):
        return told
    found: dict[str, Value] = {}
    for path, value in told.items():
        holder, _, key = path.partition('["')
        held = found.get(holder) or frame.env.get(holder) if key else None
        if type(held) is Table:
            found[holder] = Table({**held.items, key: value}, held.element, held.keys)
        elif not key:
            found[path] = value
    return found


def _told(test: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _truth(inner, outcome, frame)
        case core.Do(what="not", args=(inner,)):
            return _told(inner, not outcome, frame) if type(inner) in (DO, EITHER) else {}
        case core.Either(what=what, operands=operands):
            found = [_told(operand, outcome, frame) for operand in operands]
            if (what == "and") is outcome:
                return {key: value for one in found for key, value in one.items()}
            return _one_of(found, frame)
    return {}


def _one_of(found: list[dict[str, Value]], frame: Frame) -> dict[str, Value]:
    """What one of several outcomes tells, of which nobody knows which it is: of what each speaks of, the kinds are out
    that none of them leaves. A kind that only a test names is believed where nothing else is left."""
    names = [name for name in found[0] if '["' not in name and all(name in one for one in found)]
    return {name: _left([one[name] for one in found], frame.env.get(name, UNKNOWN)) for name in names}


def _left(outcomes: list[Value], before: Value) -> Value:
    left = [value for value in outcomes if value is not UNKNOWN]
    if len(left) < len(outcomes) and any(type(option) is Unknown for option in options(before)):
        return before  # of which one outcome leaves all that it may be
    those = [option for value in left for option in options(value)]
    tensor = any(type(option) is Tensor for option in those)
    kept = without(before, lambda o: not (tensor if type(o) is Tensor else any(o is other for other in those)))
    return kept if kept is not UNKNOWN else join_all(left or [UNKNOWN])


def _truth(inner: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    told = _asked(inner, outcome, frame)
    test = meant(inner, frame) if type(inner) is NAME else None
    if test is not None:
        told = {**_told(test, outcome, frame), **told}
    return {**recalled(inner, outcome, frame), **told} if frame.arms else told


def _asked(inner: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    if type(inner) is DO:
        return _compared(inner, outcome, frame) if inner.what in EQUAL else _told(inner, outcome, frame)
    if type(inner) is CALL:
        return _called(inner, outcome, frame)
    if type(inner) is EITHER:
        return _told(inner, outcome, frame)
    path = path_of(inner) if outcome else ""
    value = value_at(inner, frame) if path else UNKNOWN
    return {path: without(value, _falsy)} if any(_falsy(option) for option in options(value)) else {}


def _compared(inner: core.Do, outcome: bool, frame: Frame) -> dict[str, Value]:
    """What it tells that two things are the same, or are not."""
    match inner:
        case core.Do(what=what, args=(subject, core.Const(value=None))):
            return _none(subject, (what in ("is", "==")) is outcome, frame)
        case core.Do(
            what=what,
            args=(core.Call(fn=core.Name(id="type"), args=(subject,)), core.Name() | core.Attr() as kind),
        ):
            return _isinstance(subject, kind, (what in ("is", "==")) is outcome, frame)
        case core.Do(what="==" | "!=" as what, args=(core.Name(id=key), core.Const(value=str() as said))) if (
            frame.keyed
        ):
            return beside(key, said, (what == "==") is outcome, frame)
        case core.Do(what="==" | "!=" as what, args=(core.Attr(of=subject, name="dtype"), kind)):
            return _dtype(subject, kind, (what == "==") is outcome, frame)
        case core.Do(what="==" | "!=" as what, args=(asked, core.Const(value=int(rank)))) if of := ranked(asked):
            equal = (what == "==") is outcome
            return of_rank(path_of(of), value_at(of, frame), rank) if equal else {}
    return {}


def _called(inner: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    """What the answer of a function tells of what it was asked for."""
    match inner:
        case core.Call(fn=fn, args=(subject, kinds)) if type(fn) is NAME and fn.id == "isinstance":
            return _isinstance(subject, kinds, outcome, frame)
        case core.Call(fn=core.Name(id="hasattr"), args=(subject, core.Const(value=str() as name))):
            return _has(subject, name, outcome, frame)
        case core.Call(fn=core.Attr() as fn, args=(subject,)) if frame.world.is_type_test(_dotted(fn, frame)):
            return _kept(subject, outcome, frame, lambda option: type(option) is Tensor)
        case core.Call(fn=core.Name() as fn, args=(subject,)) if said := _none_asked(fn, frame):
            return _none(subject, (said == "is") is outcome, frame)
    return {}


def _falsy(option: Value) -> bool:
    return type(option) is Const and not option.value


def _dotted(fn: core.Attr, frame: Frame) -> str:
    value = frame.lookup(fn.of.id) if type(fn.of) is NAME else UNKNOWN
    return f"{value.name}.{fn.name}" if type(value) is Named else ""


def _none_asked(fn: core.Name, frame: Frame) -> str:
    """'is' or 'is not', where a function of one line only asks that of what it is given and None: `exists(mask)`."""
    called = frame.lookup(fn.id)
    node = called.routine.node if type(called) is Call else None
    if type(node) is not FUNCTION or len(node.params) != 1:
        return ""
    match answer(node):
        case core.Do(what=what, args=(core.Name(id=name), core.Const(value=None))):
            return what if what in ("is", "is not") and name == node.params[0].name else ""
    return ""


def value_at(node: Node, frame: Frame) -> Value:
    """What a part of a test holds, without a word."""
    from syncguard.infer.expressions.evaluate import quiet_value

    return quiet_value(node.target if type(node) is LET else node, frame)


def _none(subject: Node, is_none: bool, frame: Frame) -> dict[str, Value]:
    path = path_of(subject)
    if not path:
        return {}
    if is_none:
        return {path: NONE}
    value = value_at(subject, frame)
    return (
        {path: without(value, lambda option: option is NONE or (type(option) is Const and option.value is None))}
        if type(value) is not Unknown
        else {}
    )


def _dtype(subject: Node, kind: Node, equal: bool, frame: Frame) -> dict[str, Value]:
    """`x.dtype == torch.bool` tells the class of a tensor; where it is not bool, a mask by name is an index."""
    path = path_of(subject)
    asked = value_at(kind, frame) if path else UNKNOWN
    value = value_at(subject, frame) if path else UNKNOWN
    if type(asked) is not Host or not asked.kind.startswith("dtype:"):
        return {}
    told = asked.kind[6:]
    if type(value) is not Tensor or (not equal and not (told == "bool" and value.dtype in MASKS)):
        return {}
    return {path: value.but(dtype=told if equal else "int")}


def _kept(subject: Node, outcome: bool, frame: Frame, wanted: Callable[[Value], bool]) -> dict[str, Value]:
    path = path_of(subject)
    if not path:
        return {}
    value = value_at(subject, frame)
    if not outcome:
        return {path: without(value, wanted)}
    kept = without(value, lambda option: not wanted(option))
    if kept is UNKNOWN:
        if all(type(option) is Host and option.read is not None for option in options(value)):
            return {}  # a number that was read before is no tensor
        of = next((option for option in options(value) if type(option) is Unknown and option.batch is not None), None)
        kept = (
            Tensor(device=_place(subject, frame), why=frame.why("isinstance", subject.at))
            if of is None
            else Tensor(device="host", why=of.batch, pinned=of.pinned)
        )
    return {path: kept.but(sure=True) if type(kept) is Tensor else kept}


def _place(subject: Node, frame: Frame) -> str:
    """Where a tensor is of which nothing but its name is known."""
    return "host" if kept_on_host(subject, frame) else frame.world.place(frame.routine)


def _has(subject: Node, name: str, outcome: bool, frame: Frame) -> dict[str, Value]:
    """`hasattr(x, "item")` is true of a tensor, and not of a number of Python."""
    path = path_of(subject)
    if not path or frame.world.op(f"torch.Tensor.{name}") is None:
        return {}
    value = value_at(subject, frame)
    unlike = (lambda option: number_sureness(option) > 0) if outcome else (lambda option: type(option) is Tensor)
    return {path: without(value, unlike)} if any(map(unlike, options(value))) else {}


def _isinstance(subject: Node, kinds: Node, outcome: bool, frame: Frame) -> dict[str, Value]:
    path = path_of(subject)
    if not path:
        return {}
    named = kinds_of(kinds, frame)
    names = [value.name for value in named if type(value) is Named]
    if any(frame.world.is_tensor_type(name) for name in names):
        alone = len(names) == len(named) and all(map(frame.world.is_tensor_type, names))
        if alone or not outcome:
            found = _kept(subject, outcome, frame, lambda option: type(option) is Tensor)
            return found if alone else {path: without(found.get(path, UNKNOWN), lambda option: _is_a(option, names))}
        return _tensor_or(named, subject, path, frame)
    value = value_at(subject, frame)
    if outcome:
        kept = tuple(option for option in options(value) if _of_kind(option, named, frame))
        if kept:
            return {path: without(value, lambda option: not _of_kind(option, named, frame))}
        if len(named) == 1:
            return {path: _instance_of(named[0], frame)}
        if not all(type(kind) is ClassOf or type(kind) is Named for kind in named):
            return {path: UNKNOWN}
        numbers = bool(names) and {*names} <= {"builtins.int", "builtins.float", "builtins.bool"}
        return {path: Host("number") if numbers else join_all([_instance_of(kind, frame) for kind in named])}
    return {path: without(value, lambda option: _of_kind(option, named, frame))}


def _tensor_or(named: list[Value], subject: Node, path: str, frame: Frame) -> dict[str, Value]:
    """What has been found to be a tensor or of one of other types."""
    held = value_at(subject, frame)
    if not any(type(option) is Unknown for option in options(held)):
        numbers = any(number_sureness(option) for option in options(held)) and _no_number(named)
        left = without(held, lambda option: number_sureness(option) > 0) if numbers else UNKNOWN
        return {} if left is UNKNOWN else {path: left}
    kinds = (Tensor, Unknown)
    left = without(held, lambda option: type(option) not in kinds and not _of_kind(option, named, frame))
    if any(type(option) is Tensor for option in options(left)):
        return {path: left}
    why = frame.why("isinstance", subject.at)
    return {path: Union((Tensor(device=_place(subject, frame), sure=False, why=why), *options(left)))}


def kinds_of(kinds: Node, frame: Frame) -> list[Value]:
    """The types that a value is tested for: one, several in a tuple, or a name for such a tuple."""
    if type(kinds) is SEQ:
        return [kind for part in kinds.items for kind in kinds_of(part, frame)]
    if type(kinds) is DO and kinds.what == "|":
        return [kind for part in kinds.args for kind in kinds_of(part, frame)]
    value = value_at(kinds, frame)
    return list(value.items) if type(value) is Seq and value.items is not None else [value]


def _of_kind(option: Value, kinds: list[Value], frame: Frame) -> bool:
    """Whether a value is of one of these types."""
    names = [kind.name for kind in kinds if type(kind) is Named]
    if type(option) is not Instance:
        return _is_a(option, names)
    if option.info is None:
        return any(frame.world.is_subclass(option.name, name) for name in names)
    return any(type(kind) is ClassOf and kind.info in option.info.mro for kind in kinds)


def _no_number(kinds: list[Value]) -> bool:
    """Whether none of these types is one of numbers."""
    return all(
        type(kind) is ClassOf
        or (type(kind) is Named and not kind.name.startswith("builtins.") and not kind.name.startswith("numbers."))
        for kind in kinds
    )


KINDS: Final = {"int": ("int", "size", "bool"), "float": ("float",), "bool": ("bool",), "str": ("str",)}


def _is_a(option: Value, names: list[str]) -> bool:
    for name in names:
        last = name.rpartition(".")[2]
        if _builtin(option, last) if name.startswith("builtins.") else _abstract(option, last):
            return True
    return False


def _builtin(option: Value, name: str) -> bool:
    if type(option) is Seq:
        return option.kind == name
    if type(option) is Table:
        return name == "dict"
    kind = option.kind if type(option) is Host else type(option.value).__name__ if type(option) is Const else ""
    return kind in KINDS.get(name, ()) or (kind == "number" and name in ("int", "float"))


def _abstract(option: Value, name: str) -> bool:
    if type(option) is Seq:
        return name in ("Sequence", "Iterable", "Collection")
    if type(option) is Table:
        return name in ("Mapping", "MutableMapping")
    return is_array(option) and name == "ndarray"


def _instance_of(kind: Value, frame: Frame) -> Value:
    match kind:
        case ClassOf(info=info):
            return Instance(info)
        case Named(name=name):
            last = name.rpartition(".")[2]
            if name.startswith("builtins."):
                simple = {
                    "list": Seq("list", None),
                    "tuple": Seq("tuple", None),
                    "dict": Table({}),
                    "set": Seq("set", None),
                }
                return simple.get(last) or Host(last if last in KINDS else "object")
            return Instance(None, name)
    return UNKNOWN
