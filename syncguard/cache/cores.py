"""The core of files by the digest of their text, on disk where others import them: no run parses them twice."""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

import syncguard
from syncguard import atomic
from syncguard.cache import folder
from syncguard.config import Config
from syncguard.pack import packed
from syncguard.read import core
from syncguard.read.lower import lower

LARGEST = 256 << 20  # bytes of all files together; then the older half goes
DOTS, COMPLEX = 1, 2  # constants that the format does not know


class Lowered(msgspec.Struct, frozen=True, array_like=True):
    """A file: the digest of each of its parts, and its core."""

    parts: dict[str, str]
    module: core.Module


class Cores:
    """What is kept; where nothing can be read or written, nothing is."""

    def __init__(self, config: Config) -> None:
        self.top = folder.folder_of(config) if config.cache else None
        self.place = self.top / f"cores-{_made_by()}" if self.top is not None else None
        self.grew = False
        self.held: dict[str, bytes] = {}  # by this run alone

    def hold(self, digest: str, lowered: Lowered) -> None:
        """Keep a core for this run, in a tenth of the memory."""
        body = _body(lowered)
        if body is not None:
            self.held[digest] = body

    def get(self, digest: str) -> Lowered | None:
        """The core of a text; None where it is missing, damaged or foreign."""
        held = self.held.pop(digest, None)
        try:
            if held is not None:
                return _decoder().decode(held)
            return _decoder().decode(folder.unseal(self.place / digest)) if self.place is not None else None
        except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
            return None

    def put(self, digest: str, lowered: Lowered) -> None:
        """Keep a core, whole or not at all."""
        if self.place is None or self.top is None:
            return
        body = _body(lowered)
        if body is None:
            return
        try:
            if not self.grew:
                folder.prepare(self.top)
                self.place.mkdir(exist_ok=True)
                self.grew = True
            folder.seal(self.place / digest, body)
        except OSError:
            self.place = None  # whoever writes the findings says so

    def trim(self) -> None:
        """Bound what is kept: the cores of another version go, and the older half where it is too much."""
        if not self.grew or self.place is None or self.top is None:
            return
        try:
            for other in self.top.glob("cores-*"):
                if other != self.place:
                    for path in other.iterdir():
                        atomic.remove(path)
                    other.rmdir()
            folder.sweep(self.place, folder.LEFT)
            found = folder.entries(self.place)
        except OSError:
            return  # somebody else is at it
        if sum(status.st_size for _, status in found) > LARGEST:
            for path, _ in sorted(found, key=lambda item: item[1].st_mtime)[: len(found) // 2 + 1]:
                atomic.remove(path)


def _made_by() -> str:
    """Which Python and which lowering a core is of."""
    ours = packed.stamps(Path(syncguard.__file__).parent / "read", (".py",))
    return blake2b(repr((syncguard.__version__, sys.version_info[:3], ours)).encode(), digest_size=8).hexdigest()


def _body(lowered: Lowered) -> bytes | None:
    """What is kept of a core; None of one with a number that takes more than 64 bits, or half a surrogate: such a file
    is parsed each time."""
    try:
        return _encoder().encode(lowered)
    except (msgspec.MsgspecError, OverflowError, ValueError, RecursionError):
        return None


def _unknown(value: Any) -> msgspec.msgpack.Ext:
    if value is Ellipsis:
        return msgspec.msgpack.Ext(DOTS, b"")
    if type(value) is complex:
        return msgspec.msgpack.Ext(COMPLEX, repr(value).encode())
    raise ValueError(f"no constant of a program: {value!r}")


def _known(code: int, data: memoryview) -> Any:
    return complex(bytes(data).decode()) if code == COMPLEX else ...


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder(enc_hook=_unknown)


@cache
def _decoder() -> msgspec.msgpack.Decoder[Lowered]:
    return msgspec.msgpack.Decoder(Lowered, ext_hook=_known)


@lru_cache(maxsize=16)
def lowered(text: str) -> core.Module:
    """The core of a text, kept for who has asked already what has changed in it. Raises `Unreadable`."""
    return lower(text)
