"""`syncguard check`: read code, find where it waits, say so."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from syncguard.cli import fixing, known
from syncguard.cli.common import Unchecked, colour_option, config_options, debug_option, look, refusing, write
from syncguard.cli.fixing import Outcome, Wish, fix_options
from syncguard.cli.known import Keep, baseline_options
from syncguard.cli.outcome import writable
from syncguard.cli.outputs import not_over, opened, outputs_of, tell
from syncguard.config import KEYS, ConfigError
from syncguard.show import counts
from syncguard.show.formats import FORMATS, PEOPLE, Output
from syncguard.show.look import Look, printable

if TYPE_CHECKING:
    from syncguard.compare.verdicts import Lines
    from syncguard.config import Config
    from syncguard.judge.baseline import Past
    from syncguard.pipeline import Report

VERDICTS = ("confirmed", "false-alarm", "untested")


def _words(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[str] | None:
    """An option that may be repeated, and whose value may be several words with commas."""
    return [word.strip() for text in value for word in text.split(",") if word.strip()] or None


def _some(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[str] | None:
    words = _words(ctx, param, value)
    if value and not words:
        raise click.BadParameter("it names no rule.")
    return words


def _choice(key: str) -> click.Choice[str]:
    words = KEYS[key]
    assert isinstance(words, tuple)
    return click.Choice(list(words))


def _verdicts(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> list[str]:
    found = _words(ctx, param, value) or []
    for word in found:
        if word not in VERDICTS:
            raise click.BadParameter(f"there is no verdict '{word}'; choose from {', '.join(VERDICTS)}.")
    return found


@click.command(name="check", short_help="Find where code makes the CPU wait for the GPU.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--select",
    multiple=True,
    callback=_some,
    metavar="RULES",
    help="Only these rules: codes, beginnings of codes (SG1), names, ALL, or `capture` and `compile` for what breaks "
    "them. What the configuration selects and ignores does not count then.",
)
@click.option("--extend-select", multiple=True, callback=_words, metavar="RULES", help="These rules as well.")
@click.option("--ignore", multiple=True, callback=_words, metavar="RULES", help="Not these rules.")
@click.option("--preset", type=_choice("preset"), help="Settings for a kind of code.")
@click.option(
    "--heat",
    type=_choice("heat"),
    help="The coldest code to report: hot, unknown (the default), amortized (now and then), or all.",
)
@click.option("--confidence", type=_choice("confidence"), help="The least sure finding to report; likely by default.")
@click.option(
    "-o",
    "--output-format",
    "outputs",
    multiple=True,
    callback=outputs_of,
    metavar="FORMAT[:FILE]",
    help=f"One of {', '.join(FORMATS)}; full by default. May be repeated, with files.",
)
@click.option("--statistics", is_flag=True, help="Show how many findings each rule has, in place of the findings.")
@click.option(
    "--evidence",
    multiple=True,
    metavar="RECORD",
    help="What `syncguard run --save` wrote: say of each finding whether the run confirmed it. May be repeated.",
)
@click.option(
    "--only",
    multiple=True,
    callback=_verdicts,
    metavar="VERDICTS",
    help=f"With --evidence: only findings of these verdicts: {', '.join(VERDICTS)}.",
)
@click.option("--show-allowed", is_flag=True, help="List what `# syncguard: allow` comments cover, too.")
@click.option("--show-baselined", is_flag=True, help="List what the baseline knows, too.")
@click.option("-q", "--quiet", is_flag=True, help="Print findings and faults alone: no closing line.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings.")
@click.option(
    "--exclude",
    "extend_exclude",
    multiple=True,
    callback=_words,
    metavar="PATTERNS",
    help="Leave this out of folders, besides what is left out anyway; written as in .gitignore.",
)
@click.option(
    "--default-device",
    type=_choice("default-device"),
    help="Where tensors are built that name no device; cpu by default.",
)
@click.option(
    "-j", "--jobs", type=click.IntRange(0), metavar="N", help="Processes to use; 0, the default, means all cores."
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--stdin-filename", metavar="NAME", help="What to call standard input, which the path - reads.")
@click.option("--watch", is_flag=True, help="Check again each time that a file changes, until Ctrl-C.")
@baseline_options
@fix_options
@config_options
@colour_option
@debug_option
def command(paths: tuple[str, ...], watch: bool, **given: Any) -> int:
    """Read Python files, folders, notebooks or standard input (-), and report where the CPU waits for the GPU.

    Nothing is run, and neither torch nor a GPU is needed. Without a path, the current folder is read.
    """
    paths = paths or (".",)
    if not watch:
        return check(paths, **given)
    wish, keep = given["wish"], given["keep"]
    if "-" in paths or wish.interactive or wish.diff or wish.allow or keep.writes:
        raise click.UsageError(
            "--watch only reports, or fixes with --fix: no other option that writes or asks goes with it."
        )
    from syncguard.cli.watching import watch as watching

    return watching(lambda: check(paths, **given), lambda: _watched(paths, given))


def _watched(paths: tuple[str, ...], given: dict[str, Any]) -> Iterator[str]:
    """The files that are read, and what says how."""
    from syncguard import config
    from syncguard.read.find import find

    file = given["config_file"] or ("" if given["isolated"] else config.nearest(paths))
    try:
        options = {"extend-exclude": given["extend_exclude"]}
        settings = config.load(paths, options, given["config_file"] or "", given["isolated"])
    except ConfigError:
        settings = config.Config()
    yield from filter(None, (file, given["baseline"] or settings.baseline_file))
    yield from find(paths, settings).paths


def check(
    paths: tuple[str, ...],
    outputs: tuple[Output, ...],
    statistics: bool,
    evidence: tuple[str, ...],
    only: list[str],
    show_allowed: bool,
    show_baselined: bool,
    quiet: bool,
    exit_zero: bool,
    colour: str,
    config_file: str | None,
    isolated: bool,
    no_cache: bool,
    wish: Wish,
    keep: Keep,
    **given: Any,
) -> int:
    """One check, from paths to exit code."""
    from syncguard import config
    from syncguard.read.source import lines_of
    from syncguard.read.unmatched import unmatched

    if given["stdin_filename"] and "-" not in paths:
        raise click.UsageError("--stdin-filename needs the path -, which reads standard input.")
    stdin = _stdin(paths)
    options = {_key(name): value for name, value in given.items()} | {"cache": False if no_cache else None}
    for path in dict.fromkeys(paths):
        _there(path)
    for item in outputs:
        writable(item.file)
    with refusing():
        settings = config.load(paths, options, config_file or "", isolated)
        past = known.past(paths, settings, keep)
        done = _checked(paths, settings, stdin, wish, keep, past, look(colour), quiet)
        if done.code is not None:
            return done.code
        kept = known.settle(done.report, past, settings, keep)
    report = kept.report
    not_over(report, outputs)
    lines = lines_of(stdin or b"", settings.stdin_filename)
    if evidence:
        report = _seen(report, evidence, only, lines)
    elif only:
        raise click.UsageError("--only needs --evidence, the record of a run.")
    for item in outputs:
        with opened(item) as stream:
            choice = "never" if item.file else colour
            style = look(choice, stream, lines=lines, allowed=show_allowed, baselined=show_baselined)
            tell(report, item.format, style, statistics, stream)
    unread = () if config_file or isolated else config.unread(paths)
    idle = unmatched(settings, paths, report.files, given["extend_exclude"] or ())
    for warning in (*unread, *idle, *report.warnings, *kept.warnings):
        click.echo(f"syncguard: {warning}", err=True)
    people = any(item.format in PEOPLE and not item.file for item in outputs)
    if not quiet:
        write([*filter(None, (done.said, kept.said)), counts.closing(report)], sys.stdout if people else sys.stderr)
    if report.faults:
        raise Unchecked(report.faults)
    failed = report.findings or (report.stale and settings.error_stale_baseline)
    return 1 if failed and not exit_zero else 0


def _stdin(paths: tuple[str, ...]) -> bytes | None:
    """What is on standard input, if one of the paths is that."""
    if "-" not in paths:
        return None
    if sys.stdin is None:
        raise click.UsageError("standard input, which the path - reads, is closed.")
    return sys.stdin.buffer.read()


def _checked(
    paths: tuple[str, ...],
    settings: Config,
    stdin: bytes | None,
    wish: Wish,
    keep: Keep,
    past: Past | None,
    style: Look,
    quiet: bool,
) -> Outcome:
    """The report, after fixes if any are to be made. Raises ConfigError and PackError."""
    from syncguard import pipeline

    if not wish.changes:
        return fixing.shown(pipeline.check(paths, settings, stdin, fixes=wish.show, past=past), wish)
    if keep.writes and (wish.diff or stdin is not None):
        raise click.UsageError("--diff and the path - change no file, so the baseline cannot be written.")
    return fixing.run(paths, settings, stdin, wish, style, past, quiet)


def _seen(report: Report, evidence: tuple[str, ...], only: list[str], lines: Lines) -> Report:
    """The report with the verdicts of runs, and only the findings of the verdicts that are wanted."""
    from syncguard.cli.outcome import load
    from syncguard.compare.merge import merged
    from syncguard.compare.verdicts import marked

    findings = marked(report.findings, merged([load(path) for path in evidence]), lines)
    kept = tuple(f for f in findings if not only or f.verdict in only or not f.op)
    return replace(report, findings=kept)


def _there(path: str) -> None:
    """Refuse a path that is mistyped: nothing found is not to be confused with nothing read."""
    if path == "-" or os.path.lexists(path):
        return
    from syncguard.config import like

    folder = os.path.dirname(path)
    names = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    other = like(path, [os.path.join(folder, name) for name in names])
    if not other and set("*?[") & set(path):
        other = "; paths are no patterns: name the folder"
    raise click.ClickException(f"{printable(path)}: there is no such file or folder{printable(other)}")


def _key(name: str) -> str:
    key = name.replace("_", "-")
    return key if key in KEYS else name
