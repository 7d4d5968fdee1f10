"""A draw whose numbers a test gives, and tokens that noise knows."""

import numpy as np

from niwaki.tokenization.noise_tokens import NoiseTokens

SENTINELS = np.array([90, 91, 92, 93])
MASK = 80
STOP = 7  # ends a sentence
KNOWN = NoiseTokens(
    sentinels=SENTINELS,
    mask_id=MASK,
    ordinary=np.arange(50),
    ends_sentence=np.arange(100) == STOP,
    before=np.array([1]),
    after=np.array([2]),
)


class Fixed:
    """A generator that gives these values, one for each call."""

    def __init__(self, *values):
        self.values = iter(values)

    def _next(self, *_):
        return np.array(next(self.values))

    def permutation(self, of):
        """The next value names places."""
        found = self._next()
        return found if isinstance(of, int) else np.asarray(of)[found]

    random = integers = poisson = choice = _next


def draws(count, seed=0):
    """Generators, and random texts of ordinary tokens of random lengths."""
    lengths = np.random.default_rng(seed).integers(1, 200, count)
    for number, length in enumerate(lengths):
        draw = np.random.default_rng([seed, number])
        yield draw, draw.integers(0, 50, length)
