"""`syncguard run`: run a program, see where it waits, say so."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

import click

from syncguard.cli.common import colour_option, debug_option, refusing
from syncguard.cli.outcome import JUDGED, Wanted, apart, folders, joined, outcome_options, tell, wanted, writable

if TYPE_CHECKING:
    from syncguard.observe.program import Program
    from syncguard.observe.ranks import Keeper
    from syncguard.record import Record


FLAGS = ("-m", "-c")  # of Python, for what is no script
RARE = ("--against", "--check", "--fail-on", "--html", "--static", "--step-over")  # that few programs have
FAR = 1000  # beyond the descriptors that a program closes which becomes a daemon


class Launcher(click.Command):
    """A command whose own options end where the program begins: at SCRIPT, `-m MODULE` or `-c TEXT`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ours, program = self.split(args)
        ctx.meta["program"] = program
        return super().parse_args(ctx, ours)

    def split(self, args: list[str]) -> tuple[list[str], list[str]]:
        """Our options, and the program with its own."""
        valued = {
            name for option in self.params if isinstance(option, click.Option) and not option.is_flag
            for name in option.opts
        }  # fmt: skip
        at = 0
        while at < len(args):
            word = args[at]
            if word == "--":
                return args[:at], args[at + 1 :]
            if word[:2] in FLAGS:  # `-mMODULE` is good Python, too
                return args[:at], [word[:2], *filter(None, [word[2:]]), *args[at + 1 :]]
            if not word.startswith("-") or word == "-":
                return args[:at], args[at:]
            at += 2 if word in valued else 1
        return args, []

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS]", "SCRIPT | -m MODULE | -c TEXT", "[ARGS]..."]


@click.command(cls=Launcher, name="run", short_help="Run a program and see where it waits.")
@click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "simulate"]),
    default="auto",
    show_default=True,
    help="Watch a GPU, or simulate one on the CPU; auto simulates where there is no GPU.",
)
@click.option("--warmup", type=click.IntRange(0), metavar="N", help="Steps that do not count; 1 simulated, 3 on a GPU.")
@click.option("--steps", type=click.IntRange(1), metavar="N", help="Watch so many steps after the warm-up; else all.")
@click.option(
    "--step-over",
    multiple=True,
    metavar="NAME",
    help="Simulated: skip the calls of this module, a CUDA extension say. May be repeated.",
)
@click.option("--save", type=click.Path(dir_okay=False), metavar="FILE", default="", help="Write the record as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print no report.")
@outcome_options
@colour_option
@debug_option
@click.pass_context
def command(ctx: click.Context, /, colour: str, save: str, quiet: bool, **given: Any) -> int:
    """Run a Python program as `python` would, and report where the CPU waited for the GPU.

    Everything after SCRIPT, -m MODULE or -c TEXT is the program's own. The report goes to standard error. The exit code
    is the program's own unless that is 0: then 1 says that the program waits more than it may, 2 wrong usage, and 3
    that SyncGuard failed. Under torchrun, each rank leaves a record beside FILE, and rank 0 reports them merged.
    """
    from syncguard.observe.launch import Wishes, die_of, launch, leave_with
    from syncguard.observe.program import CannotRun
    from syncguard.observe.ranks import Keeper

    program = _program(ctx.meta["program"])
    want = wanted(given)
    for word in want.fail_on:
        if word in JUDGED and not (want.static or want.check):
            raise click.UsageError(f"--fail-on {word} needs --check or --static, for what `check` says of the program.")
    writable(save)
    apart((save, want.html, want.trace), (want.against, program.file))
    pid, folder = os.getpid(), os.getcwd()
    packs = () if want.isolated else folders([program.file or "."], want.config_file)
    wishes = Wishes(given["device"], given["warmup"], given["steps"] or 0, packs, given["step_over"])
    with own(sys.stderr) as stream, Keeper(save) as keeper:

        def told(records: tuple[Record, ...]) -> int:
            with at(folder):  # the program may have left it, and our paths are relative to it
                return _outcome(records, want, keeper, colour, quiet, stream())

        def left(records: tuple[Record, ...]) -> int:
            """The program ends at once: ranks do not wait for one another then."""
            try:
                return told(records) if records and keeper.world == 1 else 0
            except Exception as fault:
                print(f"syncguard: {fault}", file=stream())
                return 3
            finally:
                keeper.leave()

        try:
            with refusing():
                record, children, ended, broken = launch(program, wishes, keeper.keep, left)
        except CannotRun as fault:
            raise click.ClickException(str(fault)) from None
        if os.getpid() != pid:
            if ended.signal:
                die_of(ended.signal)
            return ended.code  # a child that the program forked, and that came back through here
        failed = 0
        try:
            failed = told((record, *children))
        except Exception as fault:
            # The program has run and its exit code is due; a fault of ours must not take its place.
            if not ended.code:
                raise
            print(f"syncguard: {fault}", file=stream())
        if late := _late(program):
            which = "the program" if program.flag == "-c" else program.name
            print(
                f"syncguard: `{late}` was given to {which}; options of `syncguard run` stand before the program",
                file=stream(),
            )
    if ended.signal:
        die_of(ended.signal)
    elif broken:
        leave_with(ended.code or failed)
    return ended.code or failed


def _late(program: Program) -> str:
    """An option of ours that stands behind the program and so is given to it, as far as that looks like a mistake."""
    given = [word.partition("=")[0] for word in program.arguments]
    return next((word for word in given if word in RARE), "")


@contextlib.contextmanager
def at(folder: str) -> Iterator[None]:
    """In a folder, and back in the one before if that is still there."""
    before = None
    with contextlib.suppress(OSError):
        before = os.getcwd()
    os.chdir(folder)
    yield
    with contextlib.suppress(OSError):
        os.chdir(before or folder)


def _program(words: list[str]) -> Program:
    from syncguard.observe.program import Program

    flag = words[0] if words and words[0] in FLAGS else ""
    words = words[1:] if flag else words
    if not words:
        raise click.UsageError("which program? Name a script, or `-m` and a module, or `-c` and a program's text.")
    if words[0] == "-" and not flag:
        raise click.UsageError("a program cannot be read from standard input; write it to a file.")
    return Program(words[0], tuple(words[1:]), flag)


@contextlib.contextmanager
def own(stream: TextIO) -> Iterator[Callable[[], TextIO]]:
    """A stream of our own to where this one leads: a program may close its own, or put another in its place. Where it
    has closed all that was open, the standard error."""
    try:
        copy = _far(stream.fileno())
        held = _identity(copy)
    except (AttributeError, OSError, ValueError):
        yield lambda: stream
        return
    made = os.fdopen(copy, "w", encoding=stream.encoding, errors="backslashreplace", buffering=1, closefd=False)

    def close() -> None:
        if _identity(copy) == held:
            os.close(copy)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=close)  # who reads this stream waits for all who have it
    try:
        yield lambda: made if _identity(copy) == held else sys.__stderr__ or stream
    finally:
        close()


def _identity(descriptor: int) -> tuple[int, int] | None:
    """Which file a descriptor leads to; None where it leads nowhere."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _far(descriptor: int) -> int:
    """A copy that few programs come by."""
    if os.name == "posix":
        import fcntl
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        with contextlib.suppress(OSError):
            return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FAR if most < 0 else min(FAR, most - 1))
    return os.dup(descriptor)


def _outcome(
    records: tuple[Record, ...], want: Wanted, keeper: Keeper, colour: str, quiet: bool, stream: TextIO
) -> int:
    """Merge, join, report and judge; the ranks other than 0 leave that to it."""
    from syncguard.compare.merge import merged

    if keeper.rank:
        return _kept(keeper)
    others = keeper.others()
    whole = joined(merged([*records, *others]), want)
    if keeper.save and whole is not records[0]:
        keeper.write(whole)
    return tell(whole, want, colour, stream, quiet) or _kept(keeper)


def _kept(keeper: Keeper) -> int:
    if keeper.lost:
        raise click.ClickException(keeper.lost)
    return 0
