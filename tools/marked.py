"""A page of the documentation and what was found out in, the page that tells it out."""

from __future__ import annotations

import re


def between(page: str, mark: str, told: str) -> str:
    """The page with this between `<!-- mark -->` and `<!-- /mark -->`, where it has them."""
    there = re.compile(rf"(<!-- {mark} -->\n).*(<!-- /{mark} -->)", re.DOTALL)
    return there.sub(lambda match: f"{match[1]}{told}{match[2]}", page)


def escaped(text: str, code: bool = False) -> str:
    """Text of which Markdown makes nothing; `code` between back quotes stays code."""
    parts = re.split(r"(`[^`]*`)", text) if code else [text]
    letters = r"([\\*_\[\]<>|])" if code else r"([\\`*_\[\]<>|])"
    return "".join(part if n % 2 else re.sub(letters, r"\\\1", part) for n, part in enumerate(parts))
