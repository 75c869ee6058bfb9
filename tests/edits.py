"""The text of a file and a dice -> the text with one edit of the kinds that people make, which still parses."""

from __future__ import annotations

import ast
import random

RETURNS = ("return 1", "return None", "return torch.zeros(3, device='cuda')", "return self", "raise ValueError")
HELD = ("None", "True", "3", "torch.zeros(3)")
SWAPS = ((" = True", " = False"), ("=False", "=True"), ("=None", "=0"), (": Tensor", ": int"), (" 0", " 1"))


def edited(text: str, dice: random.Random) -> tuple[str, str]:
    """The new text, and what was done to it; the old one where nothing could be done."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and len(node.body) > 1]
    for _ in range(20):
        if not functions:
            break
        function, kind = dice.choice(functions), dice.choice([*EDITS])
        lines = text.split("\n")
        EDITS[kind](lines, function, dice)
        new = "\n".join(lines)
        if new != text and parses(new):
            return new, f"{kind} in {function.name}:{function.lineno}"
    return text, "nothing"


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def replaced(lines: list[str], function: ast.FunctionDef, dice: random.Random, by: str = "pass") -> None:
    part = dice.choice(function.body)
    lines[part.lineno - 1 : part.end_lineno] = [" " * function.body[0].col_offset + by]


def left(lines: list[str], function: ast.FunctionDef, dice: random.Random) -> None:
    replaced(lines, function, dice, dice.choice(RETURNS))


def kept(lines: list[str], function: ast.FunctionDef, dice: random.Random) -> None:
    """What a method assigns to its receiver, it assigned to nothing before."""
    held = [node for node in ast.walk(function) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    if held and function.args.args:
        name = f"{function.args.args[0].arg}.{dice.choice(held).attr}"
        at = dice.choice(function.body).lineno - 1
        lines.insert(at, f"{' ' * function.body[0].col_offset}{name} = {dice.choice(HELD)}")


def renamed(lines: list[str], function: ast.FunctionDef, dice: random.Random) -> None:
    lines[function.lineno - 1] = lines[function.lineno - 1].replace(f"def {function.name}(", f"def {function.name}_(")


def swapped(lines: list[str], function: ast.FunctionDef, dice: random.Random) -> None:
    old, new = dice.choice(SWAPS)
    for n in range(function.lineno - 1, function.end_lineno or function.lineno):
        lines[n] = lines[n].replace(old, new)


def decorated(lines: list[str], function: ast.FunctionDef, dice: random.Random) -> None:
    if not function.decorator_list:
        lines.insert(function.lineno - 1, " " * function.col_offset + dice.choice(("@property", "@staticmethod")))


EDITS = {
    "a statement goes": replaced,
    "it leaves": left,
    "an attribute is assigned": kept,
    "its name": renamed,
    "a default": swapped,
    "a decorator": decorated,
}
