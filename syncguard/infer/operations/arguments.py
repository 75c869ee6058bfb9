"""The arguments of a call and the names in an op's row in, each argument by its name out."""

from __future__ import annotations

from syncguard.infer.domain.contents import without
from syncguard.infer.domain.sureness import number_sureness
from syncguard.infer.domain.values import Const, Host, Instance, Seq, Tensor, Value, is_array, options


class Arguments:
    """The arguments of one call, by the names in the op's row; what the row does not name stays in `rest`."""

    __slots__ = ("count", "default_device", "holder", "named", "open", "rest")

    def __init__(
        self, names: tuple[str, ...], args: list[Value], keywords: dict[str, Value], default_device: str
    ) -> None:
        self.count = len(args) + len(keywords)
        self.default_device = default_device
        self.named: dict[str, Value] = {}
        self.rest: list[Value] = []
        for i, value in enumerate(args):
            if i >= len(names):
                self.rest.append(value)
            elif i == len(names) - 1 and len(args) > len(names) and names[i] != "self":
                self.named[names[i]] = Seq("tuple", tuple(args[i:]))  # view(a, b, c): all of it is the last one's
                break
            else:
                self.named[names[i]] = value
        self.named.update(keywords)
        self.open = self.named.pop("**", None) is not None  # `**settings` may give anything
        self.holder: Instance | None = None  # the object that a method is called on
        for value in self.named.values():
            if type(value) is Instance:
                self.holder = value
            break

    def get(self, name: str) -> Value | None:
        """An argument, or what an object was constructed with, or a named tuple holds, under that name."""
        if "." in name:
            holder_name, _, setting = name.rpartition(".")
            owner = self.get(holder_name)
            if type(owner) is Seq and owner.items is not None and setting in owner.names:
                return owner.items[owner.names.index(setting)]
            return _setting(owner, setting) if type(owner) is Instance else None
        value = self.named.get(name)
        return _setting(self.holder, name) if value is None and self.holder is not None else value

    def numbers(self) -> bool:
        """Whether a call is given Python numbers, and nothing that may be a tensor."""
        given = [value for value in self.values() if type(value) is not Const or number_sureness(value)]
        return bool(given) and all(map(number_sureness, given))

    def values(self) -> list[Value]:
        return [*self.named.values(), *self.rest]

    def if_tensors(self) -> Arguments:
        """The same; where the user says that all is on the device, what may be an array or a tensor is the tensor."""
        if self.default_device != "assumed" or not any(map(_either, self.values())):
            return self
        told = Arguments((), [], {}, self.default_device)
        told.count, told.open, told.holder = self.count, self.open, self.holder
        told.named = {name: as_if_tensor(value) for name, value in self.named.items()}
        told.rest = [as_if_tensor(value) for value in self.rest]
        return told


def as_if_tensor(value: Value) -> Value:
    """What may be an array of the host or a tensor of the device, as if it were no array."""
    return without(value, is_array) if _either(value) else value


def _either(value: Value) -> bool:
    found = options(value)
    on_device = any(type(one) is Tensor and one.on_device and one.device != "mixed" for one in found)
    return on_device and any(map(is_array, found))


def _setting(owner: Instance, name: str) -> Value | None:
    """What an object was constructed with under a name, by who made it or by the constructor of its own class."""
    given = owner.settings.get(name)
    return owner.info.handed_up(name) if given is None and owner.info is not None else given


def may_be_true(value: Value | None) -> bool:
    """Given, and not surely off: `pin_memory=device.type == "cuda"` pins wherever it matters."""
    return value is not None and not (type(value) is Const and not value.value)


def is_true(value: Value | None) -> bool:
    return type(value) is Const and value.value is True


def pins(value: Value | None) -> bool:
    """Whether a loader pins wherever it matters: it is told so, or what is computed: `torch.cuda.is_available()`."""
    return is_true(value) or (type(value) is Host and value.kind == "bool")


def is_false(value: Value) -> bool:
    return type(value) is Const and value.value is False
