"""Torch's own stubs, signatures and observed results -> rules/ops/results.json: what every public torch callable returns.

Run with a Python that has torch: `python tools/results.py` writes the file, `python tools/results.py --check` compares it with what torch does.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from fitted import bound, fit, holds
from observed import Seen, observe
from torch.overrides import resolve_name

from syncguard.pack import load

ROOT = Path(__file__).parent.parent
OUT = ROOT / "rules" / "ops" / "results.json"
STUBS = Path(torch.__file__).parent / "_C"

GIVEN = tomllib.loads((Path(__file__).parent / "results.toml").read_text("utf-8"))
PRIVATE, SHOWN, COLLECTIVES = (frozenset(GIVEN[key].split()) for key in ("private", "shown", "collectives"))
MADE = GIVEN["made"] | {f"torch.distributed.{name}": "torch.distributed.Work" for name in COLLECTIVES}
KINDS = {
    "Tensor": "tensor", "torch.Tensor": "tensor", "Parameter": "tensor", "_bool": "bool", "bool": "bool", "_int": "int", "int": "int", "SymInt": "int", "_float": "float",
    "float": "float", "Number": "number", "_complex": "number", "complex": "number", "str": "str", "None": "none", "Size": "size", "torch.Size": "size",
    "_size": "size", "device": "device", "torch.device": "device", "_device": "device", "dtype": "dtype", "torch.dtype": "dtype", "_dtype": "dtype", "Self": "self",
    "Module": "module", "nn.Module": "module", "np.ndarray": "array", "numpy.ndarray": "array", "ndarray": "array", "GeneratorExit": "unknown",
}  # fmt: skip


def main() -> int:
    warnings.simplefilter("ignore")
    if "--check" in sys.argv:
        return check()
    table = build()
    OUT.write_text(written(table))
    print(f"{len(table['results'])} results, {len(table['classes'])} classes, {len(table['aliases'])} aliases -> {OUT}")
    return 0


def check() -> int:
    """Call everything again and compare the pack's answers, hand rows included, with what comes back."""
    pack = load()
    right, wrong, names = 0, dict[str, list[str]](), set[str]()
    for seen in observe():
        op = pack.op(seen.name)
        if op is None or op.returns in ("", "unknown", "new"):
            continue
        call = bound(seen, ",".join(op.args))
        names.add(seen.name)
        if holds(op.returns, call):
            right += 1
        else:
            wrong.setdefault(f"{seen.name}: {op.returns}", []).append(f"{call.given} -> {call.result}")
    for claim, calls in sorted(wrong.items(), key=lambda item: -len(item[1])):
        print(f"{claim}\n    {len(calls)} calls, such as {calls[0][:300]}")
    missed = sum(map(len, wrong.values()))
    print(f"{len(names)} callables, {right + missed} calls, {missed} of {len(wrong)} callables not as predicted")
    return 1 if missed > (right + missed) // 100 else 0


def written(table: dict[str, Any]) -> str:
    """JSON with one entry a line."""
    parts = [f'"torch": {json.dumps(table["torch"])}']
    for key in ("results", "classes", "aliases"):
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(table[key].items()))
        parts.append(f'"{key}": {{\n{lines}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def build() -> dict[str, Any]:
    """The whole table; `aliases` maps other public spellings of a function or class to the one that has the entry."""
    objects = public()
    aliases = {name: first(names) for thing, names in objects for name in (*names, *defined(thing)) if name != first(names)}
    results: dict[str, list[str]] = {}
    classes: dict[str, str] = {}
    home = {id(thing): first(names) for thing, names in objects}
    for thing, names in objects:
        name = first(names)
        if inspect.isclass(thing):
            results[name] = ["new", arguments(thing.__init__, name)]
            base = next((home[id(b)] for b in thing.__mro__[1:] if id(b) in home), None)
            if base:
                classes[name] = base
            results |= members(thing, name)
        else:
            results[name] = [annotated(thing), arguments(thing, name)]
    for name, made in MADE.items():
        returns = "new if true async_op; none" if name.rpartition(".")[2] in COLLECTIVES.split()[2:] else "new"
        results[name], classes[name] = [returns, results.get(name, ("", ""))[1]], made
    for name in aliases:
        if aliases[name] in classes or results[aliases[name]][0] == "new":
            classes[name] = aliases[name]
    results |= stubbed("_VariableFunctions.pyi", "", "torch") | stubbed("_nn.pyi", "", "torch.nn.functional")
    results |= stubbed("__init__.pyi", "TensorBase", "torch.Tensor")
    for name in aliases:
        if results.get(name, ("new",))[0] != "new":
            del results[name]
    results |= {
        f"torch.Tensor.{name}": ["tensor", "self,other"] for name in OPERATORS if f"torch.Tensor.{name}" not in results
    }
    learn(results, classes, aliases)
    for name, entry in results.items():
        where = place(name, entry[1])
        if entry[0] == "tensor" and where:
            entry[0] = f"tensor float {where}" if where == "factory" else f"tensor {where}"
    results |= {name: [text, *results.get(name, ("", ""))[1:]] for name, text in fixed() if name not in aliases}
    return {"torch": torch.__version__.partition("+")[0], "results": results, "classes": classes, "aliases": aliases}


def learn(results: dict[str, list[str]], classes: dict[str, str], aliases: dict[str, str]) -> None:
    """What was seen is more exact than a stub; a method that its class inherits gets an entry where it differs."""
    for name, calls in gathered(aliases).items():
        owner, method = name, ""
        while owner and f"{owner}{method}" not in results:
            head, _, tail = owner.rpartition(".") if not method else (owner, "", "")
            owner, method = classes.get(head, ""), method or f".{tail}"
        key = f"{owner}{method}"
        if key not in results or results[key][0] == "new":
            continue
        args = results[key][1]
        text = fit([bound(seen, args) for seen in calls], ".forward" in name, place(name, args))
        if results[key][0].startswith("list(") and text.startswith("tuple("):
            text = f"list({text[6:-1].partition(',')[0]})"
        if text and text != results[key][0] and not unknown_inside(text):
            results[name] = [text, args, *results[key][2:]]


def gathered(aliases: dict[str, str]) -> dict[str, list[Seen]]:
    found: dict[str, list[Seen]] = {}
    for seen in observe():
        found.setdefault(aliases.get(seen.name, seen.name), []).append(seen)
    return found


def place(name: str, args: str) -> str:
    """Where dtype= and device= decide."""
    if "dtype" not in args.split(",") or name in ("torch.Tensor.to", "torch.Tensor.view", "torch.Tensor.type"):
        return ""
    short = name.rpartition(".")[2]
    if short.endswith("_like") or short.startswith("new_"):
        return "like"
    return (
        "factory"
        if "device" in args.split(",") and not {"input", "self", "tensors"} & set(args.split(","))
        else "kwarg"
    )


def unknown_inside(text: str) -> bool:
    return any(word in text for word in ("unknown", "()", "(, "))


def fixed() -> list[tuple[str, str]]:
    """The entries that are written by hand, because a result depends on the way of the call or cannot be tried here."""
    pairs = [line.split(":", 1) for line in FIXED.strip().splitlines() if line and not line.startswith("#")]
    return [(name, text.strip()) for names, text in pairs for name in names.split()]


def public() -> list[tuple[Any, list[str]]]:
    """Every public function and class of torch with all its spellings."""
    found: dict[int, tuple[Any, list[str]]] = {}
    for path in MODULES:
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue
        for name in sorted(
            {n for n in dir(module) if not n.startswith("_")}
            | {n for n in getattr(module, "__all__", ()) if not n.startswith("__")}
        ):
            note(found, f"{path}.{name}", getattr(module, name, None))
    for path in PRIVATE:
        owner, _, name = path.rpartition(".")
        note(found, path, getattr(importlib.import_module(owner), name, None))
    return list(found.values())


def defined(thing: Any) -> list[str]:
    """Where a thing is defined, and what TorchFunctionMode calls it."""
    called = resolve_name(thing) if inspect.isroutine(thing) else None
    names = [f"{thing.__module__}.{thing.__qualname__}"] if inspect.isclass(thing) or inspect.isfunction(thing) else []
    return [name for name in (*names, called or "") if name.startswith("torch.") and "<" not in name and not name.endswith(".")]


def note(found: dict[int, tuple[Any, list[str]]], name: str, thing: Any) -> None:
    ours = str(getattr(thing, "__module__", None) or type(thing).__module__).startswith(
        ("torch", "functorch")
    ) or inspect.isbuiltin(thing)
    short = name.removeprefix("torch.")
    inner = (
        inspect.isclass(thing)
        and hasattr(torch._C, short)
        and short not in SHOWN
        and not short.endswith(("Tensor", "Storage", "Error"))
    )
    if (
        callable(thing)
        and ours
        and not inner
        and not isinstance(thing, (ModuleType, torch.dtype))
        and not str(type(thing)).startswith("<class 'typing")
    ):
        found.setdefault(id(thing), (thing, []))[1].append(name)


def first(names: list[str]) -> str:
    """The spelling that people use: few dots, no private or implementation module."""
    return min(
        names,
        key=lambda n: (n.startswith(("torch.functional.", "torch._C.")), ".modules." in n, n.count("."), len(n), n),
    )


def members(thing: type, name: str) -> dict[str, list[str]]:
    """The methods and properties that a class defines itself."""
    found: dict[str, list[str]] = {}
    if (name.endswith("Tensor") and name != "torch.Tensor") or name.startswith("torch.return_types"):
        return found
    for key, value in vars(thing).items():
        if key.startswith("_") and key not in (
            "__call__",
            "__len__",
            "__iter__",
            "__getitem__",
            "__enter__",
            "__next__",
            "__contains__",
        ):
            continue
        if isinstance(value, property):
            found[f"{name}.{key}"] = [annotated(value.fget), "self", "property"]
        elif isinstance(value, (staticmethod, classmethod)):
            found[f"{name}.{key}"] = [annotated(value.__func__), arguments(value.__func__, "")]
        elif callable(value) and not inspect.isclass(value):
            found[f"{name}.{key}"] = [annotated(value), arguments(value, "")]
    return found


def annotated(thing: Any) -> str:
    """The result kind by annotation; unknown where there is none."""
    note = getattr(thing, "__annotations__", {}).get("return", "unknown")
    try:
        text = note if isinstance(note, str) else "None" if note is None else inspect.formatannotation(note)
        return kind(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError):
        return "unknown"


def arguments(thing: Any, name: str) -> str:
    """Argument names in positional order, from the signature or the first line of the docstring."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (ValueError, TypeError):
        return documented(getattr(thing, "__doc__", None) or "")
    names = [("*" if p.kind is p.VAR_POSITIONAL else "") + p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    return ",".join(names[1:] if name and names[:1] == ["self"] else names)


def documented(text: str) -> str:
    """Argument names out of `linalg.norm(A, ord=None, *, out=None) -> Tensor`."""
    line = text.strip().partition("\n")[0].partition("->")[0].strip().replace("*, ", "").replace("*size, ", "*size, ")
    try:
        call = ast.parse(f"def _{line[line.index('(') :]}: ...").body[0]
    except (SyntaxError, ValueError):
        return ""
    found = call.args
    names = [a.arg for a in (*found.posonlyargs, *found.args)]
    return ",".join(names + ([f"*{found.vararg.arg}"] if found.vararg else []) + [a.arg for a in found.kwonlyargs])


def stubbed(file: str, owner: str, prefix: str) -> dict[str, list[str]]:
    """Results and arguments from one of torch's stub files."""
    body = ast.parse((STUBS / file).read_text("utf-8")).body
    if owner:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == owner).body
    found: dict[str, list[str]] = {}
    overloads: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and (
            owner or not node.name.startswith("_") or f"{prefix}.{node.name}" in PRIVATE
        ):
            overloads.setdefault(node.name, []).append(node)
        elif owner and isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            found[f"{prefix}.{node.target.id}"] = [kind(node.annotation), "self", "property"]
    for name, nodes in overloads.items():
        if attribute(prefix, name):
            found[f"{prefix}.{name}"] = [merged_kind(nodes, name), merged_arguments(nodes, owner)]
    return found


def attribute(prefix: str, name: str) -> bool:
    owner: Any = torch
    for part in prefix.split(".")[1:]:
        owner = getattr(owner, part)
    return hasattr(owner, name)


def merged_kind(nodes: list[ast.FunctionDef], name: str) -> str:
    kinds = list(dict.fromkeys(kind(node.returns) for node in nodes if node.returns))
    inplace = name.endswith("_") and not name.startswith("_") and kinds == ["tensor"]
    return "self" if inplace else kinds[-1] if kinds else "unknown"


def merged_arguments(nodes: list[ast.FunctionDef], owner: str) -> str:
    """Positional names of the longest overload, then the other names (those that are deprecated start with another argument)."""
    usual = [n for n in nodes if owner or not (n.args.args and n.args.args[0].arg == "self")] or nodes
    if any(n.args.args[1:2] and n.args.args[1].arg in ("alpha", "beta") for n in usual) and len(usual) > 1:
        usual = [n for n in usual if not (n.args.args[1:2] and n.args.args[1].arg in ("alpha", "beta"))] or usual
    starred = next((n.args.vararg.arg for n in usual if n.args.vararg), "")
    positional = max(([a.arg for a in (*n.args.posonlyargs, *n.args.args)] for n in usual), key=len)
    positional = [("*" if a == starred else "") + a for a in positional] if starred in positional else positional
    positional += [f"*{starred}"] if starred and f"*{starred}" not in positional else []
    if starred and positional[-1] != f"*{starred}":
        positional = positional[: positional.index(f"*{starred}") + 1]
    others = [a.arg for n in usual for a in (*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs)]
    return ",".join(dict.fromkeys([*positional, *(a for a in others if f"*{a}" not in positional)]))


def kind(node: ast.expr | None) -> str:
    """A return annotation as a result expression."""
    match node:
        case None:
            return "unknown"
        case ast.Constant(value=None):
            return "none"
        case ast.Constant(value=str(text)):
            return kind(ast.parse(text, mode="eval").body)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            kinds = [k for k in (kind(left), kind(right)) if k != "none"]
            return kinds[0] if len(kinds) == 1 or len(set(kinds)) == 1 else "unknown"
        case ast.Subscript(
            value=ast.Name(id=("tuple" | "Tuple")) | ast.Attribute(attr="Tuple"), slice=ast.Tuple(elts=parts)
        ):
            if isinstance(parts[-1], ast.Constant) and parts[-1].value is ...:
                return f"list({kind(parts[0])})"
            return f"tuple({', '.join(map(kind, parts))})"
        case ast.Subscript(value=ast.Name(id=("list" | "List" | "Sequence" | "Iterator" | "Iterable")), slice=part):
            return f"list({kind(part)})"
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=part):
            return kind(part)
        case ast.Attribute(attr=name) if "return_types" in ast.unparse(node):
            return structseq(name)
        case ast.Name() | ast.Attribute():
            text = ast.unparse(node)
            return KINDS.get(
                text, KINDS.get(text.removeprefix("torch."), KINDS.get(text.rpartition(".")[2], "unknown"))
            )
    return "unknown"


def structseq(name: str) -> str:
    shape = getattr(torch.return_types, name)
    fields = [
        key
        for key in vars(shape)
        if (not key.startswith(("_", "n_"))
        and type(vars(shape)[key]).__name__ == "member_descriptor")
        or (type(vars(shape)[key]).__name__ == "getset_descriptor"
        and not key.startswith("_"))
    ]
    return f"named({', '.join(f'{key}=tensor' for key in fields)})"


if __name__ == "__main__":
    sys.exit(main())
