"""Writing a text token by token: the likeliest next token each time, or several hypotheses of each text side by side (a beam).

Numpy alone: engines give the next step, training and deployments search alike. What is written is (texts, 1 + longest) numbers: the
logarithm of how likely the text is, then the tokens, NOTHING behind its end. Of a network that gives NaN on the way the logarithm is NaN.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

PAD, START, END, UNKNOWN = range(4)  # special tokens of every target tokenizer that niwaki trains
NO_TOKEN = -1
IMPOSSIBLE = -1e9  # the logarithm of how likely that is which may not be


class DecodeStep(Protocol):
    """What an engine does for some texts that it has read."""

    def __call__(self, tokens: np.ndarray, parents: np.ndarray, texts: np.ndarray) -> np.ndarray:
        """Log-probabilities of the next token, (texts, hypotheses, vocabulary), from the last tokens and the hypotheses that they
        continue, each (texts, hypotheses). `texts` are the texts of the previous step that remain."""
        ...


class DecoderState:
    """What steps keep: of each text the mask and the memory of what was read, of each hypothesis the keys and values of what it wrote.
    Arrays of numpy or torch, in lists."""

    def __init__(self, mask: Any, memory: Sequence[Any], past: Sequence[Any], hypotheses: int) -> None:
        self.mask, self.memory, self.past, self.hypotheses = mask, list(memory), list(past), hypotheses
        self.place = 0  # of the token that comes next

    def index(self, numbers: np.ndarray) -> Any:
        """Numbers of rows as the arrays are indexed by them."""
        return numbers

    def reorder(self, parents: np.ndarray, texts: np.ndarray) -> None:
        """Leaves the texts that go on, and of each hypothesis what its parent wrote."""
        if len(texts) < len(self.mask):
            chosen = self.index(texts)
            self.mask, self.memory = self.mask[chosen], [part[chosen] for part in self.memory]
        rows = (texts[:, None] * self.hypotheses + parents).ravel()
        if self.place and not np.array_equal(rows, np.arange(len(self.past[0]))):
            chosen = self.index(rows)
            self.past = [part[chosen] for part in self.past]


class Grammar(Protocol):
    """Which texts are well-formed."""

    def start(self) -> Any: ...

    def allowed(self, state: Any, room: int | None = None) -> np.ndarray:
        """(vocabulary,) of which may come next; END where the text may end. With `room`, those alone from which the end is reached
        within so many tokens, these included, where there are such."""
        ...

    def after(self, state: Any, token: int) -> Any: ...


@dataclass(frozen=True)
class SearchSettings:
    """How texts are searched for. `length_penalty` is the power of the length that the logarithm is divided by before texts are compared:
    0 favours short ones, 1 compares the mean. A text is given up when the best hypothesis, as long as it is, is worth no more than the
    worst of the `beam` best that ended (what transformers does by default)."""

    beam: int = 1
    length_penalty: float = 1.0
    max_new_tokens: int = 128
    grammar: Grammar | None = None
    start: int = START  # what a text begins with
    end: int = END  # what it ends with
    suppress_tokens: tuple[int, ...] = (PAD, START, UNKNOWN)  # never generated
    renormalize: bool = False  # probabilities are those among the other tokens
    first: int | None = None  # token that is always generated first, e.g. that of a language
    candidates: int = 1  # how many of the hypotheses that ended are returned for each text, at most `beam`

    @property
    def greedy(self) -> "SearchSettings":
        """The most probable token at each step, without a grammar: for validation during training."""
        return replace(self, beam=1, candidates=1, grammar=None)

    def normalized_score(self, scores: Any, length: int) -> Any:
        return scores / length**self.length_penalty


@dataclass
class Hypotheses:
    """Of the texts that are still written: `tokens` (texts, beam, so far), `scores` (texts, beam)."""

    numbers: np.ndarray  # (texts,) which of all texts they are
    tokens: np.ndarray
    scores: np.ndarray
    states: list[list[Any]] = field(default_factory=list)  # the grammar's, by text and hypothesis


def beam_search(step: DecodeStep, texts: int, how: SearchSettings) -> np.ndarray:
    """The best text found for each, or several next to each other, the best first."""
    found = np.full((texts, how.candidates, 1 + how.max_new_tokens), NO_TOKEN, dtype=np.float32)
    found[:, :, 0] = IMPOSSIBLE
    kept = np.full((texts, how.candidates), -np.inf)  # what those in `found` are worth
    best = np.full((texts, how.beam), -np.inf)  # what those that ended are worth, the best of each text
    scores = np.full((texts, how.beam), IMPOSSIBLE, dtype=np.float32)
    scores[:, 0] = 0.0  # all hypotheses begin alike: only one may be continued
    states = [[how.grammar.start()] * how.beam for _ in range(texts)] if how.grammar else []
    going = Hypotheses(np.arange(texts), np.full((texts, how.beam, 1), how.start), scores, states)
    parents = np.tile(np.arange(how.beam), (texts, 1))
    remaining = np.arange(texts)
    astray = np.zeros(texts, dtype=bool)
    for length in range(1, how.max_new_tokens + 1):
        ahead = step(going.tokens[:, :, -1], parents, remaining)  # (texts, beam, vocabulary)
        astray[going.numbers] |= np.isnan(ahead[:, :, how.end]).any(axis=1)  # of logarithms all are NaN or none
        totals = _permitted(ahead, going, how, how.max_new_tokens - length)
        totals += going.scores[:, :, None]
        choices, values = _best(totals, 2 * how.beam)
        parents, next_tokens = np.divmod(choices, totals.shape[2])
        ends = (next_tokens == how.end) | (length == how.max_new_tokens)
        ends[:, how.beam :] = False
        _note(found, kept, best, going, (parents, next_tokens, values, ends), how, length)
        values = np.where(next_tokens == how.end, -np.inf, values)
        order = np.argsort(-values, axis=1, kind="stable")[:, : how.beam]
        parents, next_tokens, values = (
            np.take_along_axis(part, order, axis=1) for part in (parents, next_tokens, values)
        )
        hopeful = how.normalized_score(values[:, 0], length) > best[going.numbers].min(axis=1)
        remaining = np.flatnonzero(hopeful & (values[:, 0] > IMPOSSIBLE / 2))
        if not len(remaining) or length == how.max_new_tokens:
            break
        going, parents = _further(going, parents, next_tokens, values, remaining, how), parents[remaining]
    order = np.argsort(-kept, axis=1, kind="stable")
    found = np.take_along_axis(found, order[:, :, None], axis=1)
    found[astray, :, 0] = np.nan
    return found.reshape(texts, -1)


def _permitted(ahead: np.ndarray, going: Hypotheses, how: SearchSettings, left: int) -> np.ndarray:
    """The logarithms, changed in place, with what may not be written as good as impossible: marks, what the grammar forbids, and
    what leads where a text cannot end with the tokens that are `left`."""
    suppressed = list(how.suppress_tokens)
    if how.renormalize and suppressed:
        rest = 1.0 - np.exp(ahead[:, :, suppressed].astype(np.float64)).sum(axis=2, keepdims=True)
        ahead -= np.log(np.maximum(rest, np.finfo(np.float32).tiny)).astype(ahead.dtype)
    ahead[:, :, suppressed] = IMPOSSIBLE
    if how.first is not None and going.tokens.shape[2] == 1:
        ahead[:] = IMPOSSIBLE
        ahead[:, :, how.first] = 0.0
    if how.grammar is None:
        return ahead
    for row, states in zip(ahead, going.states, strict=True):
        for scores, state in zip(row, states, strict=True):
            if state is not None:
                scores[~how.grammar.allowed(state, left + 1)] = IMPOSSIBLE
    return ahead


def _best(totals: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(texts, beam, vocabulary) to the places of the best of each text and their values, the best first."""
    flat = totals.reshape(len(totals), -1)
    if count == 2 and totals.shape[1] == 1:  # greedy: the second is never used
        places = flat.argmax(axis=1)[:, None]
        places = np.concatenate([places, places], axis=1)
        values = np.take_along_axis(flat, places, axis=1)
        values[:, 1] = -np.inf
        return places, values
    places = _likely(flat, count)
    values = np.take_along_axis(flat, places, axis=1)
    order = np.lexsort((places, -values), axis=1)[:, :count]  # ties go to the first
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(values, order, axis=1)


STRETCH = 64  # tokens that are compared together


def _likely(flat: np.ndarray, count: int) -> np.ndarray:
    """(texts, all) to places (texts, some) among which the `count` best of each text are: they lie in the `count` stretches with the
    highest values, and to find those is one quick pass."""
    texts, every = flat.shape
    stretches = every // STRETCH
    if stretches <= count:
        return np.broadcast_to(np.arange(every), flat.shape)
    highest = flat[:, : stretches * STRETCH].reshape(texts, stretches, STRETCH).max(axis=2)
    chosen = np.argpartition(-highest, count - 1, axis=1)[:, :count]
    places = (chosen[:, :, None] * STRETCH + np.arange(STRETCH)).reshape(texts, -1)
    rest = np.broadcast_to(np.arange(stretches * STRETCH, every), (texts, every - stretches * STRETCH))
    return np.concatenate([places, rest], axis=1)


def _note(
    found: np.ndarray,
    kept: np.ndarray,
    best: np.ndarray,
    going: Hypotheses,
    chosen: Sequence[np.ndarray],
    how: SearchSettings,
    length: int,
) -> None:
    """Writes down the texts that end here where they are better than those before."""
    parents, next_tokens, values, ends = chosen
    for text, place in zip(*np.nonzero(ends & (values > IMPOSSIBLE / 2)), strict=True):
        number, value = going.numbers[text], float(values[text, place])
        normalized_score = how.normalized_score(value, length)
        worst = best[number].argmin()
        best[number, worst] = max(normalized_score, best[number, worst])
        least = kept[number].argmin()
        if normalized_score <= kept[number, least]:
            continue
        kept[number, least] = normalized_score
        tokens = going.tokens[text, parents[text, place], 1:]
        last = [] if next_tokens[text, place] == how.end else [next_tokens[text, place]]
        found[number, least] = NO_TOKEN
        found[number, least, 0] = value
        found[number, least, 1 : 1 + len(tokens) + len(last)] = [*tokens, *last]


def _further(
    going: Hypotheses,
    parents: np.ndarray,
    next_tokens: np.ndarray,
    values: np.ndarray,
    remaining: np.ndarray,
    how: SearchSettings,
) -> Hypotheses:
    """The hypotheses of the texts that go on, with their new tokens."""
    parents, next_tokens, values = parents[remaining], next_tokens[remaining], values[remaining]
    before = np.take_along_axis(going.tokens[remaining], parents[:, :, None], axis=1)
    states = []
    if how.grammar is not None:
        for text, row, tokens, scores in zip(remaining, parents, next_tokens, values, strict=True):
            olds = [going.states[text][parent] for parent in row]
            states.append(
                [
                    how.grammar.after(old, int(token)) if old is not None and score > IMPOSSIBLE / 2 else None
                    for old, token, score in zip(olds, tokens, scores, strict=True)
                ]
            )
    return Hypotheses(
        going.numbers[remaining], np.concatenate([before, next_tokens[:, :, None]], axis=2), values, states
    )
