"""The output formats by name, each in its own file, loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from syncguard.show.look import Look

if TYPE_CHECKING:
    from syncguard.pipeline import Report

# For people: the closing line follows. The others speak to programs, and it goes to standard error.
PEOPLE = ("full", "concise", "github")
FORMATS = (*PEOPLE, "json", "sarif", "gitlab", "junit", "rdjson")


class Output(msgspec.Struct, frozen=True):
    """One thing to write: a format, and a file; "" is standard output."""

    format: str
    file: str = ""


class UnknownFormat(ValueError):
    """A format that we do not have."""


def output(text: str) -> Output:
    """What `FORMAT` or `FORMAT:FILE` asks for."""
    name, _, file = text.partition(":")
    if name not in FORMATS:
        raise UnknownFormat(name)
    if text == f"{name}:":
        raise UnknownFormat(text)
    return Output(name, "" if file == "-" else file)


def renderer(name: str) -> Callable[[Report, Look], Iterator[str]]:
    """The function that renders a report in a format."""
    render: Callable[[Report, Look], Iterator[str]] = import_module(f"syncguard.show.{name}").render
    return render
