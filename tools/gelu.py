"""The numbers of gelu in engines/native/c/numbers.h: `python tools/gelu.py` fits them anew and says how far they are off.

The share of a normal distribution below x is 1/2 + x P(s), s = 2 (x / REACH)² - 1, with a polynomial P whose largest error, weighted
by |x|, is as small as it gets (least squares whose weights grow where the error is largest). Beyond REACH the share at REACH is taken.
Around the middle of the stretch, and not around 0, because there the numbers are small: fp32 loses nothing to their differences.
"""

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import ndtr

REACH, DEGREE, ROUNDS, POINTS = 5.0, 12, 60, 4000


def fitted() -> np.ndarray:
    """The numbers of P, that of s⁰ first."""
    s = -np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    x = REACH * np.sqrt((s + 1) / 2)
    wanted, powers, weights = (ndtr(x) - 0.5) / x, chebyshev.chebvander(s, DEGREE), x.copy()
    for _ in range(ROUNDS):
        found = np.linalg.lstsq(powers * weights[:, None], wanted * weights, rcond=None)[0]
        errors = np.abs(powers @ found - wanted) * x
        weights *= (0.3 + errors / errors.max()) ** 0.25
        weights /= weights.max()
    return chebyshev.cheb2poly(found)


def share(x: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """As the engine reckons: each step is rounded to fp32 once."""
    x = np.clip(x.astype(np.float32), -REACH, REACH)
    s = ((x * x).astype(np.float64) * np.float32(2 / REACH**2) - 1).astype(np.float32)
    total = np.zeros_like(x)
    for number in numbers[::-1].astype(np.float32):
        total = (total.astype(np.float64) * s + number).astype(np.float32)
    return (x.astype(np.float64) * total + 0.5).astype(np.float32)


if __name__ == "__main__":
    numbers, x = fitted(), np.linspace(-12, 12, 1_000_001)
    print(", ".join(f"{number:.9g}f" for number in numbers[::-1]))
    print(
        f"largest error of the share: {np.abs(share(x, numbers) - ndtr(x.astype(np.float32).astype(np.float64))).max():.1e}"
    )
