"""DeBERTa v2 and v3 (He et al. 2021): BERT's layers with disentangled attention to contents and distances, no other positions."""

from dataclasses import replace
from typing import ClassVar

from niwaki.core.errors import InputError
from niwaki.models.families.bert import Bert
from niwaki.models.family import Config, ConfigKeys, HeadPaths, InputPaths, StackRules
from niwaki.models.value_rules import ACTIVATIONS, MOST_POSITIONS, Rule, flag, one_of, share, whole

SUPPORTED: Config = {
    "relative_attention": True,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
    "type_vocab_size": 0,
    "pooler_hidden_act": "gelu",
}
DEFAULTS: Config = {
    **SUPPORTED,
    "relative_attention": False,
    "share_att_key": False,
    "norm_rel_ebd": "none",
    "position_biased_input": True,
}


class DebertaV2(Bert):
    body = "deberta"
    layer = replace(
        Bert.layer,
        query="attention.self.query_proj",
        key="attention.self.key_proj",
        value="attention.self.value_proj",
        stack=StackRules(mixer="disentangled", distances=("encoder.rel_embeddings", "encoder.LayerNorm")),
    )
    inputs = InputPaths(
        other_tables=("encoder.rel_embeddings",),
        norms=("embeddings.LayerNorm", "encoder.LayerNorm"),
        uses_token_types=False,
    )
    head = HeadPaths(
        inner=("pooler.dense",),
        activation="gelu",
        first_dropout="pooler.dropout",
        vocabulary=replace(Bert.head.vocabulary, may_be_causal=False) if Bert.head.vocabulary else None,
    )
    keys = ConfigKeys(
        also_hidden_size=("pooler_hidden_size",),
        fresh={**SUPPORTED, "pos_att_type": ["c2p", "p2c"], "position_buckets": 256},
    )
    tokenizers: ClassVar[tuple[str, ...]] = ("DebertaV2",)
    config_rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("relative_attention", "position_biased_input", "share_att_key", "legacy"), flag),
        "max_relative_positions": whole(MOST_POSITIONS, -1),
        "position_buckets": whole(MOST_POSITIONS, -1),
        "pos_att_type": lambda value: (
            set(value if isinstance(value, list) else str(value).split("|")) <= {"c2p", "p2c"}
        ),
        "norm_rel_ebd": one_of("layer_norm", "none"),
        "pooler_dropout": share,
        "cls_dropout": share,
        "pooler_hidden_act": one_of(*ACTIVATIONS),
        "pooler_hidden_size": whole(MOST_POSITIONS, 1),
        "conv_kernel_size": whole(1000),
        "conv_act": one_of(*ACTIVATIONS),
        "conv_groups": whole(1000),
    }

    @classmethod
    def check_config(cls, config: Config) -> None:
        if config.get("conv_kernel_size"):
            raise InputError(
                "config: a deberta-v2 with a convolution (conv_kernel_size, as in v2 xlarge) is not supported; take a v3, which has none"
            )
        for key, usual in SUPPORTED.items():
            found = config.get(key, DEFAULTS[key])
            if found != usual:
                raise InputError(
                    f"config: a deberta-v2 with {key} = {found} is not supported; take one with {usual}, such as v3"
                )
        if config.get("embedding_size") not in (None, config.get("hidden_size")):
            raise InputError("config: a deberta-v2 with narrow embeddings is not supported (embedding_size); take a v3")
        if config.get("legacy") is False and any("MaskedLM" in name for name in config.get("architectures") or []):
            raise InputError(
                "config: the masked-LM head of deberta-v2 is supported with legacy = true alone; set it, or train a new one"
            )
