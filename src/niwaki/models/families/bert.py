"""BERT (Devlin et al. 2019), and all that is saved as it: MiniLM, TinyBERT."""

from typing import ClassVar

from niwaki.models.family import Family, HeadPaths, LayerPaths, VocabularyPaths


class Bert(Family):
    body = "bert"
    layer = LayerPaths(
        attention_module="attention.self",
        query="attention.self.query",
        key="attention.self.key",
        value="attention.self.value",
        out="attention.output.dense",
        attention_norm="attention.output.LayerNorm",
        ffn_in="intermediate.dense",
        activation="intermediate.intermediate_act_fn",
        ffn_out="output.dense",
        ffn_norm="output.LayerNorm",
        attention_dropout="attention.self.dropout",
        out_dropout="attention.output.dropout",
        ffn_dropout="output.dropout",
    )
    head = HeadPaths(
        inner=("bert.pooler.dense",),
        vocabulary=VocabularyPaths(
            dense="cls.predictions.transform.dense",
            activation="cls.predictions.transform.transform_act_fn",
            norm="cls.predictions.transform.LayerNorm",
            table="cls.predictions.decoder",
            may_be_causal=True,
        ),
    )
    tokenizers: ClassVar[tuple[str, ...]] = ("Bert", "Herbert")
