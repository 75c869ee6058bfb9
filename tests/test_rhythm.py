"""What a loop of steps does only now and then, by whatever tells the turns apart; and what looks like it and is not."""

from __future__ import annotations

import pytest
from checked import findings

TURN = """\
    for step, x in enumerate(loader):
        loss = model(x.cuda(non_blocking=True)).sum()
        loss.backward()
        optimizer.step()
        TEST
            loss.item()
"""
LOOP = """
import argparse
import random
import time
from datetime import datetime
from time import perf_counter as clock

import numpy as np
import torch


class Every:
    def __init__(self, n):
        self.n = n

    def __call__(self, step):
        if self.n is None:
            return False
        every = self.n // 2
        if step % every == 0:
            return True
        return False


every = Every(10)


MARKED = range(1_000_000)


def ripe(step, n=10):
    return step % n == 0


class Pace:
    def __init__(self, n, marked):
        self.n, self.marked = n, marked
        self.step = self.last = 0

    @property
    def due(self):
        return self.n > 0 and self.step % self.n == 0

    @property
    def early(self):
        return self.step < self.n

    def picks(self, step):
        if (step % self.n == 0 or step in self.marked) and step > 0:
            return True
        return False

    def names(self, step):
        found = step % self.n == 0
        return found

    def raises(self, step):
        found = False
        if step % self.n == 0:
            found = True
        return found

    def follows(self, step):
        if step - self.last >= self.n:
            self.last = step
            return True
        return False

    def improves(self, score):
        if score - self.last >= self.n:
            self.last = score
            return True
        return False


pace = Pace(10, [3, 5])
single = Pace(1, ())
parser = argparse.ArgumentParser()
parser.add_argument("--print-freq", type=int, default=1)
parser.add_argument("--save-freq", type=int, default=10)
parser.add_argument("--often", nargs="*")


class Ripe:
    def __init__(self, n=1):
        self.n = n

    def __call__(self, step):
        return step % self.n == 0


ripest = Ripe()
riper = Ripe(5)


def odd(step):
    for n in (1, 2):
        if step > n:
            return True
    return step % 10 == 0


def fit(model, loader, optimizer, args, enough, total=100):
    last = start = time.time()
    count = coming = seen = 0
    up = False
"""


@pytest.mark.parametrize(
    "test",
    [
        "if step in args.marked:",
        "if step in (0, 100):",
        "if step == len(loader) - 1:",
        "if step + 1 == len(loader):",
        "last_one = step == total - 1\n        if last_one or step % 10 == 0:",
        "if np.mod(step, 10) == 0:",
        "if (step & (step - 1)) == 0:",
        "if not step & (step - 1):",
        "if not step & 63:",
        "if divmod(step, 10)[1] == 0:",
        "if step % args.every < 1:",
        "seen += x.shape[0]\n        if seen % 10000 < x.shape[0]:",
        "show = True if step % 10 == 0 else False\n        if show:",
        "show = bool(step % 10 == 0)\n        if show:",
        "show = False\n        if step % 10 == 0:\n            show = True\n        if show:",
        "if time.time() - last > 10:\n            last = time.time()",
        "now = clock()\n        if now > last + 10:\n            last = now",
        "if (datetime.now() - last).seconds > 10:\n            last = datetime.now()",
        "if time.time() - last < 10:\n            continue\n        last = time.time()\n        if True:",
        "if 10 < time.time() - last:\n            last += 10",
        "if time.time() - args.last > 10:",
        "if random.random() < 0.01:",
        "if np.random.rand() > 0.95:",
        "count += 1\n        if count >= args.every:\n            count = 0",
        "count += 1\n        if count == 10:\n            count = 0",
        "if step >= args.max_steps:",
        "final = step + 1 >= args.total_train_steps\n        if final or step % 10 == 0:",
        "if step < args.max_steps:\n            continue\n        if True:",
        "if step >= coming:\n            coming += 100",
        "if step >= coming:\n            coming = step + args.every",
        "if every(step):",
        "if ripe(step):",
        "if step in args.often or step % 10 == 0:",
        "if step - last >= 100:\n            last = step",
        "if pace.due:",
        "if not pace.due:\n            continue\n        if True:",
        "if pace.picks(step):",
        "if pace.names(step):",
        "if pace.raises(step):",
        "if pace.follows(step):",
        "if step % args.save_freq == 0:",
        "if step % max(args.print_freq, 10) == 0:",
        "if riper(step):",
        "count += 1\n        if count > 1:\n            count = 0",
    ],
)
def test_tests_that_hold_now_and_then_are_amortized(test):
    assert heats(test) == ["amortized"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("args.print_freq = len(args.rows) // 10", "amortized"),
        ("args.print_freq *= 10", "amortized"),
        ("args.print_freq = max(args.print_freq, 50)", "amortized"),
        ("args.print_freq = max(1, int(args.print_freq))", "hot"),
        ("args.save_freq = 50", "hot"),
        ("setattr(args, 'print_freq', 50)", "amortized"),
        ("parser.set_defaults(print_freq=50)", "amortized"),
    ],
)
def test_a_setting_that_its_file_sets_anew(line: str, told: str) -> None:
    assert heats("if step % args.print_freq == 0:", "", "", "def settle(args):", f"    {line}") == [told]


@pytest.mark.parametrize(
    "test",
    [
        "if step != 3:",
        "if step not in (0, 100):",
        "if step in range(100):",
        "if step in range(100, 10000):",
        "if step in MARKED:",
        "if time.time() - start > 10:",
        "if 10 < time.time() - start:",
        "if step >= 100:",
        "odd_one = sum(one > 0 for one in args.marked) % 2 == 1\n        if odd_one:",
        "if step < args.max_steps:",
        "if step >= args.warmup_steps:",
        "if step % 10 > 0:",
        "if step & (step - 1):",
        "if step & 63:",
        "if random.random() < 0.5:",
        "if step % 10 == 0:\n            up = True\n        if up:",
        "if count < enough:\n            count += 1",
        "if count > last:\n            last = count",
        "if time.time() - last < 10:",
        "if odd(step):",
        "if step in args.often or step % 10 == 1 or args.all:",
        "if loss - last >= 100:\n            last = loss",
        "if not pace.due:",
        "if pace.early:",
        "if pace.improves(args.score):",
        "if step % args.print_freq == 0:",
        "if not step % args.print_freq:",
        "often = args.print_freq\n        if step % often == 0:",
        "if not step % 1:",
        "if step % min(args.every, 1) == 0:",
        "if ripest(step):",
        "if single.due:",
        "if single.follows(step):",
        "if step - last >= 1:\n            last = step",
        "if step - last > 0:\n            last = step",
        "if step - last < 1:\n            continue\n        last = step\n        if True:",
        "if step >= coming:\n            coming += 1",
        "count += 1\n        if count >= 1:\n            count = 0",
        "count += 1\n        if count == args.print_freq:\n            count = 0",
    ],
)
def test_tests_that_may_hold_at_every_step_are_hot(test):
    assert heats(test) == ["hot"]


def test_an_object_that_is_kept_holds_what_it_was_made_with():
    text = """
    import torch


    class Clock:
        def __init__(self, every):
            self.every = every

        def rings(self, step):
            return step % self.every == 0


    class Run:
        def __init__(self, net: torch.nn.Module):
            self.net = net
            self.often = Clock(1)
            self.seldom = Clock(100)

        def train(self, loader, optimizer):
            for step, x in enumerate(loader):
                loss = self.net(x).sum()
                loss.backward()
                optimizer.step()
                if self.seldom.rings(step):
                    print(loss.item())
                if self.often.rings(step):
                    print(loss.item())
    """
    assert [finding.heat for finding in findings(text)] == ["amortized", "hot"]


def test_what_is_counted_is_said():
    text = """
    import torch


    def train(net, optimizer, loader, every):
        for epoch in range(100):
            for step, x in enumerate(loader):
                loss = net(x).sum()
                loss.backward()
                optimizer.step()
                TEST:
                    print(loss.item())
    """

    def said(test):
        return [finding.hot_path[-1].text for finding in findings(text.replace("TEST", test))]

    assert said("if epoch % every == 0") == ["but only in every n-th epoch, though there at each step"]
    assert said("if epoch % every == 0 or epoch == 3") == ["but only in every n-th epoch, though there at each step"]
    assert said("if not epoch % every") == ["but only in every n-th epoch, though there at each step"]
    assert said("if epoch == 0") == ["but only in the first epoch, though there at each step"]
    assert said("if epoch in (3, 5)") == ["but only in some epochs, though there at each step"]
    assert said("if epoch % every == 0 and step == 0") == ["but only on the first step"]
    assert said("if step % every == 0") == ["but only every n-th step"]


def test_the_way_out_of_the_loop():
    assert heats("if step >= total:", "            break") == ["amortized"]
    assert heats("if step >= total:", "            return step") == ["amortized"]
    assert heats("if step >= total:", "            continue") == ["hot"]


@pytest.mark.parametrize(
    ("test", "leaves", "told"),
    [
        ("if done:", "if done:\n            break", "amortized"),
        ("if done or step % 10 == 0:", "if done:\n            print(step)\n            return", "amortized"),
        ("if not done:", "if done:\n            break", "hot"),
        ("if done:", "if done:\n            continue", "hot"),
        ("if done:", "if done:\n            print(step)", "hot"),
        ("if done or step > 9:", "if done:\n            break", "hot"),
        ("if args.up:", "if done:\n            break", "hot"),
        ("for y in x:\n          if done:", "if done:\n            break", "hot"),
    ],
)
def test_a_flag_behind_which_the_loop_is_left(test, leaves, told):
    done = f"done = loss_of(step) > enough\n        {test}"
    assert heats(done, f"        {leaves}") == [told]


@pytest.mark.parametrize(
    ("before", "between", "told"),
    [
        ("done = ask(step)", "pass", "amortized"),
        ("done = ask(step)", "done = ask(step)", "hot"),
        ("done = ask(step)", "if step < 9:\n            continue", "hot"),
        ("pass", "pass", "amortized"),
    ],
)
def test_who_finds_a_flag_set_comes_to_the_end_of_the_loop(before, between, told):
    test = f"{before}\n        if done or step % 10 == 0:"
    assert heats(test, f"        {between}\n        if done:\n            break") == [told]


def test_functions_that_ask_one_another_come_to_an_end():
    text = """
    import torch


    def a(x):
        return b(x)


    def b(x):
        return a(x)


    def f(x: torch.Tensor):
        if a(x):
            x.item()
    """
    assert [finding.heat for finding in findings(text)] == ["unknown"]


def test_a_test_of_nothing_that_is_written():
    text = """
    import torch


    def f(x: torch.Tensor):
        while (yield):
            if (yield):
                x.item()
    """
    assert [finding.heat for finding in findings(text)] == ["unknown"]


def heats(test: str, *more: str) -> list[str]:
    text = "\n".join([f"{LOOP}{TURN}".replace("TEST", test).rstrip(), *more, ""])
    return [finding.heat for finding in findings(text) if finding.code == "SG201"]


SHOWS = """
import torch
from dataclasses import dataclass


@dataclass
class Settings:
    often: int = 1
    seldom: int = 100


def fit(model, loader, optimizer, settings: Settings, often=1, seldom=100):
"""


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("if step % often == 0:", "hot"),
        ("if not step % often:", "hot"),
        ("if step % settings.often == 0:", "hot"),
        ("if step % seldom == 0:", "amortized"),
        ("if step % settings.seldom == 0:", "amortized"),
        ("often = model.often\n        if step % often == 0:", "amortized"),
    ],
)
def test_every_step_unless_somebody_sets_another_number(test: str, heat: str) -> None:
    found = findings(f"{SHOWS}{TURN}".replace("TEST", test))
    assert [one.heat for one in found if one.code == "SG201"] == [heat]


@pytest.mark.parametrize(
    ("shows", "heat"),
    [("", "amortized"), ("block=True", "amortized"), ("block=False", "hot"), ("timeout", "amortized")],
)
def test_who_is_shown_something_goes_on_unless_nothing_waits(shows: str, heat: str) -> None:
    text = f"""
    import matplotlib.pyplot as plt
    import torch


    def fit(model, loader, optimizer, timeout):
        for x in loader:
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            plt.plot(loss.item())
            plt.show({shows})
    """
    assert [one.heat for one in findings(text) if one.code == "SG201"] == [heat]


@pytest.mark.parametrize(
    ("asks", "heat"),
    [("line = input()", "amortized"), ("line = input('> ').strip()", "amortized"), ("line = encode.next()", "hot")],
)
def test_who_answers_is_waited_for(asks: str, heat: str) -> None:
    text = f"""
    import torch


    def answer(net: torch.nn.Linear, encode):
        while True:
            {asks}
            print(net(torch.tensor(encode(line), device="cuda")).tolist())
    """
    assert {one.heat for one in findings(text)} == {heat}


TICKS = """
import torch


def fit(model, loader, optimizer, total, per=1000):
    seen = ticks = last = bad = 0
    done = False
    while True:
        loss = model(next(loader)).sum()
        loss.backward()
        optimizer.step()
        seen += 32
        done = seen >= total
        TEST
        last = seen
        ticks += 1
        if done:
            break
"""


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("if not done and ticks != 0 and seen < last + per:\n            continue\n        loss.item()", "amortized"),
        ("if seen < last + per:\n            continue\n        loss.item()", "amortized"),
        ("if seen - last < per:\n            continue\n        loss.item()", "amortized"),
        ("if ticks > 0 and seen < last + per:\n            continue\n        loss.item()", "hot"),
        ("if done:\n            loss.item()", "amortized"),
        ("if not done:\n            loss.item()", "hot"),
        ("if seen < last + per:\n            loss.item()\n            continue", "hot"),
        ("if seen >= last + per:\n            loss.item()", "hot"),
        ("if bad == 0:\n            loss.item()", "hot"),
        ("if ticks == 0:\n            loss.item()", "amortized"),
        ("if ticks == 0:\n            loss.item()\n        if seen < per:\n            continue", "hot"),
        ("if ticks == 0:\n            loss.item()\n            ticks += 1", "amortized"),
        ("if loss < last + per:\n            continue\n        loss.item()", "hot"),
    ],
)
def test_a_mark_that_is_moved_on_behind_a_test(test: str, heat: str) -> None:
    found = findings(TICKS.replace("TEST", test))
    assert [one.heat for one in found if one.code == "SG201"] == [heat]


SHOWN = """
import torch


@torch.no_grad()
def evaluate(model, loader: torch.utils.data.DataLoader, shown, most):
    BEFORE
    for x, y in loader:
        WITHIN
        hit = (model(x.cuda()) == y.cuda()).cpu()
        for i in range(len(hit)):
            TEST
                SHOWS
                print(model(x)[i].item())
"""


@pytest.mark.parametrize(
    ("before", "within", "test", "shows", "heat"),
    [
        ("shown = 0", "", "if not hit[i] and shown < 5:", "shown += 1", "amortized"),
        ("shown = 0", "", "if shown <= 5:", "shown += 1", "amortized"),
        ("shown = 0", "", "if not shown >= 5:", "shown += 1", "amortized"),
        ("shown = 0", "", "if not hit[i] or shown < 5:", "shown += 1", "hot"),
        ("shown = 0", "", "if shown > 5:", "shown += 1", "hot"),
        ("shown = 0", "", "if shown < 50000:", "shown += 1", "hot"),
        ("shown = 0", "", "if shown < most:", "shown += 1", "hot"),
        ("shown = 0", "", "if shown < 5:", "most += 1", "hot"),
        ("shown = 0", "", "if shown < 5:", "shown += hit[i]", "hot"),
        ("shown = 0", "shown = 0", "if shown < 5:", "shown += 1", "hot"),
        ("", "shown = 0", "if shown < 5:", "shown += 1", "hot"),
    ],
)
def test_what_counts_itself_runs_a_few_times(before: str, within: str, test: str, shows: str, heat: str) -> None:
    text = SHOWN.replace("BEFORE", before).replace("WITHIN", within).replace("TEST", test).replace("SHOWS", shows)
    assert [one.heat for one in findings(text) if one.code == "SG201"] == [heat]


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("if (done := (total is not None and step >= max_steps)) or step % often == 0:", "amortized"),
        ("if done := step >= max_steps:", "amortized"),
        ("if (late := step > total) or step % often == 0:", "hot"),
        ("if late := model.late:", "hot"),
    ],
)
def test_a_test_that_is_given_a_name(test: str, heat: str) -> None:
    turn = TURN.replace("for step, x in enumerate(loader)", "for x in loader").replace("TEST", test)
    text = f"import torch\n\n\ndef fit(model, loader, optimizer, step, max_steps, total, often):\n{turn}"
    assert [one.heat for one in findings(text) if one.code == "SG201"] == [heat]


@pytest.mark.parametrize(
    ("loop", "calls", "heat"),
    [
        ("for x in xs:", "adapt(net, opt, xs, 8)", "amortized"),
        ("for i in range(n):", "adapt(net, opt, xs, 8)", "amortized"),
        ("for i in range(n):", "", "hot"),
        ("for i in range(n):", "for one in xs:\n        adapt(net, opt, one, 8)", "hot"),
        ("for x in xs:", "for one in torch.utils.data.DataLoader(xs):\n        adapt(net, opt, one, 8)", "hot"),
    ],
)
def test_what_counts_itself_anew_in_each_step_runs_in_each(loop: str, calls: str, heat: str) -> None:
    text = f"""
import torch


def adapt(net, opt, xs, n):
    tries = 0
    {loop}
        loss = net(xs).mean()
        loss.backward()
        opt.step()
        if tries < 8:
            tries += 1
            print(loss.item())


def main():
    {calls or "pass"}
"""
    assert [one.heat for one in findings(text) if one.code == "SG201"] == [heat]


LAYERS = """
import torch


class Net(torch.nn.Module):
    def __init__(self, place):
        super().__init__()
        self.place = place
        self.steps = 0
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(8)])

    def forward(self, x: torch.Tensor):
        self.steps += 1
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if TEST:
                print(x.max().item())
        return x
"""


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("i % 4 == 0", "hot"),
        ("not i % 4", "hot"),
        ("self.place % 2 == 0", "hot"),
        ("self.steps % 100 == 0", "amortized"),
    ],
)
def test_each_step_goes_through_all_parts_of_a_module(test: str, heat: str) -> None:
    assert [one.heat for one in findings(LAYERS.replace("TEST", test)) if one.code == "SG201"] == [heat]


PARTS = """
import torch


def train(net, optimizer, loader, n):
    for step, x in enumerate(loader):
        for i, part in enumerate(x.chunk(n)):
            loss = net(part).sum()
            {inner}
            {test}:
                print(loss.item())
        {outer}
        optimizer.step()
        optimizer.zero_grad()
"""


@pytest.mark.parametrize(("inner", "outer"), [("loss.backward()", "pass"), ("pass", "loss.backward()")])
@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("if i % n == 0", "hot"),
        ("if (i + 1) % 4 == 0", "hot"),
        ("if step % n == 0", "amortized"),
        ("if i == 0 and step % n == 0", "amortized"),
    ],
)
def test_a_part_of_each_step_is_no_step(test: str, told: str, inner: str, outer: str) -> None:
    found = findings(PARTS.format(test=test, inner=inner, outer=outer))
    assert [finding.heat for finding in found if finding.code == "SG201"] == [told]


def test_the_number_of_a_layer_may_be_asked_for_by_a_property() -> None:
    text = """
    import torch


    class Layer(torch.nn.Module):
        def __init__(self, index):
            super().__init__()
            self.index = index

        @property
        def due(self):
            return self.index % 4 == 0

        def forward(self, x: torch.Tensor):
            if self.due:
                print(x.max().item())
            return x
    """
    assert [finding.heat for finding in findings(text)] == ["hot"]


@pytest.mark.parametrize(("name", "told"), [("due", "hot"), ("other", "amortized")])
def test_a_class_below_may_answer_otherwise(name: str, told: str) -> None:
    text = """
import torch


class Net(torch.nn.Module):
    def __init__(self, every=100):
        super().__init__()
        self.every = every
        self.step = 0

    @property
    def due(self):
        return self.step % self.every == 0

    def forward(self, x: torch.Tensor):
        self.step += 1
        if self.due:
            print(x.max().item())
        return x


"""
    below = f"class Below(Net):\n    @property\n    def {name}(self):\n        return True\n"
    found = findings(text + below)
    assert [finding.heat for finding in found] == [told]


@pytest.mark.parametrize(("last", "heat"), [(4, "amortized"), (40, "hot")])
def test_flags_of_flags_are_not_followed_for_ever(last: int, heat: str) -> None:
    """Each is asked twice by the next one: at 40 of them that would be a million million questions."""
    flags = ["show0 = step % 10 == 0", *[f"show{n} = show{n - 1} and show{n - 1}" for n in range(1, last)]]
    assert heats("\n        ".join([*flags, f"if show{last - 1}:"])) == [heat]


def test_flags_may_ask_for_themselves() -> None:
    """Names that are bound once each, to tests of one another, in a loop."""
    flags = "done = other or step > 3\n        other = not done\n        show = done and other"
    assert heats(f"{flags}\n        if show:") == ["hot"]
    assert heats("done = done or step > 3\n        show = not done and step > 5\n        if show:") == ["hot"]


@pytest.mark.parametrize(("given", "heat"), [("1", "hot"), ("10", "amortized"), ("n", "amortized")])
def test_every_step_where_all_calls_say_so(given: str, heat: str) -> None:
    text = f"""
    import torch

    def fit(model, loader, optimizer, every):
        for step, x in enumerate(loader):
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            if step % every == 0:
                loss.item()

    def main(model, loader, optimizer, n):
        fit(model, loader, optimizer, {given})
    """
    assert [finding.heat for finding in findings(text)] == [heat]
