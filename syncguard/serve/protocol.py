"""The Language Server Protocol on standard input and output, by pygls: questions in, the answers of this room out."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from syncguard import __version__
from syncguard.config import ConfigError
from syncguard.pack import PackError
from syncguard.serve import answers
from syncguard.show.places import sentence
from syncguard.terms import Edit, Fact, Finding, Site

PAUSE = 0.25  # seconds without a key after which a text is checked
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "advice": types.DiagnosticSeverity.Information,
}
FIX_ALL = "source.fixAll.syncguard"


def serve() -> None:
    """Answer until the editor says goodbye."""
    # What anything prints by mistake goes to standard error, and not in between the messages.
    asks, tells = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server().start_io(asks, tells)


def server() -> Any:
    """The server with all that it answers."""
    made: Any = LanguageServer("syncguard", __version__)
    state = State(made)
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]
    for name, answer, options in (
        (types.TEXT_DOCUMENT_DID_OPEN, state.opened, None),
        (types.TEXT_DOCUMENT_DID_CHANGE, state.changed, None),
        (types.TEXT_DOCUMENT_DID_SAVE, state.saved, None),
        (types.TEXT_DOCUMENT_DID_CLOSE, state.closed, None),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, state.saved, None),
        (types.TEXT_DOCUMENT_CODE_ACTION, state.actions, types.CodeActionOptions(code_action_kinds=kinds)),
        (types.TEXT_DOCUMENT_HOVER, state.hover, None),
    ):
        made.feature(name, options)(_plain(answer))
    return made


def _plain(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function, on which pygls can leave its marks; a method takes none."""
    if inspect.iscoroutinefunction(answer):

        async def later(params: Any) -> Any:
            return await answer(params)

        return later

    def now(params: Any) -> Any:
        return answer(params)

    return now


class State:
    """What is open: each text as it was last checked, and the checks that are waiting."""

    def __init__(self, made: Any) -> None:
        self.server = made
        self.seen: dict[str, answers.Seen] = {}
        self.open: set[str] = set()
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.told = ""

    # -- what the editor tells ----------------------------------------------------------------------

    def opened(self, params: Any) -> None:
        uri = params.text_document.uri
        if path_of(uri):
            self.open.add(uri)
            self.check(uri)

    async def changed(self, params: Any) -> None:
        uri = params.text_document.uri
        if uri not in self.open:
            return
        if uri in self.waiting:
            self.waiting[uri].cancel()
        self.waiting[uri] = asyncio.create_task(self.later(uri))

    def saved(self, params: Any) -> None:
        """What a file says may change what the others wait for, and so may the configuration."""
        for uri in sorted(self.open):
            self.check(uri)

    def closed(self, params: Any) -> None:
        uri = params.text_document.uri
        self.open.discard(uri)
        self.seen.pop(uri, None)
        self.publish(uri, [])

    async def later(self, uri: str) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(PAUSE)
            self.waiting.pop(uri, None)
            if uri in self.open:
                self.check(uri)

    # -- what it is told ------------------------------------------------------------------------------

    def check(self, uri: str, fixes: bool = False) -> None:
        """Check a text and publish what is found; a configuration that cannot be used is said once."""
        if waiting := self.waiting.pop(uri, None):
            waiting.cancel()
        texts = {path_of(one): self.document(one).source for one in self.open}
        try:
            seen = answers.seen(path_of(uri), texts, fixes=fixes)
        except (ConfigError, PackError) as fault:
            self.say(str(fault))
            self.publish(uri, [])
            return
        self.told = ""
        self.seen[uri] = seen
        self.publish(uri, [self.diagnostic(finding, seen) for finding in seen.findings])

    def say(self, text: str) -> None:
        if text != self.told:
            self.told = text
            kind = types.MessageType.Error
            self.server.window_show_message(types.ShowMessageParams(type=kind, message=f"syncguard: {text}"))

    def publish(self, uri: str, found: list[types.Diagnostic]) -> None:
        version = self.document(uri).version if uri in self.open else None
        params = types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=found)
        self.server.text_document_publish_diagnostics(params)

    def actions(self, params: Any) -> list[types.CodeAction]:
        """Fixes and comments for what is found on some lines, and all safe fixes of the file."""
        uri = params.text_document.uri
        seen = self.now(uri, fixes=True)
        if seen is None:
            return []
        only = params.context.only
        found: list[types.CodeAction] = []
        if _wanted(types.CodeActionKind.QuickFix, only):
            first, last = params.range.start.line + 1, params.range.end.line + 1
            found += [self.action(change, uri, seen) for change in answers.changes(seen, first, last)]
        if _wanted(FIX_ALL, only) and any(f.fix is not None and f.fix.tier == "safe" for f in seen.findings):
            end = types.Position(line=seen.source.text.count("\n") + 1, character=0)
            whole = types.TextEdit(range=types.Range(types.Position(0, 0), end), new_text=answers.all_fixed(seen))
            title = "SyncGuard: make all safe fixes"
            edit = types.WorkspaceEdit(changes={uri: [whole]})
            found.append(types.CodeAction(title=title, kind=FIX_ALL, edit=edit))
        return found

    def action(self, change: answers.Change, uri: str, seen: answers.Seen) -> types.CodeAction:
        return types.CodeAction(
            title=change.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self.diagnostic(change.finding, seen)],
            is_preferred=change.best or None,
            edit=types.WorkspaceEdit(changes={uri: [self.edit(edit, seen) for edit in change.edits]}),
        )

    def hover(self, params: Any) -> types.Hover | None:
        """What is believed of the expression under the cursor."""
        seen = self.now(params.text_document.uri)
        if seen is None:
            return None
        line = params.position.line + 1
        lines = seen.source.text.split("\n")
        if line > len(lines):
            return None
        column = self.column(lines[line - 1], params.position.character)
        found = answers.belief(seen, line, column)
        if found is None:
            return None
        text = types.MarkupContent(kind=types.MarkupKind.Markdown, value=found.text)
        return types.Hover(contents=text, range=self.range(found.site, seen))

    def now(self, uri: str, fixes: bool = False) -> answers.Seen | None:
        """The text as it is at this moment, checked: an answer about an older one would change the wrong lines."""
        if uri not in self.open:
            return None
        known = self.seen.get(uri)
        old = known is None or known.texts.get(known.source.path) != self.document(uri).source
        if old or (fixes and known is not None and known.findings and not known.fixes):
            self.check(uri, fixes)
        return self.seen.get(uri)

    # -- places ---------------------------------------------------------------------------------------

    def diagnostic(self, finding: Finding, seen: answers.Seen) -> types.Diagnostic:
        path = seen.source.path
        facts = (*finding.because, *finding.hot_path, *finding.options)
        return types.Diagnostic(
            range=self.range(finding.site, seen),
            message=sentence(finding),
            severity=SEVERITIES[finding.level],
            code=finding.code,
            source="syncguard",
            related_information=[related(fact, path) for fact in facts] or None,
        )

    def edit(self, edit: Edit, seen: answers.Seen) -> types.TextEdit:
        return types.TextEdit(range=self.range(edit.site, seen), new_text=edit.text)

    def range(self, site: Site, seen: answers.Seen) -> types.Range:
        lines = seen.source.text.split("\n")
        ends = ((site.line, site.column), (site.end_line, site.end_column))
        start, end = (types.Position(line - 1, self.units(lines, line, column)) for line, column in ends)
        return types.Range(start, end)

    def units(self, lines: list[str], line: int, column: int) -> int:
        """A column, in characters from 1, as the editor counts."""
        return self._length(lines[line - 1][: column - 1]) if line <= len(lines) else 0

    def column(self, text: str, units: int) -> int:
        """A column from 1, in characters, of what the editor counts."""
        return next((n for n in range(len(text) + 1) if self._length(text[:n]) >= units), len(text)) + 1

    def _length(self, text: str) -> int:
        match self.server.workspace.position_encoding:
            case types.PositionEncodingKind.Utf8:
                return len(text.encode("utf-8", "replace"))
            case types.PositionEncodingKind.Utf32:
                return len(text)
        return len(text) + sum(ord(char) > 0xFFFF for char in text)

    def document(self, uri: str) -> Any:
        return self.server.workspace.get_text_document(uri)


def related(fact: Fact, path: str) -> types.DiagnosticRelatedInformation:
    at = types.Position(max(fact.line - 1, 0), 0)
    place = types.Location(uri=from_fs_path(os.path.abspath(fact.path or path)) or "", range=types.Range(at, at))
    return types.DiagnosticRelatedInformation(location=place, message=fact.text)


def path_of(uri: str) -> str:
    """The whole path of a Python file; "" for anything else."""
    path = to_fs_path(uri) if urlsplit(uri).scheme == "file" else None
    return os.path.abspath(path) if path and not path.endswith((".ipynb", ".pyi")) else ""


def _wanted(kind: str, only: Any) -> bool:
    return not only or any(kind == one or kind.startswith(f"{one}.") for one in only)
