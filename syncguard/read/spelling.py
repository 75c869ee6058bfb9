"""Paths as the user writes them in, whole paths to work with out, and back: what is remembered holds in any folder."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec.structs import replace

from syncguard.read.notebook import cell_path, parts_of
from syncguard.terms import Fact, Finding, Fix, Site


class Spelling:
    """How the user writes each path."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.given = {os.path.abspath(path): path for path in paths}
        self.relative = not all(os.path.isabs(path) for path in self.given.values())

    def __contains__(self, whole: str) -> bool:
        return whole in self.given

    def of(self, whole: str) -> str:
        """A whole path as the user would write it: as given, or from the current folder if they give such paths."""
        known = self.given.get(whole)
        if known is not None:
            return known
        if not whole:
            return ""
        file, cell = parts_of(whole)
        if cell:
            return cell_path(self.of(file), cell)
        return os.path.relpath(whole) if self.relative else whole

    def finding(self, finding: Finding) -> Finding:
        """A finding with every path in it as the user would write it."""
        return replace(
            finding,
            site=self._site(finding.site),
            because=tuple([self._fact(fact) for fact in finding.because]),
            hot_path=tuple([self._fact(fact) for fact in finding.hot_path]),
            options=tuple([self._fact(fact) for fact in finding.options]),
            fix=self._fix(finding.fix),
        )

    def _fix(self, fix: Fix | None) -> Fix | None:
        if fix is None:
            return None
        return replace(fix, edits=tuple([replace(edit, site=self._site(edit.site)) for edit in fix.edits]))

    def _site(self, site: Site) -> Site:
        return replace(site, path=self.of(site.path))

    def _fact(self, fact: Fact) -> Fact:
        return replace(fact, path=self.of(fact.path)) if fact.path else fact
