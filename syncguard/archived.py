"""Files in, those out that lie in a folder of logs of their project as copies of others there: what a run has kept of
the code that it ran, which nothing runs again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from syncguard.places import Places
from syncguard.texts import Files

ALIKE: Final = 0.8  # of the lines of a copy, what the living file has as well


def archived(paths: Iterable[str], files: Files, places: Places) -> dict[str, str]:
    """What is said of each of these files that is such a copy: everything in it is told where it lives."""
    kept = {path: top for path in paths if (top := files.top(path)) and _in_logs(path, top, places)}
    twins = {path: next(_twins(path, top, files, places), "") for path, top in kept.items()}
    return {path: f"in what a run has kept of `{_below(twin, kept[path])}`" for path, twin in twins.items() if twin}


def _twins(path: str, top: str, files: Files, places: Places) -> Iterator[str]:
    """The files of this name that lie in no folder of logs and say nearly the same."""
    name, own = os.path.basename(path), _lines(path, files)
    every = dict.fromkeys((*files.known, *files.inside(files.home(path))) if files.is_ours(path) else files.known)
    for one in every:
        near = os.path.basename(one) == name and one.startswith(os.path.join(top, ""))
        if near and not _in_logs(one, top, places) and len(own & _lines(one, files)) >= ALIKE * len(own) > 0:
            yield one


def _in_logs(path: str, top: str, places: Places) -> bool:
    """Whether a folder around a file, in its project, is one for what runs leave, and no package."""
    folders = _below(os.path.dirname(path), top).split(os.sep)
    named = any(places.is_("cold", "kept_by_runs", folder.lower()) for folder in folders)
    return named and not os.path.exists(os.path.join(os.path.dirname(path), "__init__.py"))


def _lines(path: str, files: Files) -> set[str]:
    return {line.strip() for line in files.text(path).splitlines()} - {""}


def _below(path: str, top: str) -> str:
    return path.removeprefix(top).lstrip(os.sep)
