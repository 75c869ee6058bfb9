"""A path -> Source: the text of a file decoded as Python would, or the reason why there is none. Never an exception."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Literal

import msgspec

from syncguard.read.notebook import NotANotebook, NotPython, joined, parts_of

COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
BLANK = re.compile(rb"^[ \t\f]*(?:#|\r?$)")
UTF8 = ("utf-8", "utf8", "utf_8", "utf-8-sig")
WIDE = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class FileNote(msgspec.Struct, frozen=True):
    """What became of a file: read, skipped or broken, and for the last two why."""

    path: str
    state: Literal["read", "skipped", "broken"]
    reason: str = ""


class Source(msgspec.Struct, frozen=True):
    """The text of a file, with `\\n` at the end of each line. `cells` of a notebook: number and first line."""

    path: str
    text: str
    note: FileNote
    cells: tuple[tuple[int, int], ...] = ()


class Undecodable(Exception):
    """Bytes that are no Python source text, and why."""


def read(path: str, given: Mapping[str, bytes | str] | None = None) -> Source:
    """Read one file, or the text that is `given` in its place."""
    if given and path in given:
        return decode(path, given[path])
    try:
        # A named pipe would block us for ever, and a device might never end.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return without(path, "skipped", "not a regular file")
        with open(path, "rb") as file:  # noqa: PTH123 - half the time of Path.read_bytes, for every file
            data = file.read()
    except FileNotFoundError:
        gone = "is a link to nothing" if os.path.islink(path) else "does not exist"
        return without(path, "broken", gone)
    except (OSError, ValueError) as fault:
        return without(path, "broken", f"cannot be read: {getattr(fault, 'strerror', None) or fault}")
    return decode(path, data)


def stamp(path: str) -> tuple[int, int] | None:
    """When a file was last written, and its size; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def decode(path: str, data: bytes | str) -> Source:
    """The bytes of a file, or the text from standard input, as a Source; a name in .ipynb makes it a notebook."""
    notebook = path.endswith(".ipynb")
    try:
        text = data if isinstance(data, str) else _decoded(data, cookies=not notebook)
        # `ast` counts only these as the end of a line, so nothing here may use `str.splitlines`.
        text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        if "\0" in text:
            raise Undecodable(f"contains a NUL byte (line {text.count(chr(10), 0, text.index(chr(0))) + 1})")
        text, cells = joined(text) if notebook else (text, ())
    except NotPython as fault:
        return without(path, "skipped", str(fault))
    except (Undecodable, NotANotebook) as fault:
        return without(path, "broken", str(fault))
    return Source(path, text, FileNote(path, "read"), cells)


def without(path: str, state: Literal["skipped", "broken"], reason: str) -> Source:
    """The Source of a file that gives no text."""
    return Source(path, "", FileNote(path, state, reason))


def lines_of(stdin: bytes | str = b"", stdin_filename: str = "<stdin>") -> Callable[[str], tuple[str, ...]]:
    """A function from a finding's path to the lines of that file or notebook cell, as far as they can be read."""
    kept: dict[str, tuple[str, ...]] = {}

    def lines(path: str) -> tuple[str, ...]:
        if path not in kept:
            file, cell = parts_of(path)
            source = decode(file, stdin) if file == stdin_filename else read(file)
            kept[path] = cell_lines(source, cell) if cell else tuple(source.text.split("\n"))
        return kept[path]

    return lines


def cell_lines(source: Source, number: int) -> tuple[str, ...]:
    """The lines of a notebook's cell, as they are written there."""
    lines = source.text.split("\n")
    starts = [*source.cells, (0, len(lines) + 1)]
    for (cell, first), (_, after) in pairwise(starts):
        if cell == number:
            return tuple(lines[first - 1 : after - 1])
    return ()


def _decoded(data: bytes, cookies: bool) -> str:
    """Bytes as PEP 263 reads them: a byte order mark, else the encoding that a comment names, else UTF-8."""
    for mark, name in WIDE.items():
        if data.startswith(mark):
            raise Undecodable(f"is {name}, which Python does not read; save it as UTF-8")
    marked = data.startswith(b"\xef\xbb\xbf")
    data = data[3:] if marked else data
    name = _cookie(data) if cookies else ""
    if marked and name and name not in UTF8:
        raise Undecodable(f"has a UTF-8 byte order mark and names the encoding `{name}`")
    try:
        return data.decode(name or "utf-8")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        named = f"not {name}" if name and name not in UTF8 else "not UTF-8, and no comment names another encoding"
        raise Undecodable(f"{named} (byte 0x{data[fault.start]:02x}, line {line})") from None
    except (LookupError, UnicodeError, TypeError, AttributeError):
        raise Undecodable(f"names an encoding that Python does not know: `{name}`") from None


def _cookie(data: bytes) -> str:
    """The encoding that a comment on one of the first two lines names, in lower case; "" if none."""
    if b"coding" not in data[:2048]:
        return ""
    for line in data[:2048].split(b"\n", 2)[:2]:
        if match := COOKIE.match(line):
            return match[1].decode("ascii", "replace").lower().replace("_", "-")
        if not BLANK.match(line):
            break
    return ""
