"""`syncguard crossover`: from which size on the device is faster than the host, measured here."""

from __future__ import annotations

import click

from syncguard.cli.common import colour_option, debug_option, look, write

SIZES = "16,32,64,128,256,512,1024,2048"
DTYPES = ("float32", "float64", "float16", "bfloat16")


@click.command(name="crossover", short_help="Measure from which size on the GPU is faster than the CPU.")
@click.argument("function", metavar="FUNCTION")
@click.option("--sizes", default=SIZES, show_default=True, metavar="N,N,...", help="The sizes to measure.")
@click.option("--shape", default="n,n", show_default=True, help="The argument's shape, n for the size.")
@click.option("--dtype", type=click.Choice(DTYPES), default="float32", show_default=True, help="The argument's dtype.")
@click.option("--simulate", is_flag=True, help="Say what would be measured; a simulated device has no speed.")
@colour_option
@debug_option
def command(function: str, sizes: str, shape: str, dtype: str, simulate: bool, colour: str) -> None:
    """Time a function of one tensor (torch.linalg.qr) on the CPU, with the copies there and back, and on the GPU.

    The answer to a size in source that chooses between the two: it was measured on some other machine, or nowhere.
    """
    from syncguard.show.crossover import crossover as shown

    try:
        numbers = tuple(int(part) for part in sizes.split(","))
    except ValueError:
        raise click.BadParameter(f"'{sizes}' is no list of numbers such as {SIZES}") from None
    if min(numbers) < 1:
        raise click.BadParameter("a size is at least 1")
    try:
        from syncguard.observe import crossover
    except ImportError as fault:
        raise click.ClickException(f"crossover needs torch (pip install 'syncguard[run]'): {fault}") from None
    try:
        if simulate:
            crossover.tried(function, numbers, shape, dtype)
            write([f"{function} takes {shape}, {dtype}, of size {min(numbers)}; {len({*numbers})} sizes to time.",
                   "Nothing was measured: a simulated device has no speed."])  # fmt: skip
            return
        found = crossover.crossover(function, numbers, shape, dtype)
    except crossover.Unmeasurable as fault:
        raise click.ClickException(str(fault)) from None
    points = [(p.size, p.host_ms, p.copies_ms, p.device_ms) for p in found.points]
    write(shown(found.function, found.device, points, found.at, look(colour)))
