"""The log-likelihood of a text under a language model, or of two texts that are compared.

| scoring | a token is predicted from | sequences per text |
|---|---|---|
| causal | all tokens before it | 1 |
| bidirectional | all tokens before it, and all behind it: the mean of two models' log-probabilities | 1 |
| masked | all others, at its own place, where a mask stands | `passes`, or one per token |
| masked_next | all others, at the place before it | `passes`, or one per token |
| detection | all tokens: the probability that it is original (ELECTRA's discriminator) | 1 |

Special tokens are not scored. With `passes` = 0, and wherever two texts are compared, every token is masked alone
(pseudo-log-likelihood, Salazar et al. 2020, arXiv 1910.14659); with k passes, every k-th token of a text is masked at once, which costs
less.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from tokenizers import Encoding, Tokenizer

from niwaki.answers._answer_type import (
    Answer,
    AnswerType,
    EncodedInputs,
    EncodedInputsBuilder,
    Input,
    Value,
    chunked,
    with_truncation,
)
from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.tokenization.tokenizing import encode_batch

Scoring = Literal["masked", "causal", "masked_next", "bidirectional", "detection"]
ONE_PASS = ("causal", "bidirectional", "detection")  # a text is read once, as it is
FROM_EARLIER = ("causal", "masked_next", "bidirectional")  # a token's logits are those of the place before it
DIRECTIONS = 2  # of bidirectional models; their logits lie side by side


@dataclass(frozen=True)
class Prediction(Answer):
    log_likelihood: float | list[float]  # natural logarithm; one for each text of a pair
    tokens: int | list[int]  # that were scored

    def __str__(self) -> str:
        if isinstance(self.log_likelihood, list):
            return "\t".join(f"{value:.3f}" for value in self.log_likelihood)
        return f"{self.log_likelihood:.3f}"


class Scored(NamedTuple):
    """What is read of a sequence."""

    text: int  # number of the text in its input
    places: list[int]  # of the logits that are read
    targets: list[int]  # the tokens whose probabilities are wanted
    end: int = 0  # characters of the text up to the last token that was read


@dataclass(frozen=True)
class Reading:
    """One sequence as the network reads it."""

    ids: list[int]
    type_ids: list[int]


class Likelihood(AnswerType):
    scoring: Scoring = setting("masked", "how a token is predicted")
    mask_token_id: int = setting(-1, "id of the mask token; -1 where there is none", ge=-1)
    passes: int = setting(
        0, "times that a text is read, with every so-manieth token masked; 0 masks each token alone", ge=0
    )

    architecture: ClassVar[str] = "MaskedLM"
    per_token: ClassVar[bool] = True

    def encode(self, inputs: Iterable[Input], tokenizer: Tokenizer, max_tokens: int) -> EncodedInputs:
        """Metadata: a `Scored` for each sequence."""
        tokenizer = with_truncation(tokenizer, max_tokens)
        builder = EncodedInputsBuilder()
        for chunk in chunked(inputs):
            owners = [(number, text) for number, given in enumerate(chunk) for text in range(len(_texts(given)))]
            encodings = encode_batch(tokenizer, [text for given in chunk for text in _texts(given)])
            found = [
                (number, sequence, Scored(text, places, targets, end_of(encoding)))
                for (number, text), encoding in zip(owners, encodings, strict=True)
                for sequence, places, targets in self._sequences(encoding, alone=len(_texts(chunk[number])) > 1)
            ]
            builder.add([one for _, one, _ in found], [number for number, *_ in found], [note for *_, note in found])
        return builder.done()

    def _sequences(self, encoding: Encoding, alone: bool) -> Iterator[tuple[Reading, list[int], list[int]]]:
        """Sequences to be read, the places of the logits, and the tokens that are predicted there."""
        ids, first = encoding.ids, int(self.scoring in FROM_EARLIER)
        if self.scoring not in ONE_PASS and self.mask_token_id < 0:
            raise InputError("niwaki_answer: the tokenizer has no mask token, so only causal scoring is possible")
        places = [at for at, special in enumerate(encoding.special_tokens_mask) if not special and at >= first]
        if self.scoring in ONE_PASS or not places:
            yield Reading(ids, encoding.type_ids), [at - first for at in places], [ids[at] for at in places]
            return
        passes = len(places) if alone or not self.passes else min(self.passes, len(places))
        for number in range(passes):
            hidden = places[number::passes]
            masked = list(ids)
            for at in hidden:
                masked[at] = self.mask_token_id
            yield Reading(masked, encoding.type_ids), [at - first for at in hidden], [ids[at] for at in hidden]

    def outputs(self, vocabulary: int) -> int:
        """Logits of a token."""
        if self.scoring == "detection":
            return 1
        return vocabulary * DIRECTIONS if self.scoring == "bidirectional" else vocabulary

    def reduce(self, logits: np.ndarray, rows: EncodedInputs, sequences: np.ndarray) -> np.ndarray:
        """(sequences, 1): summed log-probabilities of the tokens that are predicted in each."""
        lengths = rows.ids.lengths[sequences]
        notes = [rows.metadata[number] for number in sequences]
        counts = [len(note.places) for note in notes]
        starts = np.repeat(np.cumsum(lengths) - lengths, counts)
        places = starts + np.array([at for note in notes for at in note.places], dtype=np.int64)
        targets = np.array([token for note in notes for token in note.targets], dtype=np.int64)
        each = self.log_probabilities(logits[places], targets)
        return np.bincount(np.repeat(np.arange(len(notes)), counts), each, len(notes)).astype(np.float32)[:, None]

    def log_probabilities(self, logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Logits of tokens and the tokens (tokens,) to the log-probability of each (tokens,)."""
        if self.scoring == "detection":  # (tokens, 1), high where a token was replaced
            return -np.logaddexp(0, logits[:, 0].astype(np.float64))
        parts = np.split(logits, DIRECTIONS if self.scoring == "bidirectional" else 1, axis=-1)
        return np.mean([log_probabilities(part, targets) for part in parts], axis=0)

    def values(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Value]:
        """For each text of an input: [log-likelihood, tokens, characters that were read]."""
        found: list[list[list[float]]] = [[[0.0, 0, 0] for _ in _texts(given)] for given in inputs]
        for owner, note, value in zip(rows.input_index, rows.metadata, logits[:, 0].tolist(), strict=True):
            found[owner][note.text][0] += value
            found[owner][note.text][1] += len(note.targets)
            found[owner][note.text][2] = note.end
        return found

    def answers(
        self, logits: np.ndarray, rows: EncodedInputs, inputs: Sequence[Input], labels: list[str]
    ) -> list[Prediction]:
        each = ([*zip(*value, strict=True)] for value in self.values(logits, rows, inputs, labels))
        return [Prediction(*(part[0] if len(part) == 1 else list(part) for part in parts[:2])) for parts in each]

    def same_outputs_as(self, other: AnswerType) -> bool:
        return self.model_dump() == other.model_dump()

    def same(self, first: Value, second: Value) -> bool:
        return all(abs(a - b) <= 0.01 * max(1, tokens) for (a, tokens, *_), (b, *_) in zip(first, second, strict=True))


def log_probabilities(logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(rows, vocabulary) and the token of each row to its log-probability (rows,), in float64."""
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True, initial=-np.inf)
    return shifted[np.arange(len(targets)), targets] - np.log(np.exp(shifted).sum(axis=-1))


def end_of(encoding: Encoding) -> int:
    """Characters of a text up to the last token that is not special: fewer than it has where it was truncated."""
    inside = (
        end for (_, end), special in zip(encoding.offsets, encoding.special_tokens_mask, strict=True) if not special
    )
    return max(inside, default=0)


def _texts(given: Input) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
