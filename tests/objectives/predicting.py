"""Tiny models with objectives that predict tokens, and batches before and after masking."""

import torch

import tiny
from niwaki.objectives._factory import make_objective
from niwaki.tasks.language_modeling import LanguageModeling


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def prepared(given, family="bert", **more):
    model = tiny.model(family, layers=2, head="MaskedLM", labels=[], **more)
    objective = make_objective(given, LanguageModeling())
    objective.prepare(model)
    return model, objective


def corrupted(given, family="bert", seed=3, **more):
    """The model, its objective, the batch before and after."""
    model, objective = prepared(given, family, **more)
    before = tiny.batch(model)
    return model, objective, before, objective.batch(before, generator(seed))
