"""The words of a plain sentence to the lemmas that an inventory has: WordNet's rules of detachment (morphy), no tagger.

This is rough. Parts of speech are not known, so all that the lemma has are candidates; a word of grammar (of, the, would) is
passed over by a short list; neighbouring words that the inventory has as one lemma (grand jury) are taken as one word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from niwaki.data.wordnet import POS

WORD = re.compile(r"\w+(?:['’.\-]\w+)*|[^\w\s]", re.UNICODE)  # U.S, mother-in-law and don't stay whole
ENDINGS = {
    "noun": (("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip
LONGEST = 5  # words that may be one lemma
GRAMMAR_WORDS = (
    "a an the and or but nor if as than that this these those of in on at by to for from with without into onto "
    "upon about between among through during before after above below over under against i you he she it we they "
    "me him her us them my your his its our their mine yours hers ours theirs myself yourself himself herself "
    "itself ourselves themselves who whom whose which what where when why how there then so such is are was were "
    "be been being am do does did have has had having can could may might must shall should will would not no yes "
    "all any both each either neither some"
)
GRAMMAR = frozenset(GRAMMAR_WORDS.split())


def base_forms(word: str, pos: str, known: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """What a word may be a form of, the likeliest first: its lemma where it is irregular, itself, what the rules leave of it."""
    if (word, pos) in known:
        yield known[word, pos]
    yield word
    yield from (word.removesuffix(end) + new for end, new in ENDINGS[pos] if word.endswith(end) and len(word) > len(end))  # fmt: skip
    if pos == "noun" and word.endswith("ful"):
        yield from (f"{one}ful" for one in base_forms(word.removesuffix("ful"), pos, known) if one)


def lemmas_of(word: str, known: Mapping[tuple[str, str], str], has: "Has") -> list[tuple[str, str]]:
    """(lemma, part of speech) for each part of speech that the word can be; the first form that the inventory has."""
    found = []
    for pos in POS:
        lemma = next((form for form in base_forms(word, pos, known) if has(form, pos)), None)
        if lemma is not None:
            found.append((lemma, pos))
    return found


class Has:
    """Whether an inventory has a lemma as some part of speech."""

    def __init__(self, candidates) -> None:  # type: ignore[no-untyped-def]
        self._candidates = candidates

    def __call__(self, lemma: str, pos: str) -> bool:
        first, last = self._candidates(lemma, pos)
        return first < last


def joined(words: Sequence[str], known: Mapping[tuple[str, str], str], has: Has) -> list[str]:
    """The words with neighbours made one where the inventory has them so; from the left, the longest first."""
    found, at = [], 0
    while at < len(words):
        size = next((size for size in range(min(LONGEST, len(words) - at), 1, -1) if _is_one(words[at : at + size], known, has)), 1)  # fmt: skip
        found.append(" ".join(words[at : at + size]))
        at += size
    return found


def _is_one(words: Sequence[str], known: Mapping[tuple[str, str], str], has: Has) -> bool:
    return all(word[0].isalnum() for word in words) and bool(lemmas_of("_".join(words).lower(), known, has))
