"""What every public torch callable returns -> rules/ops/results.json, by stubs and signatures and by what was seen.

Run with a Python that has torch: `python tools/results.py` writes the file; with `--check` it calls what can be called
and compares what comes back with the pack, hand-written rows included; with `--marks` it only says anew which arguments
can be nothing but a tensor: these have a `!` behind their names.
"""

from __future__ import annotations

import inspect
import json
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

import torch
from fitted import bound, fit, holds
from names import defined, first, members, public, spelled
from observed import Seen, observe
from stubs import Entry, annotated, arguments, stubbed
from taking import marked

from syncguard.pack import load

OUT = Path(__file__).parent.parent / "rules" / "ops" / "results.json"
GIVEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PRIVATE = [name for pattern in GIVEN["private"].split() for name in spelled(pattern)]
WORKS = [f"torch.distributed.{name}" for name in GIVEN["collectives"].split()]
MADE = GIVEN["made"] | dict.fromkeys(WORKS, "torch.distributed.Work")
FIXED = {name: text for text, names in GIVEN["fixed"].items() for name in names.split()}


def main() -> int:
    warnings.simplefilter("ignore")
    if "--check" in sys.argv:
        return check()
    table = json.loads(OUT.read_text("utf-8")) if "--marks" in sys.argv else build()
    for name, entry in table["results"].items():
        entry[1] = marked(name, entry[1].replace("!", ""), GIVEN["taking"])
    OUT.write_text(written(table))
    print(f"{len(table['results'])} results, {len(table['classes'])} classes, {len(table['aliases'])} aliases -> {OUT}")
    return 0


def build() -> dict[str, Any]:
    """The whole table; `aliases` maps other spellings of a function or class to the one that has the entry."""
    objects = public(GIVEN["modules"].split(), PRIVATE, GIVEN["shown"].split())
    home = {id(thing): first(names) for thing, names in objects}
    aliases = {name: home[id(t)] for t, names in objects for name in (*names, *defined(t)) if name != home[id(t)]}
    results: dict[str, Entry] = {}
    classes: dict[str, str] = {}
    for thing, _ in objects:
        name = home[id(thing)]
        if inspect.isclass(thing):
            results[name] = ["new", arguments(thing.__init__, bind=True)]
            results |= members(thing, name, home)
            classes |= dict.fromkeys([name], next((home[id(b)] for b in thing.__mro__[1:] if id(b) in home), ""))
        else:
            results[name] = [annotated(thing), arguments(thing)]
    for name, made in MADE.items():
        returns = "new if true async_op; none" if name in WORKS[2:] else "new"
        results[name], classes[name] = [returns, results.get(name, ("", ""))[1]], made
    classes = {name: base for name, base in classes.items() if base}
    classes |= {name: to for name, to in aliases.items() if to in classes or results[to][0] == "new"}
    results |= stubbed("_VariableFunctions.pyi", "", "torch", PRIVATE)
    beneath = stubbed("_nn.pyi", "", "torch.nn.functional", PRIVATE)
    results |= {name: [kind, own(results.get(name)) or args] for name, (kind, args) in beneath.items()}
    results |= stubbed("__init__.pyi", "TensorBase", "torch.Tensor", PRIVATE)
    for name in GIVEN["operators"].split():
        results.setdefault(f"torch.Tensor.{name}", ["tensor", "self,other"])
    results = {name: entry for name, entry in results.items() if name not in aliases or entry[0] == "new"}
    learn(results, classes, aliases)
    for name, entry in results.items():
        if entry[0] == "tensor" and (where := place(name, entry[1])):
            entry[0] = f"tensor float {where}" if where == "factory" else f"tensor {where}"
    results |= {name: [text, *results.get(name, ("", ""))[1:]] for name, text in FIXED.items() if name not in aliases}
    return {"torch": torch.__version__.partition("+")[0], "results": results, "classes": classes, "aliases": aliases}


def learn(results: dict[str, Entry], classes: dict[str, str], aliases: dict[str, str]) -> None:
    """What was seen is more exact than a stub; a method that its class inherits gets an entry where it differs."""
    found: dict[str, list[Seen]] = {}
    for seen in observe():
        found.setdefault(aliases.get(seen.name, seen.name), []).append(seen)
    for name, calls in found.items():
        key = holder(name, results, classes)
        if not key or results[key][0] == "new":
            continue
        before, args = results[key][:2]
        text = fit([bound(seen, args) for seen in calls], ".forward" in name, place(name, args))
        if before.startswith("list(") and text.startswith("tuple("):
            text = f"list({text[6:-1].partition(',')[0]})"
        if text not in ("", before) and not any(word in text for word in ("unknown", "()", "(, ")):
            results[name] = [text, args, *results[key][2:]]


def holder(name: str, results: dict[str, Entry], classes: dict[str, str]) -> str:
    """The name itself, or the same method on the nearest base that has an entry."""
    owner, _, method = name.rpartition(".")
    while name not in results and owner in classes:
        owner = classes[owner]
        name = f"{owner}.{method}"
    return name if name in results else ""


def own(entry: Entry | None) -> str:
    """The arguments of a function of Python, where it tells them: those of what it calls beneath may be others."""
    return entry[1] if entry is not None and not entry[1].startswith("*") else ""


def place(name: str, args: str) -> str:
    """Where dtype= and device= decide."""
    names, short = args.split(","), name.rpartition(".")[2]
    if "dtype" not in names or name in ("torch.Tensor.to", "torch.Tensor.view", "torch.Tensor.type"):
        return ""
    if short.endswith("_like") or short.startswith("new_"):
        return "like"
    return "factory" if "device" in names and not {"input", "self", "tensors"} & set(names) else "kwarg"


def written(table: dict[str, Any]) -> str:
    """JSON with one entry a line."""
    parts = [f'"torch": {json.dumps(table["torch"])}']
    for key in ("results", "classes", "aliases"):
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(table[key].items()))
        parts.append(f'"{key}": {{\n{lines}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def check() -> int:
    """Call everything again and compare the pack's answers with what comes back."""
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
    print(f"{len(names)} callables, {right + missed} calls; {missed} calls of {len(wrong)} callables are not as said")
    return 1 if missed > (right + missed) // 100 else 0


if __name__ == "__main__":
    sys.exit(main())
