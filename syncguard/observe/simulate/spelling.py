"""A method that Python calls on the program's behalf, and the instruction that made it -> the row of what is written.

`int(t)`, `print(t)` and `if t` all arrive as methods of the tensor; the text of the instruction tells them apart.
"""

from __future__ import annotations

import ast
import builtins
import opcode
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from syncguard.observe.expression import FORMAT, expression, formats
from syncguard.pack import Pack

SLOTS = tuple(
    f"torch.Tensor.__{name}__" for name in "bool int float complex index repr str format contains iter len".split()
)
CALLS = {opcode.opmap[name] for name in ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "PRECALL") if name in opcode.opmap}

CONTAINS, OPERATOR = opcode.opmap["CONTAINS_OP"], opcode.opmap["BINARY_OP"]
MEMBER = "torch.Tensor.__contains__"  # `t in ts`, and what else compares with each of a list
SEARCHES = ("index", "count", "remove")  # of lists; tensors have none of them


def spelled(op: str, hazard: str, frame: FrameType, pack: Pack) -> tuple[str, str]:
    """What the frame calls: builtins.int for a torch.Tensor.__int__, with the hazard of its own row."""
    if op not in SLOTS:
        return op, hazard
    if frame.f_code.co_code[frame.f_lasti] == OPERATOR and formats(expression(frame.f_code, frame.f_lasti), frame):
        row = pack.op(FORMAT)
        return FORMAT, row.waits[0].hazard if row is not None else hazard
    called = callee(frame.f_code, frame.f_lasti)
    name = qualified(called, frame) if called else ""
    row = pack.op(name) if name else None
    if called == MEMBER or (row is None and called.rpartition(".")[2] in SEARCHES):
        name, row = MEMBER, pack.op(MEMBER)
    if row is None or not row.known or not row.waits:
        return op, hazard
    return name, row.waits[0].hazard


@lru_cache(maxsize=4096)
def callee(code: CodeType, instruction: int) -> str:
    """The dotted name that this call instruction calls; empty where it is none or has no source."""
    if code.co_code[instruction] == CONTAINS:
        return MEMBER
    if code.co_code[instruction] not in CALLS:
        return ""
    node = expression(code, instruction)
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def qualified(called: str, frame: FrameType) -> str:
    """math.sqrt, wherever it was imported from and whatever it is called there."""
    head, *rest = called.split(".")
    found: Any = frame.f_locals.get(head, frame.f_globals.get(head, getattr(builtins, head, None)))
    for name in rest:
        found = getattr(found, name, None)
    module, name = getattr(found, "__module__", None), getattr(found, "__qualname__", "")
    return f"{MODULES.get(module or '', module) or 'builtins'}.{name}" if name else ""


MODULES = {"_operator": "operator", "_heapq": "heapq", "_bisect": "bisect", "_pickle": "pickle", "json.encoder": "json"}
