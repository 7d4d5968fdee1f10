"""XLNet (Yang et al. 2019): attention with distances and segments, no positions in the embeddings, the class token last."""

from typing import ClassVar

from niwaki.models.families._supported import reject_variants
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
from niwaki.models.value_rules import ACTIVATIONS, MOST_LAYERS, MOST_POSITIONS, WIDEST, Rule, flag, one_of, whole

SUPPORTED: Config = {
    "attn_type": "bi",
    "bi_data": False,
    "clamp_len": -1,
    "summary_type": "last",
    "summary_use_proj": True,
    "summary_activation": "tanh",
}


class XlNet(Family):
    body = "transformer"
    layer_list = "layer"
    layer = LayerPaths(
        attention_module="rel_attn",
        head_size_key="d_head",
        query="rel_attn.query",
        key="rel_attn.key",
        value="rel_attn.value",
        out="rel_attn.out",
        attention_norm="rel_attn.layer_norm",
        ffn_in="ff.layer_1",
        activation="ff.activation_function",
        ffn_out="ff.layer_2",
        ffn_norm="ff.layer_norm",
        attention_dropout="rel_attn.dropout",
        out_dropout="rel_attn.dropout",
        inner_dropout="ff.dropout",
        ffn_dropout="ff.dropout",
        stack=StackRules(
            kind="fixed",  # the config has one size for hidden states and for all heads together
            mixer="transformer_xl",
            parameters=(("query", "q"), ("key", "k"), ("value", "v"), ("out", "o"), ("distance", "r")),
            reads_types=True,
        ),
    )
    inputs = InputPaths(
        token_table="word_embedding", other_tables=(), norms=(), limited=False, dropout="dropout", part="token_vectors"
    )
    head = HeadPaths(
        inner=("sequence_summary.summary",),
        final="logits_proj",
        dropout="sequence_summary.last_dropout",
        first_dropout="transformer.dropout",
        sequence="last",
        vocabulary=VocabularyPaths(table="lm_loss", auto_class="AutoModelForCausalLM"),
    )
    keys = ConfigKeys(depth="n_layer", hidden_size="d_model", heads="n_head", ffn_size="d_inner", positions="")
    tokenizers = ("XLNet",)
    config_rules: ClassVar[dict[str, Rule]] = {
        "n_layer": whole(MOST_LAYERS, 1),
        "n_head": whole(4096, 1),
        **dict.fromkeys(("d_model", "d_inner", "d_head"), whole(WIDEST, 1)),
        "ff_activation": one_of(*ACTIVATIONS),
        "attn_type": one_of("bi", "uni"),
        **dict.fromkeys(("mem_len", "reuse_len", "clamp_len"), whole(MOST_POSITIONS, -1)),
        **dict.fromkeys(("bi_data", "same_length", "untie_r", "use_mems_eval", "use_mems_train"), flag),
        **dict.fromkeys(("start_n_top", "end_n_top"), whole(1000, 1)),
    }

    @classmethod
    def check_config(cls, config: Config) -> None:
        reject_variants(config, SUPPORTED, "an xlnet")

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        from niwaki.models.last_token import read_last_token

        super().adapt_network(network)
        read_last_token(network)
