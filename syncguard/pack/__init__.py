"""rules/ -> Pack: what every torch callable does (ops) and what we think of it (rules); refuses what is incomplete."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

import syncguard
from syncguard.pack import packed, pages, places
from syncguard.pack.pages import Example, examples
from syncguard.pack.places import Places
from syncguard.pack.returns import CONDITIONS, Conditions, Result, results
from syncguard.pack.rows import PLACES, STATES, every, read
from syncguard.terms import SETUP, UPLOAD, Op, Rule, Wait

__all__ = [
    "CONDITIONS", "PLACES", "STATES", "Conditions", "Example", "Pack", "PackError", "Result",
    "examples", "home", "load", "parse", "results",
]  # fmt: skip


class PackError(ValueError):
    """A pack that is incomplete or malformed: file, entry and fault on one line."""


class Pack(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Facts and judgements. `ops` holds the hand-written rows; `op` answers for every torch callable."""

    ops: Mapping[str, Op]
    rules: tuple[Rule, ...]
    classes: Mapping[str, str]
    digest: str
    places: Places  # our own, whatever packs are merged over
    torch: str = ""
    made: Mapping[str, list[str]] = {}
    aliases: Mapping[str, str] = {}

    def op(self, name: str) -> Op | None:
        """The row of a callable or property; what a class lacks is looked up on its bases. None: never heard of it."""
        if name not in self._asked:
            self._asked[name] = self._find(name)
        return self._asked[name]

    def is_property(self, name: str) -> bool:
        """Is this an attribute that is read, not called?"""
        return next((len(self.made[n]) > 2 for n in self.spellings(name) if n in self.made), False)

    def rule(self, key: str) -> Rule | None:
        """The page with this code or name."""
        return self._pages.get(key)

    def by_hazard(self, hazard: str) -> Rule:
        """The page that judges a hazard of a row."""
        return self._hazards[hazard]

    def code_of(self, hazard: str) -> str:
        """The code of the page that judges what a run saw; "" where no row has such a hazard."""
        rule = self._hazards.get(hazard)
        return rule.code if rule is not None else ""

    def again(self, name: str, hazard: str) -> str:
        """The hazard of what a run saw at step after step: of what moves a module, that of an upload."""
        op = self.op(name) if hazard == SETUP else None
        return UPLOAD if op is not None and any(map(moves, op.waits)) else hazard

    def judged(self, op: Op) -> dict[str, Rule]:
        """The page of each hazard that a row has; there is none of what a program does once."""
        waits = (*op.waits, *op.backward)
        return {wait.hazard: self._hazards[wait.hazard] for wait in waits if wait.hazard != SETUP}

    def base(self, name: str) -> str | None:
        """The nearest public base of a class."""
        return self.classes.get(name)

    def row_of(self, name: str) -> str:
        """The name under which a row stands in its file."""
        return self.ops.first(name) if isinstance(self.ops, Rows) else name

    def _find(self, name: str) -> Op | None:
        hand = next((self.ops[n] for n in self.spellings(name) if n in self.ops), None)
        returns, args = next((self.made[n][:2] for n in self.spellings(name) if n in self.made), ("", ""))
        given = args.split(",") if args else []
        names, takes = _positional([one.rstrip("!") for one in given]), _taking(given) if "!" in args else ()
        if hand is not None:
            return replace(hand, name=name, args=hand.args or names, returns=hand.returns or returns, takes=takes)
        return Op(name, names, returns, takes=takes) if returns else None

    def spellings(self, name: str) -> Iterator[str]:
        """The name, the one that it is another spelling of, and the same method on each base."""
        yield name
        if name in self.aliases:
            yield self.aliases[name]
        owner, _, method = name.rpartition(".")
        while owner := self.classes.get(owner, ""):
            yield f"{owner}.{method}"

    @cached_property
    def _asked(self) -> dict[str, Op | None]:
        return {}

    @cached_property
    def _pages(self) -> dict[str, Rule]:
        return {key: rule for rule in self.rules for key in (rule.code, rule.name)}

    @cached_property
    def _hazards(self) -> dict[str, Rule]:
        return {hazard: rule for rule in self.rules for hazard in rule.hazards}


def moves(wait: Wait) -> bool:
    """Is it setup that takes what an object holds on the host to the device?"""
    return wait.hazard == SETUP and any(condition == "of_host" for condition, _ in wait.when)


class Rows(Mapping[str, Op]):
    """Hand rows by every name that they go by, made into ops as they are asked for."""

    def __init__(self, rows: dict[str, dict[str, Any]], also: dict[str, str]) -> None:
        self._rows, self._also, self._made = rows, also, dict[str, Op]()

    def first(self, name: str) -> str:
        return self._also.get(name, name)

    def __getitem__(self, name: str) -> Op:
        if name not in self._made:
            self._made[name] = _op(name, self._rows[self._also.get(name, name)])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._rows or name in self._also

    def __iter__(self) -> Iterator[str]:
        yield from self._rows
        yield from self._also

    def __len__(self) -> int:
        return len(self._rows) + len(self._also)


def load(extra: tuple[Path, ...] = ()) -> Pack:
    """Our rules with the user's packs merged over them, compiled once and kept in the user's cache, and in memory."""
    folders = (home(), *extra)
    return _loaded(folders, packed.digest_of(folders))


@lru_cache(maxsize=packed.KEPT)
def _loaded(folders: tuple[Path, ...], digest: str) -> Pack:
    """The pack of these folders, while they have this digest."""
    if (compiled := packed.read(digest)) is None:
        compiled = parse(folders)
        packed.write(digest, compiled)
    rules = tuple([_rule(page) for page in compiled["rules"]])
    made = [compiled[part] for part in ("torch", "results", "aliases")]
    named = Places(compiled["places"])
    return Pack(Rows(compiled["rows"], compiled["also"]), rules, compiled["classes"], digest, named, *made)


def _rule(page: dict[str, Any]) -> Rule:
    lists = {key: tuple(page.get(key, ())) for key in ("hazards", "breaks", "fix")}
    return Rule(**page | lists | {"hints": tuple(page.get("hints", {}).items())})


def parse(folders: tuple[Path, ...]) -> dict[str, Any]:
    """The packs as plain data, later ones over earlier ones; refuses what is malformed."""
    rows: dict[str, Any] = {}
    also: dict[str, str] = {}
    sites: dict[str, str] = {}
    judged: dict[str, Any] = {}
    made: dict[str, Any] = {"torch": "", "results": {}, "classes": {}, "aliases": {}}
    for folder in folders:
        if not folder.is_dir():
            raise PackError(f"{folder}: no such pack")
        try:
            found, spelled, where = read(folder)
        except ValueError as fault:
            raise PackError(str(fault)) from None
        for name in (*found, *spelled):
            rows.pop(name, None)
            also.pop(name, None)
        rows, also, sites = rows | found, also | spelled, sites | where
        judged |= _rules(folder)
        made = {key: value | table if isinstance(value, dict) else table for key, value, table in _made(folder, made)}
    also = {name: row for name, row in also.items() if row in rows}
    rules = [judged[code] for code in sorted(judged)]
    _check(rows, sites, rules)
    return {"rows": rows, "also": also, "rules": rules, "places": places.read(home()), **made}


def home() -> Path:
    """Where our own rules are: in the package, or beside it where it is installed to be edited."""
    package = Path(syncguard.__file__).parent
    shipped = package / "rules"
    return shipped if shipped.is_dir() else package.parent / "rules"


def _op(name: str, row: dict[str, Any]) -> Op:
    waits, backward = (tuple([_wait(one) for one in row.get(key, ())]) for key in ("waits", "backward"))
    given = tuple(row.get("args", ()))
    named = given[given.index("*") + 1 :] if "*" in given else ()
    args = {"args": _positional(given), "keywords": named, "writes": tuple(row.get("writes", ()))}
    facts = {"name": name, "waits": waits, "backward": backward, "known": True, "evidence": tuple(row["evidence"])}
    return Op(**_known(Op, row) | args | facts)


def _wait(row: dict[str, Any]) -> Wait:
    return Wait(**_known(Wait, row) | {"when": _when(row.get("when", {}))})


def _known(kind: type[msgspec.Struct], row: dict[str, Any]) -> dict[str, Any]:
    """What a row says of the fields of this kind."""
    return {name: row[name] for name in kind.__struct_fields__ if name in row}


def _when(conditions: dict[str, str | list[str]]) -> Conditions:
    """`optimizer.fused` is what the argument `optimizer` was made with; `self.` may go, for it is the default."""
    pairs = [(condition, part) for condition, names in conditions.items() for part in every(names)]
    return tuple([(condition, re.sub(r"\bself\.", "", names)) for condition, names in pairs])


def _positional(args: Sequence[str]) -> tuple[str, ...]:
    """Argument names up to a starred one, which takes all further positional arguments, or to a bare star, behind which
    they are given by name alone.
    """
    star = next((n for n, arg in enumerate(args) if arg.startswith("*")), len(args) - 1)
    return tuple([arg.lstrip("*") for arg in args[: star + 1] if arg != "*"])


def _taking(args: Sequence[str]) -> tuple[int, ...]:
    """The places of the arguments that are marked to be tensors and nothing else; of a starred one several."""
    places = [place for place, one in enumerate(args) if one.endswith("!")]
    return tuple(range(places[0], 10)) if args[places[0]].startswith("*") else tuple(places)


def _rules(folder: Path) -> dict[str, dict[str, Any]]:
    """The pages of one pack by code."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.md")):
        if pages.NAME.fullmatch(path.name):
            try:
                page = pages.read(path)
                if page["code"] in found:
                    raise ValueError(f"{page['code']} has a page already")
            except ValueError as fault:
                raise PackError(f"{'/'.join(path.parts[-2:])}: {fault}") from None
            found[page["code"]] = page
    return found


def _made(folder: Path, before: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """The tables of a pack's generated results, each with what stands there before."""
    path = folder / "ops" / "results.json"
    try:
        tables = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        if not isinstance(tables, dict) or any(type(tables[key]) is not type(before.get(key)) for key in tables):
            raise ValueError(f"holds other things than {', '.join(before)}")
    except ValueError as fault:
        raise PackError(f"{'/'.join(path.parts[-3:])}: {fault}") from None
    return [(key, value, tables.get(key, value)) for key, value in before.items()]


def _check(rows: dict[str, Any], sites: dict[str, str], rules: list[dict[str, Any]]) -> None:
    """Each hazard that a row names is judged by one page, but for what a program does once."""
    owner: dict[str, str] = {}
    for page in rules:
        for hazard in page["hazards"]:
            if owner.setdefault(hazard, page["code"]) != page["code"]:
                raise PackError(f"{Path(page['path']).name}: hazard `{hazard}` is judged by {owner[hazard]} already")
    for name, row in rows.items():
        for wait in (*row.get("waits", ()), *row.get("backward", ())):
            if wait["hazard"] not in owner and wait["hazard"] != SETUP:
                raise PackError(f"{sites[name]}: [{name}] no page judges the hazard `{wait['hazard']}`")
