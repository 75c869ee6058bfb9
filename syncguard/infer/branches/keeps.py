"""Tests in, whether what they keep from running builds what is kept: what is not there yet, or has become too small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from syncguard.infer.branches.arms import steady
from syncguard.infer.branches.meant import answer, binders
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import UNUSED, Frame, Routine
from syncguard.infer.stores import registered
from syncguard.read import core
from syncguard.read.core import At, Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, FUNCTION, IF, INDEX, LEAVE, LOOP, NAME, RUN
from syncguard.read.walk import everything, named_in, walk

GROWS: Final = "where a table that is kept is too small"
BUILDS: Final = "where what is kept is not there yet"


def held(node: Node) -> bool:
    """Whether this is the size of what the instance keeps: `self.table.size(0)`, `self.max_seq_len_cached`."""
    of = _sized(node)
    if of is not None:
        return type(of) is ATTR and of.path.startswith("self.")
    return type(node) is ATTR and node.path.startswith("self.") and "cached" in node.name


def unbuilt(inner: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome of `self.table is None` is met once, for what runs there builds the table: an instance's, a
    class's, or one that the file keeps by a `global` name."""
    match inner:
        case core.Do(what="is" | "is not" as what, args=(core.Attr(path=path, name=name), core.Const(value=None))):
            if (what == "is") is not outcome:
                return False
            if path == f"self.{name}":
                return _keeps(_own(name, frame), frame)
            return path == f"cls.{name}" and _shares(path, frame)
        case core.Do(what="is" | "is not" as what, args=(core.Name(id=name), core.Const(value=None))):
            if (what == "is") is not outcome:
                return False
            kept = _stands_for(name, inner.at, frame)
            return _lacks(kept, frame) if kept else name in frame.home.core.rebound and _global(name, frame)
        case core.Do(what="is" | "is not" as what, args=(core.Call() as asked, core.Const(value=None))):
            name = _maybe(asked)
            return bool(name) and (what == "is") is outcome and _lacks(name, frame)
    return False


def _own(name: str, frame: Frame) -> str:
    """The attribute that an instance keeps under a name, or that a property of it gives: `return self._table`."""
    found = frame.routine.owner.find(name) if frame.routine.owner is not None else None
    member = found[0] if found is not None else None
    if type(member) is not Call or found is None:
        return name
    if not found[1].home.own:
        frame.routine.uses[found[1].home.path, member.routine.qualname] = None
    given = answer(member.routine.node)
    return given.name if type(given) is ATTR and given.path == f"self.{given.name}" else name


def _maybe(node: Node | None) -> str:
    """The attribute that is asked for with None where there is none yet: `getattr(self, "x", None)`."""
    match node:
        case core.Call(
            fn=core.Name(id="getattr"),
            args=(core.Name(id="self"), core.Const(value=str() as name), core.Const(value=None)),
        ):
            return name
    return ""


def _stands_for(name: str, at: At, frame: Frame) -> str:
    """The attribute that a name holds where it is asked for, if it is one that the instance may not have yet: `x =
    getattr(self, "x", None)`."""
    before = [part for part in binders(frame.routine).get(name, ()) if part.at[:2] < at[:2]]
    match before[0] if len(before) == 1 else None:
        case core.Bind(value=core.Attr(path=path, name=kept)) if path == f"self.{kept}":
            return kept
        case core.Bind(value=value):
            return _maybe(value)
    return ""


def lacking(call: core.Call, frame: Frame) -> bool:
    """Whether `hasattr(self, "table")` is denied once, for the method builds the table."""
    match call.args:
        case (core.Name(id="self"), core.Const(value=str() as name)):
            return _lacks(name, frame)
    return False


def _lacks(name: str, frame: Frame) -> bool:
    """Whether a method builds what an instance that lives long has not had before, and that no method deletes."""
    return _keeps(name, frame) and not any(
        _deletes(part, name)
        for method in methods(frame)
        for part in walk(method.node.body)
        if type(part) in (RUN, CALL)
    )


def _deletes(part: Node, name: str) -> bool:
    """Whether this takes an attribute from the instance: `del self.x`, `delattr(self, "x")`."""
    match part:
        case core.Run(value=core.Seq(items=items)):
            return any(type(item) is ATTR and item.path == f"self.{name}" for item in items)
        case core.Call(fn=core.Name(id="delattr"), args=(core.Name(id="self"), core.Const(value=value))):
            return bool(value == name)
    return False


def _registers(name: str, frame: Frame) -> bool:
    """Whether a method has the module register an attribute: `self.register_buffer("x", y)`."""
    node, registrars = frame.routine.node, frame.world.registrars
    asked = node.uses.get("self", frozenset()) if type(node) is FUNCTION else frozenset()
    if registrars.isdisjoint(asked):
        return False
    return any(found == name for part in walk(node.body) for found in registered(part, "self", registrars))


def strays(left: Node, right: Node, frame: Frame) -> bool:
    """Whether what an instance keeps is elsewhere than a tensor once, for the method moves it there and nothing moves
    it back: `self.table.device != x.device`."""
    return _strays(left, right, frame) or _strays(right, left, frame)


def _strays(kept: Node, other: Node, frame: Frame) -> bool:
    match kept:
        case core.Attr(of=core.Attr(path=path, name=name)) if path == f"self.{name}" and not _of_self(other):
            binds = [bind for method in methods(frame) for bind in set_in(method).get(path, ())]
            return len(binds) == 1 and _keeps(name, frame)
    return False


def renewed(operands: tuple[Node, ...], found: list[str], outcome: bool, frame: Frame) -> bool:
    """Whether nothing is asked but whether a table is there, and whether it was built for something else, or is to be
    built again: `self.table is None or self.key != key`, `self.table is None or again`."""
    from syncguard.infer.branches.guards import off_device

    if BUILDS not in found:
        return False
    rest = [operand for operand, gate in zip(operands, found, strict=True) if not gate]
    return all(
        _differs(one, outcome, frame) or off_device(one, outcome, frame) or _again(one, outcome, frame) for one in rest
    )


def _again(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome says that somebody has asked for it by a flag, which is no mode of training."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _again(inner, outcome, frame)
        case core.Do(what="not", args=(inner,)):
            return _again(inner, not outcome, frame)
        case core.Name(id=name):
            node = frame.routine.node
            params = [param for param in node.params if param.name == name] if type(node) is FUNCTION else []
            return outcome and any(map(_flag, params)) and steady(name, frame.routine) and not _mode(name, frame)
    return False


def _flag(param: core.Param) -> bool:
    """Whether a parameter is False by default, or must be told as yes or no."""
    if param.default is not None:
        return type(param.default) is CONST and param.default.value is False
    return type(param.annotation) is NAME and param.annotation.id == "bool"


def _mode(name: str, frame: Frame) -> bool:
    return frame.world.places.is_("names", "modes", name)


def _differs(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome says that what the instance keeps is not what is asked for; a count of steps never is."""
    match test:
        case core.Do(what="truth", args=(inner,)):
            return _differs(inner, outcome, frame)
        case core.Do(what="not", args=(inner,)):
            return _differs(inner, not outcome, frame)
        case core.Do(what="==" | "!=" as what, args=(left, right)) if (what == "!=") is outcome:
            from syncguard.infer.branches.lengthening import lengthens

            kept, other = (left, right) if _of_self(left) else (right, left)
            if not _of_self(kept) or _of_self(other) or type(other) is CONST or lengthens(other, kept, frame):
                return False
            return not any(_counts(one.id, frame) for one in walk(other) if type(one) is NAME)
    return False


def _counts(name: str, frame: Frame) -> bool:
    """Whether a name counts steps, or is what a method must be given and a loop of the file gives by that name, another
    one in each turn: `for t in timesteps: x = net(x, t)`."""
    is_ = frame.world.places.is_
    if is_("gates", "counters", name) or is_("gates", "steps_of_sampling", name):
        return True
    node = frame.routine.node
    params = [param for param in node.params if param.name == name] if type(node) is FUNCTION else []
    if not params or params[0].default is not None or name in binders(frame.routine):
        return False
    return any(_gives_turn(part, name) for part in frame.home.pieces if type(part) is LOOP)


def _gives_turn(loop: core.Loop, name: str) -> bool:
    """Whether a loop gives a call what each of its turns has, by this name."""
    if loop.target is None or not any(type(one) is NAME and one.id == name for one in walk(loop.target)):
        return False
    calls = [one for one in walk(loop.body) if type(one) is CALL]
    given = [one for call in calls for one in (*call.args, *[value for _, value in call.keywords])]
    return any(type(one) is NAME and one.id == name for one in given)


def _of_self(node: Node) -> bool:
    """Whether this is what the instance keeps, a part of it, or what that tells of itself."""
    if type(node) is ATTR and node.path:
        return node.path.startswith("self.")
    if type(node) is CALL:
        return type(node.fn) is ATTR and _of_self(node.fn)
    return (type(node) is INDEX or type(node) is ATTR) and _of_self(node.of)


def outgrown(node: core.If) -> bool:
    """Whether what follows a test builds a table anew: one that is large enough was given back, or left as it is.

    if table is not None:
        if table.size(0) >= n:
            return table
    """
    if node.orelse or not node.body:
        return False
    match node.test:
        case core.Do(what="truth", args=(core.Do(what=">" | ">=" | "<" | "<=" as what, args=(left, right)),)):
            large = left if ">" in what else right
            return _returned(node.body, _sized(large)) if not held(large) else False
        case core.Do(what="truth", args=(core.Do(what="is not", args=(table, core.Const(value=None))),)):
            last = node.body[-1]
            return type(last) is IF and _about(last, table) and (outgrown(last) or _left(last))
    return False


def _about(node: core.If, table: Node) -> bool:
    """Whether a test is for the size of this table."""
    match node.test:
        case core.Do(what="truth", args=(core.Do(args=(left, right)),)):
            return any((of := _sized(side)) is not None and _same(of, table) for side in (left, right))
    return False


def _left(node: core.If) -> bool:
    """Whether a function is left where a table that the instance keeps is large enough."""
    last = node.body[-1] if node.body else None
    match node.test:
        case core.Do(what="truth", args=(core.Do(what=">" | ">=" | "<" | "<=" as what, args=(left, right)),)):
            large = left if ">" in what else right
            return not node.orelse and held(large) and type(last) is LEAVE and last.what == "return"
    return False


def _returned(body: tuple[Node, ...], table: Node | None) -> bool:
    """Whether a block gives this back, or a part of it."""
    last = body[-1]
    if table is None or type(last) is not LEAVE or last.what != "return" or last.value is None:
        return False
    value = last.value.of if type(last.value) is INDEX else last.value
    return _same(value, table)


def _sized(node: Node) -> Node | None:
    """`x` of `x.size(0)`, `x.shape[0]` and `x.numel()`; None of anything else."""
    match node:
        case core.Call(fn=core.Attr(of=of, name="size" | "numel")) | core.Index(of=core.Attr(of=of, name="shape")):
            return of
    return None


def _same(a: Node, b: Node) -> bool:
    """Whether two names, or chains of names, are one."""
    if type(a) is NAME:
        return type(b) is NAME and a.id == b.id
    return type(a) is ATTR and type(b) is ATTR and bool(a.path) and a.path == b.path


def _keeps(name: str, frame: Frame) -> bool:
    """Whether this method builds what an instance that lives long keeps from then on: a module, what is called like a
    function, or what is set up anew for more. What is made of each batch is built for each, and so is what a method
    lets go of."""
    if not (lives(frame) or _begins_anew(name, frame)):
        return False
    if all(map(_empties, _binds(frame.routine, name))) and not (_registers(name, frame) or _has_built(name, frame)):
        return False
    if any(_empties(bind) for method in methods(frame) for bind in _binds(method, name)):
        return False
    return not any(
        turns_with(method.name, frame)
        for method in every_method(frame)
        if any(_empties(bind) for bind in _binds(method, name)) or _empties_by_name(method)
    )


def _empties_by_name(method: Routine) -> bool:
    """Whether a method has the instance forget what it keeps by made-up names: `setattr(self, name, None)`."""
    if method.written.forgets is None:
        method.written.forgets = any(type(part) is CALL and _forgets(part) for part in walk(method.node.body))
    return method.written.forgets


def _forgets(call: core.Call) -> bool:
    match call:
        case core.Call(fn=core.Name(id="setattr"), args=(core.Name(id="self"), key, core.Const(value=None))):
            return type(key) is not CONST
    return False


def _begins_anew(name: str, frame: Frame) -> bool:
    """Whether others have an instance forget what it keeps by a method that is named for setup, for what comes then:
    `set_steps`. What is made for one step alone is not set up for others."""
    owner, places = frame.routine.owner, frame.world.places
    made = owner.find("__init__") if owner is not None else None
    node = made[0].routine.node if made is not None and type(made[0]) is Call else None
    making = node.uses.get("self", UNUSED) if type(node) is FUNCTION else UNUSED
    setting = [one for one in every_method(frame) if not one.name.startswith("_") and places.seldom(one.name)]
    forgetting = [
        one for one in setting if f"{one.name}()" not in making and any(_empties(bind) for bind in _binds(one, name))
    ]
    return bool(forgetting) and not any(turns_with(one.name, frame) for one in forgetting)


def turns_with(method: str, frame: Frame) -> bool:
    """Whether a loop of the file calls a method of this name in its turns, or it is named for what each turn has."""
    if frame.world.places.is_("cold", "turning", method):
        return True
    for part in frame.home.pieces:
        if type(part) is LOOP:
            calls = [one.fn for one in walk(part.body) if type(one) is CALL]
            if any(type(fn) is ATTR and fn.name == method for fn in calls):
                return True
    return False


def _has_built(name: str, frame: Frame) -> bool:
    """Whether this method calls another one of the instance that builds it: `self._build(x.device)`."""
    node, owner = frame.routine.node, frame.routine.owner
    if type(node) is not FUNCTION or owner is None:
        return False
    asked = node.uses.get("self", UNUSED)
    others = [one for one in frame.world.storing(owner, name) if one is not frame.routine]
    called = [one for one in others if f"{one.name}()" in asked]
    return bool([bind for one in called for bind in _binds(one, name) if not _empties(bind)])


def lives(frame: Frame) -> bool:
    """Whether this is a method of what lives long: a module, what is called like a function, or trains one, or was made
    for one."""
    owner, places = frame.routine.owner, frame.world.places
    if owner is None or type(frame.routine.node) is not FUNCTION:
        return False
    if owner.is_module or any(owner.find(name) is not None for name in places.tables["gates"]["lives"]):
        return True
    made = owner.find("__init__")
    node = made[0].routine.node if made is not None and type(made[0]) is Call else None
    return type(node) is FUNCTION and any(places.is_("gates", "works_on", param.name) for param in node.params)


def _shares(path: str, frame: Frame) -> bool:
    """Whether this method builds what its class keeps from then on, for all of its instances: `cls.table`."""
    routine, owner = frame.routine, frame.routine.owner
    mine = set_in(routine).get(path, [])
    if owner is None or not mine or all(map(_empties, mine)):
        return False
    return not any(_empties(bind) for method in methods(frame) for bind in set_in(method).get(path, ()))


def _global(name: str, frame: Frame) -> bool:
    """Whether this function builds what its file keeps from then on: no function lets go of it."""
    node = frame.routine.node
    if type(node) is not FUNCTION or any(param.name == name for param in node.params):
        return False
    mine = named_in(walk(node.body), name)
    if not mine or all(map(_empties, mine)):
        return False
    functions = [part for part in everything(frame.home.core.body) if type(part) is FUNCTION]
    return not any(_empties(bind) for one in functions for bind in named_in(walk(one.body), name))


def methods(frame: Frame) -> Iterator[Routine]:
    """The methods of the class that run when it is set up already, with those of its bases in other files."""
    return (method for method in every_method(frame) if not frame.world.places.seldom(method.name))


def every_method(frame: Frame) -> Iterator[Routine]:
    """All methods of the class, with those of its bases in other files."""
    for info in frame.routine.owner.mro if frame.routine.owner is not None else ():
        for member in info.members.values():
            method = member.routine if type(member) is Call else None
            if method is None or type(method.node) is not FUNCTION:
                continue
            if not info.home.own:
                frame.routine.uses[info.home.path, method.qualname] = None
            yield method


def _binds(method: Routine, name: str) -> list[core.Bind]:
    """Where a method gives the instance's attribute of this name a value."""
    return set_in(method).get(f"self.{name}", [])


def set_in(method: Routine) -> dict[str, list[core.Bind]]:
    """The statements of a function that give each attribute, by its path, a value."""
    fields = method.written.fields
    if fields is None:
        fields = method.written.fields = {}
        for part in walk(method.node.body):
            if type(part) is BIND:
                for path in {aim.path for aim in part.targets if type(aim) is ATTR}:
                    fields.setdefault(path, []).append(part)
    return fields


def _empties(bind: core.Bind) -> bool:
    return type(bind.value) is CONST and bind.value.value is None
