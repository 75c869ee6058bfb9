"""A file in, the living one out that it is a copy of, where a run has left it among its logs: nothing runs it again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from syncguard.places import Places
from syncguard.texts import Files, module_name

ALIKE: Final = 0.8  # of the lines of a copy, what the living file has as well


def copied(path: str, files: Files, places: Places) -> str:
    """What is said of such a copy; '' of any other file, and where code brings something in out of that folder."""
    logs = _logs(path, places)
    home = files.home(path) if logs else ""
    if not home or not path.startswith(os.path.join(home, "")):
        return ""
    living = next(_living(path, home, files, places), "")
    if not living or _brought_in(path, os.path.basename(logs), home, files, places):
        return ""
    return f"in a copy that a run has left among its logs, of `{os.path.relpath(living, home)}`"


def _living(path: str, home: str, files: Files, places: Places) -> Iterator[str]:
    """The files of this name that lie in no folder of logs and say nearly the same."""
    name, own = os.path.basename(path), _lines(path, files)
    for one in sorted(files.inside(home)):
        near = os.path.basename(one) == name and not _logs(one, places)
        if near and len(own & _lines(one, files)) >= ALIKE * len(own) > 0:
            yield one


def _logs(path: str, places: Places) -> str:
    """The outermost folder of logs that a file lies in, which is no package."""
    around = [one for one in PurePath(path).parents if places.is_("cold", "logs", one.name.lower())]
    return next((str(one) for one in reversed(around) if not os.path.isfile(one / "__init__.py")), "")


def _brought_in(path: str, folder: str, home: str, files: Files, places: Places) -> bool:
    """Whether a file that is no such copy has an import that names the folder."""
    name = module_name(path)
    brings = re.compile(rf"^[ \t]*(?:from|import)\b[^\n]*\b{re.escape(folder)}\b", re.MULTILINE)
    return any(files.has(one, brings) for one in files.naming({name}, home)[name] if not _logs(one, places))


def _lines(path: str, files: Files) -> set[str]:
    return {line.strip() for line in files.text(path).splitlines()} - {""}
