"""How much each word supports the answer, by integrated gradients and by leaving the word out, and whether both agree."""

import torch
from torch import Tensor

from niwaki.answers._answer_type import Input
from niwaki.answers._occlusion import Word, can_be_left_out, without
from niwaki.core.json_types import Json
from niwaki.evaluate.looking.attributions import by_word, integrated_gradients, rank_correlation
from niwaki.evaluate.looking.reading import Reading
from niwaki.evaluate.looking.subject import Subject
from niwaki.evaluate.looking.target import SpanScore, Target, target_of

MOST_WORDS = 512
Found = tuple[Json | None, str]  # figures, or why there are none


def explained(subject: Subject, word: int) -> Target | None:
    """What attributions explain."""
    reading, kind = subject.reading, subject.kind
    logits = subject.logits[subject.sequence]
    if kind == "span":
        answer = subject.predictor.predict([subject.given])[0]
        return _span_score(reading, answer.start, answer.end)
    return target_of(kind, logits, reading.note, subject.labels, subject.name, word)


def _span_score(reading: Reading, start: int, end: int) -> SpanScore | None:
    """The tokens of an answer's characters."""
    inside = [
        at
        for at, number in enumerate(reading.word_of)
        if number >= 0
        and reading.words[number].side == 1
        and reading.words[number].start < end
        and reading.words[number].end > start
    ]
    return (
        SpanScore("logits of where the answer begins and ends", inside[0], inside[-1])
        if inside and end > start
        else None
    )


def gradients(subject: Subject, target: Target) -> Found:
    """Integrated gradients of each token and word, with their completeness."""
    if subject.model is None:
        return None, subject.no_model
    one, note = subject.one, subject.reading.note
    if one.no_gradients:
        return None, one.no_gradients
    given, baseline = one.vectors(), one.vectors(baseline=True)
    found = integrated_gradients(lambda points: target(one.at(points), note), given, baseline)
    tokens = one.of_tokens(found.tokens)
    reading = subject.reading
    return {
        "tokens": tokens,
        "words": by_word(tokens, reading.word_of, len(reading.words)),
        "total": found.total,
        "difference": found.difference,
        "error": found.error,
        "steps": found.steps,
        "baseline": subject.name(one.baseline_token),
    }, ""


def occlusion(subject: Subject, target: Target) -> Found:
    """How much the target falls without each word; null for words that cannot be left out."""
    reading = subject.reading
    if isinstance(target, SpanScore):
        return None, "without a word the answer stands elsewhere in the text"
    if not reading.words:
        return None, f"an input of answer type '{subject.kind}' is not read as plain words"
    words = [word for word in _may_go(subject, target) if reading.words.index(word) in reading.word_of]
    if not words:
        return None, "the text has no word that can be left out"
    if len(words) > MOST_WORDS:
        return None, f"the text has more than {MOST_WORDS} words"
    encoded = subject.encode([_shortened(subject, word) for word in words])
    whole = float(target(subject.logits[subject.sequence], reading.note))
    chosen = subject.sequence if subject.kind == "choice" else 0
    each = subject.logits_of(encoded)
    starts = [encoded.input_index.tolist().index(number) + chosen for number in range(len(words))]
    notes = encoded.metadata or [None] * len(each)
    falls = {word: whole - _value(target, word, each[at], notes[at]) for word, at in zip(words, starts, strict=True)}
    return {"words": [falls.get(word) for word in reading.words]}, ""


@torch.no_grad()
def _value(target: Target, word: Word, logits: Tensor, note: object) -> float:
    return float(target.without(word)(logits, note))


def _may_go(subject: Subject, target: Target) -> list[Word]:
    """Words other than masks and the tagged word whose tag is explained."""
    reading = subject.reading
    words = can_be_left_out(_texts(subject))
    if subject.kind == "fill":
        mask = subject.mask
        return [word for word in words if mask not in word.text]
    tagged = getattr(target, "word", -1)
    return [word for word in words if reading.words.index(word) != tagged]


def _texts(subject: Subject) -> Input:
    given = subject.given
    return (given[0], given[1][subject.sequence]) if subject.kind == "choice" else given


def _shortened(subject: Subject, word: Word) -> Input:
    found = without(_texts(subject), word)
    if subject.kind != "choice":
        return found
    beginning, endings = subject.given
    return beginning, [found[1] if at == subject.sequence else one for at, one in enumerate(endings)]


def agreement(first: Json | None, second: Json | None) -> float | None:
    """Spearman's correlation of both attributions over the words that both have."""
    if first is None or second is None:
        return None
    pairs = [(a, b) for a, b in zip(first["words"], second["words"], strict=True) if b is not None]
    return rank_correlation([a for a, _ in pairs], [b for _, b in pairs])
