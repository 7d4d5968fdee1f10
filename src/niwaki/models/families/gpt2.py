"""GPT-2 (Radford et al. 2019): norms before each block and behind the last, attention to earlier tokens, transposed matrices."""

from typing import ClassVar

from niwaki.core.errors import InputError
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
from niwaki.models.value_rules import MOST_LAYERS, MOST_POSITIONS, WIDEST, Rule, flag, share, whole


class Gpt2(Family):
    body = "transformer"
    layer_list = "h"
    layer = LayerPaths(
        attention_module="attn",
        head_size_key="head_dim",
        query="attn.c_attn.query",
        key="attn.c_attn.key",
        value="attn.c_attn.value",
        out="attn.c_proj",
        attention_norm="ln_1",
        ffn_in="mlp.c_fc",
        activation="mlp.act",
        ffn_out="mlp.c_proj",
        ffn_norm="ln_2",
        attention_dropout="attn.attn_dropout",
        out_dropout="attn.resid_dropout",
        ffn_dropout="mlp.dropout",
        pre_norm=True,
        stack=StackRules(
            final_norm="ln_f",
            causal=True,
            transposed=("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"),
            fused=("attn.c_attn",),
        ),
    )
    inputs = InputPaths(
        token_table="wte",
        other_tables=("wpe",),
        norms=(),
        uses_token_types=False,
        dropout="drop",
        part="learned_positions",
    )
    head = HeadPaths(
        final="score",
        dropout="",
        sequence="last",
        vocabulary=VocabularyPaths(table="lm_head", auto_class="AutoModelForCausalLM"),
    )
    keys = ConfigKeys(
        depth="n_layer", hidden_size="n_embd", heads="n_head", ffn_size="n_inner", positions="n_positions"
    )
    tokenizers = ("GPT2",)
    config_rules: ClassVar[dict[str, Rule]] = {
        "n_layer": whole(MOST_LAYERS, 1),
        "n_head": whole(4096, 1),
        **dict.fromkeys(("n_embd", "n_inner"), whole(WIDEST, 1)),
        **dict.fromkeys(("n_positions", "n_ctx"), whole(MOST_POSITIONS, 1)),
        **dict.fromkeys(("embd_pdrop", "resid_pdrop", "attn_pdrop", "summary_first_dropout"), share),
        **dict.fromkeys(
            (
                "scale_attn_weights",
                "scale_attn_by_inverse_layer_idx",
                "reorder_and_upcast_attn",
                "summary_proj_to_labels",
            ),
            flag,
        ),
    }

    @classmethod
    def check_config(cls, config: Config) -> None:
        unusual = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False}
        for key, usual in {**unusual, "add_cross_attention": False}.items():
            if config.get(key, usual) not in (usual, None):
                raise InputError(f"config: a gpt2 with {key} = {config[key]} is not supported; take one with {usual}")

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        super().adapt_network(network)
        network.config.use_cache = False  # of earlier tokens' keys; `generate` of transformers asks for it itself
