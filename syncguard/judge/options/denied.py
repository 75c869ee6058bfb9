"""A call in, whether it says by what it gives that it does not come to where a parameter must be something else out."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from syncguard.judge.around.called import LISTS, TENSOR, Ask, Called, Gift
from syncguard.judge.defaults.settled import COMPARE


def denied(call: Called, asks: Iterable[Ask]) -> bool:
    """Whether something is asked of a parameter that is otherwise, as the call writes it."""
    return any(
        gift.name == ask.name and _is_written(gift, ask) and comes_out(ask, gift) is (not ask.outcome)
        for ask in asks
        for gift in call.gives
    )


def handed_on(call: Called, asks: Iterable[Ask]) -> tuple[Ask, ...]:
    """What is asked of the caller's own parameters by that, for they are handed on."""
    own = {gift.name: gift.own for gift in call.gives if gift.own} | dict(call.hands)
    told = [ask for ask in asks if ask.name in own and (ask.name in dict(call.hands) or _for_none(ask))]
    return tuple([replace(ask, name=own[ask.name]) for ask in told])


def _for_none(ask: Ask) -> bool:
    """Whether this asks for None: another call beside that which hands it on may give anything else."""
    return ask.value is None and ((ask.what == "is" and ask.outcome) or (ask.what == "is not" and not ask.outcome))


def _is_written(gift: Gift, ask: Ask) -> bool:
    """Whether what is given is so whatever options are set: a number is one."""
    return gift.number if ask.what == TENSOR and (gift.told or gift.some) else not gift.told and not gift.own


def comes_out(ask: Ask, gift: Gift) -> bool | None:
    """How a test comes out; None where nobody can tell."""
    if ask.what == TENSOR:
        return False
    if ask.what == LISTS:
        return ask.value in gift.texts if gift.texts else None
    if gift.some:
        return ask.what == "is not" if ask.what in ("is", "is not") and ask.value is None else None
    try:
        return bool(COMPARE[ask.what](gift.value, ask.value)) if ask.what else bool(gift.value)
    except TypeError:
        return None
