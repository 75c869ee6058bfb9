"""Records to show: of a GPU, simulated, empty, of several ranks, with thousands of waits, with nasty text."""

from __future__ import annotations

from dataclasses import dataclass

from syncguard.record import VERSION, Machine, Place, Record, Span, Static, Steps, Wait, WhatIf

LOSS = """\
import torch
import torch.nn.functional as F


def loss(logits, labels, limit):
    keep = torch.nonzero(labels != 0).squeeze(1)
    classes = torch.unique(labels)
    picked = logits[labels != 0]
    value = F.cross_entropy(picked, labels[keep])
    if value > limit:
        value = limit
    return value / classes.numel()
"""
TRAIN = """\
import torch
from loss import loss

model = torch.nn.Linear(64, 8, device="cuda")
best = float(model.weight.abs().max())
total = 0.0
for step, (x, y) in enumerate(loader):
    value = loss(model(x), y, limit)
    value.backward()
    optimizer.step()
    total += value.item()
    if step % 10 == 0:
        print(f"{step}: {value}")
torch.save(model.state_dict(), "model.pt")
"""
FILES = {"loss.py": LOSS, "train.py": TRAIN}


def lines(path: str) -> tuple[str, ...]:
    """The lines of the files that the records here speak of."""
    return tuple(FILES[path].split("\n")) if path in FILES else ()


def place(path: str, line: int, text: str, function: str = "") -> Place:
    """The place of a text on a line of FILES."""
    source = FILES[path].split("\n")[line - 1]
    start = source.index(text) + 1
    return Place(path, line, start, line, start + len(text), function, source)


@dataclass(frozen=True)
class Cost:
    """One wait of the GPU record: what it is, when, and what it takes (microseconds each time)."""

    path: str
    line: int
    text: str
    op: str
    hazard: str
    code: str
    wait: float
    bubble: float
    verdict: str


COSTS = (
    Cost("loss.py", 6, "torch.nonzero(labels != 0)", "torch.nonzero", "nonzero", "SG101", 4210.0, 2890.0, "host-bound"),
    Cost("loss.py", 7, "torch.unique(labels)", "torch.unique", "unique", "SG104", 1320.0, 1180.0, "host-bound"),
    Cost("loss.py", 8, "logits[labels != 0]", "torch.Tensor.__getitem__", "mask-read", "SG102", 310.0, 260.0,
         "host-bound"),
    Cost("loss.py", 10, "value > limit", "torch.Tensor.__bool__", "tensor-as-condition", "SG204", 620.0, 540.0,
         "true-dependency"),
    Cost("train.py", 11, "value.item()", "torch.Tensor.item", "accumulated-read", "SG209", 5100.0, 0.0, "gpu-bound"),
)  # fmt: skip
WARMUP, COUNTED = 3, 20
CHECKED = (*("confirmed",) * 4, "missed-alarm")


def gpu() -> Record:
    """A run on a GPU: times, what-ifs, a timeline of three steps, static verdicts."""
    every = tuple((n, 1) for n in range(1, WARMUP + COUNTED + 1))
    function = {"loss.py": "loss"}
    waits = [
        Wait(
            place(c.path, c.line, c.text, function.get(c.path, "")), c.op, c.hazard, "cudaStreamSynchronize", c.code,
            stack=(place("train.py", 8, "loss(model(x), y, limit)"),) if c.path == "loss.py" else (),
            count=len(every), steps=every, wait_us=(c.wait * 0.9, c.wait, c.wait * 1.1),
            bubble_us=(c.bubble * 0.8, c.bubble, c.bubble * 1.2), verdict=c.verdict, static=static,
        )
        for c, static in zip(COSTS, CHECKED, strict=True)
    ]  # fmt: skip
    mask = place("loss.py", 8, "logits[labels != 0]", "loss")
    waits += [
        Wait(place("train.py", 9, "value.backward()"), "torch.Tensor.__getitem__", "mask-read", "memcpy DtoH", "SG102",
             "backward", mask, count=len(every), steps=every, wait_us=(120.0,), bubble_us=(95.0,),
             verdict="host-bound", static="confirmed"),
        Wait(place("train.py", 13, 'f"{step}: {value}"'), "torch.Tensor.__format__", "print-tensor", "memcpy DtoH",
             "SG206", count=3, steps=((1, 1), (11, 1), (21, 1)), wait_us=(900.0,), bubble_us=(0.0,),
             verdict="gpu-bound", allowed="a line every ten steps"),
        Wait(place("train.py", 10, "optimizer.step()"), "torch.optim.Adam.step", "unpredicted",
             "cudaMalloc", "", "optimizer", count=2, steps=((1, 2),)),
        Wait(place("train.py", 5, "float(model.weight.abs().max())"), "builtins.float", "python-number",
             "memcpy DtoH", "SG203", count=1),
    ]  # fmt: skip
    return Record(
        VERSION, "syncguard 0.1.0",
        Machine("cuda", "NVIDIA H200", "2.13.0", "3.11.7", "13.0", "580.95", "Linux-6.8"),
        ("train.py", "--limit", "4"), "/home/ada/seg", "2026-11-21T04:00:00Z", 12.5,
        steps=Steps("optimizer", WARMUP, COUNTED, (15.4,) * (WARMUP + COUNTED), (15.2,) * (WARMUP + COUNTED)),
        waits=tuple(waits), executed={"loss.py": ((1, 10), (12, 12)), "train.py": ((1, 14),)},
        timeline=timeline(3),
        what_if=(
            WhatIf((0, 1, 2, 3, 4, 5), 10.9, 4.3), WhatIf((0, 1), 11.6, 3.6), WhatIf((0, 1, 3), 11.1, 4.1),
            WhatIf((0,), 13.4, 1.8), WhatIf((1,), 14.5, 0.7), WhatIf((2,), 15.1, 0.1), WhatIf((3,), 14.9, 0.3),
            WhatIf((4,), 15.2, 0.0), WhatIf((5,), 15.15, 0.05),
        ),
        findings=(
            *(Static(w.place, w.code, f"`{w.op}` waits for the device", "confirmed", (n,))
              for n, w in enumerate(waits[:4])),
            Static(place("loss.py", 11, "limit"), "SG203", "`limit` is read by the host", "untested"),
            Static(place("train.py", 14, "model.state_dict()"), "SG202", "`state_dict` copies to the host",
                   "false-alarm"),
        ),
        notes=("Waits inside the allocator have no Python line: 2 in all.",),
    )  # fmt: skip


def timeline(steps: int) -> tuple[Span, ...]:
    """Steps in which the host queues kernels and waits, and the device works or is idle."""
    spans: list[Span] = []
    now = busy = 0.0
    for step in range(steps):
        begin = now
        for n, cost in enumerate(COSTS):
            for k in range(24):
                name = ("aten::conv2d", "aten::add_", "aten::relu", "aten::mm")[k % 4]
                spans.append(Span("host", name, now, 18.0, thread="main"))
                start = max(now + 20.0, busy)
                if start > busy + 30 and busy:
                    spans.append(Span("idle", "idle", busy, start - busy))
                kernel = f"void kernel_{name[6:]}<float, {k}>"
                spans.append(Span("gpu", kernel, start, 78.0 + k, thread="0:7"))
                busy = start + 78.0 + k
                now += 22.0
            length = max(busy - now, 0.0) + 25.0
            spans.append(Span("wait", "cudaStreamSynchronize", now, length, n, "main"))
            spans.append(Span("copy", "Memcpy DtoH (Device -> Pageable)", busy, 4.0, thread="0:7"))
            busy += 4.0
            now += length + cost.bubble
        spans.append(Span("step", f"step {step + 4}", begin, now - begin))
    return tuple(sorted(spans, key=lambda s: s.start_us))


def simulated() -> Record:
    """A run without a GPU: lines and counts, and no times."""
    every = tuple((n, 1) for n in range(1, 6))
    waits = tuple(
        Wait(place(c.path, c.line, c.text), c.op, c.hazard, "simulated", c.code, count=5, steps=every)
        for c in COSTS
    )  # fmt: skip
    return Record(
        VERSION, "syncguard 0.1.0", Machine("simulate", "simulated", "2.13.0", "3.11.7"), ("train.py",), "/home/ada",
        seconds=2.5, steps=Steps("optimizer", 1, 4), waits=waits,
    )  # fmt: skip


def empty() -> Record:
    """A run that never waits."""
    return Record(
        VERSION, "syncguard 0.1.0", Machine("simulate", "simulated", "2.13.0", "3.11.7"), ("train.py",), seconds=1.0,
        steps=Steps("optimizer", 1, 4),
    )  # fmt: skip


def ranked() -> Record:
    """Two of four ranks wait."""
    every = ((1, 1), (2, 1))
    waits = tuple(
        Wait(place(c.path, c.line, c.text), c.op, c.hazard, "simulated", c.code, count=2, steps=every, ranks=who)
        for c, who in zip(COSTS, ((0, 1, 2, 3), (0,), (0, 1, 3), (2, 3), (0, 1, 2, 3)), strict=True)
    )  # fmt: skip
    return Record(
        VERSION, "syncguard 0.1.0", Machine("simulate"), ("train.py",), world=4, steps=Steps("optimizer", 0, 2),
        waits=waits,
    )  # fmt: skip


def large(count: int = 5000) -> Record:
    """As many waits as asked for, in fifty files, each in the timeline."""
    text = "    value = total[index].item() + float(total.sum())"
    waits = tuple(
        Wait(
            Place(f"package/module_{n % 50}.py", n // 50 + 1, 13, n // 50 + 1, 32, f"step_{n % 7}", text),
            "torch.Tensor.item", "item", "memcpy DtoH", "SG201", count=10, steps=tuple((k, 1) for k in range(1, 11)),
            wait_us=(float(10 + n % 97),), bubble_us=(float(n % 89),), verdict="host-bound",
        )
        for n in range(count)
    )  # fmt: skip
    spans = [
        span
        for n in range(count)
        for span in (
            Span("host", "aten::sum", n * 100.0, 30.0, thread="main"),
            Span("wait", "memcpy DtoH", n * 100.0 + 30, 10.0 + n % 60, n, "main"),
            Span("gpu", "reduce_kernel", n * 100.0 + 8, 30.0, thread="0:7"),
            Span("idle", "idle", n * 100.0 + 38, 70.0),
        )
    ]
    return Record(
        VERSION, "syncguard 0.1.0", Machine("cuda", "NVIDIA H200", "2.13.0", "3.11.7"), ("train.py",),
        steps=Steps("optimizer", 0, 10, (500.0,) * 10), waits=waits, timeline=tuple(spans),
        what_if=(WhatIf(tuple(range(count)), 300.0, 200.0), WhatIf((0,), 499.0, 1.0)),
    )  # fmt: skip


NASTY = "</script><script>alert(1)</script><!-- <b>&amp; \u2028 'x' \"y\" 日本語 \x1b[31m {{ 7 * 7 }}"


def nasty() -> Record:
    """Text that a page or a terminal must not obey, a line of 5,000 characters, a file that is gone."""
    long = "value = " + "x + " * 1250 + NASTY
    waits = (
        Wait(Place(f"{NASTY}.py", 3, 1, 3, 12, NASTY, NASTY), NASTY, "item", "memcpy DtoH", "SG201", count=2),
        Wait(Place("gone.py", 9, 9, 9, 5000, "f", long), "torch.Tensor.item", "item", "memcpy DtoH", "SG201", count=2,
             allowed=NASTY),
        Wait(Place("", 0), "cudaMalloc", "unpredicted", "cudaMalloc", count=4),
    )  # fmt: skip
    return Record(
        VERSION, "syncguard 0.1.0", Machine("cuda", NASTY), ("train.py", NASTY), waits=waits, complete=False,
        ended=f"exception ValueError: {NASTY}", notes=(NASTY,),
        timeline=(Span("wait", NASTY, 0.0, 5.0, 0), Span("gpu", NASTY, 6.0, 5.0)),
        findings=(Static(Place("gone.py", 4, 1, 4, 2, "", NASTY), "SG201", NASTY, "untested"),),
    )  # fmt: skip
