"""A rule page, SGnnn-name.md -> its Rule as plain data, and the programs that it holds."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import Any

import msgspec

NAME = re.compile(r"([A-Z]{2,}\d{3})-([a-z0-9-]+)\.md")
RECIPES = Path(__file__).parent.parent / "fix" / "recipes"
KEYS = frozenset("level hazards breaks fix since default message backward hint hints".split())
TEXTS = ("message", "backward", "hint", "since")
LEVELS, BREAKS, FIELDS = ("error", "warning", "advice"), ("capture", "compile"), ("source", "operand", "op", "how")

MANNERS = {  # in which a place can wait, and what a page's own hint for it is for
    "drawn": "what is drawn at random",
    "number": "a tensor of numbers that are written there",
    "batch": "what a loader gives",
    "kept": "what is kept from step to step",
    "brought": "what came from the host as it is",
    "reduced": "what came from the host, and was reduced over the processes",
    "built": "an index that is built on the host",
    "computed": "an index that is computed on the host",
    "checked": "a check that raises",
    "told": "a test that only warns or prints",
    "skipped": "a test that leaves the rest out",
    "repeated": "the test of a loop",
    "gathers": "a test behind which something is put into a list, and no more",
    "branched": "the test of a branch",
    "added": "what is added to what is kept",
    "elements": "the largest or the smallest element of one tensor",
    "largest": "the largest or the smallest of some",
    "collected": "what is appended to a list",
    "updated": "`x[mask] += y`",
    "beside": "a mask beside another index",
    "bound": "the bound of a slice",
    "chosen": "a number in a tensor of the host, beside a condition",
    "bounded": "one of two bounds, beside a number",
    "recorded": "what is handed to a logger",
    "argument": "an argument of a torch function",
    "several": "one of several elements that are read",
    "sized": "a number that is used as a size, or to count turns",
    "counted": "a count or a flag that a module keeps",
    "logged": "a number that is handed to a logger",
    "row": "a tensor of the numbers of a range",
    "sizes": "a tensor that is made by its type, and filled",
    "asked": "a condition that is handed on",
    "each_row": "an index of a range, to take one of each row",
    "stored": "an index that an object keeps",
    "masked": "a mask of the host as an index",
    "made": "an index that is a list made for it",
    "written_back": "what is written back through the same mask",
    "written": "what is written through an index",
    "neighbour": "what is fetched beside something else",
    "backward": "what waits in backward alone",
    "deviated": "a draw that checks its deviation",
    "moved": "a module that is moved at every step",
    "swapped": "a module that goes to the device and back at every step",
    "filtered": "a comprehension that sorts out the elements of a tensor",
    "element": "an element of what others are fetched of too",
    "barred": "what a trainer shows at each step",
}


class Example(msgspec.Struct, frozen=True):
    """One program of a page: the section (caught, fixed, quiet), its title, and the page line of its first line."""

    section: str
    title: str
    text: str
    line: int


def read(path: Path) -> dict[str, Any]:
    """The fields of the page's Rule; code and name are the file's. ValueError: what is wrong."""
    import tomllib

    match, page = NAME.fullmatch(path.name), path.read_text("utf-8")
    begin = page.find("```toml\n") + 8
    end = page.find("\n```", begin)
    if match is None or begin < 8 or end < 0:
        raise ValueError("no toml block")
    block = tomllib.loads(page[begin : end + 1])
    if fault := _fault(block):
        raise ValueError(fault)
    block["fix"] = [block["fix"]] if isinstance(block.get("fix"), str) else block.get("fix", [])
    why = page[end + 4 :].partition("\n## ")[0].strip()
    return {**block, "code": match[1], "name": match[2], "why": why, "path": str(path)}


def examples(page: str) -> tuple[Example, ...]:
    """The programs in the text of a page, in order."""
    found: list[Example] = []
    section = title = ""
    lines = page.splitlines()
    numbers = iter(range(len(lines)))
    for n in numbers:
        if lines[n].startswith("## "):
            section, title = lines[n][3:].strip().lower(), ""
        elif lines[n].startswith("### "):
            title = lines[n][4:].strip()
        elif lines[n].startswith("```"):
            last = next((i for i in numbers if lines[i].startswith("```")), len(lines))
            if lines[n].strip() == "```python":
                found.append(Example(section, title, "\n".join(lines[n + 1 : last]) + "\n", n + 2))
    return tuple(found)


def _fault(block: dict[str, Any]) -> str:
    """What is wrong with a toml block, in a few words."""
    checks = [f"unknown key `{key}`" for key in block if key not in KEYS]
    checks += [f"no `{key}`" for key in ("level", "hazards", "message", "hint") if not block.get(key)]
    checks += [] if block.get("level") in LEVELS else [f"level is one of {', '.join(LEVELS)}"]
    hazards = block.get("hazards")
    named = isinstance(hazards, list) and all(isinstance(hazard, str) for hazard in hazards)
    checks += [] if named else ["`hazards` is not a list of names"]
    fix = block.get("fix", [])
    named = isinstance(fix, str) or (isinstance(fix, list) and all(isinstance(name, str) for name in fix))
    checks += [] if named else ["`fix` is neither a recipe nor a list of them"]
    names = [fix] if isinstance(fix, str) else fix
    checks += [f"unknown recipe `{name}`" for name in names if named and not _is_recipe(name)]
    breaks = block.get("breaks", [])
    listed = isinstance(breaks, list)
    checks += [] if listed else ["`breaks` is not a list"]
    checks += [f"unknown break `{name}`" for name in breaks if listed and name not in BREAKS]
    checks += [f"`{key}` is not a text" for key in TEXTS if not isinstance(block.get(key, ""), str)]
    checks += [] if isinstance(block.get("default", True), bool) else ["`default` is true or false"]
    hints = block.get("hints", {})
    texts = isinstance(hints, dict) and all(isinstance(text, str) for text in hints.values())
    checks += [] if texts else ["`hints` is not a table of texts"]
    checks += [f"unknown manner `{name}`" for name in hints if texts and name not in MANNERS]
    return checks[0] if checks else _field_fault("".join((*[block.get(key, "") for key in TEXTS], *hints.values())))


def _is_recipe(name: str) -> bool:
    module = name.replace("-", "_")
    return not module.startswith("_") and (RECIPES / f"{module}.py").is_file()


def _field_fault(text: str) -> str:
    """What is wrong with the fields of a message: only a name may stand in the braces."""
    for _, name, form, conversion in string.Formatter().parse(text):
        if name is not None and (name not in FIELDS or form or conversion):
            told = f"{name}{f'!{conversion}' if conversion else ''}{f':{form}' if form else ''}"
            return f"unknown field {{{told}}}"
    return ""
