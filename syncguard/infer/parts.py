"""A file in, a digest of each of its parts out: what must change before those who looked at the part look again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final

from syncguard.infer.stores import stored
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.words import APART

WORDS: Final = ("_validate_args", "cuda")  # what a file may say that counts for others, whoever else looks at it
NAMED: Final = "="  # in front of a name: what binds it, as a part of its file
ANY: Final = f"{NAMED}*"  # whatever binds such names
WINDOW: Final = 12  # lines that the part of an expression which is quoted may take


def digest(text: str) -> str:
    """What tells two texts apart."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def quoted(lines: Sequence[str], numbers: Iterable[int]) -> str:
    """The digest of what stands at some lines, each with those that an expression which begins there may go on to."""
    return digest("\n".join("\n".join((str(n), *lines[n - 1 : n - 1 + WINDOW])) for n in numbers))


def words(text: str) -> set[str]:
    """The words of a text, keywords and numbers among them."""
    return {*text.encode("utf-8", "surrogatepass").translate(APART).decode("utf-8", "surrogatepass").split()}


def part_saying(word: str) -> str:
    """The name of the part of a file that is whether it says a word."""
    return f"?{word}"


def words_of(text: str) -> dict[str, str]:
    """Which of the words that count a file says, as parts of it."""
    return {part_saying(word): "said" if word in text else "" for word in WORDS}


def parts_of(module: core.Module, lines: Sequence[str]) -> dict[str, str]:
    """The digest of every function by qualified name, under `=name` of what binds a plain name, and under "" of all
    around them.

    A function's first line counts as around it, and so do the global names that functions assign, and the attributes of
    their first parameter. Blank lines and whole-line comments around functions do not count, and neither does where a
    function stands. A name is plain where nothing around speaks of it, and what binds it counts in each function that
    does: others may come and go.
    """
    texts: dict[str, str] = {}
    inside: set[int] = set()
    assigned = [*sorted(module.rebound)]
    for node in _functions(module.body):
        inside.update(range(node.at[0] + 1, node.at[2] + 1))
        text = "\n".join(lines[node.at[0] - 1 : node.at[2]])
        texts[node.qualname] = texts.get(node.qualname, "") + text
        if node.params and (names := {*stored(node)}):
            assigned.append(f"{node.qualname}: {' '.join(sorted(names))}")
    plain = _plain(module, lines, inside)
    apart = {number for number, _ in plain.values()}
    around = [line.rstrip() for number, line in enumerate(lines, 1) if number not in inside and number not in apart]
    kept = [line for line in around if line and not line.lstrip().startswith("#")]
    found = {f"{NAMED}{name}": digest(text) for name, (_, text) in plain.items()}
    for name, text in texts.items():
        spoken = [plain[name][1] for name in plain.keys() & words(text)] if plain else []
        found[name] = digest("\n".join([text, *sorted(spoken)]))
    found[""] = digest("\n".join([*kept, *assigned]))
    return found


def _plain(module: core.Module, lines: Sequence[str], inside: set[int]) -> dict[str, tuple[int, str]]:
    """The names that a line of a file's top level binds by itself, to a function or to a constant, and of which no
    other line around the functions speaks: the number of the line, and its text."""
    bound: dict[str, int] = {}
    for node in module.body:
        name = _bound_by(node, lines)
        if name and name not in module.rebound:
            bound[name] = 0 if name in bound else node.at[0]
    numbers = {*bound.values()}
    spoken = words("\n".join([line for n, line in enumerate(lines, 1) if n not in inside and n not in numbers]))
    alone = {name: number for name, number in bound.items() if number}
    for name, number in alone.items():
        spoken |= words(lines[number - 1]) - {name}
    return {name: (number, lines[number - 1]) for name, number in alone.items() if name not in spoken}


def _bound_by(node: Node, lines: Sequence[str]) -> str:
    """The name that a statement binds to a function as it is written, or, on a line of its own, to a constant."""
    match node:
        case core.Function(name=name, decorators=()):
            return name
        case core.Bind(targets=(core.Name(id=name),), value=core.Const(), at=(first, 0, last, end)) if first == last:
            return name if len(lines[first - 1].encode().partition(b"#")[0].rstrip()) == end else ""
    return ""


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
