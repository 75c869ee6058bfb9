"""What was found in one file, and how those know it who import it: records, kept from run to run."""

from __future__ import annotations

import msgspec

from syncguard.infer.routine import Used
from syncguard.judge.around.called import Ask, Function, Needs
from syncguard.judge.callers.resting import Rests
from syncguard.read.source import FileNote
from syncguard.terms import Finding

Cited = tuple[str, tuple[int, ...], str]  # a file, lines of it, and the digest of what stands there
Asked = tuple[str, int, str]  # an import: the module, its leading dots, the file that it led to


class Examined(msgspec.Struct, frozen=True, array_like=True):
    """What was found in one file, before anything is known of the files that import it."""

    note: FileNote
    digest: str = ""
    findings: tuple[Finding, ...] = ()
    allowed: tuple[Finding, ...] = ()
    functions: int = 0
    hot: int = 0
    hot_loops: int = 0
    calls: tuple[Function, ...] = ()
    asked: tuple[Asked, ...] = ()
    uses: tuple[Used, ...] = ()  # parts of other files that were looked at
    cites: tuple[Cited, ...] = ()  # what is quoted of other files
    caused: tuple[Finding, ...] = ()  # in other files, by what this one passes to them
    passes: tuple[str, ...] = ()  # the files to whose functions it passes tensors
    words: bytes = b""  # that are in its text, as numbers
    fault: str = ""  # the traceback of an error of ours, where one came between
    needs: dict[tuple[int, int], Needs] = {}  # what calls must give for a wait to be reached
    wants: dict[tuple[int, int], tuple[Ask, ...]] = {}  # what a wait asks the parameters of its function for
    kept: dict[tuple[int, int], tuple[Ask, ...]] = {}  # the same of those that the object of its method was made with
    rests: Rests = {}  # the parameters that a wait rests on: where one is on the host, nothing waits
    standing: int = 0  # what its name and what stands around it say of the file


class Interface(msgspec.Struct, frozen=True, array_like=True):
    """A file as those know it who import it: what each part of it is made of, and looked at in turn."""

    digest: str
    parts: dict[str, str]
    uses: dict[str, tuple[Used, ...]]
    asked: tuple[Asked, ...]


def together(known: dict[str, Interface], more: dict[str, Interface]) -> dict[str, Interface]:
    """What two workers know: each has looked at its own part of a file."""
    return known | {path: merged(known[path], one) if path in known else one for path, one in more.items()}


def merged(known: Interface, more: Interface) -> Interface:
    """What two have looked at in a file; where it is no longer the same file, the later one counts."""
    if known.digest != more.digest:
        return more
    names = known.uses.keys() | more.uses.keys()
    uses = {name: tuple(dict.fromkeys((*known.uses.get(name, ()), *more.uses.get(name, ())))) for name in sorted(names)}
    return Interface(
        more.digest, {**known.parts, **more.parts}, uses, tuple(dict.fromkeys((*known.asked, *more.asked)))
    )
