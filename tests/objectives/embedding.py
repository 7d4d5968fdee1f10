"""Tiny embedding models with objectives on sentences, and a batch of consecutive ones."""

import numpy as np
import torch

import tiny
from niwaki.answers._answer_type import EncodedInputs
from niwaki.data.ragged import Ragged
from niwaki.models.features import Features
from niwaki.objectives._factory import make_objective
from niwaki.objectives._objective import CountsRows
from niwaki.tasks.sentence_embedding import SentenceEmbedding
from niwaki.train.collator import Collator

DOCUMENTS = np.array([0, 0, 0, 1, 1, 2])


def features_of(sequences, documents=DOCUMENTS):
    ids = Ragged.of(sequences)
    types = Ragged(np.zeros(len(ids.values), np.uint8), ids.starts)
    rows = EncodedInputs({"input_ids": ids, "token_type_ids": types}, np.arange(len(sequences)), [])
    return Features(rows, np.asarray(documents))


def prepared(given, family="averaging", **more):
    """The model, its objective, features of six sentences of three documents, and all of them as a batch."""
    model = tiny.model(family, head="FeatureExtraction", labels=[], **more)
    objective = make_objective(given, SentenceEmbedding())
    objective.prepare(model, 1)
    draw = np.random.default_rng(0)
    features = features_of([[2, *draw.integers(5, 20, draw.integers(3, 9)), 3] for _ in DOCUMENTS])
    if isinstance(objective, CountsRows):
        objective.count(features)
    return model, objective, features, Collator(features, model, torch.device("cpu")).batch(np.arange(len(DOCUMENTS)))
