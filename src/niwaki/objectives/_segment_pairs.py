"""Base of objectives that read two segments of text and classify how they belong together, next to masked language modeling.

A sequence of a document is cut in two where a sentence ends, else between words. The head is that of transformers'
`ForPreTraining` classes: a dense layer with tanh on the first token, and two logits.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from niwaki.core.seeds import derive
from niwaki.core.settings import Settings, setting
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL, Batch, Outputs
from niwaki.models.model import Model
from niwaki.models.record import FINAL
from niwaki.objectives._masking import MaskingSettings, Vocabulary
from niwaki.objectives._objective import HasPlainTexts
from niwaki.objectives.masked_lm import MaskedLanguageModeling
from niwaki.tokenization.windows import special_tokens

SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")


class SegmentPairsSettings(MaskingSettings):
    weight: float = setting(1.0, "weight of the loss of pairs next to masked language modeling", gt=0)


@dataclass(frozen=True)
class Segments:
    """Two segments of one sequence; the second is empty where it cannot be cut."""

    first: np.ndarray
    second: np.ndarray
    document: int


class SegmentPairs(MaskedLanguageModeling):
    settings: ClassVar[type[Settings]] = SegmentPairsSettings
    activations: ClassVar[frozenset[str]] = frozenset({FINAL})

    def prepare(self, model: Model, seed: int = 0) -> None:
        super().prepare(model, seed)
        tokenizer = model.tokenizer.backend_tokenizer
        self._pad_id = int(model.network.config.pad_token_id or 0)
        self._before, self._after = special_tokens(tokenizer)
        self._ends = sentence_ends(tokenizer, len(self.vocabulary.special))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(seed, "segment pairs"))
            self.helpers = PairHead(model.anatomy.hidden_size, model.network.config.initializer_range)

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        """Sequences with room for the special tokens between two segments. Targets are the numbers of their documents."""
        assert isinstance(self.task, HasPlainTexts)  # `check`
        room = len(special_tokens(tokenizer)[1])
        longest = min(self.task.max_tokens, max_tokens or self.task.max_tokens)
        found = super().features(rows, tokenizer, longest - room)
        return Features(found.rows, found.rows.input_index)

    @abstractmethod
    def arranged(self, cut: list[Segments], draw: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray, int]]:
        """For each sequence two segments and their label: 0 as in the document, 1 otherwise, NO_LABEL for none."""

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        draw = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
        pairs = self.arranged(self._cut(batch, draw), draw)
        limit = batch.mask.shape[1] + len(self._after)
        paired = self._put_together(batch, pairs, limit)
        masked = super().batch(paired, generator)
        labels = torch.tensor([label for *_, label in pairs], device=batch.mask.device)
        return replace(masked, notes={"pairs": labels})

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        assert self.helpers is not None and isinstance(self.chosen, SegmentPairsSettings)
        labels = batch.notes["pairs"]
        logits = self.helpers(outputs.final[0][:, 0]).float()
        pairs = functional.cross_entropy(logits, labels, ignore_index=NO_LABEL, reduction="sum")
        labelled = max(1, int((labels != NO_LABEL).sum()))
        return self.token_loss(outputs, batch) + self.chosen.weight * pairs / labelled

    def _cut(self, batch: Batch, draw: np.random.Generator) -> list[Segments]:
        ids, lengths = batch.inputs["input_ids"].cpu().numpy(), batch.mask.sum(dim=1).tolist()
        found = []
        for row, length, document in zip(ids, lengths, batch.targets.tolist(), strict=True):
            text = row[len(self._before) : length - len(self._after)]
            at = cut_place(text, self.vocabulary, self._ends, draw)
            found.append(Segments(text[:at], text[at:], document))
        return found

    def _put_together(self, batch: Batch, pairs: list[tuple[np.ndarray, np.ndarray, int]], limit: int) -> Batch:
        """Rows with special tokens and token types, cut at `limit` tokens: the second segment first."""
        before, after, rows = self._before, self._after, []
        room = limit - len(before) - 2 * len(after)
        for first, second, _ in pairs:
            first = first[: max(1, room - 1)]
            second = second[: room - len(first)]
            rows.append((np.concatenate([before, first, after]), np.concatenate([second, after])))
        longest = max(len(a) + len(b) for a, b in rows)
        ids = np.full((len(rows), longest), self._pad_id, dtype=np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for number, (a, b) in enumerate(rows):
            end = len(a) + len(b)
            ids[number, :end], types[number, len(a) : end], mask[number, :end] = np.concatenate([a, b]), 1, 1
        arrays = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        inputs = {name: torch.from_numpy(arrays[name]).to(batch.mask.device) for name in batch.inputs}
        return replace(batch, inputs=inputs)


class PairHead(nn.Module):
    """The first token's hidden state to two logits, as BERT's pooler and its classifier of pairs."""

    def __init__(self, hidden_size: int, spread: float) -> None:
        super().__init__()
        self.pooler, self.classifier = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, 2)
        for layer in (self.pooler, self.classifier):
            nn.init.normal_(layer.weight, std=spread)
            nn.init.zeros_(layer.bias)

    def forward(self, first: Tensor) -> Tensor:
        """(batch, hidden) to (batch, 2)."""
        return self.classifier(torch.tanh(self.pooler(first)))


def cut_place(text: np.ndarray, vocabulary: Vocabulary, ends: np.ndarray, draw: np.random.Generator) -> int:
    """Where the second segment begins: behind a sentence, else at a word, else anywhere; all where there is one token."""
    if len(text) < 2:
        return len(text)
    places = np.arange(1, len(text))
    begins = vocabulary.begins_word[text[1:]] | vocabulary.splits_words[text[:-1]]
    for allowed in (ends[text[:-1]] & ~ends[text[1:]], begins):
        if allowed.any():
            return int(draw.choice(places[allowed]))
    return int(draw.choice(places))


def sentence_ends(tokenizer: Tokenizer, vocabulary_size: int) -> np.ndarray:
    """For each token whether it ends a sentence."""
    names = [tokenizer.id_to_token(number) or "" for number in range(vocabulary_size)]
    return np.array([name.endswith(SENTENCE_ENDS) for name in names])
