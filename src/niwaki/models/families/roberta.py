"""RoBERTa (Liu et al. 2019): BERT's layers, positions counted from after the padding token."""

from typing import ClassVar

from niwaki.models.families.bert import Bert
from niwaki.models.family import HeadPaths, InputPaths, VocabularyPaths


class Roberta(Bert):
    body = "roberta"
    inputs = InputPaths(uses_token_types=False, skipped_positions=2)
    head = HeadPaths(
        inner=("classifier.dense",),
        final="classifier.out_proj",
        dropout="classifier.dropout",
        first_dropout="classifier.dropout",
        vocabulary=VocabularyPaths(
            dense="lm_head.dense", norm="lm_head.layer_norm", table="lm_head.decoder", may_be_causal=True
        ),
    )
    tokenizers: ClassVar[tuple[str, ...]] = ("Roberta", "XLMRoberta", "Camembert")
