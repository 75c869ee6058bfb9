"""The text of a program -> what `syncguard check` finds in it, whatever its heat."""

from __future__ import annotations

import textwrap
from typing import Any

from syncguard import pipeline
from syncguard.config import Config
from syncguard.terms import Finding


def findings(text: str, head: str = "", **settings: Any) -> tuple[Finding, ...]:
    """What is found, in its order; `head` stands before the text, which may be indented."""
    config = Config(heat="all", stdin_filename="example.py", **settings)
    return pipeline.check(["-"], config, head + textwrap.dedent(text)).findings


def codes(text: str, head: str = "", **settings: Any) -> list[str]:
    """The codes of these findings."""
    return [finding.code for finding in findings(text, head, **settings)]
