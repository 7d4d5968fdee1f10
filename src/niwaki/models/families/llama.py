"""Llama (Touvron et al. 2023) and what is saved as it, e.g. SmolLM2: norms that only scale, rotary positions, gated feed-forward blocks,
heads that share keys, no biases."""

from typing import ClassVar

from niwaki.models.family import (
    Config,
    ConfigKeys,
    Family,
    HeadPaths,
    InputPaths,
    LayerPaths,
    Network,
    StackRules,
    VocabularyPaths,
)
from niwaki.models.value_rules import Rule, flag, positive, rotary, share, whole


class Llama(Family):
    body = "model"
    layer_list = "layers"
    layer = LayerPaths(
        attention_module="self_attn",
        head_size_key="head_dim",
        query="self_attn.q_proj",
        key="self_attn.k_proj",
        value="self_attn.v_proj",
        out="self_attn.o_proj",
        attention_norm="input_layernorm",
        ffn_gate="mlp.gate_proj",
        ffn_in="mlp.up_proj",
        activation="mlp.act_fn",
        ffn_out="mlp.down_proj",
        ffn_norm="post_attention_layernorm",
        attention_dropout="self_attn.attention_dropout",
        pre_norm=True,
        stack=StackRules(final_norm="norm", causal=True, rotary="halves", mixer="rotary", feed_forward="gated"),
    )
    inputs = InputPaths(
        token_table="embed_tokens", other_tables=(), norms=(), uses_token_types=False, part="token_vectors"
    )
    head = HeadPaths(
        final="score",
        dropout="",
        sequence="last",
        tagging="score",
        span_body="transformer",
        vocabulary=VocabularyPaths(table="lm_head", auto_class="AutoModelForCausalLM"),
    )
    keys = ConfigKeys(head_size="head_dim", key_heads="num_key_value_heads")
    tokenizers = ("Llama", "GPT2")
    config_rules: ClassVar[dict[str, Rule]] = {
        "num_key_value_heads": whole(4096, 1),
        "head_dim": whole(4096, 1),
        "rms_norm_eps": share,
        "rope_theta": positive,
        "rope_scaling": rotary,
        "rope_parameters": rotary,
        **dict.fromkeys(("attention_bias", "mlp_bias"), flag),
        "pretraining_tp": whole(1, 1),
    }

    @classmethod
    def check_config(cls, config: Config) -> None:
        from niwaki.models.rotary import check_rotary

        check_rotary(config)

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        super().adapt_network(network)
        network.config.use_cache = False  # of earlier tokens' keys; `generate` of transformers asks for it itself
