"""The source around a finding as a libcst tree: what stands where, who holds whom, and edits by node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from syncguard.terms import Edit, Site

Place = tuple[int, int, int, int]  # line, column, end line, end column, as in a Site
Scope = cst.FunctionDef | cst.Lambda | cst.Module


class Unfit(Exception):
    """The code has not the shape that a recipe rewrites."""


@dataclass(frozen=True, eq=False)
class Region:
    """The outermost function (or plain statement) around a finding. `lines` are the file's; `first` and `last` its own.

    `text` is what libcst parsed; an indented region stands below an `if 1:` that the file does not have.
    """

    path: str
    lines: tuple[str, ...]
    first: int
    last: int
    module: cst.Module
    header: int  # lines of `text` that the file does not have

    # -- where ----------------------------------------------------------------------------------

    @cached_property
    def places(self) -> dict[cst.CSTNode, Place]:
        """The place of every node in the file."""
        wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
        shift = self.first - 1 - self.header
        return {
            node: (span.start.line + shift, span.start.column + 1, span.end.line + shift, span.end.column + 1)
            for node, span in wrapper.resolve(PositionProvider).items()
        }

    @cached_property
    def parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        """Who holds each node."""
        found: dict[cst.CSTNode, cst.CSTNode] = {}
        todo: list[cst.CSTNode] = [self.module]
        while todo:
            node = todo.pop()
            for child in node.children:
                found[child] = node
                todo.append(child)
        return found

    @cached_property
    def names(self) -> dict[str, list[cst.Name]]:
        """Every name by what it says."""
        found: dict[str, list[cst.Name]] = {}
        for node in self.places:
            if isinstance(node, cst.Name):
                found.setdefault(node.value, []).append(node)
        return found

    @cached_property
    def calls(self) -> list[cst.Call]:
        """Every call."""
        return [node for node in self.places if isinstance(node, cst.Call)]

    def site(self, node: cst.CSTNode) -> Site:
        """The place of a node, without the parentheses around it."""
        return Site(self.path, *self.places[node])

    def anchor(self, site: Site) -> cst.CSTNode:
        """The node at a site: the one with just that span, else the smallest around it. LookupError: there is none."""
        wanted = (site.line, site.column, site.end_line, site.end_column)
        exact = [node for node, place in self.places.items() if place == wanted and not isinstance(node, cst.Module)]
        if exact:
            # The expression is inside the statement and the argument that have the same span.
            expressions = [node for node in exact if isinstance(node, cst.BaseExpression)]
            return (expressions or exact)[0]
        around = [
            (place[2] - place[0], place[3] - place[1], node)
            for node, place in self.places.items()
            if place[:2] <= wanted[:2] and wanted[2:] <= place[2:] and not isinstance(node, cst.Module)
        ]
        if not around:
            raise LookupError(str(site))
        return min(around, key=lambda item: item[:2])[2]

    # -- who ------------------------------------------------------------------------------------

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        return self.parents.get(node, self.module)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What holds a node, from the inside out, the module last."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def statement(self, node: cst.CSTNode) -> cst.SimpleStatementLine | cst.BaseCompoundStatement:
        """The statement on lines of its own that a node is in. Unfit: it shares its line with others."""
        for held in (node, *self.around(node)):
            if isinstance(held, cst.SimpleStatementLine):
                if len(held.body) > 1:
                    raise Unfit("several statements on a line")
                return held
            if isinstance(held, cst.SimpleStatementSuite):
                raise Unfit("a statement on the line of its header")
            if isinstance(held, cst.BaseCompoundStatement):
                return held
        raise Unfit("no statement")

    def small(self, node: cst.CSTNode) -> cst.BaseSmallStatement:
        """The simple statement that a node is in, without its line. Unfit: it is in the header of a compound one."""
        for held in (node, *self.around(node)):
            if isinstance(held, cst.BaseSmallStatement):
                return held
            if isinstance(held, cst.BaseCompoundStatement):
                break
        raise Unfit("in the header of a compound statement")

    def block(self, statement: cst.CSTNode) -> tuple[tuple[cst.CSTNode, ...], int]:
        """The statements of the block that a statement is in, and its number among them."""
        holder = self.parent(statement)
        if not isinstance(holder, cst.IndentedBlock | cst.Module):
            raise Unfit("no block")
        return tuple(holder.body), [*holder.body].index(statement)  # type: ignore[arg-type]

    def scope(self, node: cst.CSTNode) -> Scope:
        """The function that a node is in, or the module."""
        child = node
        for held in self.around(node):
            if isinstance(held, cst.FunctionDef) and held.body is child:
                return held
            if isinstance(held, cst.Lambda) and held.body is child:
                return held
            child = held
        return self.module

    def loops(self, node: cst.CSTNode) -> list[cst.For | cst.While]:
        """The loops whose body a node is in, within its function, from the inside out."""
        found: list[cst.For | cst.While] = []
        child = node
        for held in self.around(node):
            if isinstance(held, cst.FunctionDef | cst.Lambda | cst.ClassDef):
                break
            if isinstance(held, cst.For | cst.While) and held.body is child:
                found.append(held)
            child = held
        return found

    def handled(self, node: cst.CSTNode) -> bool:
        """Whether an `except` of its function would catch what a node raises."""
        child = node
        for held in self.around(node):
            if isinstance(held, cst.FunctionDef | cst.Lambda):
                return False
            if isinstance(held, cst.Try | cst.TryStar) and held.body is child and held.handlers:
                return True
            child = held
        return False

    # -- text and edits -------------------------------------------------------------------------

    def code(self, node: cst.CSTNode) -> str:
        """A node as it is written, with the parentheses around it, without the space."""
        return self.module.code_for_node(node).strip()

    def indent(self, statement: cst.CSTNode) -> str:
        """The white space before a statement."""
        line = self.lines[self.places[statement][0] - 1]
        return line[: len(line) - len(line.lstrip())]

    def argue(self, call: cst.Call, text: str) -> Edit:
        """Give a call one more argument, the last."""
        if call.args:
            # Behind the argument and its parentheses, before a comma and comments.
            line, column = self._behind(call.args[-1].value)
            return Edit(Site(self.path, line, column, line, column), f", {text}")
        line, column = self.places[call][2:]
        return Edit(Site(self.path, line, column - 1, line, column - 1), text)

    def _behind(self, node: cst.BaseExpression) -> tuple[int, int]:
        """Where an expression ends, with the parentheses around it."""
        line, column = self.places[node][2:]
        for _ in node.rpar:
            while (text := self.lines[line - 1][column - 1 :].lstrip())[:1] != ")":
                line, column = line + 1, 1
            column += len(self.lines[line - 1][column - 1 :]) - len(text) + 1
        return line, column

    def swap(self, node: cst.CSTNode, text: str) -> Edit:
        """Put this text where a node stands; parentheses around it stay."""
        return Edit(self.site(node), text)

    def before(self, statement: cst.CSTNode, *texts: str) -> Edit:
        """Put lines above a statement, below the comments that stand above it."""
        line = self.top(statement)
        return Edit(Site(self.path, line, 1, line, 1), self._lines(statement, texts))

    def after(self, statement: cst.CSTNode, *texts: str) -> Edit:
        """Put lines below a statement."""
        line = self.bottom(statement) + 1
        return Edit(Site(self.path, line, 1, line, 1), self._lines(statement, texts))

    def remove(self, statement: cst.CSTNode) -> Edit:
        """Take a statement away, with its lines; its comments stay, each on a line of its own."""
        indent = self.indent(statement)
        comments = [node for node in self._nodes(statement) if isinstance(node, cst.Comment)]
        kept = sorted(comments, key=lambda node: self.places[node])
        top = self.top(statement)
        text = "".join(f"{indent}{node.value}\n" for node in kept if self.places[node][0] >= top)
        return Edit(Site(self.path, top, 1, self.bottom(statement) + 1, 1), text)

    def _nodes(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        todo = [node]
        while todo:
            node = todo.pop()
            yield node
            todo += node.children

    def put(self, statement: cst.CSTNode, *texts: str) -> Edit:
        """Put lines in place of a statement's; a comment at its end stays behind the last of them."""
        place = self.places[statement]
        indent = self.indent(statement)
        return Edit(Site(self.path, *place), f"\n{indent}".join(texts))

    def unwrap(self, branch: cst.If, *swaps: Edit) -> Edit:
        """Put the body of an `if` in its place, with these edits made in it; its comments stay. Unfit: it cannot be."""
        block = branch.body
        if not isinstance(block, cst.IndentedBlock) or branch.orelse is not None:
            raise Unfit("no plain branch")
        first, last = self.top(block.body[0]), self.bottom(branch)
        strings = (cst.SimpleString, cst.FormattedString)
        if any(
            isinstance(node, strings) and self.places[node][0] != self.places[node][2] for node in self._nodes(block)
        ):
            raise Unfit("a string of several lines would move")
        lines = list(self.lines)
        for edit in sorted(swaps, key=lambda edit: edit.site, reverse=True):
            site = edit.site
            if site.line != site.end_line:
                raise Unfit("an edit of several lines")
            text = lines[site.line - 1]
            lines[site.line - 1] = text[: site.column - 1] + edit.text + text[site.end_column - 1 :]
        deeper, indent = self.indent(block.body[0]), self.indent(branch)
        header = [
            node.value for node in self._nodes(branch) if isinstance(node, cst.Comment) and self.places[node][0] < first
        ]
        body = [indent + line.removeprefix(deeper) if line.strip() else line for line in lines[first - 1 : last]]
        text = "".join(f"{line}\n" for line in [*(indent + comment for comment in header), *body])
        return Edit(Site(self.path, self.top(branch), 1, last + 1, 1), text)

    def top(self, statement: cst.CSTNode) -> int:
        """The first line of a statement, its decorators included."""
        decorators = getattr(statement, "decorators", ())
        return min(self.places[node][0] for node in (*decorators, statement))

    def bottom(self, statement: cst.CSTNode) -> int:
        return self.places[statement][2]

    def _lines(self, statement: cst.CSTNode, texts: tuple[str, ...]) -> str:
        indent = self.indent(statement)
        return "".join(f"{indent}{line}\n" for text in texts for line in text.split("\n"))

    def fresh(self, *names: str) -> str:
        """The first of these names that the region does not use, else the last of them with a number."""
        used = {node.value for node in self.places if isinstance(node, cst.Name)}
        numbered = (f"{names[-1]}_{n}" for n in range(2, 1000))
        return next(name for name in (*names, *numbered) if name not in used)
