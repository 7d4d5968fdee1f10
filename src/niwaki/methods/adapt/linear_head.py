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
from niwaki.models.model import Model
from niwaki.models.record import POOLED
from niwaki.models.sentence_modules import pooling_of_network

PART, PROBLEM = "pooled", "single_label_classification"
MAX_BATCHES = 400
UNSEEN = -20.0  # logit of a label without training rows, below all others


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
        weight, bias = logistic_regression(embeddings, labels, len(model.labels), self.inverse_penalty)
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


def logistic_regression(
    embeddings: np.ndarray, labels: np.ndarray, outputs: int, inverse_penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weight (outputs, hidden) and bias (outputs,) of a fitted classifier."""
    from sklearn.linear_model import LogisticRegression

    weight, bias = np.zeros((outputs, embeddings.shape[1])), np.full(outputs, UNSEEN)
    seen = np.unique(labels)
    if len(seen) == 1:
        bias[seen] = 0.0
    else:
        fitted = LogisticRegression(C=inverse_penalty, max_iter=1000).fit(embeddings, labels)
        halves = len(seen) == 2  # one row of coefficients: the difference between the two logits
        weight[seen] = np.concatenate([-fitted.coef_, fitted.coef_]) / 2 if halves else fitted.coef_
        bias[seen] = np.concatenate([-fitted.intercept_, fitted.intercept_]) / 2 if halves else fitted.intercept_
    return weight.astype(np.float32), bias.astype(np.float32)
