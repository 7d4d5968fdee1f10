"""Sparse features of a word as start or end of the answer to a question: the question word with the shape of the word, and the
overlap of the question with the words around it."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from niwaki.answers._answer_type import EncodedInputs, Input
from niwaki.answers.span import Window
from niwaki.answers.tags import WORD
from niwaki.data.ragged import Ragged
from niwaki.evaluate.baselines._linear import Matrix
from niwaki.evaluate.baselines._word_features import HASHED, shape

QUESTION_WORDS = ("who", "whom", "whose", "when", "where", "what", "which", "why", "how")
ENDS = (".", "!", "?")
NEAR = (3, 10)  # words to each side
Feature = tuple[str, float]


class QuestionFeatures:
    """Positions are words. A shared word weighs less the more texts contain it."""

    def __init__(self, texts: Collection[str]) -> None:
        self.texts = max(1, len(texts))
        self.counts = Counter(word for text in texts for word in {word.lower() for word in WORD.findall(text)})

    def weight(self, word: str) -> float:
        return math.log((1 + self.texts) / (1 + self.counts[word]))

    def rows(self, inputs: Sequence[Input]) -> EncodedInputs:
        windows = [Window(1, word_offsets(text)) for _, text in inputs]
        places = Ragged.of([0] * (1 + len(window.offsets)) for window in windows)
        return EncodedInputs({"input_ids": places}, np.arange(len(inputs)), list(windows))

    def transform(self, inputs: Sequence[Input], rows: EncodedInputs, chosen: np.ndarray) -> Matrix:
        from sklearn.feature_extraction import FeatureHasher

        cuts = np.searchsorted(chosen, rows.ids.starts)
        hints = (
            hint
            for number, (question, text) in enumerate(inputs)
            for hint in self._hints(question, text, chosen[cuts[number] : cuts[number + 1]] - rows.ids.starts[number])
        )
        return FeatureHasher(HASHED, input_type="pair", alternate_sign=False).transform(hints)

    def _hints(self, question: str, text: str, places: np.ndarray) -> Iterator[list[Feature]]:
        question_words = [word.lower() for word in WORD.findall(question)]
        at = next((number for number, word in enumerate(question_words) if word in QUESTION_WORDS), 0)
        kinds = ["".join(question_words[at : at + 1]), " ".join(question_words[at : at + 2])]  # how; how many
        words = WORD.findall(text)
        weights = {word: self.weight(word) for word in question_words if word not in QUESTION_WORDS}
        shares = OverlapFeatures([word.lower() for word in words], weights)
        word_features = ShapeFeatures(words, weights)
        for place in places.tolist():
            if place == 0:
                yield [("none", 1.0), ("none best", shares.best)]
            else:
                yield word_features.transform(place - 1, kinds) + shares.transform(place - 1)


class ShapeFeatures:
    def __init__(self, words: Sequence[str], question_words: dict[str, float]) -> None:
        self.words = ["", *(word.lower() for word in words), ""]
        self.shapes = [shape(word) for word in ["", *words, ""]]
        self.question_words = [word in question_words for word in self.words]

    def transform(self, number: int, kinds: Sequence[str]) -> list[Feature]:
        before, here, after = number, number + 1, number + 2
        words, shapes = self.words, self.shapes
        names = [f"{step} {words[at]}" for step, at in ((-1, before), (0, here), (1, after))]
        names += [f"shape{step} {shapes[at]}" for step, at in ((-1, before), (0, here), (1, after))]
        names += [f"question{step} {self.question_words[at]}" for step, at in ((-1, before), (0, here), (1, after))]
        for kind in kinds:
            names += [f"{kind}: {shapes[here]}", f"{kind}: {shapes[before]} {shapes[here]}"]
            names += [f"{kind}: {shapes[here]} {shapes[after]}", f"{kind}< {words[before]}", f"{kind}> {words[after]}"]
        return [(name, 1.0) for name in names]


class OverlapFeatures:
    """The share of the question's weight near a word, and in its sentence."""

    def __init__(self, words: Sequence[str], weights: dict[str, float]) -> None:
        hits = np.array([weights.get(word, 0.0) for word in words]) / max(sum(weights.values()), 1e-9)
        self.sums = np.concatenate([[0.0], np.cumsum(hits)])
        ends = np.array([word in ENDS for word in words], dtype=int)
        self.sentences = np.concatenate([[0], np.cumsum(ends)])[:-1]
        self.of_sentence = np.bincount(self.sentences, weights=hits, minlength=1)
        self.best = float(self.of_sentence.max())

    def transform(self, number: int) -> list[Feature]:
        here = float(self.of_sentence[self.sentences[number]])
        found = [("sentence", here), ("lead", here - self.best), ("best", float(here == self.best))]
        for near in NEAR:
            low, high = max(0, number - near), min(len(self.sums) - 1, number + 1 + near)
            found.append((f"left {near}", float(self.sums[number] - self.sums[low])))
            found.append((f"right {near}", float(self.sums[high] - self.sums[number + 1])))
        return found


def word_offsets(text: str) -> np.ndarray:
    """(words, 2): the characters of each word."""
    return np.array([word.span() for word in WORD.finditer(text)], dtype=np.int32).reshape(-1, 2)
