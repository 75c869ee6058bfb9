"""A folder in, the project out that its code belongs to, and whether that is an application: what people start where it
lies, and nobody installs, so that nobody else imports it; with the files there that may name what stands in others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from syncguard.read.project import INSTALLED, SOURCES, listing

REPOSITORY: Final = ".git"
SIGN: Final = re.compile(  # of the top of a project
    r"(?:readme|licen[cs]e|requirements|environment)\b.*|\.gitignore|setup\.py|setup\.cfg|pyproject\.toml",
    re.IGNORECASE,
)
BUILT: Final = re.compile(r"PKG-INFO|.*\.(?:dist|egg)-info")
INSTALLS: Final = {  # what says in each of these that code is installed, and not only settings, or what is compiled
    "pyproject.toml": re.compile(r"^\[(?:project|build-system|tool\.poetry|tool\.flit\b[^\]]*)\]", re.MULTILINE),
    "setup.cfg": re.compile(r"^\[(?:metadata|options)\]", re.MULTILINE),
    "setup.py": re.compile(r"\bpackages\b|\bpy_modules\b|\A(?!.*\bext_modules\b)", re.DOTALL),
}
# What says there that also what is no package is installed, and the folders that hold none for others.
ANY_FOLDER: Final = re.compile(r"namespace|\bpy[_-]modules\b|\bautodiscover\b|\bglob\b")
BESIDE: Final = ("tests", "test", "docs", "doc", "examples", "example", "scripts", "tools", "benchmarks", "benchmark")
AROUND: Final = re.compile(r"""["']\.\.(?:/[^"']*)?["']|\bchdir\(|\bos\.pardir\b""")  # what stands outside of a folder
CODE: Final = (".py", ".pyi", ".pyx", ".ipynb", ".yaml", ".yml", ".gin")
SETTINGS: Final = (  # or data
    ".json",
    ".toml",
    ".cfg",
    ".ini",
    ".sh",
    ".bash",
    ".bat",
    ".md",
    ".rst",
    ".txt",
    ".slurm",
    ".sbatch",
    ".pbs",
    ".ps1",
    ".j2",
    ".mk",
    ".jsonl",
    ".jsonnet",
    ".libsonnet",
)
HIDDEN: Final = (".github", ".gitlab", ".circleci", ".ci", ".devcontainer")  # folders of what starts code
OTHERS: Final = ("node_modules", *INSTALLED)  # people's
PACKAGE: Final = "__init__.py"  # at the top: somebody imports it where it lies
ENVIRONMENT: Final = "pyvenv.cfg"
ENTRIES: Final = 50_000  # of folders; who has more keeps data there
FILES: Final = 2_000
LARGE: Final = 200_000  # bytes, of what is no settings
MANY: Final = 64  # nor are so many in one folder


class Project(msgspec.Struct, frozen=True):
    """The top folder of a project, "" where none is seen, and whether it installs the code that was asked about."""

    top: str = ""
    installs: bool = True


NONE: Final = Project()


def project_of(folder: str) -> Project:
    """The project that a folder belongs to."""
    top, installs = "", False
    for one in _above(folder):
        names = listing(one)
        built, signed = _says(names)
        if built or os.path.basename(one) in INSTALLED:
            return NONE
        installs = installs or any(
            name in names and (text := _installing(os.path.join(one, name))) and _takes(text, one, folder)
            for name in INSTALLS
        )
        if signed or REPOSITORY in names:
            top = one
        if REPOSITORY in names:
            break
    if not top:
        return NONE
    return Project(top, installs or PACKAGE in listing(top) or _by_inner(top))


@lru_cache(maxsize=1024)
def _says(names: frozenset[str]) -> tuple[bool, bool]:
    """Whether what is in a folder says that it was built there to be installed, and that it is the top of a project."""
    return any(map(BUILT.fullmatch, names)), any(map(SIGN.fullmatch, names))


def _takes(text: str, top: str, folder: str) -> bool:
    """Whether what a file installs, which says so, holds a folder below it, as far as we see: what stands there in no
    package, and is not named in the file, beside what does, is started where it lies."""
    below = os.path.relpath(folder, top).split(os.sep)
    source = below[0] if below[0] in SOURCES else ""
    first = [*below, os.curdir][1 if source else 0]
    if first == os.curdir or ANY_FOLDER.search(text) or PACKAGE in listing(os.path.join(top, source, first)):
        return True
    named = re.search(rf"""["'/]{re.escape(first)}["'/*.-]""", text.replace("-", "_") + text) is not None
    return named or not any(_holds_package(top, name) for name in SOURCES)


def _holds_package(top: str, source: str) -> bool:
    """Whether a package stands in a folder of a project that may keep them."""
    folder = os.path.join(top, source)
    inner = [name for name in listing(folder) if "." not in name and name not in BESIDE]
    return any(PACKAGE in listing(os.path.join(folder, name)) for name in inner)


def _by_inner(top: str) -> bool:
    """Whether what stands in a folder of the top says that code around it is installed: `package_dir={"": ".."}`."""
    inner = [os.path.join(top, name) for name in listing(top) if "." not in name]
    told = [path for one in inner for name in INSTALLS if os.path.isfile(path := os.path.join(one, name))]
    return any(AROUND.search(_installing(path)) is not None for path in told)


def files_of(top: str) -> tuple[str, ...]:
    """The files of a project that may name what stands in others: code and settings; none where these are too many."""
    found: list[str] = []
    todo, left = [top], ENTRIES
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(folder) as scan:
                entries = list(scan)
        except OSError:
            continue
        left -= len(entries)
        if any(entry.name == ENVIRONMENT for entry in entries):
            continue
        settings = [entry.path for entry in entries if _may_set(entry)]
        found += [entry.path for entry in entries if entry.name.endswith(CODE) and entry.is_file()]
        found += settings if len(settings) <= MANY else []
        todo += [one.path for one in entries if _is_folder(one)]
        if left < 0 or len(found) > FILES:
            return ()
    return tuple(sorted(found))


def _above(folder: str) -> Iterator[str]:
    """A folder, and those around it."""
    yield folder
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        yield folder


def _installing(path: str) -> str:
    """What a file says, if it says that code is installed; else nothing."""
    text = _text(path)
    return text if INSTALLS[os.path.basename(path)].search(text) is not None else ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _may_set(entry: os.DirEntry[str]) -> bool:
    """Whether this is a file of settings, or a script, also one without an ending: `Makefile`."""
    named = entry.name.endswith(SETTINGS) or "." not in entry.name or entry.name.startswith("Dockerfile")
    return named and entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size < LARGE


def _is_folder(entry: os.DirEntry[str]) -> bool:
    hidden = entry.name.startswith(".") and entry.name not in HIDDEN
    return not (hidden or entry.name in OTHERS) and entry.is_dir(follow_symlinks=False)
