"""Programs of a recipe's shape in odd settings, for tests/test_fix_hostile.py: what is the same after its safe fixes."""

# ruff: noqa: E501

PROVEN = {
    "star args": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return max(*[v.item() for v in x])
""",
    "match body": """\
def f(x: torch.Tensor, y: torch.Tensor):
    match len(x):
        case 6:
            z = x * 1
            z[z > 0] = y[z > 0]
            return z
    return x
""",
    "alias view": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    w = z.view(2, 3)
    m = z > 0
    z[m] = y[m]
    return w
""",
    "alias rhs": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    m = z > 0
    z[m] = z[m] * 2
    return z
""",
    "nested comp": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return [[v.item() for v in r] for r in x.view(2, 3)]
""",
    "comp with cond": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return [x[i].item() for i in range(6) if y[i].item() > 2]
""",
    "gen exp": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return sum(x[i].item() for i in range(len(x)))
""",
    "index var changes": """\
def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    i = 0
    while i < 6:
        out.append(x[i].item() + 1)
        i += 2
    return out
""",
    "break before": """\
def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    for i in range(6):
        if i == 3:
            break
        out.append(x[i].item() + 1)
    return out
""",
    "shadow i": """\
def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    for i in range(3):
        for i in range(2):
            out.append(x[i].item() + 1)
    return out
""",
    "mask 2d": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    m = z > 0
    z[m] = y[m] - 1
    return z
""",
    "mask aug": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    m = z > 0
    z[m] += y[m]
    return z
""",
    "nan clamp": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    m = z > 0
    z[m] = y[m].clamp(max=3.0) * 2
    return z
""",
    "tensor mixed": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return torch.tensor([1, 1.0], device=x.device)
""",
    "new tensor": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return x.new_tensor(1), x.new_tensor(1.5), x.new_tensor([2, 2])
""",
    "view between": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return torch.arange(4).view(2, 2).to(x.device)
""",
    "flt max": """\
def f(x: torch.Tensor, y: torch.Tensor, k):
    return torch.tensor(3.4028235e+38, device=x.device), torch.tensor(float("-inf"), device=x.device), torch.tensor(float(k), device=x.device)
""",
    "counts ok": """\
def f(x: torch.Tensor, y: torch.Tensor):
    n = (x > 0).long()
    z = y.repeat_interleave(n, dim=0)
    return z, torch.arange(n.sum())
""",
    "sum int start": """\
def f(x: torch.Tensor, y: torch.Tensor, n: int):
    total = 0
    for i in range(n):
        total += x.mean().item()
    return total
""",
    "sum int frac": """\
def f(x: torch.Tensor, y: torch.Tensor):
    total = 0.0
    for i in range(3):
        total += (x > 0).sum().item() * 0.1
    return total
""",
    "sum int in float": """\
def f(x: torch.Tensor, y: torch.Tensor):
    total = 0.0
    for i in range(3):
        total += (x > 0).sum().item()
    return total
""",
    "sum bool": """\
def f(x: torch.Tensor, y: torch.Tensor):
    total = 0
    for i in range(3):
        total += (x > 0).any().item()
    return total
""",
    "collect return in gate": """\
def f(x: torch.Tensor, y: torch.Tensor, k: int):
    out = []
    for i in range(3):
        if i == k:
            return out
        out.append(x.mean().item())
    return out
""",
    "static output2": """\
def step(x):
    return x.add_(1)


def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    for i in range(3):
        v = step(x)
        out.append(v.mean().item())
        x = x + 1
    return out
""",
    "private in loop": """\
W = []
def step():
    for w in W:
        w.add_(1)


def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    z = x * 2
    for i in range(len(z)):
        out.append(z[i].item() + 1)
        step()
    return out
""",
    "together safe": """\
def f(x: torch.Tensor, y: torch.Tensor):
    a = x.mean().item()
    b = x.norm().item()
    return a, b
""",
    "buffer float": """\
def f(x: torch.Tensor, y: torch.Tensor):
    b = torch.zeros(3, device=x.device)
    b[0] = x.mean().item()
    return b
""",
    "unicode": """\
def f(x: torch.Tensor, y: torch.Tensor):
    é = torch.tensor(1.0, device=x.device); ü = "é" + str(x.mean().item())
    return é, ü
""",
    "overload": """\
from typing import overload
@overload
def f(x: torch.Tensor) -> float: ...
@overload
def f(x: torch.Tensor, y: torch.Tensor) -> float: ...
def f(x: torch.Tensor, y: torch.Tensor):
    return x.mean().item(), x.norm().item()
""",
    "with block": """\
def f(x: torch.Tensor, y: torch.Tensor):
    with torch.no_grad():
        z = x * 1
        m = z > 0
        with torch.enable_grad():
            z[m] = y[m]
    return z
""",
    "mask rank known": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x.reshape(2, 3)
    m = z > 0
    a = z[m]
    w = y.reshape(2, 3)
    b = w[m]
    return a, b
""",
    "where assign multi2": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    if len(z):
        z[
            z > 0
        ] = y[
            z > 0
        ] * 2
    return z
""",
    "wide mask": """\
def f(x: torch.Tensor, y: torch.Tensor):
    m = x < y
    z = torch.zeros_like(x)
    z[m] = (y - x)[m]
    return z
""",
}
