"""What a call gives the parameters of a function of the project in, those out that it gives what is on the host, and
those that it gives texts: these are nowhere."""

from __future__ import annotations

from syncguard.infer.domain.contents import fetched, leaves_of
from syncguard.infer.domain.sureness import number_sureness
from syncguard.infer.domain.values import Const, Host, Instance, Tensor, Value
from syncguard.infer.operations.targets import device_of
from syncguard.infer.routine import Given, Routine
from syncguard.read.core import At


def note(caller: Routine, callee: Routine, at: At, handed: Given) -> None:
    """Keep them of a call in the file that is checked; of one that is made once more, what it gives each time."""
    if caller.aside or not caller.home.own:
        return
    there = [name for name, value in handed.items() if _hosted(value)]
    texts = frozenset([name for name in there if all(map(_is_text, leaves_of(handed[name])))])
    names = frozenset(there) - texts
    known = caller.hosting.get((callee, at))
    caller.hosting[callee, at] = (names, texts) if known is None else (known[0] & names, known[1] & texts)


def _hosted(value: Value) -> bool:
    """Whether nothing in this may be on the device; a number alone is no tensor of the host."""
    return not number_sureness(value) and all(map(_is_there, leaves_of(value)))


def _is_there(leaf: Value) -> bool:
    if type(leaf) is Instance:
        return leaf.device == "host" and (leaf.info is None or not leaf.info.is_module)
    if type(leaf) is Tensor:
        return leaf.device == "host" and not leaf.either
    return type(leaf) is Const or type(leaf) is Host or fetched(leaf)


def _is_text(leaf: Value) -> bool:
    """Whether this is a text, other than one that names where something is to be."""
    if type(leaf) is Const:
        return type(leaf.value) is str and device_of(leaf) != "host"
    return type(leaf) is Host and leaf.kind == "str"
