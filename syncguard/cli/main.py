"""`syncguard`: the group of commands, and what every one of them does when it fails."""

from __future__ import annotations

import errno
import gc
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from syncguard import __version__, house
from syncguard.cli.common import Unchecked, debug_option, wants_traceback

COMMANDS = ("check", "run", "report", "diff", "explain", "rules", "doctor", "crossover", "server", "clean")
# 128 and the number of SIGPIPE or SIGINT, as a shell would say it.
PIPE_CLOSED, INTERRUPTED = 141, 130
REPORT = "This is a fault of SyncGuard. Please report it with what `--debug` prints."
# What standard output says when it takes no more, on a full disk or a broken one.
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)


class Lazy(click.Group):
    """A group whose commands are imported by name: a hook that runs `check` pays for nothing else."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"syncguard.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and os.path.exists(args[0]):
            ctx.fail(f"'{args[0]}' is a path; write `syncguard check {args[0]}`")
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from syncguard.config import like

            ctx.fail(f"there is no command '{args[0]}'{like(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.command(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="syncguard %(version)s")
@debug_option
def group() -> None:
    """Finds the places where PyTorch code makes the CPU wait for the GPU, and says why.

    Exit codes: 0 nothing found, 1 findings, 2 wrong usage or configuration, 3 a fault of SyncGuard.
    """


def main() -> NoReturn:
    """Run the command line and exit."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we began
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
    # What `run` writes goes to the standard error: the standard output is the program's.
    for stream in (sys.stderr,) if sys.argv[1:2] == ["run"] else (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that cannot show a character must not end the run.
            stream.reconfigure(errors="backslashreplace")
    if "_SYNCGUARD_COMPLETE" in os.environ:
        group.main(prog_name="syncguard")
    # What one check believes of a project is large: it is not searched for garbage, nor taken apart in the end.
    once = sys.argv[1:2] == ["check"] and "--watch" not in sys.argv
    if once:
        gc.disable()
    code = run(sys.argv[1:])
    if once and sys.getprofile() is None and sys.gettrace() is None:
        _flush()
        os._exit(code)
    sys.exit(code)


def run(args: list[str]) -> int:
    """Run one command and say how it ended; every fault is one line."""
    try:
        # Not `group.main`, which has its own ideas of a closed pipe and of an interrupt.
        with group.make_context("syncguard", args) as context:
            code = group.invoke(context)
        if args[:1] != ["run"]:  # the output is the program's, and Python's to close
            _flush(quietly=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as fault:
        print(fault.format_message())
        return 2
    except click.ClickException as fault:
        _flush()
        used = fault.ctx if isinstance(fault, click.UsageError) else None
        more = f" (see `{used.command_path} --help`)" if used is not None else ""
        _say(f"syncguard: {' '.join(fault.format_message().split())}{more}")
        return 2
    except BrokenPipeError:
        # The reader has gone, and Python must not trip over it again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as fault:
        if not _somewhere():
            _say("syncguard: the current folder is there no more; go to another")
            return 2
        if fault.errno not in FULL or fault.filename is not None:
            return _internal(fault, args)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _say(f"syncguard: the output cannot be written: {fault.strerror}")
        return 2
    except (KeyboardInterrupt, click.Abort):
        _flush()
        _say("syncguard: interrupted")
        return INTERRUPTED
    except Unchecked as fault:
        return _unchecked(fault, args)
    except Exception as fault:
        return _internal(fault, args)


def _somewhere() -> bool:
    """Whether the current folder is there, on which every relative path rests."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _unchecked(fault: Unchecked, args: list[str]) -> int:
    _flush()
    for told in fault.faults if wants_traceback(args) else ():
        _say(told)
    _say(f"syncguard: internal error: {fault}")
    _say(REPORT)
    return 3


def _internal(fault: Exception, args: list[str]) -> int:
    _flush()
    if wants_traceback(args):
        raise fault
    _say(f"syncguard: {house.internal(fault)}")
    _say(REPORT)
    return 3


def _say(line: str) -> None:
    """To standard error; where that takes nothing either, the exit code has to do."""
    try:
        print(line, file=sys.stderr)
    except OSError:
        pass


def _flush(quietly: bool = True) -> None:
    """A program that ran in here may have closed its output, or have none."""
    try:
        sys.stdout.flush()
    except OSError:
        if not quietly:
            raise
    except (AttributeError, ValueError):
        pass
