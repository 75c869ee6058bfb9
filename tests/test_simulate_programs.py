"""Programs of others, run simulated: they end, on the device, with the losses of a plain CPU run to the last bit."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from syncguard import pack  # noqa: E402
from syncguard.observe.simulate import Seen, Simulation  # noqa: E402

pytestmark = pytest.mark.slow
PACK = pack.load()
SMALL = {
    **dict.fromkeys("hidden_size d_model n_embd dim".split(), 32),
    **dict.fromkeys("num_hidden_layers n_layer n_layers encoder_layers decoder_layers num_layers".split(), 2),
    **dict.fromkeys("num_attention_heads n_head n_heads encoder_attention_heads decoder_attention_heads".split(), 4),
    **dict.fromkeys("intermediate_size ffn_dim d_ff encoder_ffn_dim decoder_ffn_dim n_inner".split(), 48),
    **dict.fromkeys("num_local_experts num_experts n_routed_experts".split(), 4),
    "num_key_value_heads": 2, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "head_dim": 8, "d_kv": 8,
    "shared_expert_intermediate_size": 16, "vocab_size": 101, "max_position_embeddings": 64, "n_positions": 64,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
CAUSAL = (
    "llama gpt2 gpt_neox opt bloom qwen2 qwen3 gemma gemma2 phi mistral falcon mixtral qwen2_moe olmoe bert".split()
)


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_language_model_trains_and_generates(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers")
    make = transformers.CONFIG_MAPPING[kind]
    config = make(**{name: value for name, value in SMALL.items() if name in make().to_dict()})

    def program(device: str) -> tuple[list[float], list[list[int]]]:
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(config).to(device).train()
        optimizer, losses = torch.optim.AdamW(model.parameters(), lr=1e-3), []
        for _ in range(2):
            words = torch.randint(3, 100, (2, 12)).to(device)
            loss = model(input_ids=words, labels=words).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach().cpu().item())
        start = torch.randint(3, 100, (2, 5)).to(device)
        return losses, model.eval().generate(start, max_new_tokens=4, do_sample=False).cpu().tolist()

    assert same_on_the_device(program)


def test_a_lightning_fit(tmp_path: Any) -> None:
    lightning = pytest.importorskip("lightning")

    def program(device: str) -> list[float]:
        torch.manual_seed(0)
        losses = []

        class Model(lightning.LightningModule):  # type: ignore[name-defined,misc]
            def __init__(self) -> None:
                super().__init__()
                self.layer = torch.nn.Linear(4, 2)

            def training_step(self, batch: Any, index: int) -> Any:
                assert batch[0].device.type == device
                loss = torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])
                losses.append(loss.detach())
                return loss

            def configure_optimizers(self) -> Any:
                return torch.optim.Adam(self.parameters())

        data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randint(2, (32,)))
        trainer = lightning.Trainer(
            max_epochs=2, logger=False, enable_progress_bar=False, default_root_dir=tmp_path, enable_checkpointing=False
        )
        trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=8, num_workers=2, pin_memory=True))
        return [loss.cpu().item() for loss in losses]

    assert same_on_the_device(program)


def same_on_the_device(program: Any) -> list[Seen]:
    """Run it plain and simulated; the waits that were seen."""
    told: list[Seen] = []
    with torch.random.fork_rng(devices=[]):
        plain = program("cpu")
        with Simulation(PACK, told.append):
            simulated = program("cuda")
    assert simulated == plain
    return told
