"""The variables of two paths in, what is known where they meet out."""

from __future__ import annotations

from collections.abc import Callable

from syncguard.infer.domain.lattice import join
from syncguard.infer.domain.values import LINKS, ClassOf, Const, Host, Later, Tensor, Unknown, Value, Why, options
from syncguard.infer.routine import Env, Frame, of_part


class Dead(dict[str, Value]):
    """The variables of a place that control does not reach."""


def alive_in(env: Env) -> bool:
    return type(env) is not Dead


def alive(frame: Frame) -> bool:
    return type(frame.env) is not Dead


def joined(a: Env, b: Env, meets: Callable[[Value, Value], Value] = join) -> Env:
    """What two paths agree on; a name that only one of them binds keeps its value."""
    if type(a) is Dead:
        return b
    if type(b) is Dead:
        return a
    result = dict(a)
    for name, value in b.items():
        other = a.get(name)
        if other is not value:
            result[name] = value if other is None else meets(other, value)
    for path in [name for name in result if of_part(name) and not (name in a and name in b)]:
        del result[path]  # only one path knows it
    return result


def unless(usual: Value, failed: Value) -> Value:
    """Join what is there after a failure to what is there usually: where that is tells where all of it is."""
    both = join(usual, failed)
    if type(both) is Tensor and type(usual) is Tensor and both.device == "mixed":
        return both.but(device=usual.device)
    return both


def stand_in(ends: list[Env]) -> None:
    """Where the first of several ends has a class, or an import, it is meant by those that follow a failure, too: what
    is brought there under its name stands in for it."""
    for end in ends[1:]:
        for name, value in end.items():
            first = ends[0].get(name)
            here = type(value) is ClassOf and type(first) is ClassOf and value.info.home is first.info.home
            if first is not None and not here and (named := _named(value)) and named == _named(first):
                end[name] = first


def _named(value: Value | None) -> str:
    """The name of a class, or of what is imported from the project."""
    return value.info.name if type(value) is ClassOf else value.name if type(value) is Later else ""


def forget(told: Env, arm: Env, before: Env) -> None:
    """Drop what a test told one arm of a global name, for that the other did not hear of it tells nothing; and of what
    is a number or a text, which is no tensor behind the test whether it is one."""
    for name in told:
        if arm.get(name) is not told[name]:
            continue
        if name not in before:
            del arm[name]
        elif type(told[name]) is Tensor and all(type(option) in (Host, Const) for option in options(before[name])):
            arm[name] = before[name]


def follow(arm: Env, other: Env, before: Env, frame: Frame) -> None:
    """What one arm moves to the device is there (`if cuda: x = x.cuda()`): where it is not, there is no device."""
    world = frame.world
    for name, was in before.items():
        now = arm.get(name)
        if type(was) is Tensor and was.device == "host" and type(now) is Tensor and now.on_device:
            why = now.why
            moved = why is not None and why.parent is was.why and why.text.rpartition(".")[2] in world.moving
            if moved and other.get(name) is was:
                other[name] = now


def stayed(arm: Env, other: Env, before: Env) -> Env:
    """What one arm alone copies to the host, as it is for those who do not go there."""
    moved: Env = {}
    for name, was in before.items():
        now = arm.get(name)
        if type(now) is Tensor and not now.on_device and other.get(name) is was:
            copied = type(was) is Tensor and was.on_device and _copied(now.why, was.why)
            if copied or type(was) is Unknown:
                moved[name] = was
    return moved


def _copied(now: Why | None, was: Why | None) -> bool:
    """Whether one value was made of another by copying that to the host: `x = x.cpu().float()`."""
    left, links = False, 0
    while now is not None and now is not was and links < LINKS:
        left, links = left or now.left, links + 1
        now = now.parent
    return left and now is was
