"""Sampling of the next token: temperature, top-k (Fan et al. 2018) and nucleus (top-p, Holtzman et al. 2020)."""

import numpy as np

from niwaki.answers._answer_type import softmax
from niwaki.core.settings import Settings, setting

SOME = 512  # tokens that are mostly enough for top-p


class Sampling(Settings):
    temperature: float = setting(1.0, "divides the logits; 0 takes the likeliest token", ge=0, le=100)
    top_k: int = setting(0, "sample from this many of the likeliest tokens; 0: from all", ge=0)
    top_p: float = setting(1.0, "sample from the likeliest tokens that together have this probability", gt=0, le=1)
    max_new_tokens: int = setting(50, "most tokens of a continuation", ge=1, le=1_000_000)
    seed: int = setting(0, "seed of the random numbers", ge=0)
    stop: list[str] = setting([], "texts that end a continuation; they are cut off", max_length=100)


def distribution(logits: np.ndarray, how: Sampling) -> np.ndarray:
    """(vocabulary,) to the probabilities that tokens are drawn with. Ties go to lower ids."""
    if how.temperature == 0:
        return one_hot(int(np.argmax(logits)), len(logits))
    probabilities = softmax(logits.astype(np.float64) / how.temperature)
    if not how.top_k and how.top_p == 1:
        return probabilities
    order = likeliest(logits, how.top_k) if how.top_k else enough(logits, probabilities, how.top_p)
    ranked = probabilities[order]
    if how.top_k:
        ranked /= ranked.sum()
    before = np.cumsum(ranked) - ranked  # probability of all likelier tokens
    ranked[before >= how.top_p] = 0
    found = np.zeros_like(probabilities)
    found[order] = ranked / ranked.sum()
    return found


def likeliest(logits: np.ndarray, count: int) -> np.ndarray:
    """So many tokens with the highest logits, the highest first; of equal ones, lower ids. The whole vocabulary is not sorted, which would take longer than a
    step of a small model."""
    if count >= len(logits):
        return np.argsort(-logits, kind="stable")
    least = np.partition(logits, -count)[-count]
    among = np.flatnonzero(logits >= least)
    return among[np.argsort(-logits[among], kind="stable")][:count]


def enough(logits: np.ndarray, probabilities: np.ndarray, share: float) -> np.ndarray:
    """The likeliest tokens in order, at least those that together have this probability."""
    order = likeliest(logits, SOME)
    return order if probabilities[order].sum() > share else np.argsort(-logits, kind="stable")


def one_hot(place: int, size: int) -> np.ndarray:
    found = np.zeros(size)
    found[place] = 1.0
    return found


def draw(probabilities: np.ndarray, generator: np.random.Generator) -> int:
    """A token by the inverse of the cumulative distribution; never one of probability 0."""
    cumulative = np.cumsum(probabilities)
    place = np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right")
    return int(min(place, np.flatnonzero(probabilities)[-1]))
