"""Changes a text that is then generated as it was: sequences of token ids to noisy ones.

| noise | a text becomes |
|---|---|
| mask | tokens drawn one by one become mask tokens |
| bert | the same, but one in ten of them becomes a random token |
| delete | tokens drawn one by one are left out |
| infill | spans become one mask token each; lengths follow a Poisson distribution, those of 0 tokens insert a mask token |
| permute | its sentences in random order |
| rotate | it begins at a random token, and what is before that comes last |
| shuffle | its tokens in random order |
| combined | permute, then infill |

Papers: Lewis et al. 2020 (arXiv 1910.13461), section 2.2; bert and shuffle, and mask under the name of MASS-style: Raffel et al. 2020
(arXiv 1910.10683), section 3.3.
"""

from collections.abc import Callable

import numpy as np

from niwaki.tokenization.noise_tokens import NoiseTokens
from niwaki.tokenization.span_noise import random_tokens

RANDOM = 0.1  # share of the tokens that `bert` changes that become random tokens

TextNoise = Callable[[np.ndarray, float, float, NoiseTokens, np.random.Generator], np.ndarray]


def mask(ids: np.ndarray, rate: float, mean_span: float, known: NoiseTokens, draw: np.random.Generator) -> np.ndarray:
    return np.where(random_tokens(len(ids), rate, mean_span, draw), known.mask_id, ids)


def bert(ids: np.ndarray, rate: float, mean_span: float, known: NoiseTokens, draw: np.random.Generator) -> np.ndarray:
    changed = random_tokens(len(ids), rate, mean_span, draw)
    random = draw.random(len(ids)) < RANDOM
    return np.where(changed, np.where(random, draw.choice(known.ordinary, len(ids)), known.mask_id), ids)


def delete(ids: np.ndarray, rate: float, mean_span: float, known: NoiseTokens, draw: np.random.Generator) -> np.ndarray:
    return ids[~random_tokens(len(ids), rate, mean_span, draw)]


def infill(ids: np.ndarray, rate: float, mean_span: float, known: NoiseTokens, draw: np.random.Generator) -> np.ndarray:
    """Spans do not overlap, and all places for them are equally likely."""
    lengths = span_lengths(max(1, round(len(ids) * rate)), mean_span, draw) if len(ids) else np.zeros(0, dtype=np.int64)
    parts = len(ids) - int(lengths.sum()) + len(lengths)  # other tokens, and spans
    is_span = np.zeros(parts, dtype=bool)
    is_span[draw.permutation(parts)[: len(lengths)]] = True
    sizes = np.ones(parts, dtype=np.int64)
    sizes[is_span] = lengths
    starts = np.cumsum(sizes) - sizes
    return np.where(
        is_span, known.mask_id, np.append(ids, known.mask_id)[starts]
    )  # a span of 0 may lie behind the text


def span_lengths(total: int, mean: float, draw: np.random.Generator) -> np.ndarray:
    """Poisson lengths until they add up to the total; the last one that is drawn is shortened to it. In random order."""
    lengths = np.zeros(0, dtype=np.int64)
    while lengths.sum() < total:
        lengths = np.append(lengths, draw.poisson(mean, int(total / mean) + 8))
    sums = np.cumsum(lengths)
    count = int(np.searchsorted(sums, total)) + 1
    lengths = lengths[:count]
    lengths[-1] -= sums[count - 1] - total
    return draw.permutation(lengths)


def permute(
    ids: np.ndarray, rate: float, mean_span: float, known: NoiseTokens, draw: np.random.Generator
) -> np.ndarray:
    sentences = np.split(ids, np.flatnonzero(known.ends_sentence[ids[:-1]]) + 1)
    return np.concatenate([sentences[number] for number in draw.permutation(len(sentences))])


def rotate(ids: np.ndarray, rate: float, mean_span: float, known: NoiseTokens, draw: np.random.Generator) -> np.ndarray:
    return np.roll(ids, -int(draw.integers(max(1, len(ids)))))


def shuffle(
    ids: np.ndarray, rate: float, mean_span: float, known: NoiseTokens, draw: np.random.Generator
) -> np.ndarray:
    return draw.permutation(ids)


def combined(
    ids: np.ndarray, rate: float, mean_span: float, known: NoiseTokens, draw: np.random.Generator
) -> np.ndarray:
    return infill(permute(ids, rate, mean_span, known, draw), rate, mean_span, known, draw)


TEXT_NOISES: dict[str, TextNoise] = {
    "mask": mask,
    "bert": bert,
    "delete": delete,
    "infill": infill,
    "permute": permute,
    "rotate": rotate,
    "shuffle": shuffle,
    "combined": combined,
}
