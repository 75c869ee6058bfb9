"""`syncguard run`: run a program, see where it waits, say so."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from syncguard.cli.common import colour_option, debug_option

if TYPE_CHECKING:
    from syncguard.record import Record


class Launcher(click.Command):
    """A command whose own options end where the program begins: at SCRIPT, or at `-m MODULE`."""

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
            if word == "-m" or not word.startswith("-") or word == "-":
                return args[:at], args[at:]
            at += 2 if word in valued else 1
        return args, []

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS]", "SCRIPT | -m MODULE", "[ARGS]..."]


def _at_most(text: str) -> str:
    return f"{text} Exit with 1 if not."


@click.command(cls=Launcher, name="run", short_help="Run a program and see where it waits.")
@click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "simulate"]),
    default="auto",
    show_default=True,
    help="Watch a real GPU, or simulate one on the CPU; auto simulates where there is no GPU.",
)
@click.option("--warmup", type=click.IntRange(0), default=1, show_default=True, help="Steps that do not count.")
@click.option("--steps", type=click.IntRange(0), default=0, help="Watch so many steps after the warm-up; 0, all.")
@click.option("--save", metavar="FILE", help="Write the record here, as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print no report.")
@colour_option
@debug_option
@click.pass_context
def command(ctx: click.Context, colour: str, save: str | None, quiet: bool, **given: Any) -> int:
    """Run a Python program as `python` would, and report where the CPU waited for the GPU.

    Everything after SCRIPT or -m MODULE is the program's own. The report goes to standard error. The exit code is the
    program's own unless that is 0: then 1 says that the program waits more than it may, 3 that SyncGuard failed.
    """
    from syncguard.observe.launch import Wishes, die_of, launch
    from syncguard.observe.program import CannotRun, Program
    from syncguard.record import text

    words = ctx.meta["program"]
    module = words[:1] == ["-m"]
    words = words[1:] if module else words
    if not words:
        raise click.UsageError("which program? Name a script, or `-m` and a module.")
    if words[0] == "-":
        raise click.UsageError("a program cannot be read from standard input; write it to a file.")
    program = Program(words[0], tuple(words[1:]), module)
    pid = os.getpid()

    def keep(record: Record) -> None:
        if save:
            with open(save, "wb") as file:  # noqa: PTH123
                file.write(text(record))

    try:
        record, ended = launch(program, Wishes(given["device"], given["warmup"], given["steps"]), keep)
    except CannotRun as fault:
        raise click.ClickException(str(fault)) from None
    if os.getpid() != pid:
        return ended.code
    if not quiet:
        report(record)
    if ended.signal:
        die_of(ended.signal)
    return ended.code


def report(record: Record) -> None:
    """Print a record for people on standard error."""
    for wait in record.waits:
        place = wait.place
        print(f"{place.path}:{place.line}:{place.column} {wait.code} {wait.op} x{wait.count} {wait.phase} {wait.steps}", file=sys.stderr)
    print(record.steps, record.notes, record.ended, record.machine, file=sys.stderr)
