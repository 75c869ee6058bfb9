"""rules/places.toml -> Places: which names run hot, cold or on the host, and what a name tells of a tensor."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import cache, cached_property, lru_cache
from pathlib import Path, PurePath

FILES = ("places.toml", "evidence.toml")


@dataclass(frozen=True)
class Places:
    """The tables of places.toml; `is_` matches a name against one of its lists."""

    tables: Mapping[str, Mapping[str, tuple[str, ...]]]

    def is_(self, table: str, key: str, name: str) -> bool:
        met = self._met[table][key]
        found = met.get(name)
        if found is None:
            found = met[name] = pattern(self.tables[table][key]).matches(name)
        return found

    def seldom(self, name: str) -> bool:
        """Whether a function of this name runs seldom: a logarithm is no report, and to load a batch no setup."""
        if not self.is_("cold", "functions", name):
            return False
        return not (self.is_("cold", "logarithms", name.lstrip("_")) or self.is_("cold", "batches", name))

    @cached_property
    def _met(self) -> dict[str, dict[str, dict[str, bool]]]:
        """The names that were matched against each list."""
        return {table: {key: {} for key in keys} for table, keys in self.tables.items()}

    def is_test(self, path: str) -> bool:
        """Whether a file holds tests, which pass what no user does."""
        known = self._tests.get(path)
        if known is None:
            pure = PurePath(path)
            known = self._tests[path] = self.is_("cold", "files", pure.name) or any(map(self._of_tests, pure.parents))
        return known

    def is_of_data(self, path: str) -> bool:
        """Whether a file stands in a package for datasets, and is none that measures what a model makes of them."""
        known = self._of_data.get(path)
        if known is None:
            pure = PurePath(path)
            of_data = any(map(self._for_data, pure.parents))
            known = self._of_data[path] = of_data and not self.is_("host", "measuring_files", pure.name)
        return known

    def _for_data(self, folder: PurePath) -> bool:
        return self.is_("host", "folders", folder.name) and os.path.isfile(folder / "__init__.py")

    def _of_tests(self, folder: PurePath) -> bool:
        """Whether a folder's name says that it holds tests, or is that of a package for them."""
        if self.is_("cold", "folders", folder.name):
            return True
        return self.is_("cold", "packages", folder.name) and os.path.isfile(folder / "__init__.py")

    @cached_property
    def _tests(self) -> dict[str, bool]:
        return {}

    @cached_property
    def _of_data(self) -> dict[str, bool]:
        return {}

    @cached_property
    def loop_calls(self) -> frozenset[str]:
        return frozenset(self.tables["hot"]["loop_calls"])

    @cached_property
    def passes(self) -> frozenset[str]:
        """Names of calls that run a backward pass."""
        return frozenset(self.tables["gates"]["passes"])


@dataclass(frozen=True, slots=True)
class Pattern:
    """Some shell patterns, by what it takes to match them: most need no regular expression, which is slow to make."""

    whole: frozenset[str]
    start: tuple[str, ...]
    end: tuple[str, ...]
    within: tuple[str, ...]
    other: re.Pattern[str] | None

    def matches(self, name: str) -> bool:
        return (
            name in self.whole
            or name.startswith(self.start)
            or name.endswith(self.end)
            or any(text in name for text in self.within)
            or (self.other is not None and self.other.match(name) is not None)
        )


@cache
def pattern(patterns: tuple[str, ...]) -> Pattern:
    kinds: dict[str, list[str]] = {"": [], "<": [], ">": [], "<>": [], "?": []}
    for text in patterns:
        inner = text.strip("*")
        if any(mark in inner for mark in "*?["):
            kinds["?"].append(translate(text))
        else:
            kinds["<" * text.endswith("*") + ">" * text.startswith("*")].append(inner)
    return Pattern(
        frozenset(kinds[""]),
        tuple(kinds["<"]),
        tuple(kinds[">"]),
        tuple(kinds["<>"]),
        re.compile("|".join(kinds["?"])) if kinds["?"] else None,
    )


@lru_cache(maxsize=65536)
def matches(patterns: tuple[str, ...], name: str) -> bool:
    """Whether a name matches one of some shell patterns."""
    return pattern(patterns).matches(name)


def load(folder: Path) -> Places:
    """Read places.toml and evidence.toml; they are ours and tested, so their faults are not reported prettily."""
    files = tuple((stat.st_mtime_ns, stat.st_size) for stat in map(os.stat, (folder / name for name in FILES)))
    return _loaded(folder, files)


@lru_cache(maxsize=1)
def _loaded(folder: Path, files: tuple[tuple[int, int], ...]) -> Places:
    """The places of this folder, while its files are these."""
    tables = {}
    for name in FILES:
        with (folder / name).open("rb") as file:
            tables.update(tomllib.load(file))
    return Places(
        {
            name: {key: tuple(value) if isinstance(value, list) else (value,) for key, value in table.items()}
            for name, table in tables.items()
        }
    )
