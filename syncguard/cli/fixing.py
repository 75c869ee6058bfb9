"""The options of `check` that rewrite: `--fix`, `--unsafe-fixes`, `--diff`, `--interactive`, `--show-fixes`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from syncguard.cli.common import Command, write
from syncguard.show.look import Look, plural, printable

if TYPE_CHECKING:
    from syncguard.config import Config
    from syncguard.fixing import Fixed
    from syncguard.judge.baseline import Past
    from syncguard.pipeline import Report
    from syncguard.terms import Finding


STYLES = {"-": "gone", "+": "come", "@": "gutter"}  # by the first sign of a line of a diff


class Wish(msgspec.Struct, frozen=True):
    """What the user wants done about findings."""

    fix: bool = False
    unsafe: bool = False
    diff: bool = False
    interactive: bool = False
    show: bool = False
    allow: str = ""

    @property
    def changes(self) -> bool:
        return self.fixes or bool(self.allow)

    @property
    def fixes(self) -> bool:
        """Whether to fix; what is only to be allowed, or shown so, is not fixed."""
        return self.fix or self.interactive or (self.diff and not self.allow)


class Outcome(msgspec.Struct, frozen=True):
    """What is left to report, a line on what was done, and the exit code where there is nothing to report."""

    report: Report
    said: str = ""
    code: int | None = None


def fix_options(command: Command) -> Command:
    """The options, given to the command as one Wish."""

    @functools.wraps(command)
    def wished(
        fix: bool,
        unsafe_fixes: bool,
        diff: bool,
        interactive: bool,
        show_fixes: bool,
        add_allow: str | None,
        **given: Any,
    ) -> Any:
        if unsafe_fixes and not (fix or diff or interactive or show_fixes):
            raise click.UsageError("--unsafe-fixes goes with --fix, --diff, --interactive or --show-fixes.")
        if interactive and diff:
            raise click.UsageError("--interactive asks about each fix, --diff makes none: choose one.")
        wish = Wish(fix, unsafe_fixes, diff, interactive, show_fixes, _reason(add_allow))
        return command(wish=wish, **given)

    flags = (
        ("--show-fixes", "Show with each finding how it would be rewritten."),
        ("--interactive", "Show each fix, and ask whether to make it."),
        ("--diff", "Show what --fix would change, and change nothing; exit with 1 if it would."),
        ("--unsafe-fixes", "Also make the fixes after which results may differ in the way that each one states."),
        ("--fix", "Rewrite what is proven to give the same results; take away comments that allow nothing."),
    )
    allow = "Write `# syncguard: allow[...] REASON` at every finding that is left."
    made: Any = click.option("--add-allow", metavar="REASON", help=allow)(wished)
    for flag, text in flags:
        made = click.option(flag, is_flag=True, help=text)(made)
    return made  # type: ignore[no-any-return]


def _reason(text: str | None) -> str:
    if text is None:
        return ""
    if not text.strip() or not text.isprintable() or " # " in text:
        raise click.UsageError("--add-allow takes the reason: words on one line, without a comment in them.")
    return text.strip()


def run(
    paths: Sequence[str],
    config: Config,
    stdin: bytes | None,
    wish: Wish,
    look: Look,
    past: Past | None = None,
    quiet: bool = False,
) -> Outcome:
    """Fix, and write what changed; with `--diff` only say what would. A file that cannot be written stays as it was."""
    from syncguard.fix.write import Unwritable, encoded
    from syncguard.fix.write import write as put
    from syncguard.fixing import SAFE, UNSAFE, fixed, permitting
    from syncguard.read.notebook import parts_of

    if wish.interactive and stdin is not None:
        raise click.UsageError("--interactive needs standard input for your answers, so the path - cannot be read.")
    ask = _asker(look) if wish.interactive else None
    fixes = fixed(paths, config, stdin, UNSAFE if wish.unsafe else SAFE, ask, past) if wish.fixes else None
    done = permitting(paths, config, stdin, wish.allow, past, fixes) if wish.allow or fixes is None else fixes
    if wish.diff:
        for path, (before, after) in done.changed.items():
            write(_diff(path, before, after, look))
        if not quiet:
            print(_said(done, wish, "Would fix", "would allow"), file=sys.stderr)
        return Outcome(done.report, code=1 if done.changed else 0)
    failed = 0
    for path, (before, after) in done.changed.items():
        if path == config.stdin_filename and stdin is not None:
            continue
        try:
            put(path, before, after)
        except Unwritable as fault:
            print(f"syncguard: {path}: not written: {fault}", file=sys.stderr)
            failed += 1
    if failed:
        raise click.ClickException(f"{failed} of {plural(len(done.changed), 'changed file')} could not be written")
    if stdin is not None:
        before, after = done.texts.get(config.stdin_filename, ("", ""))
        # What is not changed, or cannot be read, goes through to the byte.
        sys.stdout.buffer.write(stdin if before == after else encoded(stdin, before, after))
        if not quiet:
            print(_said(done, wish, "Fixed", "allowed"), file=sys.stderr)
        return Outcome(done.report, code=1 if done.report.findings else 0)
    if wish.allow and any(parts_of(finding.site.path)[1] for finding in done.report.findings):
        print("syncguard: comments are not written into notebooks", file=sys.stderr)
    return Outcome(done.report, _said(done, wish, "Fixed", "allowed"))


def shown(report: Report, wish: Wish) -> Outcome:
    """A report on files that stay as they are, with the fixes that would be made."""
    if wish.show and wish.unsafe:
        from syncguard.fixing import UNSAFE, wanted

        report = replace(report, findings=tuple(wanted(finding, UNSAFE) for finding in report.findings))
    return Outcome(report)


def _said(done: Fixed, wish: Wish, fixed: str, allowed: str) -> str:
    parts = [f"{fixed} {plural(len(done.made), 'finding')}"] if wish.fixes else []
    parts += [f"{allowed} {plural(len(done.permitted), 'finding')}"] if wish.allow else []
    more = f" ({done.waiting:,} more with --unsafe-fixes)" if done.waiting else ""
    said = f"{', '.join(parts)} in {plural(len(done.changed), 'file')}{more}"
    return said[0].upper() + said[1:]


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

    for n, line in enumerate(difflib.unified_diff(_lines(before), _lines(after), path, path, n=3)):
        style = "head" if n < 2 else STYLES.get(line[:1], "")
        text = line.removesuffix("\n")
        yield look.paint(style, text) if style else text
        if text == line:
            yield "\\ No newline at end of file"


def _lines(text: str) -> list[str]:
    """The lines of a text, each with its end; a form feed ends none."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])
