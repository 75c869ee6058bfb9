"""The options that several places stand behind in, those out that all of them have in common: where they have none, but
each has one, that one of these is set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from syncguard.judge.around.chosen import ASKED
from syncguard.judge.options.opted import BY_DEFAULT, ONLY
from syncguard.terms import Fact

MOST: Final = 3  # options of which one must be set
OR: Final = " or "


def common(every: Sequence[tuple[Fact, ...]]) -> tuple[Fact, ...]:
    """What all places have in common, or else that one of their options is set."""
    return shared_by_all(every) or either(every)


def shared_by_all(every: Iterable[tuple[Fact, ...]]) -> tuple[Fact, ...]:
    """The facts that all of these hold, once each; no more are asked for once nothing is left. What an option is by
    default is only said where all say something."""
    asked = iter(every)
    kept = {test_of(fact.text): fact for fact in next(asked, ())}
    while kept and (facts := next(asked, None)) is not None:
        texts = {test_of(fact.text): fact.text for fact in facts}
        kept = {test: _as_both(fact, texts[test]) for test, fact in kept.items() if test in texts}
    return tuple(kept.values())


def _as_both(fact: Fact, text: str) -> Fact:
    """One of two facts of the same test, with what each says that its options are by default."""
    test, _, default = fact.text.partition(BY_DEFAULT)
    other = text.partition(BY_DEFAULT)[2]
    if not default or not other:
        return replace(fact, text=test)
    return fact if other in default else replace(fact, text=f"{fact.text} and {other}")


def test_of(text: str) -> str:
    """What is said of an option, but for what it is by default."""
    return text.partition(BY_DEFAULT)[0]


def question_of(text: str) -> str:
    """What an option asks for: of what may be None, whether it is there and whether it holds is one question."""
    test = test_of(text).replace(" is not None` holds", "` holds").replace(" is None` does not hold", "` holds")
    return f"{test.removesuffix(' is not None')} holds" if test.endswith("` is not None") else test


def either(every: Sequence[tuple[Fact, ...]]) -> tuple[Fact, ...]:
    """That one of the options is set that are nearest to each place; nothing where one has none, or all have many."""
    if not every or not all(every):
        return ()
    first = {fact.text: fact for fact in map(_nearest, every)}
    alone = all(text.startswith(ONLY) and OR not in text and ASKED not in text for text in first)
    if not 1 < len(first) <= MOST or not alone:
        return ()
    parts = [text.removeprefix(ONLY).partition(BY_DEFAULT) for text in first]
    tests = OR.join(dict.fromkeys([test for test, _, _ in parts]))
    defaults = [default for _, _, default in parts]
    told = f"{BY_DEFAULT}{' and '.join(dict.fromkeys(defaults))}" if all(defaults) else ""
    return (replace(next(iter(first.values())), text=f"{ONLY}{tests}{told}"),)


def told_by(option: Fact, others: Iterable[Fact]) -> bool:
    """Whether one of several options that an option says must be set is among others."""
    tests = option.text.partition(ONLY)[2].partition(BY_DEFAULT)[0].split(OR)
    asked = [one.text.partition(ONLY)[2].partition(BY_DEFAULT)[0] for one in others]
    return len(tests) > 1 and any(test in asked for test in tests)


def _nearest(facts: tuple[Fact, ...]) -> Fact:
    """The last option that is off by default, or else the last."""
    off = [fact for fact in facts if BY_DEFAULT in fact.text]
    return (off or facts)[-1]
