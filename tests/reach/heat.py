import logging

import torch
import torch.distributed as dist
from torch import nn, Tensor
from torch.distributions import Beta, Normal

log = logging.getLogger(__name__)


class Net(nn.Module):
    def __init__(self, dev):
        super().__init__()
        self.x = 0.5
        self.model = build()
        self.model.to(dev)
        self.fc = nn.Linear(2, 2)

    def forward(self, x: Tensor, step: int, rank: int):
        self.report(x, step)
        self.rank_report(x, rank)
        self.rank_report2(x)
        if step % 10 == 0 and rank == 0:
            log.info("%s", x.sum().item())  # waits: amortized
        if step % 10:
            return x
        y = x.max().item()  # waits: amortized
        return x * y

    def report(self, x: Tensor, step: int):
        if step % 100 != 0:
            return
        log.info(f"{x.mean()}")  # waits: amortized
        self.deep(x)

    def deep(self, x: Tensor):
        print(x.sum())  # waits: amortized

    def rank_report(self, x, rank):
        if rank != 0:
            return
        print(x.sum())  # waits: amortized

    def rank_report2(self, x):
        if dist.get_rank() == 0:
            print(x.sum())  # waits: amortized
        if not dist.is_initialized() or dist.get_rank() != 0:
            return
        print(x.max())  # waits: amortized

    def __repr__(self):
        return f"{self.fc.weight.sum().item()}"  # waits: cold

    def state_dict(self):
        return self.fc.weight.sum().item()  # waits: cold

    def mix(self, x: Tensor):
        lam = Beta(self.x, self.x).sample()
        if lam > 0.5:
            x = x * lam
        n = Normal(torch.tensor(0.0), torch.tensor(1.0)).sample().item()
        w = self.model(x)
        return x * n, w


def old(x: Tensor):
    y = x.type(torch.FloatTensor)  # waits
    return y.item(), x.type(torch.cuda.FloatTensor), x.type(torch.float32)


def build(): ...


def only_raises(x: Tensor):
    if not torch.isfinite(x).all():  # waits: unknown
        raise ValueError(f"bad {x.sum().item()}")  # waits: cold


class ToTensor:
    def __call__(self, sample):
        x = torch.as_tensor(sample)
        return x / x.max().item()


class RandomCrop(torch.nn.Module):
    def forward(self, x: Tensor):
        i = torch.randint(0, 4, (1,)).item()
        return x[..., i:]


class MyTokenizer:
    def encode(self, ids: Tensor):
        return ids.tolist()


def save_checkpoint(model, path):
    torch.save({k: v.cpu() for k, v in model.state_dict().items()}, path)  # waits: cold


def test_all(x: Tensor):
    assert x.sum().item() == 3  # waits: cold


class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value, n=1):
        self.total += value * n


def loop(model, loader, opt):
    meter = Meter()
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        meter.update(loss.item())  # waits: hot
        if step % 50 == 49:
            print(f"{loss.item():.3f}")  # waits: amortized
        if (step + 1) % 50 == 0:
            print("loss", loss)  # waits: amortized
        if step > 100:
            break
    return meter


@torch.inference_mode()
def generate(model, ids: Tensor, n: int):
    for _ in range(n):
        logits = model(ids)
        token = logits[:, -1].argmax(-1)
        if (token == 2).all():  # waits: hot
            break
        ids = torch.cat([ids, token[:, None]], 1)
    return ids


def looked_at(model, loader, cv2):
    for image in loader:
        with torch.no_grad():
            boxes = model(image.cuda())  # waits: amortized
            cv2.waitKey(0)


def shown_live(model, loader, cv2, plt, shows):
    for image in loader:
        boxes = model(image.cuda())  # waits: hot
        cv2.waitKey(1)
        if shows:
            plt.show()


def moved_in_place(model, loader, device):
    for batch in loader:
        batch.to(device)  # waits: hot
        largest = batch.index.max().item()  # waits: hot
        model.to(device)
        model(batch, largest).sum().backward()


def items_of_a_dataset(loader, model):
    for x in loader:
        model(x).sum().backward()
    return [torch.isnan(item.y).any().item() for item in loader.dataset]


def targets_of_a_model(loader, model):
    return [torch.isnan(item.y).any().item() for item in model(loader)]  # waits
