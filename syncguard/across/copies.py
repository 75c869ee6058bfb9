"""A file in, the living one out that it is a copy of, where a run has left it among its logs: nothing runs it again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from syncguard.across.texts import Files, module_name
from syncguard.pack.places import Places
from syncguard.read.project import is_file

ALIKE: Final = 0.8  # of the lines of a copy, what the living file has as well
LOADS: Final = re.compile(
    r"\b(?:spec_from_file_location|runpy|run_path|SourceFileLoader|load_source|execfile|chdir)\b|\bexec\("
)
PATH: Final = re.compile(r"^[^\n#]*\b(?:sys\.path|PYTHONPATH|addsitedir)\b[^\n]*", re.MULTILINE)
BOUND: Final = re.compile(r"^[ \t]*(\w+)[ \t]*=(?!=)([^\n]*)", re.MULTILINE)
COPIES: Final = re.compile(r"\bcp\b|\bcopy|\brsync\b|\bshutil\b")
PROGRAM: Final = re.compile(r"\b__main__\b|\bargparse\b")


def copied(path: str, files: Files, places: Places) -> str:
    """What is said of such a copy; '' of any other file, and where code brings something in out of that folder."""
    logs = _logs(path, places)
    home = files.home(path) if logs else ""
    if not home or not path.startswith(os.path.join(home, "")):
        return ""
    living = next(_living(path, home, files, places), "")
    if not living or _brought_in(path, logs, home, files, places):
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
    return next((str(one) for one in reversed(around) if not is_file(str(one / "__init__.py"))), "")


def _brought_in(path: str, logs: str, home: str, files: Files, places: Places) -> bool:
    """Whether a file that is no such copy has an import that names the folder of logs, loads what lies there or starts
    it; or a program that lives there alone has an import that names the copy."""
    name, folder = module_name(path), os.path.basename(logs)
    brings = re.compile(rf"^[ \t]*(?:from|import)\b[^\n]*\b{re.escape(folder)}\b", re.MULTILINE)
    beside = re.compile(rf"^[ \t]*(?:from|import)\b[^\n]*\b{re.escape(name)}\b", re.MULTILINE)
    for one in files.naming({name}, home)[name]:
        if not _logs(one, places) and files.has(one, brings):
            return True
        within = one != path and one.startswith(os.path.join(logs, "")) and files.has(one, beside)
        if within and files.has(one, PROGRAM) and not any(_living(one, home, files, places)):
            return True
    return any(_starts(files.code(one), folder) for one in _naming(folder, home, files, places))


def _naming(folder: str, home: str, files: Files, places: Places) -> Iterator[str]:
    """The files outside of all logs that have the name of a folder."""
    for one in files.naming({folder}, home)[folder]:
        if not _logs(one, places):
            yield one


def _starts(text: str, folder: str) -> bool:
    """Whether a text, of code or of a script, loads what lies in a folder, or starts it."""
    name = re.escape(folder)
    told = rf"[\"'](?:[^\"'\n]*/)?{name}(?:/[^\"'\n]*)?[\"']"
    if LOADS.search(text) and re.search(told, text):
        return True
    runs = rf"(?<!\w){name}/[^\s\"']*\.py\b|[\"']{name}[\"'][^\n]*\.py[\"']|(?<!\w)cd[ \t][^\n]*\b{name}\b"
    runs += rf"|-m[ \t]+{name}\.|import_module\([^\n]*\b{name}\b"
    lines = re.findall(rf"^[^\n]*(?:{runs})[^\n]*", text, re.MULTILINE)
    if any(COPIES.search(line) is None for line in lines):
        return True
    meaning = _meaning(text, told)
    return any(re.search(rf"\b{name}\b", line) or _has(line, meaning) for line in PATH.findall(text))


def _meaning(text: str, told: str) -> set[str]:
    """The names that a text binds to what is made of a text like this."""
    found: set[str] = set()
    for _ in range(2):
        found |= {name for name, value in BOUND.findall(text) if re.search(told, value) or _has(value, found)}
    return found


def _has(text: str, names: set[str]) -> bool:
    return not names.isdisjoint(re.findall(r"\w+", text))


def _lines(path: str, files: Files) -> set[str]:
    return {line.strip() for line in files.text(path).splitlines()} - {""}
