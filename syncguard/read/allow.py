"""`# syncguard: allow[SG201] reason` comments -> which findings they cover, and what is wrong with the comments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from syncguard import house
from syncguard.config import like
from syncguard.read.source import Source
from syncguard.selection import expand
from syncguard.terms import Finding, Rule, Site

COMMENT = re.compile(
    r"#\s*(?i:syncguard)(?P<colon>:?)\s*(?P<verb>[\w-]+)\s*(?P<open>\[(?P<rules>[^\]#]*)(?P<close>\]?))?(?P<reason>.*)"
)
NAMES = ("syncguard", "SyncGuard", "Syncguard")  # as people write it in a comment
CODE = re.compile(r"(?i:sg)\d*")
VERBS = ("allow", "allow-file")
HERE = ", which is reported here"
# The parts of a compound statement that are statements themselves.
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
Span = tuple[int, int]


class Allow(msgspec.Struct, frozen=True):
    """One comment: where it stands, the rules it names as they are written, its reason, and what is wrong with it."""

    site: Site
    verb: str
    words: tuple[str, ...]
    reason: str
    fault: str = ""


class Allowed(msgspec.Struct, frozen=True):
    """The findings that no comment covers, those that one does, and findings about the comments themselves."""

    kept: tuple[Finding, ...]
    covered: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()


def settle(source: Source, findings: tuple[Finding, ...], rules: Iterable[Rule], active: frozenset[str]) -> Allowed:
    """What the comments of a file leave of all its findings, whatever their heat, not yet moved into notebook cells.
    `active` are the codes that are on here: no comment is called unused for any other."""
    reach = reach_of(source)
    if not reach:
        return Allowed(findings)
    rules = tuple(rules)
    kept, covered, used = apply(findings, reach, rules)
    notes = (note for allow, spans in reach.items() for note in _notes(allow, spans, kept, used, rules, active))
    return Allowed(kept, covered, tuple(notes))


def settle_more(
    source: Source, findings: tuple[Finding, ...], before: tuple[Finding, ...], rules: tuple[Rule, ...]
) -> Allowed:
    """What the comments leave of findings that became known later; as notes, what was found before without the words
    that were called unused and are of use now.
    """
    reach = reach_of(source)
    if not reach:
        return Allowed(findings, notes=before)
    kept, covered, used = apply(findings, reach, rules)
    wrong = [house.finding("SG001", one.site, word=word) for one, word in used]
    return Allowed(kept, covered, tuple(note for note in before if note not in wrong))


def apply(
    findings: Iterable[Finding], reach: dict[Allow, tuple[Span, ...]], rules: tuple[Rule, ...]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], frozenset[tuple[Allow, str]]]:
    """The findings that no comment covers, those that one does, and the words of comments that were of use."""
    codes = {word: expand(word, rules) for allow in reach for word in allow.words}
    kept: list[Finding] = []
    covered: list[Finding] = []
    used: set[tuple[Allow, str]] = set()
    for finding in findings:
        words = {
            (allow, word)
            for allow, spans in reach.items()
            if _within(finding, spans)
            for word in allow.words
            if finding.code in codes[word]
        }
        used |= words
        if words:
            reasons = [allow.reason for allow in reach if any(allow == one for one, _ in words)]
            covered.append(replace(finding, allowed="; ".join(dict.fromkeys(filter(None, reasons)))))
        else:
            kept.append(finding)
    return tuple(kept), tuple(covered), frozenset(used)


def reach_of(source: Source) -> dict[Allow, tuple[Span, ...]]:
    """The comments that are ours, in order, each with the lines that it speaks for."""
    allows = comments(source) if any(name in source.text for name in NAMES) else ()
    spans = statements(source.text) if allows else ()
    return {allow: reached(allow, source, spans) for allow in allows}


def comments(source: Source) -> tuple[Allow, ...]:
    """The comments that are ours, in order."""
    import io
    import tokenize

    found: list[Allow] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT and (match := COMMENT.search(token.string)):
                found.extend(_allow(source.path, match, *token.start))
    except (tokenize.TokenError, SyntaxError):
        pass  # Such a file does not parse either, and that is reported.
    return tuple(found)


def statements(text: str) -> tuple[Span, ...]:
    """The first and last line of each simple statement, and of what comes before the body of each compound one."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    lines = text.split("\n")
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case))
    return tuple(sorted({_span(node, lines) for node in nodes}))


def reached(allow: Allow, source: Source, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The lines that a comment speaks for: its statement's; on a line of its own, the statement directly below."""
    if allow.fault:
        return ()
    if allow.verb == "allow-file":
        return ((1, source.text.count("\n") + 1),)
    line, lines = allow.site.line, source.text.split("\n")
    if around := tuple(span for span in spans if span[0] <= line <= span[1]):
        return around
    while line <= len(lines) and lines[line - 1].lstrip().startswith("#"):
        line += 1
    return tuple(span for span in spans if span[0] == line)


def _span(node: ast.AST, lines: list[str]) -> Span:
    parts: list[ast.AST] = [node]
    below: list[ast.AST] = getattr(node, "body", None) or getattr(node, "cases", None) or []
    last = 0
    if below:
        fields = (value for name, value in ast.iter_fields(node) if name not in BODIES)
        values = (item for value in fields for item in (value if isinstance(value, list) else [value]))
        parts = [inner for value in values if isinstance(value, ast.AST) for inner in ast.walk(value)]
        # A header ends at its colon, and only comments and blank lines stand between that and the body.
        last = _first(below[0]) - 1
        while last > 0 and lines[last - 1].lstrip()[:1] in ("", "#"):
            last -= 1
    ends = [line for part in parts if (line := getattr(part, "end_lineno", None))]
    begins = [line for part in (node, *parts) if (line := getattr(part, "lineno", None))]
    return min(begins), max(*ends, last, getattr(node, "lineno", 0))


def _first(node: ast.AST) -> int:
    """The line on which a statement, decorated or not, or a case begins."""
    parts: list[ast.AST] = [getattr(node, "pattern", node), *getattr(node, "decorator_list", ())]
    return min(getattr(part, "lineno", 1) for part in parts)


def _allow(path: str, match: re.Match[str], line: int, column: int) -> Iterator[Allow]:
    verb = match["verb"].lower()
    start = column + match.start() + 1
    site = Site(path, line, start, line, start + len(match[0].rstrip()))
    words = tuple(dict.fromkeys(_word(word) for word in re.split(r"[\s,]+", match["rules"] or "") if word))
    reason = re.split(r"\s#\s", match["reason"])[0].strip(" \t:-")
    if verb in VERBS and not match["colon"]:
        if match["open"]:
            yield Allow(site, verb, words, reason, f"it has no colon: `syncguard: {verb}[...]`")
    elif verb in VERBS:
        closed = "" if match["close"] or not match["open"] else "its bracket is not closed"
        yield Allow(site, verb, words, reason, closed or ("" if words else "it names no rule"))
    elif match["open"] and match["colon"]:
        yield Allow(site, verb, words, reason, f"`{verb}` is not understood{like(verb, VERBS)}")
    # Anything else after the colon is prose.


def _word(word: str) -> str:
    return word.upper() if CODE.fullmatch(word) else word


def _within(finding: Finding, spans: tuple[Span, ...]) -> bool:
    return any(first <= finding.site.line <= last for first, last in spans)


def _notes(
    allow: Allow,
    spans: tuple[Span, ...],
    kept: Iterable[Finding],
    used: frozenset[tuple[Allow, str]],
    rules: tuple[Rule, ...],
    active: frozenset[str],
) -> Iterator[Finding]:
    if allow.fault:
        yield house.finding("SG003", allow.site, reason=allow.fault)
        return
    shown = [finding for finding in kept if finding.code in active]
    for word in allow.words:
        codes = expand(word, rules)
        if not codes:
            yield house.finding(
                "SG003", allow.site, reason=f"there is no rule `{word}`{_meant(word, spans, shown, rules)}"
            )
        elif spans and codes & active and (allow, word) not in used:
            yield house.finding("SG001", allow.site, word=word)
    if not spans:
        yield house.finding("SG002", allow.site)
    if not allow.reason:
        yield house.finding("SG004", allow.site)


def _meant(word: str, spans: tuple[Span, ...], kept: Iterable[Finding], rules: tuple[Rule, ...]) -> str:
    """The rule like this word that is reported where the comment stands; else the rule most like it."""
    here = {name: None for finding in kept if _within(finding, spans) for name in (finding.code, finding.name)}
    if said := like(word, here):
        return said.replace("?", f"{HERE}?")
    return like(word, [name for rule in rules for name in (rule.code, rule.name)])
