"""The text of a program -> what `syncguard check` finds in it, whatever its heat."""

from __future__ import annotations

import textwrap
from typing import Any

from syncguard import pipeline
from syncguard.config import Config


def codes(text: str, head: str = "", **settings: Any) -> list[str]:
    """The codes of the findings, in their order; `head` stands before the text, which may be indented."""
    config = Config(heat="all", stdin_filename="example.py", **settings)
    return [finding.code for finding in pipeline.check(["-"], config, head + textwrap.dedent(text)).findings]
