"""A file in, the one out of the same name that it is a copy of, where a run has left it in a folder of its logs."""

from __future__ import annotations

import os
import re
from pathlib import PurePath

from syncguard.places import Places
from syncguard.texts import Files, module_name

COPIED = "in a copy that a run has left among its logs, of"


def copied(path: str, files: Files, places: Places) -> str:
    """What is said of such a copy; '' of any other file, and where code brings something in out of that folder."""
    logs = _logs(path, places)
    home = files.home(path) if logs else ""
    if not home or not path.startswith(os.path.join(home, "")):
        return ""
    name = os.path.basename(path)
    others = [one for one in files.inside(home) if os.path.basename(one) == name and not _logs(one, places)]
    if not others or _brought_in(path, os.path.basename(logs), home, files, places):
        return ""
    return f"{COPIED} `{os.path.relpath(min(others), home)}`"


def _logs(path: str, places: Places) -> str:
    """The outermost folder of logs that a file lies in, which is no package."""
    around = [one for one in PurePath(path).parents if places.is_("cold", "logs", one.name)]
    return next((str(one) for one in reversed(around) if not os.path.isfile(one / "__init__.py")), "")


def _brought_in(path: str, folder: str, home: str, files: Files, places: Places) -> bool:
    """Whether a file that is no such copy has an import that names the folder."""
    name = module_name(path)
    brings = re.compile(rf"^[ \t]*(?:from|import)\b[^\n]*\b{re.escape(folder)}\b", re.MULTILINE)
    return any(files.has(one, brings) for one in files.naming({name}, home)[name] if not _logs(one, places))
