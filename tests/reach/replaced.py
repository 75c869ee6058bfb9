"""What a decorator may replace: where it finds another in a table, the body that it decorates does not run."""

from functools import wraps

import torch

TABLE: dict = {}


def with_choice(cls=None, *, bias=False):
    def decorate(cls):
        original = cls.forward

        @wraps(original)
        def forward(self, *args, **kwargs):
            chosen = TABLE.get(self.config.implementation, original)
            return chosen(self, *args, **kwargs)

        cls.forward = forward
        return cls

    return decorate if cls is None else decorate(cls)


def with_check(cls):
    original = cls.forward

    def forward(self, *args, **kwargs):
        hook = TABLE.get("hook", print)
        hook(self)
        return original(self, *args, **kwargs)

    cls.forward = forward
    return cls


def chosen_by_name(function):
    @wraps(function)
    def chosen(*args, **kwargs):
        return getattr(TABLE, function.__name__, function)(*args, **kwargs)

    return chosen


def timed(function):
    @wraps(function)
    def timed_function(*args, **kwargs):
        return TABLE.get("runner", lambda run, *given: run(*given))(function, *args)

    return timed_function


@with_choice
class Experts(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        self.count(x)
        return x[x > 0]  # waits: amortized

    def count(self, x: torch.Tensor):
        return (x > 0).sum().item()  # waits: amortized

    def extra_forward(self, x: torch.Tensor):
        return x[x > 1]  # waits: unknown


@with_choice(bias=True)
class Biased(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x[x > 0]  # waits: amortized


@with_check
class Checked(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x[x > 0]  # waits: hot


@chosen_by_name
def kept(x: torch.Tensor):
    return x[x > 0]  # waits: amortized


@timed
def kept_in_time(x: torch.Tensor):
    return x[x > 0]  # waits: hot


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.experts, self.checked = Experts(), Checked()

    def forward(self, x: torch.Tensor):
        x = self.checked(self.experts(x))
        return kept(x) + kept_in_time(x)
