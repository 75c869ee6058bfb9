"""Lightning, accelerate and the Trainer of transformers around small models; peft."""

import logging
import tempfile

import accelerate
import torch
import transformers as T
from torch.utils.data import DataLoader, TensorDataset

logging.disable(logging.CRITICAL)
torch.manual_seed(0)


def lightning():
    import pytorch_lightning as L

    class Net(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(8, 2)

        def training_step(self, batch, index):
            loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss, prog_bar=True)
            return loss

        def validation_step(self, batch, index):
            self.log("val", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    data = TensorDataset(torch.randn(64, 8), torch.randint(2, (64,)))
    L.Trainer(
        accelerator="cuda",
        devices=1,
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        gradient_clip_val=1.0,
        enable_model_summary=False,
    ).fit(Net(), DataLoader(data, 8), DataLoader(data, 8))


def plain_accelerate():
    a = accelerate.Accelerator(mixed_precision="fp16")
    model = torch.nn.Linear(8, 2)
    model, optimizer, loader = a.prepare(
        model,
        torch.optim.AdamW(model.parameters()),
        DataLoader(TensorDataset(torch.randn(64, 8), torch.randint(2, (64,))), 8),
    )
    for x, y in loader:
        with a.accumulate(model):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            a.backward(loss)
            a.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        a.gather_for_metrics((loss.detach(), y))


def trainer():
    model = T.GPT2LMHeadModel(T.GPT2Config(vocab_size=64, n_embd=16, n_layer=1, n_head=2, n_positions=32))
    data = [{"input_ids": torch.randint(64, (8,)), "labels": torch.randint(64, (8,))} for _ in range(32)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = T.TrainingArguments(
            folder,
            max_steps=6,
            logging_steps=2,
            per_device_train_batch_size=4,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            eval_strategy="steps",
            eval_steps=3,
        )
        T.Trainer(model, arguments, train_dataset=data, eval_dataset=data).train()


def lora():
    import peft

    model = T.LlamaForCausalLM(
        T.LlamaConfig(
            vocab_size=64,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
        )
    )
    model = peft.get_peft_model(model, peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], use_dora=True)).to(
        "cuda"
    )
    for _ in range(3):
        ids = torch.randint(64, (2, 8), device="cuda")
        model(input_ids=ids, labels=ids).loss.backward()
    model.merge_adapter()


for make in (lightning, plain_accelerate, trainer, lora):
    try:
        make()
        print(make.__name__, "done")
    except Exception as fault:
        print(make.__name__, type(fault).__name__, str(fault)[:200])
