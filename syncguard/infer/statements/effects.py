"""A method that is called for what it does in, what is known of its object from there on out."""

from __future__ import annotations

from syncguard.infer.domain.contents import there_too
from syncguard.infer.domain.values import Instance, Tensor
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.tags import NAME


def proved(fn: core.Attr, frame: Frame) -> None:
    """What is asked for its gradients by a name is a tensor for sure from here on."""
    held = frame.env.get(fn.of.id) if type(fn.of) is NAME else None
    if type(fn.of) is NAME and type(held) is Tensor and frame.world.places.is_("names", "differentiators", fn.name):
        frame.env[fn.of.id] = held.but(sure=True)


def fetched(fn: core.Attr, frame: Frame) -> None:
    """An object of the project whose own method brings what it holds to the host in place: `rows.to_numpy()`."""
    held = frame.env.get(fn.of.id) if type(fn.of) is NAME else None
    if type(fn.of) is not NAME or type(held) is not Instance or held.info is None:
        return
    if frame.world.places.is_("cold", "moved", fn.name) and held.info.find(fn.name) is not None:
        frame.env[fn.of.id] = there_too(held)
