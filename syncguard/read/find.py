"""Paths given by the user -> the files to read, in a stable order, and a note on what was left out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from syncguard.config import DEFAULT_EXCLUDE, Config
from syncguard.read.source import FileNote
from syncguard.selection import below, matcher

SUFFIXES = (".py", ".ipynb")
STUB = "a stub has no code that runs"
SILENT = frozenset(name for name in DEFAULT_EXCLUDE if name.startswith((".", "__")))


class Found(msgspec.Struct, frozen=True):
    """The files to read ("-" is standard input), and what was left out."""

    paths: tuple[str, ...]
    notes: tuple[FileNote, ...]


class Ignores(msgspec.Struct, frozen=True):
    """The .gitignore of one folder; those of the folders above come first in a chain of them."""

    folder: str
    verdict: Callable[[str], bool | None]


def find(paths: Sequence[str], config: Config) -> Found:
    """Files as given, folders walked: each file once, sorted within its folder. A link to a folder is not followed."""
    rules = _Rules.of(config)
    files: dict[str, str] = {}
    notes: list[FileNote] = []
    for path in paths:
        for item in _walk(path, rules) if path != "-" and os.path.isdir(path) else _named(path):
            if isinstance(item, FileNote):
                notes.append(item)
            else:
                files.setdefault(*item)
    return Found(tuple(files.values()), tuple(dict.fromkeys(notes)))


def ignored(path: str, root: str) -> bool:
    """Whether the .gitignore of a folder ignores such a path in it, were it there."""
    inside = path.strip("/") + "/"
    return any(ignores.verdict(inside) for ignores in _ignores(os.path.join(root, ".gitignore"), root))


class _Rules(msgspec.Struct, frozen=True):
    """What a walk leaves out: names, patterns relative to the configuration's folder, and .gitignore."""

    names: frozenset[str]
    matches: Callable[[str], bool] | None
    root: str
    gitignore: bool

    @classmethod
    def of(cls, config: Config) -> _Rules:
        given = (*config.exclude, *config.extend_exclude)
        names = frozenset(name for name in given if not set(name) & set("*?[!/#\\ "))
        patterns = [pattern for pattern in given if pattern not in names]
        return cls(names, matcher(patterns) if patterns else None, config.root, config.respect_gitignore)


class _Folder(msgspec.Struct, frozen=True):
    """A folder to walk: where it really is, its name for the user, its path for patterns, the ignores so far."""

    path: str
    shown: str
    relative: str
    chain: tuple[Ignores, ...]


Item = FileNote | tuple[str, str]


def _named(path: str) -> Iterator[Item]:
    """A file that the user named is read whatever a pattern says, if it is Python."""
    if path == "-" or path.endswith(SUFFIXES) or not os.path.exists(path) or _runs_python(path):
        yield ("-" if path == "-" else os.path.realpath(path)), path
    else:
        yield FileNote(path, "skipped", STUB if path.endswith(".pyi") else "not Python")


def _runs_python(path: str) -> bool:
    """Whether a file without a suffix says that Python runs it."""
    if os.path.splitext(path)[1] or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            first = file.readline(256)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first


def _walk(path: str, rules: _Rules) -> Iterator[Item]:
    """The files of a folder and then of those below it, by name."""
    start = os.path.realpath(path)
    shown = "" if path in (".", "./") else os.path.join(path, "")
    relative = below(rules.root, start) if rules.matches else ""
    open_ = [_Folder(start, shown, "" if relative in ("", ".") else relative + "/", _above(start, rules))]
    while open_:
        folder = open_.pop()
        inner: list[_Folder] = []
        for item in _entries(folder, rules):
            if isinstance(item, _Folder):
                inner.append(item)
            else:
                yield item
        open_.extend(reversed(inner))


def _entries(folder: _Folder, rules: _Rules) -> Iterator[Item | _Folder]:
    try:
        with os.scandir(folder.path) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as fault:
        yield FileNote(folder.shown or ".", "broken", f"cannot be read: {fault.strerror or fault}")
        return
    chain = folder.chain
    if rules.gitignore and any(entry.name == ".gitignore" for entry in entries):
        chain = (*chain, *_ignores(os.path.join(folder.path, ".gitignore"), folder.path))
    for entry in entries:
        name, shown = entry.name, folder.shown + entry.name
        kind = _kind(entry)
        if kind == "other":
            continue
        inner = _Folder(os.path.join(folder.path, name), shown + os.sep, f"{folder.relative}{name}/", chain)
        if reason := _left_out(name, inner, kind == "folder", rules):
            if name not in SILENT:
                yield FileNote(shown + ("/" if kind == "folder" else ""), "skipped", reason)
        elif kind == "folder":
            yield inner
        elif kind in ("file", "link"):
            yield (os.path.realpath(inner.path) if kind == "link" else inner.path), shown
        else:
            yield FileNote(shown, "skipped", kind)


def _kind(entry: os.DirEntry[str]) -> str:
    """folder, file, link (to a file), other (not ours), or why it is skipped."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return "folder"
        linked = entry.is_symlink()
        if linked and entry.is_dir():
            return "a link to a folder"
        if not entry.name.endswith(SUFFIXES):
            return "other"
        if linked:
            return "link"
        return "file" if entry.is_file() else "not a regular file"
    except OSError:
        # A link that loops, or an entry that went away: reading it says so.
        return "link" if entry.name.endswith(SUFFIXES) else "other"


def _left_out(name: str, inner: _Folder, is_folder: bool, rules: _Rules) -> str:
    """Why a walk leaves something out, or ""."""
    slash = "/" if is_folder else ""
    if name in rules.names or (rules.matches and rules.matches(inner.relative[:-1] + slash)):
        return "excluded"
    for ignores in reversed(inner.chain):
        verdict = ignores.verdict(inner.path[len(ignores.folder) + 1 :].replace(os.sep, "/") + slash)
        if verdict is not None:
            return "in .gitignore" if verdict else ""
    return ""


def _above(start: str, rules: _Rules) -> tuple[Ignores, ...]:
    """The .gitignore files between the repository's top and a folder, unless they ignore that very folder."""
    if not rules.gitignore:
        return ()
    folders = [start]
    while not os.path.exists(os.path.join(folders[-1], ".git")):
        up = os.path.dirname(folders[-1])
        if up == folders[-1]:
            return ()
        folders.append(up)
    top = folders[-1]
    chain = _ignores(os.path.join(top, ".git", "info", "exclude"), top)
    for folder in reversed(folders[1:]):
        chain = (*chain, *_ignores(os.path.join(folder, ".gitignore"), folder))
    for ignores in reversed(chain):
        inside = start[len(ignores.folder) + 1 :].replace(os.sep, "/")
        if inside and (verdict := ignores.verdict(inside + "/")) is not None:
            # Who names an ignored folder wants it read.
            return () if verdict else chain
    return chain


def _ignores(file: str, folder: str) -> tuple[Ignores, ...]:
    """The patterns of one file, if it is there and holds any."""
    try:
        with open(file, encoding="utf-8", errors="replace") as text:  # noqa: PTH123
            lines = [line for line in text.read().split("\n") if line.strip() and not line.startswith("#")]
    except OSError:
        return ()
    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])
    # One expression says no to nearly every path at once; the spec then decides which pattern was the last to match.
    texts = [pattern.regex.pattern.replace("(?P<ps_d>", "(?:") for pattern in spec.patterns if pattern.regex]
    some = re.compile("|".join(f"(?:{text})" for text in texts) or "(?!)")
    return (Ignores(folder, lambda path: spec.check_file(path).include if some.match(path) else None),)


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
