"""Short sequences first: in the first part of a training, sequences are cut into several. Attention then costs less for as many tokens.

Paper: Devlin et al. 2019 (arXiv 1810.04805), who train nine tenths of the steps on sequences of 128 tokens and the rest on 512.
"""

from dataclasses import replace

import numpy as np
import torch

from niwaki.core.errors import InputError
from niwaki.data.ragged import RaggedWriter
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.tokenization.windows import even_parts, special_tokens


class ShortSequences:
    """Cuts batches until `share` of the training is done. `tokens` = 0 cuts none."""

    def __init__(self, model: Model, tokens: int, share: float) -> None:
        self.tokens, self.share = tokens, share
        if tokens:
            self.before, self.after = special_tokens(model.tokenizer.backend_tokenizer)
            self.pad_id = int(model.network.config.pad_token_id or 0)
            if self.room < 1:
                raise InputError(
                    f"train.short_tokens: {tokens} leave no room between {tokens - self.room} special tokens; take more"
                )

    @property
    def room(self) -> int:
        return self.tokens - len(self.before) - len(self.after)

    def apply(self, batch: Batch, progress: float) -> Batch:
        """The batch, or one with more and shorter sequences, each with special tokens around it."""
        if not self.tokens or progress >= self.share or batch.mask.shape[1] <= self.tokens:
            return batch
        ids, lengths = batch.inputs["input_ids"].cpu().numpy(), batch.mask.sum(dim=1).tolist()
        parts, owners = list[np.ndarray](), list[int]()
        for number, (row, length) in enumerate(zip(ids, lengths, strict=True)):
            for part in even_parts(row[len(self.before) : length - len(self.after)], self.room):
                parts.append(np.concatenate([self.before, part, self.after]))
                owners.append(number)
        if not parts:
            return batch
        writer = RaggedWriter()
        writer.add_flat(np.concatenate(parts), np.array([len(part) for part in parts]))
        padded, mask = writer.done().padded(np.arange(len(parts)), self.pad_id)
        arrays = {"input_ids": padded, "attention_mask": mask.astype(np.int64), "token_type_ids": np.zeros_like(padded)}
        device, kept = batch.mask.device, torch.tensor(owners)
        inputs = {name: torch.from_numpy(arrays[name]).to(device) for name in arrays if name in batch.inputs}
        return replace(batch, inputs=inputs, targets=batch.targets[kept.to(device)], rows=batch.rows[kept])
