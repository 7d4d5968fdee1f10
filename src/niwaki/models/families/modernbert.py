"""ModernBERT (Warner et al. 2024): rotary positions, attention to near tokens in most layers, gated feed-forward blocks, norms before
each block, no biases."""

from typing import ClassVar

from niwaki.models.family import (
    Config,
    ConfigKeys,
    Family,
    HeadPaths,
    InputPaths,
    LayerPaths,
    StackRules,
    VocabularyPaths,
)
from niwaki.models.value_rules import (
    ACTIVATIONS,
    MOST_LAYERS,
    MOST_POSITIONS,
    Rule,
    flag,
    layer_types,
    one_of,
    positive,
    rotary,
    share,
    whole,
)


class ModernBert(Family):
    body = "model"
    layer_list = "layers"
    layer = LayerPaths(
        attention_module="attn",
        head_size_key="head_dim",
        window_key="sliding_window",
        query="attn.Wqkv.query",
        key="attn.Wqkv.key",
        value="attn.Wqkv.value",
        out="attn.Wo",
        attention_norm="attn_norm",
        ffn_gate="mlp.Wi.gate",
        ffn_in="mlp.Wi.linear",
        activation="mlp.act",
        ffn_out="mlp.Wo",
        ffn_norm="mlp_norm",
        attention_dropout="attn.attention_dropout",
        out_dropout="attn.out_drop",
        inner_dropout="mlp.drop",
        pre_norm=True,
        stack=StackRules(
            final_norm="final_norm",
            fused=("attn.Wqkv", "mlp.Wi"),
            rotary="halves",
            mixer="rotary",
            feed_forward="gated",
        ),
    )
    inputs = InputPaths(
        token_table="embeddings.tok_embeddings",
        other_tables=(),
        norms=("embeddings.norm",),
        uses_token_types=False,
    )
    head = HeadPaths(
        inner=("head.dense",),
        activation="head.act",
        norm="head.norm",
        dropout="drop",
        sequence_key="classifier_pooling",
        span="classifier",
        per_token_inner=True,
        vocabulary=VocabularyPaths(dense="head.dense", activation="head.act", norm="head.norm", table="decoder"),
    )
    keys = ConfigKeys()
    tokenizers = ()
    config_rules: ClassVar[dict[str, Rule]] = {
        "norm_eps": share,
        "initializer_cutoff_factor": positive,
        "local_attention": whole(MOST_POSITIONS, 2),
        "global_attn_every_n_layers": whole(MOST_LAYERS, 1),
        "layer_types": layer_types,
        "rope_parameters": rotary,
        "rope_scaling": rotary,
        **dict.fromkeys(("global_rope_theta", "local_rope_theta"), positive),
        **dict.fromkeys(("hidden_activation", "classifier_activation"), one_of(*ACTIVATIONS)),
        "classifier_pooling": one_of("cls", "mean"),
        **dict.fromkeys(("embedding_dropout", "mlp_dropout"), share),
        **dict.fromkeys(
            (
                "attention_bias",
                "classifier_bias",
                "decoder_bias",
                "deterministic_flash_attn",
                "mlp_bias",
                "norm_bias",
                "sparse_prediction",
            ),
            flag,
        ),
        "sparse_pred_ignore_index": lambda value: value == -100,
    }

    @classmethod
    def check_config(cls, config: Config) -> None:
        from niwaki.models.rotary import check_rotary

        check_rotary(config)
