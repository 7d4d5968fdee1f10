"""Replaced token detection: a small generator fills in masked tokens, and the network tells for every token whether it was replaced.

The loss reads all tokens instead of the masked 15 %. The generator learns masked language modeling next to the network, shares its
embeddings and is thrown away; the saved model is the discriminator. It scores a text by the probabilities that its tokens are original.

Paper: Clark et al. 2020, ELECTRA (arXiv 2003.10555).
Cost: a pass through the generator on top of one through the network, and a product with the token table for masked tokens.
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from niwaki.answers.likelihood import Scoring
from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import Settings, setting
from niwaki.models.anatomy import anatomy_of
from niwaki.models.family import Network
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.model import Model
from niwaki.models.saved_files import config_of
from niwaki.models.skeleton import DETECTOR, MASKED_LM, build
from niwaki.models.vocabulary_matrix import VocabularyMatrix
from niwaki.objectives._masking import MaskingSettings, mask_batch, require_mask
from niwaki.objectives._objective import Validation
from niwaki.objectives._token_prediction import TokenPrediction, ordinary_tokens


class ReplacedTokenDetectionSettings(MaskingSettings):
    masked: float = setting(1.0, "share of the predicted tokens that the mask token replaces", ge=0, le=1)
    random: float = setting(0.0, "share that random tokens replace; the rest stays as it is", ge=0, le=1)
    generator: float = setting(
        0.25, "size of the generator: its share of the network's hidden size, heads and feed-forward size", gt=0, le=1
    )
    weight: float = setting(50.0, "weight of the detection loss next to the generator's", gt=0)


class ReplacedTokenDetection(TokenPrediction):
    settings: ClassVar[type[Settings]] = ReplacedTokenDetectionSettings
    scoring: ClassVar[Scoring] = "detection"
    keeps_last: ClassVar[bool] = True  # detection gets harder while the generator learns

    @property
    def _settings(self) -> ReplacedTokenDetectionSettings:
        assert isinstance(self.chosen, ReplacedTokenDetectionSettings)
        return self.chosen

    def prepare(self, model: Model, seed: int = 0) -> None:
        super().prepare(model, seed)
        require_mask(self.vocabulary)
        family = model.anatomy.family
        if family.head.detector is None or model.blueprint.edits:
            raise InputError(
                "objective: 'replaced_token_detection' needs a network of family 'electra' that no method has edited; "
                "set family = 'electra' in from_scratch"
            )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(seed, "detector"))
            put_detector(model)
            self.helpers = make_generator(model, self._settings.generator).train(model.network.training)

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        noisy, chosen = mask_batch(batch, self.vocabulary, self._settings, generator)
        ids = batch.inputs["input_ids"]
        masked = replace(batch, inputs={**batch.inputs, "input_ids": noisy}, targets=ids, predicted=chosen)
        assert self.helpers is not None
        outputs = forward(anatomy_of(self.helpers), masked)
        filled = ids.clone()
        filled[chosen] = sampled(outputs.logits.detach().float(), generator)
        notes = {"replaced": filled != ids, "generator_loss": self.token_loss(outputs, masked)}
        return replace(batch, inputs={**batch.inputs, "input_ids": filled}, notes=notes)

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        """That of the generator, plus `weight` times the mean over all real tokens of the discriminator's."""
        real = batch.mask.bool()
        logits, replaced = outputs.logits[..., 0][real].float(), batch.notes["replaced"][real].float()
        detection = functional.binary_cross_entropy_with_logits(logits, replaced)
        return batch.notes["generator_loss"] + self._settings.weight * detection

    def score(self, validation: Validation) -> float:
        """The area under the ROC curve of replaced against original tokens."""
        logits, replaced = [], []
        for outputs, batch in validation.passes(self):
            scored = ordinary_tokens(batch, self.vocabulary)
            logits.append(outputs.logits[..., 0][scored].float().cpu().numpy())
            replaced.append(batch.notes["replaced"][scored].cpu().numpy())
        return area_under_curve(np.concatenate(logits), np.concatenate(replaced))


def put_detector(model: Model) -> None:
    """Gives the network the head of a discriminator. Its trunk stays."""
    network, body = model.network, model.anatomy.family.body
    discriminator = build({**config_of(network), "architectures": [f"AnyFor{DETECTOR}"]})
    discriminator.set_submodule(body, network.get_submodule(body))
    discriminator.config = network.config
    discriminator.config.architectures = [type(discriminator).__name__]
    model.network = discriminator.train(network.training)


def make_generator(model: Model, share: float) -> Network:
    """A narrower network of the same family with a head for tokens, on the embeddings of the model."""
    anatomy, config = model.anatomy, config_of(model.network)
    keys = anatomy.family.keys
    heads = max(1, round(config[keys.heads] * share))
    sizes = {
        keys.heads: heads,
        keys.hidden_size: config[keys.hidden_size] // config[keys.heads] * heads,
        keys.ffn_size: max(1, round(config[keys.ffn_size] * share)),
    }
    generator = build({**config, **sizes, "architectures": [f"AnyFor{MASKED_LM}"], "niwaki_answer": None})
    table, paths = anatomy.inputs.token_table.rpartition(".")[0], anatomy.family.head.vocabulary
    assert paths is not None
    matrix, shared = generator.get_submodule(paths.table), model.network.get_submodule(table)
    generator.set_submodule(table, shared)
    assert isinstance(matrix, VocabularyMatrix)
    matrix.owner = (shared,)
    return generator


def sampled(logits: Tensor, generator: torch.Generator) -> Tensor:
    """A token for each row of logits (rows, vocabulary), drawn from their softmax with one uniform number per row."""
    cumulative = torch.softmax(logits.double(), dim=-1).cumsum(dim=-1)
    uniform = torch.rand(len(logits), 1, generator=generator, dtype=torch.float64).to(logits.device)
    return torch.searchsorted(cumulative, uniform * cumulative[:, -1:], right=True)[:, 0].clamp(max=logits.shape[1] - 1)


def area_under_curve(values: np.ndarray, positive: np.ndarray) -> float:
    """The probability that a positive has a higher value than a negative; ties count one half. 0.5 without one of them."""
    ours, others = values[positive], np.sort(values[~positive])
    if not len(ours) or not len(others):
        return 0.5
    below = np.searchsorted(others, ours, "left") + np.searchsorted(others, ours, "right")
    return float(below.mean() / (2 * len(others)))
