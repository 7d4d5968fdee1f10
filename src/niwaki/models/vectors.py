"""One vector for each piece of a vocabulary, taken from a model: the start of networks without layers.

Model2Vec (Tulkens, van Dongen 2024) showed how much a vector gains when the model has read its piece.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model
from niwaki.models.record import HIDDEN
from niwaki.tokenization.tokenizing import encode
from niwaki.tokenization.trimming import without_padding

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

TOKENS_PER_BATCH = 512
Rows = list[list[int]]  # token ids


def vectors_for(tokenizer: "PreTrainedTokenizerFast", source: Model, how: str, width: int) -> Tensor:
    """(tokens, at most `width`): a vector for each token of a transformers tokenizer, in its order, from `source`, which may
    have another one. `how` is "table" (its vectors as stored) or "read" (its last hidden states)."""
    rows = source_token_ids(tokenizer, source)
    found = (table_vectors if how == "table" else read_vectors)(source, rows)
    return evened(reduced(found, width))


def source_token_ids(tokenizer: "PreTrainedTokenizerFast", source: Model) -> Rows:
    """Of each piece, the ids under which the source knows it; of one it does not know, those that it splits it into."""
    known, inner = source.tokenizer.get_vocab(), without_padding(source.tokenizer.backend_tokenizer)
    tokens = {number: piece for piece, number in tokenizer.get_vocab().items()}
    unknown = [known.get(source.tokenizer.unk_token, 0)]
    rows = []
    for number in range(max(tokens) + 1):
        piece = tokens.get(number, "")
        split = [known[piece]] if piece in known else encode(inner, bare(piece), add_special_tokens=False).ids
        rows.append(split or unknown)
    return rows


def bare(piece: str) -> str:
    """Without the signs by which tokenizers mark the inside of a word, or its beginning."""
    return piece.removeprefix("##").replace("\u0120", " ").replace("\u2581", " ").strip()


@torch.no_grad()
def table_vectors(source: Model, rows: Rows) -> Tensor:
    """The mean of each row's vectors in the source's token table (rows, width)."""
    table, found = source.anatomy.tokens, []
    for ids, mask in batches(rows, pad=0):
        real = mask[..., None].float()
        found.append((table(ids) * real).sum(dim=1) / real.sum(dim=1))
    return torch.cat(found)


@torch.no_grad()
def read_vectors(source: Model, rows: Rows) -> Tensor:
    """Each row read as a text of its own, between its special_tokens: the mean of the last hidden states (rows, width)."""
    special_tokens = encode(without_padding(source.tokenizer.backend_tokenizer), "").ids
    texts = [[*special_tokens[:1], *row, *special_tokens[1:]] for row in rows]
    source.network.eval()
    nothing, anatomy, found = torch.zeros(0), source.anatomy, []
    for ids, mask in batches(texts, int(source.network.config.pad_token_id or 0)):
        batch = Batch({"input_ids": ids, "attention_mask": mask}, nothing, nothing)
        last = forward(anatomy, batch, frozenset({HIDDEN})).hidden[-1].float()
        real = mask[..., None].float()
        found.append((last * real).sum(dim=1) / real.sum(dim=1))
    return torch.cat(found)


def batches(rows: Rows, pad: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Ids and mask of some hundred rows at a time, (rows, longest) each."""
    for start in range(0, len(rows), TOKENS_PER_BATCH):
        some = rows[start : start + TOKENS_PER_BATCH]
        longest = max(map(len, some))
        ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in some])
        yield ids, torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in some])


def reduced(vectors: Tensor, width: int) -> Tensor:
    """The first `width` principal components (all, where there are no more), largest first. Nothing in it is random: a
    component points to where its largest entry is positive."""
    centred = vectors.double() - vectors.double().mean(dim=0)
    _, basis = torch.linalg.eigh(centred.T @ centred)  # columns, smallest first
    basis = basis.flip(1)[:, :width]
    largest = basis.gather(0, basis.abs().argmax(dim=0, keepdim=True))
    return (centred @ (basis * largest.sign())).float()


def evened(vectors: Tensor) -> Tensor:
    """The same, scaled so that entries have a mean square of 1: what learning rates fit does not depend on the source."""
    return vectors / vectors.square().mean().sqrt().clamp(min=1e-12)
