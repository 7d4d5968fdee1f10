"""ELECTRA (Clark et al. 2020): BERT's layers behind an embedding that may be narrower."""

from niwaki.models.families.bert import Bert
from niwaki.models.family import HeadPaths, InputPaths


class Electra(Bert):
    body = "electra"
    inputs = InputPaths(projection="embeddings_project")
    head = HeadPaths(
        inner=("classifier.dense",),
        activation="gelu",
        final="classifier.out_proj",
        dropout="classifier.dropout",
        dropout_first=True,
    )
    tokenizers = ("Electra",)
