"""Prompts: trained vectors in front of the tokens of every text, as further rows of the token table.

Each vector takes a position, so texts can be that much shorter. Heads that read the first token read the first vector; heads for tokens
do not see the prompt. Activations are recorded without it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from niwaki.models.module_paths import packed_like, to_dense
from niwaki.models.record import ATTENTION, FINAL, HIDDEN, SCORES, STATES, Record
from niwaki.models.recorded import Recorded

if TYPE_CHECKING:
    from niwaki.models.anatomy import Anatomy


class Prompt(nn.Module):
    vectors: nn.Parameter  # (tokens, width)

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors.detach().clone())

    def cut(self, columns: Sequence[int] | None) -> "Prompt":
        return self if columns is None else Prompt(self.vectors[:, list(columns)])


class PromptedTable(nn.Module):
    """A token table whose ids from `num_embeddings` on are those of the prompt."""

    inner: ClassVar[tuple[str, ...]] = ("base",)
    base: nn.Embedding  # or a table in another form
    delta: Prompt

    def __init__(self, base: nn.Module, delta: Prompt) -> None:
        super().__init__()
        self.add_module("base", base)
        self.add_module("delta", delta)

    @property
    def num_embeddings(self) -> int:
        return int(self.base.num_embeddings)

    @property
    def embedding_dim(self) -> int:
        return int(self.base.embedding_dim)

    @property
    def prompt_tokens(self) -> int:
        return len(self.delta.vectors)

    def forward(self, ids: Tensor) -> Tensor:
        own = ids - self.num_embeddings  # negative for tokens of the vocabulary
        found = self.base(torch.minimum(ids, ids.new_tensor(self.num_embeddings - 1)))
        prompt = self.delta.vectors[torch.maximum(own, own.new_tensor(0))]
        return torch.where((own >= 0)[..., None], prompt.to(found.dtype), found)

    def to_dense(self) -> nn.Embedding:
        return to_dense(self.base)

    def repack(self, table: nn.Linear) -> "PromptedTable":
        return PromptedTable(packed_like(self.base, table), self.delta)


def with_prompt(anatomy: "Anatomy", inputs: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Inputs (batch, tokens) with the ids of the prompt in front of each text."""
    count = anatomy.inputs.prompt_tokens
    if not count:
        return inputs
    mask, first = inputs["attention_mask"], anatomy.tokens.num_embeddings
    zeros = mask[:, :1] * 0 + torch.zeros(count, dtype=mask.dtype, device=mask.device)  # (batch, prompt)
    places = zeros + torch.arange(count, device=mask.device)
    front = {"input_ids": places + first, "attention_mask": zeros + 1, "position_ids": places}
    moved = {**inputs, "position_ids": inputs["position_ids"] + count} if "position_ids" in inputs else inputs
    return {
        name: torch.cat([front.get(name, zeros).to(value.dtype), value], dim=1) if value.ndim == 2 else value
        for name, value in moved.items()
    }


def in_front(mask: Tensor | None, count: int, value: bool) -> Tensor | None:
    """A mask (batch, tokens), or one of (batch, tokens, tokens), of texts with a prompt of `count` tokens that has this value."""
    if mask is None or not count:
        return mask
    both = (count, 0) * (mask.ndim - 1)
    return nn.functional.pad(mask, both, value=value)


def without_prompt(count: int, logits: Tensor, record: Record, per_token: bool) -> Tensor:
    """Logits, and the activations in the record, of the tokens of the texts."""
    if not count:
        return logits
    for name, found in record.items():
        if name in (SCORES, ATTENTION):
            found[:] = [one[..., count:, count:] for one in Recorded(found)]
        elif name in (HIDDEN, FINAL, *STATES):
            found[:] = [one[:, count:] for one in Recorded(found)]
    return logits[:, count:] if per_token else logits
