"""Tiny encoder-decoders made from scratch with objectives that add noise, and batches before and after it."""

from functools import cache

import numpy as np
import torch

import tiny
from niwaki.answers._answer_type import EncodedInputs
from niwaki.data.ragged import RaggedWriter
from niwaki.methods._method import Context
from niwaki.methods.adapt.from_scratch import FromScratch
from niwaki.models.features import Features
from niwaki.objectives._factory import make_objective
from niwaki.tasks.denoising import Denoising
from niwaki.tokenization.windows import windows
from niwaki.train.collator import Collator

from .predicting import generator

CLASSES = {
    "t5": "T5ForConditionalGeneration",
    "mt5": "MT5ForConditionalGeneration",
    "bart": "BartForConditionalGeneration",
    "mbart": "MBartForConditionalGeneration",
    "marian": "MarianMTModel",
}
TEXTS = [f"{text} . {other}" for (text, _), (other, _) in zip(tiny.sentences(60), tiny.sentences(60, 1), strict=True)]
SHAPE = {
    "layers": 2,
    "hidden_size": 24,
    "heads": 3,
    "ffn_size": 40,
    "vocab_size": 320,
    "positions": 60,
    "sentinels": 20,
}


@cache
def network(family, **settings):
    """Every weight is random, biases and norms too. Not to be changed."""
    context = Context(0, None, None, lambda *_: [], lambda *_: None, lambda *_: None, lambda: TEXTS)
    model = FromScratch(**{**SHAPE, "family": family, **settings}).prepare(tiny.model("bert", layers=1), context)
    draw = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for value in model.network.parameters():
            drawn = torch.randn(value.shape, generator=draw)
            value.copy_(0.3 * drawn if value.ndim > 1 else value + 0.2 * drawn)
    return model


def prepared(given="span_corruption", family="t5", **settings):
    model, objective = network(family, **settings).clone(), make_objective(given, Denoising())
    objective.prepare(model)
    return model, objective


def collator(model, texts=TEXTS[:8], length=40):
    ids = RaggedWriter(np.int32)
    for values, lengths, *_ in windows([texts], model.tokenizer.backend_tokenizer, length):
        ids.add_flat(values, lengths)
    sequences = ids.done()
    types = RaggedWriter(np.uint8)
    types.add_flat(np.zeros(len(sequences.values), dtype=np.uint8), sequences.lengths)
    encoded = EncodedInputs({"input_ids": sequences, "token_type_ids": types.done()}, np.arange(len(sequences)), [])
    return Collator(Features(encoded, sequences), model, torch.device("cpu"))


def noisy(given="span_corruption", family="t5", seed=3, **settings):
    """The model, its objective, the batch before and after."""
    model, objective = prepared(given, family, **settings)
    rows = collator(model)
    before = rows.batch(range(len(rows.features)))
    return model, objective, before, objective.batch(before, generator(seed))
