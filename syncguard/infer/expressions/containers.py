"""A container of modules in, what it holds, or gives when it is asked, out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import UNKNOWN, Const, Instance, Seq, Table, Unknown, Value, options
from syncguard.infer.expressions import methods
from syncguard.infer.routine import Frame

GIVES: Final = ("__getitem__", "pop", "items", "values", "keys")
MADE_OF: Final = ("modules",)  # all that the constructor of a container takes


def modules_in(of: Value, frame: Frame) -> Seq | Table | None:
    """The modules that a container holds; None of anything else, and where nobody knows which."""
    if type(of) is not Instance or of.info is not None or not of.name:
        return None
    made = frame.world.op(of.name)
    if made is None or made.args != MADE_OF or not frame.world.is_module_class(of.name):
        return None
    held = of.modules
    if held is None:
        return Table({}) if frame.world.op(f"{of.name}.keys") is not None else Seq("list", ())
    if type(held) is Seq:
        return held
    return held if type(held) is Table else None


def given(of: Instance, name: str, args: list[Value], found: Value, frame: Frame) -> Value:
    """What a method of a container gives: modules that it holds, where these are known, else what was found."""
    inside = modules_in(of, frame) if name in GIVES else None
    if inside is None:
        return found
    told: Value = UNKNOWN
    if type(inside) is Table:
        told = methods.table_method(inside, "pop" if name == "__getitem__" else name, args[:1])
    elif type(inside) is Seq and name in ("__getitem__", "pop"):
        told = one_of(inside, args[0] if args else UNKNOWN)
    return told if type(told) is Seq or tells(told) else found


def tells(module: Value) -> bool:
    """Whether what a module gives is for its own class to tell; of imported ones it is known without."""
    return any(
        type(option) is not Unknown and (type(option) is not Instance or option.info is not None)
        for option in options(module)
    )


def one_of(inside: Seq, key: Value) -> Value:
    """A module by its number, or a list of some."""
    if type(key) is Seq and key.kind == "slice":
        return Seq("list", None, inside.element)
    items = inside.items
    if items and type(key) is Const and isinstance(key.value, int) and -len(items) <= key.value < len(items):
        return items[key.value]
    return inside.element
