"""Whether a tokenizer's vocabulary fits texts: how many of their words it does not know, or splits into small tokens.

A word is what the tokenizer splits before it looks into its vocabulary. It is poorly covered if a token of it is unknown, or if it is
split into four or more tokens that are shorter than three characters on average (one character in scripts whose characters stand for
words or syllables). `benchmarks/vocabulary_fit.py` measured on FLORES-101 and English tasks: an English vocabulary covers at most 5 %
of the words of English texts poorly (tweets; 1 % of others), and 11 to 94 % of those in German, Finnish, Turkish, Russian, Arabic,
Chinese or Korean; vocabularies made for a language cover at most 12 % poorly even if they were made from 500 sentences. So 10 % is the
limit. Neighbours of English with short words (French, Spanish) stay below it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from niwaki.tokenization.tokenizing import encode_batch

MOST_POOR = 0.10  # share of words
TOKENS, SHORT, SHORT_IDEOGRAPHS = 4, 3.0, 1.0
IDEOGRAPHS = ((0x2E80, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))  # with kana and Hangul
SHOWN = 3


class Fit(NamedTuple):
    words: int
    poor: int
    examples: list[str]  # words that are poorly covered

    @property
    def share(self) -> float:
        return self.poor / max(1, self.words)


def fit(tokenizer: Tokenizer, texts: Sequence[str]) -> Fit:
    """Of a tokenizer that neither pads nor truncates."""
    unknown, words, poor = unknown_id(tokenizer), 0, []
    for text, encoding in zip(texts, encode_batch(tokenizer, list(texts), add_special_tokens=False), strict=True):
        for places in _words(encoding):
            words += 1
            word = text[encoding.offsets[places[0]][0] : encoding.offsets[places[-1]][1]]
            if any(encoding.ids[place] == unknown for place in places) or is_shattered(word, len(places)):
                poor.append(word.strip())
    return Fit(words, len(poor), list(dict.fromkeys(poor))[:SHOWN])


def _words(encoding: Encoding) -> list[list[int]]:
    """The positions of each word's tokens."""
    found: dict[int | None, list[int]] = defaultdict(list)
    for place, word in enumerate(encoding.word_ids):
        found[word].append(place)
    return [*found.values()]


def is_shattered(word: str, tokens: int) -> bool:
    short = SHORT_IDEOGRAPHS if any(_is_ideograph(character) for character in word) else SHORT
    return tokens >= TOKENS and len(word) < short * tokens


def _is_ideograph(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in IDEOGRAPHS)


def unknown_id(tokenizer: Tokenizer) -> int | None:
    """None where every text can be spelled, as with bytes."""
    name = getattr(tokenizer.model, "unk_token", None)
    names = [name] if isinstance(name, str) else ["<unk>", "[UNK]"]
    return next((number for one in names if (number := tokenizer.token_to_id(one)) is not None), None)


def remark(tokenizer: Tokenizer, texts: Sequence[str], model: str) -> str:
    """A warning where the vocabulary does not fit the texts; else nothing."""
    found = fit(tokenizer, texts)
    if found.share < MOST_POOR:
        return ""
    shown = ", ".join(f"'{word[:30]}'" for word in found.examples)
    return (
        f"model '{model}': its vocabulary does not fit the texts: {100 * found.share:.0f} % of their words are unknown to it or split into "
        f"many small tokens (e.g. {shown}; with a vocabulary for their language it is under 10 %); choose a model made for that language"
    )


def remark_on_sets(tokenizer: Tokenizer, texts: Mapping[str, Sequence[str]], model: str) -> str:
    """A warning that names the sets of texts, such as one for each language, that the vocabulary does not fit; else nothing."""
    shares = {name: fit(tokenizer, some).share for name, some in texts.items()}
    poor = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in shares.items() if share >= MOST_POOR)
    return (
        f"model '{model}': its vocabulary does not fit the test sets {poor}: so many of their words are unknown to it or split into many "
        "small tokens; choose a model made for these languages"
        if poor
        else ""
    )
