"""A class of configurations -> a tiny one; a model -> what to call it with, from which seed; what it gave -> bits."""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from typing import Any

# Sizes by the name of the setting. What a configuration derives from them it derives itself.
SIZES: dict[str, Any] = {
    **dict.fromkeys("hidden_size d_model n_embd embed_dim dim embedding_size word_embed_proj_dim emb_dim".split(), 32),
    **dict.fromkeys("encoder_hidden_dim decoder_hidden_dim model_dim lru_width projection_dim".split(), 32),
    **dict.fromkeys("num_hidden_layers n_layer n_layers encoder_layers decoder_layers num_layers depth".split(), 2),
    **dict.fromkeys("num_encoder_layers num_decoder_layers num_block_layers".split(), 2),
    **dict.fromkeys("num_attention_heads n_head n_heads num_heads encoder_attention_heads".split(), 4),
    **dict.fromkeys("decoder_attention_heads encoder_num_attention_heads decoder_num_attention_heads".split(), 4),
    **dict.fromkeys("intermediate_size ffn_dim d_ff encoder_ffn_dim decoder_ffn_dim n_inner hidden_dim".split(), 48),
    **dict.fromkeys("head_dim d_kv rotary_dim qk_rope_head_dim qk_nope_head_dim v_head_dim state_size".split(), 8),
    **dict.fromkeys("num_local_experts num_experts n_routed_experts moe_num_experts".split(), 4),
    **dict.fromkeys("vocab_size vocab_size_per_layer_input".split(), 99),
    **dict.fromkeys("max_position_embeddings n_positions max_source_positions max_target_positions".split(), 64),
    "num_key_value_heads": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16,
    "q_lora_rank": 16, "kv_lora_rank": 16, "hidden_size_per_layer_input": 8, "num_experts_per_tok": 2,
    "image_size": 32, "patch_size": 8, "num_queries": 6, "num_mel_bins": 16, "attention_window": 16,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "num_labels": 3,
    "num_channels": 3, "depths": [1, 1], "hidden_sizes": [16, 32], "sliding_window": 16, "n_group": 1,
    "topk_group": 1, "n_shared_experts": 1, "first_k_dense_replace": 1, "block_sizes": [1, 1],
    "max_2d_position_embeddings": 64,
    "use_timm_backbone": False, "use_pretrained_backbone": False, "num_hash_functions": 2, "num_hash_buckets": 64,
    "num_feature_levels": 1, "encoder_n_points": 2, "decoder_n_points": 2, "num_codevectors_per_group": 8,
    "mask_time_length": 2, "mask_feature_length": 2, "out_hidden_size": 32, "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2, "image_token_id": 90, "video_token_id": 91, "audio_token_id": 92,
    "image_token_index": 90, "video_token_index": 91, "audio_token_index": 92, "vision_start_token_id": 93,
    "vision_end_token_id": 94, "speech_token_id": 95, "image_seq_length": 4, "num_filters": 8,
    "upsampling_ratios": [2, 2],
}  # fmt: skip


def tiny(cls: Any, depth: int = 3) -> Any:
    """A configuration with small sizes, those in it too."""
    base = cls()
    plain = base.to_dict()
    given = {name: size for name, size in SIZES.items() if name in plain and not isinstance(plain[name], dict)}
    for name, size in list(given.items()):
        if isinstance(size, int) and isinstance(plain[name], (list, tuple)):
            given[name] = type(plain[name])(plain[name][:2])
    if "num_key_value_heads" in given and plain["num_key_value_heads"] == plain.get("num_attention_heads"):
        given["num_key_value_heads"] = 4
    if isinstance(plain.get("rope_parameters"), dict):
        given["rope_parameters"] = {"mrope_section": [1, 1, 2], **plain["rope_parameters"]}
    parts = {name: value for name, value in vars(base).items() if hasattr(value, "to_dict") and depth}
    given |= {name: tiny(type(value), depth - 1).to_dict() for name, value in parts.items()}
    for dropped in ((), ("depths", "hidden_sizes"), ("head_dim",), *((name,) for name in given)):
        try:
            return cls(**{name: size for name, size in given.items() if name not in dropped})
        except Exception:
            continue
    return base


def inputs(model: Any, config: Any) -> Iterator[dict[str, Any]]:
    """What to call a model with: the likeliest first."""
    import torch

    names = set(inspect.signature(model.forward).parameters)
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    generator = torch.Generator().manual_seed(2)
    length, size = 12, getattr(config, "image_size", None) or 32
    size = size if isinstance(size, int) else 32
    width = getattr(text, "hidden_size", None) or getattr(config, "hidden_size", 32)
    ids = torch.randint(3, 90, (2, length), generator=generator)
    ids[:, -4] = 2  # some look for the end of the text
    mask = torch.ones_like(ids)
    mask[1, -3:] = 0
    mels = getattr(config, "num_mel_bins", None) or 16
    every: dict[str, Any] = {
        "input_ids": ids, "attention_mask": mask, "decoder_input_ids": ids,
        "pixel_values": torch.randn(2, getattr(config, "num_channels", 3) or 3, size, size, generator=generator),
        "pixel_mask": torch.ones(2, size, size, dtype=torch.long),
        "input_values": torch.randn(2, 6400, generator=generator),
        "input_features": torch.randn(2, mels, 2 * getattr(config, "max_source_positions", 32), generator=generator),
        "hidden_states": torch.randn(2, length, width, generator=generator),
        "inputs_embeds": torch.randn(2, length, width, generator=generator),
        "bbox": torch.randint(0, 9, (2, length, 4), generator=generator).cumsum(-1),
        "encoder_hidden_states": torch.randn(2, length, width, generator=generator),
        "labels": ids, "position_ids": torch.arange(length).expand(2, -1),
    }  # fmt: skip
    main = getattr(model, "main_input_name", "input_ids")
    sets = [
        [main, "attention_mask", "decoder_input_ids", "bbox", "labels"],
        [main, "attention_mask", "decoder_input_ids", "bbox"],
        ["input_ids", "attention_mask", "pixel_values"], [main, "decoder_input_ids"], [main, "input_ids"],
        [main, "pixel_mask"], [main], ["pixel_values"], ["input_ids", "attention_mask"], ["inputs_embeds"],
        ["hidden_states"], ["hidden_states", "position_ids"], ["hidden_states", "attention_mask"],
        ["input_values"], ["input_features"], ["inputs_embeds", "attention_mask"],
        ["input_ids", "encoder_hidden_states"], ["hidden_states", "encoder_hidden_states"],
    ]  # fmt: skip
    seen: list[set[str]] = []
    for words in sets:
        kept = {name: every[name] for name in words if name in names and name in every}
        if kept and set(kept) not in seen:
            seen.append(set(kept))
            yield {name: value.clone() for name, value in kept.items()}
    if "input_features" in names:
        yield {"input_features": every["input_features"].transpose(1, 2)}
    if "input_values" in names:
        yield {"input_values": every["input_values"].unsqueeze(1)}


def seeded(number: int) -> None:
    """Every generator that a model may draw from, from this seed on."""
    import numpy as np
    import torch

    torch.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


# -- what came of it ----------------------------------------------------------------------------------


def add(digest: Any, tensor: Any) -> None:
    """A tensor's dtype, shape and bits."""
    import torch

    digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
    plain = tensor.detach().contiguous().reshape(-1)
    digest.update(plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b"")


def tensors(value: Any) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from tensors(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from tensors(inner)
