"""A generator in a process of its own: it goes on behind what ends the process, and the clock judges what it sees."""

from __future__ import annotations

import os
import signal
import time

import pytest

from syncguard.observe.apart import Died, apart, ended


def squares(about, numbers, deadly=(), hanging=()):
    for number in numbers:
        if not about(number):
            continue
        if number in deadly:
            os.kill(os.getpid(), signal.SIGSEGV)
        if number in hanging:
            time.sleep(60)
        yield number * number


def broken(about):
    raise ValueError("before anything")
    yield


def test_all_that_is_yielded_comes():
    assert [*apart(squares, (1, 2, 3))] == [1, 4, 9]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process ends otherwise on Windows")
def test_what_ends_the_process_is_told_and_the_rest_goes_on():
    told = [*apart(squares, (1, 2, 3, 4), (1, 3))]
    assert told == [
        Died(1, "ended the process (SIGSEGV)"), 4, Died(3, "ended the process (SIGSEGV)"), 16,
    ]  # fmt: skip


def test_what_does_not_come_back_is_ended():
    assert [*apart(squares, (1, 2, 3), (), (2,), patience=8.0)] == [1, Died(2, "did not come back in 8 s"), 9]


def test_a_process_that_cannot_begin_is_not_started_again():
    (told,) = apart(broken)
    assert told == Died(None, "ended the process (exit code 1)")


@pytest.mark.parametrize(("code", "how"), [(0, ""), (None, ""), (3, "ended the process (exit code 3)")])
def test_how_a_process_ended(code, how):
    assert ended(code) == how


torch = pytest.importorskip("torch")

from syncguard.observe.measure import SLEEPS_MS, Answer, judged  # noqa: E402


class Host:
    """A call that works so long for itself, and waits or does not, behind a sleep; sometimes something holds it up."""

    def __init__(self, own: float, waits: bool, held: tuple[float, ...] = ()) -> None:
        self.own, self.waits, self.held, self.slept = own, waits, [*held], []

    def once(self, sleep: float) -> Answer:
        self.slept.append(sleep)
        own = self.own + (self.held.pop(0) if self.held else 0.0)
        taken = max(own, sleep) if self.waits else own
        return Answer(taken >= sleep, taken)


@pytest.mark.parametrize("own", [0.01, 4.0, 6.0, 12.0, 39.0, 100.0, 300.0])
@pytest.mark.parametrize("waits", [True, False])
def test_own_work_beside_the_sleep_is_no_wait(own, waits):
    host = Host(own, waits)
    if not waits or own < SLEEPS_MS[-1] / 2:  # beyond that nobody can tell
        assert judged(own, host.once).waited is (waits and own < SLEEPS_MS[-1])


def test_one_answer_is_enough_where_the_sleep_goes_on():
    host = Host(0.01, waits=False)
    judged(0.01, host.once)
    assert host.slept == [SLEEPS_MS[0]]


def test_a_host_that_was_held_up_once_is_asked_again():
    assert judged(0.01, Host(0.01, waits=False, held=(15.0,)).once).waited is False
    assert judged(0.01, Host(0.01, waits=True, held=(15.0,)).once).waited is True


def test_what_works_as_long_as_the_sleep_is_asked_behind_a_longer_one():
    host = Host(5.4, waits=True)
    assert judged(5.4, host.once).waited is True
    assert {*host.slept} == {SLEEPS_MS[0], SLEEPS_MS[1]}
