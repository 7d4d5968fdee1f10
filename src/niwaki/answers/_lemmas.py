"""The words of a plain sentence to the lemmas that an inventory has: WordNet's rules of detachment (morphy), no tagger.

This is rough. Parts of speech are not known, so all that the lemma has are candidates; a word of grammar (of, the, would) is
passed over by a short list; neighbouring words that the inventory has as one lemma (grand jury) are taken as one word.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from niwaki.data.wordnet import POS, lemma_of

WORD = re.compile(r"\w+(?:['’.\-]\w+)*|[^\w\s]", re.UNICODE)  # U.S, mother-in-law and don't stay whole
ENDINGS = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
REMEMBERED = 100_000  # words
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
    yield from (
        word.removesuffix(end) + new for end, new in ENDINGS[pos] if word.endswith(end) and len(word) > len(end)
    )
    if pos == "noun" and word.endswith("ful"):
        yield from (f"{one}ful" for one in base_forms(word.removesuffix("ful"), pos, known) if one)


class Lemmas:
    """Words to the lemmas of an inventory. What was looked up is remembered: texts repeat their words."""

    def __init__(self, sense_ranges: Mapping[str, Sequence[int]], forms: Mapping[tuple[str, str], str]) -> None:
        """`sense_ranges`: of each lemma, where its senses of each part of speech begin and end."""
        self._stretches, self._forms = sense_ranges, forms
        self._firsts = {lemma.partition("_")[0] for lemma in sense_ranges if "_" in lemma}
        self.of = lru_cache(REMEMBERED)(self._of)
        self._begins = lru_cache(REMEMBERED)(self._begin)

    def has(self, lemma: str, pos: str) -> bool:
        bounds, place = self._stretches.get(lemma), POS.index(pos)
        return bounds is not None and bounds[place] < bounds[place + 1]

    def _of(self, word: str) -> tuple[tuple[str, str], ...]:
        """(lemma, part of speech) for all that a word in small letters can be a form of (shoes: of shoes and of shoe)."""
        return tuple(
            (form, pos)
            for pos in POS
            for form in dict.fromkeys(base_forms(word, pos, self._forms))
            if self.has(form, pos)
        )

    def _begin(self, word: str) -> tuple[str, ...]:
        """The forms of a word that begin lemmas of several words: took, of take off."""
        return tuple(
            form for form in dict.fromkeys([word, *(lemma for lemma, _ in self.of(word))]) if form in self._firsts
        )

    def of_several(self, words: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Those of words taken as one, of which the last or the first may be inflected (grand juries, took off)."""
        rest = "_".join(words[1:])
        return next((found for first in self._begins(words[0]) if (found := self.of(f"{first}_{rest}"))), ())

    def joined(self, words: Sequence[str]) -> list[str]:
        """The words with neighbours made one where the inventory has them so; from the left, the longest first."""
        small, found, at = [lemma_of(word) for word in words], [], 0
        while at < len(words):
            longest = min(LONGEST, len(words) - at) if self._begins(small[at]) else 1
            size = next((size for size in range(longest, 1, -1) if self.of_several(small[at : at + size])), 1)
            found.append(" ".join(words[at : at + size]))
            at += size
        return found

    def of_text(self, word: str) -> tuple[tuple[str, str], ...]:
        """Those of a word as it stands in a text; none of a word of grammar."""
        small = lemma_of(word)
        if small in GRAMMAR:
            return ()
        return self.of(small) or (self.of_several(small.split("_")) if "_" in small else ())
