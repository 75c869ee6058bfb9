"""`# syncguard: allow[SG201] reason` in the source of running code -> whether a wait there is allowed, and why."""

from __future__ import annotations

import linecache
from functools import cached_property

from syncguard.observe.attribute import Spot, position
from syncguard.pack import Pack

Reach = tuple[tuple[tuple[tuple[int, int], ...], frozenset[str], str], ...]


class Comments:
    """The comments of the files that have waits, read when a wait is first seen there."""

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        self._files: dict[str, Reach] = {}
        self._known: dict[tuple[int, int, str], tuple[str, object]] = {}

    def reason(self, at: Spot, hazard: str) -> str:
        """Why the wait is allowed; "" if no comment says so."""
        # By identity: to hash a code takes as long as it is. It is kept, so that no other gets its place in memory.
        key = (id(at.code), at.instruction, hazard)
        if key not in self._known:
            self._known[key] = self._reason(at, hazard), at.code
        return self._known[key][0]

    def _reason(self, at: Spot, hazard: str) -> str:
        name = at.code.co_filename
        if name not in self._files:
            self._files[name] = self._reach(name)
        if not self._files[name]:
            return ""
        line, last, _, _ = position(at.code, at.instruction)
        codes = {self.pack.code_of(hazard)} | self._judged
        for spans, named, reason in self._files[name]:
            if codes & named and any(first <= last and line <= end for first, end in spans):
                return reason
        return ""

    @cached_property
    def _judged(self) -> set[str]:
        """The rules that `check` judges by what surrounds a wait, which a run sees as the plain one that it is."""
        plain = {wait.hazard for op in self.pack.ops.values() for wait in op.waits}
        return {rule.code for rule in self.pack.rules if not plain & set(rule.hazards)}

    def _reach(self, name: str) -> Reach:
        text = "".join(linecache.getlines(name))
        if "syncguard" not in text.lower():
            return ()
        from syncguard.read import allow
        from syncguard.read.source import FileNote, Source
        from syncguard.selection import expand

        source = Source(name, text, FileNote(name, "read"))
        return tuple(
            (
                spans,
                frozenset(code for word in comment.words for code in expand(word, self.pack.rules)),
                comment.reason or "allowed by a comment",
            )
            for comment, spans in allow.reach_of(source).items()
        )
