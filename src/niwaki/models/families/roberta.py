"""RoBERTa (Liu et al. 2019): BERT's layers, positions counted from after the padding token."""

from niwaki.models.families.bert import Bert
from niwaki.models.family import HeadPaths, InputPaths


class Roberta(Bert):
    body = "roberta"
    inputs = InputPaths(uses_token_types=False, skipped_positions=2)
    head = HeadPaths(
        inner=("classifier.dense",), final="classifier.out_proj", dropout="classifier.dropout", dropout_first=True
    )
    tokenizers = ("Roberta", "XLMRoberta", "Camembert")
