"""A narrow token table and a matrix that widens it, as ALBERT's; pieces that the texts use often are kept best.

Paper: Lan et al. 2020, ALBERT (arXiv 1909.11942); the weighting as Chen et al. 2018, GroupReduce (arXiv 1806.06950).
Cost: one pass of the tokenizer over the texts; running takes a small product more for each token.
"""

from collections import Counter
from typing import Any, ClassVar

import torch
from torch import Tensor

from niwaki.core.errors import Refused
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Moment
from niwaki.models.edits.narrow import Narrow
from niwaki.models.forms.factored import FactoredTable
from niwaki.models.model import Model
from niwaki.models.places import plain
from niwaki.models.tokens import piece_counts


class Embeddings(Method):
    width: int | None = setting(None, "columns of the narrow table; none takes a third", ge=1)
    smoothing: float = setting(1.0, "added to how often a piece occurs, so that others are kept too", gt=0)

    saves: ClassVar[tuple[str, ...]] = ("file", "memory")

    def rehearse(self, model: Model, moment: Moment) -> Model:
        if moment == "prepare":
            model.operate(Narrow(width=self._width(model)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        table = plain(model.anatomy.tokens).weight.detach()
        counts = torch.full((len(table),), self.smoothing, dtype=torch.double)
        for piece, count in occurrences(model.tokenizer, list(context.texts())).items():
            counts[piece] += count
        model.operate(Narrow(width=self._width(model)).into(*narrowed(table, counts, self._width(model))))
        return model

    def _width(self, model: Model) -> int:
        table = model.anatomy.tokens
        rows, columns = table.num_embeddings, table.embedding_dim
        width = self.width or max(1, columns // 3)
        have = table.table.embedding_dim if isinstance(table, FactoredTable) else columns
        if width >= have or width * (rows + columns) >= rows * columns:
            raise Refused(
                f"embeddings: a table of {rows} rows and {have} columns is no smaller with {width}; lower width"
            )
        return width


def occurrences(tokenizer: Any, texts: list[str]) -> Counter[int]:
    """How often each piece is read, with the two marks around every text."""
    counts = piece_counts(tokenizer.backend_tokenizer, texts)
    for mark in (tokenizer.cls_token_id, tokenizer.sep_token_id):
        if mark is not None:
            counts[mark] += len(texts)
    return counts


def narrowed(table: Tensor, counts: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Of a table (pieces, columns): (pieces, width) and (columns, width), whose product is nearest to it where a row counts as
    often as its piece. The columns of the second are the directions in which rows differ most from 0."""
    rows = table.double()
    _, vectors = torch.linalg.eigh(rows.T @ (counts[:, None] * rows))  # the largest last
    up = vectors[:, -width:].flip(1)
    return (rows @ up).float(), up.float()
