"""A new text and a file in, the file changed in one step: its encoding, line ends, owner, permissions, links stay."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import tempfile
import tokenize
from difflib import SequenceMatcher
from pathlib import Path

ENDINGS = re.compile(r"\r\n|\r|\n")


class Unwritable(Exception):
    """A file that was left as it was, and why."""


def write(path: str, before: str, after: str) -> None:
    """Put `after` where `before` stands, both with `\\n` at the ends of lines. Unwritable: nothing was written."""
    place = os.path.realpath(path)
    try:
        old = Path(place).read_bytes()
        new = encoded(old, before, after)
        status = os.stat(place)
        if not os.access(place, os.W_OK):  # to replace a file asks for no more than a folder that may be written
            raise PermissionError(errno.EACCES, "it may only be read")
        handle, draft = tempfile.mkstemp(prefix=".syncguard-", dir=os.path.dirname(place))
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(new)
                stream.flush()
                os.fsync(stream.fileno())
            with contextlib.suppress(OSError, AttributeError):  # not ours to give away; Windows
                os.chown(draft, status.st_uid, status.st_gid)
            os.chmod(draft, status.st_mode & 0o7777)
            if Path(place).read_bytes() != old:
                raise Unwritable("it was changed while it was being checked")
            if status.st_nlink > 1:
                rewrite(place, old, new)
            else:
                os.replace(draft, place)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(draft)
    except OSError as fault:
        raise Unwritable(fault.strerror or str(fault)) from None


def rewrite(place: str, old: bytes, new: bytes) -> None:
    """A file that has other names is written where it stands, for what takes its place would have only this one."""
    with Path(place).open("r+b", buffering=0) as stream:
        try:
            fill(stream, new)
        except OSError:
            with contextlib.suppress(OSError):
                fill(stream, old)
            raise


def fill(stream: io.FileIO, data: bytes) -> None:
    stream.seek(0)
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) :]
    stream.truncate()
    os.fsync(stream.fileno())


def encoded(old: bytes, before: str, after: str) -> bytes:
    """The new text as the bytes of the file, spelled as the old ones are."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(old).readline)
        raw = old.decode(encoding)
        now = ENDINGS.sub("\n", raw)
        if now == after:  # by another of its names
            return old
        if now != before:
            raise Unwritable("it was changed since it was checked")
        return with_endings(raw, before, after).encode(encoding)
    except (SyntaxError, LookupError, UnicodeError) as fault:
        raise Unwritable(str(fault)) from None


def with_endings(raw: str, before: str, after: str) -> str:
    """The new text with the old line endings; a new line ends as the line above it does."""
    kinds = set(ENDINGS.findall(raw))
    if len(kinds) < 2:
        return after.replace("\n", kinds.pop()) if kinds else after
    ends = ENDINGS.findall(raw)
    old, new = before.split("\n"), after.split("\n")
    endings = [""] * len(new)
    for _, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for n in range(start, stop):
            endings[n] = ends[min(first + n - start, max(last - 1, first - 1, 0), len(ends) - 1)]
    return "".join(line + end for line, end in zip(new[:-1], endings)) + new[-1]
