"""What functions that read files give is on the host, unless they are told a device."""

from __future__ import annotations

import pytest
from checked import codes, findings

from syncguard.pack.returns import results

HEAD = """import torch, torchaudio
from safetensors.torch import load_file
from torchvision.io import read_image


"""


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ("torch.load(path, map_location='cpu')['loss'].item()", []),
        ("torch.load(path, map_location=torch.device('cpu'))['state'][0].tolist()", []),
        ("torch.load(path)['loss'].item()", ["SG201"]),
        ("torch.load(path, map_location=device)['loss'].item()", ["SG201"]),
        ("torch.load(path, map_location='cpu' if small else device)['loss'].item()", ["SG201"]),
        ("load_file(path)['w'].max().item()", []),
        ("load_file(path, device='cuda')['w'].item()", ["SG201"]),
        ("torchaudio.load(path)[0].abs().max().item()", []),
        ("torchaudio.load(path)[0].cuda().max().item()", ["SG301", "SG201"]),
        ("read_image(path)[0, 0].item()", []),
    ],
)
def test_what_is_loaded_is_where_the_call_says(read: str, found: list[str]) -> None:
    text = f"{HEAD}def f(path, device, small):\n    return {read}\n"
    assert codes(text, ignore=("SG301",) if "map_location" in read else ()) == found


@pytest.mark.parametrize(
    ("device", "found"),
    [
        ("", []),
        (", device='cpu'", []),
        (", 'cpu'", []),
        (", device='cuda:0'", ["SG201"]),
        (", device=0", ["SG201"]),
        (", device=device", ["SG201"]),
    ],
)
def test_what_is_taken_out_of_a_file_is_where_that_was_opened_for(device: str, found: list[str]) -> None:
    text = f"""
    from safetensors import safe_open

    def read(path, device):
        with safe_open(path, "pt"{device}) as kept:
            part: torch.Tensor = kept.get_tensor("w")
            return part[:4].max().item()

    def read_all(path, device):
        kept = safe_open(path, "pt"{device})
        return [kept.get_tensor(name).tolist() for name in kept.keys()]
    """
    assert codes(text, HEAD) == (found and ["SG201", "SG202"])
    assert codes(text.replace("from safetensors ", "from safetensors.torch "), HEAD) == (found and ["SG201", "SG202"])


def test_only_where_it_is_is_said_of_what_is_unknown() -> None:
    for place in ("host", "device"):
        assert results(f"unknown {place}")[0][1].place == place
    with pytest.raises(ValueError, match="may be on the host or the device, not `pinned`"):
        results("unknown pinned")


def test_what_is_pinned_by_hand_is_sent_without_a_wait() -> None:
    text = f"{HEAD}def f(path, names, device):\n    held = load_file(path)\n    for name in names:\n        moved = "
    for sent, found in (
        ('held[name].pin_memory().to("cuda", non_blocking=True)', []),
        ('held[name].pin_memory().to("cuda")', ["SG303"]),
        ('held[name].to("cuda")', ["SG301"]),
    ):
        assert codes(text + sent + "\n") == found


@pytest.mark.parametrize("made", ["tqdm(loader)", "tqdm(total=3)", "Bar()", "self.bar"])
def test_what_a_progress_bar_is_told_is_formatted_at_once(made):
    text = f"""
    from tqdm import tqdm

    def shown(self, loader, loss: torch.Tensor):
        bar = {made}
        bar.set_postfix(loss=loss)
        bar.set_postfix(loss=3)
    """
    assert codes(text, "import torch\n\n") == ["SG206"]


@pytest.mark.parametrize("shown", ['**{"loss": loss, "lr": 1.0}', "**logs", "logs"])
def test_what_a_progress_bar_is_told_out_of_a_dict_is_named(shown):
    text = f"""
    from tqdm import tqdm

    def show(bar, loss: torch.Tensor):
        logs = dict(loss=loss)
        tqdm(bar).set_postfix({shown})
    """
    (finding,) = findings(text, "import torch\n\n")
    assert f"shows of `{shown.removeprefix('**')}`" in finding.message


SERVED = """
import onnxruntime

class Server:
    def __init__(self, path, net):
        self.model = {model}

    def predict(self, found, x: torch.Tensor):
        y = self.model(torch.from_numpy(found).float())
        if y.max() > 3:
            return y.tolist()
        (score,) = onnxruntime.InferenceSession(path).run(None, {{"x": found}})
        return score.max() > 3 and score.tolist()
"""


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("torch.load(path, map_location='cpu').eval()", []),
        ("torch.jit.load(path, map_location='cpu')", []),
        ("torch.jit.load(path, map_location='cuda')", ["SG301", "SG204", "SG202"]),
        ("torch.jit.load(path)", ["SG204", "SG202"]),
        ("torch.ao.quantization.quantize_dynamic(net)", []),
        ("torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())", []),
        ("torch.nn.Linear(3, 3)", []),
        ("net", ["SG204", "SG202"]),  # which may move what it is given
    ],
)
def test_what_a_model_of_the_host_gives_is_there(model: str, found: list[str]) -> None:
    assert codes(HEAD + SERVED.format(model=model)) == found


def test_a_module_that_is_given_what_is_on_the_device_is_there() -> None:
    text = f"{HEAD}def f(x: torch.Tensor, mean):\n    net = torch.nn.Sequential(torch.nn.Linear(3, 3))\n    return "
    assert codes(text + "net(x).max().item()\n") == ["SG201"]
    assert codes(text + "net(torch.tensor(mean), x).max().item()\n") == ["SG201"]


@pytest.mark.parametrize("opened", ["safe_open('x', 'pt', device=args.device)", "load_file('x', device=args.device)"])
def test_a_device_that_nobody_knows_is_not_the_host(opened: str) -> None:
    got = "kept.get_tensor('a')" if "open" in opened else "kept['a']"
    text = f"""
    from safetensors import safe_open
    from safetensors.torch import load_file

    def main():
        args = settings()
        net = Net().cuda()
        kept = {opened}
        for batch in loader:
            net(batch).mean().backward()
            print({got}.max().item())
    """
    assert "SG201" in codes(text, "import torch\n\n")
