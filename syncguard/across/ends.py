"""What all files together said of the findings, kept with all that this rests on: where nothing of that has changed, it
is so again. Nothing is kept of a check that knows more than it was given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from syncguard.across.texts import Files
from syncguard.cache import folder
from syncguard.cache.table import ENDS, LARGEST, State
from syncguard.examined import Examined
from syncguard.infer.parts import digest
from syncguard.pack.places import Places
from syncguard.read import project
from syncguard.read.source import stamp
from syncguard.terms import Finding

INIT = "__init__.py"  # of the folders around a file it is asked whether they are packages
Stamps = dict[str, "tuple[int, int] | None"]


class End(msgspec.Struct, frozen=True, array_like=True):
    """What is told of each file: its findings, and those that are allowed; and how many functions others make hot."""

    findings: tuple[tuple[Finding, ...], ...]
    allowed: tuple[tuple[Finding, ...], ...]
    hot: int


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """What was told of these files as they were examined, and what was asked of the disk for it."""

    mark: str
    stamps: Stamps  # of files that were looked into and are not checked
    there: dict[str, bool]  # whether a file is there
    tests: dict[str, bool]  # and whether it holds tests
    folders: dict[str, dict[str, str]]
    end: memoryview  # packed by itself: who finds something changed passes over it


class Memory(msgspec.Struct, frozen=True):
    """Where the end of a check of these files is kept."""

    file: Path
    mark: str

    def end(self, files: Files, places: Places) -> End | None:
        """What was told the last time; None where it was of others, or may be another now."""
        try:
            kept = msgspec.msgpack.decode(folder.unseal(self.file), type=Kept)
            if kept.mark != self.mark or not _is_so(kept, files, places):
                return None
            return msgspec.msgpack.decode(kept.end, type=End)
        except (OSError, ValueError):  # `msgspec.MsgspecError` is one
            return None

    def keep(self, end: End, files: Files, places: Places) -> None:
        """Write it, whole or not at all; what cannot be written is worked out again."""
        around = {one for path in (*files.known, *files.stamps) for one in _folders(path)}
        there = {path: os.path.isfile(path) for path in sorted(os.path.join(one, INIT) for one in around)}
        kept = Kept(
            self.mark, files.stamps, {**there, **project.looked_for()}, places.tests(), files.looks(),
            memoryview(msgspec.msgpack.encode(end)),
        )  # fmt: skip
        body = msgspec.msgpack.encode(kept)
        try:
            if len(body) <= LARGEST:
                folder.seal(self.file, body)
        except OSError:
            return


def memory_of(
    file: Path, state: State, fresh: Iterable[Examined], checked: Iterable[str], around: Iterable[str]
) -> Memory:
    """Where the end of a check of some files is kept, of which others around them are remembered, beside the table of a
    state to which it added what is fresh."""
    runs = {path: (kept.digest, kept.run) for path, kept in state.table.examined.items()}
    runs |= {one.note.path: (one.digest, state.run) for one in fresh}
    told = [[(path, runs.get(path)) for path in paths] for paths in (checked, around)]
    return Memory(file.with_suffix(ENDS), digest(repr(told)))


def _is_so(kept: Kept, files: Files, places: Places) -> bool:
    """Whether all that was asked of the disk is answered as it was."""
    if any(stamp(path) != was for path, was in kept.stamps.items()):
        return False
    if any(os.path.isfile(path) != was for path, was in kept.there.items()):
        return False
    if any(places.is_test(path) != was for path, was in kept.tests.items()):
        return False
    files.ask_again(kept.folders)
    return _agree(files.looks(), kept.folders)


def _agree(now: Mapping[str, Mapping[str, str]], then: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether what was asked then is answered so now, where more may have been asked."""
    return all(now[kind].get(asked) == answer for kind, told in then.items() for asked, answer in told.items())


def _folders(path: str) -> Iterable[str]:
    """The folders around a file."""
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above
