"""A finding about an `allow` comment in, the edit that takes a useless word away or corrects a misspelt one out."""

from __future__ import annotations

import re

from syncguard.read.allow import COMMENT, HERE
from syncguard.read.source import Source
from syncguard.terms import Edit, Finding, Fix, Site

WORD = re.compile(r"`([^`]+)`")
MEANT = re.compile(rf"`([^`]+)`; did you mean `([^`]+)`{HERE}\?")


def fix(finding: Finding, source: Source) -> Fix | None:
    """SG001 loses the word that it names, and the comment goes with the last one. SG003 gets the word that was meant,
    where that is a rule reported there. Else the comment stays: its reason is the user's.
    """
    if finding.code not in ("SG001", "SG003") or source.cells:
        return None
    site = finding.site
    line = source.text.split("\n")[site.line - 1]
    match = COMMENT.match(line, site.column - 1)
    if match is None:
        return None
    words = [word for word in re.split(r"[\s,]+", match["rules"] or "") if word]
    inside = _site(site, match.start("rules") + 1, match.end("rules") + 1)
    if finding.code == "SG003":
        meant = MEANT.search(finding.message)
        if meant is None or meant[1] not in words:
            return None
        named = ", ".join(dict.fromkeys(meant[2] if word == meant[1] else word for word in words))
        return Fix("correct-allow", "safe", f"names `{meant[2]}` in the comment", (Edit(inside, named),))
    told = WORD.search(finding.message)
    gone = told[1] if told else ""
    left = [word for word in words if word != gone]
    if gone in words and left:
        return Fix("remove-allow", "safe", f"takes `{gone}` out of the comment", (Edit(inside, ", ".join(left)),))
    return Fix("remove-allow", "safe", "takes the comment away", (_whole(site, line, match),))


def _whole(site: Site, line: str, match: re.Match[str]) -> Edit:
    """The whole line, where nothing else is on it; else the comment and the space before it."""
    before = line[: match.start()].rstrip()
    if not before and match.end() >= len(line.rstrip()):
        return Edit(Site(site.path, site.line, 1, site.line + 1, 1), "")
    # Another tool's comment behind ours is part of the reason, and stays; `#42` is none.
    rest = re.search(r"\s(#\s*[^\W\d].*)$", match["reason"])
    if rest:
        return Edit(_site(site, match.start() + 1, match.start("reason") + rest.start(1) + 1), "")
    return Edit(_site(site, len(before) + 1, len(line) + 1), "")


def _site(site: Site, column: int, end: int) -> Site:
    return Site(site.path, site.line, column, site.line, end)
