"""Plain texts without labels: predict their tokens. Files, folders, or a column of a table of any size."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from tokenizers import Tokenizer

from niwaki.answers._answer_type import EncodedInputs, Input, Value
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint, user_cache
from niwaki.core.log import info
from niwaki.core.settings import setting
from niwaki.data import corpus
from niwaki.data.digests import digests
from niwaki.data.ragged import Ragged
from niwaki.data.scratch import slices
from niwaki.data.token_files import TokenFiles, Windows
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL
from niwaki.tasks._declarations import Published, TableFormat
from niwaki.tasks._language_model_task import LanguageModelTask
from niwaki.tasks._scorer import Scorer
from niwaki.tasks._tables import row_slices
from niwaki.tokenization.windows import beginnings, windows

FORMAT = 2  # raised when the same texts and tokenizer give other token files
MOST = 700.0  # exponents that a float can hold
LEAST = -100.0  # log-probability of a token that is as wrong as can be
TOKENS_PER_BYTE = 0.5  # at most, of most texts; for an estimate of disk space


class LanguageModeling(LanguageModelTask):
    column: str = setting("", "column of a table that holds the texts; none takes the only one")
    second_column: str = setting("", "column with the translations of `column`, for objective 'translation_lm'")
    documents: corpus.Boundary = setting("blank_line", "what ends a document of a text file")
    validation: float = setting(0.01, "share of documents for validation, where no file gives them", gt=0, lt=0.5)
    test: float = setting(0.01, "share of documents for the test, where no file gives them", gt=0, lt=0.5)
    max_tokens: int = setting(128, "tokens of a sequence; longer documents are cut into several", ge=8, le=100_000)
    cache: str = setting("", "folder of tokenized texts, which runs share; none takes the user's cache folder")

    table: ClassVar[TableFormat] = TableFormat(
        "language_modeling", ("text",), group_by_text=True, path_settings=("cache",)
    )
    published: ClassVar[Published] = Published(columns={"text": "text"})
    metric: ClassVar[str] = "token_probability"  # geometric mean, 1 / perplexity
    description: ClassVar[str] = "tokens of plain texts"
    has_plain_texts: ClassVar[bool] = True  # objectives that predict tokens ask for it
    passes: ClassVar[int] = 7  # one token in seven is masked at a time, about as while training

    def read_parts(self) -> dict[str, pa.Table]:
        if self.second_column and not self.column:
            raise InputError("data.column: name the column whose translations data.second_column holds")
        pairs = corpus.read_pairs(self.data.source, self.column, self.second_column) if self.second_column else None
        found, dropped = corpus.without_duplicates(
            pairs or corpus.read_corpus(self.data.source, self.column, self.documents)
        )
        if dropped:
            info(f"{self.data.source}: {dropped} documents are copies of others and are left out")
        return found

    def normalized(self, part: str, table: pa.Table) -> pa.Table:
        return table

    def inputs(self, rows: pa.Table) -> list[Input]:
        texts = [column.to_pylist() for column in rows.columns]
        return list(zip(*texts, strict=True)) if self.second_column else texts[0]

    def features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None = None) -> Features:
        """Sequences of all documents, tokenized once and mapped from disk. None crosses the boundary of a document; texts of a
        pair are documents of their own."""
        return self._tokenized(rows, tokenizer, max_tokens, windows)

    def pair_features(self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int) -> Features:
        """Two sequences for each row, a text and its translation, each cut at `max_tokens`."""
        found = self._tokenized(rows, tokenizer, max_tokens, beginnings)
        return Features(replace(found.rows, group=2), np.broadcast_to(np.int64(NO_LABEL), rows.num_rows))

    def _tokenized(
        self, rows: pa.Table, tokenizer: Tokenizer, max_tokens: int | None, sequences: Callable[..., Windows]
    ) -> Features:
        length = min(self.max_tokens, max_tokens or self.max_tokens)
        files = TokenFiles(Path(self.cache).expanduser() if self.cache else user_cache() / "tokens")
        texts = [_hash(values) for column in rows.columns for values in digests(column)]
        key = fingerprint([FORMAT, sequences.__name__, tokenizer.to_str(), *texts, length])
        found = files.find(key)
        if found is None:
            batches = (
                [text for row in zip(*(column.to_pylist() for column in part.columns), strict=True) for text in row]
                for part in row_slices(rows)
            )
            expected = int(rows.nbytes * TOKENS_PER_BYTE * 2)
            found = files.put(key, sequences(batches, tokenizer, length), tokenizer.get_vocab_size(), expected)
        return Features(_encoded(found, files.documents(key)), np.broadcast_to(np.int64(NO_LABEL), len(found)))

    @cached_property
    def scorer(self) -> Scorer:
        return LikelihoodScorer(self)


def text_stats(text: str, value: Sequence[float]) -> tuple[float, ...]:
    """Log-likelihood, tokens, words and bytes of a text. Its value also has the characters that were read, where a model gave it."""
    likelihood, tokens, *end = value
    return (likelihood, tokens, *words_and_bytes(text[: int(end[0])] if end else text))


def words_and_bytes(text: str) -> tuple[int, int]:
    return len(text.split()), len(text.encode())


def _hash(values: np.ndarray) -> str:
    digest = hashlib.sha256()
    for piece in slices(len(values)):
        digest.update(values[piece].tobytes())
    return digest.hexdigest()


def _encoded(found: Ragged, documents: np.ndarray) -> EncodedInputs:
    """One input for each document; all token types are 0 and take no memory."""
    types = Ragged(np.broadcast_to(np.uint8(0), found.values.shape), found.starts)
    return EncodedInputs({"input_ids": found, "token_type_ids": types}, documents, [])


class LikelihoodScorer(Scorer[LanguageModeling]):
    def example_stats(self, values: Sequence[Value], rows: pa.Table) -> np.ndarray:
        """(rows, 4): log-likelihood, tokens, words and bytes of the part of each text that was read; of both texts of a pair together."""
        texts = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        stats = [
            np.sum([text_stats(*one) for one in zip(row, value, strict=True)], axis=0)
            for row, value in zip(texts, values, strict=True)
        ]
        return np.array(stats, dtype=np.float64).reshape(-1, 4)

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        """Those per word and byte compare models with different tokenizers."""
        total, tokens, words, size = example_stats.sum(axis=0)
        mean = total / max(1.0, tokens)
        return {
            "token_probability": float(np.exp(mean)),
            "perplexity": float(np.exp(-mean)),
            "log_likelihood": float(mean),
            "word_perplexity": float(np.exp(min(-total / max(1.0, words), MOST))),
            "bits_per_byte": float(-total / math.log(2) / max(1.0, size)),
        }

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        wrong = example_stats.copy()
        wrong[:, 0] = LEAST * wrong[:, 1]
        return wrong

    def parse_value(self, cell: object) -> Value:
        """[log-likelihood, tokens]."""
        if not isinstance(cell, list) or len(cell) != 2:
            raise TypeError(f"{type(cell).__name__} is not a log-likelihood with a number of tokens")
        return [[float(cell[0]), float(cell[1])]]

    def note(self) -> str:
        return "Perplexities of masked models are pseudo-perplexities: compare them with those of masked models only."
