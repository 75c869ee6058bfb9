"""A file in, a digest of each of its parts out: what must change before those who looked at the part look again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final

from syncguard.infer.stores import stored
from syncguard.read import core
from syncguard.read.core import Node

WORDS: Final = ("_validate_args",)  # what a file may say that counts for others, whoever else looks at it
WINDOW: Final = 12  # lines that the part of an expression which is quoted may take


def digest(text: str) -> str:
    """What tells two texts apart."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def quoted(lines: Sequence[str], numbers: Iterable[int]) -> str:
    """The digest of what stands at some lines, each with those that an expression which begins there may go on to."""
    return digest("\n".join("\n".join((str(n), *lines[n - 1 : n - 1 + WINDOW])) for n in numbers))


def part_saying(word: str) -> str:
    """The name of the part of a file that is whether it says a word."""
    return f"?{word}"


def words_of(text: str) -> dict[str, str]:
    """Which of the words that count a file says, as parts of it."""
    return {part_saying(word): "said" if word in text else "" for word in WORDS}


def parts_of(module: core.Module, lines: Sequence[str]) -> dict[str, str]:
    """The digest of every function by qualified name, and under "" of all around them.

    A function's first line counts as around it, and so do the global names that functions assign, and the attributes of
    their first parameter. Blank lines and whole-line comments around functions do not count, and neither does where a
    function stands.
    """
    found: dict[str, str] = {}
    inside: set[int] = set()
    assigned = [*sorted(module.rebound)]
    for node in _functions(module.body):
        own = range(node.at[0] + 1, node.at[2] + 1)
        inside.update(own)
        text = "\n".join(lines[node.at[0] - 1 : node.at[2]])
        found[node.qualname] = digest(found.get(node.qualname, "") + text)
        if node.params and (names := {*stored(node)}):
            assigned.append(f"{node.qualname}: {' '.join(sorted(names))}")
    around = [line.rstrip() for number, line in enumerate(lines, 1) if number not in inside]
    kept = [line for line in around if line and not line.lstrip().startswith("#")]
    found[""] = digest("\n".join([*kept, *assigned]))
    return found


def whole_parts(module: core.Module, text: str) -> dict[str, str]:
    """The same of a text, and which words it says."""
    return {**parts_of(module, text.split("\n")), **words_of(text)}


def _functions(body: tuple[Node, ...]) -> Iterator[core.Function]:
    """The functions of a file and of its classes; those inside a function are part of it."""
    for node in body:
        match node:
            case core.Function():
                yield node
            case core.Class(body=inner) | core.With(body=inner):
                yield from _functions(inner)
            case core.If(body=inner, orelse=other) | core.Loop(body=inner, orelse=other):
                yield from _functions(inner)
                yield from _functions(other)
            case core.Try(body=inner, handlers=handlers, orelse=other, final=final):
                yield from _functions((*inner, *other, *final))
                for _, handled in handlers:
                    yield from _functions(handled)
