"""`check --watch`: a check, then another one each time that a file changes, until the user ends it."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable

import click

from syncguard.show.look import plural

Stamps = dict[str, tuple[int, int, int] | None]
PAUSE = 0.3  # seconds between two looks at the files
SHARE = 10  # a look may take this part of the time: a large tree is looked at less often
CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def watch(check: Callable[[], int], files: Callable[[], Iterable[str]]) -> int:
    """Check again whenever a file changes, comes or goes. What is wrong is said, and waited upon."""
    try:
        while True:
            before = stamps(files())
            if sys.stdout.isatty():
                sys.stdout.write(CLEAR)
            try:
                check()
            except click.ClickException as fault:
                click.echo(f"syncguard: {' '.join(fault.format_message().split())}", err=True)
            sys.stdout.flush()
            gc.collect()
            click.echo(f"syncguard: watching {plural(len(before), 'file')}; Ctrl-C ends it", err=True)
            wait(before, files)
    except KeyboardInterrupt:
        return 0


def wait(before: Stamps, files: Callable[[], Iterable[str]]) -> None:
    """Come back when something is no longer as it was, and has been left alone for a moment since."""
    changed = False
    while True:
        begun = time.monotonic()
        now = stamps(files())
        if changed and now == before:
            return
        changed, before = changed or now != before, now
        time.sleep(max(PAUSE, SHARE * (time.monotonic() - begun)) if not changed else PAUSE / 3)


def stamps(paths: Iterable[str]) -> Stamps:
    """What tells that a file was written: its time, its size and which one it is."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
