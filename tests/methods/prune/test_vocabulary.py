"""Pruning the vocabulary."""

import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.prune.vocabulary import Vocabulary


def test_outputs_on_the_texts_stay_the_same():
    model = tiny.model("bert")
    before = tiny.logits(model, tiny.batch(model, count=8))
    size = len(model.tokenizer)
    model = Vocabulary().prepare(model, CONTEXT)
    assert len(model.tokenizer) == model.anatomy.tokens.num_embeddings == model.network.config.vocab_size < size
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model, count=8)), before, atol=1e-6, rtol=0)
