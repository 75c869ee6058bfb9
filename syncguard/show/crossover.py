"""A crossover as text: a line for each size, and a plot of both times on a scale of tens."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from syncguard.show.look import Look

WIDE, LEAST = 40, 1e-4  # columns of the plot; milliseconds below which nothing is told apart


def crossover(
    function: str, device: str, points: Sequence[tuple[int, float, float, float]], at: int, look: Look
) -> Iterator[str]:
    """`points`: size, milliseconds on the host with its copies, of the copies, on the device. `at`: the crossover."""
    yield look.paint("head", f"{function} · {device}")
    yield f"{'size':>8} {'host':>10} {'copies':>10} {'device':>10}   ms; h host with copies, d device, * both"
    times = [max(ms, LEAST) for _, host, _, there in points for ms in (host, there)]
    low, high = math.log10(min(times)), math.log10(max(times))
    for size, host, copies, there in points:
        marks = [" "] * (WIDE + 1)
        for ms, mark in ((host, "h"), (there, "d")):
            column = round((math.log10(max(ms, LEAST)) - low) / max(high - low, 1e-9) * WIDE)
            marks[column] = "*" if marks[column] != " " else mark
        yield f"{size:>8} {host:>10.4f} {copies:>10.4f} {there:>10.4f}   {''.join(marks).rstrip()}"
    if not at:
        yield f"The device is at no size here faster for good; at {points[-1][0]} it is not."
    elif at == points[0][0]:
        yield f"The device is faster from the smallest size on ({at}): there is no reason to go to the host."
    else:
        yield f"The device is faster from size {at} on."
