"""A test in, whether it asks for a flag that an instance keeps, and that the method which asks turns for good: `if not
self.ready: ..; self.ready = True`. The flag may be a buffer, which is read on the device."""

from __future__ import annotations

from typing import Final

from syncguard.infer.branches.keeps import every_method, lives, turns_with
from syncguard.infer.branches.meant import leads, plainly
from syncguard.infer.branches.subjects import last_name
from syncguard.infer.classes import ClassInfo
from syncguard.infer.domain.values import Call
from syncguard.infer.routine import UNUSED, Frame
from syncguard.pack.places import Places
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CONST, DO, FUNCTION, IF, LEAVE, NAME, RUN, SEQ, UPDATE, WITH
from syncguard.read.walk import around, walk

FIRST: Final = "on the first step"
BY_NAME: Final = ("setattr", "delattr", "vars")


def begins(inner: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome of a test is met until the method has run once: the arm that it leads to, or the rest of the
    method, turns the flag, and nothing but what makes the object turns it back."""
    flag, node = _flag(inner, outcome, frame), frame.routine.node
    if flag is None or type(node) is not FUNCTION or not lives(frame) or not _may_turn(node, flag, frame):
        return False
    tests = [part for part in walk(node.body) if type(part) is IF and around(part.test.at, inner.at)]
    if not tests:
        return False
    arm = tests[0].body if leads(tests[0].test, inner.at, outcome) else tests[0].orelse
    if not _turns(arm, flag):
        behind = tuple([part for part in node.body if part.at > inner.at])
        if any(type(part) is LEAVE for part in walk(arm)) or not _turns(behind, flag):
            return False
    return _stays(flag, frame)


def spends(body: tuple[Node, ...], frame: Frame) -> bool:
    """Whether an arm turns a flag that a test around it asks for: it is met once, though the other arms are not."""
    for asked, wanted in frame.context.tests if frame.routine.owner is not None else ():
        inner, outcome = plainly(asked, wanted)
        flag = _flag(inner, outcome, frame)
        if flag is not None and lives(frame) and _turns(body, flag) and _stays(flag, frame):
            return True
    return False


class _Flag:
    """An attribute that is a flag: where it is kept, what it is turned to, whether it need not be there yet."""

    def __init__(self, name: str, me: str, on: bool, left: bool, owner: ClassInfo, places: Places) -> None:
        self.name = name
        self.me = me
        self.path = f"{me}.{name}"
        self.on = on
        self.left = left
        self.owner = owner
        self.places = places


def _flag(inner: Node, outcome: bool, frame: Frame) -> _Flag | None:
    """What is asked for, to be turned where the test comes out so; None of other tests."""
    owner, node = frame.routine.owner, frame.routine.node
    if owner is None or type(node) is not FUNCTION or not node.params:
        return None
    me = node.params[0].name
    name, yes = _asked(inner, me)
    left = type(inner) is CALL and last_name(inner.fn) == "getattr"
    return _Flag(name, me, yes is not outcome, left, owner, frame.world.places) if name else None


def _asked(inner: Node, me: str) -> tuple[str, bool]:
    """The attribute that a test asks for, and what it holds where the test is met; '' of other tests."""
    if type(inner) is ATTR:
        return (inner.name, True) if inner.path == f"{me}.{inner.name}" else ("", False)
    if type(inner) is CALL:
        return _asked_by(inner, me)
    if type(inner) is DO and inner.what in ("==", "!=", "is", "is not") and len(inner.args) == 2:
        name, yes = _asked(inner.args[0], me)
        said = _truth(inner.args[1], None) if name else None
        if said is not None:
            return name, (said is yes) is (inner.what in ("==", "is"))
    return "", False


def _asked_by(call: core.Call, me: str) -> tuple[str, bool]:
    """The same of `self.ready.item()`, `bool(self.ready)` and `getattr(self, "ready", False)`."""
    match call:
        case core.Call(fn=core.Attr(of=of, name="item"), args=()):
            return _asked(of, me)
        case core.Call(fn=core.Name(id="bool" | "int"), args=(given,)):
            return _asked(given, me)
        case core.Call(fn=core.Name(id="getattr"), args=(core.Name(id=of), core.Const(value=str() as name), _)):
            return (name, True) if of == me else ("", False)
    return "", False


def _may_turn(node: core.Function, flag: _Flag, frame: Frame) -> bool:
    """Whether a method, or another one that it calls, has anything that may turn the flag."""
    storing = {one.name for info in flag.owner.mro for one in frame.world.storing(info, flag.name)}
    called = [one[:-2] for one in node.uses.get(flag.me, UNUSED) if one.endswith("()")]
    for name in (node.name, *called):
        found = flag.owner.find(name) if name != node.name else None
        other = found[0].routine.node if found is not None and type(found[0]) is Call else None
        asking = node if name == node.name else other
        written = asking.uses.get(flag.path, UNUSED) if type(asking) is FUNCTION else UNUSED
        if name in storing or any(one.endswith("_()") or one == "data" for one in written):
            return True
    return False


def _turns(block: tuple[Node, ...], flag: _Flag, deep: bool = True) -> bool:
    """Whether a block turns the flag before it may be left, whatever is asked but for the flag; itself, or by another
    method of the instance that it calls."""
    for part in block:
        if _sets(part, flag) or (deep and _has_turned(part, flag)):
            return True
        inner: tuple[tuple[Node, ...], ...] = (part.body,) if type(part) is WITH else ()
        if type(part) is IF and any(type(one) is ATTR and one.path == flag.path for one in walk(part.test)):
            inner = (part.body, part.orelse)
        if any(_turns(one, flag, deep) for one in inner):
            return True
        if any(type(one) is LEAVE and one.what != "raise" for one in walk(part)):
            return False
    return False


def _has_turned(part: Node, flag: _Flag) -> bool:
    """Whether a statement calls a method of the instance that turns the flag."""
    call = part.value if type(part) is RUN or type(part) is BIND else None
    if type(call) is not CALL or type(call.fn) is not ATTR or call.fn.path != f"{flag.me}.{call.fn.name}":
        return False
    return _turns(_body(call.fn.name, flag.owner), flag, deep=False)


def _body(name: str, owner: ClassInfo) -> tuple[Node, ...]:
    found = owner.find(name)
    node = found[0].routine.node if found is not None and type(found[0]) is Call else None
    return node.body if type(node) is FUNCTION else ()


def _sets(part: Node, flag: _Flag) -> bool:
    """Whether a statement turns the flag: `self.ready = True`, `self.ready.fill_(1)`."""
    if type(part) is BIND:
        return any(type(aim) is ATTR and aim.path == flag.path for aim in part.targets) and (
            _truth(part.value, flag.places) is flag.on
        )
    written = _written(part, flag)
    return written is not None and _truth(written, flag.places) is flag.on


def _written(part: Node, flag: _Flag) -> Node | None:
    """What a statement writes into the flag, which is a tensor."""
    match part:
        case core.Run(value=core.Call(fn=core.Attr(of=of, name=name), args=(value, *_))):
            return value if _is_flag(of, flag) and flag.places.is_("gates", "turns", name) else None
    return None


def _truth(value: Node | None, places: Places | None) -> bool | None:
    """Yes or no as it is written, also as a tensor: `True`, `1`, `torch.tensor(True)`, `torch.Tensor([1])`."""
    if type(value) is CALL and places is not None and len(value.args) == 1:
        return _truth(value.args[0], places) if places.is_("gates", "of_number", last_name(value.fn)) else None
    if type(value) is SEQ and len(value.items) == 1:
        return _truth(value.items[0], places)
    if type(value) is CONST and value.value is not None and value.value in (0, 1):
        return bool(value.value)
    return None


def _stays(flag: _Flag, frame: Frame) -> bool:
    """Whether nothing turns the flag back but the constructor, methods that it calls, and those that are setup by their
    names, `enable_graphs`; there must be something that gives it a value first, unless it need not be there."""
    made = _making(flag.owner, frame)
    storing = [one.name for info in flag.owner.mro for one in frame.world.storing(info, flag.name)]
    if not (flag.left or any(name in made for name in storing)):
        return False
    for method in every_method(frame):
        node = method.node
        if type(node) is not FUNCTION:
            continue
        if node.name not in made and _unseen(node, flag):
            return False
        if flag.name not in node.uses.get(flag.me, UNUSED):
            continue
        readies = method is not frame.routine and _readies(node.name, flag.places)
        makes = (method is not frame.routine and node.name in made) or (readies and not turns_with(node.name, frame))
        if not (makes or all(_sets(part, flag) for part in walk(node.body) if _gives(part, flag))):
            return False
    return not _by_others(flag, frame)


def _readies(name: str, places: Places) -> bool:
    """Whether a method has the name of setup, and readies no step."""
    anew = places.is_("gates", "begins", name) or places.is_("cold", "readying", name)
    return places.seldom(name) and not anew


def _gives(part: Node, flag: _Flag) -> bool:
    """Whether a statement gives the flag any value, or writes into it: `self.ready, self.x = False, 1`."""
    aims = part.targets if type(part) is BIND else (part.target,) if type(part) is UPDATE else ()
    if aims:
        return any(_is_flag(one, flag) for aim in aims for one in walk(aim))
    call = part.value if type(part) is RUN else None
    if type(call) is not CALL or type(call.fn) is not ATTR or not call.fn.name.endswith("_"):
        return False
    return _is_flag(call.fn.of, flag)


def _is_flag(node: Node, flag: _Flag) -> bool:
    return type(node) is ATTR and (node.path == flag.path or node.path == f"{flag.path}.data")


def _unseen(node: core.Function, flag: _Flag) -> bool:
    """Whether a method may give its instance anything: by a name that is made up, or as it was at first."""
    asked = node.uses.get(flag.me, UNUSED)
    if "__init__()" in asked or "__setattr__()" in asked or ("__dict__" in asked and not _only_shown(node, flag)):
        return True
    return any(
        type(part) is CALL and type(part.fn) is NAME and part.fn.id in BY_NAME and _is_me(part.args[:1], flag)
        for part in walk(node.body)
    )


def _only_shown(node: core.Function, flag: _Flag) -> bool:
    """Whether a method does no more with all that its instance has than hand it on: `text.format(**self.__dict__)`."""
    asked = [part for part in walk(node.body) if type(part) is ATTR and part.path == f"{flag.me}.__dict__"]
    calls = [part for part in walk(node.body) if type(part) is CALL]
    spread = {id(value) for call in calls for key, value in call.keywords if not key or key == "**"}
    return all(id(part) in spread for part in asked)


def _is_me(args: tuple[Node, ...], flag: _Flag) -> bool:
    return any(type(one) is NAME and one.id == flag.me for one in args)


def _making(owner: ClassInfo, frame: Frame) -> set[str]:
    """The constructor of a class and the methods that it calls, and so on, but for those that begin anew."""
    found, todo = set[str](), ["__init__"]
    while todo:
        name = todo.pop()
        member = owner.find(name)
        node = member[0].routine.node if member is not None and type(member[0]) is Call else None
        if name in found or type(node) is not FUNCTION or not node.params:
            continue
        found.add(name)
        me = node.params[0].name
        called = [part.fn for part in walk(node.body) if type(part) is CALL]
        todo += [fn.name for fn in called if type(fn) is ATTR and fn.path == f"{me}.{fn.name}"]
    return {name for name in found if not frame.world.places.is_("gates", "begins", name)}


def _by_others(flag: _Flag, frame: Frame) -> bool:
    """Whether the file sets the flag of an object from outside: `loss.first = True`."""
    binds = [part for part in frame.home.pieces if type(part) is BIND] if frame.home.own else []
    aims = [aim for bind in binds for aim in bind.targets if type(aim) is ATTR and aim.name == flag.name]
    return any(aim.path != flag.path for aim in aims)
