"""ELECTRA (Clark et al. 2020): BERT's layers behind an embedding that may be narrower."""

from niwaki.models.families.bert import Bert
from niwaki.models.family import ConfigKeys, DetectorPaths, HeadPaths, InputPaths, VocabularyPaths


class Electra(Bert):
    body = "electra"
    inputs = InputPaths(projection="embeddings_project")
    keys = ConfigKeys(embedding_size="embedding_size")
    head = HeadPaths(
        inner=("classifier.dense",),
        activation="gelu",
        final="classifier.out_proj",
        dropout="classifier.dropout",
        first_dropout="classifier.dropout",
        vocabulary=VocabularyPaths(
            dense="generator_predictions.dense",
            norm="generator_predictions.LayerNorm",
            table="generator_lm_head",
            may_be_causal=True,
        ),
        detector=DetectorPaths(
            dense="discriminator_predictions.dense", final="discriminator_predictions.dense_prediction"
        ),
    )
    tokenizers = ("Electra",)
