"""Modules that run at every step by the name of their method alone in, those out that their package has run once in a
generation, beside the loop of its steps, and never otherwise."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Container, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from syncguard.across.dynamic_names import DynamicNames
from syncguard.across.hierarchy import Hierarchy
from syncguard.across.seldom_called import GENERATION, SeldomCalled, Told
from syncguard.across.texts import Files
from syncguard.judge.around.called import Function, Where, in_loop, innermost, last_part
from syncguard.judge.heat.warmth import of_a_run
from syncguard.pack.places import Places
from syncguard.terms import Fact

MOST: Final = 96  # files that have the name of a module, or that under which it is kept
NEAR: Final = 96  # characters before a name that tell what is done with it
UNTOLD: Final = 16  # places that may stand in a text, before we take one for code
TRAINED: Final = "though who trains it runs it at every step"

ANYTHING: Final = r"(?:Any|Callable|Module|Optional|Union|None|T)\b"  # what may be a module, as it is declared
CALLED: Final = re.compile(r"(?:\.(?:forward|__call__))?\(")
GIVES_BACK: Final = re.compile(r"\.(?:to|cuda|cpu|eval|train|half|float|double|bfloat16|requires_grad_)\(")
STATEMENT: Final = re.compile(r"\s*[\w.]*\Z")  # before a name that a statement begins with
# What is asked for None, bound, declared, or asked for what it has.
LET_BE: Final = re.compile(r"\s*(?:is\b|[=!]=|=|:|\.(?!(?:forward|__call__)\b))")
WORDS: Final = "and|as|assert|await|del|elif|else|except|for|from|if|import|in|is|lambda|not|or|return|while|with|yield"
PROSE: Final = re.compile(rf" \(|`|->| +(?!(?:{WORDS})\b)\w")  # behind a name
PROSE_BEFORE: Final = re.compile(rf"(?:`|->|\b(?!(?:{WORDS}|class|def)\b)\w+ )\Z")
TESTED: Final = re.compile(r"\s*(?::|\)|and\b|or\b|else\b|\n)")
TESTS: Final = re.compile(
    r"(?:\bif|\belif|\bwhile|\bassert|\bnot|\b(?:if|elif|while|assert)\b[^=\n]*(?<![=<>!])\b(?:and|or))\s+\(?[\w.]*\Z"
)
TESTS_KIND: Final = re.compile(r"\b(?:isinstance|hasattr)\([\w.]*\Z")
ASKS_KIND: Final = re.compile(r"\bisinstance\([^()\n]*,\s*\(?(?:[\w.]+,\s*)*[\w.]*\Z")
DECLARES: Final = re.compile(r"\b(\w+)\s*:\s*(?:(?:\w+\.)?(?:Optional|Union)\[|[\w.]+\s*[|,]\s*)*[\"']?\Z")
GOES_THROUGH: Final = re.compile(r"\bin\s+[\w.]*\Z")
BINDS: Final = re.compile(r"\b(\w+)\s*(?::[^=\n]*)?=\s*\Z")
BESIDE: Final = re.compile(r"[\"'](\w+)[\"'],\s*\Z")  # the text that it is kept under
TAKES: Final = re.compile(r"\bgetattr\([^()\n]*\Z|[\w\]]\[\Z")  # by a text
LEAVES: Final = re.compile(r"(?:,\s*None)?\)\s*(?:is\b|[=!]=)|\]\s*=")
MADE: Final = re.compile(r"(?:\.\w+)?\(")
KEPT: Final = re.compile(r"\s*[,|\]\)=\"'\n]")
ITSELF: Final = re.compile(r"\bself(?:\.forward|\.__call__)?\(")
# What may have parameters: what is made there, or what a class below another than `nn.Module` has from that.
PARTS: Final = re.compile(
    r"\bnn\.(?!Module\b|functional\b)\w|\bParameter\(|\bself\.\w+\s*=\s*[\w.]+\(|\Aclass \w+\((?!(?:\w+\.)*Module\))"
)
UNTRAINED: Final = r"^[ \t]*@(?:torch\.)?(?:no_grad|inference_mode)\(\)\s*\n(?:[ \t]*@[^\n]*\n)*[ \t]*def forward\b"

Calls = Mapping[str, tuple[Function, ...]]
At = tuple[str, int]  # where in which file


class OncePerGeneration:
    """The places that call each of some modules, as far as all that is done with these is seen."""

    def __init__(
        self,
        asked: Collection[Where],
        calls: Calls,
        seldom_called: SeldomCalled,
        hierarchy: Hierarchy,
        dynamic_names: DynamicNames,
        files: Files,
        places: Places,
    ) -> None:
        self._calls, self._seldom_called, self._files, self._places = calls, seldom_called, files, places
        self._hierarchy, self._dynamic_names = hierarchy, dynamic_names
        run = {where for functions in calls.values() for one in functions for where in one.runs} if asked else set()
        self._called = {where: at for where in run.intersection(asked) if (at := [*self._every(where)])}

    @property
    def callers(self) -> set[Where]:
        """What has them run."""
        around = [(path, innermost(self._calls.get(path, ()), self._line(path, at))) for path, at in self._all()]
        return {(path, function.name) for path, function in around if function is not None}

    def told(self) -> dict[Where, Told]:
        """Those that run once in a generation, with a call that shows it."""
        return {where: told for where in self._called if (told := self._told(where)) is not None}

    def _all(self) -> Iterator[At]:
        for places in self._called.values():
            yield from places

    def _told(self, where: Where) -> Told | None:
        ways: list[Told] = []
        for path, at in self._called[where]:
            told = self._by(path, self._line(path, at), where)
            if told is None and not self._seldom_called.is_unread(path, at):
                return None
            ways += told or ()
        if any(self._turns(fact) for way in ways for fact in way[1]):
            return None
        ways = [way for way in ways if of_a_run(way[1]) or any(fact.text.endswith(GENERATION) for fact in way[1])]
        if not ways:
            return None
        _, shown = min(ways, key=lambda way: (len(way[1]), str(way[1])))
        called = f"`{last_part(where[1])}`", f"`{where[1]}`"
        shown = tuple([replace(one, text=one.text.replace(*called)) for one in shown])
        if self._is_trained(where):
            name = where[1].rpartition(".")[0]
            return "unknown", (Fact(f"as far as we see `{name}` runs once for many steps, {TRAINED}", 0), *shown)
        return "amortized", shown

    def _by(self, path: str, line: int, where: Where) -> list[Told] | None:
        """How seldom a call is made; None where it may be often, as by another module that runs at every step."""
        caller = innermost(self._calls.get(path, ()), line)
        if caller is None or last_part(caller.name) == last_part(where[1]):
            return None
        return self._seldom_called.by(path, line, where)

    def _turns(self, call: Fact) -> bool:
        """Whether a call on the way to a module stands in a loop of what runs once in a generation: each turn may take
        steps of its own."""
        caller = innermost(self._calls.get(call.path, ()), call.line)
        return caller is not None and is_generation(caller.path) and in_loop(caller, call.line)

    def _is_trained(self, where: Where) -> bool:
        """Whether a module may be trained: it has parts of its own, and keeps gradients."""
        text = self._text(where)
        return PARTS.search(text) is not None and re.search(UNTRAINED, text, re.MULTILINE) is None

    def _every(self, where: Where) -> Iterator[At]:
        """The places that call a module; none where something else may, or what is kept otherwise."""
        owner, package = where[1].rpartition(".")[0], self._files.home(where[0])
        text = self._text(where)
        if not text or not package or "." in owner or self._is_decorated(where):
            return
        above = self._hierarchy.above((where[0], owner))
        if self._dynamic_names.trains(package) or any(map(ITSELF.search, (text, *map(self._hierarchy.text, above)))):
            return
        kept = self._kept(owner, where[0], package)
        every = [at for name in sorted(kept) for at in self._done_with(name, kept[name], package)]
        if all(begin >= 0 for _, begin in every):
            yield from every

    def _kept(self, owner: str, path: str, package: str) -> dict[str, set[str]]:
        """The names under which what a class makes is kept, and the files that say so; none where it goes elsewhere,
        too."""
        found: dict[str, set[str]] = {}
        untold: list[At] = []
        for one in self._having(owner, package):
            text = self._files.text(one)
            if not one.endswith(".py") or re.search(rf"\b{owner}\s+as\s+\w", text):
                return {}  # what is configured may be run by anybody, and who gives it a name of his own, too
            if one != path and re.search(rf"^\s*class {owner}\b", text, re.MULTILINE):
                continue  # it has one of its own
            for begin, end in _places(owner, text):
                told = _kept_as(text, begin, end, os.path.basename(one) == "__init__.py")
                if told:
                    found.setdefault(told, set()).add(one)
                untold += [(one, begin)] if told is None else []
        return found if self._unread(untold) else {}

    def _done_with(self, name: str, saying: Container[str], package: str) -> Iterator[At]:
        """The places that call what is kept under a name, as some files say; one before all where it goes elsewhere,
        too."""
        other = re.compile(
            rf"\b{name}\s*:\s*(?:Optional\[)?[\"']?(?:\w+\.)*(?!{ANYTHING})[A-Z]\w*(?=[\"'\],)=|\n]| [|=])"
        )
        number = re.compile(rf"\b{name}\s*:\s*(?:int|float|str|bool)\b")
        untold: list[At] = []
        having = self._having(name, package)
        for one in having:
            text = self._files.text(one)
            code = self._files.code(one) if one not in saying else ""
            if other.search(code):
                continue  # it declares that to be something else
            is_number = number.search(code) is not None
            for begin, end in _places(name, text):
                if is_number and text[begin - 1 : begin] != ".":
                    continue
                said = _said(text, begin, end, name)
                if said == "called":
                    yield one, begin
                elif said:
                    untold.append((one, begin))
        if not having or not self._unread(untold):
            yield "", -1

    def _unread(self, places: list[At]) -> bool:
        """Whether all of some places stand in what no code reads."""
        return len(places) <= UNTOLD and all(self._seldom_called.is_unread(*one) for one in places)

    def _having(self, name: str, package: str) -> list[str]:
        """The files of a package that have a name, but for tests; none where these are many."""
        having = [one for one in self._files.naming({name}, package)[name] if not self._places.is_test(one)]
        return having if len(having) <= MOST else []

    def _is_decorated(self, where: Where) -> bool:
        """Whether a class is handed to a decorator, which may keep it for others."""
        owner = where[1].rpartition(".")[0]
        return self._files.has(where[0], re.compile(rf"^@[^\n]*\n(?:[@#][^\n]*\n)*class {owner}\b", re.MULTILINE))

    def _text(self, where: Where) -> str:
        """A class, as it is written."""
        owner, text = where[1].rpartition(".")[0], self._files.text(where[0])
        met = re.search(rf"^class {owner}\b.*?(?=^\S|\Z)", text, re.DOTALL | re.MULTILINE)
        return met[0] if met is not None else ""

    def _line(self, path: str, at: int) -> int:
        return self._files.text(path).count("\n", 0, at) + 1


def is_generation(path: tuple[Fact, ...]) -> bool:
    """Whether a path is that of what runs once in a generation itself."""
    return len(path) == 1 and path[0].text.endswith(GENERATION)


def _places(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a text has a name."""
    for met in re.finditer(rf"\b{name}\b", text):
        yield met.span()


def _kept_as(text: str, begin: int, end: int, inner: bool) -> str | None:
    """The name under which what a class is, or makes, is kept at a place that names it; '' where it is none of it, None
    where nobody knows."""
    line = text[text.rfind("\n", 0, begin) + 1 : begin]
    before, after = text[max(0, begin - NEAR) : begin], text[end : end + NEAR]
    if line.lstrip().startswith(("from ", "import ", "#")) or ASKS_KIND.search(before):
        return ""
    if before.endswith("class "):
        return ""
    if before.endswith(('"', "'")) and after.startswith(('"', "'")) and inner:
        return ""  # what a package says that it brings in
    if PROSE.match(after) and not KEPT.match(after):
        return ""
    if MADE.match(after):
        met = BINDS.search(before)
        once = met is not None and "=" not in line[: max(0, len(line) - len(met[0]))]
        return met[1] if met is not None and once else None
    if KEPT.match(after):
        met = DECLARES.search(before) or BESIDE.search(before)
        return met[1] if met is not None else None
    return None


def _said(text: str, begin: int, end: int, name: str) -> str:
    """What is done with what is kept under a name: "called", "handed" about, or "" for nothing of the kind."""
    line = text[text.rfind("\n", 0, begin) + 1 : begin]
    before, after, last = text[max(0, begin - NEAR) : begin], text[end : end + NEAR], text[begin - 1 : begin]
    if line.lstrip().startswith(("from ", "import ", "#")):
        return ""
    if last in ("'", '"') and after[:1] in ("'", '"'):
        return "handed" if TAKES.search(before[:-1]) and not LEAVES.match(after[1:]) else ""
    if CALLED.match(after):
        return "handed" if re.search(r"\b(?:def|class)\s+\Z", before) else "called"
    if PROSE.match(after) or PROSE_BEFORE.search(before):
        return ""
    if GOES_THROUGH.search(before):
        return "handed"
    if GIVES_BACK.match(after) and not STATEMENT.match(line):
        return "handed"
    if LET_BE.match(after) or TESTS_KIND.search(before) or (TESTS.search(before) and TESTED.match(after)):
        return ""
    if re.search(rf"\b{name}[\"']?\s*[=:]\s*(?:[\w.]+\.)?\Z", before):
        return ""  # it has the same name there
    if last != "." and _is_parameter(text, begin):
        return ""
    return "handed"


def _is_parameter(text: str, begin: int) -> bool:
    """Whether a name stands among the parameters of a function, or in what a constructor above is given."""
    deep = 0
    for at in range(begin - 1, max(0, begin - 4096), -1):
        if text[at] in ")]}":
            deep += 1
        elif text[at] in "([{":
            deep -= 1
        if deep < 0:
            return re.search(r"\bdef \w+\Z|super\(\)\.__init__\Z", text[max(0, at - NEAR) : at]) is not None
    return False
