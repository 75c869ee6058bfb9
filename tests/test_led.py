"""A wait that only some calls of its function lead to is as warm as these, and stands behind what they do."""

from __future__ import annotations

import pytest
from test_opted import found

HOT = "in this file hot "
NET = """
    class Net(torch.nn.Module):
        def forward(self, x, images: torch.Tensor | None = None, videos: torch.Tensor | None = None, deep=False):
            if images is not None:
                x = self.masks(x, images=images)
            if videos is not None:
                x = self.masks(x, {second})
            return x

        def masks(self, x: torch.Tensor, images=None, videos=None):
            if videos is not None:
                print(x.sum())
            return x
    """
SET = """
    class Net(torch.nn.Module):
        def forward(self, x):
            return self.decode(x{forward})

        def decode(self, x: torch.Tensor, exact: bool = False):
            if exact:
                x = x + x.max().item()
            return x

        def generate(self, x):
            x = self.decode(x, exact=True)
            for _ in range(9):
                x = self(x){turn}
            return x
    """


def of(text: str) -> tuple[str, list[int], list[str]]:
    (finding,) = found(text)
    return finding.heat, [fact.line for fact in finding.hot_path][1:], [fact.text for fact in finding.options]


@pytest.mark.parametrize("second", ["videos=videos", "None, videos", "images=None, videos=videos"])
def test_the_path_leads_by_a_call_that_gives_what_the_line_needs(second: str) -> None:
    assert of(NET.format(second=second)) == ("hot", [10], ["only where `videos` is given"])


def test_the_options_of_these_calls_count_alone() -> None:
    text = NET.replace("if videos is not None:\n                x", "if deep:\n                x")
    told = "only where `videos` is given"
    assert of(text.format(second="videos=videos"))[1:] == (
        [10],
        [f"{HOT}only where `deep` holds; by default `deep` is `False`", told],
    )
    either = "in this file called only where `images` is given or `deep` holds"
    text = text.replace("images=images", "None, images")
    assert of(text.format(second="videos=videos"))[1:] == ([8], [either, told])


def test_arguments_out_of_a_list_may_be_any() -> None:
    assert of(NET.replace("images=images", "*images").format(second="videos=videos"))[1] == [8]


def test_a_parameter_that_is_bound_anew_may_be_anything() -> None:
    text = NET.replace("images=None, videos=None):", "images=None, videos=None):\n            videos = images")
    assert of(text.format(second="videos=videos"))[1] == [8]


@pytest.mark.parametrize(
    ("forward", "turn", "heat"),
    [
        ("", "", "amortized"),
        (", exact=False", "", "amortized"),
        (", exact=True", "", "hot"),
        ("", " + self.decode(x, True)", "hot"),
        (", exact=self.exact", "", "hot"),
    ],
)
def test_what_only_calls_now_and_then_lead_to_runs_now_and_then(forward: str, turn: str, heat: str) -> None:
    assert of(SET.format(forward=forward, turn=turn))[0] == heat


def test_what_is_handed_on_must_be_given_above() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x, first=None):
                x = self.outer(x)
                return self.outer(x, {given})

            def outer(self, x, end=None):
                return self.inner(x, end)

            def inner(self, x: torch.Tensor, end=None):
                if end is not None:
                    x = x[x > 0]
                return x
        """
    assert of(text.format(given="x"))[:2] == ("hot", [8, 11])
    assert of(text.format(given="first"))[:2] == ("hot", [8, 11])
    assert of(text.format(given="None"))[:2] == ("amortized", [])  # nobody asks for it


WEIGHED = """
    class Net(torch.nn.Module):
        def forward(self, x):
            x = {first}
            return self.fit(x)

        def fit(self, x):
            return {second}

    def {name}(x: torch.Tensor, beta=0.5, mode="slow"):
        if beta == 0:
            return x
        elif mode == "fast":
            return x + 1
        return x + x.max().item()
    """


@pytest.mark.parametrize("name", ["_weighed", "weighed"])
@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        ("{}(x, 0.0)", "{}(x, 0.3)", [8, 11]),
        ("{}(x, beta=0)", "{}(x, self.beta)", [8, 11]),
        ("{}(x, mode='fast')", "{}(x)", [8, 11]),
        ("{}(x, mode='fast', beta=1)", "{}(x, 0)", None),
        ("{}(x, self.beta)", "{}(x, 0.0)", [7]),
        ("{}(x, **self.kept)", "{}(x, 0.0)", [7]),
    ],
)
def test_a_call_that_says_that_it_leads_elsewhere_makes_nothing_hot(
    name: str, first: str, second: str, lines: list[int] | None
) -> None:
    heat, path, _ = of(WEIGHED.format(name=name, first=first.format(name), second=second.format(name)))
    assert (heat, path) == ("hot", lines) if lines else heat != "hot"


NORM = """
    class Scaler:
        def __call__(self, loss, optimizer, weights):
            loss.backward()
            size = norm_of(weights{given})
            optimizer.step()
            return size

    def norm_of(weights: list[torch.Tensor], p: float = 2.0):
        p = {made}
        if p == float("inf"):
            return max(w.grad.abs().max() for w in weights)
        return sum(w.grad.norm(p) for w in weights)
    """


@pytest.mark.parametrize(
    ("given", "made", "hot"),
    [("", "float(p)", False), (", math.inf", "float(p)", True), ("", "float(weights[0].shape[0])", True)],
)
def test_a_number_that_is_made_of_a_parameter_is_that(given: str, made: str, hot: bool) -> None:
    findings = found(NORM.format(given=given, made=made))
    assert [one.heat == "hot" for one in findings] == [hot]
