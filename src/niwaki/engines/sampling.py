"""Continuations of prompts by a causal language model, token by token.

The native engine remembers keys and values of what it has read, also of beginnings that several prompts share. Other engines read the whole text
again at each step, so the time grows with the square of the length. Special tokens are not sampled, apart from the one that ends a text. Every prompt has its own random numbers, so its continuation does not
depend on the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from tokenizers import Tokenizer

from niwaki.answers._answer_type import Answer, EncodedInputs, EncodedInputsBuilder
from niwaki.answers._sampling import Sampling, distribution, draw
from niwaki.answers.likelihood import Likelihood, Reading, log_probabilities
from niwaki.core.errors import InputError, UsageError
from niwaki.core.seeds import numpy_generator
from niwaki.engines.runtime import TextReader
from niwaki.engines.scheduler import Scheduler
from niwaki.tokenization.tokenizing import encode
from niwaki.tokenization.windows import special_tokens

UNFINISHED_CHARACTER = "\ufffd"  # a character whose bytes are not all there yet


@dataclass(frozen=True)
class Sampled(Answer):
    text: str  # prompt and continuation
    continuation: str
    tokens: int  # of the continuation
    log_likelihood: float  # of the continuation under the model, without temperature and cuts
    finished: str  # end: the end token; stop: a stop text; length: the limit

    def __str__(self) -> str:
        return self.text


@dataclass
class Growing:
    """A text while it grows."""

    ids: list[int]
    prompt: int  # number of its first tokens
    prompt_text: str
    generator: np.random.Generator
    text: str = ""
    log_likelihood: float = 0.0
    finished: str = ""

    def result(self) -> Sampled:
        continuation = self.text[len(self.prompt_text) :]
        return Sampled(self.text, continuation, len(self.ids) - self.prompt, self.log_likelihood, self.finished)


@dataclass
class Sampler:
    tokenizer: Tokenizer
    scheduler: Scheduler  # whose `reduce` is `last_tokens`
    max_tokens: int
    how: Sampling
    start: list[int] = field(init=False)
    end: int | None = field(init=False)
    suppressed: list[int] = field(init=False)

    def __post_init__(self) -> None:
        before, after = special_tokens(self.tokenizer)
        self.start, self.end = before.tolist(), int(after[0]) if len(after) else None
        added = self.tokenizer.get_added_tokens_decoder()
        size = self.scheduler.labels or 0
        self.suppressed = [one for one, token in added.items() if token.special and one != self.end and one < size]

    def steps(self, prompts: Sequence[str]) -> Iterator[list[Growing]]:
        """All texts after each step; the last time when all are finished."""
        texts = [self._start(number, prompt) for number, prompt in enumerate(prompts)]
        reader = self.scheduler.runtime.text_reader()
        while active := [text for text in texts if not text.finished]:
            for text, logits in zip(active, self._next_logits(active, reader), strict=True):
                self._grow(text, logits)
            yield texts

    def _start(self, number: int, prompt: str) -> Growing:
        if not isinstance(prompt, str):
            raise UsageError(f"sample: prompts.{number} must be a string (given: {type(prompt).__name__})")
        ids = [*self.start, *encode(self.tokenizer, prompt, add_special_tokens=False).ids] if prompt else self.start
        if not ids:
            raise InputError(f"sample: prompts.{number} has no tokens, and the model has no token that begins a text")
        if len(ids) >= self.max_tokens:
            raise InputError(
                f"sample: prompts.{number} has {len(ids)} tokens, and the model reads {self.max_tokens}; shorten it"
            )
        shown = self._decode(ids)
        return Growing(list(ids), len(ids), shown, numpy_generator(self.how.seed, "sample", number), shown)

    def _next_logits(self, texts: list[Growing], reader: TextReader | None) -> np.ndarray:
        if reader is not None:
            return self.scheduler.checked(reader.next_logits([text.ids for text in texts]))
        builder = EncodedInputsBuilder()
        builder.add([Reading(text.ids, [0] * len(text.ids)) for text in texts])
        return self.scheduler.logits(builder.done())

    def _grow(self, text: Growing, logits: np.ndarray) -> None:
        allowed = logits.astype(np.float64)
        allowed[self.suppressed] = -np.inf
        token = draw(distribution(allowed, self.how), text.generator)
        text.log_likelihood += float(log_probabilities(logits[None], np.array([token]))[0])
        text.ids.append(token)
        text.text = self._decode(text.ids)
        if token == self.end:
            text.finished = "end"
        elif cut := self._stop(text):
            text.text, text.finished = text.text[:cut], "stop"
        elif len(text.ids) - text.prompt >= self.how.max_new_tokens or len(text.ids) >= self.max_tokens:
            text.finished = "length"

    def _stop(self, text: Growing) -> int:
        """Where a stop text begins in the continuation; 0 if there is none."""
        found = [text.text.find(stop, len(text.prompt_text)) for stop in self.how.stop if stop]
        return min((place for place in found if place > 0), default=0)

    def _decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids, skip_special_tokens=True)


def sampler(
    likelihood: Likelihood, tokenizer: Tokenizer, scheduler: Scheduler, max_tokens: int, how: Sampling
) -> Sampler:
    """For a causal model; `tokenizer` and `scheduler` are those that score texts."""
    if likelihood.scoring != "causal":
        raise InputError(
            "sample: the model predicts masked tokens and does not continue texts; use `niwaki fill`, or train with causal_lm"
        )
    steps = Scheduler(scheduler.runtime, scheduler.pad_id, scheduler.labels, per_token=True, reduce=last_tokens)
    return Sampler(tokenizer, steps, max_tokens, how)


def last_tokens(logits: np.ndarray, rows: EncodedInputs, sequences: np.ndarray) -> np.ndarray:
    """(tokens of all sequences, vocabulary) to the logits of the last token of each."""
    return logits[np.cumsum(rows.ids.lengths[sequences]) - 1]


def streamed(steps: Iterator[list[Growing]], stop: Sequence[str]) -> Iterator[str]:
    """The continuation of the first text in parts, as soon as they cannot change any more."""
    hold, shown, text = max((len(one) for one in stop), default=1) - 1, -1, None
    for text, *_ in steps:
        shown = len(text.prompt_text) if shown < 0 else shown
        ready = len(text.text) if text.finished else len(text.text) - hold
        if ready > shown and (text.finished or not text.text.endswith(UNFINISHED_CHARACTER)):
            yield text.text[shown:ready]
            shown = ready
