"""A problem: a generator of questions with answers, and a verifier of candidates.

Answers, and questions but images, are tokens with spaces between. Verifiers parse them with small grammars of their own; text is never run as code.
"""

import hashlib
import random
from collections.abc import Iterator, Mapping
from functools import lru_cache

from niwaki.core.seeds import derive
from niwaki.data.image_bytes import EncodedImage

MAX_TOKENS = 300  # of a candidate that is looked at: parsing and checking it then takes milliseconds
PARTS = (("test", 0.02), ("validation", 0.02))  # shares of the questions; all others are for training
Question = str | EncodedImage


class Problem:
    """Base of the files in `problems/`."""

    def draw(self, random_numbers: random.Random) -> tuple[Question, str] | None:
        """A question and a right answer; None where what was drawn is no good problem."""
        raise NotImplementedError

    def tokens(self, question: Question) -> list[str]:
        """The question as `check` takes it. Raises ValueError for what is malformed."""
        if not isinstance(question, str):
            raise ValueError("not a text")
        return question.split()

    def check(self, question: list[str], candidate: list[str]) -> bool:
        """Whether the candidate solves the question. Raises ValueError for what is malformed."""
        raise NotImplementedError

    def pair(self, seed: int, index: int) -> tuple[Question, str]:
        """The same for the same seed and index, whatever was generated before."""
        attempt = 0
        while True:
            found = self.draw(random.Random(derive(seed, type(self).__name__, index, attempt)))
            if found is not None:
                return found
            attempt += 1

    def verify(self, question: Question, candidate: str) -> bool:
        given = candidate.split()
        if not 0 < len(given) <= MAX_TOKENS:
            return False
        try:
            query = self.tokens(question)
            return len(query) <= MAX_TOKENS and self.check(query, given)
        except (ValueError, ArithmeticError, RecursionError):
            return False


def text_of(question: Question) -> str:
    """The question itself, or the digest of an image."""
    return question if isinstance(question, str) else hashlib.sha256(question.data).hexdigest()


def part_of(question: Question) -> str:
    """The hash of a question decides its part, so that no question is in two parts."""
    place, start = derive(0, "part", text_of(question)) / 2**63, 0.0
    for part, share in PARTS:
        start += share
        if place < start:
            return part
    return "train"


def pairs(problem: Problem, seed: int, counts: Mapping[str, int]) -> Iterator[tuple[str, Question, str]]:
    """Part, question and answer of the first pairs of each part, `counts` of them, in the order of their indices."""
    left, index = dict(counts), 0
    while any(left.values()):
        question, answer = problem.pair(seed, index)
        index, part = index + 1, part_of(question)
        if left.get(part, 0):
            left[part] -= 1
            yield part, question, answer


@lru_cache
def problem_of(name: str) -> Problem:
    from niwaki.data.problems import PROBLEMS

    return PROBLEMS.load(name, Problem)()
