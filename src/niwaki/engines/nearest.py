"""The lines of a file whose embeddings are most similar to those of some texts, by exact search.

Every line is compared: a million lines of 384 numbers take about a second. Approximate indexes (faiss, usearch) pay off beyond that, and need not be
exact. Embeddings are computed in batches, or stored in a folder and mapped block by block, so memory does not grow with the file.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from niwaki.answers.embedding import Embedding, normalized
from niwaki.core import strict_json
from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import commit_folder, require_writable, sha256, write_json
from niwaki.core.json_types import Json
from niwaki.core.manifest import fault_in_files
from niwaki.engines.input_file import InputRow, read_inputs
from niwaki.engines.input_lines import InputLines
from niwaki.engines.predictor import Predictor
from niwaki.engines.stream import batches, model_digest

INDEX, VECTORS, LINES = "index.json", "vectors.f32", "lines.i64"
BLOCK_ROWS = 1 << 15  # embeddings that are mapped and compared at a time
HASHED_BYTES = 1 << 20  # larger files of an index are compared by size alone
Block = tuple[np.ndarray, np.ndarray]  # line numbers (rows,), embeddings (rows, dim) of length 1


@dataclass(frozen=True)
class Neighbour:
    line: int  # number in the file, from 1
    similarity: float  # cosine
    text: object  # a text or a pair


@dataclass(frozen=True)
class Corpus:
    """A file of texts as a model reads it. Lines that cannot be read, such as empty ones, are passed over."""

    predictor: Predictor
    path: Path
    columns: Sequence[str] = ()

    def check(self) -> None:
        if not self.path.is_file():
            raise InputError(f"{self.path}: is not a file; give a file with one text a line, jsonl, csv or tsv")
        if not isinstance(self.predictor.answer_type, Embedding):
            raise UsageError(
                f"{self.predictor.folder}: gives no sentence embeddings; if it is a language model, load it with head='embedding'"
            )

    def blocks(self) -> Iterator[Block]:
        """The embeddings of all lines, computed."""
        with contextlib.closing(InputLines(self.path)) as lines:
            source = read_inputs(lines, self.predictor.answer_type, self.columns)
            for batch in batches(self.predictor, lines, source, skip_bad=True):
                numbers = np.array([row.line for row in batch.rows if not row.error], dtype=np.int64)
                if len(numbers):
                    yield numbers, normalized(self.predictor.logits(batch.encoded))

    def texts(self, wanted: set[int]) -> dict[int, object]:
        """The texts of some lines."""
        with contextlib.closing(InputLines(self.path)) as lines:
            rows: Iterator[InputRow] = read_inputs(lines, self.predictor.answer_type, self.columns)
            found: dict[int, object] = {}
            for row in rows:
                if row.line in wanted:
                    found[row.line] = row.input
                    if len(found) == len(wanted):
                        break
            return found

    def identity(self) -> Json:
        """What determines the embeddings of the file."""
        return {
            "version": 1,
            "model": model_digest(self.predictor.folder),
            "engine": self.predictor.engine,
            "texts": sha256(self.path),
            "columns": list(self.columns),
        }


def nearest(corpus: Corpus, queries: Sequence[str], top: int, index: Path | None = None) -> list[list[Neighbour]]:
    """For each query the `top` most similar lines. With `index`, embeddings are stored in this folder and used again."""
    corpus.check()
    if top < 1:
        raise UsageError(f"nearest: top must be 1 or more (given: {top})")
    targets = corpus.predictor.encode(list(queries))
    blocks = corpus.blocks() if index is None else stored_blocks(corpus, index, targets.shape[1])
    lines, similarities = most_similar(blocks, targets, top)
    texts = corpus.texts(set(lines.ravel().tolist()))
    if not texts:
        raise InputError(f"{corpus.path}: has no texts")
    return [
        [Neighbour(line, similarity, texts[line]) for line, similarity in zip(row, values, strict=True)]
        for row, values in zip(lines.tolist(), similarities.tolist(), strict=True)
    ]


def most_similar(blocks: Iterable[Block], targets: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets (queries, dim) to line numbers and cosines (queries, top), or fewer than `top` if there are fewer lines. Ties go to the
    line that comes first."""
    lines: np.ndarray = np.zeros((len(targets), 0), np.int64)
    values: np.ndarray = np.zeros((len(targets), 0), np.float32)
    for numbers, vectors in blocks:
        values = np.concatenate([values, targets @ vectors.T], axis=1)
        lines = np.concatenate([lines, np.broadcast_to(numbers, (len(targets), len(numbers)))], axis=1)
        best = np.argsort(-values, axis=1, kind="stable")[:, :top]
        values, lines = (np.take_along_axis(array, best, axis=1) for array in (values, lines))
    return lines, values


def stored_blocks(corpus: Corpus, folder: Path, dimensions: int) -> Iterator[Block]:
    """Embeddings from an index folder, which is written first if it is not there. An index of another model or file is rejected."""
    if not folder.exists():
        require_writable(folder.parent)
        write_index(corpus, folder)
    if fault := fault_in_files(folder, hash_up_to=HASHED_BYTES):
        raise InputError(f"{fault}; remove the folder, it is then written anew")
    if strict_json.load(folder / INDEX) != corpus.identity():
        raise InputError(f"{folder}: belongs to another model, engine or file; name another folder, or remove this one")
    lines = np.fromfile(folder / LINES, dtype=np.int64)
    for start in range(0, len(lines), BLOCK_ROWS):
        numbers = lines[start : start + BLOCK_ROWS]
        shape, offset = (len(numbers), dimensions), 4 * start * dimensions
        yield numbers, np.memmap(folder / VECTORS, dtype=np.float32, mode="r", offset=offset, shape=shape)


def write_index(corpus: Corpus, folder: Path) -> None:
    with commit_folder(folder) as inside:
        with (inside / VECTORS).open("wb") as vectors, (inside / LINES).open("wb") as lines:
            for numbers, block in corpus.blocks():
                lines.write(numbers.tobytes())
                vectors.write(np.ascontiguousarray(block, dtype=np.float32).tobytes())
        write_json(inside / INDEX, corpus.identity())
