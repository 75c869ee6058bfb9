"""A revision of a git repository in, what files held then out, for those that hold something else now."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator

from syncguard.config import ConfigError

SUFFIXES = (".py", ".ipynb", "")
# What git tells its hooks is about the folder that they were called in, not about the one that we ask for.
HIDDEN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
LINK, MODULE = b"120000", b"160000"


def texts_at(revision: str, paths: Iterable[str]) -> dict[str, bytes]:
    """What Python files and notebooks held at a revision, by whole path, where that is not what they hold now.

    A file of `paths` that was not there then held nothing; one that was moved is what it was. `main...` is where this
    branch left `main`. Raises ConfigError.
    """
    whole = [os.path.realpath(path) for path in paths if path != "-"]
    start = next((path if os.path.isdir(path) else os.path.dirname(path) for path in whole), os.getcwd())
    top = os.path.realpath(
        _git(start, "rev-parse", "--show-toplevel", fault="not in a git repository").decode().strip()
    )
    commit = _commit(top, revision)
    names = _git(top, "ls-tree", "-rz", "--name-only", commit).split(b"\0")
    then = {os.path.join(top, os.fsdecode(name)) for name in names}
    changes = _changes(_git(top, "diff", "--raw", "-z", "-M", "--no-abbrev", "--no-ext-diff", commit, "--"))
    before = {
        os.path.join(top, name): blob
        for blob, mode, name in changes
        if mode != MODULE and os.path.splitext(name)[1] in SUFFIXES
    }
    held = _blobs(top, set(before.values()) - {""})
    texts = {path: held.get(blob, b"") for path, blob in before.items()}
    return {path: b"" for path in whole if path not in then} | texts


def _commit(top: str, revision: str) -> str:
    name = revision.removesuffix("...")
    commit = _git(
        *(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"),
        fault=f"there is no commit `{name}`",
    )
    if name != revision:
        fault = f"HEAD and `{name}` have no commit in common"
        commit = _git(top, "merge-base", commit.decode().strip(), "HEAD", fault=fault)
    return commit.decode().strip()


def _changes(raw: bytes) -> Iterator[tuple[str, bytes, str]]:
    """Of each change the blob before ("" where there was no file), the mode after, and the name after."""
    fields = iter(raw.split(b"\0"))
    for field in fields:
        if not field:
            return
        mode, after, blob, _, status = field.lstrip(b":").split(b" ")
        name = next(fields)
        if status[:1] in b"RC":
            name = next(fields)
        known = mode.strip(b"0") and mode not in (LINK, MODULE) and blob.strip(b"0")
        yield blob.decode() if known else "", after, os.fsdecode(name)


def _blobs(top: str, wanted: set[str]) -> dict[str, bytes]:
    """What blobs hold."""
    out = _git(top, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in sorted(wanted)).encode())
    found: dict[str, bytes] = {}
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        blob, kind, *size = out[at:end].split(b" ")
        at = end + 1
        if kind == b"missing":  # a partial clone that cannot reach the rest
            raise ConfigError(f"--baseline-commit: git lacks {blob.decode()}; fetch more of the history")
        found[blob.decode()] = out[at : at + int(size[0])]
        at += int(size[0]) + 1
    return found


def _git(folder: str, *words: str, fault: str = "", given: bytes | None = None) -> bytes:
    environ = {name: value for name, value in os.environ.items() if name not in HIDDEN} | {"LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", folder, *words],  # noqa: S607
            input=given, stdin=None if given is not None else subprocess.DEVNULL, capture_output=True, env=environ,
            check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise ConfigError("--baseline-commit: git is not installed") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        reason = fault or f"`git {words[0]}` failed: {said}"
        if "dubious ownership" in said or "unsafe" in said:
            reason = said
        raise ConfigError(f"--baseline-commit: {reason}")
    return done.stdout
