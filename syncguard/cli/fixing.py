"""The options of `check` that rewrite: `--fix`, `--unsafe-fixes`, `--diff`, `--interactive`, `--show-fixes`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from syncguard.cli.common import Command, write
from syncguard.show.look import Look, plural, printable

if TYPE_CHECKING:
    from syncguard.config import Config
    from syncguard.fixing import Fixed
    from syncguard.pipeline import Report
    from syncguard.terms import Finding


STYLES = {"-": "gone", "+": "come", "@": "gutter"}  # by the first sign of a line of a diff


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants done about findings."""

    fix: bool = False
    unsafe: bool = False
    diff: bool = False
    interactive: bool = False
    show: bool = False

    @property
    def changes(self) -> bool:
        return self.fix or self.diff or self.interactive


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left to report, a line on what was done, and the exit code where there is nothing to report."""

    report: Report
    said: str = ""
    code: int | None = None


def fix_options(command: Command) -> Command:
    """The options, given to the command as one Wish."""

    @functools.wraps(command)
    def wished(fix: bool, unsafe_fixes: bool, diff: bool, interactive: bool, show_fixes: bool, **given: Any) -> Any:
        if unsafe_fixes and not (fix or diff or interactive or show_fixes):
            raise click.UsageError("--unsafe-fixes goes with --fix, --diff, --interactive or --show-fixes.")
        if interactive and diff:
            raise click.UsageError("--interactive asks about each fix, --diff makes none: choose one.")
        return command(wish=Wish(fix, unsafe_fixes, diff, interactive, show_fixes), **given)

    flags = (
        ("--show-fixes", "Show with each finding how it would be rewritten."),
        ("--interactive", "Show each fix, and ask whether to make it."),
        ("--diff", "Show what --fix would change, and change nothing; exit with 1 if it would."),
        ("--unsafe-fixes", "Also make the fixes after which results may differ in the way that each one states."),
        ("--fix", "Rewrite what is proven to give the same results; take away comments that allow nothing."),
    )
    made: Any = wished
    for flag, text in flags:
        made = click.option(flag, is_flag=True, help=text)(made)
    return made  # type: ignore[no-any-return]


def run(paths: Sequence[str], config: Config, stdin: bytes | None, wish: Wish, look: Look) -> Outcome:
    """Fix, and write what changed; with `--diff` only say what would. A file that cannot be written stays as it was."""
    from syncguard.fix.write import Unwritable
    from syncguard.fix.write import write as put
    from syncguard.fixing import SAFE, UNSAFE, fixed

    if wish.interactive and stdin is not None:
        raise click.UsageError("--interactive needs standard input for your answers, so the path - cannot be read.")
    ask = _asker(look) if wish.interactive else None
    done = fixed(paths, config, stdin, UNSAFE if wish.unsafe else SAFE, ask)
    if wish.diff:
        for path, (before, after) in done.changed.items():
            write(_diff(path, before, after, look))
        print(_said(done, "Would fix"), file=sys.stderr)
        return Outcome(done.report, code=1 if done.changed else 0)
    failed = []
    for path, (before, after) in done.changed.items():
        if path == config.stdin_filename and stdin is not None:
            continue
        try:
            put(path, before, after)
        except Unwritable as fault:
            failed.append(f"{path}: not fixed: {fault}")
    if failed:
        raise click.ClickException("; ".join(failed))
    if stdin is not None:
        sys.stdout.write(done.texts[config.stdin_filename][1] if config.stdin_filename in done.texts else "")
        print(_said(done, "Fixed"), file=sys.stderr)
        return Outcome(done.report, code=1 if done.report.findings else 0)
    return Outcome(done.report, _said(done, "Fixed"))


def _said(done: Fixed, verb: str) -> str:
    more = f" ({done.waiting:,} more with --unsafe-fixes)" if done.waiting else ""
    return f"{verb} {plural(len(done.made), 'finding')} in {plural(len(done.changed), 'file')}{more}"


def _asker(look: Look) -> Callable[[Finding, str, str], bool]:
    """Shows a fix and asks; after `q` every answer is no."""
    ended = False

    def ask(finding: Finding, before: str, after: str) -> bool:
        nonlocal ended
        if ended or finding.fix is None:
            return False
        write([f"{finding.site} {finding.code} {printable(finding.message)}"])
        write([f"{finding.fix.tier}: {finding.fix.message}"])
        write(_diff(finding.site.path, before, after, look))
        answer = click.prompt("Make this fix?", type=click.Choice(["y", "n", "q"]), default="y")
        ended = answer == "q"
        return bool(answer == "y")

    return ask


def _diff(path: str, before: str, after: str, look: Look) -> Iterator[str]:
    """A unified diff, with what goes and what comes in colours where colours are wanted."""
    import difflib

    for n, line in enumerate(difflib.unified_diff(before.split("\n"), after.split("\n"), path, path, n=3, lineterm="")):
        style = "head" if n < 2 else STYLES.get(line[:1], "")
        yield look.paint(style, line) if style else line
