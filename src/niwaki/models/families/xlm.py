"""XLM (Conneau and Lample 2019): BERT's layers without token types, with a head of one matrix."""

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
from niwaki.models.value_rules import MOST_LAYERS, MOST_TOKENS, WIDEST, Rule, flag, mark, positive, share, whole

SUPPORTED: Config = {
    "causal": False,
    "asm": False,
    "is_encoder": True,
    "summary_type": "first",
    "summary_use_proj": True,
    "summary_proj_to_labels": True,
    "summary_activation": None,
}


class Xlm(Family):
    """Vectors of languages are kept and not added, as transformers does where no `langs` are given."""

    body = "transformer"
    layer_list = "layer"
    layer = LayerPaths(
        attention_module="attention",
        head_size_key="head_dim",
        query="attention.q_lin",
        key="attention.k_lin",
        value="attention.v_lin",
        out="attention.out_lin",
        attention_norm="attention_norm",
        ffn_in="ffn.lin1",
        activation="ffn.act",
        ffn_out="ffn.lin2",
        ffn_norm="ffn_norm",
        attention_dropout="attention.dropout",
        out_dropout="ffn.dropout",
        ffn_dropout="ffn.dropout",
        stack=StackRules(
            lists=(
                ("attention", "attentions"),
                ("attention_norm", "layer_norm1"),
                ("ffn", "ffns"),
                ("ffn_norm", "layer_norm2"),
            )
        ),
    )
    inputs = InputPaths(
        token_table="embeddings",
        other_tables=("position_embeddings",),
        norms=("layer_norm_emb",),
        uses_token_types=False,
        dropout="dropout",
        part="learned_positions",
    )
    head = HeadPaths(
        final="sequence_summary.summary",
        dropout="sequence_summary.first_dropout",
        vocabulary=VocabularyPaths(table="pred_layer.proj"),
    )
    keys = ConfigKeys(depth="n_layers", hidden_size="emb_dim", heads="n_heads", ffn_size="")
    special_token_keys = ("pad_token_id", "pad_index")
    tokenizers = ("XLM",)
    config_rules: ClassVar[dict[str, Rule]] = {
        "emb_dim": whole(WIDEST, 1),
        "n_layers": whole(MOST_LAYERS, 1),
        "n_words": whole(MOST_TOKENS, 1),
        "n_langs": whole(10_000, 1),
        **dict.fromkeys(("mask_token_id", "lang_id"), mark),
        **dict.fromkeys(("bos_index", "eos_index", "pad_index", "unk_index", "mask_index"), mark),
        **dict.fromkeys(("gelu_activation", "use_lang_emb", "sinusoidal_embeddings"), flag),
        **dict.fromkeys(("causal", "asm", "is_encoder", "summary_proj_to_labels"), flag),
        **dict.fromkeys(("start_n_top", "end_n_top"), whole(1000, 1)),
        "summary_first_dropout": share,
        "embed_init_std": positive,
    }

    @classmethod
    def check_config(cls, config: Config) -> None:
        reject_variants(config, SUPPORTED, "an xlm")

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        from torch import nn

        super().adapt_network(network)
        for layer in cls.layers(network.get_submodule(cls.body)):
            feed_forward = layer.get_submodule("ffn")
            feed_forward.act = nn.GELU() if network.config.gelu_activation else nn.ReLU()  # functions there
