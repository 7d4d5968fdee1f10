"""A narrow token table and a matrix that widens it, as ALBERT's; pieces that the texts use often are kept best.

Paper: Lan et al. 2020, ALBERT (arXiv 1909.11942); the weighting as Chen et al. 2018, GroupReduce (arXiv 1806.06950).
Cost: one pass of the tokenizer over the texts; running takes a small product more for each token.
"""

import sys
from collections import Counter
from typing import Any

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.narrow import Narrow, columns
from niwaki.models.embedding_tables import whole_token_tables
from niwaki.models.model import Model
from niwaki.models.module_paths import to_dense, unique_modules
from niwaki.tokenization.trimming import token_counts

EVERY = sys.maxsize  # batches


class Embeddings(Method, Reshapes):
    width: int | None = setting(None, "columns of the narrow table; none takes a third", ge=1)
    smoothing: float = setting(1.0, "added to how often a piece occurs, so that others are kept too", gt=0)

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
        """How often each row of a table counts, by the table: as its pieces are read, and written."""
        tables = token_tables(model)
        counts = {
            id(one): torch.full((one.num_embeddings,), self.smoothing, dtype=torch.double) for one in tables.values()
        }
        paths = whole_token_tables(model.anatomy)  # what is read first, what is written last; one may be both
        seen = {paths[0]: [occurrences(model.tokenizer, list(context.texts()))]}
        if model.anatomy.is_seq2seq:
            seen.setdefault(paths[-1], []).append(written(model, context))
        for path, found in seen.items():
            for piece, count in (entry for one in found for entry in one.items()):
                counts[id(model.network.get_submodule(path))][piece] += count
        return counts

    def _edit(self, model: Model) -> Narrow:
        """Of the tables, those that get smaller."""
        tables = list(token_tables(model).values())
        width = self.width or max(1, min(table.embedding_dim for table in tables) // 3)
        smaller = [number for number, table in enumerate(tables) if is_smaller(table, width)]
        if not smaller:
            sizes = " and ".join(f"{table.num_embeddings} rows and {columns(table)} columns" for table in tables)
            raise InputError(f"embeddings: a table of {sizes} is no smaller with {width}; lower width")
        return Narrow(width=width, tables=smaller)


def token_tables(model: Model) -> dict[str, Any]:
    """The different ones, by their first paths."""
    return unique_modules(model.network, whole_token_tables(model.anatomy))


def is_smaller(table: Any, width: int) -> bool:
    rows, wide = table.num_embeddings, table.embedding_dim
    return width < columns(table) and width * (rows + wide) < rows * wide


def occurrences(tokenizer: Any, texts: list[str]) -> Counter[int]:
    """How often each piece is read, with the two marks around every text."""
    counts = token_counts(tokenizer.backend_tokenizer, texts)
    for mark in (tokenizer.cls_token_id, tokenizer.sep_token_id):
        if mark is not None:
            counts[mark] += len(texts)
    return counts


def written(model: Model, context: Context) -> Counter[int]:
    """How often each piece is written, or read to write on."""
    counts: Counter[int] = Counter()
    for batch in context.calibration(model, EVERY):
        real = batch.generated.bool()
        counts.update(batch.inputs["decoder_input_ids"][real].tolist())
        counts.update(batch.targets[real].tolist())
    return counts


def narrowed(table: Tensor, counts: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Of a table (pieces, columns): (pieces, width) and (columns, width), whose product is nearest to it where a row counts as
    often as its piece. The columns of the second are the directions in which rows differ most from 0."""
    rows = table.double()
    _, vectors = torch.linalg.eigh(rows.T @ (counts[:, None] * rows))  # the largest last
    up = vectors[:, -width:].flip(1)
    return (rows @ up).float(), up.float()
