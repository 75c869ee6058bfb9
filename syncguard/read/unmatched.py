"""A configuration and what was read under it in, a line on each pattern of the user that matches nothing of it out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from syncguard.config import DEFAULT_EXCLUDE, Config
from syncguard.pack.places import matches
from syncguard.read.find import ignored
from syncguard.read.source import FileNote, read
from syncguard.selection import below, files_of, matcher

DEFINED = re.compile(r"\b(?:def|class)[ \t]+(\w+)")


def unmatched(
    config: Config, paths: Sequence[str], notes: Iterable[FileNote], typed: Sequence[str] = ()
) -> Iterator[str]:
    """What matches nothing: of the patterns that were `typed` where a folder is walked, of those of a file where all
    of its folder is, for in a part of it they may rightly match nothing."""
    folders = [os.path.join(os.path.realpath(path), "") for path in paths if path != "-" and os.path.isdir(path)]
    if not folders:
        return
    notes = [*notes]
    yield from _excludes(config, typed, notes, "--exclude")
    if not os.path.join(os.path.realpath(config.root), "").startswith(tuple(folders)):
        return
    for key, patterns in (("exclude", config.exclude), ("extend-exclude", config.extend_exclude)):
        # What is left out by default, or ignored by git, is often made by a tool, and need not be there yet.
        given = [one for one in patterns if one not in (*DEFAULT_EXCLUDE, *typed) and not ignored(one, config.root)]
        yield from _excludes(config, given, notes, f"`{key}`")
    files = [note.path for note in notes if note.state == "read"]
    near = [below(config.root, path) for path in files] if config.per_file_ignores else []
    for pattern, _ in config.per_file_ignores:
        if not any(map(files_of(pattern), near)):
            yield f"`per-file-ignores`: no file that is read matches `{pattern}`{_from(config, pattern)}"
    yield from _names(config, files)


def _excludes(config: Config, patterns: Iterable[str], notes: Sequence[FileNote], key: str) -> Iterator[str]:
    out = [note.path for note in notes if note.reason == "excluded"]
    near = [below(config.root, path) + "/" * path.endswith("/") for path in out]
    for pattern in patterns:
        if not pattern.startswith("!") and not any(map(matcher((pattern,)), near)):
            yield f"{key}: `{pattern}` leaves nothing out{_from(config, pattern)}"


def _from(config: Config, pattern: str) -> str:
    """What a pattern is relative to, where one may have had another folder in mind."""
    if pattern.startswith(("./", "../")):
        return "; patterns are written as in .gitignore, where no `./` matches"
    if "/" not in pattern.strip("/"):
        return ""
    here = os.path.realpath(config.root) == os.path.realpath(".")
    return f"; it is relative to {'this folder' if here else config.root}"


def _names(config: Config, files: Iterable[str]) -> Iterator[str]:
    """The functions that are named hot or cold, and that no file defines."""
    left = {
        (key, name): name.split(".")
        for key, names in (("hot", config.hot), ("cold", config.cold))
        if not config.origin(key).startswith("preset ")
        for name in names
    }
    for file in files:
        if not left:
            return
        defined = {*DEFINED.findall(read(file).text)}
        unseen = {which: [part for part in parts if not _any(part, defined)] for which, parts in left.items()}
        left = {which: parts for which, parts in unseen.items() if parts}
    yield from (f"`{key}`: no function that is read is called `{name}`" for key, name in left)


def _any(pattern: str, names: Iterable[str]) -> bool:
    return any(matches((pattern,), name) for name in names)
