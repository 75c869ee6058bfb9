"""How often a place runs, and the path that shows it: roots, gates, guards, failures, setup."""

from __future__ import annotations

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.terms import Finding

HEAD = "import torch\n\n\n"


def found(text: str) -> list[Finding]:
    config = Config(heat="all", stdin_filename="example.py")
    return list(pipeline.check(["-"], config, HEAD + textwrap.dedent(text)).findings)


def heats(text: str) -> list[str]:
    return [finding.heat for finding in found(text)]


def test_forward_is_hot_and_so_is_what_it_calls() -> None:
    findings = found(
        """
        class Net(torch.nn.Module):
            def forward(self, x):
                return self.scale(x)

            def scale(self, x):
                return x * x.max().item()
        """
    )
    assert [finding.heat for finding in findings] == ["hot"]
    assert [fact.text for fact in findings[0].hot_path] == ["`Net.forward` runs at every step", "calls `Net.scale`"]


@pytest.mark.parametrize(
    ("decorator", "heat"),
    [
        ("torch.compile", "hot"),
        ("torch.compiler.compile", "hot"),
        ("torch.jit.script", "unknown"),
        ("torch.compiler.allow_in_graph", "hot"),
        ("torch.compiler.disable", "unknown"),
        ("torch.jit.export", "unknown"),
        ("torch.jit.ignore", "unknown"),
    ],
)
def test_what_is_compiled_runs_often_and_what_is_left_out_of_it_as_it_may(decorator: str, heat: str) -> None:
    text = """
        @{}
        def peak(x: torch.Tensor):
            return x * x.max().item()
        """
    assert heats(text.format(decorator)) == [heat]


@pytest.mark.parametrize(
    ("check", "heat"),
    [
        ("torch._check(x.ndim > 0, lambda: f'{x}')", "cold"),
        ("torch._check_value(x.ndim > 0, message=lambda: f'{x}')", "cold"),
        ("torch._check(x.ndim > 0, f'{x}')", "hot"),
    ],
)
def test_a_message_is_asked_for_where_a_check_fails(check: str, heat: str) -> None:
    assert heats(f"""
        class Net(torch.nn.Module):
            def forward(self, x):
                {check}
                return x
        """) == [heat]


def test_what_shows_a_module_is_cold_though_it_is_exported() -> None:
    assert heats(
        """
        class Observed(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("scale", torch.ones(1, device="cuda"))

            @torch.jit.export
            def extra_repr(self):
                return f"scale={self.scale}"
        """
    ) == ["cold"]


def test_a_loop_that_runs_backward_is_hot() -> None:
    assert heats(
        """
        def fit(model, batches):
            for x in batches:
                loss = torch.relu(model(x)).sum()
                loss.backward()
                print(loss)
        """
    ) == ["hot"]


@pytest.mark.parametrize(
    "gate",
    [
        "if step % 10 == 0:", "if not step % 10:", "if rank == 0:", "if should_log:",
        "if model.is_rank_zero:", "if model.is_master_process:", "if model.profiling_now:",
        "if done == 0 or done % 10 == 0:", "if every > 0 and (done == 0 or done % every == 0):",
    ],
)  # fmt: skip
def test_a_gate_makes_it_rare(gate: str) -> None:
    assert heats(
        f"""
        def fit(model, batches, rank, should_log):
            for step, x in enumerate(batches):
                loss = torch.relu(model(x)).sum()
                loss.backward()
                {gate}
                    print(loss)
        """
    ) == ["amortized"]


@pytest.mark.parametrize(
    "gate", ["if use_low_rank:", "if model.master_weights:", "if model.user_profile_mask:", "if model.periodic:"]
)
def test_a_name_that_only_holds_such_a_word_is_no_gate(gate: str) -> None:
    assert heats(
        f"""
        def fit(model, batches, use_low_rank):
            for x in batches:
                loss = torch.relu(model(x)).sum()
                loss.backward()
                {gate}
                    print(loss)
        """
    ) == ["hot"]


def test_a_gate_around_the_backward_pass_is_the_rhythm_of_training() -> None:
    assert heats(
        """
        def fit(model, env, every):
            for step in range(1000):
                env.step()
                if step % every == 0:
                    loss = torch.relu(model(env.x)).sum()
                    loss.backward()
                    print(loss)
                    if step % 100 == 0:
                        print(loss)
        """
    ) == ["hot", "amortized"]


@pytest.mark.parametrize(
    "rest",
    [
        """
                if {test}:
                    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    optimizer.zero_grad()
                    print(norm)
        """,
        """
                if {test}:
                    update(model, optimizer)

        def update(model, optimizer):
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            print(norm)
        """,
        """
                if not ({test}):
                    continue
                norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                print(norm)
        """,
    ],
)
def test_a_gate_around_what_the_optimizer_takes_is_the_rhythm_of_training(rest: str) -> None:
    fit = """
        def fit(model, batches, optimizer, every):
            for step, x in enumerate(batches):
                torch.relu(model(x)).sum().backward()"""
    assert heats(fit + rest.format(test="(step + 1) % every == 0")) == ["hot"]
    assert heats(fit + rest.format(test="step % every == 0").replace("optimizer.zero_grad()", "")) == ["amortized"]


LEARNS = """
    def learn(model, x):
        loss = torch.relu(model(x)).sum()
        {learns}
        return loss.item()


    def fit(model, batches):
        for step, x in enumerate(batches):
            torch.relu(model(x)).sum().backward()
            if step % 10 == 0:
                learn(model, x)
    """


@pytest.mark.parametrize(("learns", "heat"), [("loss.backward()", "hot"), ("loss = loss + 1", "amortized")])
def test_what_a_step_calls_behind_a_gate_is_rare_unless_it_trains(learns: str, heat: str) -> None:
    assert heats(LEARNS.format(learns=learns)) == [heat]


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("batch_idx > 0", "amortized"),
        ("self.skipped or batch_idx > 0", "amortized"),
        ("batch_idx != 0", "amortized"),
        ("batch_idx == 0", "hot"),
        ("batch_idx < 0", "hot"),
        ("size > 0", "hot"),
    ],
)
def test_the_first_step_is_one_of_many(test: str, heat: str) -> None:
    text = """
        class Net(torch.nn.Module):
            def training_step(self, batch, batch_idx, size=0):
                loss = torch.relu(batch["x"].float()).sum()
                if {}:
                    return loss
                return loss.item()
        """
    assert heats(text.format(test)) == [heat]


@pytest.mark.parametrize(
    ("loop", "test", "heat"),
    [
        ("for i, x in enumerate(loader)", "i == 0", "amortized"),
        ("for i, x in enumerate(loader)", "not i > 0", "amortized"),
        ("for i, x in enumerate(loader)", "i > 0", "hot"),
        ("for i, x in loader", "i == 0", "hot"),
        ("for k, (i, x) in enumerate(loader)", "i == 0", "hot"),
        ("for i in range(100)", "i == 0", "amortized"),
        ("for i in range(100)", "i > 0", "hot"),
        ("for i in range(x)", "i == 0", "hot"),  # few of them, maybe, and for each batch
        ("for k in range(100)", "i == 0", "hot"),
    ],
)
def test_the_number_of_a_step_tells_the_first_one(loop: str, test: str, heat: str) -> None:
    text = """
        def show(model, loader, x, i):
            {}:
                if {}:
                    print(model(x).item())
                for i in range(2):
                    if i == 0:
                        print(model(x).item())
                model(x).sum().backward()
                model.optimizer.step()
        """
    assert heats(text.format(loop, test)) == [heat, "hot"]


@pytest.mark.parametrize(
    ("outer", "inner", "learns", "heat"),
    [
        ("for k in range(9)", "for i in range(100)", "", "amortized"),
        ("for k in range(9)", "for i in range(100)", "out.sum().backward()", "hot"),  # it may be a part of each step
        ("for k in range(9)", "for i in many", "", "hot"),
        ("for k in range(9)", "for i in range(3)", "", "hot"),
        ("for x in torch.utils.data.DataLoader(data)", "for i in range(100)", "", "hot"),
    ],
)
def test_a_range_that_the_steps_go_through_numbers_them(outer: str, inner: str, learns: str, heat: str) -> None:
    text = f"""
        @torch.no_grad()
        def roll(model, x, data, many):
            out = x
            {outer}:
                {inner}:
                    if i == 0:
                        out = model(out) + model(x).item()
                    out = model(out)
                    {learns}

        if __name__ == "__main__":
            for x in xs:
                roll(model, x, data, many)
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("rest", "heat"),
    [
        ("def main():\n    unroll(model, x, n)", "amortized"),
        ("def main():\n    for x in xs:\n        unroll(model, x, n)", "amortized"),
        ("", "hot"),  # whoever calls it
        ("def main():\n    run(unroll)\n    unroll(model, x, n)", "hot"),
        ("def main():\n    for x in xs:\n        learn(unroll(model, x, n))\n\ndef learn(y):\n    y.backward()", "hot"),
        ("def main():\n    for x in xs:\n        unroll(model, x, n).backward()\n        opt.step()", "hot"),
        ("class Net(torch.nn.Module):\n    def forward(self, x):\n        return unroll(self.net, x, 9)", "hot"),
    ],
)
def test_the_first_turn_of_what_a_step_unrolls_is_one_of_each(rest: str, heat: str) -> None:
    text = """
def unroll(model, x, n):
    for i in range(n):
        x = model(x)
        if i == 0:
            x = x * x.max().item()
    return x

"""
    assert [one.heat for one in found(text + rest) if one.code == "SG201"] == [heat]


@pytest.mark.parametrize(("test", "heat"), [("i == 0", "hot"), ("i == self.accum - 1", "hot"), ("i % 4 == 0", "hot")])
def test_the_number_of_what_a_step_adds_up_makes_nothing_rare(test: str, heat: str) -> None:
    text = f"""
        class Trainer:
            def train_step(self, x):
                self.opt.zero_grad()
                for i in range(self.accum):
                    loss = self.net(x.cuda()).mean()
                    loss.backward()
                    if {test}:
                        self.last = loss.item()
                self.opt.step()
        """
    assert [one.heat for one in found(text) if one.code == "SG201"] == [heat]


@pytest.mark.parametrize(
    ("shows", "heat"),
    [
        ("print(x.max())", "amortized"),
        ('logger.info(f"{x.max()}")', "amortized"),
        ("print(y.max())", "hot"),
        ("print(x.max(), y.max())", "hot"),
        ("x = x / x.max().item()", "hot"),
        ("self.seen += 1; print(x.max())", "hot"),
    ],
)
def test_what_is_shown_where_its_test_has_waited_for_it(shows: str, heat: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor, y: torch.Tensor):
                if x.min() < -1.0:
                    {shows}
                return x
        """
    assert [one.heat for one in found(text) if one.code != "SG204"] == [heat]


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("torch.min(x) < -1", "amortized"),
        ("x.max().item() > 1.0", "amortized"),
        ("x.min() < -1 or x.max() > 1", "amortized"),
        ("x.min() < 0", "hot"),
        ("x.max() > 0", "hot"),
        ("x.max() < 1e6", "hot"),
        ("x.min() < -1 or x.sum() > 1", "hot"),
        ("x.sum() > 0", "hot"),
        ("x.any()", "hot"),
        ("torch.isfinite(x).all()", "hot"),
        ("not x.isnan().any()", "hot"),
        ("torch.is_tensor(x)", "hot"),
        ("x.requires_grad", "hot"),
        ("x.is_cuda", "hot"),
    ],
)
def test_what_is_shown_of_the_odd_case_alone_is_rare(test: str, heat: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                if {test}:
                    print(x.mean().item())
                return x
        """
    assert [one.heat for one in found(text) if "mean" in one.message] == [heat]


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("x.numel() == 0", "amortized"),
        ("x.shape[0] < 1", "amortized"),
        ("free == 0", "amortized"),
        ("not free == 0", "hot"),
        ("count == 0", "hot"),
        ("not xs", "amortized"),
        ("len(xs) == 0", "amortized"),
        ("len(xs) > 0", "hot"),
        ("len(xs) == 1", "hot"),
        ("x.ndim == 0", "hot"),
        ("len(x.shape) == 0", "hot"),
        ("len(x.size()) == 0", "hot"),
        ("len(self.batch_shape) == 0", "hot"),
        ("len(lead) == 0", "hot"),
        ("x.numel() == 0 or flag", "hot"),
        ("not flag", "hot"),
    ],
)
def test_where_there_is_nothing_is_rare(test: str, heat: str) -> None:
    text = """
        class Loss(torch.nn.Module):
            def forward(self, x: torch.Tensor, xs: list[int], flag: bool, count: int):
                free, lead = x.numel() - sum(x.shape), x.shape[:-2]
                if {}:
                    return torch.tensor(0.0, device="cuda")
                return x.sum()
        """
    assert heats(text.format(test)) == [heat]


@pytest.mark.parametrize("other", ["raise ValueError(bad)", "return x"])
def test_nothing_is_not_rare_where_anything_ends_it(other: str) -> None:
    text = """
        class Loss(torch.nn.Module):
            def forward(self, x: torch.Tensor, bad: list[str]):
                if len(bad) > 0:
                    {}
                return x.sum().item()
        """
    assert heats(text.format(other)) == ["hot"]


@pytest.mark.parametrize(
    ("fill", "take", "heat"),
    [
        ("self.ready.append(x)", "self.ready.pop(0)", "hot"),
        ("self.ready.append(x)", "self.ready.popleft()", "hot"),
        ("self.ready.append(x)", "self.ready[0]", "amortized"),
        ("self.ready.extend(x)", "self.ready.pop(0)", "amortized"),
        ("self.ready = list(x)", "self.ready.pop(0)", "amortized"),
        ("[None for y in x]; self.ready = [*x]", "self.ready.pop(0)", "amortized"),
        ("other.append(x)", "self.ready.pop(0)", "amortized"),
    ],
)
def test_what_is_taken_one_by_one_is_put_there_anew(fill: str, take: str, heat: str) -> None:
    text = """
        class Cache(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.ready = []

            def reset(self):
                self.ready = collections.deque()

            def fetch(self, x):
                x.any().item()
                {fill}

            def forward(self, x: torch.Tensor):
                if len(self.ready) == 0:
                    self.fetch(x)
                return {take}
        """
    assert heats(text.format(fill=fill, take=take)) == [heat]


def test_the_first_turn_within_a_step_is_of_every_step() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                for step in range(8):
                    if step == 0:
                        print(x)
        """
    assert heats(text) == ["hot"]


EPOCHS = """
def fit(model, data, opt, epochs):
    start = torch.tensor(0, device="cuda")
    for epoch in range(epochs):
        for x in {batches}:
            loss = model(x).sum()
            loss.backward()
            {inner}
            print(loss)
        {outer}
        for name in "ab":
            print(name, loss)
        print(loss)
    return loss.item()
"""


@pytest.mark.parametrize(
    ("batches", "inner", "outer", "around"),
    [
        ("train_loader", "pass", "pass", "amortized"),
        ("train_loader", "opt.zero_grad()", "pass", "amortized"),
        ("train_loader", "pass", "loss.backward()", "hot"),
        ("train_loader", "opt.step()", "opt.zero_grad()", "amortized"),
        ("train_loader", "opt.zero_grad()", "opt.zero_grad()", "amortized"),
        ("train_loader", "pass", "opt.zero_grad()", "hot"),  # gradients of many batches, for one step
        ("data", "opt.zero_grad()", "pass", "hot"),  # the batches of one step, for all we know
    ],
)
def test_what_stands_around_the_steps_runs_once_an_epoch(batches: str, inner: str, outer: str, around: str) -> None:
    found_heats = heats(EPOCHS.format(batches=batches, inner=inner, outer=outer))
    once = "amortized" if "loader" in batches else "unknown"
    assert found_heats == [once, "hot", "hot", around, once]


WHOLE = "loss = self.model(x).sum(); self.opt.zero_grad(); loss.backward(); self.opt.step()"
STEPPING = """
class Trainer:
    def __init__(self, model, opt):
        self.model, self.opt = model, opt

    def advance(self, x):
        loss = self.model(x).sum()
        if not x.numel():
            return loss
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss

    def fit(self, {data}, epochs):
        start = torch.tensor(0, device="cuda")
        for {epoch} in range({count}):
            for x in data:
                {step}
                print(loss)
            print(loss)
"""


@pytest.mark.parametrize(
    ("data", "epoch", "count", "step", "around"),
    [
        ("data: torch.utils.data.DataLoader", "epoch", "9", "loss = self.advance(x)", "amortized"),
        ("data: torch.utils.data.DataLoader", "_", "epochs", "loss = self.model(x).sum()", "amortized"),
        ("data: torch.utils.data.DataLoader", "_", "9", "loss = self.model(x).sum()", "unknown"),
        ("data", "epoch", "epochs", WHOLE, "amortized"),
        ("data", "_", "9", WHOLE, "hot"),
        ("data", "epoch", "epochs", "loss = self.model(x).sum(); loss.backward()", "hot"),
        ("data", "epoch", "epochs", "loss = self.advance(x)", "unknown"),  # `data` may be one batch
    ],
)  # fmt: skip
def test_a_loop_of_epochs_says_so(data: str, epoch: str, count: str, step: str, around: str) -> None:
    found = heats(STEPPING.format(data=data, epoch=epoch, count=count, step=step))
    assert found[-1] == around


@pytest.mark.parametrize("bar", ["bar = tqdm({})\n", "bar = enumerate({})\n                bar = tqdm(bar)\n"])
def test_a_bar_around_a_loader_is_a_loader(bar: str) -> None:
    text = """
        def fit(model, loader, opt, epochs):
            start = torch.tensor(0, device="cuda")
            for epoch in range(epochs):
                BAR
                for step, x in bar:
                    loss = model(x).sum()
                    loss.backward()
                    opt.step()
                print(loss)
        """.replace("BAR", bar)
    assert heats(text.format("loader")) == ["amortized", "amortized"]
    assert heats(text.format("inputs")) == ["unknown", "hot"]


def test_what_stands_around_a_training_loop_runs_once() -> None:
    text = """
        def fit(model, batches, opt, steps, limit):
            start = torch.tensor(0, device="cuda")
            while steps() < limit:
                loss = model(next(batches)).sum()
                loss.backward()
                {}
            return loss.item()
        """
    assert heats(text.format("opt.zero_grad()")) == ["amortized", "amortized"]
    assert heats(text.format("pass")) == ["unknown", "unknown"]


STEPS = """
    def train(model, loader, opt):
        for x in loader:
            loss = model(x).sum()
            loss.backward()
            opt.step()
        return loss

    def fit(model, loader, opt, epochs):
        for epoch in range(epochs):
            loss = train(model, loader, opt)
            {beside}
        {behind}

    def study(model, loader, opt):
        fit(model, loader, opt, 3)
        {around}
    """


def test_what_stands_beside_a_call_that_takes_the_steps_runs_seldom() -> None:
    reads = {"beside": "print(loss.item())", "behind": "", "around": ""}
    assert heats(STEPS.format(**reads)) == ["amortized"]
    assert heats(STEPS.format(beside="pass", behind="return loss.item()", around="")) == ["amortized"]
    save = "torch.save(model.cuda().weight.cpu(), 'w.pt')"
    assert heats(STEPS.format(beside="pass", behind="", around=save)) == ["amortized"]
    (finding,) = found(STEPS.format(**reads))
    assert finding.hot_path[-1].text == f"but only around line {finding.site.line - 1}, which takes the steps"


def test_a_script_around_calls_that_take_the_steps() -> None:
    text = """
        def train(model, loader, opt):
            for x in loader:
                loss = model(x).sum()
                loss.backward()
                opt.step()
            return loss

        for epoch in range(3):
            loss = train(torch.nn.Linear(2, 2), loader, opt)
            print(loss.item())
        """
    assert heats(text) == ["amortized"]


def test_main_is_the_top_level_of_its_script() -> None:
    text = """
        def roll(x):
            return x.max().item()

        def main():
            x = torch.rand(3, device="cuda")
            print(x.sum().item())
            for _ in range(1000):
                print((x + 1).sum().item())
                roll(x)

        class App:
            def main(self):
                print(torch.rand(3, device="cuda").min().item())

        if __name__ == "__main__":
            main()
        """
    assert heats(text) == ["unknown", "cold", "unknown", "unknown"]


@pytest.mark.parametrize("test", ["step % 10 == 0", "is_main_process()"])
def test_a_step_that_now_and_then_goes_through_a_loader_is_a_step(test: str) -> None:
    text = """
        def validate(model, loader):
            for x in loader:
                model(x)

        def advance(model, x, loader, step):
            loss = model(x.cuda()).sum()
            if {test}:
                validate(model, loader)
            return loss.item()
        """
    assert heats(text.format(test=test))[-1] == "unknown"


def test_a_loop_over_optimizers_is_part_of_a_step() -> None:
    text = """
        def update(model, x, opts):
            for opt in opts:
                opt.zero_grad()
            loss = model(x).sum()
            loss.backward()
            return loss.item()
        """
    assert heats(text) == ["unknown"]


def test_a_loader_matters_at_every_step() -> None:
    text = """
        from torch.utils.data import DataLoader

        def fit(model, data, device):
            for x in DataLoader(data):
                model(x.to(device))
        """
    assert [(one.code, one.heat) for one in found(text) if one.code == "SG303"] == [("SG303", "unknown")]


def test_what_only_setup_calls_is_setup_whatever_its_name() -> None:
    text = """
        class Index:
            def setup(self, model, x):
                self.points = self._sample(model, x)

            def _sample(self, model, x):
                return torch.relu(model(x)).tolist()
            {}
        """
    assert heats(text.format("")) == ["cold"]
    again = "\n            def grow(self, model, x):\n                return self._sample(model, x)"
    assert heats(text.format(again)) == ["hot"]


def test_a_turn_of_a_script_may_be_a_whole_run() -> None:
    text = """
        for seed in range(3):
            {}
            torch.cuda.{}()
        """
    assert heats(text.format("run(seed)", "synchronize")) == ["unknown"]
    assert heats(text.format("trainer.fit(seed)", "synchronize")) == ["cold"]
    assert heats(text.format("run(seed)", "empty_cache")) == ["unknown"]
    inner = "for part in parts: run(part, seed)"
    assert heats(text.format(inner, "empty_cache")) == ["cold"]  # behind each phase
    assert heats(text.format(inner, "synchronize")) == ["unknown"]


def test_a_loop_that_only_adds_up_gradients_is_one_step() -> None:
    text = """
        def learn(model, batches, opt):
            opt.zero_grad()
            for x in batches:
                loss = model(x).sum()
                loss.backward()
            opt.step()
            return loss.item()
        """
    assert heats(text) == ["unknown"]


@pytest.mark.parametrize(
    ("set_", "test", "heat"),
    [
        ("merge = False", "merge", "amortized"),
        ("merge = False", "merge and len(boxes) > 1", "amortized"),
        ("merge = True", "not merge", "amortized"),
        ("merge = True", "merge", "unknown"),
        ("merge = len(boxes) < 9", "merge", "unknown"),
        ("merge = False\n    for box in boxes:\n        merge = len(box) > 3", "merge", "unknown"),
        ("global merge\n    merge = False", "merge", "unknown"),
    ],
)
def test_what_stands_behind_a_flag_that_its_function_leaves_off_runs_seldom(set_: str, test: str, heat: str) -> None:
    text = f"def forward(boxes, x: torch.Tensor):\n    {set_}\n    if {test}:\n        x = x[x > 0]\n    return x\n"
    assert heats(text) == [heat]


def test_a_flag_of_the_function_around_it_is_not_its_own() -> None:
    text = """
        def forward(xs: torch.Tensor):
            done = False

            def step(x: torch.Tensor):
                nonlocal done
                if not done:
                    x = x[x > 0]
                done = True
                return x

            return [step(x) for x in xs]
        """
    assert heats(text) == ["unknown"]


def test_an_early_return_is_a_gate() -> None:
    assert heats(
        """
        def log(step, loss: torch.Tensor):
            if step % 100 != 0:
                return
            print(loss)


        class Net(torch.nn.Module):
            def forward(self, x, step):
                log(step, x)
                return x
        """
    ) == ["amortized"]


@pytest.mark.parametrize(
    "check",
    [
        "if heads % groups != 0:\n        raise ValueError(heads)",
        "if heads % groups:\n        raise ValueError(heads)",
        "if heads is None or heads % groups != 0:\n        raise ValueError(heads)",
        "if heads % groups == 0:\n        x = x * 2\n    else:\n        raise ValueError(heads)",
        "assert heads % groups == 0",
        "if x.shape[1] % 8 != 0:\n        return x",
        "if x.size(1) % 8:\n        return x",
        "n = x.shape[1]\n    if n % 8:\n        return x",
        "b, n = x.size()\n    if n % 8 != 0:\n        return x",
        "*_, n = x.shape[-2:]\n    if n % 8 == 0:\n        x = x * 2\n    else:\n        return x",
    ],
)
def test_what_must_divide_counts_no_steps(check: str) -> None:
    text = f"def split(x: torch.Tensor, heads, groups):\n    {check}\n    return x.max().item()\n"
    assert heats(text) == ["unknown"]


@pytest.mark.parametrize("bound", ["n = len(x)", "n = heads", "b, n = x.size(0), heads", "n = x.size(0)\n    n += 1"])
def test_what_may_be_counted_may_count_steps(bound: str) -> None:
    text = (
        f"def split(x: torch.Tensor, heads):\n    {bound}\n    if n % 8:\n        return x\n    return x.max().item()\n"
    )
    assert heats(text) == ["amortized"]


def test_what_is_done_where_all_else_fails_is_done_always() -> None:
    assert heats(
        """
        def split(x: torch.Tensor, heads, groups):
            if heads % groups == 0:
                return x.max().item()
            else:
                raise ValueError(heads)
        """
    ) == ["unknown"]


def test_a_failure_is_cold() -> None:
    assert heats(
        """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                if x.ndim != 2:
                    raise ValueError(f"not {x.sum().item()}")
                return x
        """
    ) == ["cold"]


@pytest.mark.parametrize(
    ("says", "heat"),
    [
        ("logger.warning('too many')", "amortized"),
        ("logging.error('too many: %d', len(x))", "amortized"),
        ("print('WARNING: too many')", "amortized"),
        ("logger.warning_once('too many')", "hot"),
        ("warnings.warn('too many')", "hot"),  # of which Python shows one
        ("logger.info('many')", "hot"),
        ("y = x * 2; logger.warning('too many')", "hot"),
    ],
)
def test_an_arm_that_begins_with_a_warning_is_rare(says: str, heat: str) -> None:
    body = f"""
        import logging, warnings
        logger = logging.getLogger(__name__)

        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                if len(x) > self.most:
                    {says}
                    x = x[: int(x.max())]
                return x
        """
    assert heats(body) == [heat]


WRAPPER = """
        class Net(torch.nn.Module):
            def {name}(self, x: torch.Tensor):
                if (x == 0).any():
                    x = self.padded(x)
                y = {call}
                for one in y:
                    one.sum().item()
                for one in x.unbind(0):
                    self.part.generate(one[one > 0])
                return y.max().item()

            def padded(self, x: torch.Tensor):
                return x[: x.max().item()]
        """


@pytest.mark.parametrize(
    ("name", "call", "heat"),
    [
        ("generate", "super().generate(x)", "amortized"),
        ("generate", "self.language.generate(x, top_p=0.9)", "amortized"),
        ("generate", "self._beam_search(x)", "amortized"),
        ("forward", "self.language.generate(x)", "hot"),
    ],
)
def test_around_what_generates_is_once_in_many_steps(name: str, call: str, heat: str) -> None:
    assert heats(WRAPPER.format(name=name, call=call)) == [heat, heat, "hot", heat, heat]


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("self.sampler(self.denoiser, x)", "amortized"),
        ("self.sample_loop(model, x)", "amortized"),
        ("sampling.sample_lms(model, x)", "hot"),  # one step of it, for all that it tells
        ("self.euler_solver(self.denoiser, x)", "hot"),
        ("odeint(self.denoiser, x)", "hot"),
        ("self.sampler(self.actor, x)", "hot"),
        ("sampler(self.denoiser, x)", "hot"),  # which has no loop
        ("self.sampler(x)", "hot"),  # of the next token
        ("self.blended(self.denoiser, x)", "hot"),
    ],
)
def test_around_what_is_handed_a_model_a_sample_runs_once(call: str, heat: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def sample(self, x: torch.Tensor, model):
                y = {call}
                return y * x.max().item()

        def sampler(model, x):
            return model(x)
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("rolls", "whole", "heats_of"),
    [
        ("self.roll(x, n)", "", ["amortized", "unknown", "hot"]),
        ("self._rolled(x, n)", "self.roll(x, n)", ["amortized", "amortized", "hot"]),
        ("self.rolled(x, n)", "self.roll(x, n)", ["hot", "hot", "hot"]),  # which may be called elsewhere
        ("self._rolled(x, n)", "self(x)", ["hot", "hot", "hot"]),
        ("[self.roll(x, n) for x in xs]", "", ["amortized", "unknown", "hot"]),
    ],
)
def test_around_a_call_of_what_holds_the_loop_it_runs_once(rolls: str, whole: str, heats_of: list[str]) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def generate(self, x: torch.Tensor, n):
                if x.isnan().any():
                    raise ValueError
                return {rolls}

            def {"_rolled" if "_rolled" in rolls else "rolled"}(self, x: torch.Tensor, n):
                x.max().item()
                return {whole or "x"}

            def roll(self, x: torch.Tensor, n):
                for _ in range(n):
                    x = self(x)
                    if x.isnan().all():
                        break
                return x
        """
    assert heats(text) == heats_of


def test_what_generates_in_one_step_is_hot() -> None:
    text = """
        class Net(torch.nn.Module):
            def generate(self, z: torch.Tensor):
                return self.net(z).max().item()
        """
    assert heats(text) == ["hot"]


@pytest.mark.parametrize(
    ("put", "heat"),
    [
        ("Attention.forward = faster", "hot"),
        ("model.layers[0].attn.forward = types.MethodType(faster, model)", "hot"),
        ("layer.forward = faster.__get__(layer)", "hot"),
        ("setattr(Attention, 'forward', functools.partial(faster, flag=True))", "hot"),
        ("trainer.training_step = faster", "hot"),
        ("Attention.process_weights_after_loading = faster", "cold"),
        ("Attention.load_weights = faster", "cold"),
        ("Attention.mix = faster", "unknown"),
        ("Attention.forward = faster; Attention.load_weights = faster", "unknown"),
        ("faster(model, x)", "unknown"),
    ],
)
def test_what_stands_in_for_a_method_is_as_warm_as_that(put: str, heat: str) -> None:
    text = f"""
        import functools, types
        from library import Attention

        def faster(self, x: torch.Tensor, flag=False):
            return x[: x.max().item()]

        def patch(model, trainer, layer, x):
            {put}
        """
    assert heats(text) == [heat]


def test_setup_is_cold_and_the_rest_is_unknown() -> None:
    for name in ("save_model", "resize_token_embeddings", "create_quantized_weight", "from_weights_file"):
        assert heats(f"def {name}(x: torch.Tensor):\n    return x.tolist()\n") == ["cold"]
    assert heats("def total(x: torch.Tensor):\n    return x.tolist()\n") == ["unknown"]


@pytest.mark.parametrize(
    ("asks", "saves", "heat"),
    [
        ("_should_dump", "maybe_dump", "unknown"),
        ("should_checkpoint", "maybe_save_checkpoint", "unknown"),
        ("_dump", "maybe_dump", "cold"),
        ("due_checkpoint", "maybe_save_checkpoint", "cold"),
        ("should_checkpoint", "save_checkpoint", "cold"),
    ],
)
def test_to_ask_whether_it_is_time_to_save_saves_nothing(asks: str, saves: str, heat: str) -> None:
    text = """
        class Saver:
            def {asks}(self, state: torch.Tensor):
                return state.any().item()

            def {saves}(self, state):
                if self.{asks}(state):
                    self.write()
        """
    assert heats(text.format(asks=asks, saves=saves)) == [heat]


@pytest.mark.parametrize(
    "guard",
    [
        "x.device.type == 'cpu'",
        "not x.is_cuda",
        "torch.jit.is_tracing()",
        "torch.compiler.is_compiling()",
        "not torch.cuda.is_available()",
        "x.is_cpu",
        "x.is_mps or x.get_device() == -1",
        "x.get_device() < 0",
        "x.device.type in ('cpu', 'npu')",
        "'mps' in x.device.type",
        "'cuda' not in str(x.device)",
        "str(x.device) == 'cpu'",
        "x.device.type.startswith('cpu')",
        "traced()",
        "not torch.compiler.is_compiling() and other()",
    ],
)
@pytest.mark.parametrize("flag", [False, True])
def test_code_that_the_device_never_sees_is_quiet(guard: str, flag: bool) -> None:
    text = """
        def traced():
            "Whether it is traced."
            return torch.jit.is_tracing() or torch.jit.is_scripting()

        def other():
            return torch.jit.is_tracing()

        def total(x: torch.Tensor):
            known = {}
            if {}:
                return x.tolist()
            return x
        """
    assert heats(text.format(*((guard, "known") if flag else (0, guard)))) == []
    for met in (
        "x.ndim == 2",
        "x.device.type in ('cpu', 'cuda')",
        "x.is_cuda",
        "'cuda' in str(x.device)",
        "not traced()",
    ):
        assert heats(text.format(*((met, "known") if flag else (0, met)))) == ["unknown"]


FLAG = """
def fit(model, batches, x: torch.Tensor, n):
    {before}
    for step, x in enumerate(batches):
        loss = torch.relu(model(x)).sum()
        loss.backward()
        {inside}
        if often:
            print(loss)
        {after}
"""


def test_a_name_stands_for_the_test_that_it_was_set_to() -> None:
    for before, inside, after, heat in (
        ("n = 1", "often = step % 10 == 0", "pass", "amortized"),
        ("n = 1", "often = step % 10 == 0 and n > 2", "pass", "amortized"),
        ("n = 1", "often = n % 10 == 0", "n += 1", "amortized"),  # which the next round asks anew
        ("n = 1", "often = n % 10 == 0; n += 1", "pass", "amortized"),  # what it was then is what counts
        ("often = n % 10 == 0", "n = step", "pass", "hot"),  # of another `n`
        ("often = n % 10 == 0", "pass", "n += 1", "hot"),  # asked once
        ("often = True", "often = step % 10 == 0", "pass", "hot"),  # bound twice
    ):
        assert heats(FLAG.format(before=before, inside=inside, after=after)) == [heat], (before, inside, after)
    assert heats("GPU = torch.cuda.is_available()\n" + TOTAL.format("not GPU")) == []
    assert heats("GPU = torch.cuda.is_available()\n" + TOTAL.format("GPU")) == ["unknown"]
    declared = "x: torch.Tensor | list = None"
    known = TOTAL.replace("x: torch.Tensor", declared).replace("    if", "    found = {}\n    if")
    assert heats(known.format("isinstance(x, list)", "found")) == []
    assert heats(known.format("isinstance(x, torch.Tensor)", "found")) == ["unknown"]


TOTAL = """
def total(x: torch.Tensor):
    if {}:
        return x.tolist()
    return x
"""


def test_because_names_the_lines() -> None:
    (finding,) = found(
        """
        def count(x: torch.Tensor):
            mask = x > 0
            kept = mask.sum()
            return kept.item()
        """
    )
    assert [(fact.line - 4, fact.text.split("`")[1]) for fact in finding.because] == [
        (1, "x: torch.Tensor"),
        (2, "x > 0"),
        (3, "mask.sum()"),
    ]


def test_what_only_setup_calls_is_setup_and_a_main_is_not() -> None:
    helper = "def build(x: torch.Tensor):\n    return x.tolist()\n\n\n"
    net = "class Net(torch.nn.Module):\n    def __init__(self, x: torch.Tensor):\n        self.sizes = build(x)\n"
    assert heats(helper + net) == ["cold"]
    assert heats(helper + net + "\n    def other(self, x: torch.Tensor):\n        return build(x)\n") == ["unknown"]
    assert heats(helper + "def main():\n    build(torch.ones(3, device='cuda'))\n\n\nmain()\n") == ["unknown"]


@pytest.mark.parametrize(("decorator", "heat"), [("@torch.compile", "hot"), ("@torch.no_grad()", "unknown")])
def test_a_compiled_function_is_hot(decorator: str, heat: str) -> None:
    assert heats(f"{decorator}\ndef total(x: torch.Tensor):\n    return x.tolist()\n") == [heat]


@pytest.mark.parametrize(
    "report",
    [
        "text = f'{bad}'\n        raise ValueError(text)",
        "logger.error('bad: %s', bad.item())\n        x = x * 0",
        "warnings.warn(f'{bad}')",
        "print(f'WARNING: {bad}')",
        "print('[error] %s' % bad)",
        "print('Warning: {}'.format(bad.tolist()))",
        "text = f'{bad}'\n        text += f' of {x}'\n        warnings.warn(text)",
    ],
)
def test_what_only_reports_a_failure_is_cold(report: str) -> None:
    head = "import logging\nimport warnings\n\nlogger = logging.getLogger(__name__)\n\n\n"
    check = "def check(x: torch.Tensor):\n    bad = x.isnan().sum()\n    if bad > 0:\n        {}\n    return x\n"
    findings = found(head + check.format(report))
    assert [(finding.code, finding.heat) for finding in findings if finding.code == "SG204"] == [("SG204", "unknown")]
    assert {finding.heat for finding in findings if finding.code != "SG204"} == {"cold"}


def test_the_second_wait_for_the_same_value_is_paid() -> None:
    findings = found(
        """
        def kept(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor):
            mask = mask > 0
            a, b = x[mask], y[mask]
            mask = mask & (y > 0)
            return a, b, x[mask]
        """
    )
    assert [finding.heat for finding in findings] == ["unknown", "amortized", "unknown"]
    assert findings[1].hot_path[-1].text == f"but only what the wait at line {findings[0].site.line} leaves of it"


def test_every_turn_and_every_arm_waits_anew() -> None:
    assert (
        heats(
            """
        def kept(x: torch.Tensor, mask: torch.Tensor, flag: bool):
            mask = mask > 0
            if flag:
                y = x[mask]
            else:
                y = x[mask] + 1
            for _ in range(3):
                y = x[mask]
            return y
        """
        )
        == ["unknown"] * 3
    )


def test_loading_is_setup_but_not_in_a_loop() -> None:
    load = "torch.load('x', map_location='cuda')"
    assert heats(f"def resume():\n    return {load}\n") == ["cold"]
    assert heats(f"def resume():\n    for _ in range(3):\n        yield {load}\n") == ["unknown"]


def test_a_cached_function_runs_seldom() -> None:
    text = """
        from functools import lru_cache


        @lru_cache(maxsize=8)
        def table(n: int):
            return torch.tensor([n], device="cuda")


        class Net(torch.nn.Module):
            def forward(self, x):
                return x * table(3)
        """
    assert heats(text) == ["amortized"]
    assert heats(text.replace("@lru_cache(maxsize=8)", "@torch.no_grad()")) == ["hot"]
    ours = "def our_lru_cache(of):\n    return lru_cache(of)\n\n\n"
    named = textwrap.dedent(text).replace("@lru_cache(maxsize=8)", "@our_lru_cache").replace("@our", f"{ours}@our", 1)
    assert heats(named) == ["amortized"]


def test_each_tensor_is_a_key_of_its_own() -> None:
    text = """
        import functools


        @functools.lru_cache
        def total(x):
            return x.sum().item()


        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return x * total(x * 2)
        """
    assert heats(text) == ["hot"]


def test_a_library_that_is_not_there_is_not_there_the_next_time_either() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                try:
                    FIRST
                    return fast.score(x)
                except Exception:
                    return x.sum().item()
        """
    assert heats(text.replace("FIRST", "from kernels import fast")) == ["hot"]
    assert heats(text.replace("FIRST", "fast = self.fast")) == ["cold"]


FALLBACK = """
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor):
            failed = False
            try:
                x = x * 2
            except RuntimeError:
                {handler}
            {after}
            return x

        def again(self, x):
            return x.cpu()
"""


def test_what_is_called_after_a_failure_is_not_the_step() -> None:
    def fallback(handler: str, after: str = "pass") -> list[str]:
        return heats(FALLBACK.format(handler=handler, after=after))

    assert fallback("x = self.again(x)") == ["cold"]
    assert fallback("x = self.again(x)", "x = self.again(x)") == ["hot"]
    assert fallback("pass", "x = self.again(x)") == ["hot"]


def test_a_flag_that_a_handler_sets_tells_of_a_failure() -> None:
    def flagged(handler: str, after: str) -> list[str]:
        return heats(FALLBACK.format(handler=handler, after=after))

    assert flagged("failed = True", "if failed: x = self.again(x)") == ["amortized"]
    assert flagged("failed = True", "if failed and x.ndim: x = self.again(x)") == ["amortized"]
    assert flagged("failed = True", "if not failed: x = self.again(x)") == ["hot"]
    assert flagged("failed = False", "if not failed: x = self.again(x)") == ["hot"]
    assert flagged("failed = True", "failed = x.ndim > 2\n            if failed: x = self.again(x)") == ["hot"]


def test_what_setup_calls_after_a_failure_is_setup() -> None:
    text = """
        def load_weights(x: torch.Tensor):
            try:
                return x + 1
            except RuntimeError:
                return read(x)


        def read(x):
            return x.cpu()


        {caller}
        """
    assert heats(text.format(caller="")) == ["cold"]
    assert heats(text.format(caller="def report(x: torch.Tensor):\n            return read(x)")) == ["unknown"]


@pytest.mark.parametrize(
    ("body", "heat"),
    [
        ("if n > self.table.size(0): self.table = grown(n, x)", "amortized"),
        ("if self.table.shape[0] < n: self.table = grown(n, x)", "amortized"),
        ("if n <= self.longest_cached: return x\n        self.table = grown(n, x)", "amortized"),
        ("if n < self.table.size(0): self.table = grown(n, x)", "hot"),
        ("if n > self.longest: self.table = grown(n, x)", "hot"),
    ],
)
def test_what_makes_a_kept_table_longer_is_rare(body: str, heat: str) -> None:
    text = f"""
import torch


def grown(n, x):
    return torch.tensor(list(range(n)), device=x.device)


class Positions(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int):
        {body}
        return x + self.table[:n]
"""
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("text", "heat"),
    [
        ("x.sum().item() if step % 100 == 0 else 0.0", "amortized"),
        ("x.mean() if x.numel() > 0 else torch.tensor(0.0, device='cuda')", "amortized"),
        ("torch.tensor(0.0, device='cuda') if x.numel() > 0 else x.mean()", "hot"),
        ("rank == 0 and x.sum().item() > 1", "amortized"),
        ("x.sum().item() > 1 and rank == 0", "hot"),
        ("rank != 0 or x.sum().item() > 1", "amortized"),
        ("flag or x.sum().item() > 1", "hot"),
        ("x.sum().item() if rank == 0 or step % 100 == 0 else 0.0", "amortized"),
        ("x.sum().item() if flag or step % 100 == 0 else 0.0", "hot"),
    ],
)
def test_an_expression_has_gates_as_a_statement_has(text: str, heat: str) -> None:
    step = """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor, step: int, rank: int, flag: bool):
                return {}
        """
    assert heats(step.format(text)) == [heat]


SETUP, STEP = "def init_weights(self):", "def reset(self):"
TABLE = """
    class Table(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = None

        def forward(self, x: torch.Tensor, step: int = 0, again: bool = False, kept: bool = True):
            {test}
            self.table = torch.arange(x.size(0)).to(x.device)
            return self.table

        {reset}
            self.table = None
    """


@pytest.mark.parametrize(
    ("test", "reset", "heat"),
    [
        ("if self.table is not None: return self.table", SETUP, "amortized"),
        ("if self.table is not None: return self.table", STEP, "hot"),
        ("if self.other is not None: return self.table", SETUP, "hot"),
        ("if self.table is not None and x.ndim == 2: return self.table", SETUP, "hot"),
        (
            "if self.table is not None and self.key == x.device: return self.table",
            SETUP,
            "amortized",
        ),
        (
            "if self.table is not None and self.table.size(0) == x.size(0): return self.table",
            SETUP,
            "amortized",
        ),
        (
            "if not torch.compiler.is_compiling() and self.table is not None: return self.table",
            SETUP,
            "amortized",
        ),
        ("if self.table is not None and self.key == x.device: return self.table", STEP, "hot"),
        ("if self.table is not None and self.key != x.device: return self.table", SETUP, "hot"),
        ("if self.table is not None and self.step == step: return self.table", SETUP, "hot"),
        ("if self.table is not None and self.mode == 'eval': return self.table", SETUP, "hot"),
        ("if self.table is not None and not again: return self.table", SETUP, "amortized"),
        ("if not (self.table is None or again): return self.table", SETUP, "amortized"),
        ("if self.table is not None and again: return self.table", SETUP, "hot"),
        ("if self.table is not None and kept: return self.table", SETUP, "hot"),
        (
            "again = x.dim() > 1; a = self.table\n            if self.table is not None and not again: return a",
            SETUP,
            "hot",
        ),
    ],
)
def test_what_is_kept_is_built_once(test: str, reset: str, heat: str) -> None:
    assert heats(TABLE.format(test=test, reset=reset)) == [heat]


@pytest.mark.parametrize(
    ("method", "test", "heat"),
    [
        ("fit", "self.net is None", "amortized"),
        ("train", "self.net is None or again", "amortized"),
        ("train", "self.net is None or not again", "unknown"),
        ("collate", "self.net is None", "unknown"),
        ("train", "self.net is None or anew", "amortized"),
        ("train", "self.net is None or training", "unknown"),
        ("train", "self.net is None or x", "unknown"),
    ],
)
def test_what_trains_builds_once(method: str, test: str, heat: str) -> None:
    text = f"""
        class Trainer:
            def __init__(self):
                self.net = None

            def {method}(self, x: torch.Tensor, anew: bool, training: bool, again: bool = False):
                if {test}:
                    self.net = build(x.cuda().cpu())
                return self.net
        """
    assert set(heats(text)) == {heat}


@pytest.mark.parametrize(
    ("test", "built", "reset", "heat"),
    [
        ('not hasattr(self, "table")', 'self.register_buffer("table", {})', "pass", "amortized"),
        ('not hasattr(self, "table")', "self.table = {}", "pass", "amortized"),
        ('getattr(self, "table", None) is None', "self.table = {}", "pass", "amortized"),
        ('not hasattr(self, "table") or self.table.device != x.device', "self.table = {}", "pass", "amortized"),
        ('not hasattr(self, "table")', "self.table = {}", "del self.table", "hot"),
        ('not hasattr(self, "table")', "self.table = {}", 'delattr(self, "table")', "hot"),
        ('getattr(self, "table", None) is None', "self.table = {}", "self.table = None", "hot"),
        ('hasattr(self, "table")', "self.table = {}", "pass", "hot"),
        ('not hasattr(self, "table")', "x = {}", "pass", "hot"),
        ('not hasattr(self, "other")', "self.table = {}", "pass", "hot"),
        ('not hasattr(x, "table")', "self.table = {}", "pass", "hot"),
    ],
)
def test_what_an_instance_has_not_had_before_is_built_once(test: str, built: str, reset: str, heat: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def reset(self):
                {reset}

            def forward(self, x: torch.Tensor):
                if {test}:
                    {built.format("torch.tensor([1.0, 2.0], device=x.device)")}
                return x
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("test", "call", "built", "heat"),
    [
        ('not hasattr(self, "table")', "self.build(x)", "self.table", "amortized"),
        ("self.table is None", "self.build(x)", "self.table", "amortized"),
        ("self.table is not None", "self.build(x)", "self.table", "hot"),
        ("self.table is None", "self.build(x)", "self.other", "hot"),
        ("self.table is None", "self.build(x); self.table = None", "self.table", "hot"),
        ("self.table is None", "build(self, x)", "self.table", "hot"),
    ],
)
def test_what_a_method_has_another_one_build_is_built_once(test: str, call: str, built: str, heat: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def build(self, x):
                {built} = torch.tensor([1.0, 2.0], device=x.device)

            def forward(self, x: torch.Tensor):
                if {test}:
                    {call}
                return x

        def build(net, x):
            net.build(x)
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("test", "moved", "back", "heat"),
    [
        ("self.table.device != x.device", "self.table", "pass", "amortized"),
        ("not self.table.device == x.device", "self.table", "pass", "amortized"),
        ("x.device != self.table.device", "self.table", "pass", "amortized"),
        ("self.table.device == x.device", "self.table", "pass", "hot"),
        ("self.table.device != x.device", "table", "pass", "hot"),
        ("self.table.device != x.device", "self.table", "self.table = self.table.cpu()", "hot"),
        ("x.device != y.device", "self.table", "pass", "hot"),
    ],
)
def test_what_is_elsewhere_is_moved_once(test: str, moved: str, back: str, heat: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def release(self):
                {back}

            def forward(self, x: torch.Tensor, y: torch.Tensor):
                if {test}:
                    {moved} = torch.tensor([1.0, 2.0], device=x.device)
                return x
        """
    assert heats(text)[-1:] == [heat]


def test_a_buffer_that_is_none_at_first_is_registered_once() -> None:
    text = """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.table = None

            def forward(self, x: torch.Tensor):
                if self.table is None:
                    self.register_buffer("table", torch.tensor([1.0, 2.0], device=x.device))
                return x
        """
    assert heats(text) == ["amortized"]


def test_what_is_made_of_each_batch_is_built_for_each() -> None:
    built = """
        class {}:
            table = None

            def {}(self, x: torch.Tensor):
                if self.table is None:
                    self.table = torch.arange(x.size(0)).to(x.device)
                return self.table
        """
    assert heats(built.format("Batch", "rows")) == ["unknown"]
    assert heats(built.format("Positions", "__call__")) == ["amortized"]


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("if table is not None:\n{0}if table.size(0) >= x.size(0):\n{0}    return table", "amortized"),
        ("if table.shape[0] >= x.size(0):\n{0}return table[: x.size(0)]", "amortized"),
        ("if self.table is not None:\n{0}if self.table.size(0) >= 8:\n{0}    return self.table", "amortized"),
        ("if flag:\n{0}if table.size(0) >= x.size(0):\n{0}    return table", "hot"),
        ("if table.size(0) >= x.size(0):\n{0}return x", "hot"),
        ("if table.size(0) >= x.size(0):\n{0}pass", "hot"),
        ("if table is not None:\n{0}if self.table.size(0) >= 8:\n{0}    pass", "hot"),
        ("if table is not None:\n{0}if table.size(0) <= x.size(0):\n{0}    return table", "hot"),
    ],
)
def test_a_table_that_is_large_enough_is_given_back(test: str, heat: str) -> None:
    text = """
        class Table(torch.nn.Module):
            def forward(self, x: torch.Tensor, flag: bool):
                return self.grown(x, self.table, flag)

            def grown(self, x: torch.Tensor, table: torch.Tensor | None, flag: bool):
                {}
                return torch.arange(x.size(0)).to(x.device)
        """
    assert heats(text.format(test.format(" " * 20))) == [heat]


@pytest.mark.parametrize(
    ("warns", "leaves", "heat"),
    [
        ("warnings.warn('too few')", "return torch.tensor(0.0, device='cuda')", ["cold"]),
        ("warnings.warn('too few')", "return torch.tensor(float('nan'), device='cuda')", ["cold"]),
        ("warnings.warn('slow')", "return torch.tensor(float(x.ndim), device='cuda')", ["unknown"]),
        ("logger.warning_once('slow')", "return torch.tensor(0.0, device='cuda')", ["unknown"]),
        ("warnings.warn('slow')", "return torch.tensor(x.shape, device='cuda')", ["unknown"]),
        ("logger.info('few')", "return torch.tensor(0.0, device='cuda')", ["unknown"]),
    ],
)
def test_what_warns_and_gives_up_is_a_failure(warns: str, leaves: str, heat: str) -> None:
    head = "import logging\nimport warnings\n\nlogger = logging.getLogger(__name__)\n\n\n"
    text = (
        f"def area(x: torch.Tensor):\n    if x.shape[0] < 2:\n        {warns}\n        {leaves}\n    return x.sum()\n"
    )
    assert heats(head + text) == heat


def test_what_is_only_tried_is_no_step() -> None:
    assert heats("def dummy_inputs(self):\n    return torch.tensor([0, 1], device='cuda')\n") == ["cold"]
    assert heats("def dummy_forward(self):\n    return torch.tensor([0, 1], device='cuda')\n") == ["unknown"]


def test_what_follows_a_test_of_the_last_step_is_rare() -> None:
    text = """
        def training_step(x: torch.Tensor, done, end, every):
            if done % every != 0 and done != end:
                return None
            return x.sum().item()
        """
    assert heats(text) == ["amortized"]


@pytest.mark.parametrize(
    ("loop", "heat"),
    [
        ("for n in (64, 128):", "cold"),
        ("for i, n in enumerate([64, 128]):", "cold"),
        ("for n, v in vars(sys).items():", "cold"),  # for each name
        ("for n, v in vars(sys).items():\n    v.run(n)", "unknown"),  # what it is given may take long
        ("for n, v in vars(sys).items():\n    for m in range(1000):\n        pass\n    for m in sizes:", "unknown"),
        ("for n in range(3):", "unknown"),
        ("for n in sizes:", "unknown"),
        ("for n in (*sizes, 3):", "unknown"),
        ("for n in (64, 128):\n    for m in range(1000):\n        pass\n    for m in sizes:", "unknown"),
    ],
)
def test_the_few_turns_that_a_script_writes_out_are_cold(loop: str, heat: str) -> None:
    inner = "        " if "sizes:" in loop and "\n" in loop else "    "
    body = f"{loop}\n{inner}print(torch.ones(3, device='cuda').sum())\n"
    assert heats(f"import sys\nsizes = list(sys.argv)\n{body}") == [heat]


@pytest.mark.parametrize(
    ("made", "heat"),
    [
        ("[torch.tensor(p, device='cuda') for p in prompts]", "amortized"),
        ("[[torch.tensor(p, device='cuda') for p in some] for some in prompts]", "amortized"),
        ("[torch.tensor(p, device='cuda') for p in batches(prompts)]", "hot"),
    ],
)
def test_what_is_there_by_name_is_taken_once_around_the_loop_of_what_generates(made: str, heat: str) -> None:
    text = f"""
        def generate(model, prompts, n):
            given = {made}
            for _ in range(n):
                prompts = model(prompts, given)
            return prompts
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize("test", ["done == 0 or count % 10 == 0", "done == 0", "done % 2 == 0 or x.ndim == 2"])
def test_what_asks_for_more_than_steps_is_not_rare(test: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor, done: int, count: int):
                if {test}:
                    return x.sum().item()
        """
    assert heats(text) == ["hot"]


@pytest.mark.parametrize("name", ["_grad_dump", "_dump_grads", "reinit_heads", "_inspect_heads", "_print_loss"])
def test_helpers_of_debugging_are_cold(name: str) -> None:
    assert heats(f"def {name}(x: torch.Tensor):\n    return x.sum().item()\n") == ["cold"]


PRIVATE = """
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, mask: torch.Tensor):
            return self.{name}({given})

        def {name}(self, x: torch.Tensor, mask: torch.Tensor | None = None, plain=False):
            {body}
            return x
    """


@pytest.mark.parametrize(
    ("name", "given", "body", "heat"),
    [
        ("_kept", "x", "if mask is not None: x = x[mask > 0]", "amortized"),
        ("_kept", "x", "if mask is not None and x.ndim == 2: x = x[mask > 0]", "amortized"),
        ("_kept", "x, plain=False", "if plain: x = x[x > 0]", "amortized"),
        ("_kept", "x, plain=False", "if not plain: x = x[x > 0]", "hot"),
        ("_kept", "x", "x = x if mask is None else x[mask > 0]", "amortized"),
        ("_kept", "x, mask", "if mask is not None: x = x[mask > 0]", "hot"),
        ("_kept", "x, mask=mask", "if mask is not None: x = x[mask > 0]", "hot"),
        ("_kept", "*(x, mask)", "if mask is not None: x = x[mask > 0]", "hot"),
        ("_kept", "x, **{'mask': mask}", "if mask is not None: x = x[mask > 0]", "hot"),
        ("kept", "x", "if mask is not None: x = x[mask > 0]", "unknown"),
        ("_kept", "x", "if x.ndim == 2: mask = x > 0\n            if mask is not None: x = x[mask > 0]", "hot"),
        (
            "_kept",
            "x",
            "if mask is not None: mask = mask > 0\n            x = x if mask is None else x[mask > 0]",
            "amortized",
        ),
        ("_kept", "x) if x.ndim else map(self._kept, [x]", "if mask is not None: x = x[mask > 0]", "hot"),
        ("_kept", "x) if x.ndim else getattr(self, '_kept')(x, mask", "if mask is not None: x = x[mask > 0]", "hot"),
    ],
)
def test_where_no_call_of_a_private_function_leads(name: str, given: str, body: str, heat: str) -> None:
    assert heats(PRIVATE.format(name=name, given=given, body=body)) == [heat]


def test_a_function_that_nobody_calls_here_may_be_given_anything() -> None:
    text = (
        "def _kept(x: torch.Tensor, mask: torch.Tensor | None = None):\n    return x if mask is None else x[mask > 0]\n"
    )
    assert heats(text) == ["unknown"]
    assert heats(text + "\n\ndef kept(x: torch.Tensor):\n    return _kept(x)\n") == ["amortized"]
    assert heats(text + "\n\n__all__ = ['_kept']\n\n\ndef kept(x: torch.Tensor):\n    return _kept(x)\n") == ["unknown"]


GIVEN = """
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, lengths: torch.Tensor):
            return self._mask(lengths, {given})

        def _mask(self, lengths, size=None):
            {before}
            if size is None:
                size = lengths.max()
            return torch.arange(size, device=lengths.device) < lengths
    """


@pytest.mark.parametrize(
    ("given", "before", "waits"),
    [
        ("x.shape[1]", "pass", []),
        ("size=x.shape[1]", "pass", []),
        ("", "pass", ["hot"]),
        ("None", "pass", ["hot"]),
        ("x.shape[1]", "size = None", ["hot"]),
        ("*x.shape[1:2]", "pass", ["hot"]),
    ],
)
def test_what_an_arm_binds_that_no_call_reaches_does_not_count(given: str, before: str, waits: list[str]) -> None:
    assert heats(GIVEN.format(given=given, before=before)) == waits


SPENT = """
    class Loss(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.done = True, False
            self.first = True
            self.done = False
            self.take()
            self.reset()

        def take(self):
            self.made = False

        def reset(self):
            self.begun = False

        def forward(self, x: torch.Tensor):
            if {test}:
                print(x.sum().item())
                {turn}
            return x
        {more}
    """


@pytest.mark.parametrize(
    ("test", "turn", "more", "heat"),
    [
        ("self.first", "self.first = False", "", "amortized"),
        ("not self.done", "self.done = True", "", "amortized"),
        ("self.first", "self.first = True", "", "hot"),
        ("self.first", "self.done = True", "", "hot"),
        ("self.first", "self.first = False", "\n        def again(self): self.first = True", "hot"),
        ("first", "first = False", "", "hot"),
        ("not self.made", "self.made = True", "", "amortized"),
        ("not self.begun", "self.begun = True", "", "hot"),
        ("self.first", "if x.is_cuda: print(x.sum().item()); self.first = False", "", ["hot", "amortized"]),
    ],
)
def test_a_flag_that_its_own_arm_turns_off_is_met_once(test: str, turn: str, more: str, heat: str | list[str]) -> None:
    assert heats(SPENT.format(test=test, turn=turn, more=more)) == ([heat] if isinstance(heat, str) else heat)


@pytest.mark.parametrize(
    ("name", "test", "heat"),
    [
        ("_report", "step % 100 == 0", "amortized"),
        ("_report", "step > 100", "unknown"),
        ("report", "step % 100 == 0", "unknown"),
    ],
)
def test_a_private_function_is_met_no_more_often_than_the_gate_that_leads_to_it(
    name: str, test: str, heat: str
) -> None:
    text = f"""
    def update(x, step):
        if {test}:
            {name}(x)


    def {name}(x: torch.Tensor):
        return x.sum().item()
    """
    assert heats(text) == [heat]


@pytest.mark.parametrize("name", ["on_train_begin", "on_train_start", "on_fit_end"])
def test_what_runs_once_in_a_training_is_cold(name: str) -> None:
    assert heats(f"class Report:\n    def {name}(self, x: torch.Tensor):\n        return x.sum().item()\n") == ["cold"]


def test_initializing_is_setup_whoever_does_it() -> None:
    fill = "def fill(x: torch.Tensor):\n    return torch.nn.init.trunc_normal_(x)\n"
    assert heats(fill) == ["cold"]
    assert heats(fill + "\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return fill(x)\n") == [
        "hot"
    ]


def test_what_is_logged_is_behind_a_gate() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                if logger.isEnabledFor(10):
                    logger.debug("%s", x.sum().item())
                return x
        """
    head = "import logging\n\nlogger = logging.getLogger(__name__)\n"
    assert heats(head + textwrap.dedent(text)) == ["amortized"]
    assert heats("class Report:\n    def on_log(self, loss: torch.Tensor):\n        return loss.item()\n") == ["cold"]


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("torch.isnan(x).any()", "amortized"),
        ("x.isinf().any() or nans.any().item()", "amortized"),
        ("not torch.isfinite(x).all()", "amortized"),
        ("not bool_finite.all()", "amortized"),
        ("not torch.isfinite(x.sum())", "amortized"),
        ("torch.isfinite(x.sum())", "hot"),
        ("torch.isnan(x).all()", "hot"),
        ("torch.isfinite(x).all()", "hot"),
        ("(x > 0).any()", "hot"),
    ],
)
def test_what_is_not_finite_is_rare(test: str, heat: str) -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor, nans: torch.Tensor, bool_finite: torch.Tensor):
                if {}:
                    x = x[x > 0]
                return x
        """
    assert [one.heat for one in found(text.format(test)) if one.code == "SG102"] == [heat]


@pytest.mark.parametrize(
    ("declared", "test", "heat"),
    [
        ("ids: torch.Tensor", "if ids is None:", "amortized"),
        ("ids: torch.Tensor", "if not (ids is not None):", "amortized"),
        ("ids: torch.Tensor", "if ids is not None:", "hot"),
        ("ids: torch.Tensor | None", "if ids is None:", "hot"),
        ("ids: torch.Tensor = None", "if ids is None:", "hot"),
        ("ids", "if ids is None:", "hot"),
        ("ids: int", "if ids is None:", "hot"),
        ("ids: torch.Tensor", "ids = find(ids)\n        if ids is None:", "hot"),
    ],
)
def test_what_must_be_given_as_a_tensor_is_seldom_none(declared: str, test: str, heat: str) -> None:
    text = """
class Net(torch.nn.Module):
    def forward(self, ids, x):
        return self.places(ids, x)

    def places(self, {}, x: torch.Tensor = None):
        {}
            return x == torch.tensor(3, device=x.device)
        return x
"""
    assert heats(text.format(declared, test)) == [heat]


@pytest.mark.parametrize(
    ("head", "first", "heat"),
    [
        ("", 'deprecate("read", "1.0")', "cold"),
        ("", 'warnings.warn("gone soon", FutureWarning)', "cold"),
        ("", 'warnings.warn("gone soon", category=DeprecationWarning)', "cold"),
        ('@deprecated("gone soon")\n', "pass", "cold"),
        ("", 'if scale: deprecate("scale", "1.0")', "unknown"),
        ("", 'warnings.warn("slow", UserWarning)', "unknown"),
    ],
)
def test_what_is_deprecated_and_not_called_is_cold(head: str, first: str, heat: str) -> None:
    text = f"{head}def read(x: torch.Tensor, scale=1):\n    {first}\n    return x.cpu().numpy()\n"
    assert heats(text) == [heat]
    newer = "\n\ndef read_anew(x: torch.Tensor):\n    return x.cpu().numpy()\n"
    assert heats(text.replace("x.cpu().numpy()", "read_anew(x)") + newer) == ["unknown"]
    called = text + "\n\ndef use(x: torch.Tensor):\n    return read(x)\n"
    assert heats(called) == ["unknown"]


@pytest.mark.parametrize(
    ("body", "heat"),
    [
        ("if found == 0:\n        x = x + torch.tensor(2.0, device='cuda')\n    return x / (1 + found)", "unknown"),
        ("return x / found if found > 0 else x + torch.tensor(2.0, device='cuda')", "amortized"),
        ("if found <= 0:\n        return x + torch.tensor(2.0, device='cuda')\n    return x / found", "amortized"),
        ("return x + torch.tensor(2.0, device='cuda') if found > 0 else x / found", "unknown"),
        ("if not found.any(): return torch.tensor(0.0, device=x.device)\n    return x / found", "amortized"),
        (
            "if not found.sum():\n        y = x.new_tensor(0.0)\n    else:\n        y = x / found\n    return y",
            "amortized",
        ),
        (
            "if found > 0: n = x / found\n    else: n = torch.tensor([0.0], device=x.device).double()\n    return n",
            "amortized",
        ),
        ("if (x > 0).any(): w = torch.tensor(2.0, device='cuda')\n    else: w = 1.0\n    return x * w", "unknown"),
        ("if (x > 0).any():\n        x = x * torch.tensor(2.0, device='cuda')\n    return x", "unknown"),
        ("if flag: return torch.tensor(0.0, device=x.device)\n    return x / found", "unknown"),
        ("w = 1\n    if found == 0.0: w = torch.tensor(2.0, device=x.device)\n    return x * w", "amortized"),
        ("w = 1\n    if found == 1.0: w = torch.tensor(2.0, device=x.device)\n    return x * w", "unknown"),
        ("w = 1\n    if found > 0.0: w = torch.tensor(2.0, device=x.device)\n    return x * w", "unknown"),
        (
            "if x.numel() == 1 or found.numel() == 1: return torch.tensor(0.0, device=x.device)\n    return x",
            "amortized",
        ),
        ("if x.shape[0] == 1: return torch.tensor(0.0, device=x.device)\n    return x", "unknown"),
        ("if found == 0:\n        x = x + torch.tensor(2.0, device='cuda')\n    return x / found.sqrt()", "amortized"),
        ("if found == 0:\n        x = x + torch.tensor(2.0, device='cuda')\n    return x * found", "unknown"),
        ("if found != 0:\n        x = x + torch.tensor(2.0, device='cuda')\n    return x / found", "unknown"),
    ],
)
def test_what_stands_for_a_result_where_there_is_none_is_rare(body: str, heat: str) -> None:
    text = f"def score(x: torch.Tensor, found: torch.Tensor, flag: bool):\n    {body}\n"
    assert [one.heat for one in found(text) if one.code == "SG302"] == [heat]


@pytest.mark.parametrize(
    ("test", "calls", "heat"),
    [
        ("if not torch.is_tensor(t):", "", "amortized"),
        ("if not isinstance(t, torch.Tensor):", "", "amortized"),
        ("if isinstance(t, torch.Tensor): t = t * 2\n        else:", "", "amortized"),
        ("if not torch.is_tensor(t):", "net = Net()\nfor n in range(3):\n    net(x, n)", "hot"),
        ("if not torch.is_tensor(t):", "Net()(x, 1.0)", "hot"),
        ("if not isinstance(t, list):", "", "hot"),
        ("t = other\n        if not torch.is_tensor(t):", "", "hot"),
    ],
)
def test_a_number_for_a_tensor_is_rare_where_none_is_given(test: str, calls: str, heat: str) -> None:
    text = f"""
class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, given: torch.Tensor | float | int, other: float | torch.Tensor = None):
        t = given
        {test}
            t = torch.tensor([t], device=x.device)
        return x * t

x = torch.ones(3, device="cuda")
{calls}
"""
    assert [one.heat for one in found(text) if one.code == "SG302"] == [heat]


@pytest.mark.parametrize(
    ("loop", "rank", "heat"),
    [
        ("for n, item in enumerate(times):", "len(t.shape) == 0", "amortized"),
        ("for item in times:", "t.ndim == 0", "amortized"),
        ("for item in times:", "t.dim() == 0", "amortized"),
        ("for item in times:", "t.ndim == 1", "hot"),
        ("item = times\n        for n in range(3):", "t.ndim == 0", "hot"),
    ],
)
def test_what_a_loop_takes_one_by_one_and_is_0_d_came_out_of_a_tensor(loop: str, rank: str, heat: str) -> None:
    text = f"""
class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor, times):
        {loop}
            t = item
            if not torch.is_tensor(t):
                t = torch.tensor([t], device=x.device)
            elif {rank}:
                t = t[None]
            x = x * t
        return x
"""
    assert [one.heat for one in found(text) if one.code == "SG302"] == [heat]


@pytest.mark.parametrize(
    ("passed", "heat"), [("given", "amortized"), ("2.0", "hot"), ("x if flag else 2.0", "hot"), ("x", "amortized")]
)
def test_what_is_passed_on_as_it_was_declared_is_no_number(passed: str, heat: str) -> None:
    text = f"""
class Net(torch.nn.Module):
    def embed(self, x: torch.Tensor, t: torch.Tensor | float):
        if not torch.is_tensor(t):
            t = torch.tensor([t], device=x.device)
        return x * t

    def forward(self, x: torch.Tensor, given: torch.Tensor | float, flag: bool):
        return self.embed(x, {passed})
"""
    assert [one.heat for one in found(text) if one.code == "SG302"] == [heat]


def test_what_works_on_a_state_dict_by_its_name_is_cold() -> None:
    text = "def state_dict_all_zero(state: list[torch.Tensor]):\n    return all((p == 0).all() for p in state)\n"
    assert {*heats(text)} == {"cold"}


@pytest.mark.parametrize(
    ("name", "heat"),
    [("ExportableDecoder", "cold"), ("OnnxExportWrapper", "cold"), ("DecoderOnnxModel", "cold"), ("Decoder", "hot")],
)
def test_what_is_made_to_be_exported_is_cold(name: str, heat: str) -> None:
    text = f"class {name}(torch.nn.Module):\n    def forward(self, x):\n        return x * x.max().item()\n"
    assert heats(text) == [heat]


def test_what_runs_an_exported_model_is_no_such_module() -> None:
    text = "class OnnxModel:\n    def __call__(self, x: torch.Tensor):\n        return self.run(x.max().item())\n"
    assert heats(text) == ["unknown"]


@pytest.mark.parametrize(("base", "heat"), [("Exportable", "hot"), ("OnnxExporter", "cold")])
def test_what_can_be_exported_is_trained_as_well(base: str, heat: str) -> None:
    assert heats(
        f"class {base}:\n    pass\n"
        f"class Speech(torch.nn.Module, {base}):\n    def forward(self, x):\n        return x * x.max().item()\n"
    ) == [heat]


@pytest.mark.parametrize(
    ("method", "heat"),
    [
        ("def scaled(self, factor):\n        return Boxes(self.corners * factor)", "unknown"),
        ("def scaled(self, factor):\n        return type(self)(self.corners * factor)", "unknown"),
        ("def scaled(self, factor):\n        return self.__class__(self.corners * factor)", "unknown"),
        ("def scaled(self, factor):\n        return self", "cold"),
        ("def cuda(self):\n        return Boxes(self.corners.cuda())", "cold"),
        ("@classmethod\n    def like(cls, corners: torch.Tensor):\n        return cls(corners * 2)", "cold"),
        ("@staticmethod\n    def build(corners: torch.Tensor):\n        return Boxes(corners * 2)", "cold"),
    ],
)
def test_what_a_method_makes_another_of_is_no_setup(method: str, heat: str) -> None:
    made = "    def __init__(self, corners: torch.Tensor):\n        assert (corners >= 0).all()\n"
    keeps = "        self.corners = corners\n"
    assert heats(f"class Boxes:\n{made}{keeps}\n    {method}\n") == [heat]


@pytest.mark.parametrize(
    ("other", "empty", "heat"),
    [
        ("else:\n            half.append(p)", "not full", "hot"),
        ("else:\n            half.append(p)", "len(full) == 0", "hot"),
        ("else:\n            full.append(p * 2)", "not full", "amortized"),
        ("", "not full", "amortized"),
    ],
)
def test_one_of_the_lists_that_things_are_sorted_into_may_stay_empty(other: str, empty: str, heat: str) -> None:
    assert heats(
        "class Net(torch.nn.Module):\n    def forward(self, xs: list[torch.Tensor]):\n        full, half = [], []\n"
        "        for p in xs:\n          if p.dtype == torch.float32:\n            full.append(p)\n"
        f"          {other}\n        if {empty}:\n            return torch.tensor([0.0], device='cuda')\n"
        "        return full[0]\n"
    ) == [heat]


@pytest.mark.parametrize(
    ("kind", "heat"),
    [
        ("p.dtype == torch.half", "hot"),
        ("len(p.shape) > 1", "hot"),
        ("len(p) > 0", "amortized"),
        ("p.numel()", "amortized"),
    ],
)
def test_what_is_sorted_by_whether_there_is_anything_may_be_nothing(kind: str, heat: str) -> None:
    assert heats(
        "class Net(torch.nn.Module):\n    def forward(self, xs: list[torch.Tensor]):\n        full, rest = [], []\n"
        f"        for p in xs:\n          if {kind}:\n            full.append(p)\n          else:\n"
        "            rest.append(p)\n        if not full:\n            return torch.tensor([0.0], device='cuda')\n"
        "        return full[0]\n"
    ) == [heat]


@pytest.mark.parametrize(
    ("makes", "heat"), [("self.draw(9)", "unknown"), ("self.first = self.draw(9)", "cold"), ("self._draw(9)", "cold")]
)
def test_what_a_constructor_tries_and_leaves_lying_is_there_for_others(makes: str, heat: str) -> None:
    name = "_draw" if "_draw" in makes else "draw"
    assert heats(
        f"class Sampler:\n    def __init__(self, x: torch.Tensor):\n        self.x = x\n        {makes}\n\n"
        f"    def {name}(self, n) -> torch.Tensor:\n        return self.x[self.x > n]\n"
    ) == [heat]


@pytest.mark.parametrize(("name", "heat"), [("visualize", "unknown"), ("save_all", "cold")])
def test_who_shows_what_a_model_gives_is_not_all_who_ask_for_it(name: str, heat: str) -> None:
    assert heats(
        f"class Depth:\n    def {name}(self, x: torch.Tensor):\n        return self(x)\n\n"
        "    def __call__(self, x: torch.Tensor):\n        return x[x > 0]\n"
    ) == [heat]


@pytest.mark.parametrize(("gives", "heat"), [("x.log(), n", "unknown"), ("None", "cold"), ("x", "cold")])
def test_what_gives_a_tensor_is_no_report(gives: str, heat: str) -> None:
    text = f"def log_kernel_and_size(x: torch.Tensor):\n    n = x.max().item()\n    return {gives}\n"
    assert heats(text) == [heat]


def test_what_a_dataclass_does_once_it_is_made_is_done_where_it_is_made() -> None:
    assert heats(
        """
        from dataclasses import dataclass

        @dataclass
        class Rays:
            ends: torch.Tensor

            def __post_init__(self):
                assert (self.ends >= 0).all()

        class Net(torch.nn.Module):
            def forward(self, x):
                return Rays(x).ends
        """
    ) == ["hot"]


@pytest.mark.parametrize(
    ("base", "heat"), [("torch.distributions.Normal", "unknown"), ("torch.nn.Module", "cold"), ("object", "cold")]
)
def test_a_distribution_is_made_at_every_step(base: str, heat: str) -> None:
    assert heats(
        f"class Bounded({base}):\n    def __init__(self, low: torch.Tensor, high: torch.Tensor):\n"
        "        assert (low < high).all()\n"
    ) == [heat]


def test_what_tries_itself_once_more_is_not_cold() -> None:
    assert heats(
        """
        class Trainer:
            def valid_step(self, x: torch.Tensor, again=False):
                try:
                    return x.sum().item()
                except RuntimeError:
                    if again:
                        raise
                    return self.valid_step(x, again=True)
        """
    ) == ["unknown"]


@pytest.mark.parametrize(
    "name",
    [
        "convert_to_triplets",
        "draw_samples",
        "convert_padding_mask",
        "convert_box_to_mask",
        "draw_gaussian",
        "init_decoder_states",
    ],
)
def test_computing_with_data_is_none(name: str) -> None:
    assert heats(f"def {name}(x: torch.Tensor):\n    return x.nonzero()\n") == ["unknown"]


@pytest.mark.parametrize(
    "name", ["convert_detr_checkpoint", "convert_mask_rcnn_weights", "convert_sync_batchnorm", "_init_hidden_layers"]
)
def test_what_is_converted_or_made_of_a_model_is_setup(name: str) -> None:
    assert heats(f"def {name}(x: torch.Tensor):\n    return x.nonzero()\n") == ["cold"]


@pytest.mark.parametrize(
    ("name", "test", "heat"),
    [
        ("_init_index", "self._index is None", "amortized"),  # though `reset` lets go of it
        ("_init_index", "not (self._index is not None)", "amortized"),
        ("_init_index", "self._index is not None", "hot"),
        ("_init_index", "x is not None", "hot"),
        ("_find_index", "self._index is None", "hot"),
    ],
)
def test_setup_by_its_name_where_something_is_not_there_yet_runs_once_in_many_steps(name, test, heat) -> None:
    text = f"""
    class Net(torch.nn.Module):
        def forward(self, x):
            if {test}:
                self.{name}(x)
            return x

        def {name}(self, x):
            self._index = x.nonzero()

        def reset(self):
            self._index = None
    """
    assert heats(text) == [heat]


def test_converting_is_setup() -> None:
    assert heats("class Int8:\n    def convert(self, w: torch.Tensor):\n        return w.cpu()\n") == ["cold"]


@pytest.mark.parametrize(
    ("name", "heat"),
    [("log_metrics", "cold"), ("_log_loss", "cold"), ("log_likelihood", "unknown"), ("_log_prob_of", "unknown")],
)
def test_a_logarithm_is_no_report(name: str, heat: str) -> None:
    assert heats(f"def {name}(x: torch.Tensor):\n    return x.log().tolist()\n") == [heat]


@pytest.mark.parametrize(("name", "heat"), [("lengths", "unknown"), ("_lengths", "cold")])
@pytest.mark.parametrize("caller", ["test_lengths", "benchmark_lengths"])
def test_a_test_beside_a_function_tells_nothing_of_it(name: str, heat: str, caller: str) -> None:
    text = f"def {name}(x: torch.Tensor):\n    return x.tolist()\n\n\n"
    text += f"def {caller}():\n    assert {name}(torch.ones(2, device='cuda'))\n\n\n"
    assert heats(text + f"if __name__ == '__main__':\n    {caller}()\n") == [heat]


UNDONE = """
    class Layer(torch.nn.Module):
        def __init__(self, weight: torch.Tensor):
            super().__init__()
            self.weight, self.folded, self.names = weight, False, []

        @property
        def merged(self):
            return bool(self.names)

        def fold(self):
            self.folded = True
            self.names.append("a")

        def unfold(self):
            while len(self.names) > 0:
                self.names.pop()
                print(self.weight.sum().item())
            self._forget()

        def _forget(self):
            self.folded = False

        def forward(self, x: torch.Tensor):
            if {test}:
                {turn}
            {more}
            return x
    """


@pytest.mark.parametrize(
    ("test", "turn", "more", "heat"),
    [
        ("self.folded", "self.unfold()", "pass", "amortized"),
        ("self.merged", "self.unfold()", "pass", "amortized"),
        ("self.merged and x.ndim", "self.unfold()", "pass", "amortized"),
        ("self.merged or x.ndim", "self.unfold()", "pass", "hot"),
        ("self.weight.ndim", "self.unfold()", "pass", "hot"),
        ("not self.merged", "self.unfold()", "pass", "hot"),
        ("self.merged", "self.unfold()", "self.fold()", "hot"),
        ("self.merged", "x = x + 1", "self.unfold()", "hot"),
        ("self.merged", "self.unfold()", "self.names.append(1)", "hot"),
        (
            "self.merged",
            "self.unfold()",
            "return x\n\n        def training_step(self, x):\n            self.fold()",
            "hot",
        ),
    ],
)
def test_what_an_arm_has_undone_is_met_once_for_each_time_it_was_done(
    test: str, turn: str, more: str, heat: str
) -> None:
    assert heats(UNDONE.format(test=test, turn=turn, more=more)) == [heat]


def test_merging_weights_is_setup_where_it_can_be_undone() -> None:
    layer = """
        class Layer(torch.nn.Module):
            def merge(self, weight: torch.Tensor):
                if not torch.isfinite(weight).all():
                    raise ValueError

            def {}(self):
                pass
        """
    assert heats(layer.format("unmerge")) == ["cold"]
    assert heats(layer.format("other")) == ["unknown"]


def test_what_runs_after_loading_is_setup() -> None:
    assert heats(
        """
        def process_weights_after_loading(weight: torch.Tensor):
            return weight.max().item()
        """
    ) == ["cold"]


@pytest.mark.parametrize(("folder", "package", "heat"), [("testing", True, "cold"), ("testing", False, "unknown")])
def test_a_package_of_test_helpers_is_one_of_tests(tmp_path, folder: str, package: bool, heat: str) -> None:
    place = tmp_path / folder
    place.mkdir()
    if package:
        (place / "__init__.py").touch()
    (place / "checks.py").write_text(HEAD + "def check(x: torch.Tensor):\n    return x.item()\n")
    assert [f.heat for f in pipeline.check([str(place / "checks.py")], Config(heat="all", cache=False)).findings] == [
        heat
    ]


def test_each_copy_to_the_device_waits_for_its_own_bytes() -> None:
    for loader, code in (("DataLoader(data)", "SG301"), ("DataLoader(data, pin_memory=True)", "SG303")):
        findings = found(
            f"""
            from torch.utils.data import DataLoader


            def train(model, data, optimizer):
                for images, labels in {loader}:
                    images = images.cuda()
                    labels = labels.cuda()
                    model(images, labels).backward()
                    optimizer.step()
            """
        )
        assert [(finding.code, finding.heat) for finding in findings if "cuda" in finding.message] == [
            (code, "hot")
        ] * 2


def test_hot_loops_are_counted_apart_from_hot_functions() -> None:
    step = "model(batch).backward()\n"
    text = f"""
def train(model, batches):
    for batch in batches:
        for _ in range(3):
            {step}
    for name in model.names:
        print(name)


for batch in data:
    {step}
"""
    report = pipeline.check(["-"], Config(stdin_filename="example.py"), text)
    assert (report.functions, report.hot, report.hot_loops) == (1, 0, 3)
    assert pipeline.check(["-"], Config(stdin_filename="test_example.py"), text).hot_loops == 0


@pytest.mark.parametrize(
    ("name", "heat"), [("load_data_to_gpu", "unknown"), ("load_batch", "unknown"), ("load_weights", "cold")]
)
def test_what_loads_a_batch_is_no_setup(name: str, heat: str) -> None:
    text = f"""
    import torch

    def {name}(batch):
        for key, part in batch.items():
            batch[key] = part.cuda()
    """
    assert heats(text) == [heat]


RUNNER = """
class Runner:
    def __init__(self, model):
        self.model = model
        self.warm()

    def warm(self):
        self.step(torch.ones(3, device="cuda"))

    def step(self, x: torch.Tensor):
        return self.model(x).argmax(-1).tolist()

    def call(self, name, *args):
        return {called}
"""


@pytest.mark.parametrize(
    ("called", "heat"),
    [
        ("getattr(self, name, print)(*args)", "unknown"),
        ("(method := getattr(self, name)) and method.name", "cold"),
        ("getattr(self, name)", "cold"),
        ("getattr(self.model, name)(*args)", "cold"),
        ("print(*args)", "cold"),
    ],
)
def test_what_is_called_by_its_name_is_not_setup_alone(called: str, heat: str) -> None:
    assert heats(RUNNER.format(called=called)) == [heat]


REMEMBERS = """
    TABLES = {{}}

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = {{}}

        def forward(self, x, n: int):
            {local}
            key = (n, x.device)
            {test}
                {value}
                {table}[key] = made
            return x + {table}[key]
    """
MADE = "made = torch.arange(n).to(x.device)"


@pytest.mark.parametrize(
    ("test", "table", "value", "local", "heat"),
    [
        ("if key not in self.tables:", "self.tables", MADE, "", "amortized"),
        ("if key not in TABLES:", "TABLES", MADE, "", "amortized"),
        ("if not key in TABLES:", "TABLES", MADE, "", "amortized"),
        ("if self.tables.get(key) is None:", "self.tables", MADE, "", "hot"),
        ("kept = TABLES.get(key)\n            if kept is None:", "TABLES", MADE, "", "amortized"),
        ("made = TABLES.get(key)\n            if made is None:", "TABLES", MADE, "", "amortized"),
        (
            "if key in self.tables:\n                return x + self.tables[key]\n            if n:",
            "TABLES",
            MADE,
            "",
            "hot",
        ),
        ("made = self.tables[key]\n            if made.shape[0] != n:", "self.tables", MADE, "", "amortized"),
        ("made = self.tables[key]\n            if made.shape[0] == n:", "self.tables", MADE, "", "hot"),
        ("made = self.tables[key]\n            if made.sum != n:", "self.tables", MADE, "", "hot"),
        ("if key not in tables:", "tables", MADE, "tables = {}", "hot"),
        ("if key not in tables:", "tables", MADE, "tables = self.tables[n]", "amortized"),
        ("if key not in tables:", "tables", MADE, "tables = dict(self.tables[n])", "hot"),
        ("if key not in tables:", "tables", MADE, "tables = [{}]; tables = tables[0]", "hot"),
        ("if key not in self.tables:", "self.tables", MADE, "self.tables = {}", "hot"),
        ("if key not in self.tables:", "self.tables", MADE, "self.tables.clear()", "hot"),
        ("if key not in self.tables:", "self.tables", "made = x.sum().item()", "", "hot"),
        ("if key in self.tables:", "self.tables", MADE, "", "hot"),
        ("if n not in self.tables:", "self.tables", MADE, "", "hot"),
    ],
)
def test_what_a_table_remembers_is_built_once_for_each_key(
    test: str, table: str, value: str, local: str, heat: str
) -> None:
    assert heats(REMEMBERS.format(test=test, table=table, value=value, local=local)) == [heat]


@pytest.mark.parametrize(
    ("over", "heat"),
    [
        ("group in self.param_groups", "amortized"),
        ("group, _ in zip(self.param_groups, self.copies)", "amortized"),
        ("group in [dict(one) for one in self.param_groups]", "hot"),
    ],
)
def test_what_an_optimizer_keeps_for_a_group_is_built_once(over: str, heat: str) -> None:
    text = f"""
        class Adam(torch.optim.Optimizer):
            def step(self):
                for {over}:
                    if "step" in group:
                        group["step"] += 1
                    else:
                        group["step"] = torch.tensor([1], device="cuda")
        """
    assert heats(text) == [heat]


def test_what_follows_a_table_that_has_the_key_is_built_once() -> None:
    text = """
        TABLES = {}

        def table(n: int, device):
            if n in TABLES:
                return TABLES[n]
            TABLES[n] = torch.arange(n).to(device)
            return TABLES[n]

        class Encoder(torch.nn.Module):
            def forward(self, x):
                return x + table(x.shape[0], x.device)
        """
    assert heats(text) == ["amortized"]


def test_each_index_from_the_host_is_copied_for_itself() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x):
                return x[[0, 2]] + x[[1, 3]]
        """
    assert heats(text) == ["hot", "hot"]


@pytest.mark.parametrize(("library", "heat"), [("gradio", "cold"), ("streamlit", "cold"), ("tqdm", "hot")])
def test_what_stands_beside_an_interface_runs_when_somebody_clicks(library: str, heat: str) -> None:
    text = f"""
        import {library} as gr

        def sample(model, x: torch.Tensor):
            return show(model(x).clamp(0, 1))

        def show(x: torch.Tensor):
            return x.cpu().numpy()
        """
    assert heats(text) == [heat]


def test_what_loops_beside_an_interface_may_run_long() -> None:
    text = """
        import gradio as gr

        class Net(torch.nn.Module):
            def forward(self, x):
                return x / x.max().item()

        def talk(net: Net, x: torch.Tensor, y: torch.Tensor):
            while len(x) < 99:
                x = torch.cat([x, net(y)])
                print(x[-1].item())
        """
    assert heats(text) == ["hot", "unknown"]


@pytest.mark.parametrize(("name", "heat"), [("main", "unknown"), ("setup", "unknown"), ("test_it", "cold")])
def test_what_is_set_up_once_and_met_at_every_step(name: str, heat: str) -> None:
    text = """
        def {}(model, data):
            torch.autograd.set_detect_anomaly(True)
            return torch.utils.data.DataLoader(data, batch_size=4)

        def train(model, data):
            for x in {}(model, data):
                model(x.cuda()).sum().backward()
        """
    assert [(one.code, one.heat) for one in found(text.format(name, name)) if one.code in ("SG303", "SG404")] == [
        ("SG404", heat),
        ("SG303", heat),
    ]


ITEM = "class Rows(torch.utils.data.Dataset):\n    def __getitem__(self, i): return {}"


@pytest.mark.parametrize("made", ["def collate(items): return {}", ITEM])
def test_what_makes_a_batch_runs_for_each(made: str) -> None:
    text = """
def setup_loader(rows):
    return torch.utils.data.DataLoader(rows, collate_fn=collate)
"""
    batch = made.format("torch.tensor([1.0, 2.0], device='cuda')") + "\n" + text
    assert [one.heat for one in found(batch) if one.code == "SG302"] == ["unknown"]


def test_what_an_epoch_calls_beside_its_steps_runs_once_in_many() -> None:
    text = """
        def reduced(found: torch.Tensor):
            return chunks(found) + found.sum().tolist()

        def chunks(found):
            kept = []
            for i in range(len(found)):
                kept += found[i].tolist()
            return kept

        def each(loss):
            return loss.item()

        def train(model, loader, opt):
            for epoch in range(9):
                for x in loader:
                    loss = model(x.cuda(non_blocking=True)).sum()
                    loss.backward()
                    opt.step()
                    each(loss)
                reduced(loss)
        """
    assert {one.function: one.heat for one in found(text) if one.code in ("SG201", "SG202")} == {
        "reduced": "amortized",
        "chunks": "unknown",
        "each": "hot",
    }


@pytest.mark.parametrize(("start", "heat"), [("fire.Fire(sample)", "cold"), ("print(sample)", "hot")])
def test_what_a_command_starts_runs_once(start: str, heat: str) -> None:
    text = f"""
        import fire

        def sample(model, x: torch.Tensor):
            return model(x).clamp(0, 1).cpu() + x.max().item()

        if __name__ == "__main__":
            {start}
        """
    assert {one.heat for one in found(text) if one.code == "SG201"} == {heat}


@pytest.mark.parametrize(
    ("decorator", "heats"),
    [
        ("@cli.command()", {"max": "cold", "sum": "unknown"}),
        ("@hydra.main(config_path=None)", {"max": "cold", "sum": "unknown"}),
        ("@cli.option", {"max": "unknown", "sum": "unknown"}),
    ],
)
def test_a_command_is_a_script(decorator: str, heats: dict[str, str]) -> None:
    text = f"""
        {decorator}
        def encode(model, x: torch.Tensor, count):
            print(model(x).max().item())
            for i in range(count):
                print((model(x) * i).sum().item())
        """
    findings = found(text)
    assert [one.heat for one in findings if one.code == "SG201"] == list(heats.values())


@pytest.mark.parametrize(
    ("beside", "heat"), [("torch.save(model, path)", "cold"), ("dist.all_gather(parts, x)", "unknown")]
)
def test_a_barrier_ends_a_phase_where_nothing_is_exchanged(beside: str, heat: str) -> None:
    text = f"""
        import torch.distributed as dist

        def publish(model, path, parts, x: torch.Tensor):
            dist.barrier()
            {beside}
        """
    assert heats(text) == [heat]
    assert (
        heats(
            text + "\n        def train(loader, m):\n            for x in loader:\n                m(x).backward()\n"
            "                publish(m, '', [], x)\n"
        )[0]
        == "hot"
    )


@pytest.mark.parametrize(("beside", "wanted"), [("torch.cuda.empty_cache()", []), ("x = x + 1", ["unknown"])])
def test_memory_is_given_back_between_phases(beside: str, wanted: list[str]) -> None:
    text = f"""
        def release(x):
            {beside}
            torch.cuda.synchronize()
        """
    assert heats(text) == wanted


@pytest.mark.parametrize(
    ("name", "more", "heat"),
    [
        ("training_step", "", "hot"),
        ("validation_step", "", "amortized"),
        ("validation_step", ", on_step=True", "hot"),
    ],
)
def test_a_bar_shows_an_evaluation_at_its_end(name: str, more: str, heat: str) -> None:
    text = f"""
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def {name}(self, batch: torch.Tensor, batch_idx):
                self.log("loss", self.net(batch).mean(), prog_bar=True{more})
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("signature", "heat"),
    [
        ("calibrate(module, x: torch.Tensor)", "cold"),
        ("expected_calibration_error(module, x: torch.Tensor)", "unknown"),
        ("fit_names(state_dict, x: torch.Tensor, strict, missing_keys, unexpected_keys)", "cold"),
        ("fit_names(state_dict, x: torch.Tensor, strict, keys)", "unknown"),
        ("reparametrize_state_dict_hook(module, x: torch.Tensor)", "cold"),
        ("cast_state_dict_post_hook(module, x: torch.Tensor)", "cold"),
        ("set_seed(module, x: torch.Tensor)", "cold"),
        ("shutdown(module, x: torch.Tensor)", "cold"),
    ],
)
def test_a_model_is_calibrated_and_loaded_once(signature: str, heat: str) -> None:
    assert heats(f"def {signature}:\n    return x.max().item()\n") == [heat]


@pytest.mark.parametrize(
    ("name", "loop", "heat"),
    [
        ("on_validation_epoch_end", "for key in self.keys + ['all']:", "amortized"),
        ("on_validation_epoch_end", "for x in self.outputs:", "unknown"),
        ("on_validation_epoch_end", "if self.outputs:", "amortized"),
        ("on_validation_batch_end", "if self.outputs:", "hot"),
        ("epoch_ended", "if self.outputs:", "unknown"),
    ],
)
def test_what_ends_an_epoch_runs_once_in_many_steps(name: str, loop: str, heat: str) -> None:
    text = f"""
        class Net(torch.nn.Module):
            def {name}(self):
                {loop}
                    print(self.loss(torch.rand(4, device="cuda")))

            def loss(self, x: torch.Tensor):
                return x.sum()
        """
    assert heats(text) == [heat]


EPOCH = """
class Trainer:
    def {name}(self, batches, opt):
        total = torch.zeros((), device="cuda")
        self.told(total)
        for batch in batches:
            total += self.loss_of(batch)
        return total.item()

    def told(self, total: torch.Tensor):
        print(total.tolist())

    def loss_of(self, batch: torch.Tensor):
        return torch.unique(batch).sum()
"""


@pytest.mark.parametrize(
    ("name", "heats"),
    [
        ("train_one_epoch", {"SG201": "amortized", "SG202": "amortized", "SG104": "hot"}),
        ("training_step", {"SG201": "hot", "SG202": "hot", "SG104": "hot"}),
    ],
)
def test_what_stands_around_the_loop_of_the_steps_runs_once(name: str, heats: dict[str, str]) -> None:
    assert {one.code: one.heat for one in found(EPOCH.format(name=name))} == heats


def test_what_trains_outside_of_its_loops_is_hot_there() -> None:
    text = """
class Trainer:
    def train_epoch(self, batch, rows):
        loss = self.model(batch).sum()
        loss.backward()
        for row in rows:
            print(row)
        return loss.item()
"""
    assert [one.heat for one in found(text)] == ["hot"]


@pytest.mark.parametrize(("end", "heat"), [("break", "cold"), ("if x.size(0): break", "hot"), ("continue", "hot")])
def test_what_a_loop_does_before_it_leaves_at_once_runs_once(end: str, heat: str) -> None:
    text = """
        for x in torch.utils.data.DataLoader(rows):
            x = x.to("cuda")
            {}
        """
    assert [finding.heat for finding in found(text.format(end)) if finding.code == "SG301"] == [heat]


@pytest.mark.parametrize(
    ("first", "heats"),
    [
        ("dist.init_process_group(x.name)", ["cold", "unknown"]),
        ("dist.new_group([0, 1])", ["cold", "unknown"]),
        ("for i in range(n): dist.new_group([i, int(x.sum().item())])", ["cold", "cold", "unknown"]),
        ("dist.get_rank()", ["unknown", "unknown"]),
    ],
)
def test_what_joins_a_group_of_processes_runs_once_and_its_loops_may_run_long(first: str, heats: list[str]) -> None:
    text = """
        from torch import distributed as dist

        def worker(x: torch.Tensor, n: int):
            {}
            print(x.sum().item())
            for i in range(n):
                x = x * x.max().item()
            return x
        """
    assert [finding.heat for finding in found(text.format(first)) if finding.code == "SG201"] == heats


@pytest.mark.parametrize(("name", "heat"), [("plot_rows", "amortized"), ("rows", "hot")])
def test_a_picture_is_drawn_now_and_then_whoever_asks_for_it(name: str, heat: str) -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x):
                if self.figures:
                    self.{0}(x)
                return x * 2

            def {0}(self, x):
                return x.sum().item()
        """
    assert heats(text.format(name)) == [heat]


@pytest.mark.parametrize(
    ("given", "call", "heat"),
    [("args", "run(args)", "cold"), ("x", "run(args)", "unknown"), ("args", "[run(args) for _ in x]", "unknown")],
)
def test_what_a_script_hands_its_settings_does_its_work(given: str, call: str, heat: str) -> None:
    text = """
        def run({}):
            print(torch.rand(4, device="cuda").sum().item())

        def main(args, x):
            {}
        """
    assert heats(text.format(given, call)) == [heat]


@pytest.mark.parametrize(
    ("said", "heat"), [('debug("%s", x)', "amortized"), ('info("%s", x)', "hot"), ('debug(f"{x}")', "hot")]
)
def test_what_is_whispered_is_seldom_formatted(said: str, heat: str) -> None:
    text = """
        import logging

        class Net(torch.nn.Module):
            def forward(self, x):
                logging.{}
                return x
        """
    assert heats(text.format(said)) == [heat]


@pytest.mark.parametrize(
    ("text", "heat"),
    [("net.cpu()", "cold"), ("for _ in range(9): net.cpu()", "unknown"), ("net.weight.cpu()", "unknown")],
)
def test_a_model_is_moved_seldom(text: str, heat: str) -> None:
    assert heats(f"def lend():\n    net = torch.nn.Linear(3, 3).cuda()\n    {text}\n    return net\n") == [heat]


@pytest.mark.parametrize(("inner", "heat"), [("loss.backward()", "hot"), ("print(loss)", "amortized")])
def test_what_goes_on_only_now_and_then_is_the_step_if_it_trains(inner: str, heat: str) -> None:
    text = f"""
        class Agent:
            def train_step(self, x: torch.Tensor, step):
                if step % self.every != 0:
                    return None
                self.learn(x)
                return x.mean().item()

            def learn(self, x):
                loss = self.net(x).sum()
                {inner}
        """
    assert heats(text)[0] == heat


LEARNER = """
    class Agent:
        def learn(self, x: torch.Tensor):
            {before}
                loss = self.net(x).sum()
                loss.backward()
                self.opt.step()
            return x.mean().item()
    """


@pytest.mark.parametrize(("before", "heat"), [("with self.scope:", "hot"), ("for y in self.parts:", "unknown")])
def test_what_runs_a_backward_pass_and_steps_an_optimizer_is_a_step(before: str, heat: str) -> None:
    assert heats(LEARNER.format(before=before)) == [heat]
    assert heats(LEARNER.format(before=before).replace("learn", "test_learn")) == ["cold"]


@pytest.mark.parametrize("name", ["sharded_load_from_cpu", "sharded_save_to_cpu"])
def test_what_loads_or_saves_from_somewhere_is_cold(name: str) -> None:
    assert heats(f"def {name}(x: torch.Tensor):\n    return x.cpu()\n") == ["cold"]


@pytest.mark.parametrize("name", ["weight_loader", "weight_loader_A", "_weight_loader_rowwise", "qkv_weight_loader"])
def test_what_loads_weights_of_any_kind_is_cold(name: str) -> None:
    text = f"""class Linear(torch.nn.Module):
    def {name}(self, param, loaded: torch.Tensor):
        param.data[: int(loaded.sum().item())].copy_(loaded)
"""
    assert {finding.heat for finding in found(text)} == {"cold"}


@pytest.mark.parametrize(
    ("test", "heat"),
    [
        ("not isinstance(self.clock, Clock)", "amortized"),
        ("not isinstance(self.clock, (Clock, int))", "amortized"),
        ("not isinstance(self.clock, Quartz)", "hot"),
        ("isinstance(self.clock, Clock)", "hot"),
        ("not isinstance(self.other, Clock)", "hot"),
    ],
)
def test_what_is_declared_is_what_is_given(test: str, heat: str) -> None:
    text = f"""
        class Clock:
            pass


        class Quartz(Clock):
            pass


        class Net(torch.nn.Module):
            def __init__(self, clock: Clock, other):
                super().__init__()
                self.clock, self.other = clock, other

            def forward(self, x):
                if {test}:
                    return x * x.max().item()
                return x
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(("declared", "heat"), [("int", "amortized"), ("int | Tensor", "hot")])
def test_what_is_declared_a_number_is_one(declared: str, heat: str) -> None:
    text = f"""
        from torch import Tensor


        class Net(torch.nn.Module):
            def forward(self, x: Tensor, n: {declared}):
                if not isinstance(n, int):
                    n = n.item()
                return x[:n]
        """
    assert [finding.heat for finding in found(text) if finding.code == "SG201"] == [heat]


@pytest.mark.parametrize(
    ("turn", "more", "heat"),
    [
        ("self.ready = False", "", "amortized"),
        ("self.ready = False", "def reset(self):\n                self.ready = False", "hot"),
        ("self.ready = False", "def reset(self, other):\n                other.ready = False", "hot"),
        ("self.ready = True", "", "amortized"),
    ],
)
def test_what_another_object_builds_it_builds_once_unless_somebody_may_reset_it(
    turn: str, more: str, heat: str
) -> None:
    text = f"""
        class Bias:
            def __init__(self):
                {turn}

            def build(self, x):
                self.length = x.max().item()
                self.ready = True

            {more or "pass"}

            def __call__(self, x):
                if not self.ready:
                    self.build(x)
                return x


        def run(x: torch.Tensor, loader, model):
            bias = Bias()
            for batch in loader:
                model(bias(x)).backward()
        """
    assert heats(text)[0] == heat


@pytest.mark.parametrize(
    ("test", "body", "more", "heat"),
    [
        ("not getattr(self, '_seen', False)", "self._seen = True", "pass", "amortized"),
        ("not getattr(self, '_seen', False)", "self._other = True", "pass", "hot"),
        (
            "not getattr(self, '_seen', False)",
            "self._seen = True",
            "def reset(self):\n        self._seen = False",
            "hot",
        ),
        ("getattr(self, '_seen', False)", "self._seen = True", "pass", "hot"),
    ],
)
def test_a_flag_that_is_asked_for_by_its_name_is_turned_off_once(test: str, body: str, more: str, heat: str) -> None:
    text = f"""
class Net(torch.nn.Module):
    {more}

    def forward(self, x):
        if {test}:
            self.largest = x.max().item()
            {body}
        return x
"""
    assert [finding.heat for finding in found(text)] == [heat]


@pytest.mark.parametrize(
    ("hand", "heat"),
    [("mask=mask", "amortized"), ("mask=x", "hot"), ("mask=None", "amortized"), ("mask=self.mask", "hot")],
)
def test_what_nobody_gives_is_handed_on_as_nothing(hand: str, heat: str) -> None:
    text = f"""
def _masked(x: torch.Tensor, mask: torch.Tensor | None = None):
    if mask is not None:
        return x * mask.sum().item()
    return x


class Net(torch.nn.Module):
    def _hidden(self, x, mask: torch.Tensor | None = None):
        return _masked(_masked(x, {hand}))

    def forward(self, x, mask):
        return self._hidden(x)
"""
    assert [finding.heat for finding in found(text)] == [heat]


@pytest.mark.parametrize(
    ("name", "heat"),
    [
        ("smoke_test", "cold"),
        ("finish_checkpoint_load", "cold"),
        ("prepare_checkpoint_save", "cold"),
        ("checkpointed_forward", "unknown"),
        ("run_hp_search_grid", "cold"),
        ("enable_history", "cold"),
        ("disabled", "unknown"),
        ("dcp_save_all", "cold"),
        ("first_load_and_send", "cold"),
        ("destroy_state", "cold"),
        ("dry_run", "cold"),
        ("merge_lora_weights", "cold"),
    ],
)
def test_what_is_named_for_what_is_done_once(name: str, heat: str) -> None:
    assert heats(f"def {name}(x: torch.Tensor):\n    torch.cuda.synchronize()\n    return x\n") == [heat]


def test_what_turns_something_on_at_every_step_is_hot() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x):
                return enable_rows(x)


        def enable_rows(x):
            return x[x.max().item() :]
        """
    assert heats(text) == ["hot"]


@pytest.mark.parametrize(
    ("name", "heat"),
    [("on_evaluate", "amortized"), ("on_predict", "amortized"), ("on_save", "cold"), ("on_more", "unknown")],
)
def test_hooks_of_a_trainer_around_its_steps(name: str, heat: str) -> None:
    text = f"""
        class Report(Callback):
            def {name}(self, args, state, x: torch.Tensor):
                return x.sum().item()
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(("name", "heat"), [("enable_full_determinism", "cold"), ("begin", "unknown")])
def test_who_asks_for_what_slows_left_nothing_on(name: str, heat: str) -> None:
    assert heats(f"import os\n\n\ndef {name}():\n    os.environ['CUDA_LAUNCH_BLOCKING'] = '1'\n") == [heat]


@pytest.mark.parametrize(
    ("name", "heat"),
    [("sample", "hot"), ("sample_rows", "unknown"), ("_sample_rows", "unknown"), ("sample_size_of", "unknown")],
)
def test_a_sample_may_be_what_it_is_about(name: str, heat: str) -> None:
    text = f"""
        class Data:
            def {name}(self, times: torch.Tensor):
                return times.tolist()
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("body", "heat"),
    [
        ("pass", "hot"),
        ("if x.ndim > 2: self.load(torch.load('last.pt'))", "unknown"),
        ("if self.net is None: self.net = Net.from_pretrained('net')", "hot"),
        ("self.net.load_state_dict(self.state)", "cold"),
        ("save_image(x, 'last.png')", "unknown"),
        ("utils.save_image(x, 'last.png')", "unknown"),
        ("self.last = x", "hot"),
    ],
)
def test_what_reads_a_checkpoint_or_writes_files_is_no_step_by_its_name(body: str, heat: str) -> None:
    text = f"""
        class Diffusion:
            def sample(self, x: torch.Tensor):
                {body}
                return x.sum().item()
        """
    assert {one.heat for one in found(text) if one.code == "SG201"} == {heat}


@pytest.mark.parametrize(("turn", "heat"), [("x = model(x)", "hot"), ("x = x + 1", "unknown")])
def test_what_is_named_for_a_sample_generates_where_it_holds_the_steps(turn: str, heat: str) -> None:
    text = f"""
        def sample_rows(model, x: torch.Tensor):
            for _ in range(9):
                {turn}
                x.tolist()
            return x
        """
    assert heats(text) == [heat]


def test_what_picks_at_every_step_is_hot() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x: torch.Tensor):
                return sample_rows(x)


        def sample_rows(x):
            return x.tolist()
        """
    assert heats(text) == ["hot"]


SAVER = """
    class {name}:
        def gather(self, x: torch.Tensor):
            return x.cpu()


    class Net(torch.nn.Module):
        def forward(self, x, saver: {name}):
            {call}
            return x
    """


@pytest.mark.parametrize(
    ("name", "call", "heat"),
    [
        ("ModelStateDictAdapter", "pass", "cold"),
        ("CheckpointManager", "pass", "cold"),
        ("CheckpointedLayers", "pass", "unknown"),
        ("CheckpointManager", "saver.gather(x)", "hot"),
    ],
)
def test_a_class_that_saves_and_loads_runs_seldom_unless_it_is_called_at_every_step(
    name: str, call: str, heat: str
) -> None:
    assert heats(SAVER.format(name=name, call=call)) == [heat]


@pytest.mark.parametrize(("looped", "heat"), [("", "cold"), ("for _ in range(n): ", "unknown")])
def test_a_checkpoint_is_loaded_once(looped: str, heat: str) -> None:
    text = f"""
        import torch.distributed.checkpoint as dcp

        def begin(state, path, n):
            {looped}dcp.load(state, checkpoint_id=path)
        """
    assert heats(text) == [heat]


@pytest.mark.parametrize(
    ("asked", "heat"), [("i in chosen", "amortized"), ("i not in chosen", "hot"), ("k in chosen", "hot")]
)
def test_a_step_that_is_one_of_some_comes_now_and_then(asked: str, heat: str) -> None:
    text = f"""
    def sample(unet, x: torch.Tensor, times, chosen, k):
        for i, t in enumerate(times):
            for one in x:
                loss = unet(one, t).mean()
                loss.backward()
                if {asked}:
                    print(loss.item())
    """
    assert heats(text)[:1] == [heat]


@pytest.mark.parametrize(("default", "heat"), [("True", "hot"), ("False", "amortized"), ("None", "amortized")])
def test_a_gate_that_stands_open_is_none(default: str, heat: str) -> None:
    text = f"""
        import torch

        def log(x: torch.Tensor, verbose={default}):
            if verbose:
                print(x.sum().item())

        def train(model, batches):
            for x in batches:
                y = model(x)
                y.sum().backward()
                log(y)
        """
    assert heats(textwrap.dedent(text)) == [heat]


@pytest.mark.parametrize(("step", "heat"), [("model(a).sum().backward()", "hot"), ("show(a)", "cold")])
def test_what_is_prepared_of_texts_crosses_at_every_step_where_steps_are_taken(step: str, heat: str) -> None:
    text = f"""
        import torch

        def train(model, tokenizer, texts):
            for one in texts:
                a = tokenizer(one, return_tensors="pt")["input_ids"].cuda()
                {step}
        """
    assert heats(textwrap.dedent(text)) == [heat]


HANDED = """
class Net(torch.nn.Module):
    def run(self, kind, x):
        {asks}

    def load(self, path):
        return self._pick(torch.load(path))

    def _pick(self, x: torch.Tensor):
        return x[x > 0]
"""


@pytest.mark.parametrize(
    ("asks", "heat"),
    [
        ("return getattr(self, '_' + kind)(x)", "unknown"),
        ("pick = getattr(self, f'_{kind}')\n        return pick(x)", "unknown"),
        ("return getattr(self, '_draw_' + kind)(x)", "cold"),
        ("return getattr(self, '_' + kind)", "cold"),
        ("return getattr(self, '_draw')(x)", "cold"),
        ("return kind.apply(self._pick)", "unknown"),
        ("return kind.apply(self._draw)", "cold"),
    ],
)
def test_what_its_file_hands_about_or_makes_up_a_name_for_may_run_often(asks: str, heat: str) -> None:
    assert heats(HANDED.format(asks=asks)) == [heat]


@pytest.mark.parametrize(
    ("opened", "heat"),
    [
        ('open(path, "w")', "cold"),
        ('open(path, mode="wb")', "cold"),
        ('path.open("x")', "cold"),
        ('open(path, "a")', "unknown"),  # a line more each time
        ("open(path)", "unknown"),
        ("open(path, mode)", "unknown"),
    ],
)
def test_what_writes_a_new_file_whenever_it_is_called_is_seldom_called(opened: str, heat: str) -> None:
    served = "@app.post('/')\n        def rows(labels: torch.Tensor, path):\n            with open(path, 'w') as out:\n"
    assert heats(f"\n        {served}                out.write(str(labels.unique()))\n") == ["unknown"] * 2
    text = f"""
        def rows(labels: torch.Tensor, path, mode):
            found = labels.unique()
            with {opened} as file:
                file.write(str(found.shape))
        """
    assert heats(text) == [heat]
