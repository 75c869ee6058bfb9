"""What we know, for a person who asks: a rule's page, an op's row, what is believed of the expressions on a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from syncguard.judge.caused import by_caller
from syncguard.pack.pages import MANNERS
from syncguard.pack.rows import state
from syncguard.show.full import BREAKS, WIDEST
from syncguard.show.look import Look, plural, printable, width_of, wrapped
from syncguard.show.shorter import shorter
from syncguard.terms import SETUP, Fact, Finding, Op, Rule, Site, Wait

WHEN = {
    "missing": "{} is not given",
    "none": "{} is None",
    "some": "{} is given and not zero",
    "mean": "{} is the mean, or not given",
    "given": "{} is given",
    "alone": "{} is the only argument",
    "tensor": "{} is a tensor on the device",
    "number": "{} is a Python number",
    "data": "{} is Python data or an array",
    "host": "{} is on the host",
    "true": "{} is true",
    "false": "{} is false or not given",
    "not_false": "{} is not the literal False",
    "mask": "{} is a boolean mask on the device",
    "mask_beside": "{} is a boolean mask on the device beside another index",
    "zero_dim": "{} is a 0-d integer tensor on the device",
    "zero_dim_mask": "{} is a 0-d boolean tensor on the device",
    "integers": "{} is an integer index tensor",
    "slice_bound": "{} is a slice bounded by a tensor on the device",
    "host_index": "{} is a list, an array or a tensor of integers on the host",
    "host_mask": "{} is a boolean tensor on the host",
    "to_host": "{} names the CPU",
    "to_device": "{} names the device",
    "pinned": "{} is in pinned memory",
    "pageable": "{} is in pageable memory",
    "zero_dim_target": "{} picks a single element",
    "dense": "{} is not sparse already",
    "surely_dense": "{} is known to be dense",
    "data_or_unknown": "{} is Python data, or of unknown type",
    "listed": "{} is a list of tensors",
    "proven": "{} is a tensor, wherever",
    "single": "{} is one tensor on the device",
    "of_host": "{} holds a tensor on the host",
    "built": "{} was made on the host",
    "host_number": "{} is a 0-d tensor on the host",
    "host_values": "{} is a tensor of one or more dimensions on the host, for a part that no tensor picks",
    "device_values": "{} is written where no tensor picks",
    "evaluating": "{} is in eval mode",
    "many": "{} has so many elements that both sides are sorted",
    "long": "{} has slices of more than 2048 elements",
    "compared": "{} has the shape of the first and is not the same memory",
    "singular": "{} asks for singular values",
    "negative": "{} is a negative number",
    "sparse": "{} is sparse, by coordinates",
    "uncoalesced": "{} is not coalesced already",
    "by_columns": "{} is sparse by columns",
    "by_rows": "{} is sparse by rows",
    "oblong": "{} is a matrix that is not square",
    "large": "{} has 4 MiB or more",
    "no_range": "{} is the same as the lower bound",
    "not_bfloat16": "{} is of another dtype than bfloat16",
}
ON = {
    "argument": "a tensor argument is on the device",
    "self": "the tensor is on the device",
    "result": "the result is on the device",
    "factory": "what names no device is built on the device",
    "always": "",
}
BELOW = "    "


def page(rule: Rule, text: str, ops: tuple[str, ...], look: Look, whole: bool = True) -> Iterator[str]:
    """A rule's page, then the operations that it judges; unless it is `whole`, with the first example of each kind."""
    body = _without_block(text) if text else f"# {rule.code} {rule.name}\n\n{_said(rule)}"
    title, _, rest = body.partition("\n")
    short = rest if whole else shorter(rest)
    breaks = ", ".join(BREAKS.get(name, name) for name in rule.breaks)
    facts = [rule.level, "on" if rule.default else "off unless selected", f"breaks {breaks}" if breaks else ""]
    yield look.paint("head", title.removeprefix("# "))
    yield look.paint("dim", " · ".join(fact for fact in facts if fact))
    yield ""
    if rule.hint and text:
        yield from (look.prose(line) for line in wrapped(f"{rule.hint.rstrip('.')}.", look.width))
        for manner, hint in rule.hints:
            told = f"For {MANNERS[manner]}: {hint[:1].lower()}{hint[1:].rstrip('.')}."
            yield from (look.prose(line) for line in wrapped(told, look.width))
        yield ""
    if look.colour:
        yield _markdown(short.strip("\n"), look.width)
    else:
        yield from _plain(short.strip("\n"), look.width)
    if ops:
        yield ""
        yield look.paint("head", "Operations")
        yield from (f"  {line}" for line in wrapped(", ".join(f"`{op}`" for op in ops), look.width - 2))
    if short != rest:
        yield ""
        yield look.paint("dim", f"`syncguard explain {rule.code} --all` shows every example.")


def op(row: Op, rules: Mapping[str, Rule], look: Look) -> Iterator[str]:
    """An op's row: when it waits, since when, on what evidence, and what to write in its place.

    `rules` has the pages of its hazards; one that it lacks is not named.
    """
    yield look.paint("head", row.name + (f"({', '.join(row.signature)})" if row.signature else ""))
    if row.returns:
        yield from _entry("returns", " ".join(row.returns.split()), look)
    if not any(wait.hazard not in rules or rules[wait.hazard].level != "advice" for wait in row.waits):
        yield from _entry("waits", "never" if row.known else "not known to wait: no row says either way", look)
    for wait in row.waits:
        rule = rules.get(wait.hazard)
        how = f": {wait.how}" if wait.how else ""
        page = f"{rule.code} {rule.name}" if rule else SETUP if wait.hazard == SETUP else ""
        label = "advice" if rule is not None and rule.level == "advice" else "waits"
        yield from _entry(label, f"{when(wait, row)}{f' ({page})' if page else ''}{how}", look)
    for wait in row.backward:
        rule = rules.get(wait.hazard)
        yield from _entry("backward", f"waits {later(wait, row)}{f' ({rule.code} {rule.name})' if rule else ''}", look)
    versions = [f"since torch {row.since}" if row.since else "", f"until torch {row.until}" if row.until else ""]
    yield from _entry("holds", ", ".join(text for text in versions if text), look)
    yield from _entry("how", row.mechanism, look)
    yield from _entry("instead", row.alternative, look)
    yield from _entry("but", row.caveat, look)
    yield from _entry("aten", row.aten, look)
    if row.evidence:
        yield from _entry("state", _state(row), look)
    yield from _entry("untried", row.untried, look)
    for item in row.evidence:
        yield from _entry("evidence", _evidence(item), look)


def beliefs(
    path: str,
    line: int,
    found: tuple[tuple[Site, str, str, tuple[Fact, ...]], ...],
    look: Look,
    judged: Sequence[tuple[Finding, str]] = (),
) -> Iterator[str]:
    """What is believed of every expression on a line: its place, its text, its value, and why; and the findings there,
    each with why it is not reported, if it is not."""
    yield look.paint("head", f"{printable(path)}:{line}")
    text = look.lines(path)[line - 1 : line]
    margin = len(str(line))
    if text:
        yield f"{look.paint('gutter', f'{line:>{margin}} |')} {printable(text[0])}".rstrip()
    if not found:
        yield f"{' ' * margin} {look.paint('gutter', '=')} No expression begins on this line."
    wide = min(max((len(source) for _, source, _, _ in found), default=0), 48)
    said: set[Fact] = set()
    for site, source, value, because in found:
        place = look.paint("dim", f"{site.column:>4}")
        yield f"{place}  {printable(source):<{wide}}  {look.paint('quoted', printable(value))}"
        # An expression is believed for the reasons of its parts, so most reasons have been given above.
        for fact in (fact for fact in because if fact not in said):
            yield from _reason(fact, path, look)
        said.update(because)
    if found:
        yield look.paint("dim", f"{plural(len(found), 'expression')}; the number is the column it begins at.")
    for finding, hidden in judged:
        yield from _found(finding, hidden, path, look)


def _found(finding: Finding, hidden: str, path: str, look: Look) -> Iterator[str]:
    """A finding on a line, why it is there if the line alone does not tell, its heat, and why it is not reported."""
    callers = by_caller(finding)
    yield ""
    told = f"{finding.code} {'What callers pass: ' if callers else ''}{printable(finding.message)}"
    yield from (look.prose(line) for line in wrapped(told, look.width))
    for fact in finding.because if callers else ():
        yield from _reason(fact, path, look)
    yield from _entry(finding.heat, hidden or "reported", look)
    for fact in (*finding.hot_path, *finding.options):
        yield from _reason(fact, path, look) if fact.line else _entry("", fact.text, look)


def _reason(fact: Fact, path: str, look: Look) -> Iterator[str]:
    where = f"{printable(fact.path)}:{fact.line}" if fact.path not in ("", path) else f"line {fact.line}"
    column = width_of(where)
    if column > look.width // WIDEST:
        yield f"{BELOW}    {look.paint('dim', where)}"
        where, column = "", 4
    for n, shown in enumerate(wrapped(printable(fact.text), look.width - 10 - column)):
        yield f"{BELOW}    {look.paint('dim', f'{where:<{column}}') if n == 0 else ' ' * column}  {look.prose(shown)}"


def _entry(label: str, text: str, look: Look) -> Iterator[str]:
    for n, line in enumerate(wrapped(printable(text), look.width - 12)):
        yield f"  {look.paint('label', f'{label:<10}') if n == 0 else ' ' * 10}{look.prose(line)}"


def when(wait: Wait, row: Op) -> str:
    """When a wait holds, as a sentence."""
    named = [
        WHEN.get(condition, f"{condition} {{}}").format(" or ".join(f"`{name}`" for name in names.split("|")))
        for condition, names in wait.when
    ]
    needs = (
        []
        if wait.on == "argument" and any(c in ("tensor", "single", "mask", "zero_dim") for c, _ in wait.when)
        else [ON.get(wait.on, wait.on)]
    )
    clauses = [text for text in (*needs, *named) if text]
    versions = [f"since torch {wait.since}" if wait.since else "", f"until torch {wait.until}" if wait.until else ""]
    when = f"when {' and '.join(clauses)}" if clauses else "always"
    return ", ".join(text for text in (when, *versions) if text)


def later(wait: Wait, row: Op) -> str:
    """When the backward of a call waits, as a sentence."""
    needs = f"when `{wait.of}` has a gradient" if wait.of else ""
    told = when(replace(wait, on="always"), row)
    return f"{needs} and {told}" if needs and told.startswith("when") else needs or told


def _state(row: Op) -> str:
    """How well the row is known, in a few words."""
    known = state(row.evidence)
    lines = [item for item in row.evidence if item["state"] in ("measured", "tried")]
    where = "; ".join(f"{item['device']}, torch {item['torch']}, {item['date']}" for item in lines)
    if known == "measured":
        return f"measured on {where}"
    return f"{known}, not measured on a device yet{f': no call that was made on {where}, waited' if where else ''}"


def _evidence(item: Mapping[str, Any]) -> str:
    torch = f" in torch {item['torch']}" if item.get("torch") else ""
    note = f" ({item['note']})" if item.get("note") else ""
    return f"{item.get('state', '')}{torch}: {item.get('at', '')}{note}"


def _said(rule: Rule) -> str:
    """What a rule without a page says, with its fields left open."""
    return ". ".join(re.sub(r"\{\w+\}", "...", part) for part in (rule.message, rule.hint) if part)


def _without_block(text: str) -> str:
    """The page without the toml block under its title, which is for us."""
    before, _, rest = text.partition("```toml\n")
    _, _, after = rest.partition("\n```")
    return f"{before.strip()}\n\n{after.strip()}" if after else text


def _plain(text: str, width: int) -> Iterator[str]:
    """Markdown as it is, but for the lines of its paragraphs and lists, which are as long as there is room for."""
    paragraph: list[str] = []
    code = False
    for line in text.split("\n"):
        fence = line.startswith("```")
        stays = code or fence or not line or line.startswith(("#", "|"))
        if stays or line.startswith("- "):
            yield from _flowed(paragraph, width)
            paragraph.clear()
        code = code != fence
        if stays:
            yield line
        else:
            paragraph.append(line.strip())
    yield from _flowed(paragraph, width)


def _flowed(paragraph: list[str], width: int) -> Iterator[str]:
    margin = "  " if " ".join(paragraph).startswith("- ") else ""
    for n, line in enumerate(wrapped(" ".join(paragraph), width - len(margin))):
        yield line if n == 0 else margin + line


def _markdown(text: str, width: int) -> str:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=width, force_terminal=True, highlight=False)
    with console.capture() as capture:
        console.print(Markdown(text, code_theme="ansi_dark"))
    return capture.get().rstrip("\n")
