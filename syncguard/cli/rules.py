"""`syncguard rules`: the rules there are."""

from __future__ import annotations

import click

from syncguard.cli.common import colour_option, config_options, debug_option, look, refusing, write


@click.command(name="rules", short_help="List the rules.")
@click.option(
    "-o",
    "--output-format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How to write them.",
)
@config_options
@colour_option
@debug_option
def command(form: str, config_file: str | None, isolated: bool, colour: str) -> None:
    """List every rule, those of the configured packs among them: code, name, level, what it breaks, its fix.

    A rule whose level says `off` reports nothing until it is selected.
    """
    from syncguard import config
    from syncguard.house import HOUSE
    from syncguard.pack import load
    from syncguard.show import rules

    with refusing():
        pack = load(config.load((), {}, config_file or "", isolated).pack_folders)
    every = sorted((*HOUSE, *pack.rules), key=lambda rule: rule.code)
    write([rules.as_json(every)] if form == "json" else rules.table(every, look(colour)))
