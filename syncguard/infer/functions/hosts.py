"""A routine in, why its tensors are on the host, or on no GPU, out: it is a dataset's, a collate function's, another
compiler's, for a device of another kind, or runs in a process without a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncguard.infer.domain.values import UNKNOWN, Call, ClassOf, Later, Named, Value, options
from syncguard.infer.routine import Routine
from syncguard.pack.places import Places, matches
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, BRING, CALL, CLASS, CONST, FUNCTION, NAME
from syncguard.read.walk import everything, walk

if TYPE_CHECKING:
    from syncguard.infer.classes import ClassInfo
    from syncguard.infer.expressions.resolve import Names
    from syncguard.infer.home import Home


def host_reason(routine: Routine, world: Names) -> str:
    """Why a routine's tensors are on the host; '' where nothing says so."""
    owner, places = routine.owner, world.places
    if _foreign(routine, places):
        return "it is for a device of another kind"
    if library := _framework(routine.home, places):
        return f"its file computes with `{library}`"
    if owner is not None and not places.is_("hot", "batch_hooks", routine.name) and (why := prepares(owner, world)):
        return why
    name = routine.qualname.rpartition(".")[2]
    moves = owner is not None and (owner.is_module or any(owner.find(move) for move in world.movers))
    if places.is_("host", "functions", name) and not moves and not _picks_by_tensor(routine, world):
        return f"`{name}` prepares data on the host"
    if other := compiler(routine, world):
        return f"`{name}` is compiled by `{other}`"
    home = routine.home
    if owner is not None and owner.is_module:
        return ""
    if not moves and (asked := _processor(routine, places)):
        return f"it is given `{asked}`, which prepares data on the host"
    if not moves and places.is_of_data(home.path):
        return "it stands in a package, or a file, for datasets"
    if home.beside is None:
        home.beside = _beside(home, places)
    if owner is None and home.beside:
        return f"it stands beside `{home.beside}`, which prepares data on the host"
    if home.own and home.processes is None:  # of another file only parts are known, and this is told by the whole
        home.processes = _processes(home, world)
    if home.processes or owner is None:
        return home.processes or ""
    if owner.judges is None:
        owner.judges = _judges_texts(owner, places)
    return f"`{owner.name}` judges texts on the host" if owner.judges else ""


def prepares(owner: ClassInfo, world: Names) -> str:
    """Why the methods of a class prepare data on the host; '' where it is none that says so."""
    if owner.is_module:
        return ""
    places = world.places
    if above := of_data(owner, world):
        return f"`{owner.name}` is a {above.rpartition('.')[2]}"
    named = any(places.is_("host", "class_names", info.name) for info in owner.mro) or _of_items(owner, world)
    if owner.tokenizes is None:
        owner.tokenizes = not named and _tokenizes(owner, places)
    return f"`{owner.name}` prepares data on the host" if named or owner.tokenizes else ""


def of_data(owner: ClassInfo, world: Names) -> str:
    """The class of a library for data that a class descends from; '' of any other."""
    bases = world.places.tables["host"]["classes"]
    for name in owner.external():
        if any(world.is_subclass(name, base) or matches((base,), name) for base in bases):
            return name
    return ""


def keeps_data(owner: ClassInfo, world: Names) -> bool:
    """Whether a class keeps data for a loader, and is told no device to have them on."""
    if owner.is_module or not of_data(owner, world):
        return False
    made = owner.find("__init__")
    node = made[0].routine.node if made is not None and type(made[0]) is Call else None
    if type(node) is not FUNCTION:
        return made is None
    named = [param.name for param in node.params if param.kind != "**"]
    return len(named) == len(node.params) and not any(world.places.is_("names", "devices", name) for name in named)


def _tokenizes(owner: ClassInfo, places: Places) -> bool:
    """Whether the methods of a class have a tokenizer, or a processor, make tensors, and name no device: what it keeps
    is there where those are made. What it descends from could move them."""
    home, keywords = owner.home, places.tables["host"]["keywords"]
    if not home.own:  # of another file only parts are known
        return False
    if home.asks_tensors is None:
        calls = [part for part in home.pieces if type(part) is CALL and part.keywords]
        home.asks_tensors = bool([key for call in calls for key, _ in call.keywords if key in keywords])
    methods = [part for part in owner.node.body if type(part) is FUNCTION] if home.asks_tensors else []
    if not _name_a_maker(methods, places):
        return False
    if [method for method in methods if method.name in ("forward", "__call__")]:
        return False
    if any(base.rpartition(".")[2] not in places.tables["names"]["fields"] for base in _grown(owner, places)):
        return False
    pieces = [part for method in methods for part in walk(method.body)]
    if not [key for part in pieces if type(part) is CALL for key, _ in part.keywords if key in keywords]:
        return False
    return not _moves(pieces, "device", places)


def _judges_texts(owner: ClassInfo, places: Places) -> bool:
    """Whether a class is named for the scores that it gives, its methods have a tokenizer turn into texts what they are
    given, and neither a device nor a model is named anywhere. What it descends from could move it."""
    if not (owner.home.own and places.is_("host", "judges", owner.name)) or _grown(owner, places):
        return False
    makers, readers = places.tables["host"]["makers"], places.tables["host"]["text_readers"]
    methods = [part for part in owner.node.body if type(part) is FUNCTION]
    if not _name_a_maker(methods, places):
        return False
    pieces = [part for method in methods for part in everything(method.body)]
    functions = [*methods, *[part for part in pieces if type(part) is FUNCTION]]
    uses = [(name, asked) for function in functions for name, asked in function.uses.items()]
    if not [name for name, asked in uses for read in readers if read in asked if any(one in name for one in makers)]:
        return False
    named = [name.rpartition(".")[2] for name, _ in uses]
    named += [param.name for method in methods for param in method.params]
    if any(places.is_("names", "models", name) for name in named):
        return False
    if [method for method in methods if method.name in ("forward", "generate")]:
        return False
    return not _moves(pieces, "cpu", places)


def _name_a_maker(methods: list[core.Function], places: Places) -> bool:
    """Whether methods use, or are given, what is named as a tokenizer or a processor."""
    makers = places.tables["host"]["makers"]
    known = [[*method.uses, *[param.name for param in method.params]] for method in methods]
    return bool([name for names in known for name in names for maker in makers if maker in name])


def _moves(pieces: list[Node], also: str, places: Places) -> bool:
    """Whether something is moved, or a device is named; or what has the name `also` is asked for."""
    moves = [*places.tables["manners"]["moves"], also]
    return any(
        (type(part) is ATTR and part.name in moves) or _places_tensors(part, places)
        for part in pieces
        if type(part) in (ATTR, NAME, CONST, CALL)
    )


def _grown(owner: ClassInfo, places: Places) -> list[str]:
    """The classes of other libraries that a class descends from, but for those that say nothing."""
    return [name for name in owner.external() if not places.is_("names", "bare_bases", name)]


def _picks_by_tensor(routine: Routine, world: Names) -> bool:
    """Whether a method that gives items is declared to take a tensor: no loader asks for its items so."""
    node = routine.node
    if type(node) is not FUNCTION or node.name not in world.places.tables["host"]["item_methods"]:
        return False
    declared = [param.annotation for param in node.params[1:] if param.annotation is not None]
    return any(
        type(part) in (NAME, ATTR) and world.is_tensor_type(_named(part, routine.home))
        for annotation in declared
        for part in walk(annotation)
    )


def _foreign(routine: Routine, places: Places) -> bool:
    """Whether a function, its class or its file is named for a device of another kind."""
    for part in routine.qualname.split("."):
        if places.is_("host", "foreign", part):
            return True
    home = routine.home
    if home.foreign is None:
        home.foreign = places.is_foreign(home.path)
    return home.foreign


def _framework(home: Home, places: Places) -> str:
    """The library with tensors of its own that a file is written for, where nothing in it brings torch in."""
    if home.library is None:
        roots = {held.name.partition(".")[0] for held in home.env.values() if type(held) is Named}
        others = [one for one in places.tables["host"]["frameworks"] if one in roots and "torch" not in roots]
        home.library = others[0] if others and not (home.own and _brings_torch(home)) else ""
    return home.library


def _brings_torch(home: Home) -> bool:
    """Whether a function of a file imports torch."""
    names = [module for part in home.pieces if type(part) is BRING for _, module, _ in part.names]
    return any(name.partition(".")[0] == "torch" for name in names)


def _beside(home: Home, places: Places) -> str:
    """The class of this file that prepares data on the host, where none computes: functions beside it do as much."""
    classes = [node for node in home.core.body if type(node) is CLASS]
    if any(type(part) is FUNCTION and part.name == "forward" for node in classes for part in node.body):
        return ""
    return next((node.name for node in classes if places.is_("host", "preparers", node.name)), "")


def _processor(routine: Routine, places: Places) -> str:
    """The parameter that is asked for what only a processor has, where neither a device nor a model is given."""
    node = routine.node
    params = node.params if type(node) is FUNCTION else ()
    names = [param.name for param in params]
    if "self" in names or any(places.is_("names", key, name) for key in ("devices", "models") for name in names):
        return ""
    parts = places.tables["host"]["processor_parts"]
    return next((name for name in names if any(part in node.uses.get(name, ()) for part in parts)), "")


def _of_items(owner: ClassInfo, world: Names) -> bool:
    """Whether a class is called a dataset, and a loader could take items from it for all that is known."""
    places = world.places
    if not any(places.is_("host", "item_classes", info.name) for info in owner.mro):
        return False
    if any(owner.find(method) for method in places.tables["host"]["item_methods"]):
        return True
    bases = [base for info in owner.mro for base in info.bases if type(base) is not ClassOf]
    return not all(type(base) is Named and places.is_("names", "bare_bases", base.name) for base in bases)


def compiler(routine: Routine, world: Names) -> str:
    """The decorator of another library that turns a function into a kernel: no line of it runs as Python."""
    named = (_named(node, routine.home) for node in getattr(routine.node, "decorators", ()))
    return next((name for name in named if name and world.places.is_("host", "kernels", name)), "")


def _named(decorator: Node, home: Home) -> str:
    """The dotted name of a decorator of another library; '' of what is none."""
    named = decorator.fn if type(decorator) is CALL else decorator
    root, _, rest = (named.path if type(named) is ATTR else getattr(named, "id", "")).partition(".")
    library = _library(home.env.get(root, UNKNOWN))
    return f"{library}.{rest}".rstrip(".") if library else ""


def _library(value: Value) -> str:
    """The library that a name stands for where there is one: `triton = None` stands in for one that is not installed,
    and a module of the project that hands one on hands it on by its name."""
    found = [option.name for option in options(value) if type(option) is Named or type(option) is Later]
    return found[0] if len(found) == 1 else ""


def _processes(home: Home, world: Names) -> str:
    """Why a file's functions and classes run in processes that see no GPU: they are made such ones and ask for none, or
    they have others compute. '' where one asks, or where any line of the file names a device or makes a module."""
    places = world.places
    group = next((name for name in home.env if places.is_("host", "worker_groups", name)), "")
    found = f"`{group}` has other processes compute" if group else ""
    libraries = {name.partition(".")[0] for name in places.tables["host"]["processes"]}
    imported = any(type(held) is Named and held.name.partition(".")[0] in libraries for held in home.env.values())
    if not (imported or found):
        return ""
    defined = {node.name for node in home.core.body if isinstance(node, core.Function | core.Class)}
    wraps = asks = False
    for node in everything(home.core.body):
        if type(node) in (ATTR, NAME, CONST, CALL) and _places_tensors(node, places):
            return ""
        if isinstance(node, core.Function | core.Class):
            named = (_named(decorator, home) for decorator in node.decorators)
            maker = next((name for name in named if name and places.is_("host", "processes", name)), "")
            found = f"`{maker}` makes processes that see no GPU" if maker else found
        if type(node) is CALL and node.args and places.is_("host", "processes", _named(node, home)):
            wraps |= type(node.args[0]) is NAME and node.args[0].id in defined
            found = found or f"`{_named(node, home)}` has other processes compute"
        asks |= type(node) is CALL and type(node.fn) is ATTR and node.fn.name in places.tables["host"]["askers"]
        if type(node) is CLASS and any(world.is_subclass(_named(base, home), "torch.nn.Module") for base in node.bases):
            return ""
    return found if asks or not wraps else ""  # what workers of the file ask for is said where they are made


def _places_tensors(node: Node, places: Places) -> bool:
    """Whether a piece names a device, or asks for one; the text that names one for others, and the device that a tensor
    is on, are none."""
    match node:
        case core.Attr(name="device", path=path):
            return path in ("self.device", "torch.device")
        case core.Attr(name=name) | core.Name(id=name):
            named = places.is_("names", "devices", name) and not name.startswith("device_")
            return named or name == "cuda" or places.is_("names", "device_getters", name)
        case core.Const():
            return isinstance(node.value, str) and node.value.partition(":")[0] == "cuda"
        case core.Call():
            asked = places.tables["host"]["process_devices"]
            return any(
                (key == "device" and not _stays(value))
                or (key in asked and not (type(value) is CONST and not value.value))
                for key, value in node.keywords
            )
    return False


def _stays(value: Node) -> bool:
    """Whether this is the device that a tensor is on already, or the host."""
    if type(value) is ATTR:
        return value.name == "device" and value.path != "self.device"
    return type(value) is CONST and value.value in (None, "cpu")
