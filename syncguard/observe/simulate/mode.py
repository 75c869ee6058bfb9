"""Every call of a torch function -> the same call on the CPU, its result put where it belongs, its waits told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from syncguard.observe.simulate import backward, host_only, lacking, mixing, moves
from syncguard.observe.simulate.later import stepped_over
from syncguard.observe.simulate.marks import (
    DEVICE,
    HOST,
    MARK,
    PINNED,
    PLAIN,
    default_place,
    local,
    mark,
    move,
    names_device,
    place,
    storage_of,
    tensors,
    world,
)
from syncguard.observe.simulate.minded import as_subclass, minded, of_tensors
from syncguard.observe.simulate.named import name_of, plain
from syncguard.observe.simulate.verdict import Verdict
from syncguard.terms import Op, Wait

Call = tuple[Any, ...]
Plan = Callable[[Any, Any, Call, dict[str, Any]], Any]  # the function, the classes that override it, what it is given
HANDLE = torch.overrides.handle_torch_function.__code__
ONE = frozenset(f"torch.Tensor.{name}" for name in "item __bool__ __int__ __float__ __complex__ __index__".split())
QUESTIONS = 4  # that a function of Python asks at most


class AskedAgain(BaseException):
    """A function of Python asks for overrides once more, before it does its work; no `except Exception` stops it."""


class Device(TorchFunctionMode):
    """The simulated device on one thread. The plan of each function is made when it is first called."""

    def __init__(self, verdict: Verdict, skipping: Callable[[str], bool]) -> None:
        super().__init__()
        self.verdict, self.skipping = verdict, skipping
        self.plans: dict[Any, Plan] = {}
        verdict.quiet.add(self._quietly.__code__)

    def __torch_function__(self, func: Any, types: Any, args: Call = (), kwargs: dict[str, Any] | None = None) -> Any:
        if types and not all(map(of_tensors, types)):
            return self._theirs(func, types, args, kwargs or {})
        plan = self.plans.get(func)
        if plan is None:
            plan = self.plans[func] = self.plan(func)
        return plan(func, types, args, kwargs or {})

    def _theirs(self, func: Any, types: Any, args: Call, kwargs: dict[str, Any]) -> Any:
        """What is no tensor and overrides functions (a proxy of torch.fx, a linear operator) answers for itself."""
        for kind in types:
            with self.elsewhere():
                result = kind.__torch_function__(func, types, args, kwargs)
            if result is not NotImplemented:
                return result
        return func(*args, **kwargs)

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """The same device on another thread, or where C++ calls back in the middle of a call."""
        depth = torch._C._len_torch_function_stack()
        if depth and torch._C._get_function_stack_at(depth - 1) is self:
            yield
            return
        torch._C._push_on_torch_function_stack(self)
        try:
            yield
        finally:
            torch._C._pop_torch_function_stack()

    def plan(self, func: Any) -> Plan:
        """How calls of this function are carried out."""
        name = name_of(func, self.verdict)
        row = self.verdict.row(name)
        waits = self.verdict.waits(row)
        if (special := moves.SPECIAL.get(name)) is not None:
            return self._special(special, row, waits)
        if isinstance(func, FunctionType):
            return self._python(name, row, waits)
        if name.endswith(".__set__"):
            return untouched
        if not waits and plain(name, self.verdict):
            return untouched
        return self._native(name, row, waits)

    def _special(self, special: Callable[..., Any], row: Op | None, waits: tuple[Wait, ...]) -> Plan:
        judge = self.verdict.judge

        def call(func: Any, types: Any, args: Call, kwargs: dict[str, Any]) -> Any:
            if waits and row is not None:
                named = moves.NAMED.get(special)
                given = named(args, kwargs) if named else (args, kwargs)
                judge(row, waits, *given, HOST)
            return special(func, args, kwargs)

        return call

    def _python(self, name: str, row: Op | None, waits: tuple[Wait, ...]) -> Plan:
        """A function written in Python: its inside is simulated too, quietly where it has a row."""
        base = getattr(torch._C.TensorBase, name.rpartition(".")[2], None)
        native = self._native(name, row, ())
        judge, inside = self.verdict.judge, self._openly if row is None else self._quietly

        def call(func: Any, types: Any, args: Call, kwargs: dict[str, Any]) -> Any:
            # `super().unflatten(...)` in Tensor.unflatten: C++ asks under the same name, and means its own.
            if base is not None and sys._getframe(2).f_code is not HANDLE:
                return native(base, types, args, kwargs)
            if asked_again(func, args):
                raise AskedAgain
            if waits and row is not None and local.told is not func:
                judge(row, waits, args, kwargs, landing(args, kwargs, False))
            if (kinds := tuple(filter(minded, types))) and torch._C._is_torch_function_enabled():
                return mark(self._overridden(func, kinds, args, kwargs), landing(args, kwargs, False))
            return inside(func, args, kwargs)

        return call

    def _overridden(self, func: Any, kinds: Any, args: Call, kwargs: dict[str, Any]) -> Any:
        """A class with a mind of its own is asked as torch asks it, with this mode in force inside it."""
        before = local.passing, local.told
        local.passing, local.told = 0, func
        try:
            with self.elsewhere():
                for kind in kinds:
                    result = kind.__torch_function__(func, kinds, args, kwargs)
                    if result is not NotImplemented:
                        return result
        finally:
            local.passing, local.told = before
        return func(*args, **kwargs)

    def _openly(self, func: Any, args: Call, kwargs: dict[str, Any]) -> Any:
        """Call a function with this mode in force inside it. Some ask for overrides more than once before they do their
        work: these begin again, and hear no once more.
        """
        before, outer = local.passing, local.asking
        local.asking = (func, args[:1])
        call = as_subclass(func, args)
        torch._C._push_on_torch_function_stack(self)
        try:
            for times in range(1, QUESTIONS):
                local.passing = times
                try:
                    return call(*args, **kwargs)
                except AskedAgain:
                    continue
            local.passing = QUESTIONS
            return call(*args, **kwargs)
        finally:
            torch._C._pop_torch_function_stack()
            local.passing, local.asking = before, outer

    def _quietly(self, func: Any, args: Call, kwargs: dict[str, Any]) -> Any:
        """The same; that this stands on the stack is what keeps the inside quiet."""
        return self._openly(func, args, kwargs)

    def _native(self, name: str, row: Op | None, waits: tuple[Wait, ...]) -> Plan:
        """A function of C++: on the CPU, with its device arguments rewritten."""
        judge, verdict = self.verdict.judge, self.verdict
        constructor, check = moves.is_constructor(name), mixing.check_of(name)
        copies = moves.copies_data(name)
        again = backward.again(name, verdict.later(row), row.args if row is not None else ())
        sizes = any(wait.hazard == "tensor-as-size" for wait in waits)
        refuses = host_only.refusal_of(name)
        one = name in ONE  # of more than one element, it raises before it waits: argument parsers try this

        def call(func: Any, types: Any, args: Call, kwargs: dict[str, Any]) -> Any:
            where, strangers = places(args if not kwargs else (*args, *kwargs.values()))
            asked = kwargs.get("device") if kwargs else None
            if asked is not None:
                where = DEVICE if names_device(asked) else HOST
            elif constructor and not (where == DEVICE and moves.follows(name, args)):
                where = default_place()
            elif strangers and where == DEVICE:
                where = mixing.settled(check, sizes, args)
            if where == DEVICE and world.lost:
                world.reach()
            if refuses is not None and where == DEVICE:
                refuses(args, kwargs)
            if kwargs:
                fitting(copies, args, kwargs, where)
            told: tuple[str, ...] = ()
            carried = local.dispatched is func  # and told where the program's call was
            if waits and row is not None and not carried and not (one and args and not single(args[0])):
                told = judge(row, waits, args, kwargs, where)
            if kwargs or constructor:
                kwargs, where = rewritten(kwargs, where, constructor)
            local.packing = where
            try:
                result = func(*args, **kwargs)
            except (NotImplementedError, RuntimeError) as fault:
                result = self._rescued(fault, where, name, func, args, kwargs)
            # Of what nobody has marked yet, who asked for a call that is carried knows where the result belongs.
            result = result if carried and where == HOST else put(result, where, constructor)
            if again is not None and where == DEVICE:
                # What is written into has the node of the write; the call itself gives nothing back.
                backward.remember(args[0] if result is None else result, name, again(told, args), verdict)
            return result

        return call

    def _rescued(self, fault: Exception, where: int, name: str, func: Any, args: Call, kwargs: dict[str, Any]) -> Any:
        """What a device would have computed where the CPU could not; the fault again where it was none of that."""
        if where == DEVICE and lacking.lacks(fault):
            return lacking.computed(func, args, kwargs)
        if where == DEVICE and (full := lacking.too_much(fault)) is not None:
            raise full from None
        said = lacking.foreign(fault, name) if where == DEVICE else ""
        if not said:
            raise fault
        if not self.skipping(name.partition(".")[0]):
            raise NotImplementedError(said) from None
        return stepped_over(*args, **kwargs)


def fitting(copies: bool, args: Call, kwargs: dict[str, Any], where: int) -> None:
    """The errors about a generator of another place, and about data that is not to be pinned."""
    if kwargs.get("generator") is not None:
        mixing.generator_of(kwargs["generator"], where)
    if copies and kwargs.get("pin_memory"):
        moves.pinnable(args, kwargs)


def put(result: Any, where: int, constructor: bool) -> Any:
    """What a call gave, marked as being there."""
    if constructor:
        return settled(result, where)
    if type(result) is not torch.Tensor:
        mark(result, where)
    elif getattr(storage := storage_of(result), MARK, None) is None:
        setattr(storage, MARK, where)
    return result


def settled(result: Any, where: int) -> Any:
    """What a constructor made, where it was asked for: of memory in another place it makes a copy."""
    mark(result, where)
    if isinstance(result, torch.Tensor) and (place(result) == DEVICE) != (where == DEVICE):
        return move(result.clone(), where)
    return result


def rewritten(kwargs: dict[str, Any], where: int, constructor: bool) -> tuple[dict[str, Any], int]:
    """The keywords for the CPU: no other device, no pinned memory; and where the result is said to be."""
    if where == DEVICE and (constructor or kwargs.get("device") is not None):
        world.used = True
        return {**kwargs, "device": "cpu"}, where
    if kwargs.get("pin_memory") and where == HOST:
        return {**kwargs, "pin_memory": False}, PINNED
    return kwargs, where


def places(values: Any, depth: int = 0) -> tuple[int, bool]:
    """DEVICE where any of these is there, and whether others are on the host that may not go with it."""
    where, strangers = HOST, False
    for value in values:
        if isinstance(value, torch.Tensor):
            if place(value) == DEVICE:
                where = DEVICE
            elif dimensions(value):
                strangers = True
        elif isinstance(value, (list, tuple)) and value and depth < 3 and not isinstance(value[0], (int, float, str)):
            there, others = places(value, depth + 1)
            where, strangers = max(where, there), strangers or others
    return where, strangers


def dimensions(value: torch.Tensor) -> int:
    """The rank of a tensor; a class with a mind of its own may refuse to say."""
    if type(value) in PLAIN:
        return value.ndim
    with torch._C.DisableTorchFunctionSubclass():
        return value.ndim


def single(value: torch.Tensor) -> bool:
    """Has a tensor one element? A class with a mind of its own is not asked."""
    if type(value) in PLAIN:
        return value.numel() == 1
    with torch._C.DisableTorchFunctionSubclass():
        return value.numel() == 1


def untouched(func: Any, types: Any, args: Call, kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def landing(args: Call, kwargs: dict[str, Any], constructor: bool) -> int:
    """Where the result of a call will be."""
    asked = kwargs.get("device")
    if asked is not None:
        return DEVICE if names_device(asked) else HOST
    for tensor in tensors((*args, *kwargs.values())):
        if place(tensor) == DEVICE:
            return DEVICE
    return default_place() if constructor else HOST


def asked_again(func: Any, args: Call) -> bool:
    """Whether a function that we have just called asks us to carry itself out."""
    if local.asking is None:
        return False
    asking, given = local.asking
    return asking is func and bool(given) and bool(args) and given[0] is args[0]
