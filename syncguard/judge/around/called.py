"""What a file tells the others of its functions' heat, in the form in which it is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from syncguard.terms import Fact, Heat

Where = tuple[str, str]  # a file and the qualified name of a function in it
TENSOR: Final = "tensor"
LISTS: Final = "lists"
Needs = tuple[tuple[str, ...], ...]  # groups of parameters, of each of which a call must give one


class Ask(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What a place in a function asks of a parameter, how that must come out, and as it is written."""

    name: str
    what: str  # how it is compared; '' where it is asked for yes or no, TENSOR for whether it is one, and LISTS for
    # whether it holds that
    value: bool | int | float | str | None
    outcome: bool
    text: str
    line: int


class Gift(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What a call gives a parameter: unless an option is set, with what is said of that, or as it is written out."""

    name: str
    value: bool | int | float | str | None
    told: str = ""
    some: bool = False  # it is something, of which nothing else is known
    number: bool = False  # but that it is a number
    own: str = ""  # unless this parameter of the caller is not: it is handed on
    texts: tuple[str, ...] = ()  # all that it may list


class Asking(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A name that a function asks of something, and what all places stand behind that do."""

    name: str
    options: tuple[Fact, ...]


class Called(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A call from a function to another one, and the reason if the loop around it runs once per step; `rare` ones make
    nothing hot."""

    path: str
    name: str
    line: int
    step: str = ""
    step_line: int = 0
    rare: bool = False
    options: tuple[Fact, ...] = ()  # that all calls of it by this function stand behind
    handed: bool = False  # the file of the call hands the function about as well
    left: tuple[str, ...] = ()  # the parameters that all calls of it by this function leave at their defaults
    hands: tuple[tuple[str, str], ...] = ()  # those that it gives one of its own of the same default, and that
    needs: Needs = ()  # what this function itself must be given for one of these calls to be reached
    gives: tuple[Gift, ...] = ()
    asks: tuple[Ask, ...] = ()  # the same, of what it asks for
    kept: str = ""  # of a class that it names: the attribute of its object under which alone it keeps what it makes
    host: tuple[str, ...] = ()  # the parameters that all calls of it by this function give what is on the host
    pieces: tuple[tuple[str, str], ...] = ()  # those that all give a piece of one of its own, and that
    always: bool = False  # whether all of these calls are made, come what may
    there: bool = False  # whether all that they give is on the host
    way: tuple[Fact, ...] = ()  # what leads to them in a hot function, where that is not what leads to it
    of: tuple[Where, ...] = ()  # the classes below that of the method, of the objects that all of them ask for it


class Function(msgspec.Struct, frozen=True, array_like=True):
    """A function of a file: how warm the file itself makes it, and what it calls that may be made hot."""

    name: str
    heat: Heat
    path: tuple[Fact, ...]
    calls: tuple[Called, ...]
    gpuless: bool = False  # it runs in a process that sees no GPU
    open: bool = True  # others may run it than those who call it by its name
    keeper: str = ""  # what keeps it in a table beside others: who calls one of them calls any
    options: tuple[Fact, ...] = ()  # without which no call of it in its own file is reached
    named: bool = False  # its file does nothing with it but call it by its name
    here: bool = False  # it is cold for its callers in its own file alone
    alone: bool = False  # it is private, its file does not name it, and nothing above its class may call it
    names: tuple[str, ...] = ()  # of which somebody must have each to call it, and its file has none
    abstract: str = ""  # its class, of which there are instances only where another file has one that descends from it;
    # with what it lacks, `Net.read`, where it leaves nothing of its own to that
    kin: tuple[str, ...] = ()  # of a method that nothing but its name brings in: its class and those above it
    lines: tuple[int, int] = (0, 0)  # where it begins and ends
    host: bool = False  # its tensors are on the host: it may run for each batch
    makes: tuple[Called, ...] = ()  # the classes of the project that it names
    by_name: bool = False  # nobody calls it but by its name
    steps: int = 0  # the line of its loop that takes the steps, around which it is not hot
    leads: bool = False  # it takes many steps, or calls what does
    loops: tuple[tuple[int, int], ...] = ()  # where its loops begin and end that may turn often
    started: bool = False  # a person starts it: it runs once, as far as its own file tells
    asking: tuple[Asking, ...] = ()  # the names that it asks for behind options alone
    brings: tuple[tuple[str, int], ...] = ()  # the parameters that it moves to the device, and where
    runs: tuple[Where, ...] = ()  # the forwards of modules that it calls, around any loop that takes steps
    over: tuple[Where, ...] = ()  # the methods of classes in other files in whose place an object of its class has it
    drawn: bool = False  # it gives its items one by one, and runs as often as these are drawn


def last_part(function: str) -> str:
    """The name of a method, or of a function, without those that it is defined in."""
    return function.rpartition(".")[2]


def in_loop(function: Function, line: int) -> bool:
    """Whether a line of a function stands in a loop that may turn often."""
    return any(begin <= line <= end for begin, end in function.loops)


def innermost(functions: Iterable[Function], line: int) -> Function | None:
    """The function that stands closest around a line, of those of a file."""
    around = [one for one in functions if one.lines[0] <= line <= one.lines[1]]
    return min(around, key=lambda one: one.lines[1] - one.lines[0], default=None)


class Mention(msgspec.Struct, frozen=True, gc=False):
    """A place in code that names a method; `own` where another one asks its own object for it."""

    path: str
    line: int
    own: bool = False
