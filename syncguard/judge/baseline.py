"""What was known before and the findings of a check in; those that are new, and the entries that are stale, out."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from syncguard import atomic
from syncguard.config import ConfigError, shown
from syncguard.read.notebook import parts_of
from syncguard.read.source import Source
from syncguard.terms import Finding, Site

VERSION = 1
LONGEST = 200  # characters of a snippet that are written out
# Strings as they are, comments and blanks to be judged, and all else.
PIECES = re.compile(
    r"""(?P<string>\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<comment>\#[^\n]*)|(?P<blank>(?:\s|\\\n)+)|(?P<word>\w+)|(?P<sign>.)""",
    re.DOTALL,
)
UNREADABLE = "SG000"  # what hides everything else in its file is never a thing to get used to


class Entry(msgspec.Struct, frozen=True, order=True):
    """A finding as it is known though lines move: `path` is whole in memory, relative to the baseline in its file;
    `occurrence` counts from 1 the equal findings of a function."""

    path: str
    function: str
    code: str
    snippet: str
    occurrence: int


class Past(msgspec.Struct, frozen=True):
    """What is not new: the entries of a baseline, and at a commit the texts of the files that are not the same now."""

    entries: frozenset[Entry] = frozenset()
    texts: Mapping[str, bytes] | None = None


class Divided(msgspec.Struct, frozen=True):
    """The findings that are new, those that are known, the entries of the new ones, and the entries that are stale."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...] = ()
    entries: tuple[Entry, ...] = ()
    stale: tuple[Entry, ...] = ()


Key = tuple[Site, str, str]  # a finding by its place, in a whole path, its rule and its message


class Examined(Protocol):
    """What was found in one file."""

    @property
    def findings(self) -> tuple[Finding, ...]: ...
    @property
    def allowed(self) -> tuple[Finding, ...]: ...


class Row(msgspec.Struct, frozen=True):
    """A line of the file."""

    path: str
    code: str
    snippet: str
    occurrence: int
    function: str = ""


class File(msgspec.Struct, frozen=True):
    """The file."""

    findings: tuple[Row, ...]


class Head(msgspec.Struct, frozen=True):
    """What every version of the file has."""

    version: int


# -- the file ---------------------------------------------------------------------------------------


def load(file: str) -> frozenset[Entry]:
    """The entries of a baseline. Raises ConfigError where the file is none."""
    name = shown(file)
    try:
        data = Path(file).read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{name}: there is no such baseline; `--update-baseline` writes one") from None
    except OSError as fault:
        raise ConfigError(f"{name}: the baseline cannot be read: {fault.strerror or fault}") from None
    if b"\n<<<<<<< " in data:
        raise ConfigError(f"{name}: holds the marks of a merge; take either side, then run with `--update-baseline`")
    try:
        version = msgspec.json.decode(data, type=Head).version
        if version > VERSION:
            raise ConfigError(f"{name}: a baseline of version {version}; this SyncGuard reads version {VERSION}")
        rows = msgspec.json.decode(data, type=File).findings
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{name}: not a baseline: {fault}") from None
    folder = os.path.dirname(os.path.realpath(file))
    return frozenset(
        Entry(os.path.normpath(os.path.join(folder, row.path)), row.function, row.code, row.snippet, row.occurrence)
        for row in rows
    )


def save(file: str, entries: Iterable[Entry]) -> None:
    """Write a baseline whole or not at all: sorted, a line each, so that a diff is read easily. Raises ConfigError."""
    place = os.path.realpath(file)
    rows = sorted(replace(entry, path=_relative(entry.path, os.path.dirname(place))) for entry in entries)
    lines = [f"  {msgspec.json.encode(entry).decode()}" for entry in rows]
    text = f'{{\n "version": {VERSION},\n "findings": [\n' + ",\n".join(lines) + ("\n" if lines else "") + " ]\n}\n"
    try:
        atomic.write(Path(place), text.encode())
    except OSError as fault:
        raise ConfigError(f"{shown(file)}: cannot be written: {fault.strerror or fault}") from None


def _text(path: str) -> str:
    """A path as it can be written, though it be no Unicode."""
    return path.encode("utf-8", "backslashreplace").decode()


def _relative(path: str, folder: str) -> str:
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # on another drive
        return path


# -- findings ---------------------------------------------------------------------------------------


def entered(examined: Iterable[tuple[Examined, Source]]) -> dict[Key, Entry]:
    """The entry of every finding, shown or not, and counted with those that a comment allows: what the user chooses to
    see does not change which of two equal ones is the second.
    """
    return {key: entry for one, source in examined for key, entry in _entries(one, source)}


def _entries(one: Examined, source: Source) -> Iterator[tuple[Key, Entry]]:
    path = _text(os.path.realpath(source.path))
    findings = [*one.findings, *one.allowed]
    allowed = {(f.site, f.code, f.message) for f in one.allowed}
    seen: Counter[Entry] = Counter()
    lines = source.text.split("\n")
    placed = sorted((_whole(f.site, source), f.code, f.message, f.function, f.site) for f in findings)
    for whole, code, message, function, site in placed:
        first = Entry(path, function, code, snippet(whole, lines), 1)
        seen[first] += 1
        if (site, code, message) not in allowed:
            yield (site, code, message), replace(first, occurrence=seen[first])


def divided(
    findings: Sequence[Finding],
    entries: Mapping[Key, Entry],
    known: frozenset[Entry],
    written: frozenset[Entry],
    read: Iterable[str],
) -> Divided:
    """The findings that are shown, by whether they are known, and the `written` entries that nothing matches any more:
    in files that were read, and of those that are gone.
    """
    told = [(finding, entries[_key(finding)]) for finding in findings]
    new = [pair for pair in told if pair[1] not in known or pair[0].code == UNREADABLE]
    old = [pair[0] for pair in told if pair[1] in known and pair[0].code != UNREADABLE]
    left = written.difference(entries.values())
    checked = {_text(os.path.realpath(path)) for path in read}
    gone = {path for path in {entry.path for entry in left} if path in checked or not os.path.lexists(path)}
    stale = sorted(entry for entry in left if entry.path in gone)
    return Divided(tuple(f for f, _ in new), tuple(old), tuple(entry for _, entry in new), tuple(stale))


def _key(finding: Finding) -> Key:
    return replace(finding.site, path=os.path.abspath(finding.site.path)), finding.code, finding.message


def updated(entries: Iterable[Entry], gone: Iterable[Entry], new: Iterable[Entry]) -> frozenset[Entry]:
    """The entries without those that are stale, with those of new findings."""
    return frozenset(entries).difference(gone).union(entry for entry in new if entry.code != UNREADABLE)


def snippet(site: Site, lines: Sequence[str]) -> str:
    """The source of a site on one line, the same however it is laid out: without comments and blanks that say nothing,
    and without a last comma."""
    held = list(lines[site.line - 1 : site.end_line])
    if not held:
        return ""
    held[-1] = held[-1][: max(site.end_column - 1, 0)]
    held[0] = held[0][site.column - 1 :]
    pieces: list[str] = []
    apart = False
    for match in PIECES.finditer("\n".join(held)):
        kind, text = match.lastgroup, match[0]
        if kind in ("comment", "blank"):
            apart = True
            continue
        if text in (")", "]", "}") and pieces[-1:] == [","]:
            pieces.pop()
        if apart and kind in ("word", "string") and pieces and (pieces[-1][-1].isalnum() or pieces[-1][-1] in "_\"'"):
            pieces.append(" ")
        pieces.append(text)
        apart = False
    text = "".join(pieces)
    if len(text) <= LONGEST:
        return text
    from hashlib import blake2b

    return f"{text[: LONGEST - 20]}... {blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def _whole(site: Site, source: Source) -> Site:
    """The site in the text of its file, though it be told by its notebook's cell."""
    _, number = parts_of(site.path)
    if not source.cells or not number:
        return site
    first = next((line for cell, line in source.cells if cell == number), 1)
    return Site(source.path, site.line + first - 1, site.column, site.end_line + first - 1, site.end_column)
