"""Writes again what the documentation takes from the program: docs/cli.md and real output. `--check` only compares."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import click
import known
import libraries_page
import msgspec
import readings_page
import rooms_page
import story_page
import suites_page

from syncguard.cli.main import COMMANDS, group, run
from syncguard.record import Record

ROOT = Path(__file__).parent.parent
# A comment that begins with a dollar sign holds the command whose output is the block below.
BLOCK = re.compile(r"(<!-- \$ syncguard (?P<args>[^\n]*) -->\n```text\n)(?:(?!```).*\n)*(```\n)")


def main() -> int:
    """Write the pages, or say which are stale."""
    stale = [path for path, text in pages().items() if not path.is_file() or path.read_text("utf-8") != text]
    if "--check" not in sys.argv:
        for path in stale:
            path.write_text(pages()[path], "utf-8")
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'stale; run `make docs`' if '--check' in sys.argv else 'written'}")
    return 1 if stale and "--check" in sys.argv else 0


def pages() -> dict[Path, str]:
    """Every page that holds something made, as it should read."""
    found = {ROOT / "docs" / "cli.md": command_line(), ROOT / "docs" / "record.schema.json": record_schema()}
    found |= story_page.pages(ROOT / "docs", ROOT / "evidence")
    found |= libraries_page.pages(ROOT / "docs", ROOT / "evidence")
    found |= suites_page.pages(ROOT / "docs")
    found |= readings_page.pages(ROOT / "docs", ROOT / "evidence")
    found |= rooms_page.pages(ROOT / "docs", ROOT / "syncguard")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text("utf-8") if path.is_file() else ""
        if BLOCK.search(text):
            found[path] = BLOCK.sub(lambda match: f"{match[1]}{output(match['args'].split())}\n{match[3]}", text)
    readme = ROOT / "README.md"
    found[readme] = known.told(found.get(readme, readme.read_text("utf-8")), ROOT / "evidence")
    return found


def record_schema() -> str:
    """docs/record.schema.json."""
    schema = msgspec.json.schema(Record)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "What `syncguard run` saves"} | schema
    return json.dumps(schema, indent=2) + "\n"


def command_line() -> str:
    """docs/cli.md."""
    parts = ["# The command line", "", "This page is what `--help` prints.", ""]
    parts += ["## syncguard", "", "```text", help_of(group, "syncguard"), "```", ""]
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        parts += [f"## syncguard {name}", "", "```text", help_of(command, f"syncguard {name}"), "```", ""]
    return "\n".join(parts)


def help_of(command: click.Command, name: str) -> str:
    """The help of a command, 100 columns wide."""
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "terminal_width": 100}
    with click.Context(command, info_name=name, **settings) as context:
        return "\n".join(line.rstrip() for line in command.get_help(context).split("\n"))


def output(args: list[str]) -> str:
    """What a command prints, run in the repository's folder on a terminal of 100 columns."""
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(ROOT)
    os.environ["COLUMNS"] = "100"
    try:
        with redirect_stdout(io.StringIO()) as text, redirect_stderr(io.StringIO()):
            run(args)
    finally:
        os.chdir(before)
        os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)
    return text.getvalue().rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
