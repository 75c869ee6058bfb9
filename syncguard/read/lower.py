"""Source text in, core out: one sweep of the standard `ast`, positions for free."""

from __future__ import annotations

import ast
import sys
import warnings

from syncguard.collector import paused_collector
from syncguard.read.core import Module
from syncguard.read.scope import Scope, frozen
from syncguard.read.statements import block


class Unreadable(Exception):
    """The running Python cannot parse this text; `line` says where, 1 when unknown."""

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.reason, self.line, self.column = reason, line, column


def lower(text: str) -> Module:
    """Lower one file. Raises `Unreadable` with a one-line reason."""
    try:
        with paused_collector():  # half of the parser's time is the collector walking a tree that is all alive
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the user's invalid escapes are not our news
                tree = ast.parse(text)
            scope = Scope("", None)
            return Module(block(tree.body, scope), frozen(scope), frozenset(scope.rebound))
    except SyntaxError as error:
        raise Unreadable(
            f"Python {sys.version_info[0]}.{sys.version_info[1]} cannot parse it: {error.msg}",
            error.lineno or 1,
            error.offset or 1,
        ) from None
    except ValueError as error:
        raise Unreadable(f"cannot parse it: {error}") from None
    except (RecursionError, MemoryError):
        raise Unreadable("it is nested too deeply to parse") from None
