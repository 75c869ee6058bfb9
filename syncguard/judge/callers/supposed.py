"""A finding in, out as one of what runs seldom where nothing but a question of its own code says that there is a
tensor: who asks takes other things as well, and nobody is seen to give one."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from syncguard.terms import Fact, Finding

TESTED: Final = " was tested to be a tensor"  # what begins such a chain; the next go on with it
FOLLOWS: Final = (" is the result of `", "iterating over a tensor gives tensors")
UNSEEN: Final = "but only for a tensor, which nothing is seen to give"


def unless_given(finding: Finding) -> Finding:
    """The finding, where something gives a tensor, or runs it at every step; else as one of what runs now and then."""
    first, *more = finding.because or (Fact("", 0),)
    if finding.heat != "unknown" or not first.text.endswith(TESTED):
        return finding
    if not all(any(part in fact.text for part in FOLLOWS) for fact in more):
        return finding
    return replace(finding, heat="amortized", hot_path=(Fact(UNSEEN, 0),))
