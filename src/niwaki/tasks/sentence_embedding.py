"""Embeddings of the sentences of plain texts: which of many sentences follows a given one? For training sentence and word vectors.

Every sentence is compared with those around it in the file, up to 1,000 at a time, by the cosine of their embeddings. The sentence before it
does not compete.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from niwaki.answers._answer_type import Value
from niwaki.answers.embedding import Embedding
from niwaki.core.errors import InputError
from niwaki.data.sentences import sentence_table
from niwaki.models.criteria import Criterion
from niwaki.models.features import Features
from niwaki.tasks._scorer import Scorer
from niwaki.tasks.language_modeling import LanguageModeling
from niwaki.tokenization.windows import beginnings

COMPARED = 1000  # sentences, at most
MOST_EVALUATED = 10_000  # sentences of the validation and of the test documents


class SentenceEmbedding(LanguageModeling):
    answer: ClassVar[str] = "embedding"
    metric: ClassVar[str] = "mean_reciprocal_rank"
    description: ClassVar[str] = "embeddings of sentences that follow one another"
    has_sentences: ClassVar[bool] = True  # objectives that compare sentences ask for it

    @cached_property
    def answer_type(self) -> Embedding:
        return Embedding()

    def set_start_model(self, folder: Path) -> None:
        """All embeddings are read in the same way."""

    def splits(self) -> dict[str, pa.Table]:
        """Rows are sentences, with the number of their document."""
        return self._sentences

    @cached_property
    def _sentences(self) -> dict[str, pa.Table]:
        if self.second_column:
            raise InputError("data.second_column: task 'sentence_embedding' reads single texts; leave it out")
        found = {
            part: sentence_table(documents.column("text"), None if part == "train" else MOST_EVALUATED)
            for part, documents in super().splits().items()
        }
        for part, rows in found.items():
            if not has_next(rows).any():
                raise InputError(
                    f"{self.data.source}: no document of the {part} rows has two sentences; set data.documents, or larger shares"
                )
        return found

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        """A sequence for each sentence. Targets are the numbers of their documents."""
        found = self._tokenized(rows.select(["text"]), tokenizer, max_tokens, beginnings)
        return Features(found.rows, rows.column("document").to_numpy())

    @cached_property
    def criterion(self) -> Criterion:
        raise InputError(
            f"train.objective: task '{self.name}' has no labels; set an objective that compares sentences or predicts words, "
            "e.g. 'quick_thought' or 'skip_gram'"
        )

    @cached_property
    def scorer(self) -> "NextSentenceScorer":
        return NextSentenceScorer(self)


class NextSentenceScorer(Scorer[SentenceEmbedding]):
    correct_columns: ClassVar[slice] = slice(0, 2)

    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """(rows, 3): the reciprocal rank of the next sentence, whether it is the first, and whether there is one."""
        vectors, followed = np.asarray(values, dtype=np.float32), has_next(rows)
        stats = np.zeros((len(vectors), 3))
        for block in np.array_split(np.arange(len(vectors)), -(-len(vectors) // COMPARED)):
            scored = block[:-1][followed[block[:-1]]]
            ranks = ranks_of_next(vectors[block], scored - block[0])
            stats[scored] = np.stack([1 / ranks, ranks == 1, np.ones(len(ranks))], axis=1)
        return stats

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        reciprocal, first, scored = example_stats.sum(axis=0)
        return {"mean_reciprocal_rank": reciprocal / max(1, scored), "first": first / max(1, scored)}

    def note(self) -> str:
        return f"Each sentence is compared with up to {COMPARED:,} others; scores of fewer are higher."


def has_next(rows: pa.Table) -> np.ndarray:
    """For each sentence whether the next row is of the same document."""
    documents = rows.column("document").to_numpy()
    return np.append(documents[1:] == documents[:-1], False) if len(documents) else np.zeros(0, dtype=bool)


def ranks_of_next(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Vectors (sentences, dim) and some rows: the rank of row + 1 among all rows but row and row - 1; of equal ones the middle."""
    if not len(rows):
        return np.zeros(0)
    cosines = vectors[rows] @ vectors.T
    own, places = cosines[np.arange(len(rows)), rows + 1], np.arange(len(rows))
    cosines[places, rows] = -np.inf
    cosines[places[rows > 0], rows[rows > 0] - 1] = -np.inf
    higher = (cosines > own[:, None]).sum(axis=1)
    equal = (cosines == own[:, None]).sum(axis=1) - 1  # the sentence itself is among them
    return 1 + higher + equal / 2
