"""Train rows that an inventory brings along: the sentences in its glosses that show a sense in use.

    bank: a financial institution that accepts deposits; "he cashed a check at the bank"

The word that shows it is the first that can be a form of one of the synset's lemmas; it is the only target word. Lemmas
with one sense have nothing to teach.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from niwaki.answers._lemmas import WORD, Lemmas
from niwaki.answers._sense_inventory import SenseInventory
from niwaki.data.wordnet import lemma_of

QUOTED = re.compile(r'"([^"]+)"')
Shown = dict[str, tuple[str, str]]  # lemma → its part of speech and sense key, in one synset


def examples(inventory: SenseInventory, lemmas: Lemmas) -> Iterator[dict[str, list]]:
    """Words, and of the target word its place, lemma, part of speech, sense and name."""
    shown = by_synset(inventory)
    for synset, gloss in zip(
        *(inventory.synsets.column(name).to_pylist() for name in ("synset", "gloss")), strict=True
    ):
        for number, text in enumerate(QUOTED.findall(gloss) if synset in shown else ()):
            words = lemmas.joined(WORD.findall(text))
            for place, word in enumerate(words):
                lemma = form_of(word, shown[synset], lemmas)
                if lemma:
                    pos, key = shown[synset][lemma]
                    yield {
                        "tokens": words,
                        "words": [place],
                        "lemmas": [lemma],
                        "pos": [pos],
                        "senses": [[key]],
                        "ids": [f"{synset}.{number}"],
                    }
                    break


def by_synset(inventory: SenseInventory) -> dict[str, Shown]:
    """Of each synset those of its lemmas that have other senses too."""
    found: dict[str, Shown] = defaultdict(dict)
    columns = (inventory.senses.column(name).to_pylist() for name in ("synset", "lemma", "pos", "sense_key"))
    for synset, lemma, pos, key in zip(*columns, strict=True):
        first, last = inventory.candidates(lemma)
        if last - first > 1:
            found[synset][lemma] = pos, key
    return found


def form_of(word: str, shown: Shown, lemmas: Lemmas) -> str | None:
    """The lemma that a word can be a form of."""
    small = lemma_of(word)
    forms = lemmas.of(small) or (lemmas.of_several(small.split("_")) if "_" in small else ())
    return next((lemma for lemma, pos in forms if shown.get(lemma, ("",))[0] == pos), None)
