"""A narrow token table and a matrix that projects it to the hidden size, as in ALBERT; frequent tokens are approximated best.

Paper: Lan et al. 2020, ALBERT (arXiv 1909.11942); the weighting as Chen et al. 2018, GroupReduce (arXiv 1806.06950).
Cost: one pass of the tokenizer over the texts; at run time, a small product for each token.
"""

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.narrow import Narrow, columns
from niwaki.models.edits.vocabulary import require_vocabulary
from niwaki.models.embedding_tables import whole_token_tables
from niwaki.models.model import Model
from niwaki.models.module_paths import to_dense, unique_modules
from niwaki.tokenization.trimming import token_counts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

ALL_BATCHES = sys.maxsize


class Embeddings(Method, Reshapes):
    width: int | None = setting(None, "width of the narrow table; default: a third", tune="embedding", ge=1)
    smoothing: float = setting(1.0, "added to every token's count, so that unused tokens are approximated too", gt=0)

    requires = Requirements(reduces=("file", "memory"))

    def dry_prepare(self, model: Model) -> Model:
        model.apply_edit(self._edit(model))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        edit = self._edit(model)
        counts = self._counts(model, context)
        factors = {
            path: narrowed(to_dense(table).weight.detach(), counts[id(table)], edit.width)
            for path, table in token_tables(model).items()
        }
        model.apply_edit(edit.with_factors(factors))
        return model

    def _counts(self, model: Model, context: Context) -> dict[int, Tensor]:
        """By table, the weight of each row: how often its token is read and generated."""
        tables = token_tables(model)
        counts = {
            id(one): torch.full((one.num_embeddings,), self.smoothing, dtype=torch.double) for one in tables.values()
        }
        paths = whole_token_tables(model.anatomy)  # the first is read, the last is generated from; they may be the same
        seen = {paths[0]: [occurrences(model.tokenizer, list(context.texts()))]}
        if model.anatomy.is_seq2seq:
            seen.setdefault(paths[-1], []).append(target_counts(model, context))
        for path, found in seen.items():
            for token, count in (entry for counter in found for entry in counter.items()):
                counts[id(model.network.get_submodule(path))][token] += count
        return counts

    def _edit(self, model: Model) -> Narrow:
        """The edit, for the tables that become smaller."""
        require_vocabulary(model.anatomy, "embeddings")
        tables = list(token_tables(model).values())
        width = self.width or max(1, min(table.embedding_dim for table in tables) // 3)
        smaller = [number for number, table in enumerate(tables) if is_smaller(table, width)]
        if not smaller:
            sizes = " and ".join(f"{table.num_embeddings} rows and {columns(table)} columns" for table in tables)
            raise InputError(f"embeddings: a table of {sizes} is no smaller with {width}; lower width")
        return Narrow(width=width, tables=smaller)


def token_tables(model: Model) -> Json:
    """The token tables, each once, by its first path."""
    return unique_modules(model.network, whole_token_tables(model.anatomy))


def is_smaller(table: Any, width: int) -> bool:
    rows, wide = table.num_embeddings, table.embedding_dim
    return width < columns(table) and width * (rows + wide) < rows * wide


def occurrences(tokenizer: "PreTrainedTokenizerFast", texts: list[str]) -> Counter[int]:
    """How often each token is read, including the two special tokens around every text."""
    counts = token_counts(tokenizer.backend_tokenizer, texts)
    for special in (tokenizer.cls_token_id, tokenizer.sep_token_id):
        if special is not None:
            counts[special] += len(texts)
    return counts


def target_counts(model: Model, context: Context) -> Counter[int]:
    """How often each token is generated, or read by the decoder."""
    counts: Counter[int] = Counter()
    for batch in context.calibration(model, ALL_BATCHES):
        real = batch.generated.bool()
        counts.update(batch.inputs["decoder_input_ids"][real].tolist())
        counts.update(batch.targets[real].tolist())
    return counts


def narrowed(table: Tensor, counts: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """(tokens, columns) to (tokens, width) and (columns, width), whose product approximates the table best when rows are weighted by
    counts. The columns of the second are the principal directions of the weighted rows, not centred."""
    rows = table.double()
    _, vectors = torch.linalg.eigh(rows.T @ (counts[:, None] * rows))  # ascending eigenvalues
    up = vectors[:, -width:].flip(1)
    return (rows @ up).float(), up.float()
