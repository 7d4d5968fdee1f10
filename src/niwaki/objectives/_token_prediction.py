"""Base of objectives that predict tokens of the text itself: cross-entropy at the predicted places, scored by perplexity."""

import math
from collections.abc import Callable, Iterable
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from niwaki.answers.likelihood import Likelihood, Scoring
from niwaki.core.errors import InputError
from niwaki.models.family import is_always_causal
from niwaki.models.forward import Batch, Outputs
from niwaki.models.fused import cross_entropy as fused
from niwaki.models.model import Model
from niwaki.models.skeleton import MASKED_LM
from niwaki.objectives._masking import Vocabulary
from niwaki.objectives._objective import HasPlainTexts, Objective, Validation


class TokenPrediction(Objective):
    """`batch` sets `predicted`, and `targets` (batch, tokens) to the tokens that are predicted there."""

    scoring: ClassVar[Scoring]  # how the trained model scores texts
    reads_any_part: ClassVar[bool] = True
    directions: ClassVar[int] = 1  # in which the network reads a text to predict a token from what lies there alone
    vocabulary: Vocabulary

    def check(self) -> None:
        if not isinstance(self.task, HasPlainTexts):
            raise InputError(
                f"train.objective: predicts tokens of plain texts, which task '{self.task.name}' does not have; "
                "take task 'language_modeling'"
            )
        if self.task.head.architecture != MASKED_LM:
            raise InputError(
                f"train.objective: predicts tokens of a text, for which task '{self.task.name}' has no head; take task 'language_modeling', "
                "or an objective that fits the task"
            )

    def prepare(self, model: Model, seed: int = 0) -> None:
        self.vocabulary = Vocabulary.of(model)
        config = model.network.config
        self._check_directions(model)
        set_direction(model, self.scoring in ("causal", "bidirectional"))
        answer = Likelihood.model_validate(
            {key: value for key, value in self.task.head.answer.items() if key != "kind"}
        )
        known = {"scoring": self.scoring, "mask_token_id": self.vocabulary.mask_id}
        config.niwaki_answer = answer.model_copy(update=known).to_json()

    def _check_directions(self, model: Model) -> None:
        paths = model.anatomy.family.head.vocabulary
        if paths is not None and paths.directions != self.directions:
            fitting = "'bidirectional_lm'" if paths.directions > 1 else "another objective, or family 'bilstm_lm'"
            raise InputError(
                f"objective: networks of family '{model.network.config.model_type}' predict in {paths.directions} direction(s); "
                f"take {fitting}"
            )

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        return self.token_loss(outputs, batch)

    def token_loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        """Mean over the predicted tokens; 0 without any."""
        targets = predicted_tokens(batch)
        if fused.fits(outputs.logits):
            return fused.cross_entropy(outputs.logits, targets)
        return functional.cross_entropy(outputs.logits.float(), targets, reduction="sum") / max(1, len(targets))

    def score(self, validation: Validation) -> float:
        """The geometric mean of the probabilities of the predicted tokens: 1 / perplexity."""
        return inverse_perplexity(validation.passes(self), self.token_loss)


def inverse_perplexity(passes: Iterable[tuple[Outputs, Batch]], mean_loss: Callable[[Outputs, Batch], Tensor]) -> float:
    """The geometric mean of the probabilities of the predicted tokens; `mean_loss` is the mean of their negative logarithms in a batch."""
    total = count = 0.0
    for outputs, batch in passes:
        predicted = len(predicted_tokens(batch))
        total, count = total + mean_loss(outputs, batch).item() * predicted, count + predicted
    return math.exp(-total / max(1.0, count))


def set_direction(model: Model, causal: bool) -> None:
    """Lets the network attend to earlier tokens alone, or to all; InputError where it cannot."""
    config, family = model.network.config, model.anatomy.family
    paths = family.head.vocabulary
    always = is_always_causal(family)
    if not causal and (always or (paths and not paths.may_be_masked)):
        raise InputError(
            f"objective: networks of family '{config.model_type}' are always causal; take 'causal_lm', "
            "'masked_next_token' with deploy = 'causal', or family 'bert'"
        )
    if always:
        return
    if causal and not (paths and paths.may_be_causal):
        raise InputError(
            f"objective: networks of family '{config.model_type}' cannot be causal; take one of family 'bert' or 'gpt2'"
        )
    config.is_decoder = causal


def predicted_tokens(batch: Batch) -> Tensor:
    assert batch.predicted is not None
    return batch.targets[batch.predicted]


def next_tokens(ids: Tensor) -> Tensor:
    """At each place the token that follows (batch, tokens); at the last one a token that means nothing."""
    return ids.roll(-1, dims=1)


def before(chosen: Tensor) -> Tensor:
    """A mask (batch, tokens) moved to the places before; what is chosen at the first place is lost."""
    moved = torch.zeros_like(chosen)
    moved[:, :-1] = chosen[:, 1:]
    return moved


def ordinary_tokens(batch: Batch, vocabulary: Vocabulary) -> Tensor:
    """Mask (batch, tokens) of the real tokens that are not special."""
    special = torch.from_numpy(vocabulary.special).to(batch.mask.device)
    return batch.mask.bool() & ~special[batch.inputs["input_ids"]]
