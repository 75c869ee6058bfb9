"""A finding about an `allow` comment in, the edit that takes the comment, or the useless word in it, away out."""

from __future__ import annotations

import re

from syncguard.read.allow import COMMENT
from syncguard.read.source import Source
from syncguard.terms import Edit, Finding, Fix, Site

WORD = re.compile(r"`([^`]+)`")


def fix(finding: Finding, source: Source) -> Fix | None:
    """SG001 and SG003 lose the word that they name, SG002 the comment; a comment without words goes, too."""
    if finding.code not in ("SG001", "SG002", "SG003") or source.cells:
        return None
    site = finding.site
    line = source.text.split("\n")[site.line - 1]
    match = COMMENT.match(line, site.column - 1)
    if match is None:
        return None
    words = [word for word in re.split(r"[\s,]+", match["rules"] or "") if word]
    named = WORD.search(finding.message)
    gone = named[1] if named and finding.code != "SG002" else ""
    left = [word for word in words if word != gone]
    if gone in words and left:
        start = match.start("rules")
        edit = Edit(_site(site, start + 1, match.end("rules") + 1), ", ".join(left))
        return Fix("remove-allow", "safe", f"takes `{gone}` out of the comment", (edit,))
    return Fix("remove-allow", "safe", "takes the comment away", (_whole(site, line, match),))


def _whole(site: Site, line: str, match: re.Match[str]) -> Edit:
    """The whole line, where nothing else is on it; else the comment and the space before it."""
    before = line[: match.start()].rstrip()
    if not before and match.end() >= len(line.rstrip()):
        return Edit(Site(site.path, site.line, 1, site.line + 1, 1), "")
    # A further comment behind ours, `# syncguard: allow[X] why # noqa`, is part of the reason and stays.
    rest = re.search(r"\s(#.*)$", match["reason"])
    if rest:
        return Edit(_site(site, match.start() + 1, match.start("reason") + rest.start(1) + 1), "")
    return Edit(_site(site, len(before) + 1, len(line) + 1), "")


def _site(site: Site, column: int, end: int) -> Site:
    return Site(site.path, site.line, column, site.line, end)
