"""Train rows that pair a lemma with the definition of one of its senses, for senses that SemCor shows rarely or never.

    bank : sloping land (especially the slope next to a body of water)

The lemma is the only target word. Definitions of a lemma's first sense are left out: train rows show it often enough, and
a row for every sense but the first works against the prior. The examples of a gloss are rows of `_gloss_examples`.
"""

from collections.abc import Iterator

from niwaki.answers._lemmas import WORD
from niwaki.answers._sense_inventory import SenseInventory
from niwaki.answers.senses import meaning


def definitions(inventory: SenseInventory) -> Iterator[dict[str, list]]:
    """Words, and of the lemma its place, part of speech, sense and name; of every sense that is not the first of its part of speech."""
    glosses = inventory.synsets.column("gloss").to_pylist()
    columns = (inventory.senses.column(name).to_pylist() for name in ("lemma", "pos", "sense_number", "sense_key"))
    for lemma, pos, number, key, synset in zip(*columns, inventory.synset.tolist(), strict=True):
        words = WORD.findall(meaning(glosses[synset]))
        if number > 1 and words:
            yield {
                "tokens": [lemma.replace("_", " "), ":", *words],
                "words": [0],
                "lemmas": [lemma],
                "pos": [pos],
                "senses": [[key]],
                "ids": [f"{key}.definition"],
            }
