"""What needs no context: the first sense that the inventory gives, and the sense that the train rows have most often."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from niwaki.answers._sense_inventory import SenseInventory
from niwaki.answers.senses import Sentence, Target

Word = tuple[str, str]  # lemma, part of speech


def first_sense(sense_inventory: SenseInventory, target: Target) -> str | None:
    first, last = sense_inventory.candidates(target.lemma, target.pos)
    return sense_inventory.keys[first] if first < last else None


def counted(inputs: Iterable[Sentence], golds: Iterable[Sequence[Sequence[str]]]) -> dict[Word, str]:
    """Of each lemma the sense that was right most often; of several right ones each counts. The first seen wins a tie."""
    counts: dict[Word, Counter[str]] = defaultdict(Counter)
    for sentence, gold in zip(inputs, golds, strict=True):
        for target, keys in zip(sentence.targets, gold, strict=True):
            counts[target.lemma, target.pos].update(keys)
    return {word: found.most_common(1)[0][0] for word, found in counts.items()}


def most_frequent(sense_inventory: SenseInventory, common: Mapping[Word, str], target: Target) -> str | None:
    """The commonest of the train rows, else the inventory's first."""
    return common.get((target.lemma, target.pos)) or first_sense(sense_inventory, target)
