"""The pytest plugin: `--syncguard` counts the waits of tests; markers `sync_free` and `sync_budget(n)` limit them.

Unless one of them is used, nothing is imported here that pytest has not imported already.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from syncguard.observe.sessions import Session
    from syncguard.observe.watch import Mode

MODES = ("auto", "cuda", "simulate")
KEY = "syncguard"
UNWATCHED = "syncguard_unwatched"
SESSION: pytest.StashKey[Session] = pytest.StashKey()
LEFT: pytest.StashKey[int] = pytest.StashKey()  # tests with a marker that nothing watched
MARKERS = (
    "sync_free: the test fails where the CPU would wait for the GPU (see --syncguard)",
    "sync_budget(n): the test fails at the wait after the first n (see --syncguard)",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("syncguard")
    # Spelled out, so that `--syncguard tests/` does not take the path for a device.
    group.addoption(
        "--syncguard", dest="syncguard", action="store_const", const="auto", default="",
        help="show where tests make the CPU wait for the GPU; simulate one where there is none",
    )  # fmt: skip
    for mode in MODES:
        group.addoption(
            f"--syncguard={mode}", dest="syncguard", action="store_const", const=mode,
            help={"auto": "the same", "cuda": "watch the GPU", "simulate": "simulate one on the CPU"}[mode],
        )  # fmt: skip
    group.addoption(
        "--syncguard-step-over", metavar="NAME", action="append", default=[],
        help="simulated: skip the calls of this module, a CUDA extension say; may be repeated",
    )  # fmt: skip
    group.addoption("--syncguard-save", metavar="FILE", default="", help="write the record of the waits as JSON")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """The device has to be there before the first test is imported: `skipif(not torch.cuda.is_available())`."""
    options = early_config.known_args_namespace
    if mode := getattr(options, "syncguard", ""):
        from syncguard.observe.sessions import Session

        session = early_config.stash[SESSION] = Session(
            cast("Mode", mode), tuple(options.syncguard_step_over), lines=bool(options.syncguard_save)
        )
        session.open()
        early_config.add_cleanup(session.close)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            # A job that takes too long is told to end: pytest closes the session, and the record is written.
            signal.signal(signal.SIGTERM, lambda number, _: pytest.exit(session.told_to_end(number), 128 + number))
            early_config.add_cleanup(_as_before)


def _as_before() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    session = item.config.stash.get(SESSION, None)
    marks = [mark for name in ("sync_free", "sync_budget") if (mark := item.get_closest_marker(name))]
    if session is not None:
        session.begin(item.nodeid)
    try:
        # Where torch was not even imported, nothing can wait.
        if marks and (session is not None or "torch" in sys.modules):
            with region(marks[-1], item) as entered:
                item.config.stash[LEFT] = item.config.stash.get(LEFT, 0) + (not entered.watched)
                return (yield)
        return (yield)
    except BaseException as fault:
        if session is not None or marks:
            from syncguard.observe.program import without_ours

            without_ours(fault)
        raise
    finally:
        if session is not None:
            session.end()
            if session.status:  # told to end, in a test that catches everything
                pytest.exit(session.ended_by, session.status)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """What pytest itself asks the device for, to show a tensor of a test that failed, is not the test's."""
    session = item.config.stash.get(SESSION, None)
    if session is None:
        return (yield)
    session.recorder.paused = True
    try:
        return (yield)
    finally:
        session.recorder.paused = False


def region(mark: pytest.Mark, item: pytest.Item) -> Any:
    """What a marker asks for."""
    from syncguard.observe.forbid import budget, forbid

    if mark.name == "sync_free":
        return forbid()
    most = mark.args[0] if mark.args else mark.kwargs.get("n")
    if not isinstance(most, int) or most < 0:
        pytest.fail(f"{item.nodeid}: sync_budget takes a number of waits: sync_budget(2)", pytrace=False)
    return budget(most)


def pytest_sessionfinish(session: pytest.Session) -> None:
    ours = session.config.stash.get(SESSION, None)
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[UNWATCHED] = session.config.stash.get(LEFT, 0)
    if ours is None:
        return
    if output is not None:
        output[KEY] = ours.sent()
    elif file := session.config.getoption("syncguard_save"):
        ours.save(file)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    session = config.stash.get(SESSION, None)
    if session is not None:
        terminalreporter.section("waits for the GPU")
        for line in session.summary(terminalreporter._tw.fullwidth):
            terminalreporter.write_line(line)
    if left := config.stash.get(LEFT, 0):
        tests = "1 test" if left == 1 else f"{left} tests"
        why = "there is no GPU here; --syncguard simulates one"
        terminalreporter.write_line(f"syncguard: of {tests} with a marker nothing was watched, for {why}")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Under pytest-xdist: take what a worker saw."""
    session = node.config.stash.get(SESSION, None)
    left = getattr(node, "workeroutput", {}).get(UNWATCHED, 0)
    node.config.stash[LEFT] = node.config.stash.get(LEFT, 0) + left
    if session is not None and (sent := getattr(node, "workeroutput", {}).get(KEY)):
        session.receive(sent)
