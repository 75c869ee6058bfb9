"""The findings of a file in, the same findings with their fixes out. Nothing is written here."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Sequence
from contextlib import suppress

import libcst as cst
from msgspec.structs import replace

from syncguard.fix import allows, header
from syncguard.fix.apply import Overlap, applied
from syncguard.fix.known import Known
from syncguard.fix.locate import Locator, Unanchored, Unparsed
from syncguard.fix.recipe import Proposal, Unfit, recipe
from syncguard.fix.region import Region
from syncguard.fix.width import alike, narrowed
from syncguard.infer.branches.stepping import CAPTURED
from syncguard.infer.home import Home
from syncguard.infer.project import World
from syncguard.pack import Pack
from syncguard.read.source import Source
from syncguard.terms import Edit, Finding, Fix, Tier


def proposed(findings: Sequence[Finding], source: Source, home: Home, world: World, pack: Pack) -> list[Finding]:
    """Each finding with the first fix that its rule's recipes propose. Unanchored: one has no place in the tree."""
    locator = Locator(source.path, source.text)
    known: dict[int, Known] = {}
    done: list[Finding] = []
    for finding in findings:
        fix = allows.fix(finding, source)
        rule = pack.rule(finding.code)
        if rule is not None and rule.fix:
            with suppress(Unparsed):
                region = locator.region(finding.site)
                beliefs = known.setdefault(region.first, Known(region, world, home))
                fix = fixed(finding, rule.fix, region, beliefs, source)
        done.append(replace(finding, fix=fix) if fix is not None else finding)
    return done


def fixed(finding: Finding, names: tuple[str, ...], region: Region, known: Known, source: Source) -> Fix | None:
    """The first fix that is safe, else the first that can be made, else the first sketch."""
    try:
        node = region.anchor(finding.site)
    except LookupError:
        raise Unanchored(f"{finding.site}: {finding.code} stands on no node") from None
    found: dict[Tier, Fix] = {}
    resort = False
    for name in names if not scripted(node, region, known) else ():
        try:
            proposal = recipe(name)(node, finding, region, known)
        except Unfit:
            continue
        if proposal is not None and rebinds(proposal, node, region) and (by := peeked(node, region, known)):
            message = f"{proposal.message}; `{by}` may see the variables, of which some hold something else"
            proposal = replace(proposal, tier="unsafe", message=message)
        if proposal is not None and (misread(proposal, source) or uncaptured(proposal, finding)):
            continue
        fix = settled(name, proposal, source) if proposal is not None else None
        if fix is not None:
            found.setdefault(fix.tier, fix)
            resort = proposal is not None and proposal.resort
        if "safe" in found:
            break
    safe, unsafe = found.get("safe"), found.get("unsafe")
    if safe is not None and unsafe is not None and (resort or unsafe.leaves < safe.leaves):
        return replace(safe, bolder=unsafe)
    return safe or unsafe or found.get("display")


def scripted(node: cst.CSTNode, region: Region, known: Known) -> bool:
    """Whether TorchScript reads the code, which knows but a part of Python and of torch."""
    functions = [held for held in region.around(node) if isinstance(held, cst.FunctionDef)]
    return any(known.callee(one.decorator).startswith("torch.jit.") for held in functions for one in held.decorators)


def rebinds(fix: Proposal, node: cst.CSTNode, region: Region) -> bool:
    """Whether a safe fix binds a variable, or lets one hold something else for a while: it moves a read, or a line."""
    lines = any(edit.site.column == 1 or edit.text.endswith("\n") for edit in fix.edits)
    adds = any(isinstance(held, cst.AugAssign) for held in region.around(node))
    return fix.tier == "safe" and (lines or adds or fix.leaves > 0)


# What sees the variables of a function without their names; with an argument `vars` and `dir` ask of that.
PEEKING = {"locals": 0, "vars": 0, "dir": 0, "eval": 3, "exec": 3}


def peeked(node: cst.CSTNode, region: Region, known: Known) -> str:
    """What looks at all variables of the function around a node, `locals()`; '' where nothing does."""
    scope = region.scope(node)
    for call in region.calls:
        match call.func:
            case cst.Name(value=name) if name in PEEKING and len(call.args) <= PEEKING[name] and known.plain(name):
                if region.scope(call) is scope or isinstance(scope, cst.Module):
                    return f"{name}()"
    return ""


# What TorchScript has no word for, or asks the type of.
UNSCRIPTED = re.compile(r"\bpin_memory\b|\.tolist\(")
SCRIPTS = re.compile(r"\btorch\.jit\b|\bfrom torch import [^\n]*\bjit\b|torchscript|jit[- ]script", re.IGNORECASE)


def misread(fix: Proposal, source: Source) -> bool:
    """Whether a fix writes what TorchScript cannot read into a file that speaks of it: it may be scripted elsewhere."""
    return any(UNSCRIPTED.search(edit.text) for edit in fix.edits) and bool(SCRIPTS.search(source.text))


# What a graph would do again at each replay with memory that is somebody else's by then, or cannot do at all.
UNCAPTURED = re.compile(r"\bpin_memory\b|\bnon_blocking\b|\.tolist\(|\bsynchronize\b")


def uncaptured(fix: Proposal, finding: Finding) -> bool:
    """Whether a fix writes what no CUDA graph may hold where one is captured."""
    captured = any(fact.text == CAPTURED or "make_graphed" in fact.text for fact in finding.hot_path)
    return captured and any(UNCAPTURED.search(edit.text) for edit in fix.edits)


def settled(name: str, proposal: Proposal, source: Source) -> Fix | None:
    """A proposal with its imports, shown only where it would lose a comment; None where the result is no Python."""
    edits = (*proposal.edits, *header.edits(source, proposal.needs))
    try:
        text = applied(source.text, edits)
    except Overlap:
        return None
    if text == source.text or not parses(text):
        return None
    slim = narrowed(source.text, edits)
    if slim != edits and alike(text, better := applied(source.text, slim)):
        text, edits = better, slim
    tier, message = proposal.tier, proposal.message
    if tier != "display" and (source.cells or (commented(source.text, edits) and lost(source.text, text))):
        tier = "display"
        message += "; not applied, for a notebook is not rewritten" if source.cells else "; a comment would be lost"
    return Fix(name, tier, message, edits, proposal.leaves)


def parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "fixed", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def commented(text: str, edits: Sequence[Edit]) -> bool:
    """Whether the text that edits replace may hold a comment: a look before the tokens of the file are compared."""
    lines = text.split("\n")
    return any("#" in line for edit in edits for line in lines[edit.site.line - 1 : edit.site.end_line])


TYPED = re.compile(r"#\s*type:\s*(?!ignore)")


def lost(before: str, after: str) -> bool:
    """Whether a comment is gone, or stands beside another name than the one whose type it tells."""
    if "#" not in before:
        return False
    left = comments(after)
    lines = after.split("\n")
    if any(TYPED.search(line) and line not in lines for line in before.split("\n")):
        return True
    for comment in comments(before):
        if comment not in left:
            return True
        left.remove(comment)
    return False


def comments(text: str) -> list[str]:
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return [token.string for token in tokens if token.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):
        return []
