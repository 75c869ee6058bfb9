"""A program runs on CPU tensors that claim to be on "cuda"; out come the operations at which a device would wait."""

from syncguard.observe.simulate.seen import Frame, Seen
from syncguard.observe.simulate.simulation import Simulation

__all__ = ["Frame", "Seen", "Simulation"]
