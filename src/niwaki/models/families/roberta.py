"""RoBERTa (Liu et al. 2019): BERT's layers, positions counted from after the padding mark."""

from niwaki.models.anatomy import Anatomy
from niwaki.models.families.bert import Bert


class Roberta(Bert):
    body = "roberta"
    pooled_square = ("classifier.dense",)
    pooled_final = "classifier.out_proj"
    uses_token_types = False
    max_positions_offset = 2

    classify = Anatomy.classify  # the head reads the hidden states itself
