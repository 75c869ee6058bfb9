"""Marks of optimizers, loaders and the user -> steps."""

from __future__ import annotations

import pytest

from syncguard.observe.steps import Clock, Mark, aligned, measured, told, within


def clock(text: str) -> Clock:
    """`o` and `p` are optimizers, `a` and `b` loaders, `A` and `B` their ends, `u` the user's word."""
    made = Clock()
    kinds = {"o": ("optimizer", 1), "p": ("optimizer", 2), "u": ("user", 0), "a": ("next", 1), "b": ("next", 2),
             "A": ("end", 1), "B": ("end", 2)}  # fmt: skip
    made.started = 0.0
    made.marks = [Mark(*kinds[letter], float(n + 1)) for n, letter in enumerate(text)]
    return made


def steps(text: str) -> str:
    """The step of each moment: before the first mark, and after each."""
    return "".join(map(str, told(clock(text)).steps))


def test_without_marks_there_are_no_steps():
    assert steps("") == "0"
    assert told(clock("")).how == "none"


def test_an_optimizer_ends_a_step_and_what_follows_the_last_is_in_none():
    assert steps("ooo") == "1230"
    assert told(clock("ooo")).spans == ((0.0, 1.0), (1.0, 2.0), (2.0, 3.0))


def test_of_two_optimizers_the_first_counts():
    assert steps("opopop") == "1223300"


def test_an_optimizer_that_goes_on_alone_takes_over():
    assert told(clock("oppp")).total == 3


def test_trainings_that_follow_one_another_keep_all_of_their_steps():
    assert told(clock("ooopp")).total == 5
    assert told(clock("opop")).total == 2


def test_a_loader_that_feeds_steps_begins_them():
    assert steps("aoaoA") == "011220"
    assert told(clock("aoaoA")).spans == ((1.0, 3.0), (3.0, 5.0))


def test_gradients_may_be_accumulated():
    assert steps("aaoaaoA") == "01112220"


def test_a_validation_between_steps_is_in_none():
    assert steps("aoaobbBaoA") == "01122000330"


def test_a_loader_may_be_asked_ahead():
    assert steps("aaoaoaoAo") == "0111223344"
    assert steps("aaoaoAobBaaoaoAo") == "01112233004445566"


def test_two_loaders_may_feed_one_step():
    assert steps("aboaboaboA") == "01112223330"


def test_batches_after_the_last_step_are_in_none():
    assert steps("aoaoAaaA") == "011220000"


def test_loaders_alone_tell_steps():
    assert steps("aaAaA") == "012030"
    assert told(clock("aaAaA")).how == "loader"
    assert told(clock("aaAaA")).spans == ((1.0, 2.0), (2.0, 3.0), (4.0, 5.0))


def test_a_loader_that_has_no_more_begins_no_step():
    made = Clock()
    for mark in clock("aa").marks:
        made.mark(mark.kind, mark.which)
    made.end(1)
    made.mark("next", 1)
    made.mark("next", 2)
    made.end(1)  # asked in another thread
    assert [mark[:2] for mark in made.marks] == [mark[:2] for mark in clock("aAabA").marks]
    assert made.now == 5


def test_a_limit_does_not_count_what_was_asked_for_and_not_there():
    made = Clock()
    made.limit = 3
    for _ in range(3):
        made.mark("next", 1)
        made.mark("next", 1)
        made.end(1)
    assert [mark[:2] for mark in made.marks] == [mark[:2] for mark in clock("aAaAaA").marks]
    assert told(made).total == 3


def test_the_users_word_comes_first():
    assert told(clock("aouaouA")).how == "user"
    assert steps("aouaouA") == "01122200"


def test_a_validation_is_in_no_step_of_the_users_either():
    assert steps("aouaoubbBaouA") == "01122230003300"


def test_what_may_come_after_an_unmarked_end_is_known():
    assert told(clock("aoaoA")).tail == -1
    assert told(clock("aoao")).tail == 4
    assert told(clock("aaa")).tail == 3
    assert told(clock("ao")).tail == -1  # what only one step has is no less of it for coming late
    assert told(clock("ooo")).tail == -1


def test_the_warm_up_leaves_one_step():
    assert measured(told(clock("ooo")), 1).counted == 2
    few = measured(told(clock("oo")), 5)
    assert (few.warmup, few.counted, len(few.host_ms)) == (1, 1, 1)
    none = measured(told(clock("")), 5)
    assert (none.how, none.warmup, none.counted) == ("none", 0, 0)


@pytest.mark.parametrize(
    ("text", "kept"), [("opopop", "opo"), ("aoaoao", "aoaoA"), ("aoaoAao", "aoaoA"), ("aaaa", "aaA"), ("aaA", "aaA"),
                       ("aouaouaou", "aouaou"), ("oo", "oo")]
)  # fmt: skip
def test_a_limit_keeps_so_many_steps_and_all_of_the_last(text, kept):
    made, whole = Clock(), clock(text)
    made.limit = 2
    for mark in whole.marks:
        made.mark(mark.kind, mark.which)
    assert [mark[:2] for mark in made.marks] == [mark[:2] for mark in clock(kept).marks]
    assert made.ended
    assert told(made).total == 2


def test_the_times_of_the_device_are_those_of_the_counted_steps():
    steps = told(clock("ooooo"))  # ended at 1, 2, 3, 4 and 5; a step of the device begins just after each end
    begins, times = (1.01, 2.01, 3.01, 4.01), (10.0, 20.0, 30.0, 40.0)
    assert aligned(steps, 1, begins, times) == times
    assert aligned(steps, 3, begins, times) == (30.0, 40.0)
    assert aligned(steps, 3, begins[:3], times[:3]) == (30.0,)  # the end of the last was not seen
    assert aligned(steps, 1, (), ()) == ()


def test_a_stretch_of_time_falls_in_steps():
    steps = told(clock("ooooo"))
    assert within(steps, 2.02, 3.5) == (3, 4)
    assert within(steps, 2.02, 2.5) == (3, 3)
    assert within(steps, 0.0, 0.0) == ()
