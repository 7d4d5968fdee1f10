"""A 5-gram model of the train texts with modified Kneser-Ney smoothing, over the tokens of the language model."""

from collections.abc import Iterator, Sequence

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._answer_type import Input, Value, chunked
from niwaki.answers.likelihood import Likelihood
from niwaki.engines.input_encoder import TOKENIZER, read_tokenizer
from niwaki.evaluate.baseline import Baseline, PredictFunction
from niwaki.evaluate.ngrams import ORDER, NgramModel, train
from niwaki.models.config_rules import read, readable_tokens
from niwaki.tasks._tables import row_slices
from niwaki.tokenization.tokenizing import encode_batch
from niwaki.tokenization.trimming import without_padding
from niwaki.tokenization.windows import special_tokens

BYTES_PER_MB = 1_000_000


class Ngram(Baseline):
    name = f"{ORDER}-gram model"
    max_rows = 1 << 62  # all

    def fit(self) -> PredictFunction:
        tokenizer = read_tokenizer(self.model / TOKENIZER)
        model = trained(self._texts(), tokenizer)
        self.add_note(f"{model.size:,} n-grams, {nbytes(model) / BYTES_PER_MB:.0f} MB; perplexity from left to right")
        max_tokens = readable_tokens(read(self.model))
        return lambda inputs: scored(model, inputs, tokenizer, max_tokens)

    def _texts(self) -> Iterator[list[str]]:
        return (rows.column("text").to_pylist() for rows in row_slices(self.train()))


def trained(batches: Iterator[list[str]], tokenizer: Tokenizer) -> NgramModel:
    """Documents begin with the tokenizer's first special token; special tokens are not predicted."""
    tokenizer = without_padding(tokenizer)
    before, _ = special_tokens(tokenizer)
    begin = before[:1] if len(before) else np.array([tokenizer.get_vocab_size()])
    documents = (
        np.concatenate([begin, encoding.ids]).astype(np.int32)
        for texts in batches
        for encoding in encode_batch(tokenizer, texts, fast=True, add_special_tokens=False)
    )
    special = sum(token.special for token in tokenizer.get_added_tokens_decoder().values())
    size = tokenizer.get_vocab_size() + 1
    return train(documents, size, max(1, tokenizer.get_vocab_size() - special))


def scored(model: NgramModel, inputs: Sequence[Input], tokenizer: Tokenizer, max_tokens: int) -> list[Value]:
    """For each text of an input [log-likelihood, tokens, characters], of the tokens that a causal language model is scored on."""
    answer_type, values = Likelihood(scoring="causal"), []
    for some in chunked(inputs):
        rows = answer_type.encode(some, tokenizer, max_tokens)
        each = model.log_probabilities(rows.ids.values, rows.ids.starts[:-1])
        found: list[list[list[float]]] = [
            [[0.0, 0, 0]] * (1 if isinstance(given, str) else len(given)) for given in some
        ]
        for owner, note, start in zip(rows.input_index, rows.metadata, rows.ids.starts[:-1], strict=True):
            read = start + np.array(note.places, dtype=np.int64) + 1
            found[owner][note.text] = [float(each[read].sum()), len(read), note.end]
        values += found
    return values


def nbytes(model: NgramModel) -> int:
    return sum(array.nbytes for grams in model.grams for array in vars(grams).values())
