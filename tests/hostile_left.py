"""Programs of a recipe's shape in odd settings, for tests/test_fix_hostile.py: what a fix would change."""

LEFT = {
    "walrus loop": """\
def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    for i in range(len(x)):
        if (v := x[i].item()) > 0:
            out.append(v)
    return out
""",
    "closure": """\
def f(x: torch.Tensor, y: torch.Tensor):
    total = 0.0
    def add(v):
        nonlocal total
        total += v.item()
    for v in x:
        add(v)
    return total
""",
    "global": """\
def f(x: torch.Tensor, y: torch.Tensor):
    global G
    G = 0.0
    for v in x:
        G += v.item()
    return G
""",
    "try finally": """\
def f(x: torch.Tensor, y: torch.Tensor):
    total = 0.0
    try:
        for v in x:
            total += v.item()
            if total > 100: raise ValueError
    finally:
        y.add_(total)
    return y
""",
    "generator": """\
def f(x: torch.Tensor, y: torch.Tensor):
    for v in x:
        yield v.item()
""",
    "scripted": """\
@torch.jit.script
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    m = z > 0
    z[m] = y[m]
    return z
""",
    "match": """\
def f(x: torch.Tensor, y: torch.Tensor):
    match x.sum().item():
        case 0:
            return 1
        case _:
            return 2
""",
    "x rebinding later loop": """\
def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    for i in range(3):
        x = x + 1
        out.append(x[i].item() + 1)
    return out
""",
    "index error": """\
def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    for i in range(10):
        try:
            out.append(x[i].item() + 1)
        except IndexError:
            out.append(0)
    return out
""",
    "mask rebind": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    m = z > 0
    a = z[m]
    m = ~m
    b = z[m]
    return a, b
""",
    "mask inplace between": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x * 1
    m = z > 0
    a = z[m]
    m.logical_not_()
    b = z[m]
    return a, b
""",
    "mask twice alias": """\
def f(x: torch.Tensor, y: torch.Tensor):
    m = x > 0
    k = m
    a = x[m]
    k[0] = True
    b = y[m]
    return a, b
""",
    "mask twice out": """\
def f(x: torch.Tensor, y: torch.Tensor):
    m = x > 0
    a = x[m]
    torch.lt(x, 0, out=m)
    b = y[m]
    return a, b
""",
    "mask twice fn": """\
def flip(m):
    m.logical_not_()


def f(x: torch.Tensor, y: torch.Tensor):
    m = x > 0
    a = x[m]
    flip(m)
    b = y[m]
    return a, b
""",
    "chained compare": """\
def f(x: torch.Tensor, y: torch.Tensor):
    if 0 < x.mean() < 1:
        return 1
    return 2
""",
    "while cond loop read": """\
def f(x: torch.Tensor, y: torch.Tensor):
    i = 0
    k = y.sum()
    while i < k.item():
        i += 1
    return i
""",
    "random reads": """\
def f(x: torch.Tensor, y: torch.Tensor):
    a = torch.rand(3).mean().item()
    b = torch.rand(3).mean().item()
    return a, b
""",
    "expand moved": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = torch.zeros(3).expand(2, 3).to(x.device)
    z[0] = 1
    return z
""",
    "device none": """\
def f(x: torch.Tensor, y: torch.Tensor, device=None):
    return torch.arange(4).to(device)
""",
    "device evaluated order": """\
log = []
def g(n):
    log.append("g")
    return 3
def h(x):
    log.append("h")
    return x.device


def f(x: torch.Tensor, y: torch.Tensor):
    return torch.arange(g(1)).to(h(x))
""",
    "zeros rg": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return torch.zeros(3, requires_grad=True).to(x.device)
""",
    "counts inplace": """\
def f(x: torch.Tensor, y: torch.Tensor):
    n = (x > 0).long()
    z = y.repeat_interleave(n, dim=0)
    n += 1
    return z, torch.arange(n.sum())
""",
    "counts inplace2": """\
def f(x: torch.Tensor, y: torch.Tensor):
    n = (x > 0).long()
    z = y.repeat_interleave(n, dim=0)
    n[0] = 5
    return z, torch.arange(n.sum())
""",
    "counts loop": """\
def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    n = (x > 0).long()
    z = y.repeat_interleave(n, dim=0)
    for _ in range(2):
        out.append(torch.arange(n.sum()))
        n = n + 1
    return out, z
""",
    "outsize mutated": """\
def f(x: torch.Tensor, y: torch.Tensor):
    m = x > 0
    kept = y[m]
    m[0] = True
    n = m.sum(1)
    return kept, y.repeat_interleave(n, 0)
""",
    "outsize mutated loop": """\
def f(x: torch.Tensor, y: torch.Tensor):
    m = x > 0
    kept = y[m]
    out = []
    for _ in range(2):
        out.append(torch.repeat_interleave(y, m.sum(1), dim=0))
        m = m | True
    return kept, out
""",
    "unknown call in loop": """\
W = []
def step():
    for w in W:
        w.add_(1)


def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    for i in range(len(x)):
        out.append(x[i].item() + 1)
        step()
    return out
""",
    "escaped in loop": """\
W = []
def step():
    for w in W:
        w.add_(1)


def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    z = x * 2
    W.append(z)
    for i in range(len(z)):
        out.append(z[i].item() + 1)
        step()
    return out
""",
    "other device together": """\
def f(x: torch.Tensor, y: torch.Tensor):
    a = x.mean().item()
    b = x.cpu().mean().item()
    return a, b
""",
    "dict together": """\
def f(d: dict[str, torch.Tensor]):
    a = d["x"].mean().item()
    b = d["y"].mean().item()
    return a, b
""",
    "together handled": """\
def f(x: torch.Tensor, y: torch.Tensor):
    try:
        a = x.mean().item()
        b = x[9].item()
    except IndexError:
        return a
    return a, b
""",
    "mask rank known fn": """\
k = [0]
def flip():
    k[0].logical_not_()


def f(x: torch.Tensor, y: torch.Tensor):
    z = x.reshape(2, 3)
    m = z > 0
    k[0] = m
    a = z[m]
    flip()
    w = y.reshape(2, 3)
    b = w[m]
    return a, b
""",
    "static output": """\
def f(x: torch.Tensor, y: torch.Tensor):
    out = []
    buf = torch.zeros(())
    def step():
        buf.add_(1.0)
        return buf
    for i in range(3):
        v = step()
        out.append(v.item())
    return out
""",
    "alias shift": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = torch.cat([x, y])
    a = z[1:]
    b = z[:-1]
    m = b > 0
    b[m] = a[m]
    return z
""",
    "chain target": """\
def f(x: torch.Tensor, y: torch.Tensor):
    a = b = x.mean().item()
    c = y.mean().item()
    return a, b, c
""",
    "subscript chain": """\
def f(x: torch.Tensor, y: torch.Tensor):
    return x[x.argmax().item()].item()
""",
    "inner class": """\
def f(x: torch.Tensor, y: torch.Tensor):
    class A:
        v = x.mean().item()
        w = y.mean().item()
    return A.v, A.w
""",
    "devices differ": """\
def f(xs: list[torch.Tensor]):
    total = 0.0
    for v in xs:
        total += v.norm().item()
    return total
""",
    "a view by another name": """\
def f(x: torch.Tensor, y: torch.Tensor):
    z = x.diagonal()
    found = []
    for i in range(len(x)):
        z[0] = i
        found.append(x[i].item() + 1)
    return found
""",
    "a view by reshape": """\
def f(x: torch.Tensor, y: torch.Tensor):
    m = x.reshape(2, 3) > 0
    k = m.ravel()
    a = x.reshape(2, 3)[m]
    k[0] = True
    b = y.reshape(2, 3)[m]
    return a, b
""",
    "called before the target is written": """\
def turn(v):
    masks[0].logical_not_()
    return v


masks = [0]


def f(x: torch.Tensor, y: torch.Tensor):
    m = x.reshape(2, 3) > 0
    masks[0] = m
    z = y.reshape(2, 3) * 1
    z[m] = turn(x.reshape(2, 3)[m])
    return z
""",
}
