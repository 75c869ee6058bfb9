"""What we say of the files and comments themselves: SG000 to SG004, rules without a page."""

from __future__ import annotations

from syncguard.terms import Finding, Rule, Site

HOUSE = (
    Rule("SG000", "unreadable-file", "error", (), "not checked: {reason}", ""),
    Rule(
        *("SG001", "unused-allow", "warning", ()),
        message="nothing here is reported as `{word}`, so this comment allows nothing",
        hint="Remove `{word}` from the comment",
    ),
    Rule(
        *("SG002", "misplaced-allow", "warning", ()),
        message="this comment belongs to no statement, so it allows nothing",
        hint="Put it on a line of the statement, or on a line of its own directly above",
    ),
    Rule(
        *("SG003", "unknown-allow", "warning", ()),
        message="this comment allows nothing: {reason}",
        hint="Write `# syncguard: allow[SG201] reason`; `syncguard rules` lists the rules",
    ),
    Rule(
        *("SG004", "allow-without-reason", "warning", ()),
        message="this comment does not say why the wait is allowed",
        hint="Add the reason after the bracket: `# syncguard: allow[SG201] once per epoch`",
    ),
)
CODES = {rule.code: rule for rule in HOUSE}


def finding(code: str, site: Site, **words: str) -> Finding:
    """A finding about a file or a comment; `words` fill the fields of the rule's message."""
    rule = CODES[code]
    message, hint = rule.message.format(**words), rule.hint.format(**words)
    return Finding(site, code, rule.name, "", message, hint, (), (), "unknown", "certain", rule.level)


def internal(fault: Exception) -> str:
    """An error of ours, on one line."""
    said = str(fault).split("\n", 1)[0]
    return f"internal error: {type(fault).__name__}{': ' if said else ''}{said}"


def crashed(ended: str) -> str:
    """The same of what ended the process that examined a file."""
    return f"internal error: the process that examined it ended with {ended}"


def unreadable(path: str, reason: str, line: int = 1, column: int = 1) -> Finding:
    """The finding about a file that could not be checked."""
    return finding("SG000", Site(path, line, column, line, column), reason=reason)
