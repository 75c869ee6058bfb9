"""rules/ -> Pack: what every torch callable does (ops) and what we think of it (rules); refuses what is incomplete."""

from __future__ import annotations

import json
import os
import re
import string
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import syncguard
from syncguard.terms import Op, Rule, Wait

CONDITIONS = frozenset(
    "missing given alone tensor number data host true false not_false mask zero_dim integers slice_bound"
    " host_index to_host to_device pinned pageable zero_dim_target".split()
)
KINDS = frozenset("tensor int float bool str number none size device dtype array self unknown new module".split())
FLAGS = {
    **dict.fromkeys("bool int float complex promote count".split(), "dtype"),
    **dict.fromkeys("0d 1d 2d reduce samerank".split(), "rank"),
    **dict.fromkeys("host device factory like kwarg".split(), "place"),
}
ROW_KEYS = frozenset("also args returns waits aten mechanism alternative caveat since until evidence".split())
WAIT_KEYS = frozenset("hazard when on since until mode".split())
EVIDENCE_KEYS = frozenset("state torch at note".split())
PAGE_KEYS = frozenset("level hazards breaks fix since default message hint".split())
STATES, PLACES = ("measured", "source", "doc", "claimed"), ("argument", "self", "result", "always")
LEVELS, BREAKS = ("error", "warning", "advice"), ("capture", "compile")
PAGE = re.compile(r"([A-Z]{2,}\d{3})-([a-z0-9-]+)\.md")
VERSION = re.compile(r"\d+\.\d+(\.\d+)?")
Conditions = tuple[tuple[str, str], ...]


class PackError(ValueError):
    """A pack that is incomplete or malformed: file, entry and fault on one line."""


@dataclass(frozen=True, slots=True)
class Result:
    """A parsed `returns` expression: a kind, the flags of a tensor, and the named or numbered parts of a container."""

    kind: str
    dtype: str = ""
    rank: str = ""
    place: str = ""
    parts: tuple[tuple[str, Result], ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """One program of a rule page: the section (caught, fixed, quiet), its title, and the page line of its first line."""

    section: str
    title: str
    text: str
    line: int


@dataclass(frozen=True)
class Pack:
    """Facts and judgements. `ops` holds the hand-written rows; `op` also answers from the generated table and for subclasses."""

    ops: Mapping[str, Op]
    rules: tuple[Rule, ...]
    classes: Mapping[str, str]
    digest: str
    made: Mapping[str, list[str]] = field(default_factory=dict, repr=False)
    aliases: Mapping[str, str] = field(default_factory=dict, repr=False)

    def op(self, name: str) -> Op | None:
        """The row of a callable or property; what a class lacks is looked up on its bases. None: never heard of it."""
        if name not in self._asked:
            self._asked[name] = self._find(name)
        return self._asked[name]

    def is_property(self, name: str) -> bool:
        """Is this an attribute that is read, not called?"""
        return next((len(self.made[n]) > 2 for n in self._spellings(name) if n in self.made), False)

    def _find(self, name: str) -> Op | None:
        hand = next((self.ops[n] for n in self._spellings(name) if n in self.ops), None)
        returns, args = next((self.made[n][:2] for n in self._spellings(name) if n in self.made), ("", ""))
        names = _positional(args.split(",")) if args else ()
        if hand is not None:
            return replace(hand, name=name, args=hand.args or names, returns=hand.returns or returns)
        return Op(name, names, returns) if returns else None

    def rule(self, key: str) -> Rule | None:
        """The page with this code or name."""
        return self._pages.get(key)

    def by_hazard(self, hazard: str) -> Rule:
        """The page that judges a hazard."""
        return self._hazards[hazard]

    def base(self, name: str) -> str | None:
        """The nearest public base of a class."""
        return self.classes.get(name)

    def _spellings(self, name: str) -> Iterator[str]:
        owner, _, method = name.rpartition(".")
        yield name
        if name in self.aliases:
            yield self.aliases[name]
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


class Rows(Mapping[str, Op]):
    """Hand rows by every name that they go by, made into ops as they are asked for."""

    def __init__(self, rows: dict[str, dict[str, Any]], also: dict[str, str]) -> None:
        self._rows, self._also, self._made = rows, also, dict[str, Op]()

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
    """Our rules with the user's packs merged over them, compiled once and kept in the user's cache."""
    folders = (_home(), *extra)
    files = [path for folder in folders for path in _files(folder)]
    digest = _digest(files)
    compiled = _read(digest)
    if compiled is None:
        compiled = parse(folders)
        _write(digest, compiled)
    rules = tuple(Rule(**{k: tuple(v) if isinstance(v, list) else v for k, v in page.items()}) for page in compiled["rules"])
    rows = Rows(compiled["rows"], compiled["also"])
    return Pack(rows, rules, compiled["classes"], digest, compiled["results"], compiled["aliases"])


def parse(folders: tuple[Path, ...]) -> dict[str, Any]:
    """The packs as plain data, later ones over earlier ones; refuses what is malformed."""
    rows: dict[str, Any] = {}
    also: dict[str, str] = {}
    pages: dict[str, Any] = {}
    made: dict[str, Any] = {"results": {}, "classes": {}, "aliases": {}}
    for folder in folders:
        if not folder.is_dir():
            raise PackError(f"{folder}: no such pack")
        ours, spelled = _rows(folder)
        for name in (*ours, *spelled):
            rows.pop(name, None), also.pop(name, None)
        rows.update(ours), also.update(spelled)
        pages.update((path.name[: path.name.index("-")], _page(path)) for path in _files(folder) if PAGE.fullmatch(path.name))
        for key, table in json.loads(_text(folder / "ops" / "results.json") or "{}").items():
            if key in made:
                made[key].update(table)
    also = {name: row for name, row in also.items() if row in rows}
    rules = [pages[code] for code in sorted(pages)]
    _check_hazards(rows, rules)
    return {"rows": rows, "also": also, "rules": rules, **made}


def unjudged(pack: Pack) -> tuple[str, ...]:
    """The hazards that rows name and no page judges."""
    judged = {hazard for rule in pack.rules for hazard in rule.hazards}
    return tuple(sorted({wait.hazard for op in pack.ops.values() for wait in op.waits} - judged))


def results(text: str) -> tuple[tuple[Conditions, Result], ...]:
    """A `returns` expression parsed: alternatives, of which the first whose conditions hold applies (the last has none).

    One alternative: tensor [bool|int|float|complex|promote|count] [0d|1d|2d|reduce|samerank] [host|device|factory|like|kwarg]
    · int float bool str number none size device dtype array self unknown new module · tuple(a, b) · list(a) · named(values=a)
    promote: the common dtype of all arguments, Python numbers included · count: the first tensor's dtype, but int for a bool
    Several: `int if given dim; size`, `list(tensor int 1d) if alone condition; tensor promote`. ValueError says what is wrong.
    """
    found: list[tuple[Conditions, Result]] = []
    for alternative in text.split(";"):
        shape, _, test = alternative.partition(" if ")
        tokens = re.findall(r"[\w]+|\S", shape)
        parsed = _expression(tokens)
        if tokens:
            raise ValueError(f"unexpected `{tokens[0]}` in `{text}`")
        found.append((tuple(_condition(part) for part in test.split(",")) if test else (), parsed))
    if found[-1][0] or any(not conditions for conditions, _ in found[:-1]):
        raise ValueError("the last result alone has no conditions")
    return tuple(found)


def examples(page: str) -> tuple[Example, ...]:
    """The programs of a rule page's text, in order."""
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


def _condition(text: str) -> tuple[str, str]:
    name, _, args = text.strip().partition(" ")
    if name not in CONDITIONS or not args:
        raise ValueError(f"unknown condition `{text.strip()}`")
    return name, args


def _expression(tokens: list[str]) -> Result:
    kind = tokens.pop(0) if tokens else ""
    if kind in ("tuple", "list", "named"):
        return Result(kind, parts=_parts(kind, tokens))
    if kind not in KINDS:
        raise ValueError(f"unknown result `{kind}`")
    flags: dict[str, str] = {}
    while kind == "tensor" and tokens and tokens[0] in FLAGS:
        group = FLAGS[tokens[0]]
        if group in flags:
            raise ValueError(f"`{tokens[0]}` contradicts `{flags[group]}`")
        flags[group] = tokens.pop(0)
    return Result(kind, **flags)


def _parts(kind: str, tokens: list[str]) -> tuple[tuple[str, Result], ...]:
    parts: list[tuple[str, Result]] = []
    separator = "("
    while separator != ")":
        if tokens[:1] != [separator]:
            raise ValueError(f"`{separator}` expected in {kind}(...)")
        tokens.pop(0)
        name = ""
        if kind == "named":
            name, equals = (tokens.pop(0), tokens.pop(0)) if len(tokens) > 1 else ("", "")
            if equals != "=" or not name.isidentifier():
                raise ValueError("named(...) takes name=result")
        parts.append((name, _expression(tokens)))
        separator = ")" if tokens[:1] == [")"] else ","
    tokens.pop(0)
    if kind == "list" and len(parts) != 1:
        raise ValueError("list(...) takes one result")
    return tuple(parts)


def _op(name: str, row: dict[str, Any]) -> Op:
    known = {f.name: row[f.name] for f in fields(Op) if f.name in row}
    waits = tuple(
        Wait(**{**{f.name: wait[f.name] for f in fields(Wait) if f.name in wait}, "when": tuple(wait.get("when", {}).items())})
        for wait in row.get("waits", ())
    )
    args = _positional(row.get("args", ()))
    return Op(**{**known, "name": name, "waits": waits, "known": True, "args": args, "evidence": tuple(row["evidence"])})


def _positional(args: Sequence[str]) -> tuple[str, ...]:
    """Argument names up to a starred one, which takes all further positional arguments."""
    star = next((n for n, arg in enumerate(args) if arg.startswith("*")), len(args) - 1)
    return tuple([arg.lstrip("*") for arg in args[: star + 1]])


def _rows(folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    import tomllib

    rows: dict[str, Any] = {}
    also: dict[str, str] = {}
    for path in sorted((folder / "ops").glob("*.toml")):
        try:
            table = tomllib.loads(_text(path))
        except ValueError as fault:
            raise PackError(f"{_short(path)}: {fault}") from None
        for name, row in table.items():
            fault = _fault(row)
            for spelling in (name, *(row.get("also", ()) if not fault else ())):
                fault = fault or (f"`{spelling}` has a row already" if spelling in rows or spelling in also else "")
                also[spelling] = name
            if fault:
                raise PackError(f"{_short(path)}: [{name}] {fault}")
            rows[name] = row
            del also[name]
    return rows, also


def _fault(row: Any) -> str:
    """What is wrong with a row, in a few words."""
    if not isinstance(row, dict):
        return "is not a table; quote the dotted name"
    checks = [f"unknown key `{key}`" for key in row if key not in ROW_KEYS]
    checks += [f"`{key}` is not a list of names" for key in ("also", "args") if not _strings(row.get(key, []))]
    if "returns" in row:
        try:
            results(row["returns"])
        except (ValueError, TypeError) as fault:
            checks.append(f"returns: {fault}")
    evidence = row.get("evidence")
    if not evidence or not isinstance(evidence, list):
        checks.append("no evidence")
    elif any(set(item) - EVIDENCE_KEYS or item.get("state") not in STATES or not item.get("at") for item in evidence):
        checks.append(f"evidence needs `at` and a state ({', '.join(STATES)})")
    checks += [fault for wait in row.get("waits", ()) if (fault := _wait_fault(wait, row.get("args", ())))]
    checks += [_version_fault(row)]
    return next((fault for fault in checks if fault), "")


def _wait_fault(wait: dict[str, Any], args: list[str]) -> str:
    checks = [f"unknown key `{key}` in waits" for key in wait if key not in WAIT_KEYS]
    checks += [] if isinstance(wait.get("hazard"), str) else ["a wait names no hazard"]
    checks += [] if wait.get("on", "argument") in PLACES else [f"unknown place `{wait['on']}`"]
    for condition, names in wait.get("when", {}).items():
        if condition not in CONDITIONS:
            checks.append(f"unknown condition `{condition}`")
        elif not isinstance(names, str):
            checks.append(f"condition `{condition}` takes argument names")
        else:
            checks += [f"no argument `{arg}` in args" for arg in names.split("|") if arg not in args and f"*{arg}" not in args]
    return next((fault for fault in (*checks, _version_fault(wait)) if fault), "")


def _version_fault(table: dict[str, Any]) -> str:
    for key in ("since", "until"):
        if key in table and not (isinstance(table[key], str) and VERSION.fullmatch(table[key])):
            return f"`{key}` is not a version such as \"2.6\""
    numbers = [tuple(map(int, table[key].split("."))) for key in ("since", "until") if table.get(key)]
    return "`since` is not before `until`" if len(numbers) == 2 and numbers[0] >= numbers[1] else ""


def _page(path: Path) -> dict[str, Any]:
    import tomllib

    match, page = PAGE.fullmatch(path.name), _text(path)
    begin, end = page.find("```toml\n"), page.find("\n```", page.find("```toml\n") + 8)
    try:
        if match is None or begin < 0 or end < 0:
            raise ValueError("no toml block")
        block = tomllib.loads(page[begin + 8 : end + 1])
        if fault := _page_fault(block):
            raise ValueError(fault)
    except ValueError as fault:
        raise PackError(f"{_short(path)}: {fault}") from None
    why = page[end + 4 :].partition("\n## ")[0].strip()
    return {**block, "code": match[1], "name": match[2], "why": why, "path": str(path)}


def _page_fault(block: dict[str, Any]) -> str:
    checks = [f"unknown key `{key}`" for key in block if key not in PAGE_KEYS]
    checks += [f"no `{key}`" for key in ("level", "hazards", "message", "hint") if not block.get(key)]
    checks += [] if block.get("level") in LEVELS else [f"level is one of {', '.join(LEVELS)}"]
    checks += [] if _strings(block.get("hazards")) else ["`hazards` is not a list of names"]
    checks += [f"unknown break `{name}`" for name in block.get("breaks", ()) if name not in BREAKS]
    if checks:
        return checks[0]
    names = [name for _, name, _, _ in string.Formatter().parse(block["message"]) if name is not None]
    return next((f"unknown field {{{name}}} in message" for name in names if name not in ("source", "operand", "op")), "")


def _check_hazards(rows: dict[str, Any], pages: list[dict[str, Any]]) -> None:
    owner: dict[str, str] = {}
    for page in pages:
        for hazard in page["hazards"]:
            if owner.setdefault(hazard, page["code"]) != page["code"]:
                raise PackError(f"{_short(Path(page['path']))}: hazard `{hazard}` is judged by {owner[hazard]} already")


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _home() -> Path:
    shipped = Path(__file__).parent / "rules"
    return shipped if shipped.is_dir() else Path(__file__).parent.parent / "rules"


def _files(folder: Path) -> list[Path]:
    """The files of a pack that count, sorted."""
    ops = folder / "ops"
    names = [path for path in (*folder.glob("*.md"), *ops.glob("*.toml"), ops / "results.json")]
    return sorted(path for path in names if path.suffix != ".md" or PAGE.fullmatch(path.name))


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


def _short(path: Path) -> str:
    return "/".join(path.parts[-3:] if path.suffix == ".toml" else path.parts[-2:])


def _digest(files: list[Path]) -> str:
    """What the compiled pack depends on, without opening a file."""
    from hashlib import blake2b

    seen = [f"{syncguard.__version__ if hasattr(syncguard, '__version__') else ''}"]
    for path in (*files, Path(__file__)):
        try:
            stat = os.stat(path)
            seen.append(f"{path} {stat.st_size} {stat.st_mtime_ns}")
        except OSError:
            seen.append(f"{path} -")
    return blake2b("\n".join(seen).encode(), digest_size=12).hexdigest()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "syncguard"


def _read(digest: str) -> dict[str, Any] | None:
    """The compiled pack, or None where it is missing or damaged."""
    try:
        data = (_cache() / f"pack-{digest}.json").read_bytes()
        sum_, _, body = data.partition(b"\n")
        return json.loads(body) if int(sum_, 16) == zlib.crc32(body) else None
    except (OSError, ValueError):
        return None


def _write(digest: str, compiled: dict[str, Any]) -> None:
    body = json.dumps(compiled, separators=(",", ":")).encode()
    try:
        folder = _cache()
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"draft-{os.getpid()}-{digest}"
        draft.write_bytes(f"{zlib.crc32(body):08x}\n".encode() + body)
        os.replace(draft, folder / f"pack-{digest}.json")
    except OSError:
        pass
