"""A file being analyzed: its path and core, and what is known of it so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncguard.read.core import Module, Node
from syncguard.read.walk import everything

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.routine import Env, Frame, Mentioned, Routine


class Home:
    """A file: its path, dotted name, core, global names, and the routines and classes found in it."""

    __slots__ = (
        "asked",
        "asks_tensors",
        "beside",
        "bound",
        "called",
        "circular",
        "classes",
        "core",
        "everything",
        "foreign",
        "frame",
        "infos",
        "interface",
        "library",
        "made",
        "mentioned",
        "moves_batches",
        "moving",
        "name",
        "on_cpu",
        "optional",
        "own",
        "package",
        "path",
        "processes",
        "put",
        "reaches_out",
        "routines",
        "stars",
        "steps",
        "tells_time",
        "top",
    )

    def __init__(self, path: str, name: str, core: Module, package: bool = False, own: bool = True) -> None:
        self.path, self.name, self.core, self.package = path, name, core, package
        self.own = own  # checked for itself; else known by its interface
        self.made: dict[int, Routine] = {}  # by the identity of the def
        self.infos: dict[int, ClassInfo] = {}
        self.asked: dict[tuple[str, int], str] = {}  # where its imports led
        self.bound: Env = {}
        self.frame: Frame | None = None  # of its top level, while that is run
        self.routines: list[Routine] = []
        self.classes: list[ClassInfo] = []
        self.top: Routine | None = None
        self.stars: list[str] = []  # other libraries of which everything was imported
        self.circular: list[str] = []  # files of which everything was imported while they were still being read
        self.called: set[str] = set()  # of other libraries, and what was set there
        self.mentioned: Mentioned | None = None  # once asked for
        self.everything: list[Node] | None = None  # that stands in it, once asked for
        self.moving: frozenset[str] | None = None  # its functions that move something to a device, once asked for
        self.asks_tensors: bool | None = None  # whether it has a tokenizer make tensors, once asked for
        self.moves_batches = False  # whether something moves a DataLoader's batches to the device
        self.put: dict[str, list[str]] | None = None  # functions that it puts under attributes
        self.steps = False  # whether it has a loop of steps
        self.interface: bool | None = None  # whether it makes an interface for people, once asked for
        self.processes: str | None = None  # why its functions run in processes without a GPU, once asked for
        self.foreign: bool | None = None  # whether it is named for a device of another kind, once asked for
        self.library: str | None = None  # the library with tensors of its own that it is written for, once asked for
        self.beside: str | None = None  # the class of it that prepares data on the host, once asked for
        self.on_cpu: str | None = None  # the global name by which it chooses the CPU, once asked for
        self.tells_time: bool | None = None  # whether it imports a clock, once asked for
        self.optional: bool | None = None  # whether it has torch only where that is there, once asked for
        self.reaches_out: bool | None = None  # whether it imports what does not come with Python, once asked for

    @property
    def env(self) -> Env:
        """Its global names; while its top level is run, those of the path that is followed."""
        return (self.frame.env if self.frame is not None else self.bound) or self.bound

    @property
    def half(self) -> bool:
        """Whether its top level is still being run, or has not begun: it has not bound all its names."""
        return self.top is None or self.top.running

    @property
    def pieces(self) -> list[Node]:
        """All that stands in it; kept as long as it is checked itself."""
        if self.everything is not None:
            return self.everything
        found = everything(self.core.body)
        if self.own:
            self.everything = found
        return found

    def forget(self) -> None:
        """Let go of what is known of it and knows one another: no reference counter would ever find it."""
        for routine in (*self.routines, self.top) if self.top is not None else self.routines:
            routine.forget()
        for info in self.classes:
            info.forget()
        self.routines.clear()
        self.classes.clear()
        self.made.clear()
        self.infos.clear()
        self.everything = None
        self.bound = {}
        self.top = None
