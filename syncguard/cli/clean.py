"""`syncguard clean`: remove what earlier checks left behind."""

from __future__ import annotations

from typing import Any

import click

from syncguard.cli.common import config_options, debug_option, refusing


@click.command(name="clean", short_help="Remove the cache.")
@config_options
@debug_option
def command(config_file: str | None, isolated: bool, **_: Any) -> int:
    """Remove the folder in which `check` keeps what it found, for the project of the current folder."""
    from syncguard import config
    from syncguard.cache import folder

    with refusing():
        settings = config.load((".",), {}, config_file or "", isolated)
    try:
        place = folder.folder_of(settings)
        removed = folder.clean(settings)
    except OSError as fault:
        if fault.filename is None:
            raise
        raise click.ClickException(f"{fault.filename}: cannot be removed: {fault.strerror}") from None
    click.echo(f"Removed {place}" if removed else "There is no cache to remove")
    return 0
