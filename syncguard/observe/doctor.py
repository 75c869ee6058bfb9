"""Rows and a machine -> which rows hold there: every call of a row, as the row says it and as it was found to be."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import torch

from syncguard.observe import oracles
from syncguard.observe.apart import Died, Next, apart
from syncguard.observe.measure import Answer, Real, simulated
from syncguard.observe.samples import Call, calls, explained, rows_of
from syncguard.observe.simulate.verdict import Verdict, lacks
from syncguard.pack import Pack

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Checked:
    """One call: what its row says (simulated), what the rows within say, what the device did, what the oracles say."""

    row: str
    text: str
    said: Answer | None = None
    found: Answer | None = None
    tags: tuple[str, ...] | None = None
    fake: str | None = None  # what a fake tensor refused to be read by; empty: nothing
    within: Answer | None = None  # as `said`, by the rows of what its own Python code calls

    @property
    def agrees(self) -> bool | None:
        """Did the device do what the row says? None where either is not known."""
        said, found = self.said and self.said.waited, self.found and self.found.waited
        return None if said is None or found is None else said == found


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All calls that were made, and the rows for which there is none here."""

    checked: tuple[Checked, ...]
    rows: int
    missing: tuple[str, ...]
    device: str  # "simulated" where there is no GPU
    torch: str
    date: str
    seconds: float
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def exercised(self) -> tuple[str, ...]:
        """The rows of which at least one call ran."""
        ran = {c.row for c in self.checked if c.said and c.said.waited is not None}
        return tuple(sorted(ran | {c.row for c in self.checked if c.found and c.found.waited is not None}))


def diagnose(rules: Pack, select: Iterable[str] = (), opinfo: bool = True, tell: Tell = lambda text: None) -> Diagnosis:
    """Make the calls of the selected rows (all where none is named) with every means that this machine has."""
    begin = time.perf_counter()
    checked, faults = said(rules, select, opinfo, tell)
    name = "simulated"
    if torch.cuda.is_available():
        tell("what the device does, by the clock")
        name = torch.cuda.get_device_name()
        checked = tuple(clocked(checked, select_of(rules, select), opinfo, faults))
    wanted = select_of(rules, select)
    missing = tuple(sorted(set(wanted) - {one.row for one in checked}))
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    taken = round(time.perf_counter() - begin, 1)
    return Diagnosis(checked, len(wanted), missing, name, torch.__version__, today, taken, faults)


def select_of(rules: Pack, select: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The rows with one of these names, all where there are none, each with all its names."""
    names = frozenset(select)
    return {row: spelled for row, spelled in rows_of(rules).items() if not names or names & set(spelled)}


def said(
    rules: Pack, select: Iterable[str] = (), opinfo: bool = True, tell: Tell = lambda text: None
) -> tuple[tuple[Checked, ...], dict[str, str]]:
    """All that can be said of the calls without a device, and why those that cannot be made here fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of sparse and nested tensors, of schedulers: not of waits
        return _said(rules, select_of(rules, select), opinfo, tell)


def _said(
    rules: Pack, wanted: Mapping[str, tuple[str, ...]], opinfo: bool, tell: Tell
) -> tuple[tuple[Checked, ...], dict[str, str]]:
    found: dict[tuple[str, str], Checked] = {}
    faults: dict[str, str] = {}

    def note(call: Call, **what: Any) -> None:
        key = call.row, call.text
        found[key] = replace(found.get(key, Checked(*key)), **what)

    with simulated(rules) as device:
        tell("what the rows say, on the simulated device")
        for call in made(wanted, "cuda", opinfo, faults):
            note(call, said=device.ask(call.run))
    tell("what the rows of what they call say")
    with simulated(rules, within=True) as device:
        for call in made(wanted, "cuda", opinfo, faults):
            note(call, within=device.ask(call.run))
    tell("what torch's tags say, on the CPU")
    for call in made(wanted, "cpu", opinfo, faults):
        note(call, tags=oracles.tags(call.run))
    tell("what fake tensors refuse")
    for (row, text), answer in oracles.refusals(tuple(wanted), opinfo).items():
        if (row, text) in found:
            found[row, text] = replace(found[row, text], fake=answer)
    return tuple(found.values()), faults


def clocked(
    checked: Sequence[Checked],
    wanted: Mapping[str, tuple[str, ...]],
    opinfo: bool,
    faults: dict[str, str],
    late: Callable[[], bool] = lambda: False,
) -> Iterator[Checked]:
    """The same calls with what the device did, by the clock, in a process apart; as far as there is time."""
    left = {(one.row, one.text): one for one in checked}
    for told in apart(by_clock, dict(wanted), opinfo):
        match told:
            case Died(None, how):
                raise RuntimeError(f"what asks the device {how}")
            case Died((row, text), how):
                faults[text] = how
                one = left.pop((row, text), Checked(row, text))
                yield replace(one, found=Answer(None, fault=how))
            case (str(row), str(text), Answer() as answer):
                yield replace(left.pop((row, text), Checked(row, text)), found=answer)
            case (_, str(text), str(fault)):
                faults[text] = fault
        if late():
            break
    yield from left.values()


def by_clock(about: Next, wanted: Mapping[str, tuple[str, ...]], opinfo: bool) -> Iterator[Any]:
    """In a process of its own: what the device did in each call."""
    warnings.simplefilter("ignore")
    device = Real()
    for call in calls(wanted, "cuda", opinfo, lambda row, text: about((row, text))):
        yield call.row, call.text, call.fault or device.ask(call.run)
    device.close()


def made(rows: Mapping[str, tuple[str, ...]], device: str, opinfo: bool, faults: dict[str, str]) -> Iterator[Call]:
    """The calls that can be made; the reason where one cannot."""
    for call in calls(rows, device, opinfo):
        if call.fault:
            faults[call.text] = call.fault
        else:
            yield call


def conflicts(diagnosis: Diagnosis, rules: Pack) -> Iterator[tuple[Checked, str]]:
    """The calls for which somebody says otherwise than the row, and a sentence on who; but for the explained ones."""
    reasons = explained()
    for one in diagnosis.checked:
        if (sentence := against(one, rules)) and one.text not in reasons:
            yield one, sentence


def against(one: Checked, rules: Pack) -> str:
    """Who says otherwise than the row of a call; empty: nobody."""
    row, said = rules.ops[one.row], one.said.waited if one.said else None
    if one.agrees is False:
        return f"the row says that it {_does(bool(said))}, the device {_did(not said)}"
    if said and not row.waits:
        return f"the row knows of no wait, but something that it calls has one ({', '.join(_hazards(one.said))})"
    if said is False and one.within and one.within.waited:
        return f"the row says that it does not wait, rows of what it calls do ({', '.join(_hazards(one.within))})"
    if said is False and one.fake:
        return f"the row says that it does not wait, a fake tensor (perhaps of the host) refuses {one.fake}"
    return ""


def _hazards(answer: Answer | None) -> tuple[str, ...]:
    return answer.hazards if answer else ()


def as_row(one: Checked, rules: Pack, device: str, version: str, date: str) -> str:
    """A row for a call whose row is wrong, ready to be written into rules/ops."""
    row = rules.ops[one.row]
    heard = (one.said, one.within)
    waited = one.found.waited if one.found else bool(one.fake or any(answer and answer.waited for answer in heard))
    hazards = [*_hazards(one.said), *_hazards(one.within), *(wait.hazard for wait in row.waits), "hidden-read"]
    state = "measured" if one.found else "claimed"
    where = f', device = "{device}", date = "{date}"' if one.found else ""
    lines = [f'["{one.row}"]']
    names = ", ".join(f'"{name}"' for name in row.signature)
    lines += [f"args = [{names}]"] if names else []
    lines += [f'waits = [{{ hazard = "{hazards[0]}" }}]'] if waited else ["# no waits"]
    text = one.text.replace("\\", "\\\\").replace('"', '\\"')
    lines.append(
        f'evidence = [{{ state = "{state}", torch = "{version.split("+")[0]}"{where}, at = "doctor: {text}" }}]'
    )
    return "\n".join(lines)


def silent(diagnosis: Diagnosis, rules: Pack) -> tuple[str, ...]:
    """The rows that wait with this torch, of which no call here did: its conditions were not met."""
    fired = {one.row for one in diagnosis.checked if one.said and one.said.waited}
    waits = Verdict(rules, lambda seen: None).waits
    should = (row for row in diagnosis.exercised if not all(map(lacks, waits(rules.ops[row]))))
    return tuple(row for row in should if row not in fired)


def _does(waits: bool) -> str:
    return "waits" if waits else "does not wait"


def _did(waited: bool) -> str:
    return "waited" if waited else "did not wait"
