"""An `if` in, the edit that puts its body in its place out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.nodes import inside
from syncguard.fix.region import Region, Unfit
from syncguard.terms import Edit, Site


def unwrap(branch: cst.If, region: Region, *swaps: Edit) -> Edit:
    """Put the body of an `if` in its place, with these edits made in it; its comments stay. Unfit: it cannot be."""
    block = branch.body
    if not isinstance(block, cst.IndentedBlock) or branch.orelse is not None:
        raise Unfit("no plain branch")
    first, last = region.top(block.body[0]), region.bottom(branch)
    strings = [node for node in inside(block) if isinstance(node, cst.SimpleString | cst.FormattedString)]
    if any(region.places[node][0] != region.places[node][2] for node in strings):
        raise Unfit("a string of several lines would move")
    lines = list(region.lines)
    for edit in sorted(swaps, key=lambda edit: edit.site, reverse=True):
        site = edit.site
        if site.line != site.end_line:
            raise Unfit("an edit of several lines")
        text = lines[site.line - 1]
        lines[site.line - 1] = text[: site.column - 1] + edit.text + text[site.end_column - 1 :]
    deeper, indent = region.indent(block.body[0]), region.indent(branch)
    top = region.top(branch)
    comments = [
        node for node in inside(branch) if isinstance(node, cst.Comment) and top <= region.places[node][0] < first
    ]
    header = [node.value for node in sorted(comments, key=lambda node: region.places[node])]
    body = [indent + line.removeprefix(deeper) if line.strip() else line for line in lines[first - 1 : last]]
    text = "".join(f"{line}\n" for line in [*(indent + comment for comment in header), *body])
    return Edit(Site(region.path, region.top(branch), 1, last + 1, 1), text)
