"""rules/places.toml -> Places: which names run hot, cold or on the host, and what a name tells of a tensor."""

from __future__ import annotations

import os
import re
from fnmatch import translate
from functools import cache, lru_cache
from pathlib import Path, PurePath
from typing import Any, Final

TESTS: Final = re.compile(r"^[ \t]*(?:async )?def test_|^class \w*Test|\b(?:pytest|unittest)\b", re.MULTILINE)
FILES: Final = ("places.toml", "evidence.toml")

Tables = dict[str, dict[str, tuple[str, ...]]]


class Places:
    """The tables of places.toml; `is_` matches a name against one of its lists."""

    def __init__(self, read: dict[str, dict[str, list[str]]]) -> None:
        tables = {name: {key: tuple(told) for key, told in table.items()} for name, table in read.items()}
        self.tables: Tables = tables
        self.loop_calls = frozenset(tables["hot"]["loop_calls"])
        self.passes = frozenset(tables["gates"]["passes"])  # names of calls that run a backward pass
        self.joins, self.groups, self.exchanges, self.memories, self.rewrites = (
            frozenset(tables["cold"][key]) for key in ("joins", "groups", "exchanges", "memories", "rewrites")
        )
        self.collectives = frozenset(f"{name}()" for name in tables["manners"]["collectives"])
        self._met = {table: {key: Met(told) for key, told in keys.items()} for table, keys in tables.items()}
        self._tests: dict[str, bool] = {}
        self._measuring: dict[str, bool] = {}
        self._outdated: dict[str, bool] = {}
        self._drawing: dict[str, bool] = {}
        self._of_data: dict[str, bool] = {}
        self._foreign: dict[str, bool] = {}

    def is_(self, table: str, key: str, name: str) -> bool:
        met = self._met[table][key]
        found = met.names.get(name)
        if found is None:
            if met.pattern is None:
                met.pattern = pattern(met.told)
            found = met.names[name] = met.pattern.matches(name)
        return found

    def each_step(self, name: str) -> bool:
        """Whether a method of this name runs at every step, or holds the loop of the steps."""
        named = self.is_("hot", "methods", name) and not self.is_("hot", "kinds", name.rpartition(".")[2])
        return named or self.is_("hot", "around", name)

    def seldom(self, name: str) -> bool:
        """Whether a function of this name runs seldom: a logarithm is no report, neither to load a batch nor to
        compute with one is setup, and to ask whether it is time to save saves nothing."""
        bare = name.lstrip("_")
        if not self.is_("cold", "functions", name) or self.is_("cold", "questions", bare):
            return False
        computes = self.is_("cold", "computing", bare) and not self.is_("cold", "models", bare)
        return not (computes or self.is_("cold", "logarithms", bare) or self.is_("cold", "batches", name))

    def is_test(self, path: str) -> bool:
        """Whether a file holds tests, which pass what no user does."""
        known = self._tests.get(path)
        if known is None:
            pure = PurePath(path)
            named = self.is_("cold", "files", pure.name) and not (self._is_module(pure) or self._is_used(pure))
            known = self._tests[path] = named or any(map(self._of_tests, pure.parents))
        return known

    def forget(self) -> None:
        """What stands around files may have changed: the next question looks again."""
        for known in (
            self._tests, self._measuring, self._drawing, self._outdated, self._foreign, self._of_data
        ):  # fmt: skip
            known.clear()

    def tests(self) -> dict[str, bool]:
        """The files of which it was asked whether they hold tests, and the answers."""
        return dict(self._tests)

    def standing(self, path: str) -> int:
        """What its name and what stands around it say of a file, as a number: another one where that has changed."""
        asked = (self.is_test, self.measures, self.draws, self.outdated, self.is_foreign, self.is_of_data)
        return sum([1 << n for n, is_so in enumerate(asked) if is_so(path)])

    def _is_module(self, path: PurePath) -> bool:
        """Whether a file that is a script at the top of a project stands in a package."""
        return self.is_("cold", "modules", path.name) and os.path.isfile(path.parent / "__init__.py")

    def _is_used(self, path: PurePath) -> bool:
        """Whether a file that is named as tests are is a part of its package, which brings it in for others, or holds
        none, and is a program with arguments."""
        if not self.is_("cold", "tests", path.name):
            return False
        brings = rf"^[ \t]*from[ \t]+(?:[\w.]*\.{path.stem}[ \t]+import\b|\.[ \t]+import\b[^\n]*\b{path.stem}\b)"
        if re.search(brings, _text(path.parent / "__init__.py"), re.MULTILINE):
            return True
        text = _text(path)
        return "ArgumentParser(" in text and TESTS.search(text) is None

    def measures(self, path: str) -> bool:
        """Whether a file is of benchmarks: named so, or in a folder of them that is no package."""
        known = self._measuring.get(path)
        if known is None:
            pure = PurePath(path)
            named = self.is_("cold", "measured", pure.name)
            known = self._measuring[path] = named or any(map(self._of_benchmarks, pure.parents))
        return known

    def draws(self, path: str) -> bool:
        """Whether a file draws for people: named so, or in a package that is."""
        folder = os.path.dirname(path)
        known = self._drawing.get(folder)
        if known is None:
            known = self._drawing[folder] = any(map(self._of_pictures, PurePath(path).parents))
        return known or self.is_("cold", "picture_files", os.path.basename(path))

    def outdated(self, path: str) -> bool:
        """Whether a file stands in a package of what is deprecated."""
        folder = os.path.dirname(path)
        known = self._outdated.get(folder)
        if known is None:
            known = self._outdated[folder] = any(map(self._of_outdated, PurePath(path).parents))
        return known

    def is_foreign(self, path: str) -> bool:
        """Whether a file, or the folder of a package around it, is named for a device of another kind, or for none."""
        known = self._foreign.get(path)
        if known is None:
            known = self._foreign[path] = self._named_foreign(PurePath(path))
        return known

    def is_of_data(self, path: str) -> bool:
        """Whether a file is for datasets, or stands in a package for them, and is none that measures what a model makes
        of them."""
        known = self._of_data.get(path)
        if known is None:
            pure = PurePath(path)
            of_data = self.is_("host", "files", pure.name) or any(map(self._for_data, pure.parents))
            known = self._of_data[path] = of_data and not self.is_("host", "measuring_files", pure.name)
        return known

    def _for_data(self, folder: PurePath) -> bool:
        return self._is_package("host", "folders", folder)

    def _named_foreign(self, path: PurePath) -> bool:
        kept = any(self.is_("host", "kept_there", part) for part in path.parts)
        if self.is_("host", "foreign", path.stem) or (not kept and self.is_("host", "for_host", path.stem)):
            return True
        lists = ("foreign_folders",) if kept else ("foreign_folders", "for_host")
        return any(self._in_package("host", key, folder) for key in lists for folder in path.parents)

    def _of_pictures(self, folder: PurePath) -> bool:
        return self._in_package("cold", "picture_folders", folder)

    def _of_outdated(self, folder: PurePath) -> bool:
        return self._is_package("cold", "outdated", folder)

    def _of_benchmarks(self, folder: PurePath) -> bool:
        return self.is_("cold", "measured_folders", folder.name) and not os.path.isfile(folder / "__init__.py")

    def _of_tests(self, folder: PurePath) -> bool:
        """Whether a folder's name says that it holds tests, or is that of a package for them."""
        if self.is_("cold", "folders", folder.name):
            return True
        return self._in_package("cold", "packages", folder)

    def _in_package(self, table: str, key: str, folder: PurePath) -> bool:
        """Whether a folder is a package, or in one, and so named."""
        if not self.is_(table, key, folder.name):
            return False
        return any(os.path.isfile(one / "__init__.py") for one in (folder, *folder.parents))

    def _is_package(self, table: str, key: str, folder: PurePath) -> bool:
        """Whether a folder is a package, and so named."""
        return self.is_(table, key, folder.name) and os.path.isfile(folder / "__init__.py")


class Met:
    """A list of shell patterns, and the names that were matched against it."""

    def __init__(self, told: tuple[str, ...]) -> None:
        self.told = told
        self.pattern: Pattern | None = None
        self.names: dict[str, bool] = {}


class Pattern:
    """Some shell patterns, by what it takes to match them: most need no regular expression, which is slow to make."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        kinds: dict[str, list[str]] = {"": [], "<": [], ">": [], "<>": [], "?": []}
        for text in patterns:
            inner = text.strip("*")
            if any(mark in inner for mark in "*?["):
                kinds["?"].append(translate(text))
            else:
                kinds["<" * text.endswith("*") + ">" * text.startswith("*")].append(inner)
        self.whole, self.within = frozenset(kinds[""]), tuple(kinds["<>"])
        self.start, self.end = tuple(kinds["<"]), tuple(kinds[">"])
        self.other = re.compile("|".join(kinds["?"])) if kinds["?"] else None

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
    return Pattern(patterns)


@lru_cache(maxsize=65536)
def matches(patterns: tuple[str, ...], name: str) -> bool:
    """Whether a name matches one of some shell patterns."""
    return pattern(patterns).matches(name)


def _text(path: PurePath) -> str:
    """What a file says, '' of one that is not there."""
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def read(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Read places.toml and evidence.toml; they are ours and tested, so their faults are not reported prettily."""
    import tomllib

    tables: dict[str, dict[str, Any]] = {}
    for name in FILES:
        tables.update(tomllib.loads((folder / name).read_text("utf-8")))
    return {
        name: {key: value if isinstance(value, list) else [value] for key, value in table.items()}
        for name, table in tables.items()
    }
