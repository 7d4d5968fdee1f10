"""Hides parts of a text, which alone are generated: sequences of token ids to what is read and what is generated.

| noise | hidden | read | generated |
|---|---|---|---|
| spans | random spans, `mean_span` tokens on average | a sentinel for each span | each sentinel with its span, and one more sentinel |
| tokens | tokens drawn one by one; neighbours form a span | the same | the same |
| drop | tokens drawn one by one | the other tokens | the hidden tokens |

Paper: Raffel et al. 2020 (arXiv 1910.10683), section 3.3.
"""

from collections.abc import Callable

import numpy as np

Spans = Callable[[int, float, float, np.random.Generator], np.ndarray]


def random_spans(length: int, rate: float, mean_span: float, draw: np.random.Generator) -> np.ndarray:
    """A mask (length,) of about `rate` of the tokens. Spans and the stretches between them have random lengths of at least one token.
    The reference code begins with a stretch and ends with a span, so a text with one span always loses its end; here either may
    come first and last."""
    if length < 2:
        return np.ones(length, dtype=bool)
    hidden = min(max(round(length * rate), 1), length - 1)
    spans = min(max(round(hidden / mean_span), 1), hidden, length - hidden)
    lengths = np.zeros(2 * spans + 1, dtype=np.int64)
    lengths[::2] = random_parts(length - hidden + 2, spans + 1, draw)
    lengths[[0, -1]] -= 1  # these two may be empty
    lengths[1::2] = random_parts(hidden, spans, draw)
    return np.repeat(np.arange(2 * spans + 1) % 2 == 1, lengths)


def random_parts(total: int, parts: int, draw: np.random.Generator) -> np.ndarray:
    """Lengths (parts,) of at least 1 that add up to the total, each division equally likely."""
    cuts = np.sort(draw.permutation(total - 1)[: parts - 1]) + 1
    return np.diff(cuts, prepend=0, append=total)


def random_tokens(length: int, rate: float, mean_span: float, draw: np.random.Generator) -> np.ndarray:
    """A mask (length,) of tokens that are drawn one by one; of at least one."""
    hidden = draw.random(length) < rate
    if length and not hidden.any():
        hidden[draw.integers(length)] = True
    return hidden


def with_sentinels(ids: np.ndarray, hidden: np.ndarray, sentinels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each span read as a sentinel; generated are the sentinels with their spans, and one more. Spans for which no sentinel is left are
    not hidden."""
    first = hidden & ~np.concatenate([[False], hidden[:-1]])
    span = np.cumsum(first) - 1  # number of the span that each token belongs to or follows
    hidden = hidden & (span < len(sentinels) - 1)
    first = first & hidden
    read = np.where(first, sentinels[np.clip(span, 0, len(sentinels) - 1)], ids)[first | ~hidden]
    starts = np.flatnonzero(first[hidden])
    generated = np.insert(ids[hidden], starts, sentinels[: len(starts)])
    return read, np.append(generated, sentinels[len(starts)])


def without_hidden(ids: np.ndarray, hidden: np.ndarray, sentinels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return ids[~hidden], ids[hidden]


Divide = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
SPAN_NOISES: dict[str, tuple[Spans, Divide]] = {
    "spans": (random_spans, with_sentinels),
    "tokens": (random_tokens, with_sentinels),
    "drop": (random_tokens, without_hidden),
}
