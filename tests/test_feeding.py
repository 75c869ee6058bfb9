"""Loops that generate: each turn gives a model what it made in the turn before, and is a step."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config

HEAD = "import torch\n\n\n"


def heats(text: str) -> list[str]:
    config = Config(heat="all", stdin_filename="example.py")
    found = pipeline.check(["-"], config, HEAD + textwrap.dedent(text)).findings
    return [finding.heat for finding in found if finding.code == "SG201"]


@pytest.mark.parametrize(
    "loop",
    [
        """
        for t in timesteps:
            noise = self.unet(x, t)
            x = self.scheduler.step(noise, t, x)
        """,
        """
        with self.progress_bar(n) as bar:
            for i, t in enumerate(timesteps):
                if self.interrupt:
                    continue
                doubled = torch.cat([x, x]) if self.guided else x
                noise = self.transformer(hidden_states=doubled, timestep=t, return_dict=False)[0]
                before = x.dtype
                x = self.scheduler.step(noise, t, x, return_dict=False)[0]
                bar.update()
        """,
        """
        while not done:
            inputs = self.prepare(x, **kwargs)
            outputs = self(**inputs)
            kwargs = self.updated(outputs, kwargs)
        """,
        """
        for _ in range(n):
            logits = model(x)
            x = torch.cat([x, logits.argmax(-1)])
        """,
        """
        tokens = [0]
        while len(tokens) < n:
            logits = self.decoder(torch.tensor(tokens))
            tokens.append(logits.argmax(-1))
        """,
        """
        for _ in range(n):
            with torch.no_grad():
                action = policy(x)
            x, reward = env.step(action)
        """,
        """
        for _ in range(n):
            y, self.state = self.net(x, self.state)
        """,
        """
        for t in timesteps:
            if t > n:
                current_model = self.transformer
            else:
                current_model = self.transformer_2
            noise = current_model(x, t)
            x = self.scheduler.step(noise, t, x)
        """,
        """
        for t in timesteps:
            net = model if t > n else policy
            x = x - net(x, t)
        """,
    ],
)
def test_what_a_model_gave_is_fed_to_it_again(loop: str) -> None:
    text = """
        class Pipeline:
            def run(self, x: torch.Tensor, n, timesteps, model, policy, env, done=False, **kwargs):
                print(x.min().item())
{loop}
                    print(x.max().item())
                return x
        """
    inner = 20 if "with self" not in loop else 24
    body = textwrap.indent(textwrap.dedent(loop).strip("\n"), " " * 16)
    text = text.format(loop=body).replace(" " * 20 + "print(x.max", " " * inner + "print(x.max")
    assert heats(text) == ["amortized", "hot"]


@pytest.mark.parametrize(
    "loop",
    [
        # each layer is another one
        """
        for layer in self.layers:
            x = layer(x)
        """,
        """
        for model in models:
            x = model(x)
        """,
        # no turn needs the one before
        """
        for x in chunks:
            x = model(x)
        """,
        """
        for chunk in chunks:
            y = chunk * 2
            y = model(y)
            kept.append(y)
        """,
        """
        for chunk in chunks:
            h = self.encoder_model(chunk)
            y = self.decoder(h)
        """,
        """
        for chunk in chunks:
            total += model(chunk)
        """,
        # no model
        """
        for i in range(n):
            x = torch.relu(x)
        """,
        """
        for i in range(n):
            x = Model(x)
        """,
        # another one for each turn
        """
        for i in range(n):
            model = models[i]
            x = model(x)
        """,
        """
        for i in range(n):
            model = self.built(i)
            x = model(x)
        """,
        """
        for layer_model in models:
            model = layer_model
            x = model(x)
        """,
    ],
)
def test_other_loops_are_no_steps(loop: str) -> None:
    text = """
        class Pipeline:
            def run(self, x: torch.Tensor, n, chunks, model, models, kept, total=0):
                print(x.min().item())
{loop}
                    print(x.max().item())
                return x
        """
    text = text.format(loop=textwrap.indent(textwrap.dedent(loop).strip("\n"), " " * 16))
    assert heats(text) == ["unknown", "unknown"]


def test_around_the_loop_of_a_function_that_generates_it_runs_once() -> None:
    text = """
        class Model(torch.nn.Module):
            @torch.no_grad()
            def {name}(self, ids: torch.Tensor, n):
                longest = self.longest(ids)
                for _ in range(n):
                    logits = self(ids)
                    ids = torch.cat([ids, logits.argmax(-1)])
                    if self.ended(ids):
                        break
                return ids

            def longest(self, ids):
                return ids.sum(-1).max().item()

            def ended(self, ids):
                return (ids[:, -1] == 2).all().item()
        """
    assert heats(text.format(name="generate")) == ["amortized", "hot"]
    assert heats(text.format(name="generate").replace("self(ids)", "self.embed(ids)")) == ["hot", "hot"]


AROUND = """
    class Pipeline:
        def run(self, x: torch.Tensor, n):
            x = self.prepared(x)
            for t in range(n):
                x = x - self.unet(x, t)
            return shown(x)

        def prepared(self, x):
            return self._scaled(x) if x.min().item() else x

        def _scaled(self, x):
            return x / x.max().item()

    def shown(x):
        return x.sum().item()
    """


def test_methods_that_are_called_around_it_run_once_too() -> None:
    assert heats(AROUND) == ["amortized", "amortized", "unknown"]


@pytest.mark.parametrize(
    "caller",
    [
        "def step(self, x):\n            return self._scaled(x)",
        "def forward(self, x):\n            return self._scaled(x)",
    ],
)
def test_but_not_what_others_call_as_well(caller: str) -> None:
    heat = "hot" if "forward" in caller else "unknown"
    assert heats(AROUND.replace("    def shown", f"        {caller}\n\n    def shown")) == [
        "amortized",
        heat,
        "unknown",
    ]


def test_what_a_function_calls_whose_results_are_kept() -> None:
    text = """
        import functools

        @functools.lru_cache
        def table(size, device):
            return filled(size, torch.ones(size, device=device))

        def filled(size, x: torch.Tensor):
            return [x[i].item() for i in range(size)]
        """
    assert heats(text) == ["amortized"]
    assert heats(text.replace("@functools.lru_cache", "")) == ["unknown"]


def test_what_another_file_calls_at_every_step_is_hot(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p").mkdir()
    Path("p/__init__.py").touch()
    Path("p/pipe.py").write_text(HEAD + textwrap.dedent(AROUND))
    Path("p/net.py").write_text(
        f"{HEAD}from p.pipe import Pipeline\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.pipe = Pipeline()\n\n"
        "    def forward(self, x):\n        return self.pipe.prepared(x)\n"
    )
    found = pipeline.check(["p"], Config(heat="all", cache=False)).findings
    # Nothing else in the package calls `shown`.
    assert [one.heat for one in found if one.code == "SG201"] == ["hot", "hot", "amortized"]


def test_a_loop_around_one_that_generates_is_no_step() -> None:
    text = """
        def images(model, noises: list[torch.Tensor], n):
            for x in noises:
                print(x.min().item())
                for t in range(n):
                    x = x - model(x, t)
                    print(x.max().item())
        """
    assert heats(text) == ["amortized", "hot"]


def test_a_model_that_is_refined_in_its_forward_is_no_other_step() -> None:
    text = """
        class Flow(torch.nn.Module):
            def forward(self, x):
                print(x.min().item())
                for _ in range(12):
                    x = self.net(x)
                return x
        """
    assert heats(text) == ["hot"]


BLEND = """
class Diffusion(torch.nn.Module):
    {decorator}
    def blend(self, x: torch.Tensor, n):
        print(x.min().item())
        for t in reversed(range(n)):
            x, start = self.p_sample({x}, t)
            print(x.max().item())
        return x

    def p_sample(self, x, t):
        start = self.predicted(x, t)
        return start + x, start

    def predicted(self, x, t):
        return self.{model}(x, t)
"""


def blended(decorator="@torch.no_grad()", x="x", model="model") -> list[str]:
    return heats(BLEND.format(decorator=decorator, x=x, model=model))


def test_a_method_that_has_a_model_run_is_fed_where_nothing_is_learnt() -> None:
    assert blended() == blended("@torch.inference_mode()") == blended(model="model.forward_with_scale")
    assert blended() == ["amortized", "hot"]
    unknown = [blended(""), blended(x="n"), blended(model="weigh")]
    assert unknown == [["unknown", "unknown"]] * 3
    looped = BLEND.replace(
        "        start = self.predicted", "        for t in range(t):\n            start = self.predicted"
    )
    assert heats(looped.format(decorator="@torch.no_grad()", x="x", model="model")) == ["unknown", "unknown"]


DRAWN = """
class Sampler:
    @torch.no_grad()
    def draw(self, x: torch.Tensor, times):
        print(x.sum().item())
        for t in times:
            outs = self.advance(x, t)
            x, seen = {takes}
        return x

    @torch.no_grad()
    def advance(self, x, t):
        def predicted(x, t):
            return self.{model}(x, t)

        print(x.max().item())
        return x - predicted(x, t), t
"""


@pytest.mark.parametrize(
    ("takes", "model", "expected"),
    [
        ("outs", "model", ["amortized", "hot"]),
        ("self.pair", "model", ["unknown", "unknown"]),
        ("outs", "weigh", ["unknown", "unknown"]),
    ],
)
def test_what_comes_of_it_may_be_taken_apart_before_it_is_fed(takes: str, model: str, expected: list[str]) -> None:
    assert heats(DRAWN.format(takes=takes, model=model)) == expected


ROWS = """
class Writer:
    def generate(self, x: torch.Tensor, n):
        for _ in range(n):
            x = torch.cat((x, self.model(x)))
        found = []
        for row in {rows}:
            {first}
            found.append(self.codec(x.max().item()))
        return found
"""


@pytest.mark.parametrize(
    ("rows", "first", "heat"),
    [
        ("x", "pass", "amortized"),
        ("zip(x, x)", "pass", "amortized"),
        ("x", "part = self.first(row); part = self.second(part)", "amortized"),
        ("range(n)", "pass", "hot"),  # it may take steps of its own
        ("self.loader", "pass", "hot"),
        ("x", "x = self.refined(x, row)", "hot"),  # and so may this
    ],
)
def test_behind_the_loop_of_a_function_that_generates_its_rows_are_gone_through_once(rows, first, heat) -> None:
    assert heats(ROWS.format(rows=rows, first=first)) == [heat]


def test_a_loop_that_asks_for_the_next_token_feeds_what_gives_it() -> None:
    text = """
        class Writer:
            def generate(self, ids):
                return self.written(self.begin(ids), 9)

            def begin(self, ids: torch.Tensor):
                return ids[:, ids.max().item()]

            def written(self, token: torch.Tensor, count):
                for _ in range(count):
                    token = self.next_token(token)
                    if token[0].item() == 2:
                        break
                return token
        """
    assert heats(text) == ["amortized", "hot"]
