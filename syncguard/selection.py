"""Config and the rules there are -> Selection: which findings the user wants to see, file by file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from syncguard.config import Config, ConfigError, like
from syncguard.house import CODES, HOUSE
from syncguard.terms import Finding, Rule

HEATS = {
    "hot": frozenset({"hot"}),
    "unknown": frozenset({"hot", "unknown"}),
    "amortized": frozenset({"hot", "unknown", "amortized"}),
    "all": frozenset({"hot", "unknown", "amortized", "cold"}),
}
CONFIDENCES = {
    "certain": frozenset({"certain"}),
    "likely": frozenset({"certain", "likely"}),
    "possible": frozenset({"certain", "likely", "possible"}),
}
# A backslash is no escape before these, so it is meant as what stands between folders.
WINDOWS = re.compile(r"\\[\w.*]")
BREAKS = ("capture", "compile")


class Selection(msgspec.Struct, frozen=True):
    """The codes that are on, what is ignored under which paths, and the heats and confidences to show."""

    codes: frozenset[str]
    heats: frozenset[str]
    confidences: frozenset[str]
    root: str
    ignored: tuple[tuple[Callable[[str], bool], frozenset[str]], ...] = ()

    def codes_for(self, path: str) -> frozenset[str]:
        """The codes that are on in one file."""
        relative = below(self.root, path) if self.ignored else ""
        return self.codes.difference(*(codes for matches, codes in self.ignored if matches(relative)))

    def shows(self, finding: Finding) -> bool:
        """Whether the user wants to see a finding."""
        if finding.code not in self.codes_for(finding.site.path):
            return False
        return finding.code in CODES or (finding.heat in self.heats and finding.confidence in self.confidences)

    def leaves_out(self, finding: Finding) -> bool:
        """Whether the user would want to see a finding if it did not run so seldom."""
        return self._counts(finding) and finding.heat not in self.heats and finding.confidence in self.confidences

    def doubts(self, finding: Finding) -> bool:
        """Whether a finding is left out for its confidence alone, which is that of what is reported unasked."""
        unsure = finding.confidence == "likely" and "likely" not in self.confidences
        return unsure and finding.heat in self.heats and self._counts(finding)

    def _counts(self, finding: Finding) -> bool:
        return finding.code in self.codes_for(finding.site.path) and finding.code not in CODES


def selection(config: Config, rules: Iterable[Rule]) -> Selection:
    """What a configuration selects of these rules. Raises ConfigError for a rule that does not exist."""
    rules = tuple(rules)
    known = (*rules, *HOUSE)

    def codes(words: Sequence[str], key: str) -> frozenset[str]:
        return frozenset[str]().union(*(_expanded(word, known, f"{config.origin(key)}: {key}") for word in words))

    chosen = codes(config.select, "select") if config.select else frozenset(r.code for r in rules if r.default)
    chosen |= codes(config.extend_select, "extend-select") | frozenset(CODES)
    ignored = tuple((files_of(pattern), codes(words, "per-file-ignores")) for pattern, words in config.per_file_ignores)
    chosen -= codes(config.ignore, "ignore")
    return Selection(chosen, HEATS[config.heat], CONFIDENCES[config.confidence], config.root, ignored)


def hidden(finding: Finding, config: Config) -> str:
    """What keeps a finding from being reported with these settings, or how it would be; '' where it is."""
    if finding.allowed:
        return f"allowed by a comment: {finding.allowed}"
    asked = []
    if finding.heat not in HEATS[config.heat]:
        asked.append(f"--heat {'all' if finding.heat == 'cold' else finding.heat}")
    if finding.confidence not in CONFIDENCES[config.confidence]:
        asked.append(f"--confidence {finding.confidence}")
    return f"reported with `{' '.join(asked)}`" if asked else ""


def expand(word: str, rules: Iterable[Rule]) -> frozenset[str]:
    """The codes that a word means: a code, the beginning of one, a name, ALL, or what it breaks (capture, compile)."""
    if word == "ALL":
        return frozenset(rule.code for rule in rules)
    if word in BREAKS:
        return frozenset(rule.code for rule in rules if word in rule.breaks)
    begins = word[:2].isalpha() and word.isupper()
    return frozenset(rule.code for rule in rules if word == rule.name or (begins and rule.code.startswith(word)))


def files_of(pattern: str) -> Callable[[str], bool]:
    """The files of one pattern; with `!` before it, all others."""
    if pattern.startswith("!"):
        matches = matcher((pattern[1:],))
        return lambda path: not matches(path)
    return matcher((pattern,))


def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path, relative to the folder of the patterns, matches one; they are written as in .gitignore."""
    from pathspec import GitIgnoreSpec

    for pattern in patterns:
        if WINDOWS.search(pattern):
            right = pattern.replace("\\", "/")
            raise ConfigError(f"a pattern that cannot be used: `{pattern}`; write `{right}`, as in .gitignore")
    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except (ValueError, re.error) as fault:
        raise ConfigError(f"a pattern that cannot be used: {fault}") from None


def below(root: str, path: str) -> str:
    """The path relative to a folder, with `/`."""
    return os.path.relpath(path, root).replace(os.sep, "/")


def _expanded(word: str, rules: Sequence[Rule], where: str) -> frozenset[str]:
    codes = expand(word, rules)
    if not codes and word not in BREAKS:
        names = [text for rule in rules for text in (rule.code, rule.name)]
        where = where.split(": ", 1)[0] if where.startswith("--") else where
        raise ConfigError(f"{where}: unknown rule `{word}`{like(word, names)}")
    return codes
