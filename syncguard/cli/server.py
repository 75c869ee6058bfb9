"""`syncguard server`: findings, fixes and beliefs in the editor."""

from __future__ import annotations

import click

from syncguard.cli.common import debug_option


@click.command(name="server", short_help="Serve an editor, by the Language Server Protocol.")
@click.option("--stdio", is_flag=True, help="Speak on standard input and output, which is what it does anyway.")
@debug_option
def command(stdio: bool) -> int:
    """Serve an editor: findings as you type, fixes and comments as code actions, beliefs on hover.

    It speaks the Language Server Protocol on standard input and output.
    """
    try:
        from syncguard.serve.protocol import serve
    except ModuleNotFoundError as fault:
        if (fault.name or "").split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise click.ClickException("server needs pygls: pip install 'syncguard[server]'") from None
    serve()
    return 0
