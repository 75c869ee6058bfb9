"""What a wait needs that most calls do not have, or that somebody keeps, is told where nothing has a default."""

from __future__ import annotations

import pytest
from test_opted import told

STEP = """
    class Net(torch.nn.Module):
        def forward(self, x, plan, batch: dict, state: dict):
            {held}
            if {test}:
                return x.sum().item()
            return x
    """


@pytest.mark.parametrize(
    ("held", "test", "option"),
    [
        ("sizes = plan.sizes_cpu", "sizes is None", "only where `plan.sizes_cpu` is None"),
        ("sizes = plan.sizes_cpu if plan else None", "sizes is None", "only where `plan.sizes_cpu` is None"),
        ("pass", "plan.host_sizes is None", "only where `plan.host_sizes` is None"),
        ("pass", "not (plan.host_sizes is not None)", "only where `plan.host_sizes` is None"),
        ("sizes = plan.sizes_cpu", "sizes is not None", ""),
        ("sizes = plan.sizes", "sizes is None", ""),
        ("some = state.get('rest')", "some is not None", 'only where `state` has `"rest"`'),
        ("some = state.get('rest', None)", "some is not None", 'only where `state` has `"rest"`'),
        ("some = state.get('rest', x)", "some is not None", ""),
        ("some = state.get('labels')", "some is not None", ""),
        ("some = state.get('rest')", "some is None", ""),
        ("some = state.get('rest')\n            some = x", "some is not None", ""),
        (
            "some = state.get('rest')\n            if plan:\n                some = None",
            "some is not None",
            'only where `state` has `"rest"`',
        ),
        ("some = state.get('rest')\n            if plan:\n                some = x", "some is not None", ""),
        ("some = batch.get('rest')", "some is not None", ""),
        ("some = state['rest']", "some is not None", ""),
        ("pass", "state.get('rest') is not None", 'only where `state` has `"rest"`'),
        ("pass", "state.get('rest')", 'only where `state` has `"rest"`'),
        ("pass", "not state.get('rest')", ""),
        ("pass", "batch.get('rest')", ""),
    ],
)
def test_a_copy_that_is_kept_and_an_entry_that_few_have(held: str, test: str, option: str) -> None:
    assert told(STEP.format(held=held, test=test)) == [[option] if option else []]


SOLVER = """
    class Solver:
        def __init__(self, jumps=None):
            self.jumps = None if jumps is None else torch.as_tensor(jumps, device="cuda")

        def start(self, x):
            if self.jumps is None:
                jumps = {empty}
            else:
                jumps = self.jumps.sort()[0]
            self.jumps = jumps

        def step(self, x: torch.Tensor):
            if len(self.jumps):
                return x.sum().item()
    """


@pytest.mark.parametrize(("empty", "named"), [("torch.tensor([])", True), ("[]", True), ("torch.tensor([0.0])", False)])
def test_what_is_empty_unless_an_argument_is_given_asks_for_it(empty: str, named: bool) -> None:
    assert told(SOLVER.format(empty=empty)) == [["only where `jumps` is given"] if named else []]


TYPES = """
    def is_torch(x):
        return {answer}

    def to_tensor(x, device):
        if is_torch(x):
            return x.to(device)
        return torch.tensor(x, device="cuda")

    to_tensor([1, 2], "cuda")
    """


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("isinstance(x, torch.Tensor)", True),
        ("isinstance(x, (torch.Tensor, list))", True),
        ("torch.is_tensor(x)", True),
        ("isinstance(x, list)", False),
        ("not isinstance(x, torch.Tensor)", False),
    ],
)
def test_a_function_that_only_asks_for_a_tensor_is_asked_for_one(answer: str, named: bool) -> None:
    options = told(TYPES.format(answer=answer))[-1]
    assert ("only where `x` is no tensor" in options) is named


@pytest.mark.parametrize(
    ("bound", "named"),
    [("deep = False", True), ("deep = True", False), ("deep = x.is_cuda", False), ("deep = 0", False)],
)
def test_a_parameter_that_is_made_what_it_is_by_default_is_one(bound: str, named: bool) -> None:
    text = f"""
    def step(x: torch.Tensor, wide, deep=False):
        for one in wide:
            {bound}
        if deep:
            return x.sum().item()
    """
    assert told(text) == [["only where `deep` holds; by default `deep` is `False`"] if named else []]


@pytest.mark.parametrize(
    ("declared", "test", "option"),
    [
        ("shift: torch.Tensor | None", "shift is not None", "only where `shift` is not None"),
        ("shift: torch.Tensor | None", "shift is None", "only where `shift` is None"),
        ("shift: torch.Tensor", "shift is not None", ""),
        ("shift", "shift is not None", ""),
        ("labels: torch.Tensor | None", "labels is not None", ""),
    ],
)
def test_what_every_call_must_say_may_be_none(declared: str, test: str, option: str) -> None:
    text = f"""
    def solve(x: torch.Tensor, {declared}):
        if {test}:
            return x.sum().item()
    """
    assert told(text) == [[option] if option else []]


HANDS_ON = """
    def _pick(x, boxes: torch.Tensor | None = None, cuts: list[float] | None = None):
        if {test}:
            return x.sum().item()
        return 0


    def pick(x, boxes: torch.Tensor | None = None, cuts: list[float] | None = None):
        return {call}
    """


@pytest.mark.parametrize(
    ("test", "call", "expected"),
    [
        ("boxes is not None", "_pick(x, boxes)", ["only where `boxes` is given"]),
        ("boxes is None", "_pick(x, boxes=boxes)", ["only where `boxes` is not given"]),
        ("isinstance(cuts, list)", "_pick(x, boxes, cuts)", ["only where `cuts` is a list"]),
        ("boxes is not None", "_pick(x, boxes) + _pick(x, x)", []),
        ("boxes is not None", "_pick(x, boxes * 2)", []),
        ("isinstance(cuts, list)", "_pick(x, cuts=[0.5])", []),
    ],
)
def test_what_a_private_function_is_handed_on_may_be_left_out(test: str, call: str, expected: list[str]) -> None:
    assert told(HANDS_ON.format(test=test, call=call))[0] == expected


@pytest.mark.parametrize(
    ("test", "told_so"),
    [
        ("size > 1", True),
        ("size != 1", True),
        ("size == 2", True),
        ("size == 1", False),
        ("size <= 1", False),
        ("get_context_parallel_size() > 1", True),
        ("get_data_parallel_world_size() > 1", False),
    ],
)
def test_over_how_many_devices_a_model_is_spread_is_an_option(test: str, told_so: bool) -> None:
    text = f"""
    def gather(x, get_context_parallel_size, get_data_parallel_world_size):
        size = get_tensor_model_parallel_world_size(with_group=False)
        if {test}:
            return x.sum().item()
        return 0
    """
    assert told(text) == [[f"only where `{test}` holds"] if told_so else []]


OFF = "as far as we see called only where `stops is None` does not hold; by default `stops` is `None`"
HANDED_ON = """
    def found(stops, x: torch.Tensor, n):
        if stops is None:
            return False
        return bool((stops[0] == x[n]).all())

    def stream(x: torch.Tensor, {given}):
        {first}
        return [found({handed}, x, n) for n in range(4)]
    """


@pytest.mark.parametrize(
    ("given", "first", "handed", "expected"),
    [
        ("stops=None", "pass", "stops", [OFF]),
        ("stops=None", "if stops:\n            stops = [stops]", "stops", [OFF]),
        ("stops=None", "if stops is None:\n            stops = [x]", "stops", []),
        ("stops=None", "stops = [stops]", "stops", []),
        ("stops=(1,)", "pass", "stops", []),
        ("stops", "pass", "stops", []),
        ("stops=None", "pass", "[x]", []),
    ],
)
def test_what_must_be_given_and_is_handed_on_may_be_left_out(
    given: str, first: str, handed: str, expected: list[str]
) -> None:
    assert told(HANDED_ON.format(given=given, first=first, handed=handed)) == [expected]


def test_of_what_is_hot_it_is_told_there() -> None:
    text = HANDED_ON.format(given="stops=None", first="pass", handed="stops").replace("stream", "training_step")
    assert told(text) == [["only where `stops` is not None"]]


TRACKS = """
    class Net(torch.nn.Module):
        def forward(self, x, segm_mask=None):
            y = self._rough(x)
            return self._tracks(x, {given})

        def _rough(self, x):
            return self._tracks(x)

        def _tracks(self, x, segm_mask=None):
            if segm_mask is not None:
                return x.sum().item()
            return x
    """


@pytest.mark.parametrize(("given", "named"), [("segm_mask", True), ("x > 0", False), ("*x", False)])
def test_what_one_call_hands_on_and_another_leaves_out_is_named(given: str, named: bool) -> None:
    assert told(TRACKS.format(given=given)) == [["only where `segm_mask` is given"] if named else []]
