"""A text in, a number for each of its words out: who names something is told by them, without the texts."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection
from typing import Final
from zlib import crc32

APART: Final = bytes(byte if byte > 127 or chr(byte).isalnum() or byte == 95 else 32 for byte in range(256))
FEW: Final = 16  # words of which each is looked for by itself
SIZE: Final = 4  # bytes of a number


def numbers_of(text: str) -> bytes:
    """The numbers of the words of a text, one behind the other. Two words in four billion have the same one."""
    found = {*text.encode("utf-8", "surrogatepass").translate(APART).split()}
    return array("I", sorted(map(crc32, found))).tobytes()


class Wanted:
    """Some words that are looked for in many files."""

    def __init__(self, words: Collection[str]) -> None:
        self.words = words
        self._having: dict[int, list[str]] = {}  # the words of each number
        for word in words:
            self._having.setdefault(crc32(word.encode("utf-8", "surrogatepass")), []).append(word)
        self._asked = frozenset(self._having)
        self._few = [number.to_bytes(SIZE, sys.byteorder) for number in self._asked] if len(words) <= FEW else []

    def among(self, numbers: bytes) -> list[str]:
        """Those whose numbers are among these."""
        if self._few and not any(map(numbers.__contains__, self._few)):
            return []
        met = self._asked.intersection(memoryview(numbers).cast("I"))
        return [word for number in met for word in self._having[number]]
