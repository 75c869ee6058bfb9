"""A docstring -> the parameters that it says are tensors, and of which shape: Google's, numpy's and Sphinx's ways of
writing it."""

from __future__ import annotations

import re

KINDS = {
    "": "", "bool": "bool", "byte": "", "long": "int", "int": "int", "short": "int", "float": "float",
    "double": "float", "half": "float", "bfloat16": "float",
}  # fmt: skip
NUMBERS = {**KINDS, "boolean": "bool", "integer": "int", "uint": "int"}
LINE = re.compile(
    r"^[ \t]*(?:(?::(?:type|param)[ \t]+)?(\w+)[ \t]*[(:][ \t]*(\S[^\n]*)|:param[ \t]+(\S+)[ \t]+(\w+)[ \t]*:)",
    re.MULTILINE,
)
TENSOR = re.compile(r"\W{0,3}(?:class:)?\W{0,2}(?:torch\.)?(?:cuda\.)?([A-Z]\w*?)?Tensor\b[`'\"]{0,2}(.*)", re.DOTALL)
SAID = re.compile(  # `boxes: a float tensor of shape [N, 4]`, `image (tensor): batch x height`
    r"\W{0,2}(?:[Aa]n? |[Tt]he )?((?:(?:bool|boolean|byte|integer|long|u?int\d*|float\d*|dense|torch|pytorch|input"
    r"|output|batched|\d-?[dD]) )*)[Tt]ensor\b(?!\w|\[\[|\()(.*)",
    re.DOTALL,
)
MASK = re.compile(r"(?:a |an |\W{0,2})bool(?:ean)?\W{0,2} (?:mask|tensor)\b", re.IGNORECASE)
BOOLEAN = re.compile(
    r"(?:,|\[| of(?: d?type)?)\s*(?:torch\.)?bool(?:ean)?\b"  # (Tensor, bool)
    # (Tensor): a boolean (H, W) mask
    r"|[^:\n]*:\s*(?:(?:an?|the|optional|common|\d-?d)\s+)*\W{0,2}bool(?:ean)?\W{0,2}\s+"
    r"(?:\([^)]*\)\s+|\w+\s+)?(?:mask|tensor|flag|matrix)s?\b(?!'s)"
    r"|[^:\n]*:\s*(?:a\s+|the\s+)?tensor of (?:d?type )?\W{0,2}(?:torch\.)?bool",
    re.IGNORECASE,
)
ANOTHER = re.compile(
    r"(?:or|and|/|\|)\s*(?!\W{0,2}None\b)|,\s*(?:\w+\.)*(?:List|Tuple|Dict|list|tuple|dict|str|int|float|array|ndarray)\b"
    r"|-?(?:[Mm]odel[ -])?[Pp]arallel|(?:name|dimension|rank|core)s?\b"  # `tp_size: Tensor Parallel size`
)
SHAPE = re.compile(r"\bshape\b\W{0,4}[\[(]([^\[\]()]*)[\])](.*)")  # `tensor of shape [n, 2]`
SIZES = re.compile(r"\s*\w[\w+*/ -]*(?:,\s*\w[\w+*/ -]*)*,?\s*")
SEVERAL = re.compile(r"\W{0,4}(?:or|and|/|\|)\s|.*\bor\b\W{0,4}[\[(]|.*\bshape\b")  # `of shape (n, 2) or (2,)`


def tensors(text: str) -> dict[str, str]:
    """Parameter -> class of dtype ('bool', 'int', 'float', '' unknown) of those that are tensors and nothing else."""
    found: dict[str, str] = {}
    if "ensor" not in text and "bool" not in text:
        return found
    for match in LINE.finditer(text):
        name, said = (match[1], match[2]) if match[1] else (match[4], match[3])
        tensor = TENSOR.match(said)
        kind = KINDS.get((tensor[1] or "").lower()) if tensor else None
        if tensor and kind is not None and not ANOTHER.match(tensor[2].lstrip()):
            found.setdefault(name, kind or ("bool" if BOOLEAN.match(tensor[2]) else ""))
        elif MASK.match(said):
            found.setdefault(name, "bool")
        elif (prose := SAID.match(said)) and not ANOTHER.match(prose[2].lstrip()):
            words = prose[1].split()
            found.setdefault(
                name, next((kind for word in words if (kind := NUMBERS.get(word.rstrip("0123456789")))), "")
            )
    return found


def ranks(text: str) -> dict[str, int]:
    """Parameter -> the number of dimensions of those of which one shape is said, with all its sizes."""
    found: dict[str, int] = {}
    for match in LINE.finditer(text) if "shape" in text else ():
        shape = SHAPE.search(match[2]) if match[1] else None
        if shape and SIZES.fullmatch(shape[1]) and " x " not in shape[1] and not SEVERAL.match(shape[2]):
            found.setdefault(match[1], len(shape[1].rstrip(", ").split(",")))
    return found
