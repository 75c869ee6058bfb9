"""A loop in, the model out that each turn gives what it made in the turn before: a loop that generates."""

from __future__ import annotations

from typing import Any, Final

from syncguard.infer.branches.gradless import generates, has_model_run
from syncguard.infer.branches.subjects import last_name, path_of, value_at
from syncguard.infer.domain.values import ClassOf, Instance, Named
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BIND, CALL, CHOOSE, DO, IF, INDEX, LOOP, NAME, SEQ, TRY, UPDATE, WITH
from syncguard.read.walk import binds, looped, targets, walk

Paths = frozenset[str]  # of what comes of a model: `x`, `self.state`
NONE_YET: Final[Paths] = frozenset()


def feeds_itself(node: core.Loop, frame: Frame) -> str:
    """The name of such a model, '' where there is none. What the layers of one model hand on is no such thing: each is
    another one; nor is a step that calls its own model again and again."""
    routine, places = frame.routine, frame.world.places
    within = routine.owner is not None and routine.owner.is_module
    if routine.host or (within and places.is_("hot", "module_methods", routine.name)):
        return ""
    inner = looped(node.body)  # these have turns
    turns = [one for one in walk(node.body) if type(one) is CALL and id(one) not in inner]
    calls = [one for one in turns if _is_model(one.fn, frame)]
    if not calls and generates(routine.node, places):
        made = frozenset([path for part in node.body for aim in targets(part) for path in _whole(aim)])
        fed = [part.value for part in node.body if type(part) is BIND and _given(part.value, made)]
        calls = [one for one in fed if type(one) is CALL and has_model_run(one.fn, frame)]
    taken = frozenset(_whole(node.target)) if node.target is not None else NONE_YET
    anew = taken.union(*[_whole(aim) for part in walk(node.body) for aim in targets(part)]) if calls else NONE_YET
    for call in calls:
        model = path_of(call.fn)
        if _lasts(model, anew) or _chosen(model, node.body, anew, frame):
            made, _ = _turn(node.body, call, NONE_YET)
            if _turn(node.body, call, made - taken)[1]:
                return model
    return ""


def carries(node: core.Loop) -> bool:
    """Whether a turn gives a call what came of it in the turn before."""
    anew = {*_whole(node.target)} if node.target is not None else set[str]()
    for part in walk(node.body):
        if type(part) is BIND and _feeds(part, frozenset(anew)):
            return True
        anew.update([path for aim in targets(part) for path in _whole(aim)])
    return False


def _feeds(bind: core.Bind, anew: Paths = NONE_YET) -> bool:
    """Whether a call is given what came of it, and was not made anew before: `x, _ = self.step(x, t)`."""
    return _given(bind.value, frozenset([path for aim in bind.targets for path in _whole(aim)]) - anew)


def _given(call: Node | None, made: Paths) -> bool:
    """Whether a call is given something of this."""
    return type(call) is CALL and _speaks((call.args, tuple([one for _, one in call.keywords])), made)


def _lasts(model: str, anew: Paths) -> bool:
    """Whether no turn makes another one of what has this name."""
    return model not in anew and model.partition(".")[0] not in anew


def _chosen(model: str, body: tuple[Node, ...], anew: Paths, frame: Frame) -> bool:
    """Whether a turn only chooses one of the models that there are: `model = self.low if t < bound else self.high`."""
    makers = [part for part in walk(body) if any(model in _whole(aim) for aim in targets(part))]
    given = [part.value if type(part) is BIND and part.value is not None else part for part in makers]
    named = [one for value in given for one in _choices(value)]
    return bool(named) and all(_lasts(path_of(one), anew) and _is_model(one, frame) for one in named)


def _choices(value: Node) -> list[Node]:
    """What an expression gives, one or the other."""
    return [*_choices(value.yes), *_choices(value.no)] if type(value) is CHOOSE else [value]


def _is_model(fn: Node, frame: Frame) -> bool:
    """Whether a model is called, as far as its name or its class tells."""
    if not path_of(fn) or type(fn) is INDEX:
        return False
    named = frame.world.places.is_("hot", "generators", last_name(fn))
    value = value_at(fn, frame)
    if type(value) is Instance:
        return named or (value.info is not None and value.info.is_module)
    return named and type(value) is not ClassOf and type(value) is not Named


def _turn(body: tuple[Node, ...], call: core.Call, made: Paths) -> tuple[Paths, bool]:
    """What comes of a call when a turn has ended, given what came of it before; and whether the call is given of
    that."""
    fed = False
    for part in body:
        arms = _arms(part)
        if arms:
            ends = [_turn(arm, call, made) for arm in arms]
            fed = fed or any(end[1] for end in ends)
            kept = made if _skipped(part) else NONE_YET
            made = kept.union(*[end[0] for end in ends])
            continue
        mine = any(one is call for one in walk(part))
        fed = fed or (mine and _speaks((call.args, tuple(value for _, value in call.keywords)), made))
        comes = mine or _speaks(part.value if type(part) is BIND else part, made)
        made = _bound(part, made, comes)
    return made, fed


def _arms(part: Node) -> list[tuple[Node, ...]]:
    """The blocks of a statement."""
    if type(part) is IF:
        return [part.body, part.orelse]
    if type(part) is LOOP or type(part) is WITH:
        return [part.body]
    return [part.body, *[body for _, body in part.handlers]] if type(part) is TRY else []


def _skipped(part: Node) -> bool:
    """Whether it may be that no block of a statement is run."""
    return type(part) is LOOP


def _bound(part: Node, made: Paths, comes: bool) -> Paths:
    """The same when a statement has been run, of which something comes of the call, or nothing."""
    if binds(part):
        whole = {path for aim in targets(part) for path in _whole(aim)}
        within = {path_of(aim.of) for aim in walk(targets(part)) if type(aim) is INDEX} - {""}
        if comes:
            return made | whole | within
        return made if type(part) is UPDATE else made - whole
    if comes:  # `tokens.append(token)`
        calls = [one for one in walk(part) if type(one) is CALL and type(one.fn) is ATTR]
        return made | ({path_of(one.fn.of) for one in calls if type(one.fn) is ATTR} - {""})
    return made


def _whole(aim: Node) -> list[str]:
    """What a target binds as a whole: nothing of what holds an item that is set."""
    if type(aim) is SEQ:
        return [path for part in aim.items for path in _whole(part)]
    if type(aim) is DO:  # `first, *rest`
        return [path for part in aim.args for path in _whole(part)]
    return [path] if type(aim) is not INDEX and (path := path_of(aim)) else []


def _speaks(part: Any, made: Paths) -> bool:
    """Whether something of this is named."""
    return bool(made) and any((type(one) is NAME or type(one) is ATTR) and path_of(one) in made for one in walk(part))
