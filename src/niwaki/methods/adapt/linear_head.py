"""Linear head on sentence embeddings: logistic regression on the training rows, fitted after training.

Embeddings are pooled as the checkpoint says and scaled to length 1. Without a train block the encoder stays as it is (frozen features);
with `objective = "contrastive"` it is tuned first.
Paper: Tunstall et al. 2022, Efficient Few-Shot Learning Without Prompts (SetFit, arXiv 2209.11055).
Cost: one pass over the training rows, and a second for the regression.
"""

from collections.abc import Callable, Iterable

import numpy as np
import torch
from pydantic import PrivateAttr

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, Requirements, Reshapes
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import Batch, forward
from niwaki.models.linear_model import logistic_regression
from niwaki.models.model import Model
from niwaki.models.record import POOLED
from niwaki.models.sentence_modules import pooling_of_network

PART, PROBLEM = "pooled", "single_label_classification"
MAX_BATCHES = 400
ITERATIONS = 1000


class LinearHead(Method, Reshapes, Bakes):
    inverse_penalty: float = setting(10.0, "strength C of logistic regression; larger fits the rows more closely", gt=0)

    requires = Requirements(fits_head=True)

    _batches: Callable[[Model, int], Iterable[Batch]] | None = PrivateAttr(None)

    def dry_prepare(self, model: Model) -> Model:
        if model.anatomy.is_seq2seq or model.network.config.problem_type != PROBLEM:
            raise InputError("linear_head: it fits one label for each text; leave it out for other tasks")
        model.anatomy.require_layers("linear_head")
        if model.anatomy.head.label() != PART:
            mode = pooling_of_network(model.network).mode
            model.apply_edit(ReplacePart(slot="head", part=PART, settings={"mode": mode}))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        self._batches = context.calibration
        return self.dry_prepare(model)

    def dry_finish(self, model: Model) -> Model:
        return model

    def finish(self, model: Model) -> Model:
        assert self._batches is not None  # `prepare`
        embeddings, labels = embedded(model, self._batches(model, MAX_BATCHES))
        weight, bias = logistic_regression(embeddings, labels, len(model.labels), self.inverse_penalty, ITERATIONS)
        linear = model.network.get_submodule(model.anatomy.head.final)
        linear.weight.data.copy_(torch.from_numpy(weight))
        linear.bias.data.copy_(torch.from_numpy(bias))
        return model


@torch.no_grad()
def embedded(model: Model, batches: Iterable[Batch]) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings (rows, hidden) of length 1, and the labels of the rows."""
    model.network.eval()
    found, labels = [], []
    for batch in batches:
        pooled = forward(model.anatomy, batch, frozenset({POOLED})).pooled[0]
        found.append(torch.nn.functional.normalize(pooled.float(), dim=-1).numpy())
        labels.append(batch.targets.numpy())
    return np.concatenate(found), np.concatenate(labels)
