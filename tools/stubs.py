"""Torch's stub files, signatures and annotations -> the result kind and the argument names of a callable."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Container
from pathlib import Path
from typing import Any

import torch

STUBS = Path(torch.__file__).parent / "_C"
KINDS = {
    **dict.fromkeys(("Tensor", "Parameter"), "tensor"),
    **dict.fromkeys(("_bool", "bool"), "bool"),
    **dict.fromkeys(("_int", "int", "SymInt"), "int"),
    **dict.fromkeys(("_float", "float"), "float"),
    **dict.fromkeys(("Number", "_complex", "complex"), "number"),
    **dict.fromkeys(("Size", "_size"), "size"),
    **dict.fromkeys(("device", "_device"), "device"),
    **dict.fromkeys(("dtype", "_dtype"), "dtype"),
    "str": "str",
    "None": "none",
    "Self": "self",
    "Module": "module",
    "ndarray": "array",
}
Entry = list[str]  # result, arguments, and "property" where it is one


def stubbed(file: str, owner: str, prefix: str, wanted: Container[str]) -> dict[str, Entry]:
    """The entries of one stub file; a name with an underscore only where it is wanted, or a method."""
    body = ast.parse((STUBS / file).read_text("utf-8")).body
    if owner:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == owner).body
    found: dict[str, Entry] = {}
    overloads: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            if owner or not node.name.startswith("_") or f"{prefix}.{node.name}" in wanted:
                overloads.setdefault(node.name, []).append(node)
        elif owner and isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            found[f"{prefix}.{node.target.id}"] = [kind(node.annotation), "self", "property"]
    for name, nodes in overloads.items():
        if reachable(f"{prefix}.{name}"):
            found[f"{prefix}.{name}"] = [merged_kind(nodes, name), merged_arguments(nodes, owner)]
    return found


def reachable(name: str) -> bool:
    thing: Any = torch
    for part in name.split(".")[1:]:
        thing = getattr(thing, part, None)
    return thing is not None


def merged_kind(nodes: list[ast.FunctionDef], name: str) -> str:
    kinds = list(dict.fromkeys(kind(node.returns) for node in nodes if node.returns))
    inplace = name.endswith("_") and not name.startswith("_") and kinds == ["tensor"]
    return "self" if inplace else kinds[-1] if kinds else "unknown"


def merged_arguments(nodes: list[ast.FunctionDef], owner: str) -> str:
    """Positional names of the longest overload, then the other names. Deprecated overloads begin another way."""
    usual = [n for n in nodes if owner or positional(n)[:1] != ["self"]] or nodes
    usual = [n for n in usual if positional(n)[1:2] not in (["alpha"], ["beta"])] or usual
    starred = next((n.args.vararg.arg for n in usual if n.args.vararg), "")
    names = max((positional(n) for n in usual), key=len)
    if starred:
        before = names[: names.index(starred)] if starred in names else names
        names = [*before, f"*{starred}"]
    others = [name for n in usual for name in (*positional(n), *(a.arg for a in n.args.kwonlyargs)) if name != starred]
    return ",".join(dict.fromkeys([*names, *others]))


def positional(node: ast.FunctionDef) -> list[str]:
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]


def annotated(thing: Any) -> str:
    """The result kind by annotation; unknown where there is none."""
    return noted(getattr(thing, "__annotations__", {}).get("return", "unknown"))


def noted(note: Any) -> str:
    try:
        text = note if isinstance(note, str) else "None" if note is None else inspect.formatannotation(note)
        return kind(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError):
        return "unknown"


def arguments(thing: Any, bind: bool = False) -> str:
    """Argument names in positional order, from the signature or else the first line of the docstring."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (ValueError, TypeError):
        return documented(getattr(thing, "__doc__", None) or "")
    names = [("*" if p.kind is p.VAR_POSITIONAL else "") + p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    return ",".join(names[1:] if bind and names[:1] == ["self"] else names)


def documented(text: str) -> str:
    """Argument names out of `linalg.norm(A, ord=None, *, out=None) -> Tensor`."""
    line = text.strip().partition("\n")[0].partition("->")[0].strip().replace("*, ", "")
    try:
        call = ast.parse(f"def _{line[line.index('(') :]}: ...").body[0]
    except (SyntaxError, ValueError):
        return ""
    found = call.args
    names = [a.arg for a in (*found.posonlyargs, *found.args)]
    return ",".join(names + ([f"*{found.vararg.arg}"] if found.vararg else []) + [a.arg for a in found.kwonlyargs])


def kind(node: ast.expr | None) -> str:
    """A return annotation as a result expression."""
    match node:
        case ast.Constant(value=None):
            return "none"
        case ast.Constant(value=str(text)):
            return kind(ast.parse(text, mode="eval").body)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            kinds = {kind(left), kind(right)} - {"none"}
            return kinds.pop() if len(kinds) == 1 else "unknown"
        case ast.Subscript(value=value, slice=inner):
            return generic(ast.unparse(value).rpartition(".")[2].lower(), inner)
        case ast.Attribute(attr=name) if "return_types" in ast.unparse(node):
            return structseq(name)
        case ast.Name() | ast.Attribute():
            return KINDS.get(ast.unparse(node).rpartition(".")[2], "unknown")
    return "unknown"


def generic(name: str, inner: ast.expr) -> str:
    if name == "optional":
        return kind(inner)
    if name == "tuple" and isinstance(inner, ast.Tuple):
        if isinstance(inner.elts[-1], ast.Constant) and inner.elts[-1].value is ...:
            return f"list({kind(inner.elts[0])})"
        return f"tuple({', '.join(map(kind, inner.elts))})"
    return f"list({kind(inner)})" if name in ("list", "sequence", "iterator", "iterable") else "unknown"


def structseq(name: str) -> str:
    slots = vars(getattr(torch.return_types, name)).items()
    descriptors = ("member_descriptor", "getset_descriptor")
    fields = [key for key, slot in slots if not key.startswith(("_", "n_")) and type(slot).__name__ in descriptors]
    return f"named({', '.join(f'{key}=tensor' for key in fields)})"
