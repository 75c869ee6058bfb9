"""The options of `check` that tell old findings from new ones: the baseline, and a commit in its place."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from syncguard.cli.common import Command

if TYPE_CHECKING:
    from syncguard.config import Config
    from syncguard.judge.baseline import Past
    from syncguard.pipeline import Report


class Keep(msgspec.Struct, frozen=True):
    """What the user wants done about the baseline."""

    update: bool = False
    prune: bool = False

    @property
    def writes(self) -> bool:
        return self.update or self.prune


class Kept(msgspec.Struct, frozen=True):
    """The report that is left, a line on what was written, and what is to be told of stale entries."""

    report: Report
    said: str = ""
    warnings: tuple[str, ...] = ()


def baseline_options(command: Command) -> Command:
    """The options, given to the command as one Keep; those that are keys of the configuration stay by themselves."""

    @functools.wraps(command)
    def kept(update_baseline: bool, prune_baseline: bool, no_baseline: bool, **given: Any) -> Any:
        keep = Keep(update_baseline, prune_baseline)
        if no_baseline:
            if keep.writes or given["baseline"] or given["baseline_commit"]:
                raise click.UsageError("--no-baseline does not go with another option on the baseline.")
            given |= {"baseline": "", "baseline_commit": ""}
        if given["baseline"]:
            given["baseline"] = os.path.abspath(given["baseline"])
        return command(keep=keep, **given)

    found: Any = kept
    for option in reversed(
        [
            click.option("--baseline", metavar="FILE", help="Report only what this file does not list."),
            click.option(
                "--update-baseline", is_flag=True,
                help="Write the baseline: list what is found now, and forget what is found no more.",
            ),
            click.option("--prune-baseline", is_flag=True, help="Take what is found no more out of the baseline."),
            click.option(
                "--error-stale-baseline", is_flag=True, default=None,
                help="Exit with 1 if the baseline lists what is found no more.",
            ),
            click.option(
                "--baseline-commit", metavar="REV",
                help="Report only what was not there at this commit; `main...` is where this branch left main.",
            ),
            click.option("--no-baseline", is_flag=True, help="Use no baseline, whatever the configuration says."),
        ]
    ):  # fmt: skip
        found = option(found)
    return found  # type: ignore[no-any-return]


def past(paths: Sequence[str], settings: Config, keep: Keep) -> Past | None:
    """What was known before; None where nobody asks. Raises ConfigError."""
    file = settings.baseline_file
    if keep.writes and not file:
        option = "--update-baseline" if keep.update else "--prune-baseline"
        raise click.UsageError(f"{option} needs --baseline FILE, or `baseline` in the configuration.")
    if not file and not settings.baseline_commit:
        return None
    from syncguard.judge import baseline

    entries = baseline.load(file) if file and (os.path.lexists(file) or not keep.update) else frozenset()
    if not settings.baseline_commit:
        return baseline.Past(entries)
    from syncguard.read.find import find
    from syncguard.read.history import texts_at

    found = (settings.stdin_filename if path == "-" else path for path in find(paths, settings).paths)
    return baseline.Past(entries, texts_at(settings.baseline_commit, found))


def settle(report: Report, past: Past | None, settings: Config, keep: Keep) -> Kept:
    """Write the baseline where that is asked for, and say what is stale. Raises ConfigError."""
    file = settings.baseline_file
    if past is None or not file:
        return Kept(report)
    from syncguard.config import shown
    from syncguard.judge.baseline import UNREADABLE, save, updated

    name, stale = shown(file), report.stale
    if not keep.writes:
        return Kept(report, warnings=_warned(report, name, settings.error_stale_baseline))
    new = report.entries if keep.update else ()
    entries = updated(past.entries, stale, new)
    if entries != past.entries or not os.path.exists(file):
        save(file, entries)
    if keep.update:
        still = tuple(finding for finding in report.findings if finding.code == UNREADABLE)
        known = tuple(finding for finding in report.findings if finding.code != UNREADABLE)
        report = replace(report, findings=still, entries=(), baselined=(*report.baselined, *known))
    more = len(entries) - len(past.entries) + len(stale)
    return Kept(replace(report, stale=()), f"{name}: {len(entries):,} listed ({more:,} new, {len(stale):,} removed)")


def _warned(report: Report, name: str, each: bool) -> tuple[str, ...]:
    stale = report.stale
    if not stale:
        return ()
    which = [f"{name}: {os.path.relpath(e.path)}: {e.code} in {e.function or 'the file'}: {e.snippet}" for e in stale]
    listed = "1 finding that is" if len(stale) == 1 else f"{len(stale):,} findings that are"
    return (*(which if each else ()), f"{name} lists {listed} found no more; `--prune-baseline` takes them out")
