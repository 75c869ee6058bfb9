"""transformers: causal and masked language models, a training step of each, and generation in several ways."""

import torch
import transformers as T

D = "cuda"
torch.manual_seed(0)
small = dict(
    vocab_size=128,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    max_position_embeddings=64,
)
models = {
    "gpt2": T.GPT2LMHeadModel(
        T.GPT2Config(vocab_size=128, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1, eos_token_id=2)
    ),
    "llama": T.LlamaForCausalLM(T.LlamaConfig(**small, num_key_value_heads=2, pad_token_id=0)),
    "mistral": T.MistralForCausalLM(T.MistralConfig(**small, num_key_value_heads=2, sliding_window=8, pad_token_id=0)),
    "mixtral": T.MixtralForCausalLM(
        T.MixtralConfig(**small, num_key_value_heads=2, num_local_experts=4, output_router_logits=True, pad_token_id=0)
    ),
    "qwen2moe": T.Qwen2MoeForCausalLM(
        T.Qwen2MoeConfig(
            **small,
            num_key_value_heads=2,
            num_experts=4,
            num_experts_per_tok=2,
            moe_intermediate_size=16,
            shared_expert_intermediate_size=16,
        )
    ),
    "bert": T.BertForMaskedLM(T.BertConfig(**small)),
    "roberta": T.RobertaForMaskedLM(T.RobertaConfig(**small)),
    "deberta": T.DebertaV2ForMaskedLM(
        T.DebertaV2Config(**small, relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"])
    ),
    "bloom": T.BloomForCausalLM(T.BloomConfig(vocab_size=128, hidden_size=32, n_layer=2, n_head=4)),
    "longformer": T.LongformerForMaskedLM(T.LongformerConfig(**small, attention_window=8)),
    "xlnet": T.XLNetLMHeadModel(T.XLNetConfig(vocab_size=128, d_model=32, n_layer=2, n_head=4, d_inner=64)),
}
for name, model in models.items():
    try:
        model = model.to(D).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for _ in range(3):
            ids = torch.randint(3, 128, (2, 16), device=D)
            mask = torch.ones_like(ids)
            mask[0, 12:] = 0
            loss = model(input_ids=ids, attention_mask=mask, labels=ids).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        print(name, "trained")
        if name in ("gpt2", "llama", "bloom"):
            model.eval()
            ids = torch.randint(3, 128, (2, 8), device=D)
            for options in (
                dict(do_sample=False),
                dict(do_sample=True, top_k=5, top_p=0.9),
                dict(num_beams=3),
                dict(do_sample=True, repetition_penalty=1.2, no_repeat_ngram_size=2),
            ):
                model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=6, pad_token_id=0, **options)
            print(name, "generated")
    except Exception as fault:
        print(name, type(fault).__name__, str(fault)[:200])
    models[name] = None
