"""Base of objectives of encoder-decoders: texts are read with noise, and what the noise hides or the whole text is generated."""

from dataclasses import replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from niwaki.answers.reconstruction import Reconstruction
from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.forward import NO_LABEL, Batch, Outputs
from niwaki.models.generation import shift_right
from niwaki.models.model import Model
from niwaki.objectives._objective import Objective, Validation
from niwaki.objectives._token_prediction import inverse_perplexity, predicted_tokens
from niwaki.tokenization.noise import Noise
from niwaki.tokenization.noise_tokens import NoiseTokens, require


@runtime_checkable
class ReconstructsTexts(Protocol):
    """A task whose rows are documents, and whose targets are the tokens of their sequences."""

    @property
    def reconstructs_texts(self) -> bool: ...


class DenoisingSettings(Settings):
    noise: str
    rate: float = setting(0.15, "share of tokens that are hidden or changed", gt=0, lt=1)
    mean_span: float = setting(3.0, "mean length of spans in tokens", ge=1, le=1000)
    label_smoothing: float = setting(
        0.0, "label smoothing: share of the target probability that is spread over all tokens", ge=0, lt=1
    )


class Denoising(Objective):
    """Noise is drawn anew at each step, from the generator that `batch` gets."""

    reads_any_part: ClassVar[bool] = True
    noise: Noise
    known: NoiseTokens
    start: int
    pad_id: int

    @property
    def _settings(self) -> DenoisingSettings:
        assert isinstance(self.chosen, DenoisingSettings)
        return self.chosen

    def sentinels(self) -> int:
        """How many sentinels the noise needs at least."""
        return 0

    def check(self) -> None:
        if not isinstance(self.task, ReconstructsTexts):
            raise InputError(
                f"train.objective: generates texts that noise has changed, which task '{self.task.name}' does not have; take task 'denoising'"
            )

    def prepare(self, model: Model, seed: int = 0) -> None:
        settings, config = self._settings, model.network.config
        self.known = NoiseTokens.of(model.tokenizer.backend_tokenizer)
        require(self.known, self.sentinels(), f"noise '{settings.noise}'")
        self.noise = Noise(settings.noise, settings.rate, settings.mean_span)
        self.start, self.pad_id = int(config.decoder_start_token_id), int(config.pad_token_id)
        drawn = settings.model_dump(include={"noise", "rate", "mean_span"})
        config.niwaki_answer = Reconstruction(**drawn, start=self.start, end=int(config.eos_token_id)).to_json()

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        ids, lengths = batch.inputs["input_ids"].cpu().numpy(), batch.mask.sum(dim=1).tolist()
        seeds = torch.randint(2**62, (len(ids),), generator=generator).tolist()
        pairs = [
            self.noise.corrupt(row[:length], self.known, np.random.default_rng(seed))
            for row, length, seed in zip(ids, lengths, seeds, strict=True)
        ]
        device = batch.mask.device
        read, mask = padded([one for one, _ in pairs], self.pad_id)
        targets, real = padded([other for _, other in pairs], NO_LABEL)
        inputs = {
            "input_ids": read,
            "attention_mask": mask.long(),
            "decoder_input_ids": shift_right(targets, self.start),
        }
        found = {name: value.to(device) for name, value in inputs.items()}
        return replace(batch, inputs=found, targets=targets.to(device), predicted=real.to(device))

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        """Mean over the generated tokens."""
        return mean_loss(outputs, batch, self._settings.label_smoothing)

    def score(self, validation: Validation) -> float:
        """The geometric mean of the probabilities of the generated tokens: 1 / perplexity."""
        return inverse_perplexity(validation.passes(self), mean_loss)


def mean_loss(outputs: Outputs, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Logits and targets of the generated tokens, (tokens, vocabulary) and (tokens,), to a scalar."""
    return functional.cross_entropy(outputs.logits.float(), predicted_tokens(batch), label_smoothing=label_smoothing)


def padded(rows: list[np.ndarray], fill: int) -> tuple[Tensor, Tensor]:
    """Sequences as a rectangle (rows, longest), and the mask of what is no padding."""
    lengths = np.array([len(row) for row in rows])
    real = np.arange(lengths.max()) < lengths[:, None]
    values = np.full(real.shape, fill, dtype=np.int64)
    values[real] = np.concatenate(rows)
    return torch.from_numpy(values), torch.from_numpy(real)
