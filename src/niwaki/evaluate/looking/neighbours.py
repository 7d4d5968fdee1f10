"""The rows of a file that a model sees as most similar to an input: by the cosine of what its head reads of them."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from niwaki.answers._answer_type import EncodedInputs, Input
from niwaki.answers.embedding import normalized
from niwaki.core.errors import InputError
from niwaki.core.log import progress
from niwaki.data.batching import in_order, sorted_batches
from niwaki.data.column_names import FIRST_LABEL, normalize
from niwaki.engines.input_file import InputRow, read_inputs
from niwaki.engines.input_lines import InputLines
from niwaki.engines.nearest import most_similar
from niwaki.engines.predictor import Predictor
from niwaki.engines.stream import batches
from niwaki.models.features import Features
from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model
from niwaki.models.record import FINAL, POOLED
from niwaki.train.collator import Collator

ROWS, TOKENS = 128, 8192  # of a batch


@dataclass(frozen=True)
class Neighbour:
    line: int  # number in the file, from 1
    similarity: float  # cosine
    given: Input
    label: str  # that the file names; "" where it names none


@dataclass(frozen=True)
class Rows:
    """A file of inputs, with the labels that it has for them."""

    path: Path
    columns: Sequence[str] = ()

    def nearest(self, predictor: Predictor, model: Model, target: np.ndarray, top: int) -> list[Neighbour]:
        """The `top` rows that are most similar to an input with this vector (1, size)."""
        if not self.path.is_file():
            raise InputError(f"{self.path}: is not a file; give a file with one text a line, jsonl, csv or tsv")
        embed = pooled_by(model)
        lines, values = most_similar(self._blocks(predictor, embed), normalized(target), top)
        if not lines.shape[1]:
            raise InputError(f"{self.path}: has no rows that the model can read")
        rows = self._rows(predictor, set(lines[0].tolist()))
        return [
            Neighbour(line, value, rows[line].input, label_in(rows[line]))
            for line, value in zip(lines[0].tolist(), values[0].tolist(), strict=True)
        ]

    def _blocks(
        self, predictor: Predictor, embed: Callable[[EncodedInputs], np.ndarray]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        size = max(1, self.path.stat().st_size)
        with contextlib.closing(InputLines(self.path)) as lines, progress("nearest rows", size) as update:
            source = read_inputs(lines, predictor.answer_type, self.columns)
            for batch in batches(predictor, lines, source, skip_bad=True):
                numbers = np.array([row.line for row in batch.rows if not row.error], dtype=np.int64)
                if len(numbers):
                    yield numbers, normalized(embed(batch.encoded)[_first_sequences(batch.encoded)])
                    update(min(size, lines.bytes), f"{numbers[-1]} rows")

    def _rows(self, predictor: Predictor, wanted: set[int]) -> dict[int, InputRow]:
        with contextlib.closing(InputLines(self.path)) as lines:
            rows = read_inputs(lines, predictor.answer_type, self.columns)
            return {row.line: row for row in rows if row.line in wanted}


def label_in(row: InputRow) -> str:
    """The label that a table has for a row; "" without a column of labels."""
    return next((str(cell) for name, cell in row.cells.items() if normalize(name) in FIRST_LABEL), "")


def _first_sequences(encoded: EncodedInputs) -> np.ndarray:
    """The number of the first sequence of each input."""
    return np.unique(encoded.input_index, return_index=True)[1]


def pooled_by(model: Model) -> Callable[[EncodedInputs], np.ndarray]:
    """A function from encoded inputs to (sequences, size): what the head reads of a sequence, or the mean over its tokens where it reads
    each of them."""
    anatomy = model.anatomy
    pools = bool(anatomy.layers) and not anatomy.is_seq2seq and not anatomy.per_token
    needs = frozenset({POOLED if pools else FINAL}) if anatomy.layers else frozenset()

    @torch.no_grad()
    def embed(encoded: EncodedInputs) -> np.ndarray:
        collator, nothing = Collator(Features(encoded, np.zeros(0)), model, torch.device("cpu")), torch.zeros(0)

        def parts() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for places in sorted_batches(encoded.ids.lengths, ROWS, TOKENS):
                batch = Batch(collator.inputs(places), nothing, nothing)
                yield places, _vectors(model, batch, needs)

        return in_order(parts(), encoded.ids.lengths, per_token=False)

    return embed


def _vectors(model: Model, batch: Batch, needs: frozenset[str]) -> np.ndarray:
    anatomy, real = model.anatomy, batch.mask[..., None].float()
    if not anatomy.layers:
        states = anatomy.network.states(batch.inputs["input_ids"], batch.mask)[-1]
        return ((states * real).sum(dim=1) / real.sum(dim=1)).numpy()
    out = forward(anatomy, batch, needs)
    if out.pooled:
        found = out.pooled[0]
        return torch.cat(found.chunk(2), dim=-1).numpy() if anatomy.head.splits_pairs else found.numpy()
    return ((out.final[0] * real).sum(dim=1) / real.sum(dim=1)).float().numpy()
