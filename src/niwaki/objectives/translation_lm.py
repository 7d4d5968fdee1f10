"""Translation language modeling: a text and its translation are read as one sequence, with masked tokens in both.

A masked token may be predicted from its translation, so the network brings both languages into one space. Positions of the second
text start anew, and its token type is 1. XLM tells languages by an embedding that every later text needs; here either language may come
first (`exchange`), so that the saved model reads single texts of both. Other rows of a corpus are for `masked_lm`, which reads both columns.

Paper: Lample and Conneau 2019, XLM (arXiv 1901.07291).
Cost: that of masked language modeling on sequences of twice the length.
"""

from dataclasses import replace
from typing import ClassVar

import pyarrow as pa
import torch
from tokenizers import Tokenizer
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, setting
from niwaki.models.features import Features
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.objectives._masking import MaskingSettings
from niwaki.objectives._objective import HasTranslations
from niwaki.objectives.masked_lm import MaskedLanguageModeling
from niwaki.tokenization.windows import special_tokens


class TranslationSettings(MaskingSettings):
    exchange: bool = setting(
        True, "whether either language comes first, at random; false keeps the order of the columns"
    )


class TranslationLanguageModeling(MaskedLanguageModeling):
    settings: ClassVar[type[Settings]] = TranslationSettings

    def check(self) -> None:
        super().check()
        if not isinstance(self.task, HasTranslations) or not self.task.second_column:
            raise InputError(
                "train.objective: 'translation_lm' reads pairs of texts; set data.column and data.second_column to the columns of a "
                "table that hold them"
            )

    def prepare(self, model: Model, seed: int = 0) -> None:
        super().prepare(model, seed)
        if model.anatomy.family.relative is not None:
            raise InputError("objective: 'translation_lm' needs a table of positions; take a network of family 'bert'")
        self._first_position = model.anatomy.family.inputs.skipped_positions
        self._pad_id = int(model.network.config.pad_token_id or 0)
        self._leading = len(special_tokens(model.tokenizer.backend_tokenizer)[0])

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        """Texts of half the length, so that a pair has the length of the setting."""
        assert isinstance(self.task, HasTranslations)  # `check`
        longest = min(self.task.max_tokens, max_tokens or self.task.max_tokens)
        return self.task.pair_features(rows, tokenizer, longest // 2)

    def batch(self, batch: Batch, generator: torch.Generator) -> Batch:
        assert isinstance(self.chosen, TranslationSettings)
        pairs = len(batch.mask) // 2
        exchanged = torch.rand(pairs, generator=generator) < (0.5 if self.chosen.exchange else 0.0)
        ids, mask, places, types = joined(batch.inputs["input_ids"], batch.mask, exchanged, self._leading)
        found = {
            "input_ids": ids.masked_fill(mask == 0, self._pad_id),
            "attention_mask": mask,
            "token_type_ids": types,
        }
        inputs = {name: found[name] for name in batch.inputs} | {"position_ids": places + self._first_position}
        return super().batch(replace(batch, inputs=inputs), generator)


def joined(ids: Tensor, mask: Tensor, exchanged: Tensor, leading: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Rows of texts and translations in turn (2 × pairs, tokens) to one row each: ids, mask, positions and token types. Where
    `exchanged` (pairs,), the translation comes first. The second text loses its `leading` special tokens; its positions start at 0."""
    order = torch.arange(len(ids), device=ids.device).view(-1, 2)
    order = torch.where(exchanged.to(ids.device)[:, None], order.flip(1), order)
    first, second = (mask.sum(dim=1)[order[:, side]][:, None] for side in (0, 1))  # (pairs, 1) lengths
    second = second - leading
    places = torch.arange(int((first + second).max()), device=ids.device)[None]
    types = (places >= first).long()
    real = places < first + second
    inside = (places - first * types) * real
    taken = ids[torch.where(types.bool(), order[:, 1:], order[:, :1]), inside + leading * types * real]
    return taken, real.long(), inside, types * real
