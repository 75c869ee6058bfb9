"""Where findings are, as other programs want to know it: the file from some root, and what a finding is known by."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

from syncguard.judge.baseline import snippet
from syncguard.read.notebook import file_of
from syncguard.show.look import Look
from syncguard.terms import Finding


def from_root(path: str, root: str = "") -> str:
    """The file of a path with `/`, from a folder if it is below it, else as it is; "" is the current folder."""
    file = file_of(path)
    whole, start = os.path.realpath(file), os.path.realpath(root or ".")
    inside = whole.startswith(os.path.join(start, ""))
    return (os.path.relpath(whole, start) if inside else os.path.normpath(file)).replace(os.sep, "/")


def fingerprints(findings: Iterable[Finding], look: Look, root: str = "") -> tuple[str, ...]:
    """What each finding is known by though lines move, as in a baseline: unequal for any two."""
    seen: Counter[tuple[str, ...]] = Counter()
    found: list[str] = []
    for finding in findings:
        text = snippet(finding.site, look.lines(finding.site.path))
        key = (from_root(finding.site.path, root), finding.function, finding.code, text)
        seen[key] += 1
        found.append(blake2b("\0".join((*key, str(seen[key]))).encode("utf-8", "replace"), digest_size=16).hexdigest())
    return tuple(found)


def sentence(finding: Finding) -> str:
    """What waits, and what to do."""
    parts = (part.rstrip(".") for part in (finding.message, finding.hint) if part)
    return " ".join(part if part.endswith("?") else f"{part}." for part in parts)


def path_label(finding: Finding) -> str:
    """What the path of a finding's heat shows."""
    return {"cold": "cold", "unknown": "heat"}.get(finding.heat, "hot")
