"""Sentences that satisfy constraints: how many words, which words how often, and what the last word is. Counted exactly.

Many sentences are right; the generator gives one of them. Verbs agree with their nouns, so that what is learned is a language.
"""

import random
from collections import Counter

from niwaki.data.problems._problem import Problem

NOUNS = ("cat", "dog", "bird", "child", "farmer", "river", "tree", "house", "wind", "song")
VERBS = ("sees", "hears", "follows", "finds", "leaves", "paints", "knows", "visits")
ADJECTIVES = ("old", "small", "green", "quiet", "bright", "cold", "slow", "wild")
ADVERBS = ("today", "slowly", "again", "often", "here")
WORDS = {*NOUNS, *VERBS, *ADJECTIVES, *ADVERBS, "the", "and"}
MOST = 3  # words that are named


class ConstrainedText(Problem):
    def draw(self, random_numbers: random.Random) -> tuple[str, str] | None:
        words = sentence(random_numbers)
        counts = Counter(word for word in words if word != "the")
        named = random_numbers.sample(sorted(counts), min(len(counts), random_numbers.randint(1, MOST)))
        question = ["words", *str(len(words)), "last", words[-1]]
        for word in sorted(named):
            question += [word, *str(counts[word])]
        return " ".join(question), " ".join(words)

    def check(self, question: list[str], candidate: list[str]) -> bool:
        length, last, wanted = read(question)
        counts = Counter(candidate)
        fits = all(counts[word] == count for word, count in wanted.items())
        return len(candidate) == length and candidate[-1] == last and fits and is_sentence(candidate)


def sentence(draw: random.Random) -> list[str]:
    """Clauses with `and` between them."""
    found: list[str] = []
    for number in range(draw.randint(1, 3)):
        found += ["and"] if number else []
        found += [*noun_phrase(draw), draw.choice(VERBS), *noun_phrase(draw)]
        found += [draw.choice(ADVERBS)] if draw.random() < 0.4 else []
    return found


def noun_phrase(draw: random.Random) -> list[str]:
    adjectives = [draw.choice(ADJECTIVES) for _ in range(draw.choice([0, 0, 1, 1, 2]))]
    return ["the", *adjectives, draw.choice(NOUNS)]


def is_sentence(words: list[str]) -> bool:
    """As `sentence` writes them: clauses of noun phrase, verb, noun phrase and an adverb that may be left out."""
    return all(_is_clause(clause) for clause in _clauses(words))


def _clauses(words: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for word in words:
        if word == "and":
            found.append([])
        else:
            found[-1].append(word)
    return found


def _is_clause(words: list[str]) -> bool:
    place = _noun_phrase(words, 0)
    if place < 0 or place >= len(words) or words[place] not in VERBS:
        return False
    end = _noun_phrase(words, place + 1)
    return end >= 0 and (end == len(words) or (end == len(words) - 1 and words[end] in ADVERBS))


def _noun_phrase(words: list[str], place: int) -> int:
    """Where it ends; -1 where there is none."""
    if place >= len(words) or words[place] != "the":
        return -1
    place += 1
    while place < len(words) and words[place] in ADJECTIVES:
        place += 1
    return place + 1 if place < len(words) and words[place] in NOUNS else -1


def read(question: list[str]) -> tuple[int, str, dict[str, int]]:
    """How many words, the last one, and how often which words. Raises ValueError for another question."""
    entries: list[tuple[str, str]] = []
    if len(question) < 4 or question[0] != "words" or "last" not in question:
        raise ValueError("a question begins with the number of words and the last one")
    for token in question:
        if len(token) == 1 and token in "0123456789" and entries:
            entries[-1] = entries[-1][0], entries[-1][1] + token
        else:
            entries.append((token, ""))
    if len(entries) < 3 or not entries[0][1] or entries[1] != ("last", ""):
        raise ValueError("a question says how many words, and which is the last")
    last, count = entries[2]
    named = [*([(last, count)] if count else []), *entries[3:]]
    if last not in WORDS or any(word not in WORDS or not 0 < len(count) <= 3 for word, count in named):
        raise ValueError("a question names words with their numbers")
    return int(entries[0][1]), last, {word: int(count) for word, count in named}
