"""Next sentence prediction: does the second segment follow the first in the text? Next to masked language modeling.

Half of the second segments come from another document of the batch. The saved model is a masked language model.

Paper: Devlin et al. 2019, BERT (arXiv 1810.04805). Liu et al. 2019 (RoBERTa, arXiv 1907.11692) found it of no use for most tasks.
Cost: one more product per sequence.
"""

import numpy as np

from niwaki.objectives._objective import ComparesRows
from niwaki.objectives._segment_pairs import SegmentPairs, Segments


class NextSentence(ComparesRows, SegmentPairs):
    def arranged(self, cut: list[Segments], draw: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray, int]]:
        return next_or_other(cut, draw)


def next_or_other(cut: list[Segments], draw: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Each first segment with the one that follows it (0) or one of another document (1), with equal chances. One that is followed
    by nothing gets another; without other documents nothing is exchanged."""
    documents = np.array([one.document for one in cut])
    found = []
    for one in cut:
        exchanged = draw.random() < 0.5 or not len(one.second)
        others = np.flatnonzero(documents != one.document)
        if exchanged and len(others):
            other = cut[draw.choice(others)]
            found.append((one.first, other.second if len(other.second) else other.first, 1))
        else:
            found.append((one.first, one.second, 0))
    return found
