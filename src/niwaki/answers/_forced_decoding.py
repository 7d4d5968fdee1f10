"""Scores given texts instead of searching for likely ones, with the decoding steps of an engine."""

from collections.abc import Mapping

import numpy as np

from niwaki.answers._beam_search import NO_TOKEN, DecodeStep, SearchSettings, beam_search

LABELS = "labels"  # name of the array with the tokens to be scored, as transformers calls it


def hypotheses_of(arrays: Mapping[str, np.ndarray], how: SearchSettings) -> int:
    """How many hypotheses of each text are followed: a given text is the only one."""
    return 1 if LABELS in arrays else how.beam


def generate_or_score(step: DecodeStep, arrays: Mapping[str, np.ndarray], how: SearchSettings) -> np.ndarray:
    """What is found for each text, or, where `labels` give the tokens, how likely they are."""
    if LABELS in arrays:
        return log_likelihoods(step, arrays[LABELS], how.start)
    return beam_search(step, len(next(iter(arrays.values()))), how)


def log_likelihoods(step: DecodeStep, targets: np.ndarray, start: int) -> np.ndarray:
    """Tokens (texts, tokens), NO_TOKEN behind their ends, to the logarithm of how likely each text is, (texts, 1)."""
    every, first = np.arange(len(targets)), np.zeros((len(targets), 1), dtype=np.int64)
    total, last = np.zeros(len(targets)), first + start
    for wanted in targets.T:
        ahead = step(last, first, every)  # (texts, 1, vocabulary)
        real = wanted != NO_TOKEN
        total[real] += ahead[real, 0, wanted[real]]
        last = np.where(real, wanted, start)[:, None]
    return total.astype(np.float32)[:, None]
