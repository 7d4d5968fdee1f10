"""Scores of short answers by the rules of SQuAD 1.1 and 2.0.

Answers are compared after normalising, the best of several gold answers counts. A question without gold answers is
unanswerable, and "" is the answer that says so. The rules are those of 2.0. They differ from 1.1 only for texts of which
normalising leaves nothing (`the`, `?`): 2.0 passes over such a gold answer and lets nothing overlap with nothing.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

PUNCTUATION = str.maketrans("", "", string.punctuation)  # of ASCII only: the rules leave “ ” – and their like standing
ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalised(text: str) -> str:
    """Lower case, then no punctuation (`a-b` is one word `ab`), then no English articles, then single spaces."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def exact(prediction: str, golds: Sequence[str]) -> float:
    """1 where the prediction is one of the gold answers."""
    return float(normalised(prediction) in comparable(golds))


def overlap(prediction: str, golds: Sequence[str]) -> float:
    """F1 over bags of words with the gold answer that it is nearest to."""
    predicted = normalised(prediction).split()
    return max(f1_of_bags(predicted, gold.split()) for gold in comparable(golds))


def comparable(golds: Sequence[str]) -> list[str]:
    """Gold answers normalised; those of which nothing is left do not count, and where none counts the answer is ""."""
    return [gold for gold in map(normalised, golds) if gold] or [""]


def f1_of_bags(predicted: Sequence[str], true: Sequence[str]) -> float:
    if not predicted or not true:
        return float(not predicted and not true)
    return 2 * (Counter(predicted) & Counter(true)).total() / (len(predicted) + len(true))


def best_threshold(
    scores_if_answer: np.ndarray, scores_if_none: np.ndarray, no_answer_score: np.ndarray
) -> tuple[float, float]:
    """The threshold with the highest mean score, and that score, where a question is answered if its no-answer score is
    at most the threshold. Among equals the lowest.

    The threshold is the no-answer score of the last question that is answered, or just below all of them. As in the
    official search, but for two things: that one steps through questions of equal no-answer score, which no threshold
    can tell apart, and it takes 0.0 for answering nothing, which holds for probabilities only.
    """
    if len(no_answer_score) == 0:
        return 0.0, 0.0
    order = np.argsort(no_answer_score, kind="stable")
    ascending = no_answer_score[order]
    gains = np.append(0.0, np.cumsum((scores_if_answer - scores_if_none)[order], dtype=np.float64))  # (answered + 1,)
    apart = np.concatenate([[True], ascending[1:] != ascending[:-1], [True]])  # where a threshold fits, alike
    answered = int(np.argmax(np.where(apart, gains, -np.inf)))
    # the step below stays in the array's own precision: a finer one would round back up when it is compared
    threshold = ascending[answered - 1] if answered else np.nextafter(ascending[0], -np.inf)
    score = np.where(no_answer_score <= threshold, scores_if_answer, scores_if_none).mean(dtype=np.float64)
    return float(threshold), float(score)
