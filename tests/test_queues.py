"""A queue of Python's holds what is put into it -> what is taken out is where that is."""

from __future__ import annotations

import pytest
from checked import codes

WRITER = """
import {module} as queues
import torch

class Writer:
    def __init__(self, size):
        self.waiting = queues.{made}
        self.rows = []

    def add(self, step, value):
        kept = torch.empty((), pin_memory=True)
        kept.copy_(value.detach(), non_blocking=True)
        landed = torch.cuda.Event()
        landed.record()
        self.waiting.{put}

    def run(self):
        while (item := self.waiting.{get}) is not None:
            step, value, event = item
            event.synchronize()
            self.rows.append((step, value.item()))
"""


@pytest.mark.parametrize(
    ("module", "made", "put", "get", "found"),
    [
        ("queue", "Queue()", "put((step, kept, landed))", "get()", []),
        ("queue", "SimpleQueue()", "put_nowait((step, kept, landed))", "get_nowait()", []),
        ("queue", "Queue(maxsize=size)", "put((step, kept, landed), True, 5)", "get(timeout=5)", []),
        ("torch.multiprocessing", "Queue(size)", "put((step, kept, landed))", "get()", []),
        ("queue", "Queue()", "put((step, value, landed))", "get()", ["SG209"]),
        ("own", "Queue()", "put((step, kept, landed))", "get()", ["SG209"]),
    ],
)
def test_what_is_taken_is_where_what_was_put_is(module: str, made: str, put: str, get: str, found: list[str]) -> None:
    text = WRITER.format(module=module, made=made, put=put, get=get)
    if module == "own":  # behind the event anything may be a copy
        text = text.replace("event.synchronize()", "pass")
    assert [code for code in codes(text) if code != "SG401"] == found
