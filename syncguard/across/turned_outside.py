"""An option in, whether a file of its package sets it out: `Flags.exact = args.exact`, of what a class has for all, and
`net.sine.pulse |= True`, of what an object has."""

from __future__ import annotations

import re
from typing import Final

from syncguard.across.texts import BRINGS, Files
from syncguard.judge.options.opted import BY_DEFAULT
from syncguard.terms import Fact

OF_CLASS: Final = re.compile(r"`(?:\w+\.)*(\w+)\.(\w+)` is ")
BY_NAME: Final = re.compile(r"\bsetattr\(|\b__dict__\b|\bvars\(|\b__setattr__\(")
# What gives a class, or whatever descends from one, attributes of its own, or answers for them.
FILLS: Final = re.compile(rf"{BY_NAME.pattern}|\bdef __getattr(?:ibute)?__\b|\bdef __init_subclass__\b")
NAMES: Final = re.compile(r"\b[A-Za-z_]\w*")
# An object that is given attributes of names that nobody sees, or asked for its class to make another.
UNSEEN: Final = re.compile(
    r"\bsetattr\((?!self\b|cls\b)[^,()]+,\s*+(?![\"'])|\b(?:vars\((?!self\b)[\w.]+\)|(?<!\bself)\.__dict__)\.update\("
    r"|\btype\((?!self\b)[\w.]+\)\(|(?<!\bself)\.__class__\("
)


def turned_outside(option: Fact, path: str, files: Files) -> bool:
    """Whether one of the classes that an option of a file hangs on may be given it by somebody."""
    _, _, default = option.text.partition(BY_DEFAULT)
    return any(_is_set(owner, name, path, files) for owner, name in OF_CLASS.findall(default) if owner != "self")


def is_set(name: str, paths: list[str], files: Files) -> bool:
    """Whether one of some files gives something an attribute of this name: alone, among others, or by its name."""
    given = re.compile(
        rf"(?<!\bself)\._?{name}\b[ \t]*(?:[^\w\s=.,()\[\]<>!:]*=(?!=)|:[^=\n]*=(?!=)|(?:,[\w.\[\], *]*[ \t])=(?!=))"
    )
    text = re.compile(rf"[\"']_?{name}[\"']|\b_?{name}=")
    return any(files.has(one, given) or (files.has(one, BY_NAME) and files.has(one, text)) for one in paths)


def _is_set(owner: str, name: str, path: str, files: Files) -> bool:
    package = files.home(path)
    naming = files.naming({owner, name}, package)
    is_class = re.compile(rf"^[ \t]*class {owner}\b", re.MULTILINE)
    having = [one for one in naming[owner] if files.has(one, is_class)]
    if not having:
        return False
    by_itself = any(files.has(one, BY_NAME) or _is_filled(owner, one, package, files) for one in having)
    return (
        by_itself
        or is_set(name, naming[name], files)
        or any(_hands_on(owner, files.code(one)) for one in naming[owner])
    )


def _is_filled(owner: str, path: str, package: str, files: Files) -> bool:
    """Whether a decorator of a class, its metaclass, or a class above it gives attributes by names that nobody sees."""
    head = re.compile(rf"((?:^[ \t]*@[^\n]*\n)*)^[ \t]*class {owner}\b(?:\(([^)]*)\))?", re.MULTILINE)
    met = head.search(files.text(path))
    names = {*NAMES.findall(f"{met[1]} {met[2] or ''}")} - {owner} if met is not None else set[str]()
    naming = files.naming(names, package) if names else {}
    return any(
        files.has(one, FILLS) and files.has(one, re.compile(rf"^(?:def|class) {name}\b", re.MULTILINE))
        for name in names
        for one in naming[name]
    )


def _hands_on(owner: str, code: str) -> bool:
    """Whether some code does anything with a class but ask it for what it has, or make an object of it."""
    if re.search(rf"\b{owner}\s+as\b", code):
        return True
    return re.search(rf"(?<!class )\b{owner}\b(?!\s*[.(:\]])", BRINGS.sub("", code)) is not None
