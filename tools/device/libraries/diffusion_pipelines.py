"""diffusers: pipelines of tiny random parts, from words or their embeddings to images and videos."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import diffusers as P
import numpy as np
import torch
import transformers as T

D = "cuda"
torch.manual_seed(0)
torch.set_num_threads(1)  # there is nothing to share, and threads wait for each other


def f(*shape):
    return torch.randn(*shape, device=D)


def mask(*shape):
    return torch.ones(*shape, dtype=torch.long, device=D)


def photo(size=16):
    return torch.rand(1, 3, size, size)


def hole(size=16):
    return (torch.rand(1, 1, size, size) > 0.5).float()


def run(pipe, dtype=None, output_type="np", **given):
    pipe = pipe.to(D) if dtype is None else pipe.to(D, dtype)
    pipe.set_progress_bar_config(disable=True)
    given = {"num_inference_steps": 3, "generator": torch.Generator(D).manual_seed(0)} | given
    return pipe(output_type=output_type, **given)


TWO = dict(block_out_channels=(8, 16), norm_num_groups=4)
HEADS = dict(num_attention_heads=2, attention_head_dim=16, num_layers=1)


def unet(**more):
    given = TWO | dict(
        sample_size=8, down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), layers_per_block=1,
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"), cross_attention_dim=16, attention_head_dim=4,
    )  # fmt: skip
    return P.UNet2DConditionModel(**given | more)


def unconditional(**more):
    return P.UNet2DModel(
        sample_size=16, layers_per_block=1, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=4, **TWO, **more,
    )  # fmt: skip


def vae(**more):
    return P.AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2, sample_size=16,
        **TWO | more,
    )  # fmt: skip


def text(kind=T.CLIPTextModel):
    config = T.CLIPTextConfig(
        vocab_size=64, hidden_size=16, intermediate_size=16, num_hidden_layers=3, num_attention_heads=2,
        max_position_embeddings=8, projection_dim=16, bos_token_id=1, eos_token_id=2, pad_token_id=2,
    )  # fmt: skip
    return kind(config)


def words():
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = ["!", "<|startoftext|>", "<|endoftext|>", *letters, *(f"{one}</w>" for one in letters)]
    return T.CLIPTokenizer(vocab={word: at for at, word in enumerate(known)}, merges=[], model_max_length=8)


def stable(kind, scheduler=None, **more):
    given = dict(
        vae=vae(), text_encoder=text(), tokenizer=words(), unet=unet(),
        scheduler=scheduler or P.PNDMScheduler(skip_prk_steps=True, steps_offset=1),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False,
    )  # fmt: skip
    return kind(**given | more)


def flow():
    return P.FlowMatchEulerDiscreteScheduler()


def unknown_words(n=1):
    return dict(prompt_embeds=f(n, 6, 16), negative_prompt_embeds=f(n, 6, 16))


def masked_words():
    return unknown_words() | dict(prompt_attention_mask=mask(1, 6), negative_prompt_attention_mask=mask(1, 6))


NO_WORDS = dict(text_encoder=None, tokenizer=None)
SMALL = dict(height=16, width=16)


def ddpm():
    run(P.DDPMPipeline(unconditional(), P.DDPMScheduler()), batch_size=2)


def ddim():
    run(P.DDIMPipeline(unconditional(), P.DDIMScheduler()), eta=0.5, use_clipped_model_output=True)


def consistency():
    pipe = P.ConsistencyModelPipeline(unconditional(num_class_embeds=5), P.CMStochasticIterativeScheduler())
    run(pipe, class_labels=[1], num_inference_steps=None, timesteps=[22, 0])


def stable_diffusion():
    kind = P.StableDiffusionPipeline
    run(stable(kind), prompt="a cat", negative_prompt="a dog")
    run(stable(kind, P.EulerDiscreteScheduler()), output_type="pil", **unknown_words(2), guidance_rescale=0.7)
    pipe = stable(kind, P.DPMSolverMultistepScheduler())
    pipe.vae.enable_slicing()
    pipe.vae.enable_tiling()
    seen = lambda pipe, step, t, kept: {"latents": kept["latents"] * 1.0}
    run(pipe, torch.bfloat16, "pt", prompt=["a cat", "a dog"], num_images_per_prompt=2, callback_on_step_end=seen)
    run(stable(kind, P.LMSDiscreteScheduler()), prompt="a cat", guidance_scale=1.0)
    run(stable(kind, P.UniPCMultistepScheduler()), prompt="a cat", generator=torch.Generator().manual_seed(0))


def image_to_image():
    run(stable(P.StableDiffusionImg2ImgPipeline), prompt="a cat", image=photo(), strength=0.7)
    image = P.image_processor.VaeImageProcessor.numpy_to_pil(np.random.rand(1, 16, 16, 3))
    given = dict(prompt="a cat", image=image, strength=0.9)
    run(stable(P.StableDiffusionImg2ImgPipeline, P.EulerAncestralDiscreteScheduler()), output_type="pil", **given)


def inpaint():
    given = dict(prompt="a cat", image=photo(), mask_image=hole(), **SMALL)
    run(stable(P.StableDiffusionInpaintPipeline, P.DDIMScheduler()), **given)
    run(stable(P.StableDiffusionInpaintPipeline, unet=unet(in_channels=9)), strength=0.8, **given)


def controlnet():
    branch = P.ControlNetModel.from_unet(unet(), conditioning_embedding_out_channels=(8, 8))
    given = dict(prompt="a cat", image=photo(), controlnet_conditioning_scale=0.7)
    run(stable(P.StableDiffusionControlNetPipeline, controlnet=branch), **given)
    run(stable(P.StableDiffusionControlNetPipeline, P.DDIMScheduler(), controlnet=[branch, branch]), **given | dict(
        image=[photo(), photo()], controlnet_conditioning_scale=[0.5, 0.7], control_guidance_end=[0.5,
        1.0]))  # fmt: skip
    run(stable(P.StableDiffusionControlNetPipeline, controlnet=branch), guess_mode=True, **given)


def upscale():
    pipe = P.StableDiffusionUpscalePipeline(
        vae(), text(), words(), unet(in_channels=7, num_class_embeds=1000), P.DDPMScheduler(), P.DDIMScheduler()
    )
    run(pipe, prompt="a cat", image=photo(8))


def latent_consistency():
    run(stable(P.LatentConsistencyModelPipeline, P.LCMScheduler(), unet=unet(time_cond_proj_dim=8)), prompt="a cat")


def xl(kind, scheduler=None, **more):
    added = dict(addition_embed_type="text_time", addition_time_embed_dim=4, projection_class_embeddings_input_dim=40)
    given = dict(
        vae=vae(), text_encoder=text(), text_encoder_2=text(T.CLIPTextModelWithProjection), tokenizer=words(),
        tokenizer_2=words(), unet=unet(cross_attention_dim=32, **added),
        scheduler=scheduler or P.EulerDiscreteScheduler(),
    )  # fmt: skip
    return kind(**given | more)


def stable_diffusion_xl():
    run(xl(P.StableDiffusionXLPipeline), prompt="a cat")
    run(xl(P.StableDiffusionXLPipeline, P.DDIMScheduler()), torch.bfloat16, "pt", prompt="a cat", denoising_end=0.8)
    run(xl(P.StableDiffusionXLImg2ImgPipeline), prompt="a cat", image=photo(), strength=0.7)
    run(xl(P.StableDiffusionXLInpaintPipeline), prompt="a cat", image=photo(), mask_image=hole(), **SMALL)


def animated():
    adapter = P.MotionAdapter(
        block_out_channels=(8, 16), motion_layers_per_block=1, motion_norm_num_groups=4, motion_num_attention_heads=2
    )
    parts = dict(vae=vae(), text_encoder=text(), tokenizer=words(), unet=unet(), motion_adapter=adapter)
    pipe = P.AnimateDiffPipeline(**parts, scheduler=P.DDIMScheduler())
    run(pipe, prompt="a cat", num_frames=2)
    pipe.enable_free_noise(context_length=2, context_stride=2)
    run(pipe, prompt="a cat", num_frames=4, generator=None)


def video_of_image():
    seen = T.CLIPVisionModelWithProjection(T.CLIPVisionConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=16, patch_size=8,
        projection_dim=16))  # fmt: skip
    moving = P.UNetSpatioTemporalConditionModel(
        block_out_channels=(32, 32), num_attention_heads=(2, 2), num_frames=2, layers_per_block=1,
        down_block_types=("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"), sample_size=8,
        up_block_types=("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"), cross_attention_dim=16,
        addition_time_embed_dim=8, projection_class_embeddings_input_dim=24,
    )  # fmt: skip
    decoder = P.AutoencoderKLTemporalDecoder(
        block_out_channels=(32, 32), down_block_types=("DownEncoderBlock2D",) * 2, latent_channels=4
    )
    scheduler = P.EulerDiscreteScheduler(prediction_type="v_prediction", timestep_type="continuous",
        sigma_min=0.002, sigma_max=700.0, use_karras_sigmas=True, interpolation_type="linear")  # fmt: skip
    size = {"height": 16, "width": 16}
    pixels = T.CLIPImageProcessor(size={"shortest_edge": 16}, crop_size=size)
    run(P.StableVideoDiffusionPipeline(decoder, seen, moving, scheduler, pixels), image=photo(), num_frames=2, **size)


def depth():
    pipe = P.MarigoldDepthPipeline(unet(in_channels=8), vae(), P.DDIMScheduler(), text(), words(),
        prediction_type="depth", default_processing_resolution=16)  # fmt: skip
    run(pipe, image=photo(), ensemble_size=3, output_uncertainty=True)


def diffusion_transformer():
    model = P.DiTTransformer2DModel(**HEADS, norm_num_groups=4, sample_size=8, out_channels=8)
    run(P.DiTPipeline(model, vae(), P.DDIMScheduler()), class_labels=[1, 2])


def pixart():
    for kind in (P.PixArtAlphaPipeline, P.PixArtSigmaPipeline):
        model = P.PixArtTransformer2DModel(**HEADS, in_channels=4, cross_attention_dim=32, sample_size=8,
            caption_channels=16, norm_num_groups=4, use_additional_conditions=False)  # fmt: skip
        pipe = kind(**NO_WORDS, vae=vae(), transformer=model, scheduler=P.DPMSolverMultistepScheduler())
        run(pipe, negative_prompt=None, use_resolution_binning=False, **masked_words())


def stable_diffusion_3():
    model = P.SD3Transformer2DModel(**HEADS, in_channels=4, sample_size=8, out_channels=4, caption_projection_dim=32,
        joint_attention_dim=16, pooled_projection_dim=16, pos_embed_max_size=8)  # fmt: skip
    nothing = {f"{part}{n}": None for part in ("text_encoder", "tokenizer") for n in ("", "_2", "_3")}
    pooled = dict(pooled_prompt_embeds=f(1, 16), negative_pooled_prompt_embeds=f(1, 16))
    for kind, more in (P.StableDiffusion3Pipeline, {}), (P.StableDiffusion3Img2ImgPipeline, dict(image=photo())):
        pipe = kind(transformer=model, scheduler=flow(), vae=vae(shift_factor=0.1), **nothing)
        run(pipe, **SMALL, **unknown_words(), **pooled, **more)


def flux():
    model = P.FluxTransformer2DModel(**HEADS, in_channels=16, joint_attention_dim=16, pooled_projection_dim=16,
        num_single_layers=1, axes_dims_rope=(4, 4, 8), guidance_embeds=True)  # fmt: skip
    nothing = {f"{part}{n}": None for part in ("text_encoder", "tokenizer") for n in ("", "_2")}
    given = SMALL | dict(prompt_embeds=f(1, 6, 16), pooled_prompt_embeds=f(1, 16))
    other = dict(negative_prompt_embeds=f(1, 6, 16), negative_pooled_prompt_embeds=f(1, 16), true_cfg_scale=2.0)
    scheduler = P.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True)
    for kind, more in (
        (P.FluxPipeline, other), (P.FluxImg2ImgPipeline, dict(image=photo(), strength=0.9)),
        (P.FluxInpaintPipeline, dict(image=photo(), mask_image=hole(), strength=0.9)),
    ):  # fmt: skip
        run(kind(scheduler=scheduler, vae=vae(shift_factor=0.1), transformer=model, **nothing), **given, **more)


def chroma():
    model = P.ChromaTransformer2DModel(**HEADS, in_channels=16, joint_attention_dim=16, num_single_layers=1,
        axes_dims_rope=(4, 4, 8), approximator_num_channels=8, approximator_hidden_dim=16,
        approximator_layers=1)  # fmt: skip
    pipe = P.ChromaPipeline(flow(), vae(shift_factor=0.1), **NO_WORDS, transformer=model)
    masks = dict(prompt_attention_mask=mask(1, 6).bool(), negative_prompt_attention_mask=mask(1, 6).bool())
    run(pipe, **SMALL, **unknown_words(), **masks)


def qwen_image():
    coder = P.AutoencoderKLQwenImage(base_dim=4, z_dim=16, dim_mult=[1, 1], num_res_blocks=1,
        temperal_downsample=[False])  # fmt: skip
    model = P.QwenImageTransformer2DModel(**HEADS, in_channels=64, out_channels=16, joint_attention_dim=16,
        axes_dims_rope=(4, 4, 8))  # fmt: skip
    masks = dict(prompt_embeds_mask=mask(1, 6), negative_prompt_embeds_mask=mask(1, 6))
    scheduler = P.FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True)
    run(P.QwenImagePipeline(scheduler, coder, **NO_WORDS, transformer=model), **SMALL, **unknown_words(), **masks)


def sana():
    coder = P.AutoencoderDC(latent_channels=4, attention_head_dim=4, encoder_block_out_channels=(8, 8),
        decoder_block_out_channels=(8, 8), encoder_layers_per_block=(1, 1), decoder_layers_per_block=(1, 1),
        encoder_qkv_multiscales=((), ()), decoder_qkv_multiscales=((), ()))  # fmt: skip
    model = P.SanaTransformer2DModel(**HEADS, in_channels=4, out_channels=4, num_cross_attention_heads=2, sample_size=8,
        cross_attention_head_dim=16, cross_attention_dim=32, caption_channels=16)  # fmt: skip
    scheduler = P.DPMSolverMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True)
    pipe = P.SanaPipeline(**NO_WORDS, vae=coder, transformer=model, scheduler=scheduler)
    run(pipe, negative_prompt=None, height=32, width=32, use_resolution_binning=False, **masked_words())


def lumina():
    model = P.Lumina2Transformer2DModel(sample_size=8, in_channels=4, hidden_size=32, num_layers=1,
        num_refiner_layers=1,
        num_attention_heads=2, num_kv_heads=1, multiple_of=16, axes_dim_rope=(4, 4, 8), axes_lens=(64, 32, 32),
        cap_feat_dim=16)  # fmt: skip
    run(P.Lumina2Pipeline(model, flow(), vae(shift_factor=0.1), **NO_WORDS), **SMALL, **masked_words())


def z_image():
    model = P.ZImageTransformer2DModel(in_channels=4, dim=32, n_layers=1, n_refiner_layers=1, n_heads=2, n_kv_heads=2,
        cap_feat_dim=16, axes_dims=[4, 4, 8], axes_lens=[64, 32, 32])  # fmt: skip
    given = dict(prompt_embeds=[f(6, 16)], negative_prompt_embeds=[f(5, 16)])
    run(P.ZImagePipeline(flow(), vae(shift_factor=0.1), **NO_WORDS, transformer=model), **SMALL, **given)


def wan():
    coder = P.AutoencoderKLWan(base_dim=4, z_dim=4, dim_mult=[1, 1], num_res_blocks=1, temperal_downsample=[True],
        latents_mean=[0.1] * 4, latents_std=[1.0] * 4, scale_factor_temporal=2, scale_factor_spatial=2)  # fmt: skip
    model = P.WanTransformer3DModel(**HEADS, in_channels=4, out_channels=4, text_dim=16, freq_dim=16, ffn_dim=32,
        rope_max_seq_len=16)  # fmt: skip
    for scheduler in (P.UniPCMultistepScheduler(prediction_type="flow_prediction", use_flow_sigmas=True), flow()):
        pipe = P.WanPipeline(**NO_WORDS, vae=coder, transformer=model, scheduler=scheduler)
        run(pipe, num_frames=5, **SMALL, **unknown_words())


def ltx():
    coder = P.AutoencoderKLLTXVideo(latent_channels=8, block_out_channels=(8, 8), decoder_block_out_channels=(8, 8),
        down_block_types=("LTXVideoDownBlock3D",) * 2, layers_per_block=(1, 1, 1), decoder_layers_per_block=(1, 1, 1),
        spatio_temporal_scaling=(True, False), decoder_spatio_temporal_scaling=(True, False), patch_size=4,
        decoder_inject_noise=(False,) * 3, downsample_type=("conv",) * 2, upsample_residual=(False,) * 2,
        upsample_factor=(1, 1))  # fmt: skip
    model = P.LTXVideoTransformer3DModel(**HEADS, in_channels=8, out_channels=8, cross_attention_dim=32,
        caption_channels=16)  # fmt: skip
    pipe = P.LTXPipeline(flow(), coder, **NO_WORDS, transformer=model)
    run(pipe, height=32, width=32, num_frames=3, **masked_words())


def cog_video():
    coder = P.AutoencoderKLCogVideoX(down_block_types=("CogVideoXDownBlock3D",) * 2, layers_per_block=1,
        up_block_types=("CogVideoXUpBlock3D",) * 2, block_out_channels=(8, 8), latent_channels=4, norm_num_groups=4,
        temporal_compression_ratio=2)  # fmt: skip
    for scheduler in (P.CogVideoXDDIMScheduler(), P.CogVideoXDPMScheduler()):
        model = P.CogVideoXTransformer3DModel(**HEADS, in_channels=4, out_channels=4, time_embed_dim=8,
            text_embed_dim=16, sample_width=8, sample_height=8, sample_frames=5, max_text_seq_length=6,
            temporal_compression_ratio=2, use_rotary_positional_embeddings=True)  # fmt: skip
        pipe = P.CogVideoXPipeline(**NO_WORDS, vae=coder, transformer=model, scheduler=scheduler)
        run(pipe, num_frames=5, use_dynamic_cfg=True, **SMALL, **unknown_words())


def hunyuan_video():
    coder = P.AutoencoderKLHunyuanVideo(down_block_types=("HunyuanVideoDownBlock3D",) * 2, layers_per_block=1,
        up_block_types=("HunyuanVideoUpBlock3D",) * 2, block_out_channels=(8, 8), latent_channels=4, norm_num_groups=4,
        spatial_compression_ratio=4, temporal_compression_ratio=4)  # fmt: skip
    model = P.HunyuanVideoTransformer3DModel(**HEADS, in_channels=4, out_channels=4, text_embed_dim=16,
        num_single_layers=1, num_refiner_layers=1, pooled_projection_dim=16, rope_axes_dim=(4, 4, 8))  # fmt: skip
    nothing = dict(text_encoder_2=None, tokenizer_2=None)
    pipe = P.HunyuanVideoPipeline(**NO_WORDS, transformer=model, vae=coder, scheduler=flow(), **nothing)
    given = dict(prompt_embeds=f(1, 6, 16), pooled_prompt_embeds=f(1, 16), prompt_attention_mask=mask(1, 6))
    run(pipe, num_frames=5, **SMALL, **given)


P.logging.set_verbosity_error()
for make in (
    ddpm, ddim, consistency, stable_diffusion, image_to_image, inpaint, controlnet, upscale, latent_consistency,
    stable_diffusion_xl, animated, video_of_image, depth, diffusion_transformer, pixart, stable_diffusion_3, flux,
    chroma, qwen_image, sana, lumina, z_image, wan, ltx, cog_video, hunyuan_video,
):  # fmt: skip
    try:
        make()
    except Exception as fault:
        print(make.__name__, type(fault).__name__, str(fault)[:200])
