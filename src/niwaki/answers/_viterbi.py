"""The best valid sequence of tags for the words of a sentence: I-X follows B-X or I-X, nothing else does.

Every tag but those may follow any, so a step of Viterbi's search needs no table of pairs: an I-X comes from the better of its
two, all others from the best there is. Where the best tag of each word is valid as it stands, nothing can be better, and
nothing is searched.
"""

from collections.abc import Sequence

import numpy as np


class TagDecoder:
    """Search over one set of tags."""

    def __init__(self, labels: Sequence[str]) -> None:
        number = {label: place for place, label in enumerate(labels)}
        self.inside = np.array([place for label, place in number.items() if label.startswith("I-")], dtype=np.int64)
        # of each I-X its B-X; one that has none can only be reached from itself, and so never
        self.begins = np.array([number.get(f"B-{labels[place][2:]}", place) for place in self.inside], dtype=np.int64)
        self._begin_of = np.full(len(labels), -1)  # -1 where a tag may follow any
        self._begin_of[self.inside] = self.begins

    def best(self, scores: np.ndarray) -> np.ndarray:
        """(words,) numbers of tags, from (words, tags); -inf excludes a tag. One tag that may follow any is not excluded."""
        plain = scores.argmax(axis=1)
        return plain if self.valid(plain) else self._searched(scores)

    def valid(self, tags: np.ndarray) -> bool:
        begins = self._begin_of[tags]
        before = np.concatenate([[-1], tags[:-1]])
        return (
            bool(((begins < 0) | (before == begins) | (before == tags)).all()) and not begins[:1].max(initial=-1) >= 0
        )

    def _searched(self, scores: np.ndarray) -> np.ndarray:
        words, tags = scores.shape
        came_from = np.zeros((words, tags), dtype=np.int64)
        total = scores[0].astype(np.float64)
        total[self.inside] = -np.inf
        for word in range(1, words):
            best = int(total.argmax())
            reached, came_from[word] = np.full(tags, total[best]), best
            going_on = total[self.inside] >= total[self.begins]
            came_from[word, self.inside] = np.where(going_on, self.inside, self.begins)
            reached[self.inside] = np.where(going_on, total[self.inside], total[self.begins])
            total = reached + scores[word]
        path = [int(total.argmax())]
        for word in range(words - 1, 0, -1):
            path.append(int(came_from[word, path[-1]]))
        return np.array(path[::-1])
