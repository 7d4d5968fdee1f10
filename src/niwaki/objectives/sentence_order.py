"""Sentence order prediction: are two consecutive segments in their order, or exchanged? Next to masked language modeling.

Both segments are from one document, so topics say nothing, as they do in next sentence prediction. The saved model is a masked
language model.

Paper: Lan et al. 2020, ALBERT (arXiv 1909.11942).
Cost: one more product per sequence.
"""

import numpy as np

from niwaki.models.forward import NO_LABEL
from niwaki.objectives._segment_pairs import SegmentPairs, Segments


class SentenceOrder(SegmentPairs):
    def arranged(self, cut: list[Segments], draw: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray, int]]:
        return in_order_or_exchanged(cut, draw)


def in_order_or_exchanged(cut: list[Segments], draw: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Segments in order (0) or exchanged (1), with equal chances. One alone has no order."""
    found = []
    for one, exchanged in zip(cut, draw.random(len(cut)) < 0.5, strict=True):
        if not len(one.second):
            found.append((one.first, one.second, NO_LABEL))
        elif exchanged:
            found.append((one.second, one.first, 1))
        else:
            found.append((one.first, one.second, 0))
    return found
