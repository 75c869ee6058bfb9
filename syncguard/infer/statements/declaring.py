"""A declaration in; what its class knows of an attribute from then on, or what a function is given by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncguard.infer.domain.values import Instance, Value, options
from syncguard.infer.expressions.evaluate import quiet_value, value_of
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.tags import CALL

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo


def promise(target: core.Attr, declared: Value, frame: Frame) -> None:
    """`self.x: Tensor = None` says what others will put there."""
    for info in owners(target, frame):
        if target.name not in info.promises:
            info.promises[target.name] = declared
            frame.world.look_again(info.readers(target.name))


def announce(target: core.Attr, declared: Value, frame: Frame) -> None:
    """`self.x: Tensor` says what it holds, unless a tensor that is put there tells more."""
    for info in owners(target, frame):
        if target.name not in info.announced:
            info.announced[target.name] = declared
            frame.world.look_again(info.readers(target.name))


def owners(target: core.Attr, frame: Frame) -> list[ClassInfo]:
    """The classes of the project whose instances may have this attribute."""
    values = options(quiet_value(target.of, frame))
    return [option.info for option in values if type(option) is Instance and option.info is not None]


def ask_defaults(node: core.Function, frame: Frame) -> None:
    """What is given by default is asked for where the function is made: `def step(limit=scores.max().item())`."""
    for param in node.params:
        if type(param.default) is CALL:
            value_of(param.default, frame)
