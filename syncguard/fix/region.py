"""The source around a finding as a libcst tree: what stands where, who holds whom, and edits by node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from syncguard.fix import text as texts
from syncguard.fix.nodes import children, inside
from syncguard.fix.width import limit
from syncguard.terms import Edit, Site

PRAGMA = re.compile(r"#\s*(noqa|type:|pyright:|pylint:|mypy:|ruff:|fmt:|pragma:|nosec|syncguard:)")
KEYWORD = re.compile(r"\b(\w+)=(?!=)")
WORD = re.compile(r"\w+")
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
            for child in children(node):
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

    @cached_property
    def step(self) -> str:
        """How far in a block stands, as most here do."""
        blocks = [node for node in self.places if isinstance(node, cst.IndentedBlock) and node.body]
        held = [(self.indent(block.body[0]), self.margin(self.parent(block))) for block in blocks]
        steps = Counter(
            inner.removeprefix(outer) for inner, outer in held if inner.startswith(outer) and inner != outer
        )
        return steps.most_common(1)[0][0] if steps else "    "

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

    def parent(self, node: cst.CSTNode) -> cst.CSTNode:
        return self.parents.get(node, self.module)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What holds a node, from the inside out, the module last."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def within(self, node: cst.CSTNode, holder: cst.CSTNode) -> bool:
        """Whether a node is somewhere in another one."""
        return any(held is holder for held in self.around(node))

    def part_of(self, node: cst.CSTNode, whole: cst.CSTNode) -> bool:
        """Whether a node is another one, or somewhere in it."""
        return node is whole or self.within(node, whole)

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

    def code(self, node: cst.CSTNode) -> str:
        """A node as it is written, with the parentheses around it and without the space; lines after the first are as
        far in as their statement wants them. An expression can stand anywhere."""
        if node in self.places:
            text = texts.dedented(self.written(*self.outer(node)), self.margin(node))
        else:
            text = self.module.code_for_node(node).strip()
        return texts.whole(text) if isinstance(node, cst.BaseExpression) else text

    def written(self, line: int, column: int, end: int, end_column: int) -> str:
        """The text of a place, without the space around it."""
        lines = [*self.lines[line - 1 : end]]
        lines[-1] = lines[-1][: end_column - 1]
        lines[0] = lines[0][column - 1 :]
        return "\n".join(lines).strip()

    def outer(self, node: cst.CSTNode) -> Place:
        """The place of a node with the parentheses around it."""
        place = self.places[node]
        left, right = getattr(node, "lpar", ()), getattr(node, "rpar", ())
        start = self.places[left[0]][:2] if left else place[:2]
        end = self.places[right[-1]][2:] if right else place[2:]
        return *start, *end

    def indent(self, statement: cst.CSTNode) -> str:
        """The white space before a statement."""
        line = self.lines[self.places[statement][0] - 1]
        return line[: len(line) - len(line.lstrip())]

    def margin(self, node: cst.CSTNode) -> str:
        """The white space before the statement that a node is in."""
        lines = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
        return next((self.indent(held) for held in (node, *self.around(node)) if isinstance(held, lines)), "")

    def argue(self, call: cst.Call, text: str) -> Edit:
        """Give a call one more argument, the last, on a line of its own if the one before it is."""
        line, column = self.places[call][2:]
        spaces = [self.code(arg).partition("=")[0][-1:] for arg in call.args if arg.keyword is not None]
        if spaces and all(map(str.isspace, spaces)):
            text = KEYWORD.sub(r"\1 = ", text)
        if not call.args:
            return Edit(Site(self.path, line, column - 1, line, column - 1), text)
        top, start, end, behind = self.outer(call.args[-1].value)
        first = min(self.places[call.args[-1]][:2], (top, start))
        margin, rest = self.lines[first[0] - 1][: first[1] - 1], self.lines[end - 1][behind - 1 :]
        comma = "," if rest.lstrip().startswith(",") else ""
        if not comma and (under := self._under(call, end, text)):
            return Edit(Site(self.path, end, behind, end, behind), f",\n{under}{text}")
        row = not comma and self.places[call.args[0]][0] == end  # all of them on a line
        if row or margin.strip() or line == end or rest.lstrip(" \t,")[:1] not in ("", "#"):
            return Edit(Site(self.path, end, behind, end, behind), f", {text}")
        text = f"{rest if comma else ',' + rest}\n{margin}{text}{comma}"
        return Edit(Site(self.path, end, behind, end, behind + len(rest)), text)

    def _under(self, call: cst.Call, line: int, text: str) -> str:
        """The space before the arguments of a call that stand one below another, behind its bracket; '' where they do
        not, or one more has room on the last line."""
        top, column = self.places[call.args[0]][:2]
        row = self.lines[line - 1]
        space = row[: len(row) - len(row.lstrip())]
        below = top < line and len(space) == column - 1
        return space if below and len(row) + len(f", {text}") > limit(self.lines) else ""

    def swap(self, node: cst.CSTNode, text: str) -> Edit:
        """Put this text where a node stands; parentheses around it stay. Unfit: an f-string cannot hold the text."""
        place = self.site(node)
        if isinstance(node, cst.BaseExpression) and not node.lpar:
            for held in self.around(node):
                if isinstance(held, cst.FormattedStringExpression) and not texts.formattable(held, text):
                    raise Unfit("in an f-string")
            text = texts.fitted(text, texts.asked(self.parent(node), node))
        return Edit(place, texts.indented(text, self.margin(node)))

    def behind(self, node: cst.BaseExpression, text: str) -> Edit:
        """Put text directly behind an expression, within the parentheses around it."""
        line, column = self.places[node][2:]
        return Edit(Site(self.path, line, column, line, column), texts.indented(text, self.margin(node)))

    def cut(self, call: cst.Call) -> Edit:
        """Take the last call of a chain away: `x.to(device)` is `x`."""
        if not isinstance(call.func, cst.Attribute):
            raise Unfit("no method is called")
        return Edit(Site(self.path, *self.outer(call.func.value)[2:], *self.places[call][2:]), "")

    def before(self, statement: cst.CSTNode, *lines: str) -> Edit:
        """Put lines above a statement, below the comments that stand above it."""
        line = self.top(statement)
        return Edit(Site(self.path, line, 1, line, 1), self._lines(statement, lines))

    def after(self, statement: cst.CSTNode, *lines: str) -> Edit:
        """Put lines below a statement, and below the comments at the end of its body."""
        line = self._end(statement) + 1
        return Edit(Site(self.path, line, 1, line, 1), self._lines(statement, lines))

    def remove(self, statement: cst.CSTNode) -> Edit:
        """Take a statement away, with its lines and one of the empty lines around it; its comments stay, each on a line
        of its own, but for those that tell a tool something of this line."""
        indent = self.indent(statement)
        comments = (node for node in inside(statement) if isinstance(node, cst.Comment))
        kept = sorted(comments, key=self.places.__getitem__)
        top = self.top(statement)
        text = "".join(
            f"{indent}{node.value}\n" for node in kept if self.places[node][0] >= top and not PRAGMA.match(node.value)
        )
        end = self.bottom(statement) + 1
        apart = not text and top > 1 and not "".join(self.lines[top - 2 : top - 1] + self.lines[end - 1 : end]).strip()
        return Edit(Site(self.path, top, 1, end + (apart and end < len(self.lines)), 1), text)

    def put(self, statement: cst.CSTNode, *lines: str) -> Edit:
        """Put lines in place of a statement's; a comment at its end stays behind the last of them."""
        place = self.places[statement]
        indent = self.indent(statement)
        return Edit(Site(self.path, *place), f"\n{indent}".join(texts.indented(line, indent) for line in lines))

    def top(self, statement: cst.CSTNode) -> int:
        """The first line of a statement, its decorators included."""
        decorators = getattr(statement, "decorators", ())
        return min(self.places[node][0] for node in (*decorators, statement))

    def bottom(self, statement: cst.CSTNode) -> int:
        return self.places[statement][2]

    def _end(self, statement: cst.CSTNode) -> int:
        """The last line of a statement, with the comments that stand below it as deep as what is in it."""
        end, depth = self.bottom(statement), len(self.indent(statement))
        for line in range(end + 1, len(self.lines) + 1):
            text = self.lines[line - 1]
            inner = text.lstrip()
            if inner.startswith("#") and len(text) - len(inner) > depth:
                end = line
            elif inner:
                break
        return end

    def _lines(self, statement: cst.CSTNode, lines: tuple[str, ...]) -> str:
        indent = self.indent(statement)
        return "".join(f"{indent}{texts.indented(line, indent)}\n" for line in lines)

    def fresh(self, *names: str) -> str:
        """The first of these names that is not used here, else the last of them with a number."""
        numbered = (f"{names[-1]}_{n}" for n in range(2, 1000))
        return next(name for name in (*names, *numbered) if name not in self._taken)

    @cached_property
    def _taken(self) -> set[str]:
        """The names of the function; what a statement outside of one binds the whole file can see."""
        if any(isinstance(node, cst.FunctionDef) and self.top(node) == self.first for node in self.places):
            return {*self.names}
        return {word for line in self.lines for word in WORD.findall(line)}
