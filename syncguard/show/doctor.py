"""A diagnosis as text: how many rows hold here, and what is to be done about those that do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from syncguard.show.look import Look, plural, wrapped

MANY = 12  # names in a list that is not asked for


def diagnosis(
    head: Sequence[str],
    exercised: tuple[int, int],
    agreement: tuple[int, int],
    conflicts: Iterable[tuple[str, str, str]],
    silent: Sequence[str],
    missing: Sequence[str],
    look: Look,
    everything: bool = False,
) -> Iterator[str]:
    """`conflicts`: a call, a sentence on who disagrees, a row to write. `silent`: rows that wait, and no call did."""
    yield look.paint("head", " · ".join(head))
    ran, rows = exercised
    yield f"{plural(ran, 'row')} of {rows:,} exercised."
    if agreement[1]:
        yield f"The device did what the row says in {agreement[0]:,} of {plural(agreement[1], 'call')}."
    else:
        yield "There is no GPU here: the rows were compared with torch's tags and fake tensors, which know no copies."
    yield from _names("Rows that wait, of which no call did (they need other arguments)", silent, look, everything)
    yield from _names("Rows without a call here (`syncguard explain` says why)", missing, look, everything)
    found = [*conflicts]
    yield ""
    yield look.paint("head", plural(len(found), "disagreement"))
    for call, sentence, row in found:
        yield ""
        yield from wrapped(look.prose(f"`{call}`: {sentence}"), look.width)
        yield from (f"    {line}" for line in row.split("\n"))


def _names(label: str, names: Sequence[str], look: Look, everything: bool) -> Iterator[str]:
    if names:
        shown = names if everything else names[:MANY]
        more = f", and {len(names) - len(shown)} more (--all)" if len(names) > len(shown) else ""
        yield from wrapped(look.prose(f"{label}: {', '.join(f'`{name}`' for name in shown)}{more}."), look.width)
