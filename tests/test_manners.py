"""A wait, and what stands around it, in; the hint that fits it out."""

from __future__ import annotations

import pytest
from checked import findings

from syncguard import pack
from syncguard.judge.manners.manners import MANNERS
from syncguard.pack.pages import MANNERS as WORDS

HEAD = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n"


ROWS = """
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.rows = [1, 2]
        def forward(self, x: torch.Tensor):
            {}
            return x[self.rows]
"""
CASES = [
    ("SG301", "drawn", """
        def f(x: torch.Tensor):
            noise = torch.randn(4).to(x.device)
            return x + noise
    """),
    ("SG301", "batch", """
        def f(model, data):
            for x in DataLoader(data):
                model(x.cuda()).sum().backward()
    """),
    ("SG301", "kept", """
        M = torch.tensor([[1.0, 2.0]])
        def f(x: torch.Tensor):
            return x @ M.to(x.device)
    """),
    ("SG301", "", """
        def f(x: torch.Tensor, rows):
            t = torch.tensor(rows)
            return x + t.to(x.device)
    """),
    ("SG301", "number", """
        def f(x: torch.Tensor):
            return x + torch.tensor(0.5).to(x.device)
    """),
    ("SG301", "number", """
        def f(x: torch.Tensor):
            return x + torch.tensor([1.0, 1.0]).to(x.device)
    """),
    ("SG301", "number", """
        def f(x: torch.Tensor):
            return x + torch.tensor(-0.5).to(x.device)
    """),
    ("SG301", "", """
        def f(x: torch.Tensor):
            return x - torch.tensor([0.4, 0.5]).to(x.device)
    """),
    ("SG301", "sizes", """
        def f(x: torch.Tensor, n):
            return x + torch.FloatTensor(x.size(0), n).to(x.device)
    """),
    ("SG301", "sizes", """
        def f(x: torch.Tensor):
            return x + torch.LongTensor(x.size(0)).fill_(0).to(x.device)
    """),
    ("SG301", "", """
        def f(x: torch.Tensor, rows):
            return x + torch.FloatTensor(rows).to(x.device)
    """),
    ("SG301", "number", """
        def f(x: torch.Tensor):
            return x + torch.IntTensor([3] * x.size(0)).to(x.device)
    """),
    ("SG304", "kept", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = torch.arange(4)
            def forward(self, x):
                return x + self.table[None, :].to(x.device)
    """),
    ("SG304", "", """
        def f(x: torch.Tensor):
            return x + torch.zeros(4).to(x.device)
    """),
    ("SG302", "bound", """
        def f(x: torch.Tensor, y: torch.Tensor):
            x[y.argmax(1)] = 1
    """),
    ("SG302", "", """
        def f(x: torch.Tensor):
            return x + torch.tensor([1, 2], device=x.device)
    """),
    ("SG201", "brought", """
        def f(data):
            for x, n in DataLoader(data):
                x, n = x.cuda(), n.cuda()
                print(n[0].item())
    """),
    ("SG201", "reduced", """
        def f(n, device):
            state = torch.tensor([n], device=device)
            torch.distributed.all_reduce(state, op=torch.distributed.ReduceOp.MAX)
            return state[0].item()
    """),
    ("SG203", "reduced", """
        def f(x: torch.Tensor):
            count = torch.tensor(len(x), device=x.device)
            torch.distributed.all_reduce(tensor=count)
            return int(count)
    """),
    ("SG201", "", """
        def f(x: torch.Tensor):
            total = x.sum()
            torch.distributed.all_reduce(total)
            return total.item()
    """),
    ("SG201", "checked", """
        def f(x: torch.Tensor):
            assert x.abs().max().item() < 1e-4
            return x
    """),
    ("SG201", "", """
        def f(x: torch.Tensor):
            return x.abs().max().item()
    """),
    ("SG203", "several", """
        def f(box: torch.Tensor):
            return int(box[0]), int(box[1])
    """),
    ("SG201", "several", """
        def f(x: torch.Tensor, n):
            return [x[i].item() for i in range(n)]
    """),
    ("SG201", "several", """
        def f(xs: list[torch.Tensor]):
            return [x.item() for x in xs]
    """),
    ("SG201", "", """
        def f(x: torch.Tensor):
            return x[0].item()
    """),
    ("SG201", "branched", """
        def f(x: torch.Tensor, n: int):
            if len(x) > 1 and x[-1].item() == n:
                x = x + 1
            return x
    """),
    ("SG203", "branched", """
        def f(x: torch.Tensor):
            if int(x.sum()) == 3:
                return x + 1
            return x
    """),
    ("SG201", "added", """
        class Engine:
            def f(self, loss: torch.Tensor):
                self.total += loss.mean().item()
    """),
    ("SG201", "sized", """
        def f(x: torch.Tensor, batch: torch.Tensor):
            n = batch.max().item() + 1
            return torch.zeros(n, device=x.device)
    """),
    ("SG203", "sized", """
        def f(x: torch.Tensor, lengths: torch.Tensor):
            most = int(lengths.max())
            return x[:, :most]
    """),
    ("SG203", "sized", """
        def f(x: torch.Tensor, batch: torch.Tensor, scatter):
            return scatter(x, batch, dim_size=int(batch.max()) + 1)
    """),
    ("SG203", "sized", """
        def f(x: torch.Tensor, mask: torch.Tensor):
            count = min(int(mask.sum()), 9)
            return torch.topk(x, count)
    """),
    ("SG201", "sized", """
        def f(x: torch.Tensor, mask: torch.Tensor):
            return x.topk(mask.sum().item(), 1)
    """),
    ("SG203", "sized", """
        def f(x: torch.Tensor, shape: torch.Tensor):
            return torch.bincount(x, minlength=int(shape.prod()))
    """),
    ("SG203", "asked", """
        def f(x: torch.Tensor):
            return bool((x < 3).all())
    """),
    ("SG203", "branched", """
        def f(x: torch.Tensor):
            if bool((x < 3).all()):
                x = x * 2
            return x
    """),
    ("SG203", "", """
        def f(x: torch.Tensor, mask: torch.Tensor):
            return torch.topk(x / int(mask.sum()), 3)
    """),
    ("SG201", "branched", """
        def f(x: torch.Tensor, mask: torch.Tensor):
            if mask.sum().item() != 0:
                x = x * 2
            return x
    """),
    ("SG203", "branched", """
        def f(x: torch.Tensor, mask: torch.Tensor, on):
            if on and int(mask.sum()) > 3:
                x = x * 2
            return x
    """),
    ("SG201", "", """
        class Mean:
            def __init__(self, device):
                self.device = device
                self.total = torch.tensor(0.0, device=device)
            def update(self, x: torch.Tensor):
                self.total += torch.sum(x).to(self.device)
            def compute(self):
                return self.total.item()
    """),
    ("SG201", "counted", """
        class Turns:
            def reset(self):
                self.total = torch.tensor(0, device="cuda")
            def update(self, x):
                self.total += len(x)
            def compute(self):
                return self.total.item()
    """),
    ("SG204", "", """
        class M(nn.Module):
            def __init__(self, weight=0.1):
                super().__init__()
                self.weight = nn.Parameter(torch.tensor(weight))
            def forward(self, x):
                return x * self.weight if self.weight != 0 else x
    """),
    ("SG204", "counted", """
        class M(nn.Module):
            def __init__(self, massive: bool = False):
                super().__init__()
                self.register_buffer('massive', torch.tensor(massive))
            def forward(self, x):
                return x if self.massive else x.sum()
    """),
    ("SG204", "counted", """
        class M(nn.Module):
            def __init__(self, weight=0.1):
                super().__init__()
                self.register_buffer('weight', torch.tensor(weight, dtype=torch.float32))
            def forward(self, x):
                return x * self.weight if self.weight != 0 else x
    """),
    ("SG204", "counted", """
        class M(nn.Module):
            def __init__(self, lazy=True):
                super().__init__()
                self.register_buffer('ready', torch.tensor(not lazy))
            def forward(self, x):
                if not self.ready:
                    self.ready.copy_(torch.tensor(True))
                return x
    """),
    ("SG204", "counted", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer('turns', torch.tensor(0))
            def forward(self, x):
                if self.turns >= 100:
                    x = x * 2
                    self.turns.zero_()
                return x
    """),
    ("SG204", "", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer('scale', torch.tensor(0))
            def forward(self, x):
                if self.scale * x.sum() >= 100:
                    x = x * 2
                    x = x + 1
                return x
    """),
    ("SG301", "number", """
        def f(x: torch.Tensor, n, k):
            return x + torch.tensor([n] * k).to(x.device)
    """),
    ("SG301", "row", """
        def f(x: torch.Tensor, n):
            return x + torch.tensor(range(n)).long().to(x.device)
    """),
    ("SG302", "logged", """
        import pytorch_lightning
        class M(pytorch_lightning.LightningModule):
            def training_step(self, batch, index):
                self.log('step', self.global_step)
    """),
    ("SG204", "checked", """
        def f(x: torch.Tensor):
            if x.isnan().any():
                raise ValueError(x.shape)
            return x
    """),
    ("SG204", "told", """
        def f(x: torch.Tensor):
            if x.min() < -1:
                print('small')
            return x
    """),
    ("SG204", "gathers", """
        def f(x: torch.Tensor, best: list):
            if x.max() > 3:
                best.append(x)
            return best
    """),
    ("SG204", "", """
        def f(x: torch.Tensor, best: list):
            if x.max() > 3:
                best.append(x)
            else:
                x = x + 1
            return best, x
    """),
    ("SG204", "skipped", """
        def f(x: torch.Tensor):
            if not x.any():
                return x
            return x * 2
    """),
    ("SG204", "repeated", """
        def f(x: torch.Tensor):
            while x.max() > 1:
                x = x / 2
            return x
    """),
    ("SG204", "repeated", """
        def f(model, x: torch.Tensor, end: int):
            for _ in range(64):
                x = model(x)
                if (x.argmax(-1) == end).all():
                    break
            return x
    """),
    ("SG204", "skipped", """
        def f(parts: list[torch.Tensor]):
            for x in parts:
                if not x.any():
                    continue
                x /= 2
    """),
    ("SG204", "skipped", """
        def f(x: torch.Tensor):
            n = (x > 0).sum()
            if n == 0:
                return None
            return x / n
    """),
    ("SG204", "", """
        def f(x: torch.Tensor, t: torch.Tensor, end: float):
            if t > end:
                return torch.zeros_like(x)
            return x * t
    """),
    ("SG204", "", """
        def f(x: torch.Tensor):
            if x.max() > 1:
                x = x / x.max()
                print('big')
            return x
    """),
    ("SG204", "largest", """
        def f(losses: list[torch.Tensor]):
            return max([loss.mean() for loss in losses])
    """),
    ("SG204", "", """
        def f(losses: torch.Tensor, names: list[str]):
            return max((loss, name) for loss, name in zip(losses, names))
    """),
    ("SG209", "collected", """
        def f(x: torch.Tensor):
            xs = []
            for r in x:
                xs.append(r.sum().item())
            return xs
    """),
    ("SG209", "", """
        def f(x: torch.Tensor):
            s = 0.0
            for r in x:
                s += r.sum().item()
            return s
    """),
    ("SG102", "updated", """
        def f(x: torch.Tensor):
            x[x > 1] -= 1
            return x
    """),
    ("SG103", "beside", """
        def f(x: torch.Tensor, label: torch.Tensor):
            x[x[:, 0] > 1, label] = 1
    """),
    ("SG103", "", """
        def f(x: torch.Tensor):
            x[x[:, 0] > 1, 0] = x.mean()
    """),
    ("SG108", "bound", """
        def f(x: torch.Tensor):
            n = x.argmax()
            return x[:n]
    """),
    ("SG203", "argument", """
        def f(x: torch.Tensor):
            return torch.linspace(0, x.max(), 4)
    """),
    ("SG206", "recorded", """
        from torch.utils.tensorboard import SummaryWriter
        def f(x: torch.Tensor):
            SummaryWriter().add_scalar('x', x.sum(), 1)
    """),
    ("SG307", "built", """
        def f(x: torch.Tensor, t: torch.Tensor):
            return x[torch.arange(4), t]
    """),
    ("SG307", "computed", """
        def f(x: torch.Tensor, rows):
            index = torch.tensor(rows)
            return x.cuda()[index]
    """),
    ("SG307", "", """
        def f(x: torch.Tensor):
            return x[:, [-1]]
    """),
    ("SG307", "each_row", """
        def f(x: torch.Tensor, labels: torch.Tensor):
            return x[range(len(x)), labels]
    """),
    ("SG307", "stored", """
        import numpy as np
        class Net(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.diagonal = np.arange(n)
            def forward(self, x):
                return x[self.diagonal, self.diagonal]
    """),
    ("SG307", "made", """
        def f(x: torch.Tensor):
            keep = [i for i in range(len(x)) if i % 3]
            return x[keep]
    """),
    ("SG307", "made", """
        from torch.utils.data.sampler import BatchSampler, SubsetRandomSampler
        def f(x: torch.Tensor):
            for picked in BatchSampler(SubsetRandomSampler(range(len(x))), 4, drop_last=True):
                x[picked].sum().backward()
    """),
    ("SG307", "made", """
        def f(x: torch.Tensor, wanted):
            kept = []
            for i in range(len(x)):
                if wanted[i]:
                    kept.append(i)
            return x[kept]
    """),
    ("SG307", "stored", """
        import numpy as np
        class Net(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.diagonal = np.diag_indices(n)
            def forward(self, x):
                x[self.diagonal[0], self.diagonal[1]] = x.mean()
                return x
    """),
    ("SG307", "", """
        def f(x: torch.Tensor):
            order = [2, 0, 1]
            return x[order]
    """),
    ("SG202", "", """
        def f(net: nn.Module, x: torch.Tensor, n):
            for _ in range(n):
                y = net(x)
                y.sum().backward()
                keep(y.cpu())
            return x.cpu()
    """),
    ("SG501", "deviated", """
        def f(x: torch.Tensor):
            return torch.distributions.Normal(x, 1.0, validate_args=False).sample()
    """),
    ("SG501", "", """
        def f(x: torch.Tensor):
            return torch.distributions.Normal(x, 1.0).rsample()
    """),
    ("SG101", "backward", """
        def f(net: nn.Module, x: torch.Tensor, y: torch.Tensor):
            return y.masked_scatter(y > 0, net(x))
    """),
    ("SG505", "backward", """
        def f(net: nn.Module, x: torch.Tensor):
            return net(x).sigmoid().prod(1)
    """),
    ("SG307", "backward", """
        def f(net: nn.Module, x: torch.Tensor):
            kept = torch.arange(8) % 3 > 0
            return net(x)[kept]
    """),
    ("SG301", "moved", """
        def f(x: torch.Tensor, steps):
            for _ in range(steps):
                net = nn.Linear(4, 1).to(x.device)
                net(x).sum().backward()
    """),
    ("SG301", "swapped", """
        def f(net: nn.Module, x: torch.Tensor, steps):
            for _ in range(steps):
                net.cuda()
                net(x).sum().backward()
                net.cpu()
    """),
    ("SG102", "written_back", """
        def f(x: torch.Tensor):
            inside = x > 0
            out = torch.zeros_like(x)
            out[inside] = x[inside].sqrt()
            return out
    """),
    ("SG102", "written_back", """
        def f(x: torch.Tensor, spline, widths: torch.Tensor):
            inside = x > 0
            out, logs = torch.zeros_like(x), torch.zeros_like(x)
            out[inside], logs[inside] = spline(x.exp(), widths=widths[inside, :])
            return out, logs
    """),
    ("SG102", "", """
        def f(x: torch.Tensor):
            inside = x > 0
            out = torch.zeros_like(x)
            out[inside] = 1.0
            return out, x[x < 3].mean()
    """),
    ("SG102", "written_back", """
        def f(x: torch.Tensor):
            inside = x > 0
            out = torch.zeros_like(x)
            root = x[inside].sqrt()
            out[inside] = root + 1
            return out
    """),
    ("SG102", "", """
        def f(x: torch.Tensor, out: torch.Tensor):
            inside = x > 0
            top = x[inside].max()
            out[inside] = 3 * x
            return top
    """),
    ("SG204", "skipped", """
        def f(x: torch.Tensor):
            bad = torch.isnan(x)
            if bad.any():
                x[bad] = x.mean()
    """),
    ("SG204", "", """
        def f(x: torch.Tensor):
            bad = torch.isnan(x)
            if bad.any():
                x[bad] = x.mean()
            else:
                x = x + 1
    """),
    ("SG208", "written", """
        def f(x: torch.Tensor, row: torch.Tensor):
            x[x.argmax()] = row
    """),
    ("SG208", "", """
        def f(x: torch.Tensor, row: torch.Tensor):
            return x[x.argmax()]
    """),
    ("SG202", "brought", """
        def f(model, data):
            for x, y in DataLoader(data):
                y = y.cuda()
                model(x.cuda()).sum().backward()
                print(y.cpu())
    """),
    ("SG204", "filtered", """
        def f(x: torch.Tensor, end):
            kept = []
            for at, one in enumerate(x):
                if one == end:
                    kept.append(at)
            return kept
    """),
    ("SG204", "", """
        def f(x: torch.Tensor, end):
            for one in x:
                if one == end:
                    x = x + 1
            return x
    """),
    ("SG204", "filtered", """
        def f(x: torch.Tensor, low):
            return [y for y in x if y > low]
    """),
    ("SG204", "", """
        def f(x: torch.Tensor, names):
            return [name for name in names if x > 0]
    """),
    ("SG202", "element", """
        def f(x: torch.Tensor, names):
            return [(name, row.tolist()) for name, row in zip(names, x)]
    """),
    ("SG202", "element", """
        def f(x: torch.Tensor, rows):
            for i in range(rows):
                print(x[i].tolist())
    """),
    ("SG202", "element", """
        def f(x: torch.Tensor, sizes):
            start = 0
            for size in sizes:
                print(x[start : start + size].cpu())
                start += size
    """),
    ("SG202", "", """
        def f(step, sizes):
            x = torch.zeros(4, device="cuda")
            for size in sizes:
                x = step(x)
                print(x[:size].cpu())
    """),
    ("SG202", "", """
        def f(model, names):
            found = model(names)
            for name in names:
                print(found[name].cpu())
    """),
    ("SG202", "neighbour", """
        def f(x: torch.Tensor):
            a = x[0].cpu()
            b = x[1].cpu()
            return a, b
    """),
    ("SG201", "", """
        class Passing(nn.Module):
            def forward(self, x):
                return x.cuda()
        def f(data):
            model = Passing()
            for x in DataLoader(data):
                loss = model(x)
                loss.backward()
                print(loss.item())
    """),
    ("SG201", "", """
        def f(data, step):
            best = torch.tensor(1.0).cuda()
            for k in range(10):
                print(best.item())
                best = step * 2 - k
    """),
    ("SG202", "neighbour", """
        def f(x: torch.Tensor, y: torch.Tensor):
            ids = x.argmax(-1).tolist()
            scores = y.exp().tolist()
            return ids, scores
    """),
    ("SG202", "neighbour", """
        def f(states: dict[str, torch.Tensor]):
            return {name: state.cpu() for name, state in states.items()}
    """),
    ("SG202", "collected", """
        def f(model, batches):
            kept = []
            for x in batches:
                kept.append(model(x.cuda()).softmax(-1).cpu())
            return torch.cat(kept)
    """),
    ("SG202", "", """
        def f(x: torch.Tensor):
            return x.exp().cpu()
    """),
    ("SG302", "number", """
        def f(x: torch.Tensor, t, n):
            return x + torch.tensor([t] * n, device=x.device)
    """),
    ("SG302", "number", """
        def f(x: torch.Tensor):
            return x + torch.tensor(0.0, device=x.device)
    """),
    ("SG302", "row", """
        def f(x: torch.Tensor, n):
            return x + torch.tensor(range(n), device=x.device)
    """),
    ("SG302", "", """
        def f(x: torch.Tensor, rows):
            return x + torch.tensor(rows, device=x.device)
    """),
    ("SG201", "barred", """
        import pytorch_lightning as pl
        class Net(pl.LightningModule):
            def training_step(self, batch, batch_idx):
                loss = self.criterion(batch).mean()
                self.log("loss", loss, prog_bar=True)
                return loss
    """),
    ("SG301", "batch", """
        def f(model, data):
            for batch in DataLoader(data):
                model(**{k: v.cuda() for k, v in batch.items()}).sum().backward()
    """),
    ("SG103", "updated", """
        def f(x: torch.Tensor, y: torch.Tensor):
            x[x > 0] += y
    """),
    ("SG103", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            x[x > 0] *= y
    """),
    ("SG208", "", """
        def f(x: torch.Tensor, row: torch.Tensor):
            x[:, row.argmax()] = 3.0
    """),
    ("SG204", "", """
        def f(x: torch.Tensor):
            if torch.isnan(x).any():
                return None
            return x
    """),
    ("SG204", "skipped", """
        def f(x: torch.Tensor):
            if not (x > 0).any():
                return x
            return x * 2
    """),
    ("SG204", "", """
        def f(x: torch.Tensor):
            mask = x > 0
            if mask.any():
                x[mask] = 0
                return x * 2
            return x
    """),
    ("SG204", "", """
        def f(x: torch.Tensor):
            try:
                if (x > 1).any():
                    raise ValueError
            except ValueError:
                return None
            return x
    """),
    ("SG202", "", """
        def f(x: torch.Tensor, n):
            for i in range(n):
                x = x * 2
                print(x[i].cpu())
    """),
    ("SG307", "made", """
        def f(x: torch.Tensor, labels: torch.Tensor):
            x[range(len(x)), labels] = 0
    """),
    ("SG302", "", """
        def f(x: torch.Tensor, n):
            return x + torch.tensor(range(2, n, 3), device=x.device)
    """),
    ("SG202", "neighbour", """
        def f(x: torch.Tensor, y: torch.Tensor):
            a = x.cpu()
            b = y.cpu()
            return a, b
    """),
    ("SG202", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            a = x.cpu()
            b = y[a.shape[0] :].cpu()
            return a, b
    """),
    ("SG202", "", """
        def f(x: torch.Tensor, y: torch.Tensor, pick):
            a = pick(
                y.sum(), x.cpu())
            return a.cpu()
    """),
    ("SG201", "several", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return x.sum().item(), y.sum().item()
    """),
    ("SG201", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return x.sum().item(), y.shape[0]
    """),
    ("SG201", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return x.sum().item(), [y[:n].sum().item() for n in range(3)]
    """),
    ("SG307", "stored", ROWS.format("pass")),
    ("SG307", "made", ROWS.format("self.rows.append(len(x))")),
    ("SG307", "made", ROWS.format("self.rows[0] += 1")),
    ("SG201", "brought", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            return x, x[0].item()
    """),
    ("SG201", "", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            x.add_(1)
            return x, x[0].item()
    """),
    ("SG201", "", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            x[0] = x.sum()
            return x, x[0].item()
    """),
    ("SG102", "written_back", """
        def f(x: torch.Tensor):
            mask = x > 1
            x[mask] = x[mask].exp()
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor):
            mask = x > 1
            x[mask] = x[mask] - x[mask].mean()
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor):
            mask = x > 1
            x[mask] = torch.softmax(x[mask], 0)
            return x
    """),
    ("SG204", "elements", """
        def f(x: torch.Tensor):
            return max(x)
    """),
    ("SG204", "elements", """
        def f(x: torch.Tensor):
            rows = x.sum(0)
            return min(rows)
    """),
    ("SG204", "largest", """
        def f(parts: list[torch.Tensor]):
            return max(parts)
    """),
    ("SG204", "largest", """
        def f(x: torch.Tensor):
            sums = []
            for row in x:
                sums.append(row.sum())
            return max(sums)
    """),
    ("SG204", "largest", """
        def f(*parts: torch.Tensor):
            return max(parts)
    """),
    ("SG204", "largest", """
        def f(x: torch.Tensor):
            return max(x.unbind(0))
    """),
    ("SG204", "largest", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return max(x, y)
    """),
    ("SG307", "made", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.rows = [1, 2]
            def forward(self, x: torch.Tensor):
                self.rows, size = [len(x) - 1], len(x)
                return x[self.rows] / size
    """),
    ("SG307", "made", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.rows = [1, 2]
            def forward(self, x: torch.Tensor):
                rows = self.rows
                rows.append(len(x))
                return x[self.rows]
    """),
    ("SG307", "made", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.rows = [1, 2]
            def more(self, n):
                self.rows.append(n)
            def forward(self, x: torch.Tensor):
                self.more(len(x))
                return x[self.rows]
    """),
    ("SG307", "stored", """
        class M(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.rows = []
                self.rows.append(n)
            def forward(self, x: torch.Tensor):
                return x[self.rows]
    """),
    ("SG307", "computed", """
        import numpy as np
        class M(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.rows = np.arange(n)
            def forward(self, x: torch.Tensor):
                np.random.shuffle(self.rows)
                return x[self.rows]
    """),
    ("SG304", "", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = torch.arange(4)
            def forward(self, x: torch.Tensor):
                self.table.add_(1)
                return x + self.table.to(x.device)
    """),
    ("SG301", "", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = torch.tensor([1.0, 2.0])
            def forward(self, x: torch.Tensor):
                self.table[0] = 3.0
                return x + self.table.to(x.device)
    """),
    ("SG301", "", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = torch.tensor([1.0, 2.0])
            def forward(self, x: torch.Tensor):
                y = x + self.table.to(x.device)
                self.table = torch.tensor([len(x), 2.0])
                return y
    """),
    ("SG201", "", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            nn.init.normal_(x)
            return x, x[0].item()
    """),
    ("SG201", "", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            torch.mul(x, 2, out=x)
            return x, x[0].item()
    """),
    ("SG202", "", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            torch.nn.functional.relu(x, inplace=True)
            return x, x.cpu()
    """),
    ("SG201", "", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            y = x[0]
            y.add_(1)
            return x, x[0].item()
    """),
    ("SG201", "", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            x.data.add_(1)
            y = x[0]
            return x, y.item()
    """),
    ("SG201", "brought", """
        def f(rows):
            x = torch.tensor(rows).cuda()
            y = x.clone()
            y.add_(1)
            return y, x[0].item()
    """),
    ("SG102", "", """
        def f(x: torch.Tensor):
            mask = x > 1
            y = x[mask]
            y = y - y.mean()
            x[mask] = y
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor):
            mask = x > 1
            y = x[mask]
            y /= y.sum()
            x[mask] = y
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor):
            mask = x > 1
            y = x[mask]
            middle = y.median()
            x[mask] = y - middle
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor):
            mask = x > 1
            y = x[mask]
            y.sub_(y.amin())
            x[mask] = y
            return x
    """),
    ("SG102", "", """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(3)
            def forward(self, x: torch.Tensor):
                mask = x[:, 0] > 1
                x[mask] = self.norm(x[mask])
                return x
    """),
    ("SG102", "written_back", """
        class M(nn.Module):
            def root(self, x):
                return x.sqrt()
            def forward(self, x: torch.Tensor):
                mask = x > 1
                x[mask] = self.root(x[mask])
                return x
    """),
    ("SG102", "", """
        import torch.nn.functional as F
        def f(x: torch.Tensor):
            mask = x[:, 0] > 1
            x[mask] = F.layer_norm(x[mask], (3,))
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor, w: torch.Tensor):
            mask = x[:, 0] > 1
            x[mask] = x[mask] @ w
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor):
            mask = x > 1
            x[mask] = x[mask].flip(0)
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor, order: torch.Tensor):
            mask = x > 1
            y = x[mask]
            x[mask] = y[order]
            return x
    """),
    ("SG102", "written_back", """
        def f(x: torch.Tensor, y: torch.Tensor):
            mask = x > 1
            x[mask] = y[mask]
            return x
    """),
    ("SG102", "written_back", """
        def f(x: torch.Tensor, shift: torch.Tensor):
            mask = x > 1
            y = x[mask].clone()
            y.clamp_(min=0)
            z = torch.log(y * 2) - shift.mean()
            x[mask] = z.to(x.dtype) / 3
            return x
    """),
    ("SG102", "written_back", """
        def f(x: torch.Tensor):
            mask = x > 1
            x[mask] = torch.where(x[mask] > 2, -x[mask], x[mask] ** 2)
            return x
    """),
    ("SG102", "", """
        def f(x: torch.Tensor, out: torch.Tensor):
            mask = x > 1
            top = x[mask].max()
            y = x[mask]
            out[mask] = y + 1
            return out, top
    """),
    ("SG202", "", """
        def f(x: torch.Tensor, fast):
            if fast:
                return x.sum().cpu()
            return x.cpu()
    """),
    ("SG202", "", """
        def f(x: torch.Tensor, fast):
            return x.sum().cpu() if fast else x.cpu()
    """),
    ("SG202", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            n = x.cpu()
            if n[0] > 3: return y.cpu()
            return n
    """),
    ("SG202", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return (n := x.cpu()), y[n.shape[0] :].cpu()
    """),
    ("SG202", "", """
        class M:
            def f(self, x: torch.Tensor, y: torch.Tensor):
                self.kept = x.cpu()
                return y[self.kept.shape[0] :].cpu()
    """),
    ("SG202", "neighbour", """
        class M:
            def f(self, x: torch.Tensor, y: torch.Tensor):
                self.kept = x.cpu()
                self.other = y.cpu()
    """),
    ("SG202", "neighbour", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return {"x": x.cpu(), "y": y.cpu()}
    """),
    ("SG201", "several", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return {"x": x.sum().item(), "y": y.sum().item()}
    """),
    ("SG201", "several", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return dict(x=x.sum().item(), y=y.sum().item())
    """),
    ("SG201", "several", """
        def f(x: torch.Tensor, y: torch.Tensor, n: int):
            return {"x": round(x.sum().item(), 2), "y": y.sum().item() / n}
    """),
    ("SG201", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return {"x": (n := x.sum().item()), "y": y[: int(n)].sum().item()}
    """),
    ("SG201", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return {"x": x.sum().item(), "y": y.shape[0]}
    """),
    ("SG201", "", """
        def f(x: torch.Tensor, y: torch.Tensor):
            return {"x": x.sum().item(), "y": lambda: y.sum().item()}
    """),
    ("SG201", "", """
        def f(x: torch.Tensor, y: torch.Tensor, on: bool):
            return {"x": x.sum().item()} if on else {"y": y.sum().item()}
    """),
    ("SG307", "computed", """
        import numpy as np
        def f(x: torch.Tensor, n):
            return x[np.random.permutation(n)]
    """),
    ("SG307", "computed", """
        import numpy as np
        def f(x: torch.Tensor, n):
            a = np.arange(n)
            return x[np.where(a > 3)[0]]
    """),
    ("SG307", "computed", """
        import numpy as np
        def f(x: torch.Tensor, n):
            a = np.arange(n)
            x[a > 3] = 0
            return x
    """),
    ("SG307", "made", """
        def f(x: torch.Tensor, names):
            return x[[n for n, name in enumerate(names) if name > 'a']]
    """),
    ("SG307", "masked", """
        import numpy as np
        def f(x: torch.Tensor, n):
            a = np.arange(n)
            return x[a > 3]
    """),
    ("SG307", "masked", """
        import numpy as np
        def f(x: torch.Tensor, n):
            a = np.arange(n)
            keep = (a > 3) & ~(a == 5)
            return x[:, keep]
    """),
    ("SG307", "masked", """
        import numpy as np
        def f(x: torch.Tensor, n):
            keep = np.ones(n, dtype=bool)
            keep[3] = False
            return x[keep]
    """),
    ("SG307", "masked", """
        import numpy as np
        def f(x: torch.Tensor, names, wanted):
            keep = np.isin(names, wanted)
            return x[keep]
    """),
    ("SG307", "masked", """
        import numpy as np
        def f(x: torch.Tensor, y: torch.Tensor, n):
            a = np.arange(n)
            x[a > 3] = y.sum()
            return x
    """),
    ("SG307", "masked", """
        def f(x: torch.Tensor, names):
            return x[[name == 'a' for name in names]]
    """),
    ("SG307", "masked", """
        def f(x: torch.Tensor):
            return x[[True, False, True]]
    """),
    ("SG102", "written_back", """
        def f(x: torch.Tensor, places: torch.Tensor, table: torch.Tensor):
            mask = places > 1
            x[mask] = table[places[mask]].squeeze()
            return x
    """),
]  # fmt: skip


def test_each_manner_has_words_and_a_test() -> None:
    assert set(MANNERS) == set(WORDS)


def test_each_manner_is_used() -> None:
    assert {name for rule in pack.load().rules for name, _ in rule.hints} == set(WORDS)


def hint(code: str, manner: str) -> str:
    rule = pack.load().rule(code)
    assert rule is not None
    return dict(rule.hints)[manner] if manner else rule.hint


@pytest.mark.parametrize(("code", "manner", "text"), CASES)
def test_the_hint_fits_the_manner(code: str, manner: str, text: str) -> None:
    found = [one for one in findings(text, HEAD) if one.code == code]
    assert [one.hint for one in found[:1]] == [hint(code, manner)]


@pytest.mark.parametrize("shown", [
    '"{} {}".format(t, loss)', '"{t} {loss}".format(t=t, loss=loss)', '"{} {loss}".format(t, loss=loss)',
    '"{} {}".format(t, [loss])',
    '"%d %s" % (t, loss)', 'print(t, loss)', 'f"{t} {loss}"',
])  # fmt: skip
def test_a_message_names_the_tensor_and_not_what_is_shown_beside_it(shown: str) -> None:
    (found,) = findings(f"def f(t: int, loss: torch.Tensor):\n    return {shown}\n", HEAD)
    source = "{loss}" if shown.startswith("f") else shown
    assert found.message == f"`{source}` waits for the device to compute what it shows of `loss`"
