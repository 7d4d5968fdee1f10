"""ELECTRA (Clark et al. 2020): BERT's layers behind an embedding that may be narrower."""

from niwaki.models.anatomy import Anatomy
from niwaki.models.families.bert import Bert


class Electra(Bert):
    body = "electra"
    projection = "embeddings_project"
    pooled_square = ("classifier.dense",)
    pooled_activation = "gelu"
    pooled_final = "classifier.out_proj"

    classify = Anatomy.classify  # the head reads the hidden states itself
