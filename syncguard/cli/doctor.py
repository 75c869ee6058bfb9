"""`syncguard doctor`: which rows of the table hold for the torch and the device at hand."""

from __future__ import annotations

import sys

import click

from syncguard.cli.common import colour_option, config_options, debug_option, look, refusing, write


@click.command(name="doctor", short_help="Ask this torch and this GPU whether the table of waits is right.")
@click.argument("operations", nargs=-1, metavar="[OPERATION]...")
@click.option("--opinfo/--no-opinfo", default=True, help="Use torch's own sample inputs besides our calls.")
@click.option("--all", "everything", is_flag=True, help="List every row that was not exercised.")
@click.option("--strict", is_flag=True, help="Exit with 1 where there is a disagreement.")
@config_options
@colour_option
@debug_option
def command(
    operations: tuple[str, ...],
    opinfo: bool,
    everything: bool,
    strict: bool,
    config_file: str | None,
    isolated: bool,
    colour: str,
) -> int:
    """Make calls of every operation in the table (or of those named), and compare what happens with what it says.

    On a GPU the clock decides. Without one, what the table says (simulated) is compared with torch's own tags and with
    what fake tensors refuse. Needs torch; takes less than three minutes. Each disagreement is printed as a row that is
    ready to be written into a pack.
    """
    from syncguard import config
    from syncguard.config import like
    from syncguard.pack import load
    from syncguard.show.doctor import diagnosis

    try:
        from syncguard.observe import doctor
    except ImportError as fault:
        raise click.ClickException(f"doctor needs torch (pip install 'syncguard[run]'): {fault}") from None
    with refusing():
        rules = load(config.load((), {}, config_file or "", isolated).pack_folders)
    for name in operations:
        if name not in rules.ops:
            raise click.ClickException(f"'{name}' has no row{like(name, rules.ops)}")
    found = doctor.diagnose(rules, operations, opinfo, lambda text: click.echo(f"... {text}", err=True))
    against = [*doctor.conflicts(found, rules)]
    known = [one.agrees for one in found.checked if one.agrees is not None]
    lines = diagnosis(
        (found.device, f"torch {found.torch}", found.date, f"{found.seconds} s"),
        (len(found.exercised), found.rows),
        (sum(known), len(known)),
        ((one.text, said, doctor.as_row(one, rules, found.device, found.torch, found.date)) for one, said in against),
        doctor.silent(found, rules),
        found.missing,
        look(colour),
        everything,
    )
    write(lines, sys.stdout)
    return 1 if strict and against else 0
