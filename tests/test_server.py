"""`syncguard server`: a session as an editor has it, over standard input and output."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue

import pytest

ROOT = Path(__file__).parent.parent
needs_pygls = pytest.mark.skipif(importlib.util.find_spec("pygls") is None, reason="needs the extra `server`")
NET = """\
import torch
from ops import count


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        a = "é🚀", x.sum().item()
        y = torch.zeros(3).to(x.device)
        if count(x):
            return y
        return a
"""
OPS = "def count(x):\n    return 3\n"


class Editor:
    """Speaks the protocol by hand: what a client sends, and what comes back."""

    def __init__(self, folder, *args):
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "syncguard", "server", *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environ,
        )  # fmt: skip
        self.inbox: Queue[dict] = Queue()
        self.kept: list[dict] = []
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while head := self.process.stdout.readline():
            size = int(head.split(b":")[1])
            while self.process.stdout.readline().strip():
                pass
            self.inbox.put(json.loads(self.process.stdout.read(size)))

    def _send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method, **params):
        self._send(method=method, params=params)

    def ask(self, method, **params):
        self.number += 1
        number = self.number
        self._send(id=number, method=method, params=params)
        answer = self.wait(lambda message: message.get("id") == number)
        assert "error" not in answer, answer
        return answer["result"]

    def wait(self, wanted, seconds=90):
        for n, message in enumerate(self.kept):
            if wanted(message):
                return self.kept.pop(n)
        while True:
            try:
                message = self.inbox.get(timeout=seconds)
            except Empty:
                raise AssertionError(f"nothing came; {self.kept}") from None
            if wanted(message):
                return message
            self.kept.append(message)

    def found(self, uri, version=None):
        """The diagnostics that are published for a file next, or for a version of it."""
        message = self.wait(
            lambda m: (
                m.get("method") == "textDocument/publishDiagnostics"
                and m["params"]["uri"] == uri
                and (version is None or m["params"].get("version") == version)
            )
        )
        return message["params"]["diagnostics"]

    def start(self, **general):
        result = self.ask(
            "initialize", processId=None, rootUri=None, capabilities={"general": general} if general else {}
        )
        self.tell("initialized")
        return result

    def open(self, path, text=None):
        uri = path.resolve().as_uri()
        item = {"uri": uri, "languageId": "python", "version": 1, "text": path.read_text() if text is None else text}
        self.tell("textDocument/didOpen", textDocument=item)
        return uri

    def change(self, uri, version, text):
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def end(self):
        self.ask("shutdown")
        self.tell("exit")
        code = self.process.wait(30)
        return code, self.process.stderr.read().decode()


@pytest.fixture
def project(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.syncguard]\ncache = false\n")
    (tmp_path / "net.py").write_text(NET, "utf-8")
    (tmp_path / "ops.py").write_text(OPS)
    return tmp_path


@pytest.fixture
def editor(project):
    made = Editor(project)
    yield made
    made.process.kill()
    made.process.wait()


def place(line, character):
    return {"line": line, "character": character}


def span(line, character, end_line, end):
    return {"start": place(line, character), "end": place(end_line, end)}


def put(text, edits):
    """A text after the edits of a client that counts as UTF-16 does."""
    lines = text.split("\n")

    def offset(at):
        line = lines[at["line"]] if at["line"] < len(lines) else ""
        units = line.encode("utf-16-le")[: 2 * at["character"]].decode("utf-16-le")
        return min(sum(len(one) + 1 for one in lines[: at["line"]]) + len(units), len(text))

    for edit in sorted(edits, key=lambda edit: offset(edit["range"]["start"]), reverse=True):
        text = text[: offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]) :]
    return text


@needs_pygls
def test_a_session(editor, project):
    result = editor.start()
    assert result["serverInfo"]["name"] == "syncguard"
    assert result["capabilities"]["hoverProvider"]
    uri = editor.open(project / "net.py")
    item, built = editor.found(uri, 1)
    assert (item["code"], item["source"], item["severity"]) == ("SG201", "syncguard", 2)
    # The rocket counts as two, as in UTF-16.
    assert item["range"] == span(6, 19, 6, 33)
    assert item["message"].startswith("`x.sum().item()` waits for the device to compute `x.sum()`. Keep it")
    facts = item["relatedInformation"]
    assert facts[0]["message"] == "`x: torch.Tensor` is declared to be a tensor"
    assert facts[0]["location"] == {"uri": uri, "range": span(5, 0, 5, 0)}
    assert built["code"] == "SG304"

    # What is not saved counts, also that of another file.
    other = editor.open(project / "ops.py", "import torch\n\n\ndef count(x: torch.Tensor):\n    return x.sum()\n")
    assert editor.found(other, 1) == []
    editor.change(uri, 2, "\n" + NET)
    found = editor.found(uri, 2)
    assert [(one["code"], one["range"]["start"]["line"]) for one in found] == [
        ("SG201", 7), ("SG304", 8), ("SG204", 9),
    ]  # fmt: skip
    assert found[2]["relatedInformation"][0]["location"]["uri"] == other
    editor.change(other, 2, OPS)
    assert editor.found(other, 2) == []
    editor.tell("textDocument/didSave", textDocument={"uri": other})
    assert len(editor.found(uri, 2)) == 2

    # A file that does not parse at the moment, and then does.
    editor.change(uri, 3, NET + "def (:\n")
    (broken,) = editor.found(uri, 3)
    assert (broken["code"], broken["severity"]) == ("SG000", 1)
    editor.change(uri, 4, NET)
    assert len(editor.found(uri, 4)) == 2
    editor.tell("textDocument/didClose", textDocument={"uri": uri})
    assert editor.found(uri) == []
    assert editor.end() == (0, "")


@needs_pygls
def test_actions(editor, project):
    editor.start()
    uri = editor.open(project / "net.py")
    editor.found(uri, 1)

    def actions(line, end=None, **context):
        return editor.ask(
            "textDocument/codeAction", textDocument={"uri": uri}, range=span(line, 0, end or line, 0),
            context={"diagnostics": [], **context},
        )  # fmt: skip

    assert [one["title"] for one in actions(6)] == [
        "SG201: whoever reads `a` gets a 0-d tensor in place of a number (results may differ)", "SG201: allow it here",
        "SyncGuard: make all safe fixes",
    ]  # fmt: skip
    doubtful, allow = actions(6, only=["quickfix"])
    assert not doubtful.get("isPreferred")
    text = put(NET, allow["edit"]["changes"][uri])
    assert text == NET.replace("x.sum().item()\n", "x.sum().item()  # syncguard: allow[SG201] TODO: say why\n")
    fix, permit = actions(7, only=["quickfix"])
    assert fix["isPreferred"]
    assert fix["title"].startswith("SG304: ")
    assert fix["diagnostics"][0]["code"] == permit["diagnostics"][0]["code"] == "SG304"
    fixed = NET.replace("torch.zeros(3).to(x.device)", "torch.zeros(3, device=x.device)")
    assert put(NET, fix["edit"]["changes"][uri]) == fixed
    (every,) = actions(0, only=["source.fixAll"])
    assert every["kind"] == "source.fixAll.syncguard"
    assert put(NET, every["edit"]["changes"][uri]) == fixed
    assert actions(1, only=["quickfix"]) == []
    # An action is about the text as it is now, though nothing has been published of it yet.
    editor.change(uri, 2, "\n\n" + NET)
    *_, allow = actions(8, only=["quickfix"])
    assert put("\n\n" + NET, allow["edit"]["changes"][uri]).split("\n")[8].endswith("TODO: say why")
    assert editor.end()[0] == 0


@needs_pygls
def test_hover(editor, project):
    editor.start()
    uri = editor.open(project / "net.py")

    def hover(line, character):
        return editor.ask("textDocument/hover", textDocument={"uri": uri}, position=place(line, character))

    found = hover(6, 30)
    assert found["range"] == span(6, 19, 6, 33)
    text = found["contents"]["value"]
    assert text.startswith("```python\nx.sum().item()\n```\n")
    assert "**SG201 item**: `x.sum().item()` waits" in text
    assert "torch.Tensor.item" in text
    assert "  waits     " in text
    text = hover(6, 19)["contents"]["value"]
    assert text.startswith("```python\nx\n```\n**tensor")
    assert "- `x: torch.Tensor` is declared to be a tensor (line 6)" in text
    assert "torch.zeros" in hover(7, 16)["contents"]["value"]
    assert hover(3, 0) is None
    assert hover(99, 0) is None
    assert editor.end() == (0, "")


@needs_pygls
@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 22), ("utf-32", 18), ("utf-16", 19)])
def test_columns_are_counted_as_the_editor_counts(editor, project, encoding, start):
    result = editor.start(positionEncodings=[encoding])
    assert result["capabilities"]["positionEncoding"] == encoding
    uri = editor.open(project / "net.py")
    assert editor.found(uri, 1)[0]["range"]["start"] == place(6, start)
    hover = editor.ask("textDocument/hover", textDocument={"uri": uri}, position=place(6, start + 13))
    assert hover["range"]["start"] == place(6, start)


@needs_pygls
def test_a_configuration_that_breaks_is_said_once_and_counts_when_it_is_mended(editor, project):
    editor.start()
    uri = editor.open(project / "net.py")
    assert len(editor.found(uri, 1)) == 2
    (project / "pyproject.toml").write_text("[tool.syncguard]\nselct = []\n")
    for _ in range(2):
        editor.tell("textDocument/didSave", textDocument={"uri": uri})
        assert editor.found(uri) == []
    message = editor.wait(lambda m: m.get("method") == "window/showMessage")
    assert "unknown key `selct`; did you mean `select`?" in message["params"]["message"]
    (project / "pyproject.toml").write_text("[tool.syncguard]\nignore = ['SG2']\n")
    editor.tell("textDocument/didSave", textDocument={"uri": uri})
    assert [one["code"] for one in editor.found(uri)] == ["SG304"]
    assert not any(m.get("method") == "window/showMessage" for m in editor.kept)
    (project / "known.json").write_text(
        '{"version": 1, "findings": [{"path": "net.py", "function": "Net.forward", "code": "SG304", "occurrence": 1,'
        ' "snippet": "torch.zeros(3).to(x.device)"}]}'
    )
    (project / "pyproject.toml").write_text("[tool.syncguard]\nignore = ['SG2']\nbaseline = 'known.json'\n")
    editor.tell("textDocument/didSave", textDocument={"uri": uri})
    assert editor.found(uri) == []


@needs_pygls
def test_what_is_no_file_of_python_is_left_alone(editor, project):
    editor.start()
    for uri in ("untitled:Untitled-1", (project / "book.ipynb").as_uri(), "git:/net.py?x"):
        item = {"uri": uri, "languageId": "python", "version": 1, "text": NET}
        editor.tell("textDocument/didOpen", textDocument=item)
        editor.tell("textDocument/didChange", textDocument={"uri": uri, "version": 2}, contentChanges=[{"text": NET}])
        assert editor.ask("textDocument/hover", textDocument={"uri": uri}, position=place(6, 19)) is None
    uri = editor.open(project / "new file.py", NET)  # not on the disk yet
    assert len(editor.found(uri, 1)) == 2
    assert [m for m in editor.kept if m.get("method") != "window/logMessage"] == []
    assert editor.end() == (0, "")


@needs_pygls
def test_windows_line_ends(editor, project):
    editor.start()
    uri = editor.open(project / "net.py", NET.replace("\n", "\r\n"))
    assert [one["range"]["start"]["line"] for one in editor.found(uri, 1)] == [6, 7]


def test_without_the_extra_it_says_what_to_install(tmp_path):
    (tmp_path / "pygls").mkdir()
    (tmp_path / "pygls/__init__.py").write_text("raise ModuleNotFoundError(name='pygls')\n")
    (tmp_path / "lsprotocol").mkdir()
    (tmp_path / "lsprotocol/__init__.py").write_text("raise ModuleNotFoundError(name='lsprotocol')\n")
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-m", "syncguard", "server"], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "syncguard: server needs pygls: pip install 'syncguard[server]'\n"
