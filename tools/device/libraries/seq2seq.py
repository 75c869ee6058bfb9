"""transformers: encoder-decoders and heads with losses of their own."""

import torch
import transformers as T

D = "cuda"
torch.manual_seed(0)


def run(name, make):
    try:
        make()
        print(name, "done")
    except Exception as fault:
        print(name, type(fault).__name__, str(fault)[:200])


def train(model, **inputs):
    model = model.to(D).train()
    for _ in range(3):
        out = model(**{k: v() if callable(v) else v for k, v in inputs.items()})
        out.loss.backward()
    return model


def ids(*shape, high=100):
    return lambda: torch.randint(3, high, shape, device=D)


def t5():
    m = train(
        T.T5ForConditionalGeneration(
            T.T5Config(vocab_size=128, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0)
        ),
        input_ids=ids(2, 12),
        labels=ids(2, 8),
    )
    m.eval().generate(ids(2, 8)(), max_new_tokens=5)
    m.generate(ids(2, 8)(), max_new_tokens=5, num_beams=2)


def bart():
    m = train(
        T.BartForConditionalGeneration(
            T.BartConfig(
                vocab_size=128,
                d_model=32,
                encoder_layers=2,
                decoder_layers=2,
                encoder_attention_heads=4,
                decoder_attention_heads=4,
                encoder_ffn_dim=64,
                decoder_ffn_dim=64,
                max_position_embeddings=64,
            )
        ),
        input_ids=ids(2, 12),
        labels=ids(2, 8),
    )
    m.eval().generate(ids(2, 8)(), max_new_tokens=5, num_beams=2)


def whisper():
    c = T.WhisperConfig(
        vocab_size=128,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        num_mel_bins=16,
        max_source_positions=50,
        max_target_positions=32,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=3,
    )
    train(
        T.WhisperForConditionalGeneration(c), input_features=lambda: torch.randn(2, 16, 100, device=D), labels=ids(2, 8)
    )


def wav2vec2():
    c = T.Wav2Vec2Config(
        vocab_size=32,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        conv_dim=(16, 16),
        conv_stride=(5, 2),
        conv_kernel=(10, 3),
        num_feat_extract_layers=2,
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
        mask_time_length=2,
    )
    train(
        T.Wav2Vec2ForCTC(c),
        input_values=lambda: torch.randn(2, 1000, device=D),
        attention_mask=lambda: torch.ones(2, 1000, dtype=torch.long, device=D),
        labels=ids(2, 6, high=30),
    )


def detr():
    c = T.DetrConfig(
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        backbone=None,
        backbone_config=T.ResNetConfig(
            embedding_size=8, hidden_sizes=[8, 16, 16, 16], depths=[1, 1, 1, 1], out_features=["stage4"]
        ),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        num_queries=10,
        num_labels=5,
    )
    labels = lambda: [
        {"class_labels": torch.randint(0, 5, (3,), device=D), "boxes": torch.rand(3, 4, device=D).clamp(0.1, 0.9)}
        for _ in range(2)
    ]
    train(T.DetrForObjectDetection(c), pixel_values=lambda: torch.randn(2, 3, 64, 64, device=D), labels=labels)


def mask2former():
    c = T.Mask2FormerConfig(
        backbone_config=T.SwinConfig(
            image_size=64,
            embed_dim=8,
            depths=[1, 1, 1, 1],
            num_heads=[1, 2, 2, 2],
            window_size=4,
            out_features=["stage1", "stage2", "stage3", "stage4"],
        ),
        feature_size=32,
        mask_feature_size=32,
        hidden_dim=32,
        encoder_feedforward_dim=32,
        encoder_layers=1,
        decoder_layers=2,
        num_attention_heads=4,
        dim_feedforward=32,
        num_queries=8,
        num_labels=5,
        train_num_points=64,
    )
    m = T.Mask2FormerForUniversalSegmentation(c)
    train(
        m,
        pixel_values=lambda: torch.randn(2, 3, 64, 64, device=D),
        mask_labels=lambda: [(torch.rand(2, 64, 64, device=D) > 0.5).float() for _ in range(2)],
        class_labels=lambda: [torch.randint(0, 5, (2,), device=D) for _ in range(2)],
    )


def segformer():
    c = T.SegformerConfig(
        num_encoder_blocks=2,
        depths=[1, 1],
        sr_ratios=[2, 1],
        hidden_sizes=[16, 32],
        patch_sizes=[3, 3],
        strides=[2, 2],
        num_attention_heads=[1, 2],
        mlp_ratios=[2, 2],
        decoder_hidden_size=16,
        num_labels=4,
    )
    train(
        T.SegformerForSemanticSegmentation(c),
        pixel_values=lambda: torch.randn(2, 3, 32, 32, device=D),
        labels=ids(2, 32, 32, high=4),
    )


def vit():
    train(
        T.ViTForImageClassification(
            T.ViTConfig(
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=64,
                image_size=32,
                patch_size=8,
                num_labels=4,
            )
        ),
        pixel_values=lambda: torch.randn(2, 3, 32, 32, device=D),
        labels=ids(2, high=4),
    )


def clip():
    text = dict(
        vocab_size=128,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=16,
        eos_token_id=2,
    )
    vision = dict(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8
    )
    c = T.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    train(
        T.CLIPModel(c), input_ids=ids(2, 8), pixel_values=lambda: torch.randn(2, 3, 32, 32, device=D), return_loss=True
    )


def llava():
    c = T.LlavaConfig(
        vision_config=dict(
            model_type="clip_vision_model",
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=32,
            patch_size=8,
        ),
        text_config=dict(
            model_type="llama",
            vocab_size=128,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        ),
        image_token_index=5,
        image_seq_length=16,
    )

    def inputs():
        i = torch.randint(6, 100, (2, 24), device=D)
        i[:, 2:18] = 5
        return i

    i = inputs()
    train(
        T.LlavaForConditionalGeneration(c),
        input_ids=i,
        labels=i,
        attention_mask=torch.ones_like(i),
        pixel_values=lambda: torch.randn(2, 3, 32, 32, device=D),
    )


def timeseries():
    c = T.TimeSeriesTransformerConfig(
        prediction_length=4,
        context_length=8,
        lags_sequence=[1, 2],
        num_time_features=1,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
    )
    train(
        T.TimeSeriesTransformerForPrediction(c),
        past_values=lambda: torch.rand(2, 10, device=D),
        past_time_features=lambda: torch.rand(2, 10, 1, device=D),
        past_observed_mask=lambda: torch.ones(2, 10, device=D),
        future_values=lambda: torch.rand(2, 4, device=D),
        future_time_features=lambda: torch.rand(2, 4, 1, device=D),
    )


def mamba():
    train(
        T.MambaForCausalLM(T.MambaConfig(vocab_size=128, hidden_size=32, state_size=4, num_hidden_layers=2)),
        input_ids=ids(2, 12),
        labels=ids(2, 12),
    )


for name, make in list(globals().items()):
    if (
        callable(make)
        and getattr(make, "__code__", None) is not None
        and make.__code__.co_argcount == 0
        and make.__module__ == "__main__"
        and name not in ("run", "ids", "train")
    ):
        run(name, make)
