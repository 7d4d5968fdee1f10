"""A sentence with predicates and arguments as a file gives it: what is wrong with it, and the rows it makes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from niwaki.answers.roles import IS_PREDICATE, SENSE, LabelledSpan, number_of
from niwaki.answers.tags import OUTSIDE
from niwaki.core.json_types import Json

PREDICATE, CONTINUES = "V", "C-"
NONE = -1  # the predicate of a row that asks for the predicates
OLD = re.compile(r"^((?:[CR]-)*)A(M-|[\dA]\b)")  # A0, AM-LOC, C-A1: as CoNLL-2005 wrote ARG0, ARGM-LOC, C-ARG1


@dataclass(frozen=True)
class Sentence:
    tokens: list[str]
    predicates: list[int]  # numbers of their words, from 0
    rolesets: list[str]
    arguments: list[Json]  # predicate: its place in the list; label; start and end, or token where heads are marked
    heads: Sequence[int] = ()  # of each word, from 1

    @classmethod
    def of(cls, tokens: Any, predicates: Any, rolesets: Any, arguments: Any, heads: Any = ()) -> "Sentence":
        """From cells, which may be empty."""
        return cls(tokens or [], predicates or [], rolesets or [], arguments or [], heads or ())

    @property
    def scores_heads(self) -> bool:
        """Whether arguments are given by their head words, and the tree is there to find the head of a stretch."""
        by_token = any(one.get("token") is not None for one in self.arguments)
        return bool(len(self.heads)) and (by_token or not self.arguments)

    def labelled_spans(self, place: int) -> Iterator[LabelledSpan]:
        """The arguments of a predicate. Words of the predicate other than the first continue it."""
        for one in self.arguments:
            if one["predicate"] == place:
                start, end = bounds(one)
                if one["label"] == PREDICATE:
                    at = self.predicates[place]
                    parts = ((start, min(at, end)), (max(at + 1, start), end))
                    yield from ((f"{CONTINUES}{PREDICATE}", *part) for part in parts if part[0] < part[1])
                else:
                    yield plain_label(one["label"]), start, end

    def fault(self) -> str:
        """What is wrong, in words; nothing where all is well."""
        return next(self._faults(), "")

    def _faults(self) -> Iterator[str]:
        count = len(self.tokens)
        if not all(self.tokens):
            yield f"word {1 + [bool(word) for word in self.tokens].index(False)} is empty; fill it or drop the row"
        if len(self.predicates) != len(self.rolesets):
            yield f"has {len(self.predicates)} predicates and {len(self.rolesets)} rolesets; give one for each"
        if len(self.heads) not in (0, count):
            yield f"has {len(self.heads)} heads and {count} words; give one for each, 0 for the root"
        for at, roleset in zip(self.predicates, self.rolesets, strict=False):
            if at is None or not 0 <= at < count:
                yield f"has a predicate at word {at}, and {count} words; they are counted from 0"
            if not roleset or not all(roleset.rpartition(".")[::2]) or len(roleset.split()) != 1:
                yield f"roleset '{roleset}' is not a lemma, a full stop and a number (sit.01)"
        if len(set(self.predicates)) < len(self.predicates):
            yield "a word is a predicate twice; keep one of them"
        for one in self.arguments:
            yield from self._faults_of(one)

    def _faults_of(self, one: Json) -> Iterator[str]:
        label, place = one.get("label"), one.get("predicate")
        if not label or len(label.split()) != 1:
            yield f"an argument's label is '{label}'; write it in one word (ARG0)"
        if place is None or not 0 <= place < len(self.predicates):
            yield f"argument {label} is of predicate {place}, and there are {len(self.predicates)}; they are counted from 0"
        start, end = bounds(one)
        if start is None or end is None or not 0 <= start < end <= len(self.tokens):
            yield f"argument {label} goes from {start} to {end} in {len(self.tokens)} words; start counts from 0, end is not in it"


def bounds(one: Json) -> tuple[Any, Any]:
    at = one.get("token")
    return (at, at + 1) if at is not None else (one.get("start"), one.get("end"))


def plain_label(label: str) -> str:
    """The name that PropBank gives it today: A0 is ARG0, AM-LOC is ARGM-LOC."""
    return OLD.sub(r"\1ARG\2", label)


def rows_of(sentence: Sentence) -> Iterator[Json]:
    """One that asks for the predicates, and one for each of them."""
    words, at = sentence.tokens, set(sentence.predicates)
    common = {"text": " ".join(words), "tokens": words, "heads": sentence.heads if sentence.scores_heads else []}
    tags = [IS_PREDICATE if place in at else OUTSIDE for place in range(len(words))]
    yield {**common, "predicate": NONE, "roleset": "", "tags": tags, "untold": 0}
    for place, (predicate, roleset) in enumerate(zip(sentence.predicates, sentence.rolesets, strict=True)):
        tags, untold = tagged(len(words), predicate, roleset, list(sentence.labelled_spans(place)))
        yield {**common, "predicate": predicate, "roleset": roleset, "tags": tags, "untold": untold}


def tagged(words: int, predicate: int, roleset: str, found: Sequence[LabelledSpan]) -> tuple[list[str], int]:
    """Tags of the words, and how many arguments tags cannot tell: those that share a word with another or with the predicate."""
    tags, untold = [OUTSIDE] * words, 0
    tags[predicate] = f"{SENSE}{number_of(roleset)}"
    for label, start, end in found:
        if any(tag != OUTSIDE for tag in tags[start:end]):
            untold += label != f"{CONTINUES}{PREDICATE}"
        else:
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags, untold
