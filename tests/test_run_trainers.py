"""Lightning and the Hugging Face Trainer under `syncguard run`, with our callbacks; skipped where not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow
LIGHTNING = """\
import json, logging, sys, warnings
import lightning, torch

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.losses = torch.nn.Linear(4, 3), []

    def training_step(self, batch, index):
        loss = torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])
        self.losses.append(loss.detach())
        if sys.argv[1:] == ["wait"]:
            loss.item()
        return loss

    def validation_step(self, batch, index):
        (self.layer(batch[0]).argmax(-1) == batch[1]).float().mean().item()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


torch.manual_seed(0)
data = torch.utils.data.TensorDataset(torch.randn(40, 4), torch.randint(3, (40,)))
callbacks = []
if sys.argv[1:]:
    from syncguard.observe.lightning import Steps

    callbacks = [Steps(budget=0)]
model = Model()
trainer = lightning.Trainer(
    max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    callbacks=callbacks, devices=1, val_check_interval=2, num_sanity_val_steps=0,
)
trainer.fit(
    model, torch.utils.data.DataLoader(data, 8, num_workers=2, pin_memory=True),
    torch.utils.data.DataLoader(data, 20, pin_memory=True),
)
print(json.dumps([float(loss) for loss in model.losses]))
"""
TRAINER = """\
import json, sys
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

torch.manual_seed(0)
words = [{"input_ids": row, "labels": row} for row in torch.randint(0, 64, (24, 12))]
losses = []


class Keep(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **_):
        losses.extend((logs["loss"], logs["grad_norm"]) if "loss" in logs else ())


callbacks = [Keep()]
if sys.argv[1:]:
    from syncguard.observe.huggingface import Steps

    callbacks.append(Steps(0 if sys.argv[1] == "strict" else None))
config = GPT2Config(
    vocab_size=64, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0,
    resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
)
settings = TrainingArguments(
    output_dir="out", max_steps=6, per_device_train_batch_size=4, logging_steps=1, report_to=[], disable_tqdm=True,
    dataloader_num_workers=2, dataloader_pin_memory=True, save_strategy="no", eval_strategy="steps", eval_steps=3,
)
trainer = Trainer(GPT2LMHeadModel(config), settings, train_dataset=words, eval_dataset=words, callbacks=callbacks)
trainer.train()
print(json.dumps(losses))
"""


def done(folder: Path, *words: str) -> tuple[int, str, str]:
    env = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    return ran.returncode, ran.stdout, ran.stderr


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    return done(folder, "-m", "syncguard", "run", "--device", "simulate", "--save", "run.json", "train.py", *words)


def written(folder: Path, module: str, text: str) -> str:
    """The program in a file; the last line that it prints without us."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    (folder / "train.py").write_text(text)
    code, out, err = done(folder, "train.py")
    assert code == 0, err
    return out.strip().rpartition("\n")[2]


def test_a_lightning_fit(tmp_path):
    plain = written(tmp_path, "lightning", LIGHTNING)
    code, out, err = run(tmp_path, "steps")
    assert code == 0, err
    assert out.strip().rpartition("\n")[2] == plain
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["steps"]["how"] == "user"
    assert record["steps"]["counted"] == 9
    validation = [w for w in record["waits"] if w["place"].get("function", "").endswith("validation_step")]
    assert [(w["count"], w.get("steps")) for w in validation] == [(8, None)]

    code, out, err = run(tmp_path, "wait")
    assert code == 1
    assert "SyncError: wait 1 where the budget is 0: train.py:17:13 `torch.Tensor.item`" in err


def test_a_trainer_of_hugging_face(tmp_path):
    plain = written(tmp_path, "transformers", TRAINER) if find_spec("accelerate") else ""
    if not plain:
        pytest.skip("accelerate is not installed")
    code, out, err = run(tmp_path, "steps")
    assert code == 0, err
    assert out.strip().rpartition("\n")[2] == plain
    record = json.loads((tmp_path / "run.json").read_text())
    assert (record["steps"]["how"], record["steps"]["counted"]) == ("user", 5)
    reads = [w for w in record["waits"] if w["place"]["path"].endswith("trainer.py") and w["code"] == "SG204"]
    assert [[n, 1] for n in range(1, 7)] in [w.get("steps") for w in reads]

    code, out, err = run(tmp_path, "strict")
    assert code == 1
    assert "where the budget is 0" in err
