"""diffusers: one step of training of U-Nets, autoencoders, adapters and transformers of images, videos and sounds."""

import inspect
import os

os.environ["HF_HUB_OFFLINE"] = "1"

import diffusers
import torch
import torch.nn.functional as F

D = "cuda"
torch.manual_seed(0)
torch.set_num_threads(1)  # there is nothing to share, and threads wait for each other


def f(*shape):
    return torch.randn(*shape, device=D)


def steps(n=2):
    return torch.randint(0, 1000, (n,), device=D)


def mask(*shape):
    return torch.ones(*shape, dtype=torch.long, device=D)


def trained(kind, config, inputs, again=False):
    model = getattr(diffusers, kind)(**config).to(D).train()
    if again:
        model.enable_gradient_checkpointing()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    given = inputs()
    if "return_dict" in inspect.signature(model.forward).parameters:
        given["return_dict"] = False
    out = model(**given)
    while isinstance(out, (tuple, list)):
        out = out[0]
    F.mse_loss(out.float(), torch.randn_like(out, dtype=torch.float32)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


HEADS = dict(num_attention_heads=2, attention_head_dim=16, num_layers=1)
TWO = dict(block_out_channels=(8, 16), norm_num_groups=4)
DOWN, UP = ("DownBlock2D", "CrossAttnDownBlock2D"), ("CrossAttnUpBlock2D", "UpBlock2D")
CONDITIONED = TWO | dict(
    down_block_types=DOWN, layers_per_block=1, cross_attention_dim=16, attention_head_dim=4
)  # fmt: skip
KL = TWO | dict(down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)
TEXT = dict(addition_embed_type="text_time", addition_time_embed_dim=4, projection_class_embeddings_input_dim=40)
NO_TEXT = dict(num_vector_embeds=None, norm_num_groups=4, in_channels=8, num_layers=1, attention_head_dim=8)
JOINT = HEADS | dict(in_channels=4, joint_attention_dim=16)


def latents(n=4, size=8):
    return lambda: dict(sample=f(2, n, size, size), timestep=steps(), encoder_hidden_states=f(2, 6, 16))


def packed(**more):
    """Of Flux and its kin: patches, words and where they stand."""
    ids = lambda n: torch.zeros(n, 3, device=D)
    return lambda: dict(
        hidden_states=f(2, 16, 4), encoder_hidden_states=f(2, 6, 16), timestep=torch.rand(2, device=D), img_ids=ids(16),
        txt_ids=ids(6), **{k: v() for k, v in more.items()},
    )  # fmt: skip


def written(*shape, text="encoder_hidden_states", **more):
    """Latents, steps and words."""
    return lambda: (
        {"hidden_states": f(*shape), "timestep": steps(), text: f(2, 6, 16)} | {k: v() for k, v in more.items()}
    )


FLUX = JOINT | dict(num_single_layers=1, axes_dims_rope=(4, 4, 8))
SMALL_3D = dict(in_channels=4, out_channels=4, text_embed_dim=16)
UNETS = [
    ("UNet2DModel", TWO | dict(down_block_types=("DownBlock2D", "AttnDownBlock2D"), layers_per_block=1,
        up_block_types=("AttnUpBlock2D", "UpBlock2D"), num_class_embeds=5, attention_head_dim=4),
        lambda: dict(sample=f(2, 3, 16, 16), timestep=steps(), class_labels=torch.randint(0, 5, (2,), device=D))),
    ("UNet2DModel", TWO | dict(down_block_types=("DownBlock2D", "ResnetDownsampleBlock2D"), layers_per_block=1,
        up_block_types=("ResnetUpsampleBlock2D", "UpBlock2D"), time_embedding_type="fourier",
        resnet_time_scale_shift="scale_shift", num_train_timesteps=1000), lambda: dict(sample=f(2, 3, 16, 16),
        timestep=7)),
    ("UNet2DConditionModel", CONDITIONED | dict(up_block_types=UP), latents()),
    ("UNet2DConditionModel", CONDITIONED | TEXT | dict(up_block_types=UP, use_linear_projection=True),
        lambda: latents()() | dict(added_cond_kwargs=dict(text_embeds=f(2, 16), time_ids=f(2, 6)))),
    ("UNet2DConditionModel", CONDITIONED | dict(up_block_types=UP, class_embed_type="timestep",
        encoder_hid_dim=16, encoder_hid_dim_type="text_proj", dual_cross_attention=False),
        lambda: latents()() | dict(class_labels=steps(), encoder_attention_mask=mask(2, 6), attention_mask=None)),
    ("UNet1DModel", dict(sample_size=64, block_out_channels=(32, 32, 64), extra_in_channels=64),
        lambda: dict(sample=f(2, 2, 64), timestep=steps())),
    ("UNet3DConditionModel", TWO | dict(down_block_types=("CrossAttnDownBlock3D", "DownBlock3D"), layers_per_block=1,
        up_block_types=("UpBlock3D", "CrossAttnUpBlock3D"), cross_attention_dim=16, attention_head_dim=4),
        lambda: dict(sample=f(1, 4, 2, 8, 8), timestep=steps(1), encoder_hidden_states=f(1, 6, 16))),
    ("UNetMotionModel", TWO | dict(down_block_types=("CrossAttnDownBlockMotion", "DownBlockMotion"),
        up_block_types=("UpBlockMotion", "CrossAttnUpBlockMotion"), layers_per_block=1, cross_attention_dim=16,
        num_attention_heads=2, motion_num_attention_heads=2),
        lambda: dict(sample=f(1, 4, 2, 8, 8), timestep=steps(1), encoder_hidden_states=f(2, 6, 16))),
    ("UNetSpatioTemporalConditionModel", dict(block_out_channels=(32, 32), num_attention_heads=(2, 2), num_frames=2,
        down_block_types=("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"), layers_per_block=1,
        up_block_types=("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"), cross_attention_dim=16,
        addition_time_embed_dim=8, projection_class_embeddings_input_dim=24),
        lambda: dict(sample=f(1, 2, 8, 8, 8), timestep=steps(1), encoder_hidden_states=f(1, 1, 16),
                     added_time_ids=f(1, 3))),
    ("ControlNetModel", CONDITIONED | dict(conditioning_embedding_out_channels=(8, 8)),
        lambda: latents()() | dict(controlnet_cond=f(2, 3, 16, 16), guess_mode=True)),
    ("T2IAdapter", dict(channels=[8, 16], downscale_factor=2, num_res_blocks=1), lambda: dict(x=f(1, 3, 16, 16))),
]  # fmt: skip
AUTOENCODERS = [
    ("AutoencoderKL", KL, lambda: dict(sample=f(2, 3, 16, 16), sample_posterior=True)),
    ("AsymmetricAutoencoderKL", dict(down_block_types=KL["down_block_types"], up_block_types=KL["up_block_types"],
        down_block_out_channels=(8, 16), up_block_out_channels=(8, 16), norm_num_groups=4),
        lambda: dict(sample=f(1, 3, 16, 16), mask=torch.ones(1, 1, 16, 16, device=D))),
    ("AutoencoderKLTemporalDecoder", dict(block_out_channels=(32, 32), down_block_types=KL["down_block_types"]),
        lambda: dict(sample=f(2, 3, 16, 16), num_frames=2)),
    ("VQModel", KL | dict(num_vq_embeddings=8), lambda: dict(sample=f(2, 3, 16, 16))),
    ("AutoencoderTiny", dict(encoder_block_out_channels=(8, 8), decoder_block_out_channels=(8, 8),
        num_encoder_blocks=(1, 1), num_decoder_blocks=(1, 1)), lambda: dict(sample=f(2, 3, 16, 16))),
    ("AutoencoderDC", dict(latent_channels=4, attention_head_dim=4, encoder_block_types=("ResBlock",
        "EfficientViTBlock"),
        decoder_block_types=("ResBlock", "EfficientViTBlock"), encoder_block_out_channels=(8, 8),
        decoder_block_out_channels=(8, 8), encoder_layers_per_block=(1, 1), decoder_layers_per_block=(1, 1),
        encoder_qkv_multiscales=((), (5,)), decoder_qkv_multiscales=((), (5,))), lambda: dict(sample=f(1, 3, 16, 16))),
    ("AutoencoderOobleck", dict(encoder_hidden_size=8, downsampling_ratios=[2, 2], channel_multiples=[1, 2],
        decoder_channels=8, decoder_input_channels=4), lambda: dict(sample=f(1, 2, 64))),
    ("AutoencoderKLWan", dict(base_dim=4, z_dim=16, dim_mult=[1, 1], num_res_blocks=1, temperal_downsample=[True]),
        lambda: dict(sample=f(1, 3, 5, 16, 16))),
    ("AutoencoderKLQwenImage", dict(base_dim=4, z_dim=16, dim_mult=[1, 1], num_res_blocks=1,
        temperal_downsample=[False]), lambda: dict(sample=f(1, 3, 1, 16, 16))),
    ("AutoencoderKLLTXVideo", dict(latent_channels=8, block_out_channels=(8, 8), decoder_block_out_channels=(8, 8),
        down_block_types=("LTXVideoDownBlock3D",) * 2, layers_per_block=(1, 1, 1), decoder_layers_per_block=(1, 1, 1),
        spatio_temporal_scaling=(True, False), decoder_spatio_temporal_scaling=(True, False), patch_size=1,
        decoder_inject_noise=(False,) * 3, downsample_type=("conv",) * 2, upsample_residual=(False,) * 2,
        upsample_factor=(1, 1)), lambda: dict(sample=f(1, 3, 9, 16, 16))),
    ("AutoencoderKLCogVideoX", dict(down_block_types=("CogVideoXDownBlock3D",) * 2, layers_per_block=1,
        up_block_types=("CogVideoXUpBlock3D",) * 2, block_out_channels=(8, 8), latent_channels=4, norm_num_groups=4,
        temporal_compression_ratio=2), lambda: dict(sample=f(1, 3, 5, 16, 16))),
    ("AutoencoderKLHunyuanVideo", dict(down_block_types=("HunyuanVideoDownBlock3D",) * 2, layers_per_block=1,
        up_block_types=("HunyuanVideoUpBlock3D",) * 2, block_out_channels=(8, 8), latent_channels=4, norm_num_groups=4,
        spatial_compression_ratio=4, temporal_compression_ratio=4), lambda: dict(sample=f(1, 3, 5, 16, 16))),
]  # fmt: skip
PICTURES = [
    ("Transformer2DModel", NO_TEXT | dict(num_attention_heads=2, cross_attention_dim=16),
        lambda: dict(hidden_states=f(2, 8, 4, 4), encoder_hidden_states=f(2, 6, 16))),
    ("DiTTransformer2DModel", HEADS | dict(norm_num_groups=4, sample_size=8, num_embeds_ada_norm=1000),
        lambda: dict(hidden_states=f(2, 4, 8, 8), timestep=steps(), class_labels=steps())),
    ("PixArtTransformer2DModel", HEADS | dict(in_channels=4, cross_attention_dim=48, sample_size=8,
        caption_channels=16, norm_num_groups=4, attention_head_dim=24, use_additional_conditions=True), written(2, 4,
        8, 8,
        encoder_attention_mask=lambda: mask(2, 6),
        added_cond_kwargs=lambda: dict(resolution=f(2, 2), aspect_ratio=f(2, 1)))),
    ("SD3Transformer2DModel", JOINT | dict(sample_size=8, out_channels=4, caption_projection_dim=32, num_layers=2,
        pooled_projection_dim=16, pos_embed_max_size=8, dual_attention_layers=(0,), qk_norm="rms_norm"),
        written(2, 4, 8, 8, pooled_projections=lambda: f(2, 16))),
    ("FluxTransformer2DModel", FLUX | dict(pooled_projection_dim=16, guidance_embeds=True),
        packed(pooled_projections=lambda: f(2, 16), guidance=lambda: torch.ones(2, device=D))),
    ("Flux2Transformer2DModel", FLUX | dict(axes_dims_rope=(4, 4, 4, 4), timestep_guidance_channels=16),
        lambda: packed(guidance=lambda: torch.ones(2, device=D))()
        | dict(img_ids=torch.zeros(16, 4, device=D), txt_ids=torch.zeros(6, 4, device=D))),
    ("ChromaTransformer2DModel", FLUX | dict(approximator_num_channels=8, approximator_hidden_dim=16,
        approximator_layers=1), packed(attention_mask=lambda: torch.ones(2, 22, dtype=torch.bool, device=D))),
    ("QwenImageTransformer2DModel", JOINT | dict(out_channels=1, axes_dims_rope=(4, 4, 8)), written(2, 16, 4,
        encoder_hidden_states_mask=lambda: mask(2, 6), img_shapes=lambda: [[(1, 4, 4)]] * 2)),
    ("SanaTransformer2DModel", HEADS | dict(in_channels=4, out_channels=4, num_cross_attention_heads=2, sample_size=8,
        cross_attention_head_dim=16, cross_attention_dim=32, caption_channels=16),
        written(2, 4, 8, 8, encoder_attention_mask=lambda: mask(2, 6))),
    ("HunyuanDiT2DModel", HEADS | dict(in_channels=4, patch_size=2, sample_size=8, hidden_size=32, num_layers=2,
        cross_attention_dim=16, cross_attention_dim_t5=16, pooled_projection_dim=16, text_len=6, text_len_t5=6),
        written(2, 4, 8, 8, timestep=lambda: steps().float(), text_embedding_mask=lambda: mask(2, 6).bool(),
        encoder_hidden_states_t5=lambda: f(2, 6, 16),
        text_embedding_mask_t5=lambda: mask(2, 6).bool(), image_meta_size=lambda: f(2, 6),
        style=lambda: torch.zeros(2, dtype=torch.long, device=D), image_rotary_emb=lambda: (f(16, 16), f(16, 16)))),
    ("Lumina2Transformer2DModel", dict(sample_size=8, in_channels=4, hidden_size=32, num_layers=1, num_refiner_layers=1,
        num_attention_heads=2, num_kv_heads=1, multiple_of=16, axes_dim_rope=(4, 4, 8), axes_lens=(64, 32, 32),
        cap_feat_dim=16), written(2, 4, 8, 8, encoder_attention_mask=lambda: mask(2, 6).bool())),
    ("CogView4Transformer2DModel", HEADS | dict(in_channels=4, out_channels=4, text_embed_dim=16, time_embed_dim=16,
        condition_dim=8, pos_embed_max_size=8, sample_size=8, rope_axes_dim=(8, 8)), written(2, 4, 8, 8,
        original_size=lambda: f(2, 2), target_size=lambda: f(2, 2), crop_coords=lambda: f(2, 2))),
    ("AuraFlowTransformer2DModel", dict(sample_size=8, num_mmdit_layers=1, num_single_dit_layers=1,
        pos_embed_max_size=16,
        attention_head_dim=16, num_attention_heads=2, joint_attention_dim=16, caption_projection_dim=32),
        written(2, 4, 8, 8)),
    ("ZImageTransformer2DModel", dict(in_channels=4, dim=32, n_layers=1, n_refiner_layers=1, n_heads=2, n_kv_heads=2,
        cap_feat_dim=16, axes_dims=[4, 4, 8], axes_lens=[64, 32, 32]),
        lambda: dict(x=[f(4, 1, 8, 8)] * 2, t=torch.rand(2, device=D), cap_feats=[f(6, 16), f(5, 16)])),
    ("HiDreamImageTransformer2DModel", HEADS | dict(patch_size=2, in_channels=4, num_single_layers=1, text_emb_dim=16,
        caption_channels=[16, 16], axes_dims_rope=(4, 4, 8), max_resolution=(8, 8), llama_layers=[0, 0]),
        lambda: dict(hidden_states=f(2, 4, 8, 8), timesteps=steps(), encoder_hidden_states_t5=f(2, 6, 16),
        encoder_hidden_states_llama3=f(1, 2, 6, 16), pooled_embeds=f(2, 16))),
    ("PriorTransformer", HEADS | dict(embedding_dim=16, num_embeddings=6),
        lambda: dict(hidden_states=f(2, 16), timestep=steps(), proj_embedding=f(2, 16), encoder_hidden_states=f(2, 6,
        16),
        attention_mask=mask(2, 6).bool())),
]  # fmt: skip
MOVING = [
    ("WanTransformer3DModel", HEADS | dict(in_channels=4, out_channels=4, text_dim=16, freq_dim=16, ffn_dim=32,
        rope_max_seq_len=16), written(2, 4, 2, 8, 8)),
    ("LTXVideoTransformer3DModel", HEADS | dict(in_channels=4, out_channels=4, cross_attention_dim=32,
        caption_channels=16), written(2, 8, 4, encoder_attention_mask=lambda: mask(2, 6), num_frames=lambda: 2,
        height=lambda: 2, width=lambda: 2)),
    ("CogVideoXTransformer3DModel", HEADS | dict(in_channels=4, out_channels=4, time_embed_dim=8, text_embed_dim=16,
        sample_width=8, sample_height=8, sample_frames=5, max_text_seq_length=6), written(2, 2, 4, 8, 8)),
    ("HunyuanVideoTransformer3DModel", HEADS | SMALL_3D | dict(num_single_layers=1, num_refiner_layers=1,
        pooled_projection_dim=16, rope_axes_dim=(4, 4, 8)), written(2, 4, 2, 8, 8,
        encoder_attention_mask=lambda: mask(2, 6), pooled_projections=lambda: f(2, 16),
        guidance=lambda: torch.ones(2, device=D))),
    ("MochiTransformer3DModel", HEADS | dict(in_channels=4, pooled_projection_dim=16, text_embed_dim=16, num_layers=2,
        time_embed_dim=8, max_sequence_length=6), written(2, 4, 2, 8, 8,
        encoder_attention_mask=lambda: mask(2, 6).bool())),
    ("AllegroTransformer3DModel", HEADS | dict(cross_attention_dim=48, sample_height=8, sample_width=8, sample_frames=2,
        caption_channels=16, attention_head_dim=24), written(2, 4, 2, 8, 8, encoder_attention_mask=lambda: mask(2, 6),
        attention_mask=lambda: mask(2, 2, 8, 8),
        image_rotary_emb=lambda: (((f(32, 8), f(32, 8)),) * 3, (torch.arange(32, device=D)[None],) * 3))),
    ("LatteTransformer3DModel", HEADS | dict(in_channels=4, out_channels=4, cross_attention_dim=32, sample_size=8,
        patch_size=2, num_embeds_ada_norm=1000, norm_type="ada_norm_single", caption_channels=16, video_length=2,
        norm_elementwise_affine=False), written(2, 4, 2, 8, 8)),
    ("CosmosTransformer3DModel", HEADS | dict(in_channels=4, out_channels=4, text_embed_dim=16, adaln_lora_dim=4,
        max_size=(2, 8, 8)), written(2, 4, 2, 8, 8, fps=lambda: 30,
        padding_mask=lambda: torch.zeros(1, 1, 64, 64, device=D))),
    ("StableAudioDiTModel", HEADS | dict(sample_size=16, in_channels=4, out_channels=4, num_key_value_attention_heads=1,
        cross_attention_dim=16, time_proj_dim=8, global_states_input_dim=16, cross_attention_input_dim=16),
        written(2, 4, 16, global_hidden_states=lambda: f(2, 1, 16), rotary_embedding=lambda: (f(17, 8), f(17, 8)),
        encoder_attention_mask=lambda: mask(2, 6).bool())),
]  # fmt: skip
AGAIN = {"UNet2DConditionModel", "FluxTransformer2DModel"}  # with their activations computed anew
for kind, config, inputs in UNETS + AUTOENCODERS + PICTURES + MOVING:
    for again in [False, True] if kind in AGAIN else [False]:
        try:
            trained(kind, config, inputs, again)
        except Exception as fault:
            print(kind, type(fault).__name__, str(fault)[:200])
