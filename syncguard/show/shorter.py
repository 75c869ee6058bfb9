"""A rule's page in short: of each section's examples the first, and the titles of the others."""

from __future__ import annotations

from collections.abc import Iterator

Part = tuple[str, list[str]]


def shorter(page: str) -> str:
    """`page` (markdown), in which the examples of a section, each under a title of its own, are as many as one."""
    return "\n".join(line for section in _parts(page.split("\n"), "## ") for line in _section(section))


def _section(section: Part) -> Iterator[str]:
    title, lines = section
    if title:
        yield f"## {title}"
    examples = _parts(lines, "### ")
    shown = [example for example in examples if not example[0]] + [example for example in examples if example[0]][:1]
    for name, text in shown:
        if name:
            yield f"### {name}"
        yield from text
    if left := [name for name, _ in examples if name][1:]:
        yield from (f"And {len(left)} more: {'; '.join(left)}.", "")


def _parts(lines: list[str], mark: str) -> list[Part]:
    """What stands before the first line that begins with `mark`, without a title; then each such line and its text."""
    parts: list[Part] = [("", [])]
    code = False
    for line in lines:
        code ^= line.startswith("```")
        if line.startswith(mark) and not code:
            parts.append((line.removeprefix(mark), []))
        else:
            parts[-1][1].append(line)
    return parts
