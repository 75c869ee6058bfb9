"""How output looks: its width, its colours, and the text of files that can be printed safely."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

import msgspec

COLOURS = {
    "error": "1;31",
    "warning": "1;33",
    "advice": "1;36",
    "head": "1",
    "gutter": "1;34",
    "label": "1;34",
    "hint": "1;32",
    "quoted": "36",
    "dim": "2",
    "gone": "31",
    "come": "32",
}
QUOTED = re.compile(r"`[^`]*`")
TAB = "    "


def _no_lines(path: str) -> tuple[str, ...]:
    return ()


class Look(msgspec.Struct, frozen=True):
    """What a renderer needs besides the findings: the lines of a file, whether to colour, how wide to be, and whether
    what a comment allows and what a baseline knows is asked for, too.
    """

    lines: Callable[[str], tuple[str, ...]] = _no_lines
    colour: bool = False
    width: int = 120
    allowed: bool = False
    baselined: bool = False

    def paint(self, style: str, text: str) -> str:
        """The text in a style of COLOURS, or as it is."""
        return f"\x1b[{COLOURS[style]}m{text}\x1b[0m" if self.colour and text else text

    def prose(self, text: str) -> str:
        """A sentence, with what stands between backticks set off."""
        return QUOTED.sub(lambda match: self.paint("quoted", match[0]), text) if self.colour else text


def wants_colour(choice: str, stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour a stream: what the user chose, else what NO_COLOR, FORCE_COLOR and the terminal say."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """The text with tabs as blanks, and nothing in it that a terminal would obey."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() else TAB if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def width_of(text: str) -> int:
    """How many columns a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(text: str, width: int) -> Iterator[str]:
    """A text in lines of at most this width; what stands between backticks is never cut, nor is a long word."""
    line = ""
    for word in re.findall(r"(?:`[^`]*`|\S)+", text):
        if line and width_of(line) + 1 + width_of(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line


def plural(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
