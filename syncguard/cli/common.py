"""What the commands share: options, and the look of what they print."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, TypeVar

import click

from syncguard.show.look import Look, plural, wants_colour

Command = TypeVar("Command", bound=Callable[..., Any])

WIDEST = 120


class Unchecked(Exception):
    """Errors of ours left files unchecked; what was found in the others has been printed."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__(f"{plural(len(faults), 'file')} not checked (SG000)")
        self.faults = faults


@contextmanager
def refusing() -> Iterator[None]:
    """In here, what is wrong with a configuration or a pack is said as wrong usage is: on one line, exit code 2."""
    from syncguard.config import ConfigError
    from syncguard.pack import PackError

    try:
        yield
    except (ConfigError, PackError) as fault:
        raise click.ClickException(str(fault)) from None


def debug_option(command: Command) -> Command:
    """`--debug`, understood before and after the command's name."""
    text = "Show the traceback of an internal error."
    return click.option("--debug", is_flag=True, expose_value=False, help=text)(command)


def wants_traceback(args: list[str]) -> bool:
    """Whether the user asked for the traceback of an internal error."""
    return "--debug" in args or bool(os.environ.get("SYNCGUARD_DEBUG"))


def colour_option(command: Command) -> Command:
    """`--color`."""
    choice = click.Choice(["auto", "always", "never"])
    text = "Colour the output; auto: on a terminal, unless NO_COLOR is set."
    return click.option("--color", "colour", type=choice, default="auto", show_default=True, help=text)(command)


def config_options(command: Command) -> Command:
    """`--config` and `--isolated`."""
    file = click.Path(exists=True, dir_okay=False)
    command = click.option("--isolated", is_flag=True, help="Read no configuration file.")(command)
    text = "Read this configuration file, and look for no other."
    return click.option("--config", "config_file", type=file, metavar="FILE", help=text)(command)


def look(colour: str, stream: TextIO | None = None, **fields: Any) -> Look:
    """The look of a stream, standard output if none is named."""
    stream = stream or sys.stdout
    width = shutil.get_terminal_size((WIDEST, 24)).columns
    return Look(colour=wants_colour(colour, stream), width=max(min(width, WIDEST), 48), **fields)


def write(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Write lines, a thousand at a time."""
    stream = stream or sys.stdout
    held: list[str] = []
    for line in lines:
        held.append(line)
        if len(held) == 1000:
            stream.write("\n".join(held) + "\n")
            held.clear()
    if held:
        stream.write("\n".join(held) + "\n")
