"""A record -> the sentences around its table and its page: what ran, how much it waits, what to do next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from syncguard.record import COMMANDS, Record, Static
from syncguard.show.look import plural
from syncguard.show.run.rows import (
    Row,
    brief,
    first_choice,
    free,
    hint,
    milliseconds,
    number,
    rows,
    step_ms,
    together,
    where,
)

NAMED = 3  # lines that a sentence names before it only counts
LITTLE = 0.01  # of the step: not worth a line
BUSY = 0.05  # of the step: all waits together save less
FULL = 0.9  # of the time: the device works all the time
OUTSIDE = {"first": "only in the first steps", "setup": "outside the steps", "allowed": "where it is allowed"}

TEXT = 40  # characters of a program that was given as a text


def heading(record: Record) -> str:
    """What ran where."""
    return f"{command(record)} on {setting(record)}"


def setting(record: Record) -> str:
    """The device, the versions, and how many ranks."""
    machine = record.machine
    device = "a simulated device" if machine.mode == "simulate" else machine.device or "CUDA"
    parts = [device if machine.torch else "the host alone"]
    parts += [f"{name} {version}" for name, version in _versions(record) if version]
    parts += [plural(record.world, "rank")] if record.world > 1 else []
    return ", ".join(parts)


def command(record: Record) -> str:
    """The command, without the folders of its program."""
    words = [word.rpartition("/")[2] if n == 0 else word for n, word in enumerate(record.command)]
    if words[:1] == ["-c"] and len(words) > 1:
        text = " ".join(words[1].split())
        words[1] = text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"
    return " ".join(words) or "a program"


def stepping(record: Record) -> str:
    """How many steps were counted, how they were told, and how long one takes."""
    steps = record.steps
    if not steps.counted:
        told = "; `syncguard.step()` tells where one ends" if record.machine.torch and record.machine.used else ""
        return f"No steps were told apart in {_seconds(record)}, so counts are of the whole run{told}."
    took = step_ms(record) if record.machine.mode != "simulate" else None
    what = {"optimizer": "optimizer steps", "loader": "loader batches", "user": "calls of syncguard.step()"}
    each = f" of {milliseconds(took)}" if took else ""
    warm = f" after {steps.warmup:,} for warm-up" if steps.warmup else ""
    told = f" (told by {what[steps.how]})" if steps.how in what else ""
    return " ".join([f"{plural(steps.counted, 'step')}{each} counted{warm}{told}.", *_measured(record, took)])


def _measured(record: Record, took: float | None) -> Iterator[str]:
    """Which steps that time is of, and how much of it the device worked."""
    steps, (first, last) = record.steps, record.steps.profiled or (0, 0)
    if took and last > steps.warmup:
        which = f"steps {first} to {last}" if first != last else f"step {first}"
        some = free(record, steps.device_ms or steps.host_ms)
        yield (
            f"That is the median without {which}, slowed by the profiler." if some else "The profiler slowed them all."
        )
    if steps.utilised:
        yield f"The device works for {_share(steps.utilised)} of the time."


def waiting(record: Record) -> str:
    """How often the host waits, at how many lines."""
    others = _outside(record)
    return " ".join(
        [_within(record), *([f"{'Besides, it' if _counted(record) else 'It'} waits {others}."] if others else [])]
    )


def _counted(record: Record) -> list[Row]:
    return [row for row in rows(record) if row.group in ("step", "run")]


def _within(record: Record) -> str:
    """The same of the steps; of the whole run where there are none."""
    found = _counted(record)
    often = sum(row.often for row in found)
    if not found:
        if not record.machine.used and not record.waits:
            return "Nothing was on the device, so nothing waited for it."
        others = len(record.waits)
        return "The host waits in no step." if record.steps.counted and others else "The host never waits."
    span = "a step" if record.steps.counted else "in all"
    counted = plural(int(often), "time") if often == round(often) else f"{number(often)} times"
    text = f"The host waits {counted} {span}, at {_lines(found)}"
    most, took = together(record), step_ms(record)
    if most is None:
        return f"{text}."
    if took and most.saved_ms < BUSY * took:
        return f"{text}; without them all a step would be {milliseconds(max(most.saved_ms, 0.0))} shorter."
    share = f" ({most.saved_ms / took:.0%})" if took else ""
    return f"{text}; without them all a step would be {milliseconds(most.saved_ms)} shorter{share}."


def _outside(record: Record) -> str:
    """How often it waits where that counts for no step: nothing where it does not."""
    said = []
    for group, moment in OUTSIDE.items():
        if found := [row for row in rows(record) if row.group == group]:
            said.append(f"{plural(sum(row.wait.count for row in found), 'time')} {moment} ({_lines(found)})")
    return " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:])))


def _lines(found: Sequence[Row]) -> str:
    return plural(len({where(row.place) for row in found}), "line")


def ending(record: Record) -> str:
    """How the program ended where that was not as it should; else nothing."""
    if record.complete and record.ended in ("", "exit 0"):
        return ""
    partial = "" if record.complete else "; what is shown is what ran until then"
    return f"The program ended with {record.ended}{partial}."


def unseen(record: Record) -> tuple[str, ...]:
    """What the run could not see."""
    simulated = record.machine.mode == "simulate"
    return (
        *(["The device was simulated: counts and lines are real, times are not, and so are not shown."] * simulated),
        *record.notes,
    )


def what_ifs(record: Record) -> tuple[str, ...]:
    """What the removal of some waits together would save of a step, the most first; nothing that is too little."""
    took, most = step_ms(record), together(record)
    ranked = sorted(record.what_if, key=lambda what: (-what.saved_ms, len(what.waits)))
    said = []
    for what in ranked:
        if what.saved_ms <= 0 or (took and what.saved_ms < LITTLE * took):
            continue
        share = f" ({what.saved_ms / took:.0%})" if took else ""
        every = what is most and len(what.waits) > NAMED
        lines = f"all {len(what.waits):,} waits" if every else names(record, what.waits)
        said.append(f"{milliseconds(what.saved_ms)}{share} less without {lines}")
    if said or not ranked:
        return (*said,)
    little = took and ranked[0].saved_ms > 0
    return (f"{f'less than {LITTLE:.0%} of a step' if little else 'nothing'} is saved without these waits",)


def counted(record: Record) -> str:
    """What the what-ifs count; nothing where there are none."""
    if not any(what.saved_ms > 0 for what in record.what_if):
        return ""
    calls = max(what.calls_ms for what in record.what_if)
    if not calls:
        return "Only the waiting is counted. The call that waits takes the host time besides: more may be saved."
    return (
        f"The waiting is counted, and of what only reads a number the rest of its call: {milliseconds(calls)} of the "
        "host's time a step in all. Of other calls it is the waiting alone, for a rewrite has work of its own."
    )


def names(record: Record, waits: Sequence[int]) -> str:
    """The lines of some waits, by number, the first few by name."""
    found = [row for row in rows(record) if row.number in frozenset(waits)]
    places = list(dict.fromkeys(f"`{brief(row.place)}`{_backward(row)}" for row in found))
    if len(places) > NAMED + 1:
        return f"{', '.join(places[:NAMED])} and {len(places) - NAMED:,} other lines"
    return " and ".join([", ".join(places[:-1]), places[-1]]) if len(places) > 1 else "".join(places)


def checked(record: Record) -> str:
    """What became of the static findings, and how many waits none of them told; nothing where none were joined. What is
    only possible counts apart: `check` shows it where it is asked to."""
    missed = sum(wait.static == "missed-alarm" for wait in record.waits)
    if not record.findings and not any(wait.static for wait in record.waits):
        return ""
    sure = [finding for finding in record.findings if finding.confidence != "possible"]
    doubted = [finding for finding in record.findings if finding.confidence == "possible"]
    besides = f"; besides, {plural(missed, 'missed alarm')}" if missed else ""
    said = [f"Of {plural(len(sure), 'static finding')}: {_verdicts(sure)}{besides}."]
    if doubted:
        said.append(
            f"Of {len(doubted):,} that {'is' if len(doubted) == 1 else 'are'} only possible: {_verdicts(doubted)}."
        )
    untold = sum(wait.static.startswith("depends-on-") for wait in record.waits)
    if untold:
        depend = "waits depend" if untold > 1 else "wait depends"
        said.append(f"{untold:,} {depend} on sizes or layouts, which `check` does not read.")
    return " ".join(said)


def _verdicts(findings: Sequence[Static]) -> str:
    found = Counter(finding.verdict for finding in findings)
    nouns = {"confirmed": "{} confirmed", "false-alarm": "{} false alarm{s}", "untested": "{} untested"}
    return ", ".join(
        text.format(f"{found[key]:,}", s="" if found[key] == 1 else "s") for key, text in nouns.items()
        if found[key] or key == "confirmed"
    )  # fmt: skip


def of_verdict(record: Record, verdict: str) -> tuple[Static, ...]:
    """The static findings with a verdict, in order of place."""
    found = (finding for finding in record.findings if finding.verdict == verdict)
    return tuple(sorted(found, key=lambda f: (f.place.path, f.place.line, f.code)))


def advice(record: Record) -> str:
    """What to do next, in a sentence or two."""
    machine = record.machine
    found = [row for row in rows(record) if row.group in ("step", "run")]
    found.sort(key=lambda row: (not row.place.path, row.wait.verdict == "gpu-bound"))
    if not found:
        if record.ended.startswith("exception ModuleNotFoundError"):
            return "A program runs in the environment of SyncGuard: install it in the one that has what is imported."
        if COMMANDS in record.notes:
            return "Let what it starts run SyncGuard in its turn, as in `torchrun -m syncguard run train.py`."
        if ending(record):
            return "Let the program run to its end, so that a clean result means something."
        if not machine.torch:
            return "Run a program that imports torch."
        if not machine.used and not (machine.mode == "cuda" and machine.device):
            return "Let the program put its tensors on the device: no tensor was there, so nothing could wait."
        place = "in the steps" if record.waits else "here"
        return f"Nothing to remove {place}. `--budget 0` keeps it so in CI."
    if machine.mode == "simulate":
        return f"{_begin(found[0])} Where there is a GPU, run it there to see what each wait costs."
    best, took = first_choice(record), step_ms(record)
    if record.what_if and (best is None or (took and best.saved_ms < LITTLE * took)):
        return _nothing_saved(record.steps.utilised)
    if best is not None:
        lead = next((row for row in found if row.number in best.waits), found[0])
        tail = f" `{brief(lead.place)}` first: {_hinted(lead)}" if len(best.waits) > 1 else f" {_hinted(lead)}"
        lines = names(record, best.waits)
        both = " together" if len(best.waits) > 1 else ""
        return f"Next: remove {lines}{both}, which saves {milliseconds(best.saved_ms)} a step.{tail}".rstrip()
    return _begin(found[0])


def _nothing_saved(utilised: float) -> str:
    """What to do where the removal of waits saves nothing, by how much of the time the device works (0: not known)."""
    if not 0 < utilised < FULL:
        busy = "The device is busy all the same: removing" if utilised else "Removing"
        return f"{busy} these waits saves nothing that can be measured. Leave them."
    return (
        f"The device works for {_share(utilised)} of the time, but these waits are not why: the host is slow to queue "
        "its work, and would be as slow without them. Queue less first: larger batches, fused operations, or a CUDA "
        'graph (`torch.compile(mode="reduce-overhead")`), for which the waits must go.'
    )


def _share(part: float) -> str:
    return f"{part:.0%}" if part >= 0.01 else "less than 1%"


def _backward(row: Row) -> str:
    return " in backward" if row.wait.phase == "backward" else ""


def _begin(row: Row) -> str:
    if not row.place.path:
        return f"Next: `{row.wait.kind or row.wait.op}` has no Python line; a profile with stacks shows who calls it."
    led = f", to which `{brief(row.wait.entrances[0])}` leads" if row.wait.entrances else ""
    return f"Next: begin with `{brief(row.place)}`{led}. {_hinted(row)}".rstrip()


def _hinted(row: Row) -> str:
    text = hint(row.wait)
    return f"{text.rstrip('.')}." if text else ""


def _versions(record: Record) -> tuple[tuple[str, str], ...]:
    machine = record.machine
    return (("torch", machine.torch), ("CUDA", machine.cuda), ("driver", machine.driver), ("Python", machine.python))


def _seconds(record: Record) -> str:
    return f"{record.seconds:.3g} s"
